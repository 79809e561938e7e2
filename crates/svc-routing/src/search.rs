//! The search route's extension point: kinds of searchable objects.

use serde_json::Value;

use crate::handler::BoxFuture;
use crate::links::Links;
use crate::{Request, Result};

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
    /// Runs a search.
    fn search(&self, req: Request) -> BoxFuture<Result<SearchPage>>;
    /// Prepares the found objects, in order, with their links.
    fn prepare(&self, ids: Vec<Value>, req: Request) -> BoxFuture<Result<Vec<(Value, Links)>>>;
}
