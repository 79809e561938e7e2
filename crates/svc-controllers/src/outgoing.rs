//! The site's requests to others: all of them go through here.

use std::{sync::Arc, time::Duration};

use svc_fetch::{Allowed, Answer, Client, FetchError, Get, Guard};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::Settings;

/// Requests under way at a time.
const AT_A_TIME: usize = 16;

/// How long a request waits for its turn.
const TURN: Duration = Duration::from_secs(5);

/// The guarded client, and a bound on how many of its requests are under way. Cheap to clone.
#[derive(Clone)]
pub struct Outgoing {
    client: Client,
    slots: Arc<Semaphore>,
}

impl Default for Outgoing {
    /// To the public network.
    fn default() -> Self {
        Outgoing::new(Guard::default())
    }
}

impl Outgoing {
    /// Within this guard.
    pub fn new(guard: Guard) -> Self {
        let agent = concat!("Mozilla/5.0 (compatible; content server ", env!("CARGO_PKG_VERSION"), ")");
        Outgoing { client: Client::new(guard, agent), slots: Arc::new(Semaphore::new(AT_A_TIME)) }
    }

    async fn turn(&self) -> Result<OwnedSemaphorePermit, FetchError> {
        let turn = tokio::time::timeout(TURN, Arc::clone(&self.slots).acquire_owned()).await;
        turn.ok().and_then(Result::ok).ok_or(FetchError::TimedOut)
    }

    /// Sends a request.
    ///
    /// # Errors
    /// Those of the client; too many requests under way count as no answer in time.
    pub async fn send(&self, get: Get) -> Result<Answer, FetchError> {
        self.waiting(move |client| client.send(&get)).await
    }

    /// Whether an address may be asked; its host is looked up.
    ///
    /// # Errors
    /// Why it may not.
    pub async fn check(&self, get: Get) -> Result<(), FetchError> {
        self.waiting(move |client| client.check(&get)).await
    }

    async fn waiting<T: Send + 'static>(
        &self,
        f: impl FnOnce(&Client) -> Result<T, FetchError> + Send + 'static,
    ) -> Result<T, FetchError> {
        let (turn, client) = (self.turn().await?, self.client.clone());
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
pub(crate) fn own(settings: &Settings) -> Vec<Allowed> {
    ["home", "siteurl"].iter().filter_map(|name| Allowed::origin_of(settings.option(name))).collect()
}
