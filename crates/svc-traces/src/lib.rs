#![doc = include_str!("../README.md")]

mod client;
mod context;
mod request;
mod tracer;

pub use client::{client_span, end_client_span, propagate};
pub use context::TraceContext;
pub use request::RequestTrace;
pub use tracer::{AlreadyInstalled, Tracer, install};

/// Target of all spans of a trace but the first. A logger should exclude it.
pub const TARGET: &str = "svc::trace";

/// Target of the first span of a trace, that of the request. Log lines are written in it as well, so its target is within that of the crate that
/// logs requests.
pub const REQUEST_TARGET: &str = "svc_listen::traced";

/// Fields of the span of a request that are for the log, and no part of a trace.
pub const LOG_FIELDS: [&str; 3] = ["id", "user", "trace_id"];
