//! A site before it is built: where its data is, and how it works.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use chrono::{NaiveDateTime, Utc};
use svc_auth::{Keys, UserVisibility};
use svc_brand::Brand;
use svc_mail::Mailer;
use svc_media::Storage;
use svc_store::{Store, StoreError};

use crate::{
    http_client::HttpClient,
    image_variants::ImageVariants,
    registries::Registries,
    site::{Extension, Site},
};

/// Returns the current time in UTC; tests set their own.
pub type Clock = fn() -> NaiveDateTime;

/// What a site is built from, together with its [`Registries`]. [`SiteSetup::new`] takes what every site needs, and sets
/// the rest to its default.
pub struct SiteSetup {
    /// The database.
    pub store: Store,
    /// Names derived from the brand.
    pub brand: Brand,
    /// Folder with uploads, themes and plugins.
    pub content_dir: PathBuf,
    /// Serves the site at this URL (without a trailing slash), instead of the URL in its options.
    pub url: Option<String>,
    /// Environment type: `production` (the default), `staging`, `development` or `local`.
    pub environment: &'static str,
    /// The current time.
    pub clock: Clock,
    /// The keys that sign nonces and hashes, which are empty without keys.
    pub keys: Option<Keys>,
    /// The theme that renders pages if the active theme cannot: its parent folder and its name.
    pub fallback_theme: Option<(PathBuf, String)>,
    /// Compiled-in extensions that can be activated.
    pub extensions: Vec<Arc<dyn Extension>>,
    /// What clients may do.
    pub policies: Policies,
    /// What the site uses outside of its database.
    pub services: Services,
}

/// What clients may do, besides the rules of access.
#[derive(Clone, Debug, Default)]
pub struct Policies {
    /// Whether guests may comment over the REST API, on sites that do not require registration.
    pub guests_may_comment: bool,
    /// Maximum number of revisions per post; `None` for no limit, zero for no revisions.
    pub max_revisions: Option<u64>,
    /// Whether changes to existing objects require a precondition, such as `If-Match`.
    pub require_preconditions: bool,
    /// The users that are shown to those who are not logged in.
    pub users: UserVisibility,
    /// The menu locations whose menus everybody may read.
    pub public_menus: Vec<String>,
    /// The names of the settings that everybody may read.
    pub public_settings: Vec<String>,
    /// Whether posts and terms have the languages of the plugin Polylang, if the site has any. [`SiteSetup::new`] sets it.
    pub languages: bool,
    /// Maximum number of requests in a batch, if it is not that of WordPress.
    pub max_batch: Option<usize>,
}

/// What a site uses outside of its database.
pub struct Services {
    /// Storage of uploaded files: the folder `uploads` of the content folder unless configured otherwise.
    pub uploads: Storage,
    /// Images in other sizes and formats; `None` if the site makes none on demand.
    pub image_variants: Option<ImageVariants>,
    /// The HTTP client for outgoing requests.
    pub http_client: HttpClient,
    /// Sends mails; `None` if the site sends none. Then the table of the outbox is not needed either.
    pub mailer: Option<Mailer>,
    /// URL of the plugin directory, without a trailing slash.
    pub plugin_directory: Option<String>,
    /// URL of a front end's page that shows previews, with `{id}`, `{type}` and `{token}` for those of a preview link.
    pub preview_url: Option<String>,
}

impl SiteSetup {
    /// A site on this store, with the files in this folder.
    pub fn new(store: Store, brand: Brand, content_dir: &Path) -> Self {
        SiteSetup {
            store,
            brand,
            content_dir: content_dir.to_owned(),
            url: None,
            environment: "production",
            clock: || Utc::now().naive_utc(),
            keys: None,
            fallback_theme: None,
            extensions: Vec::new(),
            policies: Policies { languages: true, ..Policies::default() },
            services: Services {
                uploads: Storage::folder(&content_dir.join("uploads")),
                image_variants: None,
                http_client: HttpClient::default(),
                mailer: None,
                plugin_directory: None,
                preview_url: None,
            },
        }
    }

    /// Builds the site with these registrations. Nothing of it can be changed afterwards, except its stored data.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn build(self, mut registries: Registries) -> Result<Arc<Site>, StoreError> {
        let prefix = self.store.read_blocking(|db| Ok(db.prefix().to_owned()))?;
        registries.register_builtin_meta(&prefix);
        Ok(Arc::new(Site::new(self, registries)))
    }
}
