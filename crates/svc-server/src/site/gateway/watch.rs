//! The background task that compares the routes at start, and again when plugins, theme or options change.

use std::{sync::Arc, time::Duration};

use svc_controllers::RestSite;
use tokio::{task::JoinHandle, time::Instant};

use super::{
    Gateway,
    facts::{Facts, Files},
    ownership::Ownership,
};

/// Time between two looks at the facts. Until a change is noticed, this server handles as before.
const LOOK: Duration = Duration::from_secs(1);

/// Pause after a failed comparison.
const RETRY: Duration = Duration::from_secs(5);

/// Time after which the routes are compared again without a change, for routes that had nothing to compare.
const RENEW: Duration = Duration::from_secs(600);

/// The task. It stops when this is dropped.
#[derive(Debug)]
#[must_use = "the task stops when this is dropped"]
pub struct Watch(JoinHandle<()>);

impl Watch {
    /// Starts the task.
    pub(crate) fn start(gateway: Gateway, site: Arc<RestSite>) -> Self {
        Watch(tokio::spawn(async move { run(&gateway, &site).await }))
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// A table of routes, and what it was made from.
struct Table {
    facts: Facts,
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
                    // A short change, such as a restored backup.
                    if !is_in_force {
                        gateway.set(Arc::clone(&table.routes));
                        is_in_force = true;
                    }
                    if table.due <= Instant::now() {
                        table.due = match prove(gateway).await {
                            Ok(routes) => {
                                table.routes = Arc::new(routes);
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
                    is_in_force = false;
                    match prove(gateway).await {
                        Ok(routes) if read_facts(site, &mut files).await.as_ref() == Some(&facts) => {
                            let routes = Arc::new(routes);
                            gateway.forget_shadow();
                            gateway.set(Arc::clone(&routes));
                            is_in_force = true;
                            current = Some(Table { facts, routes, due: Instant::now() + RENEW });
                        }
                        // The facts have changed meanwhile.
                        Ok(_) => {}
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

/// Compares the routes.
async fn prove(gateway: &Gateway) -> Result<Ownership, String> {
    let start = Instant::now();
    let proven = gateway.prove(gateway.config().samples, gateway.site_key()).await;
    let proven = proven.inspect_err(|reason| tracing::warn!("cannot compare routes with WordPress: {reason}"))?;
    let rows = proven.ownership.rows();
    let owned = |i: usize| rows.iter().filter(|row| row.method == "GET" && row.owned[i]).count();
    let reads = rows.iter().filter(|row| row.method == "GET").count();
    tracing::info!(
        reads,
        for_visitors = owned(0),
        for_users = owned(1),
        compared = proven.samples.len(),
        ms = start.elapsed().as_millis() as u64,
        "compared routes with WordPress"
    );
    Ok(proven.ownership)
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
