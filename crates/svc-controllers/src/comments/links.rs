//! Links of a comment: collection, author, post, parent and replies.

use svc_model::Comment;
use svc_routing::{Link, Links};
use svc_site::{Settings, Site, permalinks};

use super::rights::CommentViewer;
use crate::links::with_query;

/// Path of the family in its namespace.
pub(super) const BASE: &str = "comments";

/// Route of the collection: `/svc/v2/comments`.
pub(super) fn route(site: &Site) -> String {
    format!("/{}/{BASE}", site.brand.namespace())
}

/// The links of one comment. `has_replies` covers approved and held replies.
pub(super) fn links(
    site: &Site,
    settings: &Settings,
    comment: &Comment,
    viewer: &CommentViewer<'_>,
    has_replies: bool,
) -> Links {
    let namespace = site.brand.namespace();
    let collection = settings.urls.rest(&route(site));
    let url_of = |id| settings.urls.rest(&format!("{}/{id}", route(site)));
    let mut links = Links::new();
    links.add("self", Link::new(url_of(comment.id)).allow(viewer.allowed_methods(comment)));
    links.add("collection", Link::new(&collection));
    if !comment.user.is_none() {
        let author = settings.urls.rest(&format!("/{namespace}/users/{}", comment.user));
        links.add("author", Link::new(author).embeddable());
    }
    let post = viewer.post(comment.post).map(|post| (post, permalinks::rest_route(site, settings, post)));
    if let Some((post, route)) = post.filter(|(_, route)| !route.is_empty()) {
        let link = Link::new(settings.urls.rest(&route)).embeddable().attr("post_type", post.post_type.as_str());
        links.add("up", link);
    }
    if !comment.parent.is_none() {
        links.add("in-reply-to", Link::new(url_of(comment.parent)).embeddable());
    }
    if has_replies {
        let mut replies = with_query(&collection, "parent", comment.id);
        if comment.comment_type == "note" {
            replies = with_query(&with_query(&replies, "type", "note"), "status", "all");
        }
        links.add("children", Link::new(replies).embeddable());
    }
    links
}
