#![doc = include_str!("../README.md")]

mod depends_on;
mod extra_fields;
mod handler;
mod matching;
mod messages;
mod permission;
mod registry;
mod route_urls;
mod routes;
mod server;
mod site;
mod urls;

pub use depends_on::DependsOn;
pub use extra_fields::{ExtraField, ExtraFields, ObjectId};
pub use handler::{BoxFuture, Dispatch, Handler};
pub use matching::{Captures, Matcher};
pub use messages::{
    ALL, Body, BodyParams, CREATABLE, CallerKey, ContentType, Curie, DELETABLE, EDITABLE, Encoded, EncodedItem,
    EntityTag, EntityTags, File, FileData, HeaderText, Headers, IntoMethods, LaterBody, Link, Links, MadeBody,
    ParamOrder, Params, READABLE, RawBody, Request, Response, Served, Validators, accepts, prefers_markdown,
};
pub use permission::{PermissionResult, allow_if, forbidden, public};
pub use registry::{Hooks, Registered, RegisteredHook, Registry};
pub use route_urls::RouteUrls;
pub use routes::{
    BoundEndpoint, Conditional, Controller, Cost, Endpoint, Returns, Route, RouteEntry, TransportCondition, get, on,
    without_permission,
};
pub use server::Server;
pub use site::{API_VERSION, BatchData, BatchTransaction, SiteInfo};
pub use urls::{ApiUrls, RootUrl};

pub use http::{Method, StatusCode};
pub use svc_schema::Error;
pub use svc_versions::{Context, Transport};

/// The result of handlers: a value, by default a response, or an API error.
pub type Result<T = Response> = std::result::Result<T, Error>;
/// A JSON object that keeps the order of its fields.
pub type Map = serde_json::Map<String, serde_json::Value>;
