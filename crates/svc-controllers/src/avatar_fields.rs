//! Avatar URLs as a property of items.

use serde_json::{Map, Value};
use svc_resource::Field;
use svc_schema::build::{SchemaBuilder, object, string};
use svc_site::{Settings, avatars::url};

/// The schema of the member `avatar_urls` in these contexts, without its members.
pub(crate) fn schema(what: &str, contexts: &[&str]) -> SchemaBuilder {
    const NOTHING: [(&str, Value); 0] = [];
    object(NOTHING).describe(what).context(contexts).readonly()
}

/// Adds the sizes to the member `avatar_urls`. `email` gives the address and the options of an item.
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
        let what = format!("Address of a picture {size} pixels wide.");
        let schema = string().describe(&what).format("uri").context(contexts);
        field.subfield(&size.to_string(), schema).get(move |item| {
            let (email, settings) = email(item);
            url(settings, email, size)
        });
    }
}
