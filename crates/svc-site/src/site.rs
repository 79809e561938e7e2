//! The site: its data, what is registered on it, and how the two are read together.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
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
use svc_store::{Db, Store, StoredText, Tx, options, request_cache};
use tokio::sync::{Notify, Semaphore};

use crate::{
    ActiveTheme, Extension, HttpClient, MetaField, MetaRegistry, Settings, SiteError, SiteResult, avatars,
    block_types::ActiveBlockTypes, media::upload_store::IMAGES_AT_A_TIME, patterns::registry::PatternRegistry,
    theme::ThemeCache, urls::Urls, users::preferences::preferences, widgets::sidebar::Sidebar,
};

/// The present moment in UTC; tests bring their own.
pub type Clock = fn() -> NaiveDateTime;

/// A site that is open: what its controllers share. Cheap to clone behind its `Arc`.
pub struct Site {
    /// Its data.
    pub store: Store,
    /// Names that carry the brand.
    pub brand: Brand,
    /// Registered post types.
    pub types: PostTypes,
    /// Registered taxonomies.
    pub taxonomies: Taxonomies,
    /// Registered post statuses.
    pub statuses: PostStatuses,
    /// Registered meta.
    pub meta: MetaRegistry,
    /// Registered block types; those that plugins and the theme bring come beside them.
    pub blocks: BlockTypes,
    /// Where the theme shows menus: name and what people call it.
    pub menu_locations: IndexMap<String, String>,
    /// Where widgets stand, by name.
    pub sidebars: IndexMap<String, Sidebar>,
    /// What it is used for: `production`, `staging`, `development` or `local`.
    pub environment: &'static str,
    /// Changes to generated addresses and routes.
    pub url_hooks: svc_discovery::Hooks,
    /// Folder with uploads, themes and plugins.
    pub content_dir: PathBuf,
    /// Patterns and their categories, beside those of the active theme.
    pub patterns: PatternRegistry,
    /// What code says of the active theme (`custom-logo`, `post-formats` …), over what every theme supports.
    pub theme_supports: Map<String, Value>,
    /// The theme that draws pages when the active one cannot: the folder around its folder, and its name.
    pub spare_theme: Option<(PathBuf, String)>,
    /// Widths in pixels of the avatars whose addresses the interface gives.
    pub avatar_sizes: Vec<u32>,
    /// Whether guests may comment through the interface, on sites that do not ask for registration.
    pub guests_may_comment: bool,
    /// Where uploaded files are kept: the folder `uploads` of the content folder, unless set to another store.
    pub uploads: Storage,
    /// Further sizes in which images are kept, or others in place of the usual ones.
    pub image_sizes: Vec<RegisteredSize>,
    /// Bounds the images that are worked on at a time.
    pub image_work: Arc<Semaphore>,
    /// How many revisions of a post are kept; `None` keeps all, zero none.
    pub revisions_kept: Option<u64>,
    /// Told whenever a post is scheduled, so that whoever publishes them learns of an earlier time.
    pub scheduled: Notify,
    keys: Option<Keys>,
    /// Requests to others.
    pub http_client: HttpClient,
    /// Address of a directory of plugins, without a slash at its end.
    pub directory: Option<String>,
    /// What is compiled in and can be switched on.
    pub extensions: Vec<Arc<dyn Extension>>,
    clock: Clock,
    /// What the options were understood as, beside the options as they were read.
    settings: ArcSwapOption<(Arc<options::Options>, Arc<Settings>)>,
    /// The settings of the latest state of the store that was seen.
    last_settings: ArcSwapOption<(i64, Arc<Settings>)>,
    address: Option<String>,
    theme: ThemeCache,
    spare: ThemeCache,
    pub known_blocks: ArcSwapOption<ActiveBlockTypes>,
}

impl Site {
    /// A site on this store with the types, taxonomies and statuses that every site has.
    pub fn new(store: Store, brand: Brand, content_dir: &Path) -> Self {
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
            url_hooks: svc_discovery::Hooks::default(),
            content_dir: content_dir.to_owned(),
            patterns: PatternRegistry::default(),
            theme_supports: Map::new(),
            avatar_sizes: avatars::SIZES.to_vec(),
            guests_may_comment: false,
            uploads: Storage::folder(&content_dir.join("uploads")),
            image_sizes: Vec::new(),
            image_work: Arc::new(Semaphore::new(IMAGES_AT_A_TIME)),
            revisions_kept: None,
            scheduled: Notify::new(),
            keys: None,
            http_client: HttpClient::default(),
            directory: None,
            extensions: Vec::new(),
            clock: || Utc::now().naive_utc(),
            settings: ArcSwapOption::empty(),
            last_settings: ArcSwapOption::empty(),
            address: None,
            theme: ThemeCache::default(),
            spare: ThemeCache::default(),
            spare_theme: None,
            known_blocks: ArcSwapOption::empty(),
        }
    }

    /// Sets the clock.
    pub fn with_clock(mut self, clock: Clock) -> Self {
        self.clock = clock;
        self
    }

    /// Signs nonces with these keys.
    pub fn with_keys(mut self, keys: Keys) -> Self {
        self.keys = Some(keys);
        self
    }

    /// A hash that only this site makes, of data that clients send back unchanged (`wp_hash`); empty on a site without keys.
    pub fn hash(&self, data: &[u8]) -> String {
        self.keys.as_ref().map(|keys| keys.hash(data, Scheme::Auth, Algorithm::Md5)).unwrap_or_default()
    }

    /// A nonce for an action of a user in the session of this token; empty on a site without keys.
    pub fn nonce(&self, user: UserId, token: &str, action: &str) -> String {
        let Some(keys) = &self.keys else { return String::new() };
        let tick = nonce::tick(self.now().and_utc().timestamp(), nonce::LIFETIME);
        nonce::create(keys, tick, action, nonce::NonceSubject { user, token }).expose().to_owned()
    }

    /// Serves the site at this address (without a slash at its end), whatever address its options hold.
    pub fn at(mut self, address: &str) -> Self {
        self.address = Some(address.to_owned());
        self
    }

    /// Registers what every site has once its post types are known: how patterns are kept in sync, the meta that the core blocks keep, for
    /// every type whose posts have blocks, meta and revisions, that of notes, and what the editor remembers of its users.
    pub fn finish(&mut self) {
        let noted: Vec<String> = self
            .types
            .iter()
            .filter(|t| t.show_in_rest && ["editor", "custom-fields", "revisions"].iter().all(|f| t.supports(f)))
            .map(|t| t.name.clone())
            .collect();
        let sync = MetaField::new("wp_pattern_sync_status", "string");
        self.meta.register("post", "wp_block", sync.schema(serde_json::json!({"enum": ["partial", "unsynced"]})));
        for post_type in noted {
            self.meta.register("post", &post_type, MetaField::new("footnotes", "string").with_revisions());
        }
        match self.store.read(|db| Ok(db.prefix().to_owned())) {
            Ok(prefix) => self.meta.register("user", "", preferences(&prefix)),
            Err(error) => tracing::error!(%error, "the store cannot be read: no preferences of users"),
        }
        self.meta.register("comment", "", crate::comments::notes::note_status());
    }

    /// Adds a sidebar, or replaces the one of the same name.
    pub fn register_sidebar(&mut self, sidebar: Sidebar) {
        self.sidebars.insert(sidebar.id().to_owned(), sidebar);
    }

    /// The present moment in UTC.
    pub fn now(&self) -> NaiveDateTime {
        (self.clock)()
    }

    /// Reads: all queries of `f` see one state of the database.
    ///
    /// # Errors
    /// Those of `f`; a failure of the store as 500 or 503 without its detail.
    pub fn read<T>(&self, f: impl FnOnce(&mut Db) -> SiteResult<T>) -> Result<T, Error> {
        self.store.read_or(f).map_err(Error::from)
    }

    /// Writes: all of `f` happens, durably, or none of it. `f` may run more than once.
    ///
    /// # Errors
    /// Those of `f`; a failure of the store as 500 or 503 without its detail.
    pub async fn write<T: Send + 'static>(
        &self,
        f: impl Fn(&mut Tx) -> SiteResult<T> + Send + 'static,
    ) -> Result<T, Error> {
        self.store.write_or::<T, SiteError>(f).await.map_err(Error::from)
    }

    /// The site's options, understood, as of this snapshot. Parsed once per change of the options.
    ///
    /// # Errors
    /// Those of the store.
    pub fn settings_in(&self, db: &mut Db) -> SiteResult<Arc<Settings>> {
        let options = options::autoloaded(db)?;
        if let Some(known) = &*self.settings.load()
            && Arc::ptr_eq(&known.0, &options)
        {
            return Ok(Arc::clone(&known.1));
        }
        let in_force = match &self.address {
            Some(address) => {
                let mut changed = options::Options::clone(&options);
                for name in ["home", "siteurl"] {
                    changed.insert(name.to_owned(), StoredText::of(address));
                }
                Arc::new(changed)
            }
            None => Arc::clone(&options),
        };
        let urls = Urls::new(&in_force, &self.brand, &self.types, &self.taxonomies, &self.url_hooks);
        let settings = Arc::new(Settings::new(in_force, urls));
        self.settings.store(Some(Arc::new((options, Arc::clone(&settings)))));
        Ok(settings)
    }

    /// [`Self::settings_in`] a snapshot of its own, or as they are known to be without one; read once for a request.
    ///
    /// # Errors
    /// Those of the store.
    pub fn settings(&self) -> Result<Arc<Settings>, Error> {
        request_cache::get_or_load(self, || self.settings_now())
    }

    fn settings_now(&self) -> Result<Arc<Settings>, Error> {
        let Some(state) = self.store.state() else { return self.read(|db| self.settings_in(db)) };
        if let Some(known) = &*self.last_settings.load()
            && known.0 == state
        {
            return Ok(Arc::clone(&known.1));
        }
        let settings = self.read(|db| self.settings_in(db))?;
        self.last_settings.store(Some(Arc::new((state, Arc::clone(&settings)))));
        Ok(settings)
    }

    /// Route of a type's collection: `/svc/v2/posts`.
    pub fn route_of_type(&self, post_type: &PostType) -> String {
        format!("/{}/{}", self.brand.namespace(), post_type.rest_base)
    }

    /// Route of a taxonomy's collection: `/svc/v2/categories`.
    pub fn route_of_taxonomy(&self, taxonomy: &Taxonomy) -> String {
        format!("/{}/{}", self.brand.namespace(), taxonomy.rest_base)
    }

    /// Statuses that a request may give a post: all but those of the machinery.
    pub fn writable_statuses(&self) -> Vec<String> {
        self.statuses.iter().filter(|s| !s.internal).map(|s| s.name.clone()).collect()
    }

    /// What the active theme says. Read from disk once, and again when its files change.
    pub fn theme(&self, settings: &Settings) -> Arc<ActiveTheme> {
        self.theme.get(&self.themes_dir(), settings.option("stylesheet"), &settings.themes_url())
    }

    /// The theme that pages are drawn by: the active one, or the one that stands in when that is not made of blocks.
    pub fn page_theme(&self, settings: &Settings) -> Arc<ActiveTheme> {
        let active = self.theme(settings);
        match &self.spare_theme {
            Some((themes, name)) if !active.is_block_theme() => self.spare.get(themes, name, &settings.themes_url()),
            _ => active,
        }
    }

    /// The folder of themes.
    pub fn themes_dir(&self) -> PathBuf {
        self.content_dir.join("themes")
    }
}
