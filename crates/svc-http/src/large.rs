//! Large bodies: how much memory all of them may take, and where they are decoded.
//!
//! Small bodies are not counted, and decoded in place.

use std::sync::Arc;

use svc_routing::Error;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Bodies up to this size are small, in bytes.
pub(crate) const SMALL: usize = 64 << 10;

/// Large bodies that may wait for a thread.
const MAX_WAITING: usize = 64;

/// What all large bodies of a service share. Cheap to clone.
#[derive(Clone)]
pub(crate) struct LargeBodies {
    /// Permits for [`SMALL`] bytes each.
    memory: Arc<Semaphore>,
    threads: Arc<Semaphore>,
    queue: Arc<Semaphore>,
}

/// The memory of one body, until its request ends.
pub(crate) struct Reservation {
    of: Arc<Semaphore>,
    permits: Option<OwnedSemaphorePermit>,
}

/// Too much is in progress: another try in some seconds may succeed.
fn busy() -> Error {
    Error::new("rest_service_unavailable", "The site is busy. Try again in a moment.").with_status(503)
}

impl LargeBodies {
    /// For bodies of this many bytes in all, decoded on as many threads as there are processors.
    pub(crate) fn new(memory: usize) -> Self {
        let n_threads = std::thread::available_parallelism().map_or(1, usize::from);
        LargeBodies {
            memory: Arc::new(Semaphore::new((memory / SMALL).min(Semaphore::MAX_PERMITS))),
            threads: Arc::new(Semaphore::new(n_threads)),
            queue: Arc::new(Semaphore::new(MAX_WAITING)),
        }
    }

    /// The reservation of a body that begins to arrive.
    pub(crate) fn reserve(&self) -> Reservation {
        Reservation { of: Arc::clone(&self.memory), permits: None }
    }

    /// Runs this on a thread for blocking work.
    ///
    /// # Errors
    /// 503 when too many wait, or the server stops.
    pub(crate) async fn run<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> Result<T, Error> {
        let _queued = self.queue.try_acquire().map_err(|_| busy())?;
        let thread = Arc::clone(&self.threads).acquire_owned().await.map_err(|_| busy())?;
        let done = tokio::task::spawn_blocking(move || {
            // The work goes on when nobody waits for it any more.
            let _thread = thread;
            work()
        });
        done.await.map_err(|_| busy())
    }
}

impl Reservation {
    /// Makes the reservation large enough for a body of `size` bytes.
    ///
    /// # Errors
    /// 503 when large bodies take all the memory that they may.
    pub(crate) fn grow(&mut self, size: usize) -> Result<(), Error> {
        if size <= SMALL {
            return Ok(());
        }
        let held = self.permits.as_ref().map_or(0, OwnedSemaphorePermit::num_permits);
        let missing = size.div_ceil(SMALL).saturating_sub(held);
        if missing == 0 {
            return Ok(());
        }
        let missing = u32::try_from(missing).map_err(|_| busy())?;
        let more = Arc::clone(&self.of).try_acquire_many_owned(missing).map_err(|_| busy())?;
        match &mut self.permits {
            Some(permits) => permits.merge(more),
            None => self.permits = Some(more),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn large_bodies_share_their_memory() {
        let bodies = LargeBodies::new(4 * SMALL);
        let (mut first, mut second) = (bodies.reserve(), bodies.reserve());
        assert!(first.grow(SMALL).is_ok() && bodies.memory.available_permits() == 4, "small ones are not counted");
        assert!(first.grow(SMALL + 1).is_ok() && first.grow(3 * SMALL).is_ok());
        assert_eq!(bodies.memory.available_permits(), 1);
        assert_eq!(second.grow(2 * SMALL).unwrap_err().status(), 503);
        drop(first);
        assert!(second.grow(2 * SMALL).is_ok());
        assert_eq!(bodies.run(|| 7).await.unwrap(), 7);
    }
}
