//! Extension points for URLs and routes: typed closures, ordered by priority.

use std::{fmt, sync::Arc};

use crate::UrlScheme;

/// The filters of one extension point. Lower priorities run first, equal priorities in the order of registration.
///
/// `F` is the closure's type, such as `dyn Fn(String) -> String + Send + Sync`.
pub struct Filters<F: ?Sized>(Vec<(i32, Arc<F>)>);

impl<F: ?Sized> Filters<F> {
    /// Adds a filter. The default priority in WordPress is 10.
    pub fn add(&mut self, priority: i32, filter: Arc<F>) {
        let at = self.0.partition_point(|(p, _)| *p <= priority);
        self.0.insert(at, (priority, filter));
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The filters in order.
    pub fn iter(&self) -> impl Iterator<Item = &F> {
        self.0.iter().map(|(_, f)| &**f)
    }
}

impl<F: ?Sized> Default for Filters<F> {
    fn default() -> Self {
        Filters(Vec::new())
    }
}

impl<F: ?Sized> Clone for Filters<F> {
    fn clone(&self) -> Self {
        Filters(self.0.clone())
    }
}

impl<F: ?Sized> fmt::Debug for Filters<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} filters", self.0.len())
    }
}

/// The parts of an API URL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct HookedUrl<'a> {
    /// The path below the API root, with leading slash. It may have a query.
    pub path: &'a str,
    /// The id of the site; always 1, since there is one site.
    pub blog_id: u64,
    /// The scheme that was requested.
    pub scheme: UrlScheme,
}

/// Changes a string.
pub type TextFilter = dyn Fn(String) -> String + Send + Sync;
/// Changes an API URL. Receives the URL and what it was built from.
pub type UrlFilter = dyn Fn(String, &HookedUrl<'_>) -> String + Send + Sync;
/// Changes a route. Receives the route, the id, and the post type or taxonomy.
pub type RouteFilter = dyn Fn(String, u64, &str) -> String + Send + Sync;

/// Changes a list of widths, in pixels.
pub type SizesFilter = dyn Fn(Vec<u32>) -> Vec<u32> + Send + Sync;

/// The extension points for URLs (specification, "Events"). All URLs and routes of a site are built with them.
#[derive(Debug, Clone, Default)]
pub struct UrlHooks {
    /// Changes the URL prefix of the API.
    pub rest_url_prefix: Filters<TextFilter>,
    /// Changes a generated API URL. Called for the URL of each path, such as that of each item of a list.
    pub rest_url: Filters<UrlFilter>,
    /// Changes a post's route.
    pub rest_route_for_post: Filters<RouteFilter>,
    /// Changes a term's route.
    pub rest_route_for_term: Filters<RouteFilter>,
    /// Changes the route of the resource that a page shows.
    pub rest_queried_resource_route: Filters<TextFilter>,
    /// Changes the widths of the avatars in REST responses.
    pub rest_avatar_sizes: Filters<SizesFilter>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filters_run_by_priority() {
        let mut filters: Filters<TextFilter> = Filters::default();
        for (priority, mark) in [(20, "c"), (10, "a"), (10, "b"), (5, "_")] {
            filters.add(priority, Arc::new(move |s| s + mark));
        }
        assert_eq!(filters.iter().fold(String::new(), |s, f| f(s)), "_abc");
    }
}
