//! Renders pages of the site with the templates of its block theme.

use std::sync::Arc;

use svc_content::block_render::Renderer;
use svc_model::{Post, PostId, TermId};
use svc_packages::theme::ThemeJson;
use svc_site::{ActiveTheme, Settings, SiteResult, Visitor, global_styles as stored, templates::load::TemplateLookup};
use svc_store::{
    Db,
    meta::{self, MetaKind},
};
use svc_text::Html;

use crate::{
    SiteRenderer,
    blocks::{BlockViewer, with_page},
    feeds::MissingFeeds,
};

pub use crate::blocks::ListContext;

/// Data for rendering a template.
#[derive(Default)]
pub struct TemplateContext {
    /// The requested URL.
    pub url: String,
    /// The post that the page shows.
    pub post: Option<Post>,
    /// The term whose archive the page shows, and its taxonomy.
    pub term: Option<(TermId, String)>,
    /// The list that the page shows.
    pub list: Option<ListContext>,
    /// Collects feeds that are not cached yet.
    pub missing: MissingFeeds,
    /// The visitor who views the page.
    pub visitor: Visitor,
}

/// A rendered page.
pub struct RenderedPage {
    /// The page's body.
    pub html: Html,
    /// CSS rules for the blocks' generated classes.
    pub css: String,
    /// The active theme.
    pub theme: Arc<ActiveTheme>,
    /// The site's global styles, which override the theme's.
    pub styles: ThemeJson,
}

/// Slug of the custom template that is assigned to a post.
///
/// # Errors
/// Errors of the store.
pub fn custom_template(db: &mut Db, post: PostId) -> SiteResult<Option<String>> {
    Ok(meta::get(db, MetaKind::Post, post.0, "_wp_page_template")?.map(|name| name.text().to_owned()))
}

/// Renders the first of these templates that exists. `None` if none does.
///
/// # Errors
/// Errors of the store.
pub fn render_template(
    renderer: &SiteRenderer,
    settings: &Settings,
    db: &mut Db,
    slugs: &[String],
    context: TemplateContext,
) -> SiteResult<Option<RenderedPage>> {
    let lookup = TemplateLookup::for_pages(db.cx(), &renderer.site, settings);
    let slugs: Vec<&str> = slugs.iter().map(String::as_str).collect();
    let Some(template) = lookup.most_specific(db, &slugs)? else { return Ok(None) };
    let content = lookup.with_patterns(&template.content);
    let theme = Arc::clone(&lookup.theme);
    let styles = stored::user_styles(db, &theme.name)?;
    let Visitor { caller, logout_nonce, unlocked } = context.visitor;
    let viewer = BlockViewer { caller, url: context.url, logout_nonce, missing: context.missing, unlocked };
    let page_data = (context.list, context.post.clone());
    let (html, css) = with_page(renderer, settings, &viewer, db, page_data, |core| {
        let dynamic = svc_blocks::with_text(core);
        let renderer = Renderer::new(&theme.blocks, &dynamic).with_style_collection();
        let template = || renderer.render(&renderer.parse(&content, None));
        let with_term = || match &context.term {
            Some((term, taxonomy)) => core.within_term(*term, taxonomy, template),
            None => template(),
        };
        let mut html = match &context.post {
            Some(post) => core.within_post(post.id, &post.post_type, with_term),
            None => with_term(),
        };
        html.push(renderer.filters());
        (html, renderer.styles())
    })?;
    Ok(Some(RenderedPage { html, css, theme, styles }))
}
