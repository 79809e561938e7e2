//! `openapi.json` below the REST API's prefix: the document that describes the API.

use std::sync::OnceLock;

use axum::{
    Router,
    extract::{Request, State},
    response::{IntoResponse as _, Response},
    routing::get,
};
use bytes::Bytes;
use http::{HeaderValue, StatusCode, header};
use sha2::{Digest as _, Sha256};
use svc_http::{Cost, context_of};
use svc_openapi::About;
use svc_pages::PageLanes;
use svc_routing::{Context, Server, Transport};

use super::rest::Rest;

/// File name of the document.
pub(super) const FILE: &str = "openapi.json";

/// The documents of a server: of all namespaces, and of each. Each is generated when it is first requested.
pub(super) struct Documents {
    about: About,
    all: ByTransport,
    by_namespace: Vec<(String, ByTransport)>,
}

/// A document for each transport, because some routes do not exist over all of them.
#[derive(Default)]
struct ByTransport {
    plain: OnceLock<Document>,
    localhost: OnceLock<Document>,
    tls: OnceLock<Document>,
}

impl ByTransport {
    fn of(&self, transport: Transport) -> &OnceLock<Document> {
        match transport {
            Transport::Plain => &self.plain,
            Transport::Localhost => &self.localhost,
            Transport::Tls => &self.tls,
        }
    }
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
            all: ByTransport::default(),
            by_namespace: svc_openapi::namespaces(server)
                .into_iter()
                .map(|name| (name, ByTransport::default()))
                .collect(),
        }
    }

    /// The document of a namespace, or of all, for clients with the context's transport; `None` if the namespace is unknown.
    fn get(&self, cx: &Context, server: &Server, namespace: Option<&str>) -> Option<Document> {
        let cells = match namespace {
            None => &self.all,
            Some(wanted) => self.by_namespace.iter().find(|(name, _)| name == wanted).map(|(_, cell)| cell)?,
        };
        let transport = cx.transport();
        let cell = cells.of(transport);
        if let Some(known) = cell.get() {
            return Some(known.clone());
        }
        // Not while the cell is locked: reads of this request may wait for a connection that the next one holds.
        let about = About { transport: Some(transport), ..self.about.clone() };
        let document = Document::of(&svc_openapi::document(cx, server, &about, namespace));
        Some(cell.get_or_init(|| document).clone())
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
    About {
        title: "REST API".to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        session_cookie,
        transport: None,
    }
}

/// The route of the document. It is in front of the REST API, which does not list it.
pub(super) fn router(rest: &Rest, lanes: &PageLanes) -> Router {
    let server = rest.server(&Context::background());
    let path = format!("{}/{}/{FILE}", server.site_path(), server.url_prefix());
    lanes.wrap(Router::new().route(&path, get(serve)).with_state(rest.clone()), |_| Cost::Light)
}

async fn serve(State(rest): State<Rest>, request: Request) -> Response {
    let (parts, _) = request.into_parts();
    let (cx, query, headers) = (context_of(&parts.extensions), parts.uri.query(), &parts.headers);
    let params = svc_php::query::parse(query.unwrap_or_default().as_bytes());
    let namespace = params.get("namespace").and_then(serde_json::Value::as_str).map(|name| name.trim_matches('/'));
    let found = rest
        .with_documents(&cx, |documents, server| documents.get(&cx, server, namespace.filter(|name| !name.is_empty())));
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
