//! The extension point of the search route: kinds of searchable objects.

use std::sync::Arc;

use serde_json::Value;
use svc_permalinks::Filters;
use svc_routing::{BoxFuture, Links, Registered, Registry, Request, Result};

/// One page of search results.
#[derive(Clone, Debug, Default)]
pub struct SearchPage {
    /// Ids of the matching objects, in the handler's format.
    pub ids: Vec<Value>,
    /// Number of matches on all pages.
    pub total: u64,
}

/// A kind of searchable object: posts, terms, post formats …
pub trait SearchHandler: Send + Sync {
    /// The value of the `type` parameter that selects this handler.
    fn kind(&self) -> &str;
    /// The supported values of `subtype`.
    fn subtypes(&self) -> Vec<String>;
    /// Whether results depend on nothing but stored data, the caller, and the declared parameters of the route. Their ids must then be
    /// integers. By default they are not cached.
    fn is_cacheable(&self) -> bool {
        false
    }
    /// Runs a search.
    fn search(&self, req: Request) -> BoxFuture<Result<SearchPage>>;
    /// Prepares the found objects, in order, with their links.
    fn prepare(&self, ids: Vec<Value>, req: Request) -> BoxFuture<Result<Vec<(Value, Links)>>>;
}

/// A list of search handlers.
pub type SearchHandlers = Vec<Arc<dyn SearchHandler>>;

type HandlerFilter = dyn Fn(SearchHandlers) -> SearchHandlers + Send + Sync;

/// The filters of a registry.
#[derive(Clone, Default)]
struct HandlerFilters(Filters<HandlerFilter>);

/// Filter `wp_rest_search_handlers`: changes the list of search handlers. Filters with lower priorities run first. Call it
/// where routes are registered: before or after the families are mounted.
pub fn filter_handlers(
    registry: &mut Registry,
    priority: i32,
    filter: impl Fn(SearchHandlers) -> SearchHandlers + Send + Sync + 'static,
) {
    registry.extensions().get_or_insert_default::<HandlerFilters>().0.add(priority, Arc::new(filter));
}

/// The handlers after all filters.
pub(super) fn filtered(default: SearchHandlers, registered: &Registered) -> SearchHandlers {
    let Some(HandlerFilters(filters)) = registered.extensions.get() else { return default };
    filters.iter().fold(default, |handlers, filter| filter(handlers))
}
