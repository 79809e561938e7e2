//! Links of a post: related resources, and the actions that the caller may take.

use std::sync::Arc;

use serde_json::{Value, json};
use svc_model::{PostType, Taxonomy};
use svc_routing::{Link, Links};

use super::{item::PostItem, rights::PostRights};
use crate::{LINK_RELATION, RestSite};

/// Number of revisions of a post, and the latest one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Revisions {
    /// Number of revisions.
    pub count: u64,
    /// The latest revision, 0 when there is none.
    pub latest: svc_model::PostId,
}

/// The links of one post. `rights` are the caller's permissions on the post and its type. Actions are listed in context
/// `edit` only.
pub(crate) fn links(item: &PostItem, rights: &PostRights, revisions: Revisions, edit: bool) -> Links {
    let (site, post, post_type) = (&item.site, &item.post, &item.post_type);
    let urls = &item.settings.urls;
    let collection = urls.rest(&site.route_of_type(post_type));
    let own = format!("{collection}/{}", post.id);
    let namespaced = |path: &str| urls.rest(&format!("/{}/{path}", site.brand.namespace()));
    let is_post_or_page = matches!(post_type.name.as_str(), "post" | "page");

    let mut links = Links::new();
    links.add("self", Link::new(&own).allow(rights.allowed_methods()));
    links.add("collection", Link::new(&collection));
    links.add("about", Link::new(namespaced(&format!("types/{}", post_type.name))));
    if (is_post_or_page || post_type.supports("author")) && !post.author.is_none() {
        links.add("author", Link::new(namespaced(&format!("users/{}", post.author))).embeddable());
    }
    if is_post_or_page || post_type.supports("comments") {
        links.add("replies", Link::new(with_query(&namespaced("comments"), "post", post.id.0)).embeddable());
    }
    if is_post_or_page || post_type.supports("revisions") {
        links.add("version-history", Link::new(format!("{own}/revisions")).attr("count", revisions.count));
        if revisions.count > 0 {
            let latest = revisions.latest;
            let href = format!("{own}/revisions/{latest}");
            links.add("predecessor-version", Link::new(href).attr("id", latest.0));
        }
    }
    if !item.parent_url.is_empty() {
        links.add("up", Link::new(&item.parent_url).embeddable());
    }
    let relation = |name: &str| format!("{LINK_RELATION}{name}");
    if item.featured_media() > 0 {
        let media = namespaced(&format!("media/{}", item.featured_media()));
        links.add(relation("featuredmedia"), Link::new(media).embeddable());
    }
    if let Some(parent) = item.attached.as_ref().and_then(|a| a.parent.as_ref()) {
        let link = Link::new(&parent.href).embeddable().attr("post_type", parent.post_type.as_str());
        links.add(relation("attached-to"), link.attr("id", parent.id.0));
    }
    if post_type.name != "attachment" {
        links.add(relation("attachment"), Link::new(with_query(&namespaced("media"), "parent", post.id.0)));
    }
    for taxonomy in site.taxonomies.of_type(&post_type.name).filter(|t| t.show_in_rest) {
        let terms = urls.rest(&site.route_of_taxonomy(taxonomy));
        let link = Link::new(with_query(&terms, "post", post.id.0)).attr("taxonomy", taxonomy.name.as_str());
        links.add(relation("term"), link.embeddable());
    }
    if edit {
        for action in rights.actions() {
            links.add(relation(&format!("action-{action}")), Link::new(&own));
        }
    }
    links
}

/// Adds a query parameter to a URL, which may have a query already.
pub(crate) fn with_query(url: &str, name: &str, value: impl std::fmt::Display) -> String {
    svc_php::query::extend_url_with(url, [(name, value.to_string().as_str())])
}

/// The action links of a type, for the keyword `links` of its schema.
pub(crate) fn schema_links(site: &Arc<RestSite>, post_type: &PostType) -> Value {
    // If the settings cannot be read during start-up, the URL is a relative path.
    let collection = site.route_of_type(post_type);
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
    for taxonomy in site.taxonomies.of_type(&post_type.name).filter(|t| t.show_in_rest) {
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
