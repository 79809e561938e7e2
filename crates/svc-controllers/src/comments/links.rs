//! Relations of a comment: its collection, author, post, thread.

use svc_discovery::RestBase;
use svc_model::{Comment, Post};
use svc_routing::{Link, Links};
use svc_site::{Settings, urls::rest_base};

use super::rights::CommentViewer;
use crate::{RestSite, links::with_query};

/// Where the family lies, under its namespace.
pub(super) const BASE: &str = "comments";

/// Route of the collection: `/svc/v2/comments`.
pub(super) fn route(site: &RestSite) -> String {
    format!("/{}/{BASE}", site.brand.namespace())
}

/// The relations of one comment. `has_replies` counts those that are approved or held.
pub(super) fn links(
    site: &RestSite,
    settings: &Settings,
    comment: &Comment,
    reader: &CommentViewer<'_>,
    has_replies: bool,
) -> Links {
    let namespace = site.brand.namespace();
    let collection = settings.urls.rest(&route(site));
    let mut links = Links::new();
    links.add("self", Link::new(format!("{collection}/{}", comment.id)).allow(reader.allowed_methods(comment)));
    links.add("collection", Link::new(&collection));
    if !comment.user.is_none() {
        let author = settings.urls.rest(&format!("/{namespace}/users/{}", comment.user));
        links.add("author", Link::new(author).embeddable());
    }
    if let Some(post) = reader.post(comment.post)
        && let Some(route) = route_of_post(site, settings, &namespace, post)
    {
        let link = Link::new(settings.urls.rest(&route)).embeddable().attr("post_type", post.post_type.as_str());
        links.add("up", link);
    }
    if !comment.parent.is_none() {
        links.add("in-reply-to", Link::new(format!("{collection}/{}", comment.parent)).embeddable());
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

/// The route of a post; `None` when its type has none.
fn route_of_post(site: &RestSite, settings: &Settings, namespace: &str, post: &Post) -> Option<String> {
    let kind = site.types.get(&post.post_type)?;
    let id = u64::try_from(post.id.0).ok()?;
    // Here the peer links to posts of types with a controller of their own, too.
    let base = RestBase { standard: true, ..rest_base(kind, namespace) };
    let route = settings.urls.site.route_for_post(Some((id, base)));
    (!route.is_empty()).then_some(route)
}
