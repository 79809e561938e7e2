//! In front of a running WordPress: handles requests whose responses equal those of WordPress, and forwards all others.
//!
//! Only reads of visitors are handled: a request that carries credentials of any kind, valid or not, and a request that may write are
//! WordPress's, since only WordPress knows what its plugins make of them.
//!
//! `request.rs` reads route, names and credentials of a request, `ownership.rs` is the table of routes with reasons, `proof.rs` fills it by
//! comparing both servers (`sides.rs`), `watch.rs` renews it when `facts.rs` change, `shadow.rs` compares handled reads afterwards, and
//! `refuted.rs` has the routes for which that found a difference. `reads.rs` and `described.rs` handle the kinds of requests;
//! `descriptions.rs` caches WordPress's indexes and responses to `OPTIONS`, `texts.rs` knows for which types of posts WordPress renders the texts,
//! and `exposed.rs` finds pages of the upstream that are for local clients only.

mod described;
mod descriptions;
mod exposed;
pub(crate) mod facts;
pub(crate) mod ownership;
pub(crate) mod proof;
mod reads;
mod refuted;
mod request;
mod shadow;
mod sides;
mod texts;
mod watch;

use std::{borrow::Cow, net::IpAddr, sync::Arc, time::Duration};

use arc_swap::ArcSwap;
use axum::{
    body::Body,
    extract::{Request, State},
    middleware::Next,
    response::{IntoResponse as _, Response},
};
use http::{HeaderValue, Method, StatusCode, header::HOST, request::Parts};
use serde_json::{Map, Value};
use svc_controllers::RestSite;
use svc_gateway::{ErrorFormat, Origin, Proxy};
use svc_http::RestService;
use svc_listen::Client;
use svc_routing::Server;

use self::{
    descriptions::Descriptions,
    ownership::Ownership,
    proof::{Proven, Prover},
    request::{ApiRequest, differs_on_purpose, has_credentials, is_read, overrides_method, unknown_name},
    shadow::Shadow,
    sides::Sides,
    texts::PhpTexts,
};
use crate::config::{Reads, Side, SiteUrl, WordPress};

pub use self::watch::Watch;

/// Number of responses whose embedded links are remembered.
const MAX_EMBEDDED: usize = 2_000;

/// The gateway of a site. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Gateway(Arc<Inner>);

struct Inner {
    config: WordPress,
    sides: Sides,
    ownership: ArcSwap<Ownership>,
    shadow: Shadow,
    descriptions: Arc<Descriptions>,
    texts: PhpTexts,
    /// The embedded links of responses, by entity tag.
    embedded: quick_cache::sync::Cache<HeaderValue, reads::Links>,
    /// Host and port of the site's URL, as browsers send it.
    host: String,
    /// Time limit for responses of this server. WordPress has one of its own.
    timeout: Duration,
    nonce_header: String,
}

/// Server that handles a request.
enum Decision {
    /// This server.
    Svc,
    /// WordPress, with the reason.
    Php(Cow<'static, str>),
    /// WordPress, since a shadow comparison has found a difference. Such reads are compared as well.
    Refuted,
    /// WordPress, whose response may be cached.
    Description,
}

impl Gateway {
    /// A gateway for a site whose REST API is `service`.
    pub(crate) fn new(
        config: &WordPress,
        site: Arc<RestSite>,
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
        let texts = PhpTexts::new(Arc::clone(&site));
        let nonce_header = service.server().site().brand.header("Nonce").to_ascii_lowercase();
        Ok(Gateway(Arc::new(Inner {
            sides: Sides { site: Arc::clone(&site), service, proxy, origin },
            ownership: ArcSwap::from_pointee(Ownership::unknown("routes have not been compared yet")),
            shadow: Shadow::new(config.shadow, texts.clone()),
            texts,
            descriptions: Arc::new(Descriptions::new(site)),
            embedded: quick_cache::sync::Cache::new(MAX_EMBEDDED),
            host: home.authority().to_owned(),
            config: config.clone(),
            timeout,
            nonce_header,
        })))
    }

    /// Compares both servers as a visitor and, if given, as a user with this application password, with this many URLs per route. If texts
    /// differ that the connector can render, compares again with them. `progress` is called with the numbers of finished and of known
    /// comparisons.
    ///
    /// # Errors
    /// The reason for which WordPress could not be read.
    pub(crate) async fn prove(
        &self,
        samples: usize,
        user: Option<(&str, &str)>,
        progress: &(dyn Fn(usize, usize) + Sync),
    ) -> Result<Proven, String> {
        let prover = Prover { sides: &self.0.sides, host: &self.0.host, user, samples, progress };
        let proven = prover.run().await?;
        if !self.0.texts.learn_all(&proven.samples) {
            return Ok(proven);
        }
        let proven = prover.run().await?;
        self.0.texts.forget_different(&proven.samples);
        Ok(proven)
    }

    /// Hash of WordPress's descriptions of its routes.
    ///
    /// # Errors
    /// The reason for which they could not be read.
    async fn index_hash(&self) -> Result<u64, String> {
        Prover { sides: &self.0.sides, host: &self.0.host, user: None, samples: 1, progress: &|_, _| {} }
            .index_hash()
            .await
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

    fn forget_texts(&self) {
        self.0.texts.forget();
    }

    fn forget_descriptions(&self) {
        self.0.descriptions.forget();
    }

    /// Hash of the options that may decide what WordPress registers. `None` if the database cannot be read.
    async fn options(&self) -> Option<u64> {
        self.0.descriptions.options().await
    }

    /// Compares the reads of refuted routes whose time has come.
    async fn prove_again(&self) {
        self.0.shadow.prove_again(&self.0.sides).await;
    }

    /// Server that handles a request, as far as its head decides.
    fn decide(&self, request: &ApiRequest, parts: &Parts) -> Decision {
        let php = |reason: &'static str| Decision::Php(Cow::Borrowed(reason));
        if overrides_method(&parts.headers, &request.query) {
            return php("the method is overridden");
        }
        if parts.method == Method::OPTIONS || request.is_index() {
            return Decision::Description;
        }
        if !is_read(&parts.method) {
            return php("a write");
        }
        if has_credentials(&parts.headers, &request.query, &self.0.nonce_header) {
            return php("the request may have an identity in WordPress");
        }
        match self.owns(&request.server, &parts.method, &request.route, &request.query) {
            Ok(()) => Decision::Svc,
            Err(_) if self.is_refuted(request, &parts.method) => Decision::Refuted,
            Err(reason) => Decision::Php(reason),
        }
    }

    /// Whether a shadow comparison has found a difference in a read of this route.
    fn is_refuted(&self, request: &ApiRequest, method: &Method) -> bool {
        let entry = request.server.endpoint_for(method, &request.route).map(|(entry, _)| entry);
        self.0.config.reads == Reads::Proven
            && entry.is_some_and(|entry| self.0.shadow.refuted(entry.pattern()).is_some())
    }

    /// Whether the configuration lets this server handle a route without comparison.
    fn is_configured(&self, method: &Method, route: &str) -> bool {
        let config = &self.0.config;
        !config.php_routes.iter().any(|rule| rule.applies_to(method, route))
            && (config.svc_routes.iter().any(|rule| rule.applies_to(method, route))
                || config.reads == Reads::All(Side::Svc))
    }

    /// Whether this server handles reads of visitors for this route with these parameters in the query.
    ///
    /// # Errors
    /// The reason for which it does not.
    fn owns(
        &self,
        server: &Server,
        method: &Method,
        route: &str,
        query: &Map<String, Value>,
    ) -> Result<(), Cow<'static, str>> {
        let config = &self.0.config;
        if config.php_routes.iter().any(|rule| rule.applies_to(method, route)) {
            return Err("configured (wordpress.php_routes)".into());
        }
        let Some((entry, endpoint)) = server.endpoint_for(method, route) else { return Err("unknown route".into()) };
        if let Some(name) = unknown_name(endpoint, query) {
            return Err(format!("unknown parameter {name}").into());
        }
        if self.is_configured(method, route) {
            return Ok(());
        }
        if differs_on_purpose(route, query) {
            return Err("the servers respond differently (docs/differences.md)".into());
        }
        if config.reads != Reads::Proven {
            return Err("configured".into());
        }
        if let Some(reason) = self.0.shadow.refuted(entry.pattern()) {
            return Err(reason.into());
        }
        self.0.ownership.load().is_proven(entry.pattern()).map_err(|reason| reason.into_owned().into())
    }

    /// Whether this server handles a request that is none for the REST API. Scripts of PHP, such as the log-in page, and the
    /// administration area are WordPress's.
    fn owns_page(&self, parts: &Parts) -> bool {
        let path = parts.uri.path();
        let is_script = path.contains("/wp-admin") || path.ends_with(".php") && !path.ends_with("/index.php");
        self.0.config.pages == Side::Svc
            && is_read(&parts.method)
            && !is_script
            && !has_credentials(&parts.headers, &Map::new(), &self.0.nonce_header)
    }

    /// Pages of the upstream that it shows to everybody, because it takes this server for their client. A few requests are sent.
    pub(crate) async fn exposed_pages(&self) -> Vec<&'static str> {
        exposed::pages(&self.0.sides.proxy, &self.0.host).await
    }

    /// Forwards a request.
    async fn forward(&self, mut request: Request, format: ErrorFormat) -> Response {
        // HTTP/1.0 needs no host. WordPress would make links of the upstream's address.
        if !request.headers().contains_key(HOST)
            && let Ok(host) = HeaderValue::from_str(&self.0.host)
        {
            request.headers_mut().insert(HOST, host);
        }
        let origin = match request.extensions().get::<Client>() {
            Some(client) => Origin { address: client.address, tls: client.tls },
            None => self.0.sides.origin,
        };
        match self.0.sides.proxy.forward(request.map(svc_gateway::boxed), origin).await {
            Ok(response) => response.map(Body::new),
            Err(failure) => failure.response(format).map(Body::new),
        }
    }
}

/// Middleware that divides requests between both servers.
pub(super) async fn divide(State(gateway): State<Gateway>, request: Request, next: Next) -> Response {
    let (parts, body) = request.into_parts();
    let api = ApiRequest::of(gateway.0.sides.service.server(), &parts);
    let decision = api.as_ref().map(|api| gateway.decide(api, &parts));
    let owns_page = api.is_none() && gateway.owns_page(&parts);
    let request = Request::from_parts(parts, body);
    match (api, decision) {
        (Some(api), Some(Decision::Svc)) => gateway.handle_read(api, request).await,
        (Some(api), Some(Decision::Php(reason))) => {
            tracing::debug!(route = api.route, %reason, "forwarded");
            gateway.forward(request, ErrorFormat::Json).await
        }
        (Some(api), Some(Decision::Refuted)) => gateway.handle_refuted(api, request).await,
        (Some(api), Some(Decision::Description)) => gateway.describe(api, request).await,
        _ if !owns_page => gateway.forward(request, ErrorFormat::Html).await,
        _ => match tokio::time::timeout(gateway.0.timeout, next.run(request)).await {
            Ok(response) => response,
            Err(_) => StatusCode::SERVICE_UNAVAILABLE.into_response(),
        },
    }
}
