//! The MySQL protocol.

use ::mysql::Value;

use crate::engine::no_column;
use crate::error::Result;

fn cell(row: &::mysql::Row, column: usize) -> Result<&Value> {
    row.as_ref(column).ok_or_else(|| no_column(column))
}

/// A whole number.
pub(crate) fn int(row: &::mysql::Row, column: usize) -> Result<i64> {
    Ok(match cell(row, column)? {
        Value::Int(n) => *n,
        Value::UInt(n) => i64::try_from(*n).unwrap_or(i64::MAX),
        Value::Double(n) => *n as i64,
        Value::Float(n) => *n as i64,
        Value::Bytes(b) => std::str::from_utf8(b).ok().and_then(|t| t.trim().parse().ok()).unwrap_or(0),
        _ => 0,
    })
}

/// The bytes of a text, a date as text.
pub(crate) fn bytes(row: &::mysql::Row, column: usize) -> Result<Option<Vec<u8>>> {
    Ok(match cell(row, column)? {
        Value::NULL => None,
        Value::Bytes(b) => Some(b.clone()),
        Value::Int(n) => Some(n.to_string().into_bytes()),
        Value::UInt(n) => Some(n.to_string().into_bytes()),
        Value::Float(n) => Some(n.to_string().into_bytes()),
        Value::Double(n) => Some(n.to_string().into_bytes()),
        Value::Date(y, mo, d, h, mi, s, _) => Some(format!("{y:04}-{mo:02}-{d:02} {h:02}:{mi:02}:{s:02}").into_bytes()),
        Value::Time(..) => None,
    })
}
