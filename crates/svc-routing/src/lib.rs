//! Route registration, matching, arguments, permission and dispatch, without a web server.
//!
//! A [`Registry`] is filled at start-up (routes, controllers, additional fields, hooks) and frozen by
//! [`Registry::build`] to a [`Server`], which answers [`Request`]s in process: no socket, no lock, no global. The crate
//! knows no resource, no user type and no database: callers are an opaque extension of the request.

pub mod batch;
pub mod embed;
pub mod endpoint;
pub mod error;
pub mod field;
pub mod handler;
pub mod hooks;
mod index;
mod json;
pub mod links;
pub mod matcher;
pub mod method;
mod options;
pub mod params;
pub mod pattern;
pub mod registry;
pub mod request;
pub mod response;
pub mod route;
pub mod search;
pub mod server;
pub mod site;
mod validate;

pub use endpoint::{Endpoint, get, on, without_permission};
pub use error::{ObjectRef, forbidden};
pub use field::{ExtraField, ExtraFields, ObjectId};
pub use handler::{BoxFuture, Decision, Handler, allow_if, public};
pub use hooks::Hooks;
pub use links::{Curie, Link, Links};
pub use method::{ALL, CREATABLE, DELETABLE, EDITABLE, IntoMethods, READABLE};
pub use params::{ParamOrder, Params, Sent, Source};
pub use registry::Registry;
pub use request::{File, Request};
pub use response::{Body, HeaderText, Headers, RawBody, Response, Served};
pub use route::{Controller, Route};
pub use search::{SearchHandler, SearchPage};
pub use server::Server;
pub use site::SiteInfo;

pub use http::{Method, StatusCode};
pub use svc_schema::Error;

/// What handlers return: a value, by default a response, or an error of the interface.
pub type Result<T = Response> = std::result::Result<T, Error>;
/// An object of the interface: members in the order in which they are shown.
pub type Map = serde_json::Map<String, serde_json::Value>;
