//! The root of the REST API in a browser: a person who opens its URL gets the API explorer, and clients get the index.

use axum::{
    extract::Request,
    response::{IntoResponse as _, Redirect, Response},
};
use http::{HeaderMap, HeaderValue, Method, header};

/// Leads browsers from the index of the REST API to the explorer.
pub struct ToExplorer {
    /// Path of the index, without a slash at the end.
    root: String,
    explorer: String,
}

impl ToExplorer {
    /// `root` and `explorer` are paths of the site's host.
    pub fn new(root: String, explorer: String) -> Self {
        ToExplorer { root, explorer }
    }

    /// The response to a person who opens the index.
    pub fn response(&self, request: &Request) -> Option<Response> {
        let uri = request.uri();
        let is_root = uri.path().trim_end_matches('/') == self.root && uri.query().is_none();
        if !is_root || *request.method() != Method::GET || !is_navigation(request.headers()) {
            return None;
        }
        let mut response = Redirect::to(&self.explorer).into_response();
        response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        Some(response)
    }
}

/// Whether a browser opens a document. Scripts cannot set these headers, and other clients do not send them.
fn is_navigation(headers: &HeaderMap) -> bool {
    let is = |name: &str, value: &str| headers.get(name).is_some_and(|sent| sent == value);
    is("sec-fetch-mode", "navigate") && is("sec-fetch-dest", "document")
}
