//! Composition: the store, what is registered on the site, authentication, the interface, the pages and the uploads become
//! one server.
//!
//! [`SiteBuilder`] is how a program makes its own site: it registers types, routes, fields and hooks, and either takes the
//! whole command line ([`SiteBuilder::command_line`]) or opens the site itself ([`SiteBuilder::open`]).

mod rest;

use std::{process::ExitCode, sync::Arc};

use axum::{
    Router,
    extract::{Request, State},
    middleware::{Next, from_fn_with_state},
    response::Response,
};
use chrono::Utc;
use rest::Rest;
use svc_auth::Scheme;
use svc_controllers::{RestSite, SiteSetup};
use svc_http::{RestLayer, Uncached};
use svc_login::{Attempts, Identities, LoginPages, SiteAuthenticator};
use svc_pages::{SiteTexts, Texts, uploads};
use svc_render::feeds::{FETCH_HEADER, within_own_fetch};
use svc_routing::{Registry, Server};
use svc_site::{Clock, Extension, HttpClient};
use svc_store::{DatabaseUrl, Store, StoreConfig, request_cache};

use crate::{
    active_theme,
    config::{Config, Environment, SiteUrl},
    error::{Error, Result},
    first_run::{self, Created},
    http_server,
    schedule::Schedule,
    shipped_theme,
};

/// Folder of the data folder with a file for each upload in progress.
const UPLOADS_JOURNAL: &str = "uploads-in-progress";

type Prepare = Arc<dyn Fn(&mut SiteSetup) + Send + Sync>;
type Register = Arc<dyn Fn(&mut Registry, &Arc<RestSite>) + Send + Sync>;

/// What a program registers on its site, beside what every site has.
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
///         .register(|registry, _site| {
///             registry.route("acme/v1", Route::new("/ping").endpoint(get(ping, public))).expect("a namespace and a path");
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
    /// A site with what every site has.
    pub fn new() -> Self {
        Self::default()
    }

    /// Changes the site before it is shared: post types, taxonomies, statuses, meta, changes to addresses.
    #[must_use]
    pub fn prepare(mut self, f: impl Fn(&mut SiteSetup) + Send + Sync + 'static) -> Self {
        self.prepare.push(Arc::new(f));
        self
    }

    /// Registers routes, fields and hooks, after those that every site has. Runs again whenever the interface is built
    /// anew, because a setting that it depends on was changed.
    #[must_use]
    pub fn register(mut self, f: impl Fn(&mut Registry, &Arc<RestSite>) + Send + Sync + 'static) -> Self {
        self.register.push(Arc::new(f));
        self
    }

    /// Brings an extension: it is listed among the plugins, off until an administrator switches it on.
    #[must_use]
    pub fn extension(self, extension: impl Extension) -> Self {
        let extension: Arc<dyn Extension> = Arc::new(extension);
        self.prepare(move |site| site.extensions.push(Arc::clone(&extension)))
    }

    /// Sets how stored texts look on pages.
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

    /// Runs the command of the process's arguments: serve, import, and so on.
    pub fn command_line(self) -> ExitCode {
        crate::cli::main(self)
    }

    /// Opens the site that the configuration names. In an empty database a new one is made, at `address` unless the
    /// configuration has one.
    ///
    /// # Errors
    /// When folder, keys or database cannot be used.
    pub fn open(&self, config: &Config, address: &SiteUrl) -> Result<OpenSite> {
        let address = config.site_url.as_ref().unwrap_or(address);
        let clock = self.clock.unwrap_or(|| Utc::now().naive_utc());
        first_run::folder(&config.data)?;
        let _turn = first_run::turn(&config.data);
        let store = open_store(config)?;
        let created = match (first_run::has_site(&store)?, &config.wp_config) {
            (true, _) => first_run::not_shown(&config.data, &store)?,
            (false, None) => {
                // What can fail, and what the site needs, comes before it.
                shipped_theme::write(&config.content_dir.join(active_theme::FOLDER))?;
                if let Some(name) = &config.theme {
                    active_theme::require(&config.content_dir, name)?;
                }
                first_run::create(&config.data, &store, address, clock().and_utc())?
            }
            // Nothing is made in a database that is somebody else's.
            (false, Some(file)) => return Err(no_site(file, &config.table_prefix)),
        };
        let names: Vec<&str> = Scheme::ALL.into_iter().flat_map(Scheme::setting_names).collect();
        let secrets = store.read(|db| svc_store::options::get_many(db, &names));
        let secrets = secrets.map_err(Error::store("cannot read the site's options"))?;
        let keys =
            config.keys.complete(&config.data, |name| secrets.get(name).map(|stored| stored.text().to_owned()))?;
        let mut site =
            SiteSetup::new(store, config.brand.clone(), &config.content_dir).with_keys(keys.clone()).with_clock(clock);
        if let Some(address) = &config.site_url {
            site = site.at(address.as_str());
        }
        // Not by the site's settings: they are understood with the types that are registered below.
        let stored = site.store.read(|db| svc_store::options::get(db, "home"));
        let stored = stored.map_err(Error::store("cannot read the site's options"))?;
        if let Ok(home) = config.site_url.clone().map_or_else(|| stored.unwrap_or_default().text().parse(), Ok) {
            site.environment = config.environment_for(&home).name();
        }
        #[cfg(feature = "s3")]
        if let Some(bucket) = &config.uploads {
            site.uploads = bucket_storage(bucket)?;
        }
        // The journal of uploads is this server's own, wherever the files are.
        site.uploads = site.uploads.clone().with_journal(&config.data.join(UPLOADS_JOURNAL));
        if let Some(name) = &config.theme {
            active_theme::activate(&config.content_dir, &site.store, name)?;
        }
        // Not among the site's own themes: it may share them with a program that shows them to people.
        let spare = config.data.join("themes");
        match shipped_theme::write(&spare) {
            Ok(()) => site.spare_theme = Some((spare, shipped_theme::NAME.to_owned())),
            Err(error) => tracing::warn!(%error, "no theme stands in for one that cannot draw pages"),
        }
        site.revisions_kept = config.revisions;
        config.registered.on(&mut site);
        site.http_client = HttpClient::new(config.outgoing.guard());
        site.directory = config.directory.as_ref().map(|url| url.as_str().to_owned());
        for prepare in &self.prepare {
            prepare(&mut site);
        }
        let site = site.finish();
        let (home, installed_at) = addresses(&site)?;
        let local = config.environment_for(&home) == Environment::Local;
        let passwords = home.is_tls() || local;
        let identities = Arc::new(Identities::new(Arc::clone(&site), keys));
        let attempts = Arc::new(Attempts::default());
        let rest = Rest::build(Arc::clone(&site), self.register.clone(), config.debug, passwords)?;
        let texts = self.texts.clone().unwrap_or_else(|| Arc::new(SiteTexts(Arc::clone(&site))));
        let login = Arc::new(SiteAuthenticator::new(Arc::clone(&identities), Arc::clone(&attempts), passwords));
        let dispatch = rest.clone();
        let people = LoginPages {
            identities,
            attempts,
            server: Box::new(move || dispatch.server()),
            passwords_available: passwords,
            local,
        };
        Ok(OpenSite {
            site,
            rest,
            login,
            people: Arc::new(people),
            texts,
            home,
            installed_at,
            created,
            config: config.clone(),
        })
    }
}

/// Runs a request with what is cached for its time. For a request that this server has sent itself no feeds are fetched,
/// and its response is not cached.
async fn whole_request(State(site): State<Arc<RestSite>>, mut request: Request, next: Next) -> Response {
    let is_own = request.headers().get(FETCH_HEADER).is_some_and(|value| site.feeds.is_own_fetch(value.as_bytes()));
    if is_own {
        request.extensions_mut().insert(Uncached);
        return within_own_fetch(request_cache::scope(next.run(request))).await;
    }
    request_cache::scope(next.run(request)).await
}

/// The site's public address, and the path under which its log-in page stands, as its options have them.
fn addresses(site: &RestSite) -> Result<(SiteUrl, String)> {
    let settings = site.settings().map_err(|e| Error::Refused(format!("the site's options: {}", e.message())))?;
    let read = |name: &str| -> Result<SiteUrl> {
        let stored = settings.option(name);
        stored.parse().map_err(|why| Error::Refused(format!("the stored address `{stored}` of the site {why}")))
    };
    Ok((read("home")?, read("siteurl")?.path().to_owned()))
}

fn no_site(file: &std::path::Path, prefix: &str) -> Error {
    Error::Refused(format!("{}: the database holds no site whose tables begin with `{prefix}`", file.display()))
}

/// The storage of uploads in a bucket.
///
/// # Errors
/// If the description of the bucket is invalid.
#[cfg(feature = "s3")]
fn bucket_storage(bucket: &crate::config::Bucket) -> Result<svc_media::Storage> {
    let bucket = svc_media::Bucket {
        name: bucket.name.clone(),
        endpoint: bucket.endpoint.clone(),
        region: bucket.region.clone(),
        prefix: bucket.prefix.clone(),
        access_key: bucket.access_key.expose().to_owned(),
        secret_key: bucket.secret_key.expose().to_owned(),
    };
    svc_media::Storage::bucket(&bucket).map_err(|error| Error::Refused(format!("the bucket for uploads: {error}")))
}

/// The store that a configuration names.
///
/// # Errors
/// When it cannot be opened.
pub(crate) fn open_store(config: &Config) -> Result<Store> {
    let opening = || Error::store("cannot open the database");
    let url: DatabaseUrl = config.database.expose().parse().map_err(opening())?;
    let mut settings = StoreConfig::new(url);
    settings.table_prefix.clone_from(&config.table_prefix);
    settings.staleness = config.staleness;
    settings.readers = config.readers;
    Store::open(&settings).map_err(opening())
}

/// A site that is open and can be served.
pub struct OpenSite {
    site: Arc<RestSite>,
    rest: Rest,
    login: Arc<SiteAuthenticator>,
    people: Arc<LoginPages>,
    texts: Arc<dyn Texts>,
    home: SiteUrl,
    /// Path of the log-in page's and the administration area's folder: empty, or `/folder`.
    installed_at: String,
    created: Option<Created>,
    config: Config,
}

impl OpenSite {
    /// What the controllers share.
    pub fn site(&self) -> &Arc<RestSite> {
        &self.site
    }

    /// The interface as it stands now, to dispatch requests in process.
    pub fn server(&self) -> Server {
        self.rest.server()
    }

    /// The site's public address.
    pub fn home(&self) -> &SiteUrl {
        &self.home
    }

    /// The administrator's name and password, when no start has shown them yet. Returned once; call [`Created::shown`] when
    /// the owner has seen them, else the next start returns them again.
    pub fn take_created(&mut self) -> Option<Created> {
        self.created.take()
    }

    /// Starts what goes on without being asked: posts are published when their time comes. It ends when the answer is
    /// dropped. Needs a runtime.
    pub fn start_schedule(&self) -> Schedule {
        Schedule::start(Arc::clone(&self.site))
    }

    /// Everything as one router: interface, uploads, pages, and what surrounds every answer.
    pub fn router(&self) -> Router {
        let limits = svc_http::RequestLimits {
            body: usize::try_from(self.config.limits.body).unwrap_or(usize::MAX),
            values: self.config.limits.values,
            ..svc_http::RequestLimits::default()
        };
        let service = self.rest.service(limits, self.login.clone());
        let pages =
            svc_pages::router(Arc::clone(&self.site), Arc::clone(&self.texts), Arc::clone(&self.people.identities));
        let files = uploads::router(self.home.path(), self.site.uploads.clone(), &self.site.content_dir);
        let accounts = svc_login::router(Arc::clone(&self.people), &self.installed_at);
        let inner = Router::new().merge(files).merge(accounts).fallback_service(pages);
        let with_rest = tower::Layer::layer(&RestLayer::new(service), inner);
        let whole =
            Router::new().fallback_service(with_rest).layer(from_fn_with_state(Arc::clone(&self.site), whole_request));
        http_server::middleware_stack(whole, &self.config)
    }
}
