//! Opens the site of a configuration: its database, its setup and registrations, and the parts that serve it.

use std::{fs::File, path::Path, sync::Arc};

use chrono::Utc;
use svc_auth::{Keys, Scheme};
use svc_controllers::{RestSetup, RestSite};
use svc_events::{EventStreams, Hub};
use svc_http::{CacheTags, Lanes, Origins, Runner, ServerSource, SharedCaching};
use svc_listen::Compression;
use svc_login::{Attempts, Identities, LoginPages, SiteAuthenticator};
use svc_mail::Mailer;
use svc_media::Storage;
use svc_new_site::{Created, NewSite, active_theme, theme};
use svc_pages::{PageCache, SiteTexts};
use svc_site::{Clock, HttpClient, Site, image_variants::ImageVariants};
use svc_store::{DatabaseUrl, Store, StoreConfig, login_attempts};
use svc_versions::Context;

use super::{
    OpenSite, SiteBuilder,
    rest::{Rest, RestOptions},
};
use crate::{
    config::{Config, Environment, KEY_FILE, SiteUrl, UploadsUse},
    data_folder,
    error::{Error, Result},
    upgrade_copy,
};

/// Folder in the data folder with a file for each upload in progress.
pub(crate) const UPLOADS_JOURNAL: &str = "uploads-in-progress";

/// Folder of images on demand in the data folder.
const IMAGE_CACHE: &str = "image-cache";

/// A database with a site.
struct SiteDatabase {
    store: Store,
    /// The administrator's name and password, if they have not been shown yet.
    created: Option<Created>,
    /// Whether the site was created earlier.
    had_site: bool,
    /// Locks the data folder until the site is open.
    _turn: Option<File>,
}

impl SiteBuilder {
    /// Opens the site. `url` is that of a new site; if it `follows`, the site has this URL until its URL is changed.
    pub(super) fn open_at(&self, config: &Config, url: &SiteUrl, follows: bool) -> Result<OpenSite> {
        let url = config.site_url.as_ref().unwrap_or(url);
        let clock = self.clock.unwrap_or(|| Utc::now().naive_utc());
        let database = open_database(config, url, follows, clock)?;
        let keys = complete_keys(config, &database)?;
        let site_url = match (&config.site_url, follows) {
            (None, true) if config.wp_config.is_none() => {
                svc_new_site::follows(&database.store, url.as_str())?.then(|| url.clone())
            }
            (set, _) => set.clone(),
        };
        let mut setup = prepare_site(config, &database.store, site_url)?;
        (setup.site.keys, setup.site.clock) = (Some(keys.clone()), clock);
        let rest_site = self.build_site(config, setup)?;
        self.serve_parts(config, rest_site, keys, database.created)
    }

    /// Adds the registrations of the configuration and of the program, and builds the site.
    fn build_site(&self, config: &Config, mut setup: RestSetup) -> Result<Arc<RestSite>> {
        config.registered.register(&mut setup);
        for prepare in &self.prepare {
            prepare(&mut setup);
        }
        let rest_site = setup.build().map_err(Error::store("cannot read the database"))?;
        rest_site.renderer.render_cache.set_capacity(config.caches.texts);
        rest_site.item_cache.set_capacity(config.caches.items);
        Ok(rest_site)
    }

    /// The REST API, the pages and the log-in pages of the site.
    fn serve_parts(
        &self,
        config: &Config,
        rest_site: Arc<RestSite>,
        keys: Keys,
        created: Option<Created>,
    ) -> Result<OpenSite> {
        let (site, renderer) = (Arc::clone(&rest_site.site), Arc::clone(&rest_site.renderer));
        let (home, installed_at) = site_urls(&site)?;
        let local = config.environment_for(&home) == Environment::Local;
        let explorer =
            config.explorer.unwrap_or(local).then(|| format!("{}/{}-explorer/", home.path(), site.brand.word()));
        let roles = two_factor_roles(config, &site)?;
        let identities = Arc::new(Identities::new(Arc::clone(&site), keys).with_two_factor_roles(roles));
        let attempts = Arc::new(attempts(&site.store));
        let options = RestOptions { debug: config.debug, append_root_link: config.append_root_link };
        let rest = Rest::build(Arc::clone(&rest_site), self.register.clone(), options)?;
        let lanes = Arc::new(Lanes::start().map_err(Error::io("cannot start threads"))?);
        let authenticator =
            SiteAuthenticator::new(Arc::clone(&identities), Arc::clone(&attempts), config.wrong_application_password);
        let limits = svc_http::RequestLimits {
            body: usize::try_from(config.limits.body).unwrap_or(usize::MAX),
            values: config.json_values,
            cached_responses: config.caches.responses,
            ..svc_http::RequestLimits::default()
        };
        let runner = Arc::clone(&lanes) as Arc<dyn Runner>;
        let caching = shared_caching(config, &site);
        let origins = config.cors_origins.clone().map_or_else(Origins::default, Origins::only);
        let service = rest.service(limits, Arc::new(authenticator), runner, caching.clone(), origins);
        let streams = EventStreams::new(Hub::new(svc_controllers::events::source(&rest_site)), config.subscribers);
        let dispatch = rest.clone();
        let login_pages = Arc::new(LoginPages {
            identities,
            attempts,
            server: Box::new(move |transport| ServerSource::current(&dispatch, transport)),
            local,
            explorer: explorer.clone(),
            admin: config.admin,
        });
        Ok(OpenSite {
            streams,
            rest,
            service,
            login_pages,
            history: Arc::new(svc_metrics::History::new(svc_monitoring::SERIES)),
            lanes,
            compression: Compression::new(config.caches.compressed),
            pages: Arc::new(
                PageCache::new(&site, config.caches.html).shared(SharedCaching { max_age: None, ..caching }),
            ),
            texts: self.texts.clone().unwrap_or_else(|| Arc::new(SiteTexts(renderer))),
            site,
            rest_site,
            home,
            installed_at,
            explorer,
            created,
            is_draining: Arc::default(),
            config: config.clone(),
        })
    }
}

/// The counters of log-in attempts, which other servers on the database know of, too.
fn attempts(store: &Store) -> Attempts {
    match login_attempts::create_table(store) {
        Ok(true) => Attempts::default().shared(),
        Ok(false) => Attempts::default(),
        Err(error) => {
            tracing::warn!(%error, "each server limits log-in attempts by itself: cannot create the table that they share");
            Attempts::default()
        }
    }
}

/// Opens the database, and creates a site in it if it has none. `url` is that of a new site.
///
/// # Errors
/// If it cannot be opened, or if it is that of a WordPress and has no site.
fn open_database(config: &Config, url: &SiteUrl, follows: bool, clock: Clock) -> Result<SiteDatabase> {
    // A database server that cannot be reached leaves no folder behind.
    let reached = if is_in_file(config)? { None } else { Some(open_store(config)?) };
    data_folder::create(&config.data)?;
    let turn = data_folder::lock(&config.data);
    let store = reached.map_or_else(|| open_store(config), Ok)?;
    let had_site = svc_new_site::has_site(&store)?;
    let created = match (had_site, &config.wp_config) {
        (true, _) => svc_new_site::not_shown(&config.data, &store)?,
        (false, None) => {
            // Everything that may fail comes before the site is created.
            theme::write(&config.content_dir.join(active_theme::FOLDER))?;
            if let Some(name) = &config.theme {
                active_theme::require(&config.content_dir, name)?;
            }
            let (url, host) = (url.as_str().to_owned(), url.host().to_owned());
            NewSite { url, host, follows, now: clock().and_utc() }.create(&config.data, &store)?
        }
        // No site is created in the database of a WordPress.
        (false, Some(file)) => return Err(no_site(file, &config.table_prefix)),
    };
    Ok(SiteDatabase { store, created, had_site, _turn: turn })
}

/// The keys of the configuration, the site's options or the key file, which is written if keys are missing.
fn complete_keys(config: &Config, database: &SiteDatabase) -> Result<Keys> {
    let names: Vec<&str> = Scheme::ALL.into_iter().flat_map(Scheme::setting_names).collect();
    let secrets = database.store.read_blocking(|db| svc_store::options::get_many(db, &names));
    let secrets = secrets.map_err(Error::store("cannot read the site's options"))?;
    let had_keys = config.data.join(KEY_FILE).exists();
    let keys = config.keys.complete(&config.data, |name| secrets.get(name).map(|stored| stored.text().to_owned()))?;
    if database.had_site && !had_keys && config.data.join(KEY_FILE).exists() {
        tracing::warn!("created new secrets in {KEY_FILE}: users who were logged in must log in again");
    }
    Ok(keys)
}

/// The setup of the site as the configuration describes it, without its registrations. `site_url` replaces the stored URL.
fn prepare_site(config: &Config, store: &Store, site_url: Option<SiteUrl>) -> Result<RestSetup> {
    let mut setup = RestSetup::new(store.clone(), config.brand.clone(), &config.content_dir);
    let site = &mut setup.site;
    site.url = site_url.as_ref().map(|url| url.as_str().to_owned());
    // Read directly, since the site's settings depend on the types that are registered later.
    let stored = store.read_blocking(|db| svc_store::options::get(db, "home"));
    let stored = stored.map_err(Error::store("cannot read the site's options"))?;
    if let Ok(home) = site_url.map_or_else(|| stored.unwrap_or_default().text().parse(), Ok) {
        site.environment = config.environment_for(&home).name();
    }
    // The journal of uploads belongs to this server, even if the files are in a bucket.
    site.services.uploads = uploads(config)?.with_journal(&config.data.join(UPLOADS_JOURNAL));
    if let Some(images) = &config.images {
        let folder = config.data.join(IMAGE_CACHE);
        site.services.image_variants = Some(ImageVariants::new(&folder, images.cache_bytes, images.listed.clone()));
    }
    site.services.http_client = HttpClient::new(config.outgoing.guard());
    if let Some(mail) = &config.mail {
        let mailer = Mailer::new(mail).map_err(|error| Error::Refused(error.to_string()))?;
        store.create_own_table(&svc_outbox::TABLE).map_err(Error::store("cannot create the table of mails"))?;
        site.services.mailer = Some(mailer);
    }
    site.services.plugin_directory = config.directory.as_ref().map(|url| url.as_str().to_owned());
    site.services.preview_url.clone_from(&config.preview_url);
    site.policies.max_revisions = config.revisions;
    site.policies.require_preconditions = config.require_preconditions;
    site.policies.users = config.users;
    site.policies.languages = config.languages;
    site.policies.public_menus.clone_from(&config.public_menus);
    site.policies.max_batch = Some(config.batch_requests);
    site.policies.public_settings.clone_from(&config.public_settings);
    if let Some(name) = &config.theme {
        active_theme::activate(&config.content_dir, store, name)?;
    }
    // Outside of the site's themes, which it may share with a WordPress.
    let spare = config.data.join("themes");
    match theme::write(&spare) {
        Ok(()) => site.fallback_theme = Some((spare, theme::NAME.to_owned())),
        Err(error) => tracing::warn!(%error, "cannot write the fallback theme"),
    }
    Ok(setup)
}

/// What caches in front of the server may do.
fn shared_caching(config: &Config, site: &Site) -> SharedCaching {
    let names = svc_events::purge::tag_names(site);
    let tags = config.cache_tags.clone().map(|header| CacheTags {
        separator: if header.as_str().contains("cache-tag") { "," } else { " " },
        header,
        tags_of: Arc::new(move |dependencies| names.of_response(dependencies)),
    });
    SharedCaching {
        max_age: config.api_max_age,
        shared_max_age: config.shared_max_age,
        stale_while_revalidate: config.stale_while_revalidate,
        tags,
    }
}

/// The roles of the setting `two_factor_roles`. Unknown ones are logged: they may be added later.
fn two_factor_roles(config: &Config, site: &Site) -> Result<Vec<String>> {
    let required = config.two_factor_roles.clone();
    if required.is_empty() {
        return Ok(required);
    }
    let prefix = site.store.read_blocking(|db| Ok(db.prefix().to_owned()));
    let prefix = prefix.map_err(Error::store("cannot read the database"))?;
    let settings = site
        .settings(&Context::background())
        .map_err(|e| Error::Refused(format!("the site's options: {}", e.message())))?;
    for role in required.iter().filter(|role| settings.roles(&prefix).get(role).is_none()) {
        tracing::warn!(role, "two_factor_roles: the site has no such role");
    }
    Ok(required)
}

/// The site's public URL, and the path of its log-in page, from its options.
fn site_urls(site: &Site) -> Result<(SiteUrl, String)> {
    let settings = site
        .settings(&Context::background())
        .map_err(|e| Error::Refused(format!("the site's options: {}", e.message())))?;
    let read = |name: &str| -> Result<SiteUrl> {
        let stored = settings.option(name);
        stored.parse().map_err(|why| Error::Refused(format!("the stored URL `{stored}` of the site {why}")))
    };
    Ok((read("home")?, read("siteurl")?.path().to_owned()))
}

fn no_site(file: &Path, prefix: &str) -> Error {
    Error::Refused(format!("{}: the database holds no site whose tables begin with `{prefix}`", file.display()))
}

/// The storage of uploads: a folder, a bucket, or both.
///
/// # Errors
/// If the description of the bucket is invalid.
fn uploads(config: &Config) -> Result<Storage> {
    let folder = || uploads_folder(config);
    Ok(match config.uploads.places {
        UploadsUse::Folder => folder(),
        UploadsUse::Bucket => uploads_bucket(config)?,
        UploadsUse::FolderThenBucket => folder().with_other(uploads_bucket(config)?),
        UploadsUse::BucketThenFolder => uploads_bucket(config)?.with_other(folder()),
    })
}

/// The folder of uploads, also if it is not in use.
pub(crate) fn uploads_folder(config: &Config) -> Storage {
    Storage::folder(&config.content_dir.join("uploads"))
}

/// The bucket of uploads, also if it is not in use.
///
/// # Errors
/// If none is set, or its description is invalid.
#[cfg(feature = "s3")]
pub(crate) fn uploads_bucket(config: &Config) -> Result<Storage> {
    let bucket = config.uploads.bucket.as_ref().ok_or_else(no_bucket)?;
    let bucket = svc_media::Bucket {
        name: bucket.name.clone(),
        endpoint: bucket.endpoint.clone(),
        region: bucket.region.clone(),
        prefix: bucket.prefix.clone(),
        access_key: bucket.access_key.expose().to_owned(),
        secret_key: bucket.secret_key.expose().to_owned(),
    };
    Storage::bucket(&bucket).map_err(|error| Error::Refused(format!("the bucket for uploads: {error}")))
}

/// Always fails: this build has no buckets.
#[cfg(not(feature = "s3"))]
pub(crate) fn uploads_bucket(_: &Config) -> Result<Storage> {
    Err(no_bucket())
}

fn no_bucket() -> Error {
    Error::Refused("there is no bucket for uploads: set `uploads.bucket`".to_owned())
}

/// Opens the store of a site for a command that does not create one: a missing database is an error, and is not created.
///
/// # Errors
/// If there is no site, or the database cannot be opened.
pub(crate) fn open_existing(config: &Config) -> Result<Store> {
    let data = std::path::absolute(&config.data).unwrap_or_else(|_| config.data.clone());
    if let DatabaseUrl::Sqlite(file) = database_url(config)?
        && !file.exists()
    {
        let place = if file.starts_with(&config.data) { &data } else { &file };
        let what = if place.is_file() {
            "it is a file"
        } else {
            "start the server there first, or set `--data` to the site's data folder"
        };
        return Err(Error::Refused(format!("there is no site in {}: {what}", place.display())));
    }
    let store = open_store(config)?;
    if svc_new_site::has_site(&store)? {
        return Ok(store);
    }
    Err(Error::Refused("the database contains no site: start the server first".to_owned()))
}

fn database_url(config: &Config) -> Result<DatabaseUrl> {
    config.database.expose().parse().map_err(Error::store("cannot open the database"))
}

/// Whether the database is a file, and not on a database server.
fn is_in_file(config: &Config) -> Result<bool> {
    Ok(matches!(database_url(config)?, DatabaseUrl::Sqlite(_)))
}

/// Opens the store of a configuration. A database that another version has opened last is first copied ([`upgrade_copy`]).
///
/// # Errors
/// If it cannot be opened or copied.
pub(crate) fn open_store(config: &Config) -> Result<Store> {
    let mut settings = StoreConfig::new(database_url(config)?);
    settings.table_prefix.clone_from(&config.table_prefix);
    settings.staleness = config.staleness;
    settings.change_log = config.change_log;
    settings.replicas =
        config.database_replicas.iter().map(|url| url.expose().replacen("mariadb://", "mysql://", 1)).collect();
    settings.replica_staleness = config.replica_staleness;
    settings.readers = config.readers;
    settings.page_cache = config.caches.pages;
    settings.follow_log = config.backup.to.is_some();
    let open = || Store::open(&settings).map_err(Error::store("cannot open the database"));
    upgrade_copy::open(config, &settings.url, open)
}
