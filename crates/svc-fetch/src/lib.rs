#![doc = include_str!("../README.md")]

mod address;
mod client;
mod error;
mod guard;

pub use address::is_public;
pub use client::{FetchedResponse, Get, GuardedClient, Post};
pub use error::FetchError;
pub use guard::{Allowed, Guard};
