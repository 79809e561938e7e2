//! Wakes jobs that read the log of changes.

use std::sync::Arc;

use svc_store::{ChangeRecord, Store, Subscriber};
use tokio::sync::Notify;

/// Is notified after each transaction of this process that has changed rows, other than those of the outbox.
pub(crate) fn on_changes(store: &Store) -> Arc<Notify> {
    let wake = Arc::new(Notify::new());
    store.subscribe(Arc::new(WakeUp(Arc::clone(&wake))));
    wake
}

struct WakeUp(Arc<Notify>);

impl Subscriber for WakeUp {
    fn committed(&self, changes: &ChangeRecord) {
        if changes.kinds().any(|rows| rows != svc_outbox::OUTBOX) {
            self.0.notify_one();
        }
    }
}
