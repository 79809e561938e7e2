//! `openapi.json` below the REST API's prefix: the document that describes the API.

use std::sync::{Arc, OnceLock};

use axum::{
    Router,
    extract::{RawQuery, State},
    middleware::from_fn_with_state,
    response::{IntoResponse as _, Response},
    routing::get,
};
use bytes::Bytes;
use http::{HeaderMap, HeaderValue, StatusCode, header};
use sha2::{Digest as _, Sha256};
use svc_http::Runner;
use svc_openapi::About;
use svc_routing::Server;

use super::{lanes, rest::Rest};

/// File name of the document.
pub(super) const FILE: &str = "openapi.json";

/// The documents of a server: of all namespaces, and of each. Each is generated when it is first requested.
pub(super) struct Documents {
    about: About,
    all: OnceLock<Document>,
    by_namespace: Vec<(String, OnceLock<Document>)>,
}

/// A document as it is sent.
#[derive(Clone)]
struct Document {
    json: Bytes,
    etag: HeaderValue,
}

impl Documents {
    /// No document yet. `session_cookie` is the name of the log-in cookie.
    pub(super) fn new(server: &Server, session_cookie: String) -> Self {
        Documents {
            about: about(Some(session_cookie)),
            all: OnceLock::new(),
            by_namespace: server.namespaces().iter().map(|name| (name.clone(), OnceLock::new())).collect(),
        }
    }

    /// The document of a namespace, or of all; `None` if the namespace is unknown.
    fn get(&self, server: &Server, namespace: Option<&str>) -> Option<Document> {
        let cell = match namespace {
            None => &self.all,
            Some(wanted) => self.by_namespace.iter().find(|(name, _)| name == wanted).map(|(_, cell)| cell)?,
        };
        Some(cell.get_or_init(|| Document::of(&svc_openapi::document(server, &self.about, namespace))).clone())
    }
}

impl Document {
    fn of(document: &serde_json::Value) -> Self {
        let json = Bytes::from(document.to_string());
        let hash: String = Sha256::digest(&json).iter().take(16).map(|byte| format!("{byte:02x}")).collect();
        let etag = HeaderValue::from_str(&format!("W/\"{hash}\"")).unwrap_or(HeaderValue::from_static("\"\""));
        Document { json, etag }
    }
}

/// Title and version of documents.
pub(crate) fn about(session_cookie: Option<String>) -> About {
    About { title: "REST API".to_owned(), version: env!("CARGO_PKG_VERSION").to_owned(), session_cookie }
}

/// The route of the document. It is in front of the REST API, which does not list it.
pub(super) fn router(rest: &Rest, runner: Arc<dyn Runner>) -> Router {
    let server = rest.server();
    let path = format!("{}/{}/{FILE}", server.site_path(), server.url_prefix());
    Router::new().route(&path, get(serve)).layer(from_fn_with_state(runner, lanes::in_lane)).with_state(rest.clone())
}

async fn serve(State(rest): State<Rest>, RawQuery(query): RawQuery, headers: HeaderMap) -> Response {
    let params = svc_php::query::parse(query.unwrap_or_default().as_bytes());
    let namespace = params.get("namespace").and_then(serde_json::Value::as_str).map(|name| name.trim_matches('/'));
    let found =
        rest.with_documents(|documents, server| documents.get(server, namespace.filter(|name| !name.is_empty())));
    let Some(Document { json, etag }) = found else {
        return (StatusCode::NOT_FOUND, "There is no such namespace.\n").into_response();
    };
    let is_known = headers.get_all(header::IF_NONE_MATCH).iter().filter_map(|value| value.to_str().ok());
    let is_known = is_known.flat_map(|all| all.split(',')).any(|tag| tag.trim() == "*" || etag == tag.trim());
    let common = [
        (header::ETAG, etag),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-cache")),
        (header::ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*")),
        (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
        (header::CONTENT_TYPE, HeaderValue::from_static("application/json; charset=UTF-8")),
    ];
    if is_known { (StatusCode::NOT_MODIFIED, common).into_response() } else { (common, json).into_response() }
}
