//! Extension points over addresses and routes: typed closures in order of priority.

use std::{fmt, sync::Arc};

/// The filters of one extension point; lower priorities run first, equal ones in the order of their adding.
///
/// `F` is the closure's type, such as `dyn Fn(String) -> String + Send + Sync`.
pub struct Filters<F: ?Sized>(Vec<(i32, Arc<F>)>);

impl<F: ?Sized> Filters<F> {
    /// Adds a filter; 10 is the usual priority.
    pub fn add(&mut self, priority: i32, filter: Arc<F>) {
        let at = self.0.partition_point(|(p, _)| *p <= priority);
        self.0.insert(at, (priority, filter));
    }

    /// The filters in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &F> {
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

/// Changes a text.
pub type TextFilter = dyn Fn(String) -> String + Send + Sync;
/// Changes an interface address; receives address, path (with its slash) and scheme.
pub type UrlFilter = dyn Fn(String, &str, crate::Scheme) -> String + Send + Sync;
/// Changes a route; receives route, id, and post type or taxonomy.
pub type RouteFilter = dyn Fn(String, u64, &str) -> String + Send + Sync;

/// The extension points of this crate (spec, Events).
#[derive(Debug, Clone, Default)]
pub struct Hooks {
    /// Changes the address prefix.
    pub rest_url_prefix: Filters<TextFilter>,
    /// Changes a generated interface address.
    pub rest_url: Filters<UrlFilter>,
    /// Changes a post's route.
    pub rest_route_for_post: Filters<RouteFilter>,
    /// Changes a term's route.
    pub rest_route_for_term: Filters<RouteFilter>,
    /// Changes the route of what the page shows.
    pub rest_queried_resource_route: Filters<TextFilter>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn priorities_order_filters() {
        let mut filters: Filters<TextFilter> = Filters::default();
        for (priority, mark) in [(20, "c"), (10, "a"), (10, "b"), (5, "_")] {
            filters.add(priority, Arc::new(move |s| s + mark));
        }
        assert_eq!(filters.iter().fold(String::new(), |s, f| f(s)), "_abc");
    }
}
