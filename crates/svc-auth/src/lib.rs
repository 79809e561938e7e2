#![doc = include_str!("../README.md")]

pub mod application_password;
pub mod basic;
pub mod caps;
pub mod cookie;
mod crypto;
mod error;
pub mod keys;
pub mod nonce;
pub mod nonce_check;
pub mod passkey;
pub mod password;
pub mod reset_key;
pub mod roles;
mod secret;
pub mod session;
mod stored;
pub mod two_factor;
mod user_visibility;

pub use caps::Caller;
pub use error::AuthError;
pub use keys::{Keys, Scheme};
pub use secret::{RandomSourceError, Secret, random_text};
/// The brand, which cookie names and the nonce action depend on.
pub use svc_brand::Brand;
/// The ID of a user, which a caller has.
pub use svc_model::UserId;
pub use user_visibility::UserVisibility;
