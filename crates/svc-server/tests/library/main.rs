//! The public API of the library: configuration, connections and middleware.

#![expect(clippy::unwrap_used, reason = "a helper that fails fails its test")]

mod config;
mod layers;
mod listen;
