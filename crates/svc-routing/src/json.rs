//! The JSON body of a request, and parameters from text.

use serde_json::Value;
use svc_php::json::JsonError;
use svc_schema::Error;

use crate::Map;

/// What the body says as JSON.
#[derive(Clone, Debug)]
pub(crate) enum JsonBody {
    /// There is none: no body, or another content type.
    Absent,
    Value(Value),
    Malformed(JsonError),
}

impl JsonBody {
    /// Reads a body. PHP takes the text `0` for an empty body.
    pub(crate) fn read(body: &[u8]) -> Self {
        if body.is_empty() || body == b"0" {
            return JsonBody::Absent;
        }
        match svc_php::json::decode(body) {
            Ok(value) => JsonBody::Value(value),
            Err(error) => JsonBody::Malformed(error),
        }
    }

    /// # Errors
    /// `rest_invalid_json` (400) when the body is malformed.
    pub(crate) fn check(&self) -> Result<(), Error> {
        match self {
            JsonBody::Malformed(error) => Err(crate::error::invalid_json(error)),
            _ => Ok(()),
        }
    }

    /// The parameters of a JSON body: members of a map, items of a list by index, a single value as `0`.
    pub(crate) fn params(&self) -> Map {
        match self {
            JsonBody::Value(Value::Object(map)) => map.clone(),
            JsonBody::Value(Value::Array(list)) => {
                list.iter().enumerate().map(|(i, value)| (i.to_string(), value.clone())).collect()
            }
            JsonBody::Value(Value::Null) | JsonBody::Absent | JsonBody::Malformed(_) => Map::new(),
            JsonBody::Value(value) => Map::from_iter([("0".to_owned(), value.clone())]),
        }
    }
}
