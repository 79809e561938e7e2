//! Sockets and what surrounds every answer, whoever gives it: limits, logs, compression, shutdown.
//!
//! What is answered is none of this module's business: it takes any axum router.

mod client;
mod layers;
mod listen;
mod log;

pub(crate) use client::FORWARDED_FOR;
pub use client::{Client, Forwarding};
pub use layers::surround;
pub(crate) use listen::asked_to_stop;
pub use listen::{Running, bind, serve};
