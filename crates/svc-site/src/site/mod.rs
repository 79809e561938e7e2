//! The site: its data, its registrations, and transactions on them.

mod block_types;
pub mod extensions;
mod scheduled;

use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use arc_swap::ArcSwapOption;
use chrono::{NaiveDateTime, Utc};
use indexmap::IndexMap;
use serde_json::{Map, Value};
use svc_auth::{Keys, Scheme, keys::Algorithm, nonce};
use svc_brand::Brand;
use svc_content::blocks::BlockTypes;
use svc_media::{RegisteredSize, Storage};
use svc_model::{PostStatuses, PostType, PostTypes, Taxonomies, Taxonomy, UserId};
use svc_schema::Error;
use svc_store::{Db, Store, StoredText, Tx, get_or_load, options};
use svc_versions::{ByTls, Context, Transport, VersionedCache};
use tokio::sync::Semaphore;

pub use self::scheduled::Scheduled;
use self::{
    block_types::ActiveBlockTypes,
    extensions::{ACTIVE_EXTENSIONS, Extension},
};
use crate::{
    Settings, SiteError, SiteResult,
    http_client::HttpClient,
    outage,
    preconditions::Pending,
    registries::{builtin_meta, meta::MetaRegistry, patterns::PatternRegistry, sidebars::Sidebar},
    settings::urls::Urls,
    theme::{ActiveTheme, ThemeCache},
};

/// Maximum number of images processed at a time; each may take several hundred megabytes of memory.
const MAX_IMAGES_IN_PROGRESS: usize = 2;

/// Capacity of the cache of settings, which has one entry, in bytes.
const SETTINGS_CAPACITY: u64 = 1 << 16;

/// Returns the current time in UTC; tests set their own.
pub type Clock = fn() -> NaiveDateTime;

/// An open site, shared by all controllers in an `Arc`.
pub struct Site {
    /// The database.
    pub store: Store,
    /// Names derived from the brand.
    pub brand: Brand,
    /// Registered post types.
    pub types: PostTypes,
    /// Registered taxonomies.
    pub taxonomies: Taxonomies,
    /// Registered post statuses.
    pub statuses: PostStatuses,
    /// Registered meta.
    pub meta: MetaRegistry,
    /// Registered block types, without those of plugins and the theme.
    pub blocks: BlockTypes,
    /// Menu locations of the theme: name and label.
    pub menu_locations: IndexMap<String, String>,
    /// Registered sidebars by id.
    pub sidebars: IndexMap<String, Sidebar>,
    /// Environment type: `production`, `staging`, `development` or `local`.
    pub environment: &'static str,
    /// Hooks that change generated URLs and routes. Those of active extensions are added to them.
    pub url_hooks: svc_permalinks::UrlHooks,
    /// Folder with uploads, themes and plugins.
    pub content_dir: PathBuf,
    /// Registered patterns and pattern categories, without those of the active theme.
    pub patterns: PatternRegistry,
    /// Theme features set in code (`custom-logo`, `post-formats` …), in addition to those that every theme supports.
    pub theme_supports: Map<String, Value>,
    /// The theme that renders pages if the active theme cannot: its parent folder and its name.
    pub fallback_theme: Option<(PathBuf, String)>,
    /// Whether guests may comment over the REST API, on sites that do not require registration.
    pub guests_may_comment: bool,
    /// Storage of uploaded files: the folder `uploads` of the content folder unless configured otherwise.
    pub uploads: Storage,
    /// Additional image sizes, and replacements of the default ones.
    pub image_sizes: Vec<RegisteredSize>,
    /// Limits the number of images processed at a time.
    pub image_work: Arc<Semaphore>,
    /// Maximum number of revisions per post; `None` for no limit, zero for no revisions.
    pub max_revisions: Option<u64>,
    /// Whether changes to existing objects require a precondition, such as `If-Match`.
    pub require_preconditions: bool,
    /// Notified when a post is scheduled, so that the scheduler checks for an earlier due time.
    pub scheduled: Scheduled,
    keys: Option<Keys>,
    /// The HTTP client for outgoing requests.
    pub http_client: HttpClient,
    /// URL of the plugin directory, without a trailing slash.
    pub directory: Option<String>,
    /// Compiled-in extensions that can be activated.
    pub extensions: Vec<Arc<dyn Extension>>,
    clock: Clock,
    /// The options as read, with the settings parsed from them.
    settings: ByTls<ArcSwapOption<(Arc<options::Options>, Arc<Settings>)>>,
    /// The settings that were read last.
    last_settings: VersionedCache<(), Arc<Settings>>,
    url: Option<String>,
    theme: ThemeCache,
    fallback_cache: ThemeCache,
    /// Block types of the active plugins and theme.
    pub(crate) active_block_types: ArcSwapOption<ActiveBlockTypes>,
}

impl Site {
    /// A site with the built-in types, taxonomies and statuses.
    pub fn new(store: Store, brand: Brand, content_dir: &Path) -> Self {
        let scheduled = Scheduled::default();
        store.subscribe(Arc::new(scheduled.clone()));
        Site {
            store,
            brand,
            types: PostTypes::default(),
            taxonomies: Taxonomies::default(),
            statuses: PostStatuses::default(),
            meta: MetaRegistry::default(),
            blocks: BlockTypes::default(),
            menu_locations: IndexMap::new(),
            sidebars: IndexMap::new(),
            environment: "production",
            url_hooks: svc_permalinks::UrlHooks::default(),
            content_dir: content_dir.to_owned(),
            patterns: PatternRegistry::default(),
            theme_supports: Map::new(),
            guests_may_comment: false,
            uploads: Storage::folder(&content_dir.join("uploads")),
            image_sizes: Vec::new(),
            image_work: Arc::new(Semaphore::new(MAX_IMAGES_IN_PROGRESS)),
            max_revisions: None,
            require_preconditions: false,
            scheduled,
            keys: None,
            http_client: HttpClient::default(),
            directory: None,
            extensions: Vec::new(),
            clock: || Utc::now().naive_utc(),
            settings: ByTls::default(),
            last_settings: VersionedCache::new(SETTINGS_CAPACITY),
            url: None,
            theme: ThemeCache::default(),
            fallback_cache: ThemeCache::default(),
            fallback_theme: None,
            active_block_types: ArcSwapOption::empty(),
        }
    }

    /// Sets the clock.
    pub fn with_clock(mut self, clock: Clock) -> Self {
        self.clock = clock;
        self
    }

    /// Sets the keys that sign nonces.
    pub fn with_keys(mut self, keys: Keys) -> Self {
        self.keys = Some(keys);
        self
    }

    /// A keyed hash of data that clients send back unchanged (`wp_hash`); empty on a site without keys.
    pub fn hash(&self, data: &[u8]) -> String {
        self.keys.as_ref().map(|keys| keys.hash(data, Scheme::Auth, Algorithm::Md5)).unwrap_or_default()
    }

    /// A nonce for an action of a user in the session with this token; empty on a site without keys.
    pub fn nonce(&self, cx: &Context, user: UserId, token: &str, action: &str) -> String {
        let Some(keys) = &self.keys else { return String::new() };
        let tick = nonce::tick(self.now(cx).and_utc().timestamp(), nonce::LIFETIME);
        nonce::create(keys, tick, action, nonce::NonceSubject { user, token }).expose().to_owned()
    }

    /// Serves the site at this URL (without a trailing slash), regardless of its options.
    pub fn with_url(mut self, url: &str) -> Self {
        self.url = Some(url.to_owned());
        self
    }

    /// Registers what depends on the post types: the sync status of patterns, the meta of core blocks for all types
    /// with editor, meta and revisions, the meta of notes, and the editor preferences of users.
    pub fn register_builtin_meta(&mut self) {
        let types_with_footnotes: Vec<String> = self
            .types
            .iter()
            .filter(|t| t.show_in_rest && ["editor", "custom-fields", "revisions"].iter().all(|f| t.supports(f)))
            .map(|t| t.name.clone())
            .collect();
        self.meta.register("post", "wp_block", builtin_meta::pattern_sync_status());
        for post_type in types_with_footnotes {
            self.meta.register("post", &post_type, builtin_meta::footnotes());
        }
        match self.store.read_blocking(|db| Ok(db.prefix().to_owned())) {
            Ok(prefix) => self.meta.register("user", "", builtin_meta::editor_preferences(&prefix)),
            Err(error) => tracing::error!(%error, "cannot read the store: editor preferences are not registered"),
        }
        self.meta.register("comment", "", builtin_meta::note_status());
    }

    /// Registers a sidebar; replaces one with the same id.
    pub fn register_sidebar(&mut self, sidebar: Sidebar) {
        self.sidebars.insert(sidebar.id().to_owned(), sidebar);
    }

    /// Current time in UTC. Values that depend on it are cached for a second at most.
    pub fn now(&self, cx: &Context) -> NaiveDateTime {
        cx.expires_in(Duration::from_secs(1));
        (self.clock)()
    }

    /// Current time in UTC, for writes, and for callers that limit the lifetime of what depends on it themselves.
    pub fn clock(&self) -> NaiveDateTime {
        (self.clock)()
    }

    /// Runs a read: all queries of `f` see the same snapshot of the database.
    ///
    /// # Errors
    /// Errors of `f`; errors of the store as 500 or 503 without details.
    pub fn read<T>(&self, cx: &Context, f: impl FnOnce(&mut Db) -> SiteResult<T>) -> Result<T, Error> {
        let read = self.store.read_or(cx, f);
        if read.is_ok() {
            outage::read_succeeded();
        }
        read.map_err(Error::from)
    }

    /// Runs a transaction: either all changes of `f` are durably stored, or none. `f` may run more than once. The first
    /// transaction of a request begins with checking its [preconditions](mod@crate::preconditions).
    ///
    /// # Errors
    /// Errors of `f`; preconditions that are false or missing; errors of the store as 500 or 503 without details.
    pub async fn write<T: Send + 'static>(
        &self,
        cx: &Context,
        f: impl Fn(&mut Tx) -> SiteResult<T> + Send + 'static,
    ) -> Result<T, Error> {
        let Some(pending) = cx.get::<Pending>().filter(|pending| !pending.is_settled()) else {
            let value = self.store.write_or::<T, SiteError>(cx, f).await?;
            outage::write_succeeded();
            return Ok(value);
        };
        let checked = Arc::clone(&pending);
        let value = self.store.write_or::<T, SiteError>(cx, move |tx| checked.guard(tx, &f)).await?;
        pending.settle();
        outage::write_succeeded();
        Ok(value)
    }

    /// The site's settings in this snapshot, with the URLs for requests with its transport. Parsed once per change of the
    /// options.
    ///
    /// # Errors
    /// Errors of the store.
    pub fn settings_in(&self, db: &mut Db) -> SiteResult<Arc<Settings>> {
        let options = options::autoloaded(db)?;
        let transport = db.cx().transport();
        let slot = self.settings.of(transport);
        if let Some(known) = &*slot.load()
            && Arc::ptr_eq(&known.0, &options)
        {
            return Ok(Arc::clone(&known.1));
        }
        let effective = match &self.url {
            Some(url) => {
                let mut changed = options::Options::clone(&options);
                for name in ["home", "siteurl"] {
                    changed.insert(name.to_owned(), StoredText::of(url));
                }
                Arc::new(changed)
            }
            None => Arc::clone(&options),
        };
        let mut hooks = self.url_hooks.clone();
        for extension in self.extensions_in(effective.get(ACTIVE_EXTENSIONS)) {
            extension.filters(&mut hooks);
        }
        let urls = Urls::new(&effective, &self.brand, &self.types, &self.taxonomies, &hooks);
        let urls = if transport.is_tls() { urls.over_tls() } else { urls };
        let settings = Arc::new(Settings::new(effective, urls));
        slot.store(Some(Arc::new((options, Arc::clone(&settings)))));
        Ok(settings)
    }

    /// The current settings, read once per request. Opens a snapshot if the cached settings are not current.
    ///
    /// # Errors
    /// Errors of the store.
    pub fn settings(&self, cx: &Context) -> Result<Arc<Settings>, Error> {
        get_or_load(cx, (), || self.settings_now(cx))
    }

    /// The settings that registrations of routes use: those that were read last for requests without TLS. A registration
    /// may run during a request, which holds a connection, so it reads settings itself only if nothing has read any.
    ///
    /// # Errors
    /// If settings must be read, and cannot be.
    pub fn registration_settings(&self) -> Result<Arc<Settings>, Error> {
        match &*self.settings.of(Transport::Plain).load() {
            Some(read) => Ok(Arc::clone(&read.1)),
            None => self.settings(&Context::background()),
        }
    }

    fn settings_now(&self, cx: &Context) -> Result<Arc<Settings>, Error> {
        let Some(stamp) = self.store.stamp(cx) else { return self.read(cx, |db| self.settings_in(db)) };
        if let Some(settings) = self.last_settings.get(cx, self.store.versions(), &(), stamp) {
            return Ok(settings);
        }
        let (settings, dependencies) = cx.capture(|| self.read(cx, |db| self.settings_in(db)));
        let settings = settings?;
        self.last_settings.insert(cx.transport(), (), Arc::clone(&settings), 0, dependencies, stamp);
        Ok(settings)
    }

    /// Whether application passwords are available to requests with this transport: over TLS, or on a developer's machine.
    /// Source: `wp_is_application_passwords_supported`.
    pub fn has_application_passwords(&self, transport: Transport) -> bool {
        transport.is_tls() || self.environment == "local"
    }

    /// REST route of a type's collection: `/svc/v2/posts`.
    pub fn route_of_type(&self, post_type: &PostType) -> String {
        format!("/{}/{}", self.brand.namespace(), post_type.rest_base)
    }

    /// REST route of a taxonomy's collection: `/svc/v2/categories`.
    pub fn route_of_taxonomy(&self, taxonomy: &Taxonomy) -> String {
        format!("/{}/{}", self.brand.namespace(), taxonomy.rest_base)
    }

    /// Statuses that a request may set: all but the internal ones.
    pub fn writable_statuses(&self) -> Vec<String> {
        self.statuses.iter().filter(|s| !s.internal).map(|s| s.name.clone()).collect()
    }

    /// The active theme. Cached until its files change.
    pub fn theme(&self, cx: &Context, settings: &Settings) -> Arc<ActiveTheme> {
        self.theme.get(
            cx,
            &self.themes_dir(),
            settings.option("stylesheet"),
            &settings.themes_url(),
            self.store.versions(),
        )
    }

    /// The theme that renders pages: the active theme, or the fallback if that is not a block theme.
    pub fn page_theme(&self, cx: &Context, settings: &Settings) -> Arc<ActiveTheme> {
        let active = self.theme(cx, settings);
        match &self.fallback_theme {
            Some((themes, name)) if !active.is_block_theme() => {
                self.fallback_cache.get(cx, themes, name, &settings.themes_url(), self.store.versions())
            }
            _ => active,
        }
    }

    /// Checks whether the files of the theme have changed, and invalidates what depends on them. While this is called at
    /// least every few seconds, values that depend on the theme are cached until it changes. It reads the metadata of some
    /// files.
    ///
    /// # Errors
    /// Errors of the store.
    pub fn watch_theme(&self, cx: &Context) -> Result<(), Error> {
        let settings = self.settings(cx)?;
        self.theme.watch();
        self.fallback_cache.watch();
        self.page_theme(cx, &settings);
        Ok(())
    }

    /// The themes folder.
    pub fn themes_dir(&self) -> PathBuf {
        self.content_dir.join("themes")
    }
}
