//! Routes and endpoints as they are declared, and their descriptions for the index and `OPTIONS`.

mod describe;
mod endpoint;
mod route;

pub use endpoint::{BoundEndpoint, Endpoint, Returns, get, on, without_permission};
pub use route::{Controller, Route, RouteEntry};
