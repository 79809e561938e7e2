#![doc = include_str!("../README.md")]

mod auth;
mod body_error;
mod cors;
mod large;
mod layer;
mod limits;
mod multipart;
mod request;
mod response;
mod response_cache;
mod root;
mod route_url;
mod service;
mod spool;

pub use auth::{Anonymous, AuthOutcome, Authenticator, Credentials};
pub use layer::{RestLayer, WithRest};
pub use limits::RequestLimits;
pub use response_cache::Uncached;
pub use route_url::RouteUrls;
pub use service::{ResponseBody, RestService, RestServiceBuilder};
