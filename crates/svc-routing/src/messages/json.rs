//! The JSON body of a request.

use svc_php::json::{JsonError, decode_bounded};
use svc_schema::Error;

use super::error::invalid_json;
use super::params::BodyParams;

/// Whether the body is JSON. The parsed value is stored once, among the parameters ([`Params::json`](crate::Params)).
#[derive(Clone, Debug)]
pub(crate) enum JsonBody {
    /// No body, or another content type.
    Absent,
    Read,
    Malformed(JsonError),
}

impl JsonBody {
    /// Parses a body of at most this many values. PHP considers the body `0` empty.
    pub(crate) fn read(body: &[u8], max_values: usize) -> (Self, BodyParams) {
        if body.is_empty() || body == b"0" {
            return (JsonBody::Absent, BodyParams::default());
        }
        match decode_bounded(body, max_values) {
            Ok(value) => (JsonBody::Read, BodyParams::new(value)),
            Err(error) => (JsonBody::Malformed(error), BodyParams::default()),
        }
    }

    /// # Errors
    /// `rest_invalid_json` (400) for a malformed body, `rest_too_many_values` (413) if it exceeds the limit.
    pub(crate) fn check(&self) -> Result<(), Error> {
        match self {
            JsonBody::Malformed(error) => Err(invalid_json(error)),
            _ => Ok(()),
        }
    }
}
