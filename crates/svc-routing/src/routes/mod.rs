//! Routes and endpoints as they are declared, and their descriptions for the index and `OPTIONS`.

mod conditional;
mod describe;
mod endpoint;
mod route;

pub use conditional::Conditional;
pub use endpoint::{BoundEndpoint, Cost, Endpoint, Returns, get, on, without_permission};
pub use route::{Controller, Route, RouteEntry, TransportCondition};

pub(crate) use conditional::has_precondition;
