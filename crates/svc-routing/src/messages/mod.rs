//! Requests and responses. They know neither routes nor the server: a request carries its server as an opaque value.

mod caller_key;
mod encoded;
pub(crate) mod error;
mod json;
mod later;
mod links;
mod methods;
mod negotiation;
mod params;
mod request;
mod response;
mod validators;

pub use caller_key::CallerKey;
pub use encoded::{Encoded, EncodedItem};
pub use later::{LaterBody, MadeBody};
pub use links::{Curie, Link, Links};
pub use methods::{ALL, CREATABLE, DELETABLE, EDITABLE, IntoMethods, READABLE};
pub use negotiation::{accepts, prefers_markdown};
pub use params::{BodyParams, ParamOrder, Params};
pub use request::{ContentType, File, FileData, Request};
pub use response::{Body, HeaderText, Headers, RawBody, Response, Served};
pub use validators::{EntityTag, EntityTags, Validators};

pub(crate) use encoded::embeddable_url;
pub(crate) use params::ParamSource;
pub(crate) use response::MatchedRoute;
