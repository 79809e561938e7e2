//! Links of a post: related resources, and the actions that the caller may take.

use std::collections::HashSet;

use svc_model::PostId;
use svc_routing::{Link, Links};
use svc_site::permalinks;

use super::{item::PostItem, rights::PostRights};
use crate::{LINK_RELATION, links::with_query};

/// Number of revisions of a post, and the latest one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Revisions {
    /// Number of revisions.
    pub count: u64,
    /// The latest revision, 0 when there is none.
    pub latest: svc_model::PostId,
}

/// The links of one post. `rights` are the caller's permissions on the post and its type, `media` the featured images
/// that the caller may read. Actions are listed in context `edit` only.
pub(crate) fn links(
    item: &PostItem,
    rights: &PostRights,
    revisions: Revisions,
    media: &HashSet<PostId>,
    edit: bool,
) -> Links {
    let (site, post, post_type) = (&item.site, &item.post, &item.post_type);
    let urls = &item.settings.urls;
    let items = site.route_of_type(post_type);
    let own = urls.rest(&permalinks::rest_route_of(site, &item.settings, post_type, post.id));
    let namespaced = |path: &str| urls.rest(&format!("/{}/{path}", site.brand.namespace()));
    let is_post_or_page = matches!(post_type.name.as_str(), "post" | "page");

    let mut links = Links::new();
    links.add("self", Link::new(&own).allow(rights.allowed_methods()));
    links.add("collection", Link::new(urls.rest(&items)));
    links.add("about", Link::new(namespaced(&format!("types/{}", post_type.name))));
    if (is_post_or_page || post_type.supports("author")) && !post.author.is_none() {
        links.add("author", Link::new(namespaced(&format!("users/{}", post.author))).embeddable());
    }
    if is_post_or_page || post_type.supports("comments") {
        links.add("replies", Link::new(with_query(&namespaced("comments"), "post", post.id.0)).embeddable());
    }
    if is_post_or_page || post_type.supports("revisions") {
        let history = format!("{items}/{}/revisions", post.id);
        links.add("version-history", Link::new(urls.rest(&history)).attr("count", revisions.count));
        if revisions.count > 0 {
            let latest = revisions.latest;
            let href = urls.rest(&format!("{history}/{latest}"));
            links.add("predecessor-version", Link::new(href).attr("id", latest.0));
        }
    }
    if !item.parent_url.is_empty() {
        links.add("up", Link::new(&item.parent_url).embeddable());
    }
    let relation = |name: &str| format!("{LINK_RELATION}{name}");
    if media.contains(&PostId(item.featured_media()))
        && let Some(attachment) = site.registries.types.get("attachment")
    {
        let id = PostId(item.featured_media());
        let media = urls.rest(&permalinks::rest_route_of(site, &item.settings, attachment, id));
        links.add(relation("featuredmedia"), Link::new(media).embeddable());
    }
    if let Some(parent) = item.attached.as_ref().and_then(|a| a.parent.as_ref()) {
        let link = Link::new(&parent.href).embeddable().attr("post_type", parent.post_type.as_str());
        links.add(relation("attached-to"), link.attr("id", parent.id.0));
    }
    if post_type.name != "attachment" {
        links.add(relation("attachment"), Link::new(with_query(&namespaced("media"), "parent", post.id.0)));
    }
    for taxonomy in site.registries.taxonomies.of_type(&post_type.name).filter(|t| t.show_in_rest) {
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
