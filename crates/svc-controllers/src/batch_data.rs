//! Snapshots and transactions of the store for batches.

use std::{any::Any, sync::Arc};

use svc_routing::{BatchData, BatchTransaction, BoxFuture, Context, Request, Result};
use svc_site::{Access, MAX_TRANSACTION, Site, SiteError};
use svc_store::OpenTransaction;

use crate::caller;

/// The store of a site, as batches use it.
pub(crate) struct StoreBatches(pub(crate) Arc<Site>);

impl BatchData for StoreBatches {
    fn snapshot_permit(&self) -> BoxFuture<Result<Box<dyn Any + Send>>> {
        let store = self.0.store.clone();
        Box::pin(async move {
            let permit = store.snapshot_permit().await.map_err(SiteError::from)?;
            Ok(Box::new(permit) as Box<dyn Any + Send>)
        })
    }

    /// Those who write posts may.
    fn may_begin(&self, batch: &Request) -> Result<bool> {
        let settings = self.0.settings(batch.cx())?;
        Ok(Access::new(&self.0, &settings).can(&caller(batch), "edit_posts"))
    }

    fn hold_snapshot(&self, cx: &Context) -> Result<Box<dyn Any + Send>> {
        let held = self.0.store.hold_snapshot(cx).map_err(SiteError::from)?;
        Ok(Box::new(held))
    }

    fn begin(&self, cx: Context) -> BoxFuture<Result<Box<dyn BatchTransaction>>> {
        let store = self.0.store.clone();
        Box::pin(async move {
            let open = store.begin(&cx, MAX_TRANSACTION).await.map_err(SiteError::from)?;
            Ok(Box::new(StoreTransaction(open)) as Box<dyn BatchTransaction>)
        })
    }
}

/// An open transaction of the store.
struct StoreTransaction(OpenTransaction);

impl BatchTransaction for StoreTransaction {
    fn commit(self: Box<Self>) -> BoxFuture<Result<()>> {
        Box::pin(async move { Ok(self.0.commit().await.map_err(SiteError::from)?) })
    }

    fn roll_back(self: Box<Self>) -> BoxFuture<()> {
        Box::pin(self.0.roll_back())
    }
}
