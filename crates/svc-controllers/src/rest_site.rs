//! A site with everything that its REST API needs.

use std::{ops::Deref, sync::Arc};

use svc_render::SiteRenderer;

use crate::item_cache::ItemCache;
use crate::registries::{abilities::Abilities, font_collections::FontCollection, settings::RegisteredSetting};

/// A site as its REST API serves it. It dereferences to its [`SiteRenderer`], and that to its [`Site`](svc_site::Site), so that
/// functions take the lowest layer that they need.
pub struct RestSite {
    /// Renders the site.
    pub renderer: Arc<SiteRenderer>,
    /// The abilities that clients can run.
    pub abilities: Abilities,
    /// The font collections.
    pub font_collections: Vec<FontCollection>,
    /// The settings that the REST API serves.
    pub registered_settings: Vec<RegisteredSetting>,
    /// Encoded items and pages of lists.
    pub item_cache: ItemCache,
}

impl Deref for RestSite {
    type Target = SiteRenderer;

    fn deref(&self) -> &SiteRenderer {
        &self.renderer
    }
}
