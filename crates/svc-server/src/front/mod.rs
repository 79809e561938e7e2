//! In front of a running WordPress: replays its responses, and forwards everything else to it.

pub(crate) mod doctor;
mod jobs;

use std::{
    net::IpAddr,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use axum::{Router, body::Body, extract::Request, extract::State, response::Response, routing::get};
use http::{HeaderValue, StatusCode, header::HOST};
use svc_bridge::{Bridge, Settings, Sources, Watch, connector::Connector, connector::install, record::Recorder};
use svc_gateway::{Options, Origin, Proxy, ProxyLimits, Site};
use svc_listen::{App, Client, Compression, InFlight, health};
use svc_metrics::RequestCounts;
use svc_monitoring::{Checks, FrontUsage, Metrics, MonitoringListener, PageCounts, Process};
use svc_routing::RouteUrls;
use svc_site::jobs::{JobStates, JobTable};

use crate::{
    config::{Config, SiteUrl, WordPress},
    error::{Error, Result},
    logs::Logs,
    site::open_store,
    tls::CertificateExpiry,
};

/// Maximum size of a stored body, in bytes.
const MAX_BODY: usize = 8 << 20;

/// A server in front of a WordPress.
#[derive(Clone)]
pub(crate) struct Front {
    bridge: Bridge,
    sources: Sources,
    home: SiteUrl,
    config: Config,
    requests: Arc<RequestCounts>,
}

/// The file with what the bridge of a site saves.
pub(crate) fn report_file(config: &Config) -> PathBuf {
    svc_bridge::report_file(&config.data)
}

impl Front {
    /// Opens the WordPress of a configuration.
    ///
    /// # Errors
    /// If its database or the secret of the connector cannot be read.
    pub(crate) fn open(config: &Config, wordpress: &WordPress) -> Result<Self> {
        let database = config.database.expose().parse().map_err(Error::store("cannot open the database"))?;
        let database = svc_store::mysql_options(&database).map_err(Error::store("cannot open the database"))?;
        let store = open_store(config)?;
        let home = match &config.site_url {
            Some(url) => url.clone(),
            None => {
                let home = store.read_blocking(|db| svc_store::options::get(db, "home"));
                let home = home.map_err(Error::store("cannot read the site's options"))?.unwrap_or_default();
                home.text().parse().map_err(|why| Error::Refused(format!("the stored URL of the site {why}")))?
            }
        };
        drop(store);
        let random = |length| svc_auth::random_text(length).map_err(|error| Error::Refused(error.to_string()));
        // Unique for each process, so that a request that comes back is recognized.
        let name = format!("svc-server-{}", random(12)?.expose());
        let limits = ProxyLimits {
            response: wordpress.timeout,
            idle: wordpress.timeout,
            requests: wordpress.connections,
            ..ProxyLimits::default()
        };
        let site = site(config, wordpress, &home)?;
        let proxy = Proxy::new(wordpress.upstream.clone(), name, Options { limits, site });
        let connector = connector(config, wordpress, &proxy, &home)?;
        let settings = Settings {
            urls: RouteUrls::new(home.path(), config.brand.prefix()),
            pages: wordpress.pages,
            age: wordpress.max_age,
            ages: wordpress.route_ages.clone(),
            never: wordpress.php_routes.clone(),
            memory: wordpress.memory,
            checks: wordpress.checks,
            max_body: MAX_BODY,
        };
        let recorder = connector.as_ref().map(|connector| Recorder::new(connector.secret().expose().as_bytes()));
        let bridge = Bridge::new(settings, proxy, recorder, random(32)?.expose().as_bytes());
        let sources = Sources { database, prefix: config.table_prefix.clone(), connector };
        Ok(Front { bridge, sources, home, config: config.clone(), requests: Arc::default() })
    }

    /// The site's public URL.
    pub(crate) fn home(&self) -> &SiteUrl {
        &self.home
    }

    /// The bridge to WordPress.
    pub(crate) fn bridge(&self) -> &Bridge {
        &self.bridge
    }

    /// The connector, if it is installed and used.
    pub(crate) fn connector(&self) -> Option<&Connector> {
        self.sources.connector.as_ref()
    }

    /// Looks for news of writes, as one of the [jobs](Self::jobs). If the site is `served`, it uses files in the data folder: a report for
    /// `doctor`, and stored responses between two processes.
    pub(crate) fn watch(&self, served: bool) -> Arc<Watch> {
        let folder = served.then(|| self.config.data.clone());
        Arc::new(Watch::new(self.bridge.clone(), self.sources.clone(), folder))
    }

    /// The background jobs.
    pub(crate) fn jobs(&self, watch: &Arc<Watch>) -> JobTable {
        jobs::table(watch)
    }

    /// Responds to a request for the site.
    async fn respond(&self, mut request: Request) -> Response {
        // HTTP/1.0 needs no host. WordPress would make links of the upstream's address.
        if !request.headers().contains_key(HOST)
            && request.uri().authority().is_none()
            && let Ok(host) = HeaderValue::from_str(self.home.authority())
        {
            request.headers_mut().insert(HOST, host);
        }
        let origin = match request.extensions().get::<Client>() {
            Some(client) => Origin { address: client.address, tls: client.tls },
            None => Origin { address: IpAddr::from([127, 0, 0, 1]), tls: self.home.is_tls() },
        };
        self.bridge.respond(request.map(svc_gateway::boxed), origin).await.map(Body::new)
    }

    /// Starts the monitoring listener, if there is one.
    pub(crate) async fn start_monitoring(
        &self,
        in_flight: InFlight,
        jobs: JobStates,
        logs: Option<&Logs>,
        certificate: Option<CertificateExpiry>,
    ) -> Result<Option<MonitoringListener>> {
        let Some(address) = &self.config.monitoring else { return Ok(None) };
        let (proxy, runtime) = (self.bridge.proxy().clone(), tokio::runtime::Handle::current());
        let checks = Checks::new(&self.config.data, move || runtime.block_on(is_ready(&proxy)));
        let metrics = Metrics::default()
            .with(Process::new(env!("CARGO_PKG_VERSION"), "wordpress"))
            .with(Arc::clone(&self.requests))
            .with(FrontUsage { in_flight, bridge: self.bridge.clone(), jobs })
            .with(logs.and_then(Logs::span_counts))
            .with(certificate);
        Ok(Some(MonitoringListener::start(address, Arc::new(checks), metrics).await?))
    }

    /// The service of the whole site, with the middleware.
    pub(crate) fn app(&self) -> impl App {
        let proxy = self.bridge.proxy().clone();
        let ready = async |State(proxy): State<Proxy>| match is_ready(&proxy).await {
            Ok(()) => health::response(StatusCode::OK, "ok\n"),
            Err(why) => health::response(StatusCode::SERVICE_UNAVAILABLE, format!("{why}\n")),
        };
        let front = self.clone();
        let router = Router::new()
            .route(health::ALIVE, get(|| async { health::response(StatusCode::OK, "ok\n") }))
            .route(health::READY, get(ready).with_state(proxy))
            .fallback(async move |request: Request| front.respond(request).await);
        let counts =
            PageCounts::new(&self.requests, "wordpress", &[(health::ALIVE, "health"), (health::READY, "health")]);
        let router = counts.wrap(router);
        let mut limits = self.config.limits.clone();
        // Requests wait for a connection, then for the response.
        let timeout = self.config.wordpress.as_ref().map_or(Duration::ZERO, |wordpress| wordpress.timeout);
        limits.request = limits.request.max(timeout * 3);
        let compression = Compression::new(self.config.caches.compressed);
        svc_listen::middleware_stack(router, &limits, self.config.access_log.clone(), compression)
            .count_refused(move |method, status, took| counts.record_other(method, status, took))
            .strict_transport(self.config.hsts)
            .rate_limits(self.config.rate_limits.clone())
    }
}

/// Whether WordPress's web server or php-fpm accepts connections.
async fn is_ready(proxy: &Proxy) -> std::result::Result<(), &'static str> {
    match tokio::time::timeout(health::LIMIT, proxy.connects()).await {
        Ok(true) => Ok(()),
        _ => Err("WordPress does not accept connections"),
    }
}

/// The upstream as its setting has it.
pub(crate) fn upstream_of(wordpress: &WordPress) -> String {
    wordpress.upstream.to_string()
}

/// The files of the site, for php-fpm.
fn site(config: &Config, wordpress: &WordPress, home: &SiteUrl) -> Result<Site> {
    let beside =
        || config.wp_config.as_deref().and_then(Path::parent).and_then(|folder| std::path::absolute(folder).ok());
    let root = wordpress.root.clone().or_else(beside).unwrap_or_default();
    if wordpress.upstream.is_fastcgi() && !(root.is_absolute() && root.join("index.php").is_file()) {
        let root = root.display();
        return Err(Error::Refused(format!(
            "there is no index.php in {root}: set `wordpress.root` to the folder that has it"
        )));
    }
    Ok(Site {
        root,
        path: home.path().to_owned(),
        server_name: home.host().to_owned(),
        folders: wordpress.folders.clone(),
        body: config.limits.body,
    })
}

/// The connector; `None` if it is not installed or not used.
fn connector(config: &Config, wordpress: &WordPress, proxy: &Proxy, home: &SiteUrl) -> Result<Option<Connector>> {
    let Some(wp_config) = config.wp_config.as_ref().filter(|_| wordpress.connector) else { return Ok(None) };
    let path = install::secret_path(wp_config);
    let secret =
        install::read_secret(&path).map_err(Error::io(format!("the connector's secret {}", path.display())))?;
    let Some(secret) = secret else { return Ok(None) };
    let host = HeaderValue::from_str(home.authority())
        .map_err(|_| Error::Refused("the site's URL has no usable host".to_owned()))?;
    Ok(Some(Connector::new(proxy.clone(), secret, host, home.path(), home.is_tls())))
}
