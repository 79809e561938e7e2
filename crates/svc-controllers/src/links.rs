//! Links that several families give.

use std::sync::Arc;

use serde_json::{Value, json};
use svc_model::{PostType, Taxonomy};

use crate::{LINK_RELATION, RestSite};

/// Adds a parameter to an address that may have some already (the shape without permalinks).
pub(crate) fn with_query(address: &str, name: &str, value: impl std::fmt::Display) -> String {
    svc_php::query::extend_url_with(address, [(name, value.to_string().as_str())])
}

/// The relation and the sentence of each action that a type knows, as `(name, title, schema of what it takes)`.
pub(crate) fn schema_links(site: &Arc<RestSite>, kind: &PostType) -> Value {
    // The type is registered when the site is open; a store that cannot be read then leaves the address relative.
    let collection = site.route_of_type(kind);
    let href = format!("{}/{{id}}", site.settings().map_or(collection.clone(), |s| s.urls.rest(&collection)));
    let link = |action: String, title: String, target: Value| {
        json!({
            "rel": format!("{LINK_RELATION}action-{action}"),
            "title": title,
            "href": href,
            "targetSchema": {"type": "object", "properties": target},
        })
    };
    let mut links = Vec::new();
    if kind.name != "attachment" {
        let target = json!({"status": {"type": "string", "enum": ["publish", "future"]}});
        links.push(link("publish".into(), "The caller may publish this post.".into(), target));
    }
    let target = json!({"content": {"raw": {"type": "string"}}});
    links.push(link("unfiltered-html".into(), "The caller may use any HTML and scripts.".into(), target));
    if kind.name == "post" {
        let target = json!({"sticky": {"type": "boolean"}});
        links.push(link("sticky".into(), "The caller may make this post sticky.".into(), target));
    }
    if kind.supports("author") {
        let target = json!({"author": {"type": "integer"}});
        links.push(link("assign-author".into(), "The caller may change who wrote this post.".into(), target));
    }
    for taxonomy in site.taxonomies.of_type(&kind.name).filter(|t| t.show_in_rest) {
        let base = &taxonomy.rest_base;
        let target = json!({base: {"type": "array", "items": {"type": "integer"}}});
        let title = format!("The caller may give this post terms of the taxonomy {}.", taxonomy.name);
        links.push(link(format!("assign-{base}"), title, target.clone()));
        let title = format!("The caller may make terms of the taxonomy {}.", taxonomy.name);
        links.push(link(format!("create-{base}"), title, target));
    }
    Value::Array(links)
}

/// The capability that making a term needs: flat taxonomies grow by use.
pub(crate) fn create_term_cap(taxonomy: &Taxonomy) -> &str {
    if taxonomy.hierarchical { &taxonomy.caps.edit_terms } else { &taxonomy.caps.assign_terms }
}
