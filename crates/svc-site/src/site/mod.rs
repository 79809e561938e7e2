//! The site: its data, its registrations, and transactions on them.

mod block_types;
pub mod extensions;
mod scheduled;
mod setup;

use std::{path::PathBuf, sync::Arc, time::Duration};

use arc_swap::ArcSwapOption;
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use chrono::NaiveDateTime;
use subtle::ConstantTimeEq as _;
use svc_auth::{Keys, Scheme, keys::Algorithm, nonce};
use svc_brand::Brand;
use svc_model::{PostType, Taxonomy, UserId};
use svc_schema::Error;
use svc_store::{Db, Store, StoredText, Tx, get_or_load, meta_indexes, options};
use svc_versions::{Context, Transport, VersionStamp, VersionedCache};
use tokio::sync::Semaphore;

use self::{
    block_types::ActiveBlockTypes,
    extensions::{ACTIVE_EXTENSIONS, Extension},
};
pub use self::{
    scheduled::Scheduled,
    setup::{Clock, Policies, Services, SiteSetup},
};
use crate::{
    Settings, SiteError, SiteResult,
    hashing::PasswordHashing,
    outage,
    preconditions::PendingPreconditions,
    registries::Registries,
    settings::{languages::Languages, urls::Urls},
    theme::{ActiveTheme, ThemeCache},
};

/// Maximum number of images processed at a time; each may take several hundred megabytes of memory.
const MAX_IMAGES_IN_PROGRESS: usize = 2;

/// How long a transaction of several writes may keep the database from other writers.
pub const MAX_TRANSACTION: Duration = Duration::from_secs(5);

/// Capacity of the cache of settings, which has one entry, in bytes.
const SETTINGS_CAPACITY: u64 = 1 << 16;

/// An open site. It cannot be changed: only [`SiteSetup::build`] makes one, and it returns an [`Arc`].
pub struct Site {
    /// The database.
    pub store: Store,
    /// Names derived from the brand.
    pub brand: Brand,
    /// Folder with uploads, themes and plugins.
    pub content_dir: PathBuf,
    /// Environment type: `production`, `staging`, `development` or `local`.
    pub environment: &'static str,
    /// What is registered: types, taxonomies, meta, blocks and others.
    pub registries: Registries,
    /// What clients may do.
    pub policies: Policies,
    /// What the site uses outside of its database.
    pub services: Services,
    /// Compiled-in extensions that can be activated.
    pub extensions: Vec<Arc<dyn Extension>>,
    /// Notified when a post is scheduled, so that the scheduler checks for an earlier due time.
    pub scheduled: Scheduled,
    /// Limits the number of images processed at a time.
    pub image_work: Arc<Semaphore>,
    /// Hashes and verifies passwords.
    pub password_hashing: PasswordHashing,
    url: Option<String>,
    clock: Clock,
    keys: Option<Keys>,
    fallback_theme: Option<(PathBuf, String)>,
    caches: Caches,
}

/// What a site has read and parsed.
struct Caches {
    settings: VersionedCache<(), Arc<Settings>>,
    /// The settings that were parsed last, valid or not.
    last_settings: ArcSwapOption<Settings>,
    theme: ThemeCache,
    fallback_theme: ThemeCache,
    /// Block types of the active plugins and theme.
    active_block_types: ArcSwapOption<ActiveBlockTypes>,
}

impl Default for Caches {
    fn default() -> Self {
        Caches {
            settings: VersionedCache::new(SETTINGS_CAPACITY),
            last_settings: ArcSwapOption::empty(),
            theme: ThemeCache::default(),
            fallback_theme: ThemeCache::default(),
            active_block_types: ArcSwapOption::empty(),
        }
    }
}

impl Site {
    fn new(setup: SiteSetup, registries: Registries) -> Self {
        let SiteSetup { store, brand, content_dir, url, environment, clock, keys, fallback_theme, extensions, .. } =
            setup;
        let scheduled = Scheduled::default();
        store.subscribe(Arc::new(scheduled.clone()));
        Site {
            store,
            brand,
            content_dir,
            environment,
            registries,
            policies: setup.policies,
            services: setup.services,
            extensions,
            scheduled,
            image_work: Arc::new(Semaphore::new(MAX_IMAGES_IN_PROGRESS)),
            password_hashing: PasswordHashing::default(),
            url,
            clock,
            keys,
            fallback_theme,
            caches: Caches::default(),
        }
    }

    /// The keys that sign nonces and hashes.
    pub(crate) fn keys(&self) -> Option<&Keys> {
        self.keys.as_ref()
    }

    /// A keyed hash of data that clients send back unchanged (`wp_hash`); empty on a site without keys.
    pub fn hash(&self, data: &[u8]) -> String {
        self.keys.as_ref().map(|keys| keys.hash(data, Scheme::Auth, Algorithm::Md5)).unwrap_or_default()
    }

    /// A signature of a text that clients send back unchanged; `None` on a site without keys. It holds for this purpose only.
    pub fn sign(&self, purpose: &str, text: &str) -> Option<String> {
        let data = format!("{purpose}\0{text}");
        self.keys.as_ref().map(|keys| keys.hash(data.as_bytes(), Scheme::Auth, Algorithm::Sha256))
    }

    /// Whether the site has signed the text for this purpose.
    pub fn is_signed(&self, purpose: &str, text: &str, signature: &str) -> bool {
        self.sign(purpose, text).is_some_and(|own| own.as_bytes().ct_eq(signature.as_bytes()).into())
    }

    /// Encrypts a text that clients send back unchanged, for this purpose and context. `None` on a site without keys.
    pub fn seal(&self, purpose: &str, context: &str, text: &str) -> Option<String> {
        let sealed = self.keys.as_ref()?.seal(purpose, context.as_bytes(), text.as_bytes())?;
        Some(URL_SAFE_NO_PAD.encode(sealed))
    }

    /// The text that was sealed for this purpose and context; `None` if it was not.
    pub fn open(&self, purpose: &str, context: &str, sealed: &str) -> Option<String> {
        let sealed = URL_SAFE_NO_PAD.decode(sealed).ok()?;
        String::from_utf8(self.keys.as_ref()?.open(purpose, context.as_bytes(), &sealed)?).ok()
    }

    /// Creates the indexes of the meta fields that lists may be filtered by. On a server, logs which index is missing.
    pub fn index_meta(&self) {
        let keys = self.registries.meta.queried_keys();
        match meta_indexes::create(&self.store, &keys) {
            Ok(true) => {}
            Ok(false) => match self.missing_meta_index() {
                Ok(Some(statement)) => tracing::warn!(
                    statement,
                    "lists that are filtered or sorted by meta read all rows of the key; an index of the database is missing"
                ),
                Ok(None) => {}
                Err(error) => tracing::warn!(%error, "cannot look for the index of meta values"),
            },
            Err(error) => {
                tracing::warn!(%error, "cannot create the indexes of meta values; filters by meta will be slow")
            }
        }
    }

    /// The statement that creates the index which lists with filters by meta need, if there are queryable fields and the database
    /// does not have it.
    ///
    /// # Errors
    /// Those of the store.
    pub fn missing_meta_index(&self) -> svc_store::Result<Option<String>> {
        if self.registries.meta.queried_keys().is_empty() {
            return Ok(None);
        }
        self.store.read_blocking(meta_indexes::missing)
    }

    /// A nonce for an action of a user in the session with this token; empty on a site without keys.
    pub fn nonce(&self, cx: &Context, user: UserId, token: &str, action: &str) -> String {
        let Some(keys) = &self.keys else { return String::new() };
        let tick = nonce::tick(self.now(cx).and_utc().timestamp(), nonce::LIFETIME);
        nonce::create(keys, tick, action, nonce::NonceSubject { user, token }).expose().to_owned()
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
        let Some(pending) = cx.get::<PendingPreconditions>().filter(|pending| !pending.is_settled()) else {
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

    /// Runs several reads and writes with this context as one transaction: either all changes are durably stored, or none. Other writers
    /// wait meanwhile, so it ends after [`MAX_TRANSACTION`], and only callers who may write should begin one.
    ///
    /// # Errors
    /// Errors of `work`; errors of the store as 500 or 503 without details.
    pub async fn in_transaction<T>(
        &self,
        cx: &Context,
        work: impl Future<Output = Result<T, Error>>,
    ) -> Result<T, Error> {
        let transaction = self.store.begin(cx, MAX_TRANSACTION).await.map_err(SiteError::from)?;
        match work.await {
            Ok(value) => {
                transaction.commit().await.map_err(SiteError::from)?;
                Ok(value)
            }
            Err(error) => {
                transaction.roll_back().await;
                Err(error)
            }
        }
    }

    /// The current settings, with the URLs for requests with this transport. They are read once per request, and parsed once per
    /// change of the options. Opens a snapshot if the cached settings are not current.
    ///
    /// # Errors
    /// Errors of the store.
    pub fn settings(&self, cx: &Context) -> Result<Arc<Settings>, Error> {
        self.cached_settings(cx, || self.store.stamp(cx), || self.read(cx, |db| self.parse_settings(db)))
    }

    /// The [settings](Self::settings) as this snapshot or transaction sees them.
    ///
    /// # Errors
    /// Errors of the store.
    pub fn settings_in(&self, db: &mut Db) -> SiteResult<Arc<Settings>> {
        let cx = db.cx().clone();
        self.cached_settings(&cx, || cx.stamp(), || self.parse_settings(db))
    }

    /// The settings that were parsed last, for estimates: they may be out of date, and have the URLs of another transport. `None` before
    /// the first request. Neither blocks nor reads.
    pub fn last_settings(&self) -> Option<Arc<Settings>> {
        self.caches.last_settings.load_full()
    }

    /// The settings that the request knows, or the cached ones if they are valid at this stamp, or those that `read` returns.
    fn cached_settings<E>(
        &self,
        cx: &Context,
        stamp: impl FnOnce() -> Option<VersionStamp>,
        read: impl FnOnce() -> Result<Arc<Settings>, E>,
    ) -> Result<Arc<Settings>, E> {
        let read = || {
            let settings = read()?;
            self.caches.last_settings.store(Some(Arc::clone(&settings)));
            Ok(settings)
        };
        get_or_load(cx, (), || {
            let Some(stamp) = stamp() else { return read() };
            if let Some(settings) = self.caches.settings.get(cx, self.store.versions(), &(), stamp) {
                return Ok(settings);
            }
            let (settings, dependencies) = cx.capture(read);
            let settings = settings?;
            self.caches.settings.insert(cx.transport(), (), Arc::clone(&settings), 0, dependencies, stamp);
            Ok(settings)
        })
    }

    fn parse_settings(&self, db: &mut Db) -> SiteResult<Arc<Settings>> {
        let options = options::autoloaded(db)?;
        let transport = db.cx().transport();
        let effective = match &self.url {
            Some(url) => {
                let mut changed = options::Options::clone(&options);
                for name in ["home", "siteurl"] {
                    changed.insert(name.to_owned(), StoredText::of(url));
                }
                Arc::new(changed)
            }
            None => options,
        };
        let mut hooks = self.registries.url_hooks.clone();
        for extension in self.extensions_in(effective.get(ACTIVE_EXTENSIONS)) {
            extension.filters(&mut hooks);
        }
        let urls = Urls::new(&effective, &self.brand, &self.registries.types, &self.registries.taxonomies, &hooks);
        let languages = if self.policies.languages { Languages::load(db, &effective)? } else { None };
        let urls = urls.with_languages(languages.clone());
        let urls = if transport.is_tls() { urls.over_tls() } else { urls };
        Ok(Arc::new(Settings::new(effective, urls).with_languages(languages)))
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
        self.registries.statuses.iter().filter(|s| !s.internal).map(|s| s.name.clone()).collect()
    }

    /// The active theme. Cached until its files change.
    pub fn theme(&self, cx: &Context, settings: &Settings) -> Arc<ActiveTheme> {
        self.caches.theme.get(
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
                self.caches.fallback_theme.get(cx, themes, name, &settings.themes_url(), self.store.versions())
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
        self.caches.theme.watch();
        self.caches.fallback_theme.watch();
        self.page_theme(cx, &settings);
        Ok(())
    }

    /// The themes folder.
    pub fn themes_dir(&self) -> PathBuf {
        self.content_dir.join("themes")
    }
}
