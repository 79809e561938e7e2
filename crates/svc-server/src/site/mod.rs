//! Composition of a server from the store, the registrations, the REST API, the pages and the uploads.
//!
//! Programs use [`SiteBuilder`] to register types, routes, fields and hooks, and then either run the command line
//! ([`SiteBuilder::command_line`]) or open the site ([`SiteBuilder::open`]).

mod jobs;
mod open;
mod openapi;
mod profile;
mod rest;

pub(crate) use open::{UPLOADS_JOURNAL, open_existing, open_store, uploads_bucket, uploads_folder};
pub(crate) use openapi::about;

use std::{
    convert::Infallible,
    net::{IpAddr, Ipv4Addr},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use axum::{Router, body::Body, extract::Request, middleware::from_fn_with_state, response::Response};
use futures_util::{FutureExt as _, future::BoxFuture};
use http::HeaderName;
use profile::Profiling;
use rest::Rest;
use svc_admin::Admin;
use svc_controllers::{RestSetup, RestSite, events::changes_route};
use svc_events::{EventStreams, stream};
use svc_http::{Cost, DenialCode, Effort, Lanes, ReportEffort, RestLayer, RestService, Runner, ServerSource, Uncached};
use svc_listen::{
    App, Client, Compression, CompressionUsage, DenialReason, InFlight, RateAdmission, RequestCost, health, network_of,
};
use svc_login::LoginPages;
use svc_metrics::History;
use svc_monitoring::{Checks, Metrics, PageCounts, Process, RecordHistory, SiteUsage};
use svc_new_site::Created;
use svc_packages::block_editor::BlockEditor;
use svc_pages::{AccountLinks, OtherBrands, PageCache, PageLanes, Texts, ToExplorer, explorer::ExplorerPaths, uploads};
use svc_render::{
    SiteRenderer,
    feeds::{FETCH_HEADER, FetchFeeds, OwnFetch},
};
use svc_routing::{Registry, Server, Transport};
use svc_site::{
    Clock, Extension, Site,
    jobs::{JobStates, JobTable, Supervisor},
    transfer::runs::ImportRuns,
};
use svc_store::{SearchIndexConfig, SearchIndexer, Store};
use svc_versions::{Context, Usage};
use tower::ServiceExt as _;

use crate::{
    config::{Config, SiteUrl},
    error::Result,
};

type Prepare = Arc<dyn Fn(&mut RestSetup) + Send + Sync>;
type Register = Arc<dyn Fn(&mut Registry, &Arc<RestSite>) + Send + Sync>;

/// Registers a program's own types, routes and extensions on a site.
///
/// ```no_run
/// use svc_server::{SiteBuilder, routing::{Request, Response, Result, Route, get, public}};
///
/// async fn ping(_: Request) -> Result {
///     Ok(Response::new("pong"))
/// }
///
/// fn main() -> std::process::ExitCode {
///     SiteBuilder::new()
///         .register(|registry, _| {
///             registry.route("acme/v1", Route::new("/ping").endpoint(get(ping, public))).expect("a valid route");
///         })
///         .command_line()
/// }
/// ```
#[derive(Clone, Default)]
pub struct SiteBuilder {
    prepare: Vec<Prepare>,
    register: Vec<Register>,
    texts: Option<Arc<dyn Texts>>,
    clock: Option<Clock>,
}

impl SiteBuilder {
    /// A site with the core registrations only.
    pub fn new() -> Self {
        Self::default()
    }

    /// Changes the site before it is opened: post types, taxonomies, statuses, meta, permalinks.
    #[must_use]
    pub fn prepare(mut self, f: impl Fn(&mut RestSetup) + Send + Sync + 'static) -> Self {
        self.prepare.push(Arc::new(f));
        self
    }

    /// Registers routes, fields and hooks after those of the core. Called again whenever an option changes on which the REST API
    /// depends.
    #[must_use]
    pub fn register(mut self, f: impl Fn(&mut Registry, &Arc<RestSite>) + Send + Sync + 'static) -> Self {
        self.register.push(Arc::new(f));
        self
    }

    /// Adds an extension. It is listed as a plugin, and inactive until an administrator activates it.
    #[must_use]
    pub fn extension(self, extension: impl Extension) -> Self {
        let extension: Arc<dyn Extension> = Arc::new(extension);
        self.prepare(move |setup| setup.site.extensions.push(Arc::clone(&extension)))
    }

    /// Replaces the rendering of stored texts on pages.
    #[must_use]
    pub fn texts(mut self, texts: impl Texts) -> Self {
        self.texts = Some(Arc::new(texts));
        self
    }

    /// Sets the clock of the site: a function that returns the current time in UTC.
    #[must_use]
    pub fn clock(mut self, clock: Clock) -> Self {
        self.clock = Some(clock);
        self
    }

    /// Opens the site of a configuration. An empty database gets a new site with the URL `url`, unless the configuration sets
    /// one.
    ///
    /// # Errors
    /// If the data folder, the keys or the database cannot be used.
    pub fn open(&self, config: &Config, url: &SiteUrl) -> Result<OpenSite> {
        self.open_at(config, url, false)
    }

    /// Opens the site for a server that listens at the URL `listening`. The URL of a site that was created without `site_url`
    /// follows the listening address, until its URL is changed.
    pub(crate) fn open_to_serve(&self, config: &Config, listening: &SiteUrl) -> Result<OpenSite> {
        self.open_at(config, listening, config.site_url.is_none())
    }
}

/// Marks how the client reached the site, and requests that this server has sent itself: these fetch no feeds, and their responses are
/// not cached.
fn mark(renderer: &SiteRenderer, lanes: &dyn Runner, mut request: Request) -> Request {
    if request.extensions().get::<Client>().is_some_and(|client| client.tls) {
        request.extensions_mut().insert(Transport::Tls);
    }
    if request.extensions().get::<RateAdmission>().is_some() {
        request.extensions_mut().insert(ReportEffort);
    }
    const FETCH: HeaderName = HeaderName::from_static(FETCH_HEADER);
    if request.headers().get(FETCH).is_some_and(|value| renderer.feeds.is_own_fetch(value.as_bytes())) {
        let (mut head, body) = request.into_parts();
        let cx = lanes.context(&head, Instant::now()).with(OwnFetch);
        head.extensions.insert(cx);
        head.extensions.insert(Uncached);
        return Request::from_parts(head, body);
    }
    request
}

/// A site that can be served.
pub struct OpenSite {
    site: Arc<Site>,
    rest_site: Arc<RestSite>,
    rest: Rest,
    service: RestService,
    login_pages: Arc<LoginPages>,
    history: Arc<History>,
    lanes: Arc<Lanes>,
    compression: Compression,
    pages: Arc<PageCache>,
    streams: EventStreams,
    texts: Arc<dyn Texts>,
    home: SiteUrl,
    /// Path of WordPress's URL, below which the log-in page is: empty, or `/folder`.
    installed_at: String,
    /// The path of the API explorer, if it is served.
    explorer: Option<String>,
    created: Option<Created>,
    /// Whether the server is stopping.
    is_draining: Arc<AtomicBool>,
    config: Config,
}

impl OpenSite {
    /// The site.
    pub fn site(&self) -> &Arc<Site> {
        &self.site
    }

    /// The current REST API server, to dispatch requests in process.
    pub fn server(&self) -> Server {
        self.rest.server(&Context::background())
    }

    /// The site's public URL.
    pub fn home(&self) -> &SiteUrl {
        &self.home
    }

    /// The URL of the API explorer, if it is served.
    pub fn explorer_url(&self) -> Option<String> {
        self.explorer.as_ref().map(|path| format!("{}{path}", self.origin()))
    }

    /// The URL of the log-in page.
    pub(crate) fn login_url(&self) -> String {
        format!("{}{}/{}", self.origin(), self.installed_at, self.site.brand.login_path())
    }

    /// The URL of the administration area.
    pub(crate) fn admin_url(&self) -> String {
        format!("{}{}/{}/", self.origin(), self.installed_at, self.site.brand.admin_path())
    }

    /// The public URL without its path.
    fn origin(&self) -> &str {
        let home = self.home.as_str();
        home.strip_suffix(self.home.path()).unwrap_or(home)
    }

    /// The path of the REST API, without a slash at the end.
    fn api_path(&self) -> String {
        let server = self.server();
        format!("{}/{}", server.site_path(), server.url_prefix())
    }

    /// The administrator's name and password, if they have not been shown yet. Returned once; call [`Created::shown`] after showing
    /// them, or the next start returns them again.
    pub fn take_created(&mut self) -> Option<Created> {
        self.created.take()
    }

    /// The URL on which the site can be set up in a browser, once and within an hour; `None` if somebody has used its first account.
    pub(crate) fn offer_setup(&self) -> Option<String> {
        match svc_new_site::setup::offer(&self.site.store, self.site.clock().and_utc()) {
            Ok(token) => token.map(|token| format!("{}install.php?key={}", self.admin_url(), token.expose())),
            Err(error) => {
                tracing::warn!(%error, "the site cannot be set up in a browser");
                None
            }
        }
    }

    /// The background jobs of the site, such as publishing scheduled posts.
    pub(crate) fn jobs(&self) -> JobTable {
        let feeds = FetchFeeds(Arc::clone(&self.rest_site.renderer));
        let table = jobs::table(&self.site).with(self.streams.hub().clone()).with(feeds);
        let table = jobs::with_lease(table, &self.site);
        let table = jobs::with_shared_attempts(table, &self.site, &self.login_pages.attempts);
        let table = jobs::with_webhooks(table, svc_controllers::events::source(&self.rest_site));
        jobs::with_purges(table, &self.site, self.config.purge.clone())
    }

    /// Starts the background jobs of the site, such as publishing scheduled posts. They stop when the result is dropped.
    ///
    /// # Panics
    /// Outside of a Tokio runtime.
    pub fn start_jobs(&self) -> Supervisor {
        self.jobs().start()
    }

    /// Starts the background thread that builds the search index and keeps it current. It stops when the result is dropped,
    /// which waits for it.
    pub fn start_search_index(&self) -> Option<SearchIndexer> {
        let store = &self.site.store;
        let min_posts = self.config.search_index_min_posts?;
        let mut settings = SearchIndexConfig::new(self.config.data.join("search"));
        settings.min_posts = min_posts;
        store.start_search_index(settings)
    }

    /// Cancels the requests in progress and waits until they have ended, for at most five seconds. Call this outside of tokio
    /// runtimes.
    pub fn stop_requests(&self) {
        self.lanes.stop();
    }

    /// Makes `/readyz` tell load balancers that the server is stopping.
    pub(crate) fn drain(&self) {
        self.is_draining.store(true, Ordering::Relaxed);
    }

    /// Ends the streams of events, whose clients reconnect.
    pub fn end_streams(&self) {
        self.streams.hub().close();
    }

    /// The pages of the admin, and the router that receives files for them.
    fn admin_routers(&self) -> (Router, Router) {
        if !self.config.admin {
            return (Router::new(), Router::new());
        }
        let imports = ImportRuns::default();
        let admin = || {
            let (pages, limit) = (Arc::clone(&self.login_pages), self.config.limits.body);
            let admin = Admin::new(pages, &self.installed_at, &self.api_path(), limit);
            let block_editor = BlockEditor::new(&self.config.content_dir);
            admin.with_history(Arc::clone(&self.history)).with_imports(imports.clone()).with_block_editor(block_editor)
        };
        let uploads = svc_admin::upload_router(admin(), self.runner());
        let admin = admin();
        let cost = admin.cost();
        (self.page_lanes().wrap(svc_admin::router(admin), cost), uploads)
    }

    fn explorer_router(&self) -> Router {
        let Some(path) = &self.explorer else { return Router::new() };
        let root = self.api_path();
        let paths = ExplorerPaths {
            explorer: path.clone(),
            document: format!("{root}/{}", openapi::FILE),
            login: format!("{}/{}", self.installed_at, self.site.brand.login_path()),
            root,
        };
        let (site, rest) = (Arc::clone(&self.rest_site.renderer.site), self.rest.clone());
        let server = Box::new(move |transport| ServerSource::current(&rest, transport));
        svc_pages::explorer::router(site, Arc::clone(&self.login_pages.identities), paths, server)
    }

    /// Why the site cannot be served, for the monitoring listener.
    pub(crate) fn checks(&self) -> Arc<Checks> {
        let store = self.site.store.clone();
        Arc::new(Checks::new(&self.config.data, move || {
            has_site(&store)?;
            match store.is_read_only() {
                Ok(false) => Ok(()),
                Ok(true) => Err("the database is read-only"),
                Err(_) => Err("the database cannot be read"),
            }
        }))
    }

    /// The numbers of the site's parts.
    pub(crate) fn usage(&self, in_flight: InFlight, jobs: JobStates) -> Arc<SiteUsage> {
        let (rest_site, compression, service, pages) =
            (Arc::clone(&self.rest_site), self.compression.clone(), self.service.clone(), Arc::clone(&self.pages));
        let caches = Box::new(move || {
            let CompressionUsage { entries, hits, misses, bytes } = compression.usage();
            let mut caches = vec![
                ("responses", service.cache_usage()),
                ("pages", pages.usage()),
                ("items", rest_site.item_cache.usage()),
                ("rendered_texts", rest_site.renderer.render_cache.usage()),
                ("compressed", Usage { entries, hits, misses, bytes }),
            ];
            let images = &rest_site.site.services.image_variants;
            caches.extend(images.as_ref().map(|images| ("images", images.usage())));
            caches
        });
        Arc::new(SiteUsage {
            in_flight,
            lanes: Arc::clone(&self.lanes),
            store: self.site.store.clone(),
            jobs,
            http_client: self.site.services.http_client.clone(),
            attempts: Arc::clone(&self.login_pages.attempts),
            caches,
        })
    }

    /// The job that records the site's numbers for its status page.
    pub(crate) fn record_history(&self, usage: &Arc<SiteUsage>) -> RecordHistory {
        let requests = Arc::clone(self.rest.requests());
        RecordHistory::new(Arc::clone(&self.history), requests, Arc::clone(usage), self.checks())
    }

    /// The metrics of the site.
    pub(crate) fn metrics(&self, usage: &Arc<SiteUsage>) -> Metrics {
        let database = if self.config.database.expose().starts_with("sqlite") { "sqlite" } else { "mysql" };
        let process = Process::new(env!("CARGO_PKG_VERSION"), database);
        Metrics::default().with(process).with(Arc::clone(self.rest.requests())).with(Arc::clone(usage))
    }

    /// Numbers of requests for everything but the REST API.
    fn page_counts(&self) -> Arc<PageCounts> {
        let home = self.home.path();
        let (uploads, themes) = (format!("{home}{}/", uploads::PATH), format!("{home}{}/", uploads::THEMES_PATH));
        let brand = &self.site.brand;
        let [login, admin] =
            [brand.login_path(), brand.admin_path()].map(|path| format!("{}/{path}", self.installed_at));
        let api = format!("{}/", self.api_path());
        let mut routes = vec![(&*uploads, "uploads"), (&themes, "themes"), (&login, "login"), (&admin, "admin")];
        routes.extend([(health::ALIVE, "health"), (health::READY, "health"), (&api, "openapi")]);
        routes.extend(self.explorer.as_deref().map(|path| (path, "explorer")));
        PageCounts::new(self.rest.requests(), "page", &routes)
    }

    fn page_lanes(&self) -> PageLanes {
        PageLanes { runner: self.runner(), max_form: svc_admin::MAX_FORM }
    }

    fn runner(&self) -> Arc<dyn Runner> {
        Arc::clone(&self.lanes) as Arc<dyn Runner>
    }

    /// The service of the whole site: REST API, uploads, log-in pages, pages, and the middleware. To add it to a router, use
    /// it as the fallback.
    pub fn app(&self) -> impl App {
        let pages = svc_pages::router(
            Arc::clone(&self.rest_site.renderer),
            Arc::clone(&self.texts),
            Arc::clone(&self.login_pages.identities),
            AccountLinks { admin: self.config.admin, explorer: self.explorer.clone() },
        );
        let files = uploads::router(self.home.path(), self.site.services.uploads.clone(), &self.site.content_dir);
        let accounts = svc_login::router(Arc::clone(&self.login_pages), &self.installed_at);
        let (admin, admin_uploads) = self.admin_routers();
        let lanes = self.page_lanes();
        let in_lanes = Router::new()
            .merge(lanes.wrap(accounts.merge(self.explorer_router()), |_| Cost::Light))
            .merge(admin)
            .fallback_service(lanes.wrap(pages, svc_pages::cost(&self.site)))
            .layer(from_fn_with_state(Arc::clone(&self.pages), svc_pages::respond_cached));
        let counts = self.page_counts();
        let inner = counts.wrap(Router::new().merge(files).merge(admin_uploads).fallback_service(in_lanes));
        let with_rest = tower::Layer::layer(&RestLayer::new(self.service.clone()), inner);
        let store = self.site.store.clone();
        let is_draining = Arc::clone(&self.is_draining);
        let ready = move || match is_draining.load(Ordering::Relaxed) {
            true => Err("the server is stopping"),
            false => has_site(&store),
        };
        let routed = openapi::router(&self.rest, &lanes);
        let routed = counts.wrap(health::router(ready).merge(routed));
        let (renderer, lanes) = (Arc::clone(&self.rest_site.renderer), self.runner());
        let other_brands = Arc::new(OtherBrands::new(&self.site.brand, self.home.path()));
        let document = format!("{}/{}", self.api_path(), openapi::FILE);
        let others = Arc::clone(&counts);
        let explorer = self.explorer.clone().map(|path| ToExplorer::new(self.api_path(), path));
        let to_explorer = explorer.map(Arc::new);
        let profiling = Profiling::new(self.config.slow_request, &self.site.brand);
        let (streams, urls) = (self.streams.clone(), self.server().route_urls().clone());
        let files_at = [uploads::PATH, uploads::THEMES_PATH].map(|path| format!("{}{path}/", self.home.path()));
        // Shared, because each request has a service of its own: it is cloned, and what it contains is not.
        let whole =
            Arc::new(move |request: Request| -> BoxFuture<'static, std::result::Result<Response, Infallible>> {
                let request = mark(&renderer, &*lanes, request);
                let is_priced = request.extensions().get::<ReportEffort>().is_some();
                let path = request.uri().path();
                let redirect = || to_explorer.as_ref().and_then(|explorer| explorer.response(&request));
                if let Some(response) = other_brands.response(path).or_else(redirect) {
                    others.record_other(request.method(), response.status(), Duration::ZERO);
                    return Box::pin(std::future::ready(Ok(response)));
                }
                // A router costs as much as a small cached response, so that most requests pass it by.
                if stream::is_wanted(request.method(), request.headers())
                    && urls.route(path, request.uri().query().unwrap_or_default()) == Some(changes_route())
                {
                    let address = request.extensions().get::<Client>().map(|client| client.address);
                    let network = network_of(address.unwrap_or(IpAddr::V4(Ipv4Addr::LOCALHOST)));
                    let (rest, parts) = (with_rest.clone(), request.into_parts().0);
                    let feed = move |page: http::Request<()>| {
                        rest.clone().oneshot(page.map(|()| Body::empty())).map(|response| match response {
                            Ok(response) => response,
                        })
                    };
                    return Box::pin(streams.clone().respond(network, parts, feed).map(|r| Ok(r.map(Body::new))));
                }
                if path == document.as_str() || health::is_check(path) {
                    Box::pin(routed.clone().oneshot(request))
                } else {
                    let is_file = is_priced && files_at.iter().any(|folder| path.starts_with(folder));
                    let (request, profile) = profiling.begin(&*lanes, request);
                    let response = with_rest.clone().oneshot(request);
                    Box::pin(async move {
                        let mut response = described(response.await?.map(Body::new), is_file);
                        if let Some(profile) = profile {
                            profile.end(&mut response);
                        }
                        Ok(response)
                    })
                }
            });
        svc_listen::middleware_stack(
            tower::service_fn(move |request| whole(request)),
            &self.config.limits,
            self.config.access_log.clone(),
            self.compression.clone(),
        )
        .count_refused(move |method, status, took| counts.record_other(method, status, took))
        .strict_transport(self.config.hsts)
        .rate_limits(self.config.rate_limits.clone())
    }
}

/// Adds why the REST API has denied the request, for the log, and what the request has cost, for the limits on rates.
fn described(mut response: Response, is_file: bool) -> Response {
    let cost = match response.extensions_mut().remove() {
        Some(Effort::Cached) => Some(RequestCost::Cheap),
        Some(Effort::Heavy) => Some(RequestCost::Heavy),
        None => is_file.then_some(RequestCost::Cheap),
    };
    if let Some(cost) = cost {
        response.extensions_mut().insert(cost);
    }
    if let Some(DenialCode(code)) = response.extensions_mut().remove() {
        response.extensions_mut().insert(DenialReason(code.into()));
    }
    response
}

/// Whether the database contains a site, for `/readyz`. Errors are logged by the requests that fail.
fn has_site(store: &Store) -> std::result::Result<(), &'static str> {
    match store.read_blocking(|db| db.table_exists(&format!("{}options", db.prefix()))) {
        Ok(true) => Ok(()),
        Ok(false) => Err("the database contains no site"),
        Err(_) => Err("the database cannot be read"),
    }
}
