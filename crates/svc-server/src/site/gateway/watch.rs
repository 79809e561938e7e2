//! The background tasks: one compares the routes at start, and again when plugins, theme or options change; the other compares refuted
//! routes again.

use std::{sync::Arc, time::Duration};

use svc_controllers::RestSite;
use tokio::{task::JoinHandle, time::Instant};

use super::{
    Gateway,
    facts::{Facts, Files},
    ownership::Ownership,
    proof::Proven,
};

/// Time between two looks at the facts. Until a change is noticed, this server handles as before.
const LOOK: Duration = Duration::from_secs(1);

/// Pause after a failed comparison.
const RETRY: Duration = Duration::from_secs(5);

/// Time after which the routes are compared again without a change, for routes that had nothing to compare.
const RENEW: Duration = Duration::from_secs(600);

/// Minimum time between two looks at WordPress's index after changes of options that did not change it.
const INDEX_AGAIN: Duration = Duration::from_secs(10);

/// The tasks. They stop when this is dropped.
#[derive(Debug)]
#[must_use = "the tasks stop when this is dropped"]
pub struct Watch([JoinHandle<()>; 2]);

impl Watch {
    /// Starts the tasks.
    pub(crate) fn start(gateway: Gateway, site: Arc<RestSite>) -> Self {
        let refuted = gateway.clone();
        Watch([
            tokio::spawn(async move { run(&gateway, &site).await }),
            tokio::spawn(async move {
                loop {
                    tokio::time::sleep(LOOK).await;
                    refuted.prove_again().await;
                }
            }),
        ])
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.0.iter().for_each(JoinHandle::abort);
    }
}

/// A table of routes, and what it was made from.
struct Table {
    facts: Facts,
    /// Hash of the options when WordPress's index was read last.
    options: Option<u64>,
    /// WordPress's descriptions of routes.
    index: u64,
    /// When the index may be read again.
    index_due: Instant,
    routes: Arc<Ownership>,
    /// When it is made again.
    due: Instant,
}

async fn run(gateway: &Gateway, site: &Arc<RestSite>) {
    let mut files = Files::default();
    let mut current: Option<Table> = None;
    let mut is_in_force = false;
    loop {
        // Without the database, this server handles nothing, and the table does not matter.
        if let Some(facts) = read_facts(site, &mut files).await {
            match &mut current {
                Some(table) if table.facts == facts => {
                    if is_in_force && has_other_index(gateway, table).await {
                        gateway.suspend("routes are being compared");
                        gateway.forget_descriptions();
                        (is_in_force, current) = (false, None);
                        continue;
                    }
                    // A short change, such as a restored backup.
                    if !is_in_force {
                        gateway.set(Arc::clone(&table.routes));
                        gateway.forget_descriptions();
                        is_in_force = true;
                    }
                    if table.due <= Instant::now() {
                        table.due = match prove(gateway).await {
                            Ok(proven) => {
                                table.routes = Arc::new(proven.ownership);
                                table.index = proven.index;
                                gateway.set(Arc::clone(&table.routes));
                                Instant::now() + RENEW
                            }
                            // WordPress is away; what it registers is unchanged.
                            Err(_) => Instant::now() + RETRY,
                        };
                    }
                }
                _ => {
                    // Routes that were equal before the change may differ now.
                    gateway.suspend("routes are being compared");
                    gateway.forget_descriptions();
                    gateway.forget_texts();
                    is_in_force = false;
                    let options = gateway.options().await;
                    let proven = tokio::select! {
                        proven = prove(gateway) => proven,
                        () = changed(site, &mut files, &facts) => continue,
                    };
                    match proven {
                        Ok(proven) => {
                            let routes = Arc::new(proven.ownership);
                            gateway.forget_shadow();
                            gateway.set(Arc::clone(&routes));
                            is_in_force = true;
                            let now = Instant::now();
                            let (index, index_due, due) = (proven.index, now, now + RENEW);
                            current = Some(Table { facts, options, index, index_due, routes, due });
                        }
                        Err(reason) => {
                            gateway.suspend(reason);
                            tokio::time::sleep(RETRY).await;
                        }
                    }
                }
            }
        }
        tokio::time::sleep(LOOK).await;
    }
}

/// Waits until the facts are not these.
async fn changed(site: &Arc<RestSite>, files: &mut Files, facts: &Facts) {
    loop {
        tokio::time::sleep(LOOK).await;
        if read_facts(site, files).await.is_some_and(|now| now != *facts) {
            return;
        }
    }
}

/// Whether options have changed and WordPress now describes other routes, arguments or fields.
async fn has_other_index(gateway: &Gateway, table: &mut Table) -> bool {
    let options = gateway.options().await;
    if options.is_none() || options == table.options || Instant::now() < table.index_due {
        return false;
    }
    table.index_due = Instant::now() + INDEX_AGAIN;
    // Without WordPress, nothing is learned.
    let Ok(index) = gateway.index_hash().await else { return false };
    table.options = options;
    index != table.index
}

/// Compares the routes.
async fn prove(gateway: &Gateway) -> Result<Proven, String> {
    let start = Instant::now();
    let proven = gateway.prove(gateway.config().samples, None, &|_, _| {}).await;
    let proven = proven.inspect_err(|reason| tracing::warn!("cannot compare routes with WordPress: {reason}"))?;
    let (handled, reads) = proven.ownership.share();
    tracing::info!(
        reads,
        handled,
        compared = proven.samples.len(),
        ms = start.elapsed().as_millis() as u64,
        "compared routes with WordPress"
    );
    Ok(proven)
}

async fn read_facts(site: &Arc<RestSite>, files: &mut Files) -> Option<Facts> {
    let (site, mut known) = (Arc::clone(site), std::mem::take(files));
    let read = tokio::task::spawn_blocking(move || {
        let facts = Facts::read(&site, &mut known);
        (facts, known)
    });
    let (facts, known) = read.await.ok()?;
    *files = known;
    // The store has logged the cause of an error.
    facts.ok()
}
