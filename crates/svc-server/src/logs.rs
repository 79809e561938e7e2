//! Logging to standard error, as text or JSON.

use std::io::IsTerminal;

use svc_listen::{FlushOnDrop, LogQueue};
use tracing_subscriber::EnvFilter;

use crate::config::{Config, LogFormat};

/// Installs the process's logger, which writes until the end of the process. Further calls have no effect, so that several
/// servers can run in one process. Drop the result at the end; `None` if no thread could be started and nothing is logged.
pub(crate) fn install(config: &Config) -> Option<FlushOnDrop> {
    let (queue, flush) = LogQueue::start(std::io::stderr()).ok()?;
    let filter = EnvFilter::try_new(&config.log).unwrap_or_else(|_| EnvFilter::new("info"));
    // By default, a line that cannot be written is reported with `eprintln!`, which panics if standard error is the
    // log.
    let lines = tracing_subscriber::fmt()
        .log_internal_errors(false)
        .with_env_filter(filter)
        .with_writer(queue)
        .with_target(false);
    let installed = match config.log_format {
        LogFormat::Text => lines.with_ansi(std::io::stderr().is_terminal()).try_init(),
        LogFormat::Json => lines.json().flatten_event(true).with_span_list(false).with_target(true).try_init(),
    };
    if installed.is_ok() {
        std::panic::set_hook(Box::new(|panic| {
            tracing::error!(place = ?panic.location().map(ToString::to_string), "panic: {}", svc_listen::panic_message(panic.payload()));
        }));
    }
    Some(flush)
}
