//! The tower service over a [`Server`](svc_routing::Server): requests and responses converted, callers authenticated,
//! CORS answered.
//!
//! [`RestService`] answers every request as one of the interface, and is for nesting under the prefix in any router;
//! [`RestLayer`] stands before another service and picks off the interface's requests in all three shapes of address.
//! Neither knows who callers are: that is for an [`Authenticator`].

mod auth;
mod cors;
mod large;
mod layer;
mod limits;
mod multipart;
mod request;
mod response;
mod response_cache;
mod route_url;
mod service;
mod spool;

pub use auth::{Anonymous, Authenticator, Credentials, Outcome};
pub use layer::{RestLayer, WithRest};
pub use limits::Limits;
pub use response_cache::Uncached;
pub use route_url::RouteUrls;
pub use service::{ResponseBody, RestService};
