//! Outgoing HTTP requests, for addresses that strangers may have chosen.
//!
//! One client: time, size and redirects are bounded; a name is resolved once per hop, every address that it stands for is
//! checked, and the connection goes to just those addresses; private, link-local and other special ones are refused unless
//! they are allowed by name. It knows no site, keeps no connections, cookies or credentials, and asks no proxy.

mod address;
mod client;
mod error;
mod guard;

pub use address::is_public;
pub use client::{Client, Get, Response};
pub use error::FetchError;
pub use guard::{Allowed, Guard};
