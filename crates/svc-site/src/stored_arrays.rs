//! Options that hold a PHP array: read whole, changed, written back, with everything in them that is not understood.

use svc_php::{Array, Key, Php};
use svc_store::{StoredText, Tx, options};

use crate::SiteResult;

/// The array that an option holds; empty when it holds anything else or there is none.
pub fn parse(stored: Option<&StoredText>) -> Array {
    match stored.map(StoredText::value) {
        Some(Php::Array(array)) => array,
        _ => Array::new(),
    }
}

/// The array of this option; empty when there is none.
///
/// # Errors
/// Those of the store.
pub fn read(tx: &mut Tx, option: &str) -> SiteResult<Array> {
    Ok(parse(options::get(tx, option)?.as_ref()))
}

/// Writes the array of this option; of a new one, to be loaded with every request.
///
/// # Errors
/// Those of the store.
pub fn write(tx: &mut Tx, option: &str, array: Array) -> SiteResult<()> {
    Ok(options::set(tx, option, &StoredText::of(Php::Array(array)), true)?)
}

/// A member that is an array itself; empty when it is anything else.
pub fn member(array: &Array, name: &str) -> Array {
    match array.get(&Key::from(name)) {
        Some(Php::Array(member)) => member.clone(),
        _ => Array::new(),
    }
}

/// A key as text.
pub fn key_text(key: &Key) -> String {
    String::from_utf8_lossy(&key.to_bytes()).into_owned()
}

/// An integer as PHP casts the value.
pub fn int(value: &Php) -> i64 {
    svc_php::cast::to_int(&serde_json::Value::from(value.clone()))
}
