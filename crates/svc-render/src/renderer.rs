//! A site with what renders it to HTML.

use std::{ops::Deref, sync::Arc};

use svc_site::Site;

use crate::{feeds::Feeds, icons::Icons, render_cache::RenderCache, widgets::kind::WidgetKinds};

/// A site with what renders it. It dereferences to its [`Site`], so that functions take the lowest layer that they need.
pub struct SiteRenderer {
    /// The site.
    pub site: Arc<Site>,
    /// The icons that blocks show.
    pub icons: Icons,
    /// The widget types.
    pub widgets: WidgetKinds,
    /// Feeds of other sites.
    pub feeds: Feeds,
    /// Rendered content and excerpts.
    pub rendered: RenderCache,
}

impl SiteRenderer {
    /// Renders this site with these icons and widget types.
    pub fn new(site: Arc<Site>, icons: Icons, widgets: WidgetKinds) -> Self {
        SiteRenderer { site, icons, widgets, feeds: Feeds::default(), rendered: RenderCache::default() }
    }
}

impl Deref for SiteRenderer {
    type Target = Site;

    fn deref(&self) -> &Site {
        &self.site
    }
}
