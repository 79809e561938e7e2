//! A transaction that several writes of one request are parts of.
//!
//! From [`Database::begin`](crate::Database::begin) until its end, what is read and written with the context belongs to it. The
//! thread that runs the transaction waits for one part after another, for a limited time in all, while the request reads
//! on the same connection. The first part that fails ends the transaction: no further part runs, and nothing is committed.
//! All parts have one record of changes.

use std::any::Any;
use std::pin::Pin;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use svc_versions::Context;
use tokio::sync::oneshot;

use crate::backend::{Backend, Job};
use crate::error::{Result, StoreError};
use crate::handle::Tx;
use crate::session::{self, LentSession, Session};
use crate::shared::Shared;
use crate::turns::Turn;
use crate::{loaded_rows, request};

/// What happens after the commit.
type Effect = Pin<Box<dyn Future<Output = ()> + Send>>;

/// What a request asks of the thread that runs its transaction.
enum Command {
    Run(Box<dyn Job>),
    Commit,
    RollBack,
}

/// The transaction of a context.
#[derive(Default)]
struct Ongoing(Mutex<Option<Open>>);

struct Open {
    store: Arc<Shared>,
    commands: Sender<Command>,
    /// In the order of the parts.
    effects: Vec<Effect>,
}

impl Ongoing {
    fn lock(&self) -> MutexGuard<'_, Option<Open>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The transaction that a write with this context is a part of.
pub(crate) struct Whole(Sender<Command>);

/// The context's open transaction on the store with these caches.
///
/// # Errors
/// [`StoreError::Nested`] if the context is reading.
pub(crate) fn of(cx: &Context, store: &Arc<Shared>) -> Result<Option<Whole>> {
    let ongoing = cx.state::<Ongoing>();
    let commands = match &*ongoing.lock() {
        Some(open) if Arc::ptr_eq(&open.store, store) => open.commands.clone(),
        _ => return Ok(None),
    };
    if session::is_reading(cx, store) {
        tracing::error!("a write was started within a read");
        return Err(StoreError::Nested);
    }
    Ok(Some(Whole(commands)))
}

impl Whole {
    /// Runs a job as the next part.
    ///
    /// # Errors
    /// [`StoreError::RolledBack`] if the transaction has ended.
    pub(crate) fn run(&self, job: Box<dyn Job>) -> Result<()> {
        self.0.send(Command::Run(job)).map_err(|_| StoreError::RolledBack)
    }
}

/// Awaits `effect` after the commit of the context's open transaction, if there is one, and immediately otherwise. Without a
/// commit, it is dropped.
pub(crate) async fn after_commit(cx: &Context, store: &Arc<Shared>, effect: impl Future<Output = ()> + Send + 'static) {
    {
        let ongoing = cx.state::<Ongoing>();
        let mut ongoing = ongoing.lock();
        if let Some(open) = ongoing.as_mut().filter(|open| Arc::ptr_eq(&open.store, store)) {
            open.effects.push(Box::pin(effect));
            return;
        }
    }
    effect.await;
}

/// An open transaction. Dropping it rolls it back.
pub struct OpenTransaction {
    cx: Context,
    store: Arc<Shared>,
    commands: Sender<Command>,
    outcome: oneshot::Receiver<Result<()>>,
    has_ended: bool,
    _turn: Turn,
}

impl OpenTransaction {
    pub(crate) async fn begin(backend: Arc<dyn Backend>, cx: &Context, limit: Duration) -> Result<Self> {
        let store = Arc::clone(backend.shared());
        let ongoing = cx.state::<Ongoing>();
        if ongoing.lock().is_some() {
            return Err(StoreError::Nested);
        }
        let mut turn = Turn::wait(&store.turns, cx).await?;
        let (commands, received) = mpsc::channel();
        let (ready, mut is_ready) = oneshot::channel();
        let (respond, outcome) = oneshot::channel();
        let job = WholeJob {
            request: cx.clone(),
            cx: cx.detached(),
            limit,
            parts: Some((received, ready)),
            outcome: None,
            caller: respond,
        };
        let mut accepted = backend.write(cx, Box::new(job));
        let mut is_accepted = false;
        let opened = loop {
            tokio::select! {
                biased;
                opened = &mut is_ready => break opened,
                result = &mut accepted, if !is_accepted => {
                    result?;
                    is_accepted = true;
                }
            }
        };
        if opened.is_err() {
            return Err(outcome.await.unwrap_or(Err(StoreError::Busy)).err().unwrap_or(StoreError::Busy));
        }
        turn.opened();
        *ongoing.lock() = Some(Open { store: Arc::clone(&store), commands: commands.clone(), effects: Vec::new() });
        let transaction = OpenTransaction { cx: cx.clone(), store, commands, outcome, has_ended: false, _turn: turn };
        transaction.forget_loaded(false);
        Ok(transaction)
    }

    /// Commits all parts durably, then awaits the effects that wait for it.
    ///
    /// # Errors
    /// Why nothing is committed: [`StoreError::Deadline`] if the transaction has taken too long, [`StoreError::RolledBack`] if a part has
    /// failed, or those of the engine. If the connection breaks during the commit, it is not known whether the server has carried it out.
    pub async fn commit(mut self) -> Result<()> {
        let done = self.end(Command::Commit).await;
        let effects = self.close(done.is_ok());
        if done.is_ok() {
            for effect in effects {
                effect.await;
            }
        }
        done
    }

    /// Rolls everything back. The database is free for other writers when this returns.
    pub async fn roll_back(mut self) {
        // The outcome is an error in any case.
        let _rolled_back = self.end(Command::RollBack).await;
        self.close(false);
    }

    async fn end(&mut self, how: Command) -> Result<()> {
        // A transaction that has ended has sent its outcome.
        let _sent = self.commands.send(how);
        (&mut self.outcome).await.unwrap_or(Err(StoreError::RolledBack))
    }

    /// Detaches the context from the transaction, and returns the effects that wait for the commit.
    fn close(&mut self, committed: bool) -> Vec<Effect> {
        self.has_ended = true;
        let open = self.cx.state::<Ongoing>().lock().take();
        session::end_lent(&self.cx, &self.store);
        self.forget_loaded(committed);
        open.map(|open| open.effects).unwrap_or_default()
    }

    /// Forgets what the request has loaded outside of the transaction, or in it.
    fn forget_loaded(&self, committed: bool) {
        request::after_write(&self.cx, committed);
        loaded_rows::forget_all(&self.cx);
    }
}

impl Drop for OpenTransaction {
    fn drop(&mut self) {
        if !self.has_ended {
            let _sent = self.commands.send(Command::RollBack);
            self.close(false);
        }
    }
}

/// The whole transaction as one job of the engine.
struct WholeJob {
    /// The context of the request, which reads in the transaction.
    request: Context,
    /// The context of the record.
    cx: Context,
    /// How long the parts may take together, with what is between them.
    limit: Duration,
    /// Where the parts come from, and who waits for the start; `None` once it has run.
    parts: Option<(Receiver<Command>, oneshot::Sender<()>)>,
    outcome: Option<Result<()>>,
    caller: oneshot::Sender<Result<()>>,
}

impl WholeJob {
    /// Runs the parts until the request ends the transaction.
    fn run_parts(&self, tx: &mut Tx, parts: &Receiver<Command>, ready: oneshot::Sender<()>) -> Result<()> {
        let until = Instant::now() + self.limit;
        let left = || until.saturating_duration_since(Instant::now());
        let lent = LentSession::open(&self.request, tx);
        // The connection is only used here while the request waits for a part, and after the session has ended.
        tx.conn.limit_statements(Some(left()));
        let result = if ready.send(()).is_err() { Err(StoreError::RolledBack) } else { run_all(tx, parts, &left) };
        lent.end();
        tx.conn.limit_statements(None);
        result?;
        let session = Session::open(&self.cx, tx);
        let completed = tx.complete_record();
        session.close(tx);
        completed
    }
}

fn run_all(tx: &mut Tx, parts: &Receiver<Command>, left: &dyn Fn() -> Duration) -> Result<()> {
    loop {
        match parts.recv_timeout(left()) {
            Ok(Command::Run(mut job)) => {
                tx.conn.limit_statements(None);
                let is_done = job.run(tx);
                tx.conn.limit_statements(Some(left()));
                job.respond();
                if !is_done {
                    // Some errors end the transaction of a server, so that further statements would be committed at once.
                    return Err(StoreError::RolledBack);
                }
            }
            Ok(Command::Commit) => return Ok(()),
            Ok(Command::RollBack) | Err(RecvTimeoutError::Disconnected) => return Err(StoreError::RolledBack),
            Err(RecvTimeoutError::Timeout) => {
                tracing::warn!("a transaction of several writes was rolled back, because it took too long");
                return Err(StoreError::Deadline);
            }
        }
    }
}

impl Job for WholeJob {
    fn run(&mut self, tx: &mut Tx) -> bool {
        let outcome = match self.parts.take() {
            Some((parts, ready)) => self.run_parts(tx, &parts, ready),
            // The parts cannot be run again.
            None => Err(StoreError::Busy),
        };
        let commit = outcome.is_ok();
        if !matches!(self.outcome, Some(Err(_))) {
            self.outcome = Some(outcome);
        }
        commit
    }

    fn fail(&mut self, why: StoreError) {
        if !matches!(self.outcome, Some(Err(_))) {
            self.outcome = Some(Err(why));
        }
    }

    fn reset(&mut self) {}

    fn respond(self: Box<Self>) {
        // The request may be gone.
        let _sent = self.caller.send(self.outcome.unwrap_or(Err(StoreError::RolledBack)));
    }
}

/// A snapshot that all reads of a context see until this is dropped, or something is written with the context.
pub struct HeldSnapshot(#[expect(dead_code, reason = "held until it is dropped")] Box<dyn Any + Send>);

impl HeldSnapshot {
    pub(crate) fn new(held: impl Any + Send) -> Self {
        HeldSnapshot(Box::new(held))
    }
}
