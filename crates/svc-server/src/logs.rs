//! Logging to standard error, as text or JSON, and the export of traces.

use std::io::IsTerminal;

use svc_listen::{FlushOnDrop, LogQueue};
use tracing::Subscriber;
use tracing_subscriber::{
    EnvFilter, Layer, fmt, layer::SubscriberExt as _, registry, registry::LookupSpan, util::SubscriberInitExt as _,
};

use crate::{
    config::{Config, LogFormat},
    log_fields::PlainFields,
    traces::{SpanCounts, Traces},
};

/// The log and the traces of the process. On drop, the last spans and then the last lines are written.
pub(crate) struct Logs {
    // Dropped in this order: the export may log something.
    traces: Option<Traces>,
    _lines: FlushOnDrop,
}

impl Logs {
    /// The metrics of the export of traces, if there is one.
    pub(crate) fn span_counts(&self) -> Option<SpanCounts> {
        self.traces.as_ref().map(Traces::span_counts)
    }
}

/// Installs the process's logger, which writes until the end of the process, and starts the export of traces, if it is configured. Further
/// calls have no effect, so that several servers can run in one process. Drop the result at the end; `None` if no thread could be started and
/// nothing is logged.
pub(crate) fn install(config: &Config) -> Option<Logs> {
    let (queue, flush) = LogQueue::start(std::io::stderr()).ok()?;
    let filter = EnvFilter::try_new(&config.log).unwrap_or_else(|_| EnvFilter::new("info"));
    let traces = config.traces.as_ref().and_then(Traces::start);
    let installed = match &traces {
        // One filter for everything costs less than one for each layer.
        None => registry().with(without_traces(filter)).with(lines(config, queue)).try_init(),
        Some(traces) => {
            registry().with(lines(config, queue).with_filter(without_traces(filter))).with(traces.layer()).try_init()
        }
    };
    if installed.is_ok() {
        traces.iter().for_each(Traces::begin);
        std::panic::set_hook(Box::new(|panic| {
            tracing::error!(place = ?panic.location().map(ToString::to_string), "panic: {}", svc_listen::panic_message(panic.payload()));
        }));
    }
    Some(Logs { traces, _lines: flush })
}

/// A filter of the log without the spans of traces, whose fields would be in all lines.
fn without_traces(filter: EnvFilter) -> EnvFilter {
    match format!("{}=off", svc_traces::TARGET).parse() {
        Ok(directive) => filter.add_directive(directive),
        Err(_) => filter,
    }
}

/// The layer that writes lines.
fn lines<S>(config: &Config, queue: LogQueue) -> Box<dyn Layer<S> + Send + Sync>
where
    S: Subscriber + for<'span> LookupSpan<'span>,
{
    // By default, a line that cannot be written is reported with `eprintln!`, which panics if standard error is the
    // log.
    let lines = fmt::layer().log_internal_errors(false).with_writer(queue).with_target(false);
    match config.log_format {
        LogFormat::Text if std::io::stderr().is_terminal() => lines.with_ansi(true).boxed(),
        LogFormat::Text => lines.with_ansi(false).fmt_fields(PlainFields).boxed(),
        LogFormat::Json => lines.json().flatten_event(true).with_span_list(false).with_target(true).boxed(),
    }
}
