//! Serves any axum router: connections, limits, middleware, logs, shutdown.

mod activity;
mod client;
mod connections;
mod descriptors;
mod layers;
mod listen;
mod log;

pub use client::Forwarding;
pub(crate) use descriptors::raise_limit;
pub use layers::middleware_stack;
pub(crate) use listen::shutdown_signal;
pub use listen::{Running, bind, serve};
pub use svc_login::Client;
