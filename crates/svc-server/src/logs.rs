//! Logging to standard error, as text or JSON.

use std::io::IsTerminal;

use tracing_subscriber::EnvFilter;

use crate::config::{Config, LogFormat};

/// Installs the process's logger. Further calls have no effect, so that several servers can run in one process.
pub(crate) fn install(config: &Config) {
    let filter = EnvFilter::try_new(&config.log).unwrap_or_else(|_| EnvFilter::new("info"));
    // By default, a line that cannot be written is reported with `eprintln!`, which panics if standard error is the
    // log. The server continues without log lines while the disk is full or nobody reads the pipe.
    let lines = tracing_subscriber::fmt()
        .log_internal_errors(false)
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
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
}
