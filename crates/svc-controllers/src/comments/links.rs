//! Links of a comment: collection, author, post, parent and replies.

use svc_discovery::RestBase;
use svc_model::{Comment, Post};
use svc_routing::{Link, Links};
use svc_site::{Settings, urls::rest_base};

use super::rights::CommentViewer;
use crate::{RestSite, links::with_query};

/// Path of the family in its namespace.
pub(super) const BASE: &str = "comments";

/// Route of the collection: `/svc/v2/comments`.
pub(super) fn route(site: &RestSite) -> String {
    format!("/{}/{BASE}", site.brand.namespace())
}

/// The links of one comment. `has_replies` covers approved and held replies.
pub(super) fn links(
    site: &RestSite,
    settings: &Settings,
    comment: &Comment,
    viewer: &CommentViewer<'_>,
    has_replies: bool,
) -> Links {
    let namespace = site.brand.namespace();
    let collection = settings.urls.rest(&route(site));
    let mut links = Links::new();
    links.add("self", Link::new(format!("{collection}/{}", comment.id)).allow(viewer.allowed_methods(comment)));
    links.add("collection", Link::new(&collection));
    if !comment.user.is_none() {
        let author = settings.urls.rest(&format!("/{namespace}/users/{}", comment.user));
        links.add("author", Link::new(author).embeddable());
    }
    if let Some(post) = viewer.post(comment.post)
        && let Some(route) = post_route(site, settings, &namespace, post)
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
fn post_route(site: &RestSite, settings: &Settings, namespace: &str, post: &Post) -> Option<String> {
    let post_type = site.types.get(&post.post_type)?;
    let id = u64::try_from(post.id.0).ok()?;
    // As in WordPress, these links also include posts of types with a controller of their own.
    let base = RestBase { standard: true, ..rest_base(post_type, namespace) };
    let route = settings.urls.site.route_for_post(Some((id, base)));
    (!route.is_empty()).then_some(route)
}
