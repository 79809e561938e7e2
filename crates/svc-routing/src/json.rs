//! The JSON body of a request.

use svc_php::json::{JsonError, decode_bounded};
use svc_schema::Error;

use crate::params::Sent;

/// Whether the body is JSON; its value is among the parameters ([`Params::json`](crate::Params)), once.
#[derive(Clone, Debug)]
pub(crate) enum JsonBody {
    /// No body, or another content type.
    Absent,
    Read,
    Malformed(JsonError),
}

impl JsonBody {
    /// Reads a body of at most this many values. PHP takes the text `0` for an empty body.
    pub(crate) fn read(body: &[u8], max_values: usize) -> (Self, Sent) {
        if body.is_empty() || body == b"0" {
            return (JsonBody::Absent, Sent::default());
        }
        match decode_bounded(body, max_values) {
            Ok(value) => (JsonBody::Read, Sent::new(value)),
            Err(error) => (JsonBody::Malformed(error), Sent::default()),
        }
    }

    /// # Errors
    /// `rest_invalid_json` (400) when the body is malformed, `rest_too_many_values` (413) when it is too much.
    pub(crate) fn check(&self) -> Result<(), Error> {
        match self {
            JsonBody::Malformed(error) => Err(crate::error::invalid_json(error)),
            _ => Ok(()),
        }
    }
}
