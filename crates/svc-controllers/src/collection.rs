//! Responses of lists: a page of items, the totals, and links to the previous and next pages.

use std::sync::Arc;

use serde_json::{Map, Value};
use svc_resource::{Paging, total_headers};
use svc_routing::{HeaderText, Request, Response};
use svc_site::Site;

use crate::item_cache::{CachedPage, PageLinks};

/// The response for a page of the collection at this URL. The links repeat the query of the request.
pub(crate) fn respond(site: &Site, items: Vec<Value>, paging: &Paging, url: &str, req: &Request) -> Response {
    with_paging(site, Response::new(Value::Array(items)), paging, url, req)
}

/// Adds the totals and the links of a page of the collection at this URL. Totals are texts in families where WordPress's are.
pub(crate) fn with_page(
    site: &Site,
    response: Response,
    page: &CachedPage,
    url: &str,
    req: &Request,
    totals: Totals,
) -> Response {
    let paging = &page.paging;
    let response = match totals {
        _ if !page.has_total => response,
        Totals::Numbers => with_totals(site, response, paging.total, paging.pages()),
        Totals::Texts => with_text_totals(site, response, paging.total, paging.pages()),
    };
    let query = &req.params().query;
    let links = match &page.links {
        PageLinks::Pages => paging.links(url, query),
        PageLinks::Uncounted { more } => paging.links_of_uncounted(url, &with_booleans(query), *more),
        PageLinks::Cursor { previous, next } => {
            let link = |(relation, cursor): (_, &Option<Arc<str>>)| {
                let mut query = with_booleans(query);
                query.insert("cursor".to_owned(), cursor.as_deref()?.into());
                Some((relation, svc_php::query::extend_url(url, &query)))
            };
            [("prev", previous), ("next", next)].into_iter().filter_map(link).collect()
        }
    };
    with_page_links(response, links)
}

/// The query with booleans as texts. In links to numbered pages, as in WordPress, `false` has no value and is refused when it is
/// sent back.
fn with_booleans(query: &Map<String, Value>) -> Map<String, Value> {
    fn text(value: &Value) -> Value {
        match value {
            Value::Bool(is_true) => is_true.to_string().into(),
            Value::Array(list) => list.iter().map(text).collect(),
            Value::Object(map) => with_booleans(map).into(),
            other => other.clone(),
        }
    }
    query.iter().map(|(name, value)| (name.clone(), text(value))).collect()
}

/// The type of the totals in envelopes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Totals {
    Numbers,
    Texts,
}

/// Adds the totals and the links to the previous and next pages of the collection at this URL.
pub(crate) fn with_paging(site: &Site, response: Response, paging: &Paging, url: &str, req: &Request) -> Response {
    let response = with_totals(site, response, paging.total, paging.pages());
    with_page_links(response, paging.links(url, &req.params().query))
}

/// Adds the headers with the number of items and of pages.
pub(crate) fn with_totals(site: &Site, response: Response, total: u64, pages: u64) -> Response {
    add_totals(site, response, total_headers(total, pages))
}

/// As [`with_totals`], for families whose totals are strings in WordPress; the difference is visible in envelopes.
pub(crate) fn with_text_totals(site: &Site, response: Response, total: u64, pages: u64) -> Response {
    add_totals(site, response, total_headers(total, pages).map(|(name, value)| (name, value.to_string())))
}

fn add_totals<T: Into<HeaderText>>(site: &Site, response: Response, totals: [(&str, T); 2]) -> Response {
    totals.into_iter().fold(response, |response, (name, value)| response.header(&site.brand.header(name), value))
}

/// Adds links to other pages to the `Link` header. Each is a relation and a URL.
pub(crate) fn with_page_links(response: Response, links: Vec<(&str, String)>) -> Response {
    links.into_iter().fold(response, |response, (relation, url)| response.link_header(relation, &url, &[]))
}
