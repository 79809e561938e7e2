#![doc = include_str!("../README.md")]

pub mod audience;
mod derive;
pub mod event;
pub mod hub;
#[cfg(all(test, feature = "models"))]
mod models;
pub mod purge;
mod received;
pub mod source;
pub mod stream;
mod subscribers;
mod wake_up;
pub mod webhooks;

pub use audience::Viewer;
pub use event::{Event, EventKind, ObjectKind};
pub use hub::Hub;
pub use source::{Batch, EventSource};
pub use stream::{EventStreams, StreamLimits};
