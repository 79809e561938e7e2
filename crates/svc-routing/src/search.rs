//! What the search route asks of a kind of searchable object.

use serde_json::Value;

use crate::handler::BoxFuture;
use crate::links::Links;
use crate::{Request, Result};

/// One page of search results.
#[derive(Clone, Debug, Default)]
pub struct SearchPage {
    /// Ids of the objects found, as the handler knows them.
    pub ids: Vec<Value>,
    /// How many there are on all pages.
    pub total: u64,
}

/// One kind of searchable object: posts, terms, post formats …
pub trait SearchHandler: Send + Sync {
    /// The value of the parameter `type` that chooses this handler.
    fn kind(&self) -> &str;
    /// The values of `subtype` that it knows.
    fn subtypes(&self) -> Vec<String>;
    /// Searches.
    fn search(&self, req: Request) -> BoxFuture<Result<SearchPage>>;
    /// Prepares objects found, in order, with their links.
    fn prepare(&self, ids: Vec<Value>, req: Request) -> BoxFuture<Result<Vec<(Value, Links)>>>;
}
