#![doc = include_str!("../README.md")]

mod activity;
mod client;
mod compression;
mod connections;
mod descriptors;
mod error;
mod event_stream;
mod forwarding;
mod head;
pub mod health;
mod in_flight;
mod limits;
mod log;
mod log_queue;
mod middleware;
mod network;
mod rate_limits;
mod redirect;
mod serve;
mod supervisor;
mod tls;

pub use client::Client;
pub use compression::{Compression, CompressionUsage};
pub use descriptors::raise_limit;
pub use error::{Error, Result};
pub use in_flight::InFlight;
pub use limits::ConnectionLimits;
pub use log::{AccessLog, DenialReason, panic_message};
pub use log_queue::{FlushOnDrop, LogQueue};
pub use middleware::{Stack, middleware_stack};
pub use network::{Network, network_of};
pub use rate_limits::{Rate, RateAdmission, RateLimitSettings, RequestCost};
pub use redirect::redirect_to_https;
pub use serve::{App, Hangups, Running, bind, hangups, serve, shutdown_signal};
pub use supervisor::{Handover, Sockets, notify_ready, notify_reloading, notify_stopping};
pub use tls::Listener;
