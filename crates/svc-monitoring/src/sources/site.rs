//! Metrics of a served site.

use std::{fmt, sync::Arc, time::SystemTime};

use svc_http::Lanes;
use svc_listen::InFlight;
use svc_login::Attempts;
use svc_site::{HttpClient, jobs::JobStates};
use svc_store::{SearchIndexState, Store};
use svc_versions::Usage;

use crate::{Families, Source, families::number};

/// The state of each cache, by name.
pub type CacheUsages = Box<dyn Fn() -> Vec<(&'static str, Usage)> + Send + Sync>;

/// The parts of a served site that have numbers.
pub struct SiteUsage {
    /// Requests in progress, and connections.
    pub in_flight: InFlight,
    /// The threads for requests that read data.
    pub lanes: Arc<Lanes>,
    /// The database.
    pub store: Store,
    /// Background jobs.
    pub jobs: JobStates,
    /// Outgoing requests.
    pub http_client: HttpClient,
    /// Failed log-ins.
    pub attempts: Arc<Attempts>,
    /// Caches.
    pub caches: CacheUsages,
}

impl Source for SiteUsage {
    fn write(&self, families: &mut Families<'_>) -> fmt::Result {
        write_connections(&self.in_flight, families)?;
        self.write_lanes(families)?;
        self.write_caches(families)?;
        self.write_database(families)?;
        write_jobs(&self.jobs, families)?;
        self.write_outgoing(families)?;
        let failures = self.attempts.failures();
        let labels = labelled("reason", &failures);
        families.counter("svc_login_failures", "Failed log-ins by reason.", samples(&labels))
    }
}

/// Writes the states of the background jobs.
pub(super) fn write_jobs(states_of: &JobStates, families: &mut Families<'_>) -> fmt::Result {
    let states = states_of.get();
    let jobs: Vec<_> = states.iter().map(|job| ([("job_name", &*job.name)], &job.runs)).collect();
    if let Some(holds_lease) = states_of.holds_lease() {
        let value = [(&[][..], number(u64::from(holds_lease)))];
        families.gauge(
            "svc_jobs_lease_held",
            "Whether this one of several servers runs the jobs for one server.",
            value,
        )?;
    }
    let all = || jobs.iter().map(|(label, job)| (&label[..], *job));
    let runs = all().map(|(label, job)| (label, number(job.n_runs)));
    families.counter("svc_job_runs", "Runs of a background job that have ended.", runs)?;
    let failed = all().map(|(label, job)| (label, number(job.n_failed_runs)));
    families.counter("svc_job_failed_runs", "Runs of a background job that have failed.", failed)?;
    let in_a_row = all().map(|(label, job)| (label, number(job.n_failures)));
    families.gauge("svc_job_failures_in_a_row", "Failures since the last successful run.", in_a_row)?;
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let last = all().filter_map(|(label, job)| Some((label, now.saturating_sub(job.since_last_run?).as_secs_f64())));
    families.gauge("svc_job_last_run_timestamp_seconds", "Start of the latest run, as Unix time.", last)?;
    let took = all().filter_map(|(label, job)| Some((label, job.duration?.as_secs_f64())));
    families.gauge("svc_job_last_duration_seconds", "Duration of the latest run that has ended.", took)
}

/// Writes the numbers of open connections and of requests in progress.
pub(super) fn write_connections(in_flight: &InFlight, families: &mut Families<'_>) -> fmt::Result {
    families.gauge("svc_http_connections", "Open connections.", [(&[][..], number(in_flight.n_connections()))])?;
    let accepted = number(in_flight.n_accepted());
    families.counter("svc_http_connections_accepted", "Connections since the start.", [(&[][..], accepted)])?;
    let running = number(in_flight.n_requests());
    families.gauge("svc_http_requests_in_progress", "Requests without a response yet.", [(&[][..], running)])
}

impl SiteUsage {
    fn write_lanes(&self, families: &mut Families<'_>) -> fmt::Result {
        let usage = self.lanes.usage().map(|(name, usage)| ([("lane", name)], usage));
        let of = |f: fn(&svc_http::LaneUsage) -> f64| usage.iter().map(move |(label, usage)| (&label[..], f(usage)));
        families.gauge(
            "svc_lane_requests_running",
            "Requests in a set of threads.",
            of(|lane| number(lane.running)),
        )?;
        families.gauge(
            "svc_lane_requests_max",
            "Maximum number of requests in a set of threads.",
            of(|lane| number(lane.max)),
        )?;
        families.gauge(
            "svc_lane_requests_waiting",
            "Requests that wait for a thread.",
            of(|lane| number(lane.waiting)),
        )?;
        families.counter(
            "svc_lane_requests_refused",
            "Requests that were refused, because too many were waiting or for too long.",
            of(|lane| number(lane.refused)),
        )
    }

    fn write_caches(&self, families: &mut Families<'_>) -> fmt::Result {
        let caches = (self.caches)();
        let caches: Vec<_> = caches.iter().map(|(name, usage)| ([("cache", *name)], usage)).collect();
        let of = |f: fn(&Usage) -> f64| caches.iter().map(move |(label, usage)| (&label[..], f(usage)));
        families.gauge("svc_cache_entries", "Entries of a cache.", of(|cache| number(cache.entries)))?;
        families.gauge("svc_cache_bytes", "Approximate size of a cache.", of(|cache| number(cache.bytes)))?;
        families.counter("svc_cache_hits", "Look-ups that found a valid value.", of(|cache| number(cache.hits)))?;
        families.counter("svc_cache_misses", "Look-ups that did not.", of(|cache| number(cache.misses)))
    }

    fn write_database(&self, families: &mut Families<'_>) -> fmt::Result {
        let usage = self.store.usage();
        let kinds: Vec<_> = usage.statements.iter().map(|(kind, report)| ([("kind", *kind)], report)).collect();
        families.histogram(
            "svc_db_statement_duration_seconds",
            "Time of statements with the reading of their rows, by kind.",
            kinds.iter().map(|(label, report)| (&label[..], *report)),
        )?;
        let outcomes = labelled("outcome", &usage.transactions);
        families.counter("svc_db_transactions", "Write transactions by outcome.", samples(&outcomes))?;
        families.histogram(
            "svc_db_commit_duration_seconds",
            "Time of commits. SQLite commits several transactions at once, with one disk sync.",
            [(&[][..], &usage.commits)],
        )?;
        let waiting = number(usage.waiting_writes);
        families.gauge(
            "svc_db_writes_waiting",
            "Write transactions that wait for their turn.",
            [(&[][..], waiting)],
        )?;
        let pool = usage.pool;
        families.gauge("svc_db_pool_in_use", "Database connections in use.", [(&[][..], number(pool.in_use))])?;
        families.gauge("svc_db_pool_max", "Maximum number of connections.", [(&[][..], number(pool.max))])?;
        families.gauge("svc_db_pool_waiting", "Threads that wait for one.", [(&[][..], number(pool.waiting))])?;
        let replicas: Vec<_> = usage.replicas.iter().map(|replica| (replica.number.to_string(), replica)).collect();
        let replicas: Vec<_> = replicas.iter().map(|(number, replica)| ([("replica", &**number)], *replica)).collect();
        let all = || replicas.iter().map(|(label, replica)| (&label[..], *replica));
        let used = all().map(|(label, replica)| (label, number(u64::from(replica.problem.is_none()))));
        families.gauge("svc_db_replica_used", "Whether reads use the read replica.", used)?;
        let lag = all().filter_map(|(label, replica)| Some((label, replica.lag?.as_secs_f64())));
        families.gauge("svc_db_replica_lag_seconds", "How long the read replica has been behind.", lag)?;
        let reads = all().map(|(label, replica)| (label, number(replica.reads)));
        families.counter("svc_db_replica_reads", "Snapshots that the read replica has provided.", reads)?;
        let wal = usage.wal_bytes.map(|bytes| (&[][..], number(bytes)));
        families.gauge("svc_db_wal_bytes", "Size of the write-ahead log (SQLite).", wal)?;
        let (is_ready, posts) = match self.store.search_index_state() {
            SearchIndexState::Absent => (0.0, 0),
            SearchIndexState::Building(posts) => (0.0, posts),
            SearchIndexState::Ready(posts) => (1.0, posts),
        };
        families.gauge("svc_search_index_ready", "Whether searches use the index.", [(&[][..], is_ready)])?;
        families.gauge("svc_search_index_posts", "Posts in the search index.", [(&[][..], number(posts))])
    }

    fn write_outgoing(&self, families: &mut Families<'_>) -> fmt::Result {
        let usage = self.http_client.usage();
        let outcomes = labelled("outcome", &usage.outcomes);
        families.counter("svc_outgoing_requests", "Requests to other servers by outcome.", samples(&outcomes))?;
        families.histogram(
            "svc_outgoing_request_duration_seconds",
            "Time of requests to other servers.",
            [(&[][..], &usage.durations)],
        )?;
        let running = number(usage.running);
        families.gauge("svc_outgoing_requests_running", "Requests to other servers in progress.", [(&[][..], running)])
    }
}

/// Samples with one label.
type Labelled<'a> = Vec<([(&'a str, &'a str); 1], f64)>;

fn labelled<'a>(label: &'a str, counts: &[(&'a str, u64)]) -> Labelled<'a> {
    counts.iter().map(|(name, n)| ([(label, *name)], number(*n))).collect()
}

fn samples<'l>(labelled: &'l Labelled<'l>) -> impl Iterator<Item = (&'l [(&'l str, &'l str)], f64)> {
    labelled.iter().map(|(label, value)| (&label[..], *value))
}
