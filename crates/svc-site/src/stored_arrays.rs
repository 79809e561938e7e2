//! Options that store a PHP array. They are read, changed and written as a whole, including entries that this server
//! does not know.

use svc_php::{Array, ArrayKey, Php};
use svc_store::{StoredText, Tx, options};

use crate::SiteResult;

/// The array in a stored option; empty if it is not an array or not stored.
pub(crate) fn parse(stored: Option<&StoredText>) -> Array {
    match stored.map(StoredText::value) {
        Some(Php::Array(array)) => array,
        _ => Array::new(),
    }
}

/// Reads the array in an option; empty if not stored.
///
/// # Errors
/// Errors of the store.
pub(crate) fn read(tx: &mut Tx, option: &str) -> SiteResult<Array> {
    Ok(parse(options::get(tx, option)?.as_ref()))
}

/// Writes the array to an option. A new option is autoloaded.
///
/// # Errors
/// Errors of the store.
pub(crate) fn write(tx: &mut Tx, option: &str, array: Array) -> SiteResult<()> {
    Ok(options::set(tx, option, &StoredText::of(Php::Array(array)), true)?)
}

/// A nested array; empty if the entry is missing or not an array.
pub(crate) fn member(array: &Array, name: &str) -> Array {
    match array.get(&ArrayKey::from(name)) {
        Some(Php::Array(member)) => member.clone(),
        _ => Array::new(),
    }
}

/// A key as text.
pub(crate) fn key_text(key: &ArrayKey) -> String {
    String::from_utf8_lossy(&key.to_bytes()).into_owned()
}

/// The value cast to an integer, as in PHP.
pub(crate) fn int(value: &Php) -> i64 {
    svc_php::cast::to_int(&serde_json::Value::from(value.clone()))
}
