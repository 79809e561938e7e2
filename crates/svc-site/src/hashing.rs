//! Password hashing, which is slow on purpose. It runs outside the async workers, with at most one hash per processor
//! at a time and a bounded queue.
//!
//! Passwords are hashed with backslashes before quotes: WordPress has always processed them as its forms escape them,
//! and stored hashes depend on it.

use std::sync::Arc;

use svc_auth::{Secret, password};
use tokio::sync::Semaphore;

/// Maximum number of hashes in the queue.
const MAX_QUEUED: usize = 64;

/// Reasons why a password could not be hashed or verified.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HashFailure {
    /// The queue is full. Retry in a few seconds.
    Busy,
    /// The password is too long.
    TooLong,
    /// The system returned no random bytes, or the server is stopping.
    Unavailable,
}

/// Hashes and verifies the passwords of a site.
#[derive(Debug)]
pub struct PasswordHashing {
    /// Hashes that are computed.
    in_progress: Arc<Semaphore>,
    /// Hashes that are computed or wait.
    queued: Semaphore,
}

impl Default for PasswordHashing {
    fn default() -> Self {
        let n_processors = std::thread::available_parallelism().map_or(1, usize::from);
        PasswordHashing { in_progress: Arc::new(Semaphore::new(n_processors)), queued: Semaphore::new(MAX_QUEUED) }
    }
}

impl PasswordHashing {
    /// Hashes a new password in the current format.
    ///
    /// # Errors
    /// See [`HashFailure`].
    pub async fn hash(&self, password: Secret) -> Result<String, HashFailure> {
        match self.run_queued(move || password::hash(with_slashes(&password).as_bytes())).await? {
            Ok(hash) => Ok(hash),
            Err(password::HashError::TooLong) => Err(HashFailure::TooLong),
            Err(password::HashError::Unavailable) => Err(HashFailure::Unavailable),
        }
    }

    /// Whether the stored hash matches the password. White space at the password's ends is ignored. For a user who does not
    /// exist, verification takes as long as for a wrong password.
    ///
    /// # Errors
    /// [`HashFailure::Busy`], [`HashFailure::Unavailable`].
    pub async fn verify(&self, stored: Option<String>, password: Secret) -> Result<bool, HashFailure> {
        self.run_queued(move || {
            let slashed = with_slashes(&password);
            password::verify_or_dummy(stored.as_deref(), svc_text::trim(&slashed).as_bytes())
        })
        .await
    }

    async fn run_queued<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> Result<T, HashFailure> {
        let _queued = self.queued.try_acquire().map_err(|_| HashFailure::Busy)?;
        let permit = Arc::clone(&self.in_progress).acquire_owned().await.map_err(|_| HashFailure::Unavailable)?;
        let done = tokio::task::spawn_blocking(move || {
            // The permit is held while the work runs, even if the caller no longer waits.
            let _permit = permit;
            work()
        });
        done.await.map_err(|_| HashFailure::Unavailable)
    }
}

/// A password with quotes escaped as WordPress escapes them.
fn with_slashes(password: &Secret) -> String {
    svc_text::slash(password.expose())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn hashes_verify_and_a_full_queue_is_rejected() {
        let passwords = Arc::new(PasswordHashing::default());
        let hash = |text: &str| passwords.hash(Secret::new(text));
        let verify = |stored: &str, text: &str| {
            let (passwords, stored, password) = (Arc::clone(&passwords), stored.to_owned(), Secret::new(text));
            async move { passwords.verify(Some(stored), password).await }
        };
        let stored = hash("right").await.unwrap();
        assert_eq!(verify(&stored, "right").await, Ok(true));
        assert_eq!(verify(&stored, "wrong").await, Ok(false));
        let quoted = hash(r#"it's "so""#).await.unwrap();
        assert!(password::verify(&quoted, br#"it\'s \"so\""#), "as WordPress stores it");
        assert_eq!(verify(&quoted, r#" it's "so" "#).await, Ok(true));
        assert_eq!(hash(&"x".repeat(5000)).await, Err(HashFailure::TooLong));
        // A cheap hash, to keep the test short.
        let quick = password::hash_with_cost(b"right", 4).unwrap();
        let tries: Vec<_> = (0..MAX_QUEUED * 2).map(|_| tokio::spawn(verify(&quick, "right"))).collect();
        let mut results = Vec::new();
        for one in tries {
            results.push(one.await.unwrap());
        }
        assert!(results.contains(&Ok(true)) && results.contains(&Err(HashFailure::Busy)));
    }
}
