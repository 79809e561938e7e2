//! Nonces, login cookies, sessions, application passwords, password hashes, roles and capabilities.
//!
//! Pure functions over stored values: no I/O, no clock, nothing async. The caller brings the rows, the options and the
//! present time, and writes back what changed. Formats are those of WordPress's tables, so that a site's users,
//! sessions and passwords serve both servers.

pub mod application_password;
pub mod basic;
mod caller;
pub mod caps;
pub mod cookie;
mod crypto;
mod error;
pub mod keys;
pub mod nonce;
pub mod nonce_check;
pub mod password;
pub mod roles;
mod secret;
pub mod session;
mod stored;

pub use caller::Caller;
pub use error::AuthError;
pub use keys::{Keys, Scheme};
pub use secret::{NoRandomness, Secret, random_text};
/// The brand word, which cookie names and the nonce action hang on.
pub use svc_brand::Brand;

/// The example of the README, so that it keeps compiling.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
