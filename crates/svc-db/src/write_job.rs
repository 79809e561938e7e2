//! Write transactions as objects, so that engines need not know the types of their results.

use std::panic::{AssertUnwindSafe, catch_unwind};

use svc_versions::Context;
use tokio::sync::oneshot;
use tracing::Span;

use crate::backend::Job;
use crate::error::{Result, StoreError};
use crate::handle::Tx;
use crate::lease_rows::Fence;
use crate::loaded_rows;
use crate::session::Session;

struct WriteJob<F, T, E> {
    f: F,
    /// The context of the transaction.
    cx: Context,
    /// The span of the caller, to which the statements belong.
    span: Span,
    /// Whether the transaction has further parts, and one record of all of them.
    is_part: bool,
    outcome: Option<Result<T, E>>,
    caller: oneshot::Sender<Result<T, E>>,
}

/// A job that runs `f` in a transaction with this context, and the receiver of its outcome. The receiver is closed if the job
/// is dropped.
pub(crate) fn job<T: Send + 'static, E: From<StoreError> + Send + 'static>(
    cx: Context,
    f: impl Fn(&mut Tx) -> Result<T, E> + Send + 'static,
) -> (Box<dyn Job>, oneshot::Receiver<Result<T, E>>) {
    let (caller, receiver) = oneshot::channel();
    (Box::new(WriteJob { f, cx, span: Span::current(), is_part: false, outcome: None, caller }), receiver)
}

/// Like [`job`], for a part of a transaction.
pub(crate) fn part<T: Send + 'static, E: From<StoreError> + Send + 'static>(
    cx: Context,
    f: impl Fn(&mut Tx) -> Result<T, E> + Send + 'static,
) -> (Box<dyn Job>, oneshot::Receiver<Result<T, E>>) {
    let (caller, receiver) = oneshot::channel();
    (Box::new(WriteJob { f, cx, span: Span::current(), is_part: true, outcome: None, caller }), receiver)
}

impl<F, T, E> Job for WriteJob<F, T, E>
where
    F: Fn(&mut Tx) -> Result<T, E> + Send,
    T: Send,
    E: From<StoreError> + Send,
{
    fn run(&mut self, tx: &mut Tx) -> bool {
        let _within = self.span.enter();
        // A panic affects one request only; the writer must continue for the others.
        loaded_rows::begin_transaction(&self.cx);
        let session = Session::open(&self.cx, tx);
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            if let Some(fence) = self.cx.get::<Fence>() {
                fence.check(tx)?;
            }
            let done = (self.f)(tx)?;
            if !self.is_part {
                tx.complete_record()?;
            }
            Ok(done)
        }));
        session.close(tx);
        let outcome = outcome.unwrap_or_else(|_| Err(StoreError::Other("a transaction panicked".to_owned()).into()));
        let commit = outcome.is_ok();
        self.outcome = Some(outcome);
        commit
    }

    fn fail(&mut self, why: StoreError) {
        // The transaction's own error takes precedence over subsequent ones.
        if !matches!(self.outcome, Some(Err(_))) {
            self.outcome = Some(Err(why.into()));
        }
    }

    fn reset(&mut self) {
        self.outcome = None;
    }

    fn respond(self: Box<Self>) {
        if let Some(outcome) = self.outcome {
            // The caller may be gone.
            let _ = self.caller.send(outcome);
        }
    }
}
