//! What an exporter of traces implements.

use std::sync::OnceLock;

use tracing::Span;

use crate::TraceContext;

/// Selects the requests that are traced, and knows the ids of spans.
pub trait Tracer: Send + Sync + 'static {
    /// Whether a request is traced. `parent` is the decision of a trusted proxy, if there is one.
    fn selects(&self, parent: Option<bool>) -> bool;

    /// Begins a trace with this span, which has just been created. It continues that of `parent`, a span of another process.
    fn begin(&self, span: &Span, parent: Option<TraceContext>);

    /// The ids of a span; `None` if it does not belong to a trace.
    fn context(&self, span: &Span) -> Option<TraceContext>;

    /// Changes the name of the span of a request.
    fn rename(&self, span: &Span, name: String);

    /// Sets an attribute of the span of a request, which is none of its fields, so that the log does not have it.
    fn set_text(&self, span: &Span, name: &'static str, value: &str);

    /// Sets the status of the response.
    fn set_status(&self, span: &Span, status: u16);
}

/// The process has a tracer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the process has a tracer")]
pub struct AlreadyInstalled;

static TRACER: OnceLock<Box<dyn Tracer>> = OnceLock::new();

/// Installs the tracer of the process, together with the subscriber of `tracing` that receives its spans.
///
/// # Errors
/// If there is one.
pub fn install(tracer: impl Tracer) -> Result<(), AlreadyInstalled> {
    TRACER.set(Box::new(tracer)).map_err(|_| AlreadyInstalled)
}

/// The tracer of the process.
pub(crate) fn tracer() -> Option<&'static dyn Tracer> {
    TRACER.get().map(Box::as_ref)
}
