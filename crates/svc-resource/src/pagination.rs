//! Pagination of a collection: totals, and links to the previous and next page.

use serde_json::{Map, Value};
use svc_schema::Error;

/// The page of a collection that a request asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Paging {
    /// Number of items in the whole collection.
    pub total: u64,
    /// Items on a page, at least 1.
    pub per_page: u64,
    /// The requested page, from 1.
    pub page: u64,
}

impl Paging {
    /// Number of pages.
    pub fn pages(&self) -> u64 {
        self.total.div_ceil(self.per_page.max(1))
    }

    /// The items on the page, of a collection that is in memory.
    pub fn items<T>(&self, all: impl Iterator<Item = T>) -> impl Iterator<Item = T> {
        let to_usize = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
        let skipped = self.page.saturating_sub(1).saturating_mul(self.per_page);
        all.skip(to_usize(skipped)).take(to_usize(self.per_page))
    }

    /// Rejects a page beyond the last one, unless the collection is empty.
    ///
    /// # Errors
    /// Fails with `code` and status 400.
    pub fn check(&self, code: &'static str) -> Result<(), Error> {
        if self.total > 0 && self.page > self.pages() {
            return Err(
                Error::new(code, "The requested page is beyond the last page of the collection.").with_status(400)
            );
        }
        Ok(())
    }

    /// URLs of the previous and next page as `(relation, URL)`. `collection` is the collection's URL; the request's
    /// `query` parameters are repeated in the links.
    pub fn links(&self, collection: &str, query: &Map<String, Value>) -> Vec<(&'static str, String)> {
        // As in WordPress, the previous page of an empty collection is page 0.
        self.prev_next(self.page.saturating_sub(1).min(self.pages()), collection, query)
    }

    /// As [`Self::links`], for a collection whose total is not known; `more` is whether another page follows.
    pub fn links_of_uncounted(
        &self,
        collection: &str,
        query: &Map<String, Value>,
        more: bool,
    ) -> Vec<(&'static str, String)> {
        let total = self.page.saturating_add(u64::from(more)).saturating_mul(self.per_page);
        Paging { total, ..*self }.links(collection, query)
    }

    /// As [`Self::links`], but the previous page is always the requested one minus one, even beyond the end of the
    /// collection.
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

/// Names (without the brand) and values of the two headers that report a collection's size.
pub fn total_headers(total: u64, pages: u64) -> [(&'static str, u64); 2] {
    [("Total", total), ("TotalPages", pages)]
}
