//! The resource that a page shows, and its route in the REST API.

use svc_permalinks::{RestBase, SiteUrls};

/// The resource that a page shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Queried<'a> {
    /// One post of any type, with its type.
    Singular(u64, RestBase<'a>),
    /// The archive of a term, with its taxonomy.
    Term(u64, RestBase<'a>),
    /// The archive of an author.
    Author(u64),
    /// Anything else.
    Other,
}

impl Queried<'_> {
    /// The route of the resource, or empty. `namespace` is that of the default routes.
    ///
    /// Source: `rest_get_queried_resource_route`.
    pub fn route(self, site: &SiteUrls, namespace: &str) -> String {
        let route = match self {
            Queried::Singular(id, post_type) => site.route_for_post(Some((id, post_type))),
            Queried::Term(id, taxonomy) => site.route_for_term(Some((id, taxonomy))),
            Queried::Author(id) => format!("/{namespace}/users/{id}"),
            Queried::Other => String::new(),
        };
        site.hooks.rest_queried_resource_route.iter().fold(route, |route, f| f(route))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use svc_permalinks::Permalinks;

    use super::*;

    const POSTS: RestBase<'static> =
        RestBase { name: "post", namespace: "svc/v2", base: "posts", show_in_rest: true, standard: true };

    #[test]
    fn routes_of_queried_resources() {
        let mut site = SiteUrls::new("http://a.b", "http://a.b", "svc-json", Permalinks::new("/%postname%/"));
        for (queried, expected) in [
            (Queried::Singular(4, POSTS), "/svc/v2/posts/4"),
            (Queried::Term(4, RestBase { base: "", ..POSTS }), "/svc/v2/post/4"),
            (Queried::Singular(4, RestBase { show_in_rest: false, ..POSTS }), ""),
            (Queried::Singular(4, RestBase { standard: false, ..POSTS }), ""),
            (Queried::Author(2), "/svc/v2/users/2"),
            (Queried::Other, ""),
        ] {
            assert_eq!(queried.route(&site, "svc/v2"), expected);
        }
        site.hooks.rest_route_for_post.add(10, Arc::new(|route, id, post_type| format!("{route}?{post_type}{id}")));
        site.hooks.rest_queried_resource_route.add(10, Arc::new(|route| route + "!"));
        assert_eq!(Queried::Singular(4, POSTS).route(&site, "svc/v2"), "/svc/v2/posts/4?post4!");
    }
}
