//! Runs file and network work outside the async workers.

use std::{fmt, future::Future};

use svc_schema::Error;
use svc_versions::Context;
use tokio::task::JoinError;
use tracing::{Instrument as _, Span};

use crate::errors;

/// A task that panicked or was cancelled. Converts to a 500 without details; the cause is logged.
#[derive(Debug)]
pub struct TaskFailed(JoinError);

impl fmt::Display for TaskFailed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for TaskFailed {}

impl From<TaskFailed> for Error {
    fn from(failed: TaskFailed) -> Self {
        tracing::error!(error = %failed, "a blocking task failed");
        Error::new("rest_internal_error", "The site could not do this. The failure has been logged.").with_status(500)
    }
}

/// Runs `f` on a thread that may block.
///
/// # Errors
/// [`TaskFailed`] if `f` panics.
pub async fn run_blocking<T: Send + 'static>(f: impl FnOnce() -> T + Send + 'static) -> Result<T, TaskFailed> {
    let span = Span::current();
    tokio::task::spawn_blocking(move || span.in_scope(f)).await.map_err(TaskFailed)
}

/// Runs a part of a request to completion even if the client disconnects, so that no orphaned files are left. It gets the
/// detached context of the request.
///
/// # Errors
/// Errors of the future; 500 if it panics.
pub async fn run_to_completion<T: Send + 'static, F>(cx: &Context, work: impl FnOnce(Context) -> F) -> Result<T, Error>
where
    F: Future<Output = Result<T, Error>> + Send + 'static,
{
    tokio::spawn(work(cx.detached()).in_current_span()).await.map_err(|error| errors::media::storage(&error))?
}
