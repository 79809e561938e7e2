//! Tests of the public API over real sockets.

#![expect(clippy::unwrap_used, reason = "a helper that fails fails its test")]

mod connections;
mod event_streams;
mod middleware;
mod tls;
