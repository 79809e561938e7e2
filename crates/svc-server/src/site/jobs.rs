//! The table of the background jobs of a site. Those of the server are in `background.rs`.

use std::sync::Arc;

use svc_events::{
    EventSource,
    purge::{self, Purges, QueuePurges},
    webhooks::{QueueWebhooks, Webhooks},
};
use svc_login::{Attempts, ShareAttempts};
use svc_site::{
    Site,
    jobs::{CheckTermCounts, Deliver, JobTable, PublishPosts, RemoveInterruptedUploads, SendMails, WatchTheme},
    mail,
};
use svc_store::LeaseTimes;

/// The jobs of a site.
pub(crate) fn table(site: &Arc<Site>) -> JobTable {
    let table = JobTable::new()
        .with(RemoveInterruptedUploads(Arc::clone(site)))
        .with(PublishPosts(Arc::clone(site)))
        .with(WatchTheme(Arc::clone(site)))
        .with(CheckTermCounts::new(Arc::clone(site)));
    if !mail::is_configured(site) {
        return table;
    }
    match Deliver::new(&site.store, SendMails(Arc::clone(site))) {
        Ok(job) => table.with(job),
        Err(error) => {
            tracing::error!(%error, "no mails are sent: the table of mails cannot be created");
            table
        }
    }
}

/// The name of the lease of the jobs for one server.
const LEASE: &str = "jobs";

/// Divides the jobs among the servers on one database, if several can use it.
pub(crate) fn with_lease(table: JobTable, site: &Arc<Site>) -> JobTable {
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let host = Some(host.trim()).filter(|host| !host.is_empty()).unwrap_or("a host without a name");
    let label = format!("{host}, process {}", std::process::id());
    match site.store.lease(LEASE, &label, LeaseTimes::default()) {
        Ok(Some(lease)) => table.with_lease(lease),
        Ok(None) => table,
        Err(error) => {
            tracing::error!(%error, "this server runs all jobs, even if others do: the table of leases cannot be created");
            table
        }
    }
}

/// Adds the job by which servers on one database limit log-in attempts together, if they do.
pub(crate) fn with_shared_attempts(table: JobTable, site: &Arc<Site>, attempts: &Arc<Attempts>) -> JobTable {
    if !attempts.is_shared() {
        return table;
    }
    match ShareAttempts::new(Arc::clone(site), Arc::clone(attempts)) {
        Ok(job) => table.with(job),
        Err(error) => {
            tracing::error!(%error, "this server limits log-in attempts by itself");
            table
        }
    }
}

/// Adds the jobs that queue and send deliveries of webhooks, unless the database keeps no log of changes: there can be no webhooks
/// then, and nothing is added to the database.
pub(crate) fn with_webhooks(table: JobTable, source: EventSource) -> JobTable {
    let site = Arc::clone(source.site());
    let has_log = site.store.read_blocking(|db| db.log_bounds()).is_ok_and(|bounds| bounds.is_some());
    if !has_log {
        return table;
    }
    match Deliver::new(&site.store, Webhooks(Arc::clone(&site))) {
        Ok(deliver) => table.with(QueueWebhooks::new(source)).with(deliver),
        Err(error) => {
            tracing::warn!(%error, "webhooks are not sent: cannot create the table of the outbox");
            table
        }
    }
}

/// Adds the jobs that tell caches in front of the server of changes, if there are such caches.
pub(crate) fn with_purges(table: JobTable, site: &Arc<Site>, receiver: Option<purge::Receiver>) -> JobTable {
    let Some(receiver) = receiver else {
        if let Err(error) = purge::forget(&site.store) {
            tracing::warn!(%error, "cannot forget how far purges were");
        }
        return table;
    };
    let has_log = site.store.read_blocking(|db| db.log_bounds()).is_ok_and(|bounds| bounds.is_some());
    if !has_log {
        tracing::error!(
            "`purge.service` requires the setting `change_log` with this database: caches are not told of changes"
        );
        return table;
    }
    let courier = Purges { site: Arc::clone(site), receiver: Arc::new(receiver) };
    match Deliver::new(&site.store, courier) {
        Ok(deliver) => table.with(QueuePurges::new(Arc::clone(site))).with(deliver),
        Err(error) => {
            tracing::error!(%error, "caches are not told of changes: cannot create the table of the outbox");
            table
        }
    }
}
