//! The parts of a document that operations share.

use indexmap::IndexMap;
use serde_json::{Map, Value, json};
use svc_routing::Server;

use crate::document::About;
use crate::schema::{Usage, convert};

/// The names of the shared schemas.
const ERROR: &str = "Error";
const LINKS: &str = "Links";
const EMBEDDED: &str = "Embedded";

/// The shared parts of a document under construction.
#[derive(Default)]
pub(crate) struct Components {
    schemas: IndexMap<String, Value>,
    has_items: bool,
    has_lists: bool,
}

/// A reference to a shared schema.
pub(crate) fn schema_ref(name: &str) -> Value {
    json!({ "$ref": format!("#/components/schemas/{name}") })
}

/// A reference to a shared part of another kind.
pub(crate) fn part_ref(kind: &str, name: &str) -> Value {
    json!({ "$ref": format!("#/components/{kind}/{name}") })
}

impl Components {
    /// Adds the schema of returned items, and returns its name. The path names schemas without a title, and its last
    /// literal segment distinguishes schemas of one title.
    pub(crate) fn item(&mut self, source: &Value, path: &str) -> String {
        let mut schema = convert(source, Usage::Response);
        if let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) {
            properties.insert("_links".to_owned(), schema_ref(LINKS));
            properties.insert("_embedded".to_owned(), schema_ref(EMBEDDED));
            self.has_items = true;
        }
        let title = source.get("title").and_then(Value::as_str).map(pascal).filter(|name| !name.is_empty());
        let name = title.unwrap_or_else(|| pascal(path));
        let is_taken = self.schemas.get(&name).is_some_and(|known| *known != schema);
        let last = path.split('/').rfind(|segment| !segment.starts_with('{')).unwrap_or_default();
        self.add(if is_taken { name + &pascal(last) } else { name }, schema)
    }

    /// Adds a schema under this name, with a number if another schema has the name. Returns the name.
    pub(crate) fn add(&mut self, name: String, schema: Value) -> String {
        let reserved = [ERROR, LINKS, EMBEDDED];
        let numbered = (2..).map(|n| format!("{name}{n}"));
        let mut names = std::iter::once(name.clone()).chain(numbered);
        let fits = |name: &String| {
            !reserved.contains(&name.as_str()) && self.schemas.get(name).is_none_or(|known| *known == schema)
        };
        let free = names.find(fits).unwrap_or(name);
        self.schemas.entry(free.clone()).or_insert(schema);
        free
    }

    /// Records that an operation returns pages of a list.
    pub(crate) fn uses_pages(&mut self) {
        self.has_lists = true;
    }

    /// All parts.
    pub(crate) fn finish(self, server: &Server, about: &About) -> Value {
        let brand = &server.site().brand;
        let mut schemas: Map<String, Value> = self.schemas.into_iter().collect();
        schemas.insert(ERROR.to_owned(), error());
        if self.has_items {
            schemas.insert(LINKS.to_owned(), links());
            schemas.insert(EMBEDDED.to_owned(), embedded());
        }
        schemas.sort_keys();
        let mut security = json!({
            "applicationPassword": {
                "type": "http",
                "scheme": "basic",
                "description": "The user name and an application password.",
            },
        });
        if let Some(cookie) = &about.session_cookie {
            security["session"] = json!({
                "type": "apiKey", "in": "cookie", "name": cookie,
                "description": "The session of the log-in page. Without a nonce, requests are anonymous.",
            });
            security["nonce"] = json!({
                "type": "apiKey", "in": "header", "name": brand.header("Nonce"),
                "description": "Proves that a page of the session sent the request.",
            });
        }
        let mut headers = Map::new();
        if self.has_lists {
            let count = |text: &str| json!({ "description": text, "schema": { "type": "integer" } });
            headers.insert("Total".to_owned(), count("The number of items in all pages."));
            headers.insert("TotalPages".to_owned(), count("The number of pages."));
            headers.insert(
                "Link".to_owned(),
                json!({ "description": "The URLs of the previous and the next page (RFC 8288).", "schema": { "type": "string" } }),
            );
        }
        headers.insert(
            "Allow".to_owned(),
            json!({ "description": "The methods that the caller may use on this route.", "schema": { "type": "string" } }),
        );
        json!({
            "schemas": schemas,
            "responses": {
                "ClientError": failure("The request was rejected: 400 for invalid parameters, 401 without valid credentials, 403 without \
                    permission, 404 for unknown routes and items."),
                "ServerError": failure("The server failed, or is overloaded: then `Retry-After` says when to try again."),
            },
            "parameters": { "Fields": fields_parameter(), "Embed": embed_parameter() },
            "headers": headers,
            "securitySchemes": security,
        })
    }
}

fn failure(description: &str) -> Value {
    json!({ "description": description, "content": { "application/json": { "schema": schema_ref(ERROR) } } })
}

fn error() -> Value {
    let list = json!({ "type": "array", "items": {} });
    json!({
        "type": "object",
        "description": "An error.",
        "properties": {
            "code": { "type": ["string", "integer"], "description": "The condition, such as `rest_invalid_param`." },
            "message": { "type": "string", "description": "A sentence for people." },
            "data": {
                "description": "The status, and details. Errors without a status have other data.",
                "anyOf": [
                    {
                        "type": "object",
                        "properties": {
                            "status": { "type": "integer", "description": "The HTTP status." },
                            "params": {
                                "description": "Messages by invalid parameter, or the names of missing ones.",
                                "anyOf": [{ "type": "object", "additionalProperties": { "type": "string" } }, list],
                            },
                            "details": {
                                "description": "Errors by invalid parameter.",
                                "anyOf": [{ "type": "object", "additionalProperties": {} }, list],
                            },
                        },
                    },
                    list,
                    { "type": ["string", "null"] },
                ],
            },
            "additional_errors": { "type": "array", "description": "Further errors.", "items": { "type": "object" } },
        },
        "required": ["code", "message"],
    })
}

fn links() -> Value {
    json!({
        "description": "Links by relation.",
        "anyOf": [
            {
                "type": "object",
                "additionalProperties": {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "properties": {
                            "href": { "type": "string", "description": "The URL." },
                            "embeddable": { "type": "boolean", "description": "Whether `_embed` adds the resource." },
                            "templated": { "type": "boolean", "description": "Whether the URL is a template (RFC 6570)." },
                            "targetHints": { "type": "object", "description": "Facts about the resource, such as `allow`." },
                        },
                    },
                },
            },
            { "type": "array", "items": {}, "maxItems": 0 },
        ],
    })
}

fn embedded() -> Value {
    json!({
        "type": "object",
        "description": "Linked resources by relation. Those that cannot be read are errors.",
        "additionalProperties": { "type": "array", "items": {} },
    })
}

fn fields_parameter() -> Value {
    json!({
        "name": "_fields", "in": "query", "style": "form", "explode": false,
        "description": "The fields to return, such as `id,title.rendered`. By default, all fields of the context.",
        "schema": { "type": "array", "items": { "type": "string" } },
    })
}

fn embed_parameter() -> Value {
    json!({
        "name": "_embed", "in": "query", "style": "form", "explode": false,
        "description": "The link relations whose resources are added as `_embedded`. The value `1` selects all embeddable ones.",
        "schema": { "type": "array", "items": { "type": "string" } },
    })
}

/// A name in Pascal case: `post-revision` becomes `PostRevision`.
pub(crate) fn pascal(text: &str) -> String {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let capitalized = words.map(|word| {
        let (first, rest) = word.split_at(1);
        first.to_ascii_uppercase() + rest
    });
    capitalized.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schemas_of_one_name_are_shared_if_equal() {
        let mut components = Components::default();
        let (a, b) = (json!({"type": "string"}), json!({"type": "number"}));
        let mut add = |name: &str, schema: &Value| components.add(name.to_owned(), schema.clone());
        assert_eq!(
            [add("A", &a), add("A", &b), add("A", &a), add("A", &b), add("Error", &a)],
            ["A", "A2", "A", "A2", "Error2"]
        );
    }

    #[test]
    fn names_in_pascal_case() {
        assert_eq!(pascal("wp_block-revision"), "WpBlockRevision");
        assert_eq!(pascal("/{id}/é"), "Id");
    }
}
