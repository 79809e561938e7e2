//! Responses of lists: a page of items, the totals, and links to the previous and next pages.

use serde_json::Value;
use svc_resource::{Paging, total_headers};
use svc_routing::{HeaderText, Request, Response};
use svc_site::Site;

/// The response for a page of the collection at this URL. The links repeat the query of the request.
pub(crate) fn respond(site: &Site, items: Vec<Value>, paging: &Paging, url: &str, req: &Request) -> Response {
    with_paging(site, Response::new(Value::Array(items)), paging, url, req)
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
