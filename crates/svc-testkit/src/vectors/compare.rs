//! Compares outcomes with recordings.

use serde_json::Value;

use super::{Outcome, Vector, block_types::without_prose};

/// Describes the difference between the recording and our outcome; `None` if they are equal.
pub(super) fn difference(vector: &Vector, outcome: &Outcome) -> Option<String> {
    let (kind, recorded, ours) = match outcome {
        Outcome::Value(ours) => ("out", vector.line.get("out"), ours),
        Outcome::Error(ours) => ("error", vector.line.get("error"), ours),
    };
    // These responses contain schemas with descriptions.
    let with_prose = vector.function == "rest_preload_api_request";
    let equal = |recorded: &Value| match with_prose {
        true => values_equal(&without_prose(recorded.clone()), &without_prose(ours.clone())),
        false => values_equal(recorded, ours),
    };
    match recorded {
        Some(recorded) if equal(recorded) => None,
        _ => Some(format!(
            "args {}: expected {}, got {kind} {ours}",
            Value::Array(vector.args.clone()),
            vector.line.get("out").map_or_else(|| format!("error {}", vector.line["error"]), |v| format!("out {v}")),
        )),
    }
}

/// Equality of recorded values: empty objects and empty arrays are equal, the order of properties is ignored, and `5`
/// and `5.0` are different.
pub(super) fn values_equal(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Object(x), Value::Object(y)) => {
            x.len() == y.len() && x.iter().all(|(k, v)| y.get(k).is_some_and(|w| values_equal(v, w)))
        }
        (Value::Array(x), Value::Array(y)) => x.len() == y.len() && x.iter().zip(y).all(|(v, w)| values_equal(v, w)),
        (Value::Object(x), Value::Array(y)) | (Value::Array(y), Value::Object(x)) => x.is_empty() && y.is_empty(),
        (Value::Number(x), Value::Number(y)) => x == y || (x.is_f64() && y.is_f64() && x.as_f64() == y.as_f64()),
        _ => a == b,
    }
}
