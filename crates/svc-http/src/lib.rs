#![doc = include_str!("../README.md")]

mod auth;
mod body;
mod body_errors;
mod conditional;
mod cors;
mod lanes;
mod large;
mod layer;
mod limits;
mod multipart;
mod request;
mod response;
mod response_cache;
mod root;
mod runner;
mod service;
mod shared_caching;
mod spool;
mod transport;

pub use auth::{Anonymous, AuthOutcome, Authenticator, Credentials};
pub use body::ResponseBody;
pub use cors::Origins;
pub use lanes::{LaneUsage, Lanes};
pub use layer::{RestLayer, WithRest};
pub use limits::RequestLimits;
pub use response_cache::Uncached;
pub use svc_routing::Cost;

pub use runner::{Overloaded, Runner, Work, context_of, run};
pub use service::{DenialCode, Effort, ReportEffort, RestService, RestServiceBuilder, ServerSource};
pub use shared_caching::{CacheTags, SharedCaching};
pub use transport::transport_of;
