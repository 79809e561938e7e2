#![doc = include_str!("../README.md")]

mod components;
mod document;
mod names;
mod operation;
mod paths;
mod pattern;
mod schema;
mod shape;
mod typescript;

pub use document::{About, document, namespaces};
pub use typescript::typescript;

use serde_json::Value;

/// The operations of a document, each with its path template and its method.
fn operation_methods(document: &Value) -> impl Iterator<Item = (&str, &str, &Value)> {
    let paths = document["paths"].as_object().into_iter().flatten();
    paths.flat_map(|(path, item)| {
        let operations = item.as_object().into_iter().flatten();
        let operations = operations.filter(|(_, operation)| operation.get("operationId").is_some());
        operations.map(|(method, operation)| (path.as_str(), method.as_str(), operation))
    })
}
