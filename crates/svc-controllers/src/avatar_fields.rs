//! Avatar URLs of items.

use serde_json::{Map, Value};
use svc_resource::Field;
use svc_schema::build::{SchemaBuilder, object, string};
use svc_site::{Settings, avatars::url};

/// The schema of the field `avatar_urls` in these contexts, without its properties.
pub(crate) fn schema(description: &str, contexts: &[&str]) -> SchemaBuilder {
    const NO_PROPERTIES: [(&str, Value); 0] = [];
    object(NO_PROPERTIES).describe(description).context(contexts).readonly()
}

/// Adds a property for each size to the field `avatar_urls`. `email` returns an item's e-mail address and the site's
/// options.
pub(crate) fn add_sizes<I: 'static, D: 'static>(
    field: &mut Field<I, D>,
    sizes: &[u32],
    contexts: &[&str],
    email: fn(&I) -> (&str, &Settings),
) {
    if sizes.is_empty() {
        field.get(|_| Value::Object(Map::new()));
    }
    for &size in sizes {
        let description = format!("URL of the avatar with a width of {size} pixels.");
        let schema = string().describe(&description).format("uri").context(contexts);
        field.subfield(&size.to_string(), schema).get(move |item| {
            let (email, settings) = email(item);
            url(settings, email, size)
        });
    }
}
