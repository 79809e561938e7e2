//! The API explorer: a page that lists the operations of the OpenAPI document and sends requests.
//!
//! Requests are sent with the cookie and a nonce of the visitor's session. The first one, for the user that the page shows,
//! is preloaded: the page has its response. The component is openapi-explorer (Apache-2.0), which is part of the program.

use std::sync::Arc;

use askama::Template;
use axum::{
    Router,
    extract::{Request, State},
    response::{IntoResponse, Redirect, Response},
    routing::get,
};
use http::{HeaderMap, HeaderValue, StatusCode, header};
use svc_http::context_of;
use svc_login::Identities;
use svc_routing::{Method, Server, Transport};
use svc_site::Site;
use svc_versions::Context;

use crate::{
    respond::{Page, add_security_headers},
    visitor::Viewer,
};

/// The component, compressed with gzip.
const COMPONENT: &[u8] = include_bytes!("../explorer/openapi-explorer.min.js.gz");
/// The version of the component.
const VERSION: &str = "2.4.820";
const SCRIPT: &str = include_str!("../explorer/explorer.js");
const STYLE: &str = include_str!("../explorer/explorer.css");

/// The page runs the scripts of this server only, and sends requests to it only. The component sets styles of elements.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; \
                      media-src blob:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// Where the explorer and the API are, as paths of the site's host.
#[derive(Clone, Debug)]
pub struct ExplorerPaths {
    /// The explorer, with a slash at the end.
    pub explorer: String,
    /// The root of the REST API, without a slash at the end.
    pub root: String,
    /// The OpenAPI document.
    pub document: String,
    /// The log-in page.
    pub login: String,
}

/// The REST API for requests with this transport.
pub type ServerOf = Box<dyn Fn(Transport) -> Server + Send + Sync>;

struct Explorer {
    site: Arc<Site>,
    identities: Arc<Identities>,
    paths: ExplorerPaths,
    server: ServerOf,
}

/// The routes of the explorer.
pub fn router(site: Arc<Site>, identities: Arc<Identities>, paths: ExplorerPaths, server: ServerOf) -> Router {
    let base = paths.explorer.clone();
    Router::new()
        .route(base.trim_end_matches('/'), get(to_slash))
        .route(&base, get(page))
        .route(&format!("{base}explorer.js"), get(async || text("text/javascript; charset=UTF-8", SCRIPT)))
        .route(&format!("{base}explorer.css"), get(async || text("text/css; charset=UTF-8", STYLE)))
        .route(&format!("{base}openapi-explorer.js"), get(async || component()))
        .with_state(Arc::new(Explorer { site, identities, paths, server }))
}

#[derive(Template)]
#[template(path = "explorer.html")]
struct ExplorerPage<'a> {
    site_name: &'a str,
    home: String,
    path: &'a str,
    version: &'a str,
    document: &'a str,
    root: &'a str,
    login: String,
    is_user: bool,
    nonce: String,
    nonce_header: String,
    /// Route of the user that requests are sent as, with its query string.
    me: String,
    /// The preloaded responses, as JSON.
    preloaded: String,
}

async fn to_slash(State(explorer): State<Arc<Explorer>>) -> Redirect {
    Redirect::permanent(&explorer.paths.explorer)
}

async fn page(State(explorer): State<Arc<Explorer>>, request: Request) -> Response {
    let page = explorer.page(&context_of(request.extensions()), request.headers()).await.unwrap_or_else(|error| {
        Page::failure(StatusCode::from_u16(error.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR))
    });
    page.into_response(request.headers())
}

impl Explorer {
    /// The page, with a nonce of the visitor's session and the responses that its script needs first.
    async fn page(&self, cx: &Context, headers: &HeaderMap) -> Result<Page, svc_schema::Error> {
        let Explorer { site, identities, paths, server } = self;
        let me = format!("/{}/users/me?context=edit&_fields=name,roles", site.brand.namespace());
        let (viewer, settings) =
            site.read(cx, |db| Ok((Viewer::of(db.cx(), identities, headers)?, site.settings_in(db)?)))?;
        let is_user = viewer.visitor.caller.is_logged_in();
        let (mut nonce, mut preloaded) = (String::new(), svc_routing::Map::new());
        if is_user {
            nonce = identities.nonce(cx, &site.brand.nonce_action(), viewer.nonce_subject());
            let caller = svc_routing::Request::get("/").with_caller(viewer.visitor.caller.clone()).with_cx(cx.clone());
            preloaded = server(cx.transport()).preload(&[(Method::GET, &me)], &caller).await;
        }
        let template = ExplorerPage {
            site_name: settings.option("blogname"),
            home: settings.urls.site.home_url("/"),
            path: &paths.explorer,
            version: VERSION,
            document: &paths.document,
            root: &paths.root,
            login: format!("{}?redirect_to={}", paths.login, svc_php::query::urlencode(&paths.explorer)),
            is_user,
            nonce,
            nonce_header: site.brand.header("Nonce"),
            me,
            preloaded: svc_php::json::compact(&preloaded.into()),
        };
        Ok(Page::html(StatusCode::OK, &template, Vec::new()).with_policy(POLICY.to_owned()).private())
    }
}

/// A small file of the explorer.
fn text(content_type: &'static str, text: &'static str) -> Response {
    let headers = [(header::CONTENT_TYPE, content_type), (header::CACHE_CONTROL, "no-cache")];
    let mut response = (headers, text).into_response();
    add_security_headers(response.headers_mut());
    response
}

/// The component. Its URL has its version, so it never changes. All browsers that can run it accept gzip.
fn component() -> Response {
    let mut response = COMPONENT.into_response();
    let headers = response.headers_mut();
    add_security_headers(headers);
    for (name, value) in [
        (header::CONTENT_TYPE, "text/javascript; charset=UTF-8"),
        (header::CONTENT_ENCODING, "gzip"),
        (header::CACHE_CONTROL, "public, max-age=31536000, immutable"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}
