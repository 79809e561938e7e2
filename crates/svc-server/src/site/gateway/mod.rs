//! In front of a running WordPress: handles requests whose responses equal those of WordPress, and forwards all others.
//!
//! `request.rs` reads route, names and credentials of a request, `ownership.rs` is the table of routes with reasons, `proof.rs` fills it by comparing
//! both servers (`sides.rs`), `watch.rs` renews it when `facts.rs` change, and `shadow.rs` compares handled reads afterwards.

pub(crate) mod facts;
pub(crate) mod ownership;
pub(crate) mod proof;
mod request;
mod shadow;
mod sides;
mod watch;

use std::{borrow::Cow, net::IpAddr, sync::Arc, time::Duration};

use arc_swap::ArcSwap;
use axum::{
    body::{Body, to_bytes},
    extract::{Request, State},
    middleware::Next,
    response::{IntoResponse as _, Response},
};
use bytes::Bytes;
use http::{Method, StatusCode, request::Parts};
use http_body_util::{BodyExt as _, Full};
use serde_json::{Map, Value};
use svc_gateway::{ErrorFormat, Origin, Proxy};
use svc_http::RestService;
use svc_listen::Client;
use svc_routing::Server;

use self::{
    ownership::{Ownership, Viewer},
    proof::{Proven, Prover},
    request::{ApiRequest, BodyKind, batch_parts, overrides_method, unknown_name, viewer},
    shadow::Shadow,
    sides::Sides,
};
use crate::config::{Reads, Side, SiteUrl, WordPress};

pub use self::watch::Watch;

/// Maximum size of a body that is read to find out which server handles it. WordPress handles requests with larger ones.
const INSPECTED: usize = 1 << 20;

/// The route of batches.
const BATCH: &str = "/batch/v1";

/// The gateway of a site. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Gateway(Arc<Inner>);

struct Inner {
    config: WordPress,
    sides: Sides,
    ownership: ArcSwap<Ownership>,
    shadow: Shadow,
    /// Host and port of the site's URL, as browsers send it.
    host: String,
    /// Time limit for responses of this server. WordPress has one of its own.
    timeout: Duration,
    nonce_header: String,
}

/// Server that handles a request.
enum Decision {
    /// This server. The viewer decides what shadow comparisons prove.
    Svc(Viewer),
    /// WordPress, with the reason.
    Php(Cow<'static, str>),
    /// It depends on the parameters in the body.
    Inspect(BodyKind),
}

impl Gateway {
    /// A gateway for a site whose REST API is `service`.
    pub(crate) fn new(
        config: &WordPress,
        service: RestService,
        home: &SiteUrl,
        timeout: Duration,
    ) -> Result<Self, svc_auth::RandomSourceError> {
        // Unique for each process, so that a request that comes back is recognized.
        let name = format!("svc-server-{}", svc_auth::random_text(12)?.expose());
        let limits = svc_gateway::Limits {
            response: config.timeout,
            idle: config.timeout,
            requests: config.connections,
            ..svc_gateway::Limits::default()
        };
        let proxy = Proxy::new(config.upstream.clone(), name, limits);
        let origin = Origin { address: IpAddr::from([127, 0, 0, 1]), tls: home.is_tls() };
        let nonce_header = service.server().site().brand.header("Nonce").to_ascii_lowercase();
        Ok(Gateway(Arc::new(Inner {
            sides: Sides { service, proxy, origin },
            ownership: ArcSwap::from_pointee(Ownership::unknown("routes have not been compared yet")),
            shadow: Shadow::new(config.shadow),
            host: home.authority().to_owned(),
            config: config.clone(),
            timeout,
            nonce_header,
        })))
    }

    /// Compares both servers, with this many URLs per route.
    ///
    /// # Errors
    /// The reason for which WordPress could not be read.
    pub(crate) async fn prove(&self, samples: usize, site_key: Option<(&str, &str)>) -> Result<Proven, String> {
        Prover { sides: &self.0.sides, host: &self.0.host, site_key, samples }.run().await
    }

    /// The configured administrator and their application password.
    pub(crate) fn site_key(&self) -> Option<(&str, &str)> {
        self.0.config.site_key.as_ref().map(|(user, password)| (user.as_str(), password.expose()))
    }

    pub(crate) fn config(&self) -> &WordPress {
        &self.0.config
    }

    fn set(&self, ownership: Arc<Ownership>) {
        self.0.ownership.store(ownership);
    }

    /// Lets WordPress handle all routes that need proof.
    fn suspend(&self, reason: impl Into<Cow<'static, str>>) {
        self.set(Arc::new(Ownership::unknown(reason)));
    }

    fn forget_shadow(&self) {
        self.0.shadow.forget();
    }

    /// Server that handles a request, as far as its head decides.
    fn decide(&self, request: &ApiRequest, parts: &Parts) -> Decision {
        let php = |reason: &'static str| Decision::Php(Cow::Borrowed(reason));
        if parts.method == Method::OPTIONS || request.is_index() {
            return php("descriptions");
        }
        if overrides_method(&parts.headers, &request.query) {
            return php("the method is overridden");
        }
        let Some(viewer) = viewer(&parts.headers, &request.query, &self.0.nonce_header) else {
            return php("unknown credentials");
        };
        let is_read = matches!(parts.method, Method::GET | Method::HEAD);
        if !is_read && request.route == BATCH && self.0.config.writes == Side::Svc {
            return Decision::Inspect(BodyKind::of(&parts.headers));
        }
        if let Err(reason) = self.owns(&request.server, &parts.method, &request.route, &request.query, viewer) {
            return Decision::Php(reason);
        }
        match is_read {
            true => Decision::Svc(viewer),
            false => Decision::Inspect(BodyKind::of(&parts.headers)),
        }
    }

    /// Whether this server handles requests for this route with these parameters in the query.
    ///
    /// # Errors
    /// The reason for which it does not.
    fn owns(
        &self,
        server: &Server,
        method: &Method,
        route: &str,
        query: &Map<String, Value>,
        viewer: Viewer,
    ) -> Result<(), Cow<'static, str>> {
        let config = &self.0.config;
        if config.php_routes.iter().any(|rule| rule.applies_to(method, route)) {
            return Err("configured (wordpress.php_routes)".into());
        }
        let Some((entry, endpoint)) = server.endpoint_for(method, route) else { return Err("unknown route".into()) };
        if let Some(name) = unknown_name(endpoint, query, true) {
            return Err(format!("unknown parameter {name}").into());
        }
        if config.svc_routes.iter().any(|rule| rule.applies_to(method, route)) {
            return Ok(());
        }
        let is_read = matches!(*method, Method::GET | Method::HEAD);
        let ownership = self.0.ownership.load();
        let pattern = entry.pattern();
        match (is_read, config.reads, config.writes) {
            (true, Reads::All(Side::Svc), _) => Ok(()),
            (true, Reads::All(Side::Php), _) | (false, _, Side::Php) => Err("configured".into()),
            (true, Reads::Proven, _) => {
                if let Some(reason) = self.0.shadow.refuted(pattern) {
                    return Err(reason.into());
                }
                ownership.is_proven(pattern, viewer).map_err(|reason| reason.into_owned().into())
            }
            (false, _, Side::Svc) => {
                ownership.is_described(pattern, method).map_err(|reason| reason.into_owned().into())
            }
        }
    }

    /// Whether this server handles a write with this body.
    fn owns_body(&self, request: &ApiRequest, parts: &Parts, params: &Map<String, Value>) -> bool {
        let knows = |method: &Method, route: &str, params: &Map<String, Value>| {
            let endpoint = request.server.endpoint_for(method, route);
            endpoint.is_some_and(|(_, endpoint)| unknown_name(endpoint, params, false).is_none())
        };
        if request.route != BATCH {
            return knows(&parts.method, &request.route, params);
        }
        let viewer = viewer(&parts.headers, &request.query, &self.0.nonce_header);
        let (Some(viewer), Some(requests)) = (viewer, batch_parts(params)) else { return false };
        requests.iter().all(|(method, route, query, body)| {
            self.owns(&request.server, method, route, query, viewer).is_ok() && knows(method, route, body)
        })
    }

    /// Forwards a request.
    async fn forward(&self, request: Request, format: ErrorFormat) -> Response {
        let origin = match request.extensions().get::<Client>() {
            Some(client) => Origin { address: client.address, tls: client.tls },
            None => self.0.sides.origin,
        };
        match self.0.sides.proxy.forward(request.map(svc_gateway::boxed), origin).await {
            Ok(response) => response.map(Body::new),
            Err(failure) => failure.response(format).map(Body::new),
        }
    }

    /// Handles a read. WordPress handles it if this server does not succeed, or would embed something that it does not own.
    async fn handle_read(&self, api: ApiRequest, viewer: Viewer, request: Request) -> Response {
        let (parts, body) = request.into_parts();
        if !http_body::Body::is_end_stream(&body) {
            return self.forward(Request::from_parts(parts, body), ErrorFormat::Json).await;
        }
        let again = parts.clone();
        let respond = self.0.sides.service.respond(api.route.clone(), Request::from_parts(parts, Body::empty()));
        let Ok(response) = tokio::time::timeout(self.0.timeout, respond).await else {
            return StatusCode::SERVICE_UNAVAILABLE.into_response();
        };
        let status = response.status();
        let (head, body) = response.into_parts();
        let body = body.collect().await.map(http_body_util::Collected::to_bytes).unwrap_or_default();
        let embeds = status == StatusCode::OK && api.query.contains_key("_embed") && again.method == Method::GET;
        let is_owned = match status {
            StatusCode::OK => !embeds || self.owns_links(&api, &body, viewer),
            // Limits of this server hold for both.
            StatusCode::NOT_MODIFIED | StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE => true,
            _ => false,
        };
        if !is_owned {
            let response = self.forward(Request::from_parts(again, Body::empty()), ErrorFormat::Json).await;
            let is_away = matches!(
                response.status(),
                StatusCode::BAD_GATEWAY | StatusCode::GATEWAY_TIMEOUT | StatusCode::SERVICE_UNAVAILABLE
            );
            // Without WordPress, an error of this server is more useful than none.
            if !(is_away && status.is_client_error()) {
                return response;
            }
        } else if status == StatusCode::OK && again.method == Method::GET {
            self.0.shadow.observe(&self.0.sides, &api, viewer, &again);
        }
        Response::from_parts(head, Body::new(Full::new(body)))
    }

    /// Whether this server owns all routes whose responses are embedded in a document.
    fn owns_links(&self, api: &ApiRequest, body: &Bytes, viewer: Viewer) -> bool {
        let Ok(document) = serde_json::from_slice::<Value>(body) else { return false };
        let items: Vec<&Value> = match &document {
            Value::Array(list) => list.iter().collect(),
            item => vec![item],
        };
        let links = items.into_iter().filter_map(|item| item["_links"].as_object()).flat_map(Map::values);
        let mut seen = std::collections::HashSet::new();
        links.filter_map(Value::as_array).flatten().filter(|link| link["embeddable"] == true).all(|link| {
            let Some(url) = link["href"].as_str() else { return false };
            let Some((route, query)) = api.server.route_of(url) else { return true };
            let known = api.server.endpoint_for(&Method::GET, &route).map(|(entry, _)| entry.pattern().to_owned());
            // Links to one route that differ in values only need one check.
            let key = (known, query.keys().cloned().collect::<Vec<_>>());
            !seen.insert(key) || self.owns(&api.server, &Method::GET, &route, &query, viewer).is_ok()
        })
    }

    /// Handles a write whose body decides which server handles it.
    async fn handle_write(&self, api: ApiRequest, kind: BodyKind, request: Request) -> Response {
        let (parts, body) = request.into_parts();
        let (read, rest) = match kind {
            BodyKind::File => (Bytes::new(), Some(body)),
            _ => match read_some(body).await {
                Ok(read) => read,
                Err(response) => return response,
            },
        };
        let is_whole = matches!(kind, BodyKind::File) || rest.is_none();
        let is_owned = is_whole && kind.params(&read).is_some_and(|params| self.owns_body(&api, &parts, &params));
        let body = match rest {
            None => Body::from(read),
            Some(rest) => prepend(read, rest),
        };
        let request = Request::from_parts(parts, body);
        if !is_owned {
            return self.forward(request, ErrorFormat::Json).await;
        }
        let respond = self.0.sides.service.respond(api.route, request);
        match tokio::time::timeout(self.0.timeout, respond).await {
            Ok(response) => response.map(Body::new),
            Err(_) => StatusCode::SERVICE_UNAVAILABLE.into_response(),
        }
    }
}

/// Reads a body of at most [`INSPECTED`] bytes. Of a larger one, returns what was read and the rest.
async fn read_some(mut body: Body) -> Result<(Bytes, Option<Body>), Response> {
    if http_body::Body::size_hint(&body).upper().is_some_and(|size| size <= INSPECTED as u64) {
        let read = to_bytes(body, INSPECTED).await;
        return read.map(|bytes| (bytes, None)).map_err(|_| StatusCode::BAD_REQUEST.into_response());
    }
    let mut read = Vec::new();
    while read.len() <= INSPECTED {
        match body.frame().await {
            None => return Ok((read.into(), None)),
            Some(Ok(frame)) => read.extend_from_slice(&frame.into_data().unwrap_or_default()),
            Some(Err(_)) => return Err(StatusCode::PAYLOAD_TOO_LARGE.into_response()),
        }
    }
    Ok((read.into(), Some(body)))
}

/// A body with this beginning.
fn prepend(start: Bytes, rest: Body) -> Body {
    use futures_util::StreamExt as _;
    let start = futures_util::stream::once(std::future::ready(Ok::<_, axum::Error>(start)));
    Body::from_stream(start.chain(rest.into_data_stream()))
}

/// Middleware that divides requests between both servers.
pub(super) async fn divide(State(gateway): State<Gateway>, request: Request, next: Next) -> Response {
    let (parts, body) = request.into_parts();
    let api = ApiRequest::of(gateway.0.sides.service.server(), &parts);
    let decision = api.as_ref().map(|api| gateway.decide(api, &parts));
    let request = Request::from_parts(parts, body);
    match (api, decision) {
        (Some(api), Some(Decision::Svc(viewer))) => gateway.handle_read(api, viewer, request).await,
        (Some(api), Some(Decision::Inspect(kind))) => gateway.handle_write(api, kind, request).await,
        (Some(api), Some(Decision::Php(reason))) => {
            tracing::debug!(route = api.route, %reason, "forwarded");
            gateway.forward(request, ErrorFormat::Json).await
        }
        _ if gateway.0.config.pages == Side::Php => gateway.forward(request, ErrorFormat::Html).await,
        _ => match tokio::time::timeout(gateway.0.timeout, next.run(request)).await {
            Ok(response) => response,
            Err(_) => StatusCode::SERVICE_UNAVAILABLE.into_response(),
        },
    }
}
