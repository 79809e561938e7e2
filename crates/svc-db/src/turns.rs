//! Who may keep the database for a while: transactions of several writes take turns, and few snapshots are kept while their
//! requests wait.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use svc_versions::Context;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::error::{Result, StoreError};

/// Maximum number of transactions of several writes that wait for their turn or are open, in all and of a caller.
const MAX_TRANSACTIONS: usize = 32;
const MAX_OF_CALLER: usize = 8;

/// How long a request waits until it may keep a snapshot.
const SNAPSHOT_WAIT: Duration = Duration::from_secs(5);

/// The state of the turns on a database.
pub(crate) struct Turns {
    /// The one transaction that may be open.
    transaction: Arc<Semaphore>,
    state: Mutex<State>,
    /// Half of the connections: others are always left for requests that do not wait.
    snapshots: OnceLock<Arc<Semaphore>>,
}

#[derive(Default)]
struct State {
    /// The callers of transactions that wait or are open. `None` for work that no user has caused.
    callers: Vec<Option<i64>>,
    /// When the next transaction may be opened.
    free_at: Option<Instant>,
}

impl Default for Turns {
    fn default() -> Self {
        Turns { transaction: Arc::new(Semaphore::new(1)), state: Mutex::default(), snapshots: OnceLock::new() }
    }
}

impl Turns {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The turn of a transaction of several writes, until it is dropped. For as long as the transaction was open, no other one is opened
/// after it, so that single writes have at least half of the time.
pub(crate) struct Turn {
    turns: Arc<Turns>,
    caller: Option<i64>,
    opened: Option<Instant>,
    /// Held until the end.
    permit: Option<OwnedSemaphorePermit>,
}

impl Turn {
    /// Waits for a turn.
    ///
    /// # Errors
    /// [`StoreError::Busy`] if too many transactions wait, or too many of the caller.
    pub(crate) async fn wait(turns: &Arc<Turns>, cx: &Context) -> Result<Self> {
        let caller = cx.caller();
        {
            let mut state = turns.state();
            let n_own = state.callers.iter().filter(|other| caller.is_some() && **other == caller).count();
            if n_own >= MAX_OF_CALLER || state.callers.len() >= MAX_TRANSACTIONS {
                return Err(StoreError::Busy);
            }
            state.callers.push(caller);
        }
        let mut turn = Turn { turns: Arc::clone(turns), caller, opened: None, permit: None };
        turn.permit = Arc::clone(&turns.transaction).acquire_owned().await.ok();
        let free_at = turns.state().free_at;
        if let Some(pause) = free_at.map(|at| at.saturating_duration_since(Instant::now())) {
            tokio::time::sleep(pause).await;
        }
        Ok(turn)
    }

    /// The transaction is open from now on.
    pub(crate) fn opened(&mut self) {
        self.opened = Some(Instant::now());
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let mut state = self.turns.state();
        if let Some(opened) = self.opened {
            state.free_at = Some(Instant::now() + opened.elapsed());
        }
        drop(self.permit.take());
        if let Some(at) = state.callers.iter().position(|caller| *caller == self.caller) {
            state.callers.swap_remove(at);
        }
    }
}

/// The right to keep a snapshot while a request waits, until it is dropped.
pub struct SnapshotPermit(#[expect(dead_code, reason = "held")] OwnedSemaphorePermit);

impl SnapshotPermit {
    /// Waits until fewer than half of the connections are kept.
    ///
    /// # Errors
    /// [`StoreError::Busy`] if that takes too long.
    pub(crate) async fn wait(turns: &Turns, n_connections: usize) -> Result<Self> {
        let n = (n_connections / 2).max(1);
        let snapshots = turns.snapshots.get_or_init(|| Arc::new(Semaphore::new(n)));
        let permit = tokio::time::timeout(SNAPSHOT_WAIT, Arc::clone(snapshots).acquire_owned()).await;
        permit.ok().and_then(std::result::Result::ok).map(SnapshotPermit).ok_or(StoreError::Busy)
    }
}
