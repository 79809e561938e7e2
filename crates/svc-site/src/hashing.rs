//! Password hashes that take long on purpose: made and checked away from the workers that answer requests, no more at
//! once than there are processors, and no more waiting than can be served in time.
//!
//! What is hashed is the password with backslashes before its quotes: WordPress has always taken passwords in as its
//! forms escape them, and stored hashes are of that text.

use std::sync::LazyLock;

use svc_auth::{Secret, password};
use tokio::sync::Semaphore;

/// Hashes that may wait for a processor: some five seconds of work for each.
const MOST_WAITING: usize = 64;

/// Why there is no hash, or no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HashFailure {
    /// Too many wait already: to be tried again in some seconds.
    Busy,
    /// No password may be this long.
    TooLong,
    /// The system gave no random bytes, or the server stops.
    Unavailable,
}

/// The hash of a new password, in the present format.
///
/// # Errors
/// See [`HashFailure`].
pub async fn hash(password: Secret) -> Result<String, HashFailure> {
    match in_turn(move || password::hash(taken_in(&password).as_bytes())).await? {
        Ok(hash) => Ok(hash),
        Err(password::HashError::TooLong) => Err(HashFailure::TooLong),
        Err(password::HashError::Unavailable) => Err(HashFailure::Unavailable),
    }
}

/// Whether the stored hash is of this password, white space at whose ends does not count. A user who does not exist costs as much as a wrong password.
///
/// # Errors
/// [`HashFailure::Busy`], [`HashFailure::Unavailable`].
pub async fn verify(stored: Option<String>, password: Secret) -> Result<bool, HashFailure> {
    in_turn(move || {
        let typed = taken_in(&password);
        password::verify_or_dummy(stored.as_deref(), svc_text::trim(&typed).as_bytes())
    })
    .await
}

/// A password as WordPress takes it in.
fn taken_in(password: &Secret) -> String {
    svc_text::slash(password.expose())
}

async fn in_turn<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, HashFailure> {
    static PLACES: LazyLock<Semaphore> =
        LazyLock::new(|| Semaphore::new(std::thread::available_parallelism().map_or(1, usize::from)));
    static QUEUE: Semaphore = Semaphore::const_new(MOST_WAITING);
    let _queued = QUEUE.try_acquire().map_err(|_| HashFailure::Busy)?;
    let place = PLACES.acquire().await.map_err(|_| HashFailure::Unavailable)?;
    let done = tokio::task::spawn_blocking(move || {
        // The place is held as long as the work runs, even when nobody waits for it any more.
        let _place = place;
        work()
    });
    done.await.map_err(|_| HashFailure::Unavailable)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_is_hashed_verifies_and_a_flood_is_refused() {
        let stored = hash(Secret::new("right")).await.unwrap();
        assert_eq!(verify(Some(stored.clone()), Secret::new("right")).await, Ok(true));
        assert_eq!(verify(Some(stored.clone()), Secret::new("wrong")).await, Ok(false));
        let quoted = hash(Secret::new(r#"it's "so""#)).await.unwrap();
        assert!(password::verify(&quoted, br#"it\'s \"so\""#), "as the peer stores it");
        assert_eq!(verify(Some(quoted), Secret::new(r#" it's "so" "#)).await, Ok(true));
        assert_eq!(hash(Secret::new("x".repeat(5000))).await, Err(HashFailure::TooLong));
        // A hash that is quick to check, so that the flood is over soon.
        let quick = password::hash_with_cost(b"right", 4).unwrap();
        let tries: Vec<_> =
            (0..MOST_WAITING * 2).map(|_| tokio::spawn(verify(Some(quick.clone()), Secret::new("right")))).collect();
        let mut answers = Vec::new();
        for one in tries {
            answers.push(one.await.unwrap());
        }
        assert!(answers.contains(&Ok(true)) && answers.contains(&Err(HashFailure::Busy)));
    }
}
