//! Validates and sanitizes JSON by a schema, without a server. Reads the value from the first argument.
//!
//! ```text
//! cargo run -p svc-schema --example validate
//! cargo run -p svc-schema --example validate -- '{"title": "Hello", "rating": 9}'
//! ```

use serde_json::{Value, json};
use svc_schema::{
    Schema,
    build::{array, integer, object, string},
};

/// The schema of a review.
fn review() -> Schema {
    object([
        ("title", string().required().min_length(1).max_length(80)),
        ("rating", integer().range(1..=5)),
        ("tags", array(string().pattern("^[a-z-]+$")).unique_items()),
        ("published", string().format("date-time")),
    ])
    .additional_properties(false)
    .compile()
}

/// Prints the sanitized value, or code, message and data of the error as a REST API returns them.
fn show(schema: &Schema, value: Value) {
    eprintln!("{value}");
    match schema.parse(value, "review") {
        Ok(clean) => eprintln!("  valid: {clean}"),
        Err(error) => eprintln!("  {}: {}", error.code(), error.message()),
    }
}

fn main() -> Result<(), serde_json::Error> {
    let schema = review();
    if let Some(text) = std::env::args().nth(1) {
        show(&schema, serde_json::from_str(&text)?);
        return Ok(());
    }
    for value in [
        json!({"title": "Good", "rating": "4", "tags": "fast,small", "published": "2030-01-02T03:04:05Z"}),
        json!({"rating": 4}),
        json!({"title": "Good", "rating": 6}),
        json!({"title": "Good", "tags": ["fast", "fast"]}),
        json!({"title": "Good", "published": "tomorrow"}),
        json!({"title": "Good", "stars": 5}),
    ] {
        show(&schema, value);
    }
    Ok(())
}
