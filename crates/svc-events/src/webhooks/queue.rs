//! The job that turns new events into deliveries.

use std::{sync::Arc, time::Duration};

use svc_outbox::Time;
use svc_site::{
    SiteResult,
    blocking::run_blocking,
    jobs::{Job, Next, Outcome, RunsOn},
};
use svc_store::{Store, Tx};
use svc_versions::Context;
use tokio::sync::Notify;

use super::{deliveries, stored};
use crate::{
    source::{EventSource, From},
    wake_up,
};

/// The name of this consumer of the log.
pub(super) const CONSUMER: &str = "webhooks";

/// Maximum number of entries of the log per transaction.
const STEP: u32 = 100;

/// How often the log is read while there are webhooks, for changes of other programs.
const INTERVAL: Duration = Duration::from_secs(1);

/// How often it is checked whether another program has created a webhook.
const IDLE: Duration = Duration::from_secs(30);

/// Pause before a step, so that many changes are read together.
const GATHER: Duration = Duration::from_millis(50);

/// Queues a delivery for each new event and each webhook that wants it. The deliveries and the position in the log are stored in one
/// transaction.
pub struct QueueWebhooks {
    source: EventSource,
    wake: Arc<Notify>,
}

impl QueueWebhooks {
    /// The job for these events. The table of the outbox must exist.
    pub fn new(source: EventSource) -> Self {
        let wake = wake_up::on_changes(&source.site().store);
        QueueWebhooks { source, wake }
    }

    /// The number of entries that wait; `None` without webhooks.
    fn waiting(store: &Store, cx: &Context) -> svc_store::Result<Option<i64>> {
        store.read(cx, |db| {
            let Some(position) = db.consumer_position(CONSUMER)? else { return Ok(None) };
            Ok(db.log_bounds()?.map(|bounds| bounds.last - position))
        })
    }
}

/// Queues the next events. Returns whether there are more.
fn step(tx: &mut Tx, source: &EventSource) -> SiteResult<bool> {
    // Another server may have been faster.
    let Some(position) = tx.consumer_position(CONSUMER)? else { return Ok(false) };
    let hooks = stored::list(tx)?;
    let Some(batch) = source.read_in(tx, From::After(position), STEP)? else { return Ok(false) };
    let (viewer, now) = (batch.viewer(), Time::now());
    for event in &batch.events {
        for hook in hooks.iter().filter(|hook| hook.wants(event)) {
            deliveries::put(tx, hook, &viewer, event, now)?;
        }
    }
    tx.set_consumer_position(CONSUMER, batch.last)?;
    Ok(batch.more)
}

impl Job for QueueWebhooks {
    fn name(&self) -> &'static str {
        "queue-webhooks"
    }

    fn runs_on(&self) -> RunsOn {
        RunsOn::OneServer
    }

    fn wake(&self) -> Option<&Notify> {
        Some(&self.wake)
    }

    async fn run(&self, cx: &Context) -> Outcome {
        tokio::time::sleep(GATHER).await;
        let (store, own) = (self.source.site().store.clone(), cx.clone());
        // A look first: usually there is nothing, and a transaction would wait for other writers.
        match run_blocking(move || Self::waiting(&store, &own)).await?? {
            None => return Ok(Next::After(IDLE)),
            Some(0) => return Ok(Next::After(INTERVAL)),
            Some(_) => {}
        }
        let source = self.source.clone();
        let more = self.source.site().write(cx, move |tx| step(tx, &source)).await?;
        Ok(Next::After(if more { Duration::ZERO } else { INTERVAL }))
    }
}
