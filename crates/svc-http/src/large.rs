//! Large bodies: a bound on the memory of all of them, and threads to decode them.
//!
//! Small bodies are not counted and are decoded on the calling task.

use std::sync::Arc;

use svc_routing::Error;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Largest size of a small body, in bytes.
pub(crate) const SMALL: usize = 64 << 10;

/// Maximum number of large bodies that wait for a thread.
const MAX_WAITING: usize = 64;

/// State that all large bodies of a service share. Cheap to clone.
#[derive(Clone)]
pub(crate) struct LargeBodies {
    /// Permits for [`SMALL`] bytes each.
    memory: Arc<Semaphore>,
    threads: Arc<Semaphore>,
    queue: Arc<Semaphore>,
}

/// The memory reserved for one body, until its request ends.
pub(crate) struct Reservation {
    memory: Arc<Semaphore>,
    permits: Option<OwnedSemaphorePermit>,
}

/// The service is at capacity; a retry after some seconds may succeed.
pub(crate) fn busy() -> Error {
    Error::new("rest_service_unavailable", "The site is busy. Try again in a moment.").with_status(503)
}

impl LargeBodies {
    /// Allows `memory` bytes for all bodies together, and one decoding thread per processor.
    pub(crate) fn new(memory: usize) -> Self {
        let n_threads = std::thread::available_parallelism().map_or(1, usize::from);
        LargeBodies {
            memory: Arc::new(Semaphore::new((memory / SMALL).min(Semaphore::MAX_PERMITS))),
            threads: Arc::new(Semaphore::new(n_threads)),
            queue: Arc::new(Semaphore::new(MAX_WAITING)),
        }
    }

    /// An empty reservation for a body that starts to arrive.
    pub(crate) fn reserve(&self) -> Reservation {
        Reservation { memory: Arc::clone(&self.memory), permits: None }
    }

    /// Runs blocking work on another thread.
    ///
    /// # Errors
    /// 503 if too many bodies are waiting or the server is shutting down.
    pub(crate) async fn run<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> Result<T, Error> {
        let _queued = self.queue.try_acquire().map_err(|_| busy())?;
        let thread = Arc::clone(&self.threads).acquire_owned().await.map_err(|_| busy())?;
        let done = tokio::task::spawn_blocking(move || {
            // The work continues even if the request is cancelled, so it keeps its permit.
            let _thread = thread;
            work()
        });
        done.await.map_err(|_| busy())
    }
}

impl Reservation {
    /// Grows the reservation to `size` bytes.
    ///
    /// # Errors
    /// 503 if no memory is left for large bodies.
    pub(crate) fn grow(&mut self, size: usize) -> Result<(), Error> {
        if size <= SMALL {
            return Ok(());
        }
        let reserved = self.permits.as_ref().map_or(0, OwnedSemaphorePermit::num_permits);
        let missing = size.div_ceil(SMALL).saturating_sub(reserved);
        if missing == 0 {
            return Ok(());
        }
        let missing = u32::try_from(missing).map_err(|_| busy())?;
        let added = Arc::clone(&self.memory).try_acquire_many_owned(missing).map_err(|_| busy())?;
        match &mut self.permits {
            Some(permits) => permits.merge(added),
            None => self.permits = Some(added),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn large_bodies_share_one_memory_budget() {
        let bodies = LargeBodies::new(4 * SMALL);
        let (mut first, mut second) = (bodies.reserve(), bodies.reserve());
        assert!(first.grow(SMALL).is_ok() && bodies.memory.available_permits() == 4, "small bodies are not counted");
        assert!(first.grow(SMALL + 1).is_ok() && first.grow(3 * SMALL).is_ok());
        assert_eq!(bodies.memory.available_permits(), 1);
        assert_eq!(second.grow(2 * SMALL).unwrap_err().status(), 503);
        drop(first);
        assert!(second.grow(2 * SMALL).is_ok());
        assert_eq!(bodies.run(|| 7).await.unwrap(), 7);
    }
}
