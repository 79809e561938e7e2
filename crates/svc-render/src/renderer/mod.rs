//! A site with its rendering state: registries, caches, and the types that they refer to.

pub(crate) mod feed_cache;
pub mod icons;
pub(crate) mod missing;
pub mod render_cache;
pub(crate) mod viewer;
pub(crate) mod widget_types;

use std::sync::Arc;

use svc_site::Site;

use crate::renderer::{feed_cache::FeedCache, icons::Icons, render_cache::RenderCache, widget_types::WidgetTypes};

/// A site with the registries and caches that rendering needs.
pub struct SiteRenderer {
    /// The site.
    pub site: Arc<Site>,
    /// Registered icons.
    pub icons: Icons,
    /// Registered widget types.
    pub widgets: WidgetTypes,
    /// Cache of external feeds.
    pub feeds: FeedCache,
    /// Cache of rendered contents and excerpts.
    pub render_cache: RenderCache,
}

impl SiteRenderer {
    /// A renderer with these icons and widget types, and empty caches.
    pub fn new(site: Arc<Site>, icons: Icons, widgets: WidgetTypes) -> Self {
        let (feeds, render_cache) = (FeedCache::default(), RenderCache::default());
        SiteRenderer { site, icons, widgets, feeds, render_cache }
    }
}
