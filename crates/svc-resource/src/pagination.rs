//! Pages of a collection: totals, and links to the pages beside.

use serde_json::{Map, Value};
use svc_schema::Error;

/// Where in a collection a request stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Paging {
    /// Number of items in the whole collection.
    pub total: u64,
    /// Items on a page, at least 1.
    pub per_page: u64,
    /// The page asked for, from 1.
    pub page: u64,
}

impl Paging {
    /// Number of pages.
    pub fn pages(&self) -> u64 {
        self.total.div_ceil(self.per_page.max(1))
    }

    /// Refuses a page beyond the last one of a collection that is not empty.
    ///
    /// # Errors
    /// The given code with status 400.
    pub fn check(&self, code: &'static str) -> Result<(), Error> {
        if self.total > 0 && self.page > self.pages() {
            return Err(
                Error::new(code, "The requested page is beyond the last page of the collection.").with_status(400)
            );
        }
        Ok(())
    }

    /// Addresses of the previous and the next page: `(relation, address)`. `collection` is the collection's address,
    /// `query` the query parameters of the request, which the addresses repeat.
    pub fn links(&self, collection: &str, query: &Map<String, Value>) -> Vec<(&'static str, String)> {
        // As the reference: of an empty collection the page before is page 0.
        self.prev_next(self.page.saturating_sub(1).min(self.pages()), collection, query)
    }

    /// [`Self::links`], with the page before this one as the previous one, though the collection may not reach that far.
    pub fn links_from_page(&self, collection: &str, query: &Map<String, Value>) -> Vec<(&'static str, String)> {
        self.prev_next(self.page.saturating_sub(1), collection, query)
    }

    fn prev_next(&self, previous: u64, collection: &str, query: &Map<String, Value>) -> Vec<(&'static str, String)> {
        let at = |page: u64| {
            let mut query = query.clone();
            query.insert("page".to_owned(), Value::from(page));
            svc_php::query::extend_url(collection, &query)
        };
        let mut links = Vec::new();
        if self.page > 1 {
            links.push(("prev", at(previous)));
        }
        if self.page < self.pages() {
            links.push(("next", at(self.page + 1)));
        }
        links
    }
}

/// Names, without the brand, and values of the two headers that tell a collection's size.
pub fn total_headers(total: u64, pages: u64) -> [(&'static str, u64); 2] {
    [("Total", total), ("TotalPages", pages)]
}
