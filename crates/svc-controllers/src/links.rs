//! Links that several families give.

use std::sync::Arc;

use serde_json::{Value, json};
use svc_model::{PostType, Taxonomy};

use crate::LINK_RELATION;
use svc_site::Site;

/// Adds a query parameter to a URL, which may have a query already.
pub(crate) fn with_query(url: &str, name: &str, value: impl std::fmt::Display) -> String {
    svc_php::query::extend_url_with(url, [(name, value.to_string().as_str())])
}

/// The action links of a type, for the keyword `links` of its schema. Descriptions of routes have the URLs of their paths.
pub(crate) fn schema_links(site: &Arc<Site>, post_type: &PostType) -> Value {
    let href = format!("{}/{{id}}", site.route_of_type(post_type));
    let link = |action: String, title: String, target: Value| {
        json!({
            "rel": format!("{LINK_RELATION}action-{action}"),
            "title": title,
            "href": href,
            "targetSchema": {"type": "object", "properties": target},
        })
    };
    let mut links = Vec::new();
    if post_type.name != "attachment" {
        let target = json!({"status": {"type": "string", "enum": ["publish", "future"]}});
        links.push(link("publish".into(), "The caller may publish this post.".into(), target));
    }
    let target = json!({"content": {"raw": {"type": "string"}}});
    links.push(link("unfiltered-html".into(), "The caller may use any HTML and scripts.".into(), target));
    if post_type.name == "post" {
        let target = json!({"sticky": {"type": "boolean"}});
        links.push(link("sticky".into(), "The caller may make this post sticky.".into(), target));
    }
    if post_type.supports("author") {
        let target = json!({"author": {"type": "integer"}});
        links.push(link("assign-author".into(), "The caller may change the author of this post.".into(), target));
    }
    for taxonomy in site.registries.taxonomies.of_type(&post_type.name).filter(|t| t.show_in_rest) {
        let base = &taxonomy.rest_base;
        let target = json!({base: {"type": "array", "items": {"type": "integer"}}});
        let title = format!("The caller may assign terms of the {} taxonomy to this post.", taxonomy.name);
        links.push(link(format!("assign-{base}"), title, target.clone()));
        let title = format!("The caller may create terms of the {} taxonomy.", taxonomy.name);
        links.push(link(format!("create-{base}"), title, target));
    }
    Value::Array(links)
}

/// The capability required to create a term. In flat taxonomies, everyone who may assign terms may also create them.
pub(crate) fn create_term_cap(taxonomy: &Taxonomy) -> &str {
    if taxonomy.hierarchical { &taxonomy.caps.edit_terms } else { &taxonomy.caps.assign_terms }
}
