#![doc = include_str!("../README.md")]

mod args;
pub mod build;
mod combine;
mod compile;
mod context;
pub mod dates;
mod embed;
mod endpoint;
mod error;
mod evaluation;
mod fields;
mod formats;
mod notice;
mod path;
mod pattern;
mod property_map;
mod raise;
mod sanitize;
mod schema;
mod unique;
mod validate;
pub mod values;

pub use args::{Arg, Args, SanitizeFn, Sanitized, Sanitizer, ValidateFn, Validator};
pub use build::SchemaBuilder;
pub use embed::{Embed, parse_embed};
pub use endpoint::{KEYWORDS, MethodKind, default_additional_properties_to_false, endpoint_args};
pub use error::Error;
pub use fields::{FieldSet, fields_for_response, intersect_keys, is_field_included};
pub use notice::{Notice, NoticeKind, Notices};
pub use schema::Schema;
