#![doc = include_str!("../README.md")]

mod batch;
mod embed;
pub mod endpoint;
mod error;
mod field;
mod handler;
mod hooks;
mod index;
mod json;
mod links;
pub mod matcher;
mod method;
mod options;
mod params;
pub mod pattern;
mod registry;
pub mod request;
pub mod response;
mod route;
pub mod server;
mod site;
mod urls;
mod validate;

pub use endpoint::{Endpoint, get, on, without_permission};
pub use error::forbidden;
pub use field::{ExtraField, ExtraFields, ObjectId};
pub use handler::{BoxFuture, Handler, PermissionResult, allow_if, public};
pub use hooks::Hooks;
pub use links::{Curie, Link, Links};
pub use method::{ALL, CREATABLE, DELETABLE, EDITABLE, IntoMethods, READABLE};
pub use params::{BodyParams, ParamOrder, ParamSource, Params};
pub use registry::{Registered, Registry};
pub use request::{File, Request};
pub use response::{Body, HeaderText, Headers, RawBody, Response, Served};
pub use route::{Controller, Route};
pub use server::Server;
pub use site::SiteInfo;
pub use urls::{ApiUrls, RootUrl};

pub use http::{Method, StatusCode};
pub use svc_schema::Error;

/// The result of handlers: a value, by default a response, or an API error.
pub type Result<T = Response> = std::result::Result<T, Error>;
/// A JSON object that keeps the order of its fields.
pub type Map = serde_json::Map<String, serde_json::Value>;
