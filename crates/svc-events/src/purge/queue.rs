//! The job that turns changes into purges.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use serde::{Deserialize, Serialize};
use svc_outbox::{NewMessage, Time};
use svc_site::{
    Site, SiteError, SiteResult,
    blocking::run_blocking,
    jobs::{Job, Next, Outcome, RunsOn},
};
use svc_store::{Db, Store, StoreError, Tx, cache_tags::TagNames};
use svc_versions::Context;
use tokio::sync::Notify;

use crate::wake_up;

/// The queue of the outbox.
pub const QUEUE: &str = "purge";

/// The name of this consumer of the log.
const CONSUMER: &str = "purge";

/// Maximum number of entries of the log per transaction.
const STEP: u32 = 2_000;

/// Maximum number of tags of a purge. Of more, everything is purged.
const MAX_TAGS: usize = 2_000;

/// How often the log is read, for changes of other programs.
const INTERVAL: Duration = Duration::from_secs(1);

/// Pause before a step, so that many changes are purged together.
const GATHER: Duration = Duration::from_millis(100);

/// Everything is purged twice: a response that was on its way when its data changed is stored after the first purge.
const AGAIN: Duration = Duration::from_secs(5);

/// The payload of a message in the outbox.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Payload {
    pub(super) tags: BTreeSet<String>,
}

/// Queues purges for the changes of the log. The purges and the position in the log are stored in one transaction.
pub struct QueuePurges {
    site: Arc<Site>,
    names: Arc<TagNames>,
    wake: Arc<Notify>,
}

impl QueuePurges {
    /// The job of this site. The table of the outbox must exist.
    pub fn new(site: Arc<Site>) -> Self {
        let wake = wake_up::on_changes(&site.store);
        let names = Arc::new(super::tag_names(&site));
        QueuePurges { site, names, wake }
    }

    /// Whether there is something to do.
    fn is_due(db: &mut Db) -> svc_store::Result<bool> {
        let position = db.consumer_position(CONSUMER)?;
        Ok(db.log_bounds()?.is_some_and(|bounds| position != Some(bounds.last)))
    }
}

/// Queues the tags of the next changes. Returns whether there are more.
fn step(tx: &mut Tx, names: &TagNames) -> SiteResult<bool> {
    let Some(bounds) = tx.log_bounds()? else { return Ok(false) };
    let position = tx.consumer_position(CONSUMER)?;
    let Some(from) = position.filter(|position| bounds.reach(*position)) else {
        // What has changed since the last purge is not known.
        put(tx, &TagNames::all(), &format!("{:08x}_{}", bounds.id, bounds.last))?;
        tx.set_consumer_position(CONSUMER, bounds.last)?;
        return Ok(false);
    };
    let changes = tx.logged_after(from, STEP)?;
    let Some(last) = changes.last().map(|change| change.seq) else { return Ok(false) };
    let mut tags: BTreeSet<String> = changes.iter().flat_map(|change| names.of_change(change)).collect();
    if tags.len() > MAX_TAGS {
        tags = TagNames::all();
    }
    if !tags.is_empty() {
        put(tx, &tags, &format!("{:08x}_{last}", bounds.id))?;
    }
    tx.set_consumer_position(CONSUMER, last)?;
    Ok(last < bounds.last)
}

/// Queues a purge, and its repetition.
fn put(tx: &mut Tx, tags: &BTreeSet<String>, id: &str) -> SiteResult<()> {
    let payload = serde_json::to_string(&Payload { tags: tags.clone() });
    let payload = payload.map_err(|error| StoreError::Other(error.to_string()))?;
    let now = Time::now();
    for (id, due) in [(format!("purge_{id}"), now), (format!("purge_{id}_again"), now + AGAIN)] {
        // The repetition waits, so it does not delay other purges.
        svc_outbox::put(tx, &NewMessage { queue: QUEUE, id: &id, lane: "", key: "", payload: &payload }, due)?;
    }
    Ok(())
}

/// Queues a purge of these tags, or of everything. The table of the outbox must exist.
///
/// # Errors
/// Errors of the store.
pub fn purge(tx: &mut Tx, tags: Option<BTreeSet<String>>) -> SiteResult<()> {
    let id = svc_auth::random_text(24).map_err(|error| SiteError::from(StoreError::Other(error.to_string())))?;
    put(tx, &tags.unwrap_or_else(TagNames::all), id.expose())
}

/// Forgets how far purges are, on a site that no longer has any, so that the log is not kept for them.
///
/// # Errors
/// Errors of the store.
pub fn forget(store: &Store) -> svc_store::Result<()> {
    if store.read_blocking(|db| db.consumer_position(CONSUMER))?.is_some() {
        store.write_blocking(|tx| tx.remove_consumer(CONSUMER))?;
    }
    Ok(())
}

impl Job for QueuePurges {
    fn name(&self) -> &'static str {
        "queue-purges"
    }

    fn runs_on(&self) -> RunsOn {
        RunsOn::OneServer
    }

    fn wake(&self) -> Option<&Notify> {
        Some(&self.wake)
    }

    async fn run(&self, cx: &Context) -> Outcome {
        tokio::time::sleep(GATHER).await;
        let (store, own) = (self.site.store.clone(), cx.clone());
        // A look first: usually there is nothing, and a transaction would wait for other writers.
        if !run_blocking(move || store.read(&own, Self::is_due)).await?? {
            return Ok(Next::After(INTERVAL));
        }
        let names = Arc::clone(&self.names);
        let more = self.site.write(cx, move |tx| step(tx, &names)).await?;
        Ok(Next::After(if more { Duration::ZERO } else { INTERVAL }))
    }
}
