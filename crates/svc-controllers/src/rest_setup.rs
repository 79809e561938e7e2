//! A site with its REST API before it is built.

use std::{path::Path, sync::Arc};

use svc_brand::Brand;
use svc_render::{
    SiteRenderer,
    icons::Icons,
    widgets::{WidgetTypes, builtin_types},
};
use svc_site::{Registries, SiteSetup};
use svc_store::{Store, StoreError};

use crate::{
    RestSite, abilities, fonts,
    item_cache::ItemCache,
    registries::{abilities::Abilities, font_collections::FontCollection, settings::RegisteredSetting},
    site_settings,
};

/// A site during start-up, when types, settings and other registrations can be added.
pub struct RestSetup {
    /// Where the site's data is, and how it works.
    pub site: SiteSetup,
    /// Types, taxonomies, statuses, meta, blocks and others.
    pub registries: Registries,
    /// The icons that blocks render and editors offer.
    pub icons: Icons,
    /// The widget types.
    pub widgets: WidgetTypes,
    /// The abilities that clients can run.
    pub abilities: Abilities,
    /// The font collections.
    pub font_collections: Vec<FontCollection>,
    /// The settings that the REST API serves. A later one replaces those with the same option or the same name.
    pub registered_settings: Vec<RegisteredSetting>,
}

impl RestSetup {
    /// A site on this store, with the files in this folder and the core registrations.
    pub fn new(store: Store, brand: Brand, content_dir: &Path) -> Self {
        RestSetup {
            site: SiteSetup::new(store, brand, content_dir),
            registries: Registries::default(),
            icons: Icons::default(),
            widgets: builtin_types(),
            abilities: abilities::core::abilities(),
            font_collections: fonts::core_collections(),
            registered_settings: site_settings::core(),
        }
    }

    /// Builds the site. Its registrations cannot be changed afterwards.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn build(mut self) -> Result<Arc<RestSite>, StoreError> {
        // As in WordPress, the settings of extensions come before the core settings.
        let core = site_settings::core_options();
        let is_core = |setting: &RegisteredSetting| core.iter().any(|[option, _]| *option == setting.option);
        self.registered_settings.sort_by_key(is_core);
        let registered_settings = without_replaced(self.registered_settings);
        let site = self.site.build(self.registries)?;
        site.index_meta();
        Ok(Arc::new(RestSite {
            renderer: Arc::new(SiteRenderer::new(Arc::clone(&site), self.icons, self.widgets)),
            site,
            abilities: self.abilities,
            font_collections: self.font_collections,
            registered_settings,
            item_cache: ItemCache::default(),
        }))
    }
}

/// The settings that no later one replaces. A setting that replaces another one has its position.
fn without_replaced(settings: Vec<RegisteredSetting>) -> Vec<RegisteredSetting> {
    let mut all: Vec<RegisteredSetting> = Vec::with_capacity(settings.len());
    for setting in settings {
        let is_same = |other: &RegisteredSetting| other.option == setting.option || other.name == setting.name;
        let position = all.iter().position(is_same).unwrap_or(all.len());
        all.retain(|other| !is_same(other));
        all.insert(position.min(all.len()), setting);
    }
    all
}
