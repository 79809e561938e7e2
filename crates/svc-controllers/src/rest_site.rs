//! A site with everything that its REST API needs.
//!
//! Three values, each with what its layer adds. None can be changed once it is built.
//!
//! - [`Site`]: the store, the brand, the registries (types, taxonomies, meta, …), policies and services.
//! - [`SiteRenderer`]: a site with icons, widget types and caches of rendered texts.
//! - [`RestSite`]: a renderer with abilities, font collections, settings and the cache of encoded items.
//!
//! A function takes the lowest of the three that it needs, and a controller has the fields that it needs: `site`, and
//! `renderer` or `rest` if it uses more. None of them dereferences to another: what a function gets is what its parameter
//! names. [`SiteSetup`](svc_site::SiteSetup) and [`RestSetup`](crate::RestSetup) are filled during start-up; `build` turns
//! them into a [`Site`] and a [`RestSite`].

use std::sync::Arc;

use svc_render::SiteRenderer;
use svc_site::Site;

use crate::item_cache::ItemCache;
use crate::registries::{abilities::Abilities, font_collections::FontCollection, settings::RegisteredSetting};

/// A site as its REST API serves it.
pub struct RestSite {
    /// The site.
    pub site: Arc<Site>,
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
