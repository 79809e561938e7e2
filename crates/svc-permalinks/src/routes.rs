//! REST API routes of posts and terms.

use crate::SiteUrls;

/// The registration of a post type or taxonomy in the REST API.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RestBase<'a> {
    /// Its name, used as the base if `base` is empty.
    pub name: &'a str,
    /// Its namespace, such as `svc/v2`.
    pub namespace: &'a str,
    /// Its base; empty for none.
    pub base: &'a str,
    /// Whether it is available over the REST API.
    pub show_in_rest: bool,
    /// Whether its controller is one of the standard ones for posts, attachments and terms.
    pub standard: bool,
}

impl RestBase<'_> {
    /// The route of the collection: `/svc/v2/posts`; empty if it is not available over the REST API.
    ///
    /// Source: `rest_get_route_for_post_type_items`, `rest_get_route_for_taxonomy_items`.
    pub fn items_route(&self) -> String {
        if !self.show_in_rest {
            return String::new();
        }
        format!("/{}/{}", self.namespace, if self.base.is_empty() { self.name } else { self.base })
    }

    /// The route of one item; empty unless the controller is a standard one (specification, "Discovery").
    fn item_route(&self, id: u64) -> String {
        let items = self.items_route();
        if items.is_empty() || !self.standard { String::new() } else { format!("{items}/{id}") }
    }
}

impl SiteUrls {
    /// The route of a post; empty if its type has none, or if the post does not exist (`None`).
    ///
    /// Source: `rest_get_route_for_post`.
    pub fn route_for_post(&self, post: Option<(u64, RestBase<'_>)>) -> String {
        let Some((id, post_type)) = post else { return String::new() };
        self.hooks.rest_route_for_post.iter().fold(post_type.item_route(id), |route, f| f(route, id, post_type.name))
    }

    /// The route of a term; empty if its taxonomy has none, or if the term does not exist (`None`).
    ///
    /// Source: `rest_get_route_for_term`.
    pub fn route_for_term(&self, term: Option<(u64, RestBase<'_>)>) -> String {
        let Some((id, taxonomy)) = term else { return String::new() };
        self.hooks.rest_route_for_term.iter().fold(taxonomy.item_route(id), |route, f| f(route, id, taxonomy.name))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::Permalinks;

    const POSTS: RestBase<'static> =
        RestBase { name: "post", namespace: "svc/v2", base: "posts", show_in_rest: true, standard: true };

    #[test]
    fn routes_of_resources() {
        let mut site = SiteUrls::new("http://a.b", "http://a.b", "svc-json", Permalinks::new("/%postname%/"));
        for (post_type, expected) in [
            (POSTS, "/svc/v2/posts/4"),
            (RestBase { base: "", ..POSTS }, "/svc/v2/post/4"),
            (RestBase { show_in_rest: false, ..POSTS }, ""),
            (RestBase { standard: false, ..POSTS }, ""),
        ] {
            assert_eq!(site.route_for_post(Some((4, post_type))), expected);
            assert_eq!(site.route_for_term(Some((4, post_type))), expected);
        }
        assert_eq!(site.route_for_post(None), "");
        site.hooks.rest_route_for_post.add(10, Arc::new(|route, id, post_type| format!("{route}?{post_type}{id}")));
        assert_eq!(site.route_for_post(Some((4, POSTS))), "/svc/v2/posts/4?post4");
    }
}
