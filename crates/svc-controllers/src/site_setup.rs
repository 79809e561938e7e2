//! A site before it is served.

use std::{
    ops::{Deref, DerefMut},
    path::Path,
    sync::Arc,
};

use svc_auth::Keys;
use svc_brand::Brand;
use svc_render::{
    SiteRenderer,
    icons::Icons,
    widgets::{WidgetTypes, builtin_types},
};
use svc_site::{Clock, Site};
use svc_store::Store;

use crate::{
    RestSite, abilities, fonts,
    item_cache::ItemCache,
    registries::{abilities::Abilities, font_collections::FontCollection, settings::RegisteredSetting},
    site_settings,
};

/// A site during start-up, when types, settings and other registrations can be added. It dereferences to the [`Site`].
pub struct SiteSetup {
    site: Site,
    /// The icons that blocks render and editors offer.
    pub icons: Icons,
    /// The widget types.
    pub widgets: WidgetTypes,
    /// The abilities that clients can run.
    pub abilities: Abilities,
    /// The font collections.
    pub font_collections: Vec<FontCollection>,
    /// The settings that the REST API serves.
    pub registered_settings: Vec<RegisteredSetting>,
}

impl SiteSetup {
    /// A site on this store with the core post types, taxonomies and statuses.
    pub fn new(store: Store, brand: Brand, content_dir: &Path) -> Self {
        SiteSetup {
            site: Site::new(store, brand, content_dir),
            icons: Icons::default(),
            widgets: builtin_types(),
            abilities: abilities::core::abilities(),
            font_collections: fonts::core_collections(),
            registered_settings: site_settings::core(),
        }
    }

    /// Sets the clock.
    pub fn with_clock(mut self, clock: Clock) -> Self {
        self.site = self.site.with_clock(clock);
        self
    }

    /// Signs nonces with these keys.
    pub fn with_keys(mut self, keys: Keys) -> Self {
        self.site = self.site.with_keys(keys);
        self
    }

    /// Serves the site at this URL (without a trailing slash), instead of the URL in its options.
    pub fn at(mut self, url: &str) -> Self {
        self.site = self.site.with_url(url);
        self
    }

    /// Freezes the registrations.
    pub fn finish(mut self) -> Arc<RestSite> {
        self.site.register_builtin_meta();
        // As in WordPress, the settings of extensions come before the core settings.
        let core = site_settings::core_options();
        let is_core = |setting: &RegisteredSetting| core.iter().any(|[option, _]| *option == setting.option);
        self.registered_settings.sort_by_key(is_core);
        Arc::new(RestSite {
            renderer: Arc::new(SiteRenderer::new(Arc::new(self.site), self.icons, self.widgets)),
            abilities: self.abilities,
            font_collections: self.font_collections,
            registered_settings: self.registered_settings,
            item_cache: ItemCache::default(),
        })
    }
}

impl Deref for SiteSetup {
    type Target = Site;

    fn deref(&self) -> &Site {
        &self.site
    }
}

impl DerefMut for SiteSetup {
    fn deref_mut(&mut self) -> &mut Site {
        &mut self.site
    }
}
