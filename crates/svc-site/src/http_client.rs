//! The HTTP client for all outgoing requests of the site.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use svc_fetch::{Allowed, FetchError, FetchedResponse, Get, Guard, GuardedClient, Post};
use svc_metrics::{Histogram, HistogramReport, Outcomes};
use tokio::sync::{Semaphore, oneshot};
use tracing::Span;

use crate::Settings;

/// Maximum number of requests in progress.
const MAX_REQUESTS: usize = 6;

/// Maximum number of host look-ups in progress, for callers who may not send requests.
const MAX_LOOKUPS: usize = 2;

/// Maximum time that a request waits for a slot.
const SLOT_TIMEOUT: Duration = Duration::from_secs(5);

/// The guarded client with a limit on concurrent requests. Cheap to clone.
#[derive(Clone)]
pub struct HttpClient {
    client: GuardedClient,
    slots: Arc<Semaphore>,
    lookups: Arc<Semaphore>,
    counts: Arc<OutgoingCounts>,
}

/// The outcomes of outgoing requests. A refused one was not sent, because its URL is not permitted.
const OUTCOMES: [&str; 5] = ["ok", "error_status", "timed_out", "refused", "failed"];

struct OutgoingCounts {
    outcomes: Outcomes<5>,
    durations: Histogram,
}

/// Numbers of outgoing requests since the start.
#[derive(Clone, Debug, PartialEq)]
pub struct OutgoingUsage {
    /// Requests by outcome: `ok` (a status below 400), `error_status`, `timed_out`, `refused` (the URL is not permitted) or `failed`.
    pub outcomes: Vec<(&'static str, u64)>,
    /// Their durations.
    pub durations: HistogramReport,
    /// Requests in progress.
    pub running: usize,
}

impl Default for HttpClient {
    /// A client for the public network.
    fn default() -> Self {
        HttpClient::new(Guard::default())
    }
}

impl HttpClient {
    /// A client with this guard.
    pub fn new(guard: Guard) -> Self {
        let agent = concat!("Mozilla/5.0 (compatible; content server ", env!("CARGO_PKG_VERSION"), ")");
        let [slots, lookups] = [MAX_REQUESTS, MAX_LOOKUPS].map(|n| Arc::new(Semaphore::new(n)));
        let counts = Arc::new(OutgoingCounts { outcomes: Outcomes::new(OUTCOMES), durations: Histogram::default() });
        HttpClient { client: GuardedClient::new(guard, agent), slots, lookups, counts }
    }

    /// Whether a URL may be requested, as far as can be decided without a host look-up.
    pub fn is_permitted_url(&self, get: &Get) -> bool {
        self.client.is_permitted_url(get)
    }

    /// Sends a request.
    ///
    /// # Errors
    /// Errors of the client; [`FetchError::TimedOut`] if there are too many requests in progress.
    pub async fn send(&self, get: Get) -> Result<FetchedResponse, FetchError> {
        let began = Instant::now();
        let result = self.with_slot(&self.slots, move |client| client.send(&get)).await;
        self.count(began, &result);
        result
    }

    /// Sends a POST request, whose receiver may be slow: it has a thread of its own, and takes no slot of other requests. The caller
    /// limits their number.
    ///
    /// # Errors
    /// Errors of the client.
    pub async fn post(&self, post: Post) -> Result<FetchedResponse, FetchError> {
        let (began, client) = (Instant::now(), self.client.clone());
        let (sender, receiver) = oneshot::channel();
        // The receiver is gone if the caller no longer waits.
        let span = Span::current();
        let work = move || drop(sender.send(span.in_scope(|| client.post(&post))));
        let started = std::thread::Builder::new().name("svc-post".to_owned()).spawn(work);
        let result = match started {
            Ok(_) => receiver.await.unwrap_or_else(|error| Err(FetchError::Connection(error.to_string()))),
            Err(error) => Err(FetchError::Connection(error.to_string())),
        };
        self.count(began, &result);
        result
    }

    fn count(&self, began: Instant, result: &Result<FetchedResponse, FetchError>) {
        self.counts.durations.record(began.elapsed());
        self.counts.outcomes.record(match result {
            Ok(response) if response.status < 400 => "ok",
            Ok(_) => "error_status",
            Err(FetchError::TimedOut) => "timed_out",
            Err(error) if error.is_invalid_url() => "refused",
            Err(_) => "failed",
        });
    }

    /// Numbers of requests since the start.
    pub fn usage(&self) -> OutgoingUsage {
        OutgoingUsage {
            outcomes: self.counts.outcomes.report(),
            durations: self.counts.durations.report(),
            running: MAX_REQUESTS.saturating_sub(self.slots.available_permits()),
        }
    }

    /// Checks whether a URL may be requested. Looks up its host.
    ///
    /// # Errors
    /// The reason why the URL is refused.
    pub async fn check(&self, get: Get) -> Result<(), FetchError> {
        self.with_slot(&self.lookups, move |client| client.check(&get)).await
    }

    async fn with_slot<T: Send + 'static>(
        &self,
        slots: &Arc<Semaphore>,
        f: impl FnOnce(&GuardedClient) -> Result<T, FetchError> + Send + 'static,
    ) -> Result<T, FetchError> {
        let permit = tokio::time::timeout(SLOT_TIMEOUT, Arc::clone(slots).acquire_owned()).await;
        let permit = permit.ok().and_then(Result::ok).ok_or(FetchError::TimedOut)?;
        let client = self.client.clone();
        // The slot is released when the work ends, even if the caller no longer waits.
        let span = Span::current();
        let work = move || {
            let result = span.in_scope(|| f(&client));
            drop(permit);
            result
        };
        let done = tokio::task::spawn_blocking(work).await;
        done.unwrap_or_else(|error| Err(FetchError::Connection(error.to_string())))
    }
}

/// The site's own origins, which requests may always reach.
pub fn own_origins(settings: &Settings) -> Vec<Allowed> {
    ["home", "siteurl"].iter().filter_map(|name| Allowed::origin_of(settings.option(name))).collect()
}
