//! A site with its rendering state.

use std::{ops::Deref, sync::Arc};

use svc_site::Site;

use crate::{feeds::Feeds, icons::Icons, render_cache::RenderCache, widgets::kind::WidgetTypes};

/// A site with the registries and caches that rendering needs. Dereferences to [`Site`].
pub struct SiteRenderer {
    /// The site.
    pub site: Arc<Site>,
    /// Registered icons.
    pub icons: Icons,
    /// Registered widget types.
    pub widgets: WidgetTypes,
    /// Cache of external feeds.
    pub feeds: Feeds,
    /// Cache of rendered contents and excerpts.
    pub render_cache: RenderCache,
}

impl SiteRenderer {
    /// A renderer with these icons and widget types, and empty caches.
    pub fn new(site: Arc<Site>, icons: Icons, widgets: WidgetTypes) -> Self {
        SiteRenderer { site, icons, widgets, feeds: Feeds::default(), render_cache: RenderCache::default() }
    }
}

impl Deref for SiteRenderer {
    type Target = Site;

    fn deref(&self) -> &Site {
        &self.site
    }
}
