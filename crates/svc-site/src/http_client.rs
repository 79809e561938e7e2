//! The site's requests to others: all of them go through here.

use std::{sync::Arc, time::Duration};

use svc_fetch::{Allowed, Client, FetchError, Get, Guard, Response};
use tokio::sync::Semaphore;

use crate::Settings;

/// Requests under way at a time.
const AT_A_TIME: usize = 16;

/// Look-ups of hosts under way at a time, for those who may not ask for more.
const LOOKUPS_AT_A_TIME: usize = 4;

/// How long a request waits for its turn.
const TURN: Duration = Duration::from_secs(5);

/// The guarded client, and a bound on how many of its requests are under way. Cheap to clone.
#[derive(Clone)]
pub struct HttpClient {
    client: Client,
    slots: Arc<Semaphore>,
    lookups: Arc<Semaphore>,
}

impl Default for HttpClient {
    /// To the public network.
    fn default() -> Self {
        HttpClient::new(Guard::default())
    }
}

impl HttpClient {
    /// Within this guard.
    pub fn new(guard: Guard) -> Self {
        let agent = concat!("Mozilla/5.0 (compatible; content server ", env!("CARGO_PKG_VERSION"), ")");
        let [slots, lookups] = [AT_A_TIME, LOOKUPS_AT_A_TIME].map(|n| Arc::new(Semaphore::new(n)));
        HttpClient { client: Client::new(guard, agent), slots, lookups }
    }

    /// Whether an address is one that could be asked, as far as can be said without looking its host up.
    pub fn is_permitted_url(&self, get: &Get) -> bool {
        self.client.is_permitted_url(get)
    }

    /// Sends a request.
    ///
    /// # Errors
    /// Those of the client; too many requests under way count as no answer in time.
    pub async fn send(&self, get: Get) -> Result<Response, FetchError> {
        self.waiting(&self.slots, move |client| client.send(&get)).await
    }

    /// Whether an address may be asked; its host is looked up.
    ///
    /// # Errors
    /// Why it may not.
    pub async fn check(&self, get: Get) -> Result<(), FetchError> {
        self.waiting(&self.lookups, move |client| client.check(&get)).await
    }

    async fn waiting<T: Send + 'static>(
        &self,
        slots: &Arc<Semaphore>,
        f: impl FnOnce(&Client) -> Result<T, FetchError> + Send + 'static,
    ) -> Result<T, FetchError> {
        let turn = tokio::time::timeout(TURN, Arc::clone(slots).acquire_owned()).await;
        let turn = turn.ok().and_then(Result::ok).ok_or(FetchError::TimedOut)?;
        let client = self.client.clone();
        // The turn ends with the work, also when nobody waits for the work any longer.
        let work = move || {
            let result = f(&client);
            drop(turn);
            result
        };
        let done = tokio::task::spawn_blocking(work).await;
        done.unwrap_or_else(|error| Err(FetchError::Connection(error.to_string())))
    }
}

/// The site's own addresses, which a request may reach wherever they lead.
pub fn own(settings: &Settings) -> Vec<Allowed> {
    ["home", "siteurl"].iter().filter_map(|name| Allowed::origin_of(settings.option(name))).collect()
}
