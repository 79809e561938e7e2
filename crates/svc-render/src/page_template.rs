//! Pages of the site drawn by its theme: the closest template's blocks, with what the page's address asks for.

use std::sync::Arc;

use svc_content::blocks::Renderer;
use svc_model::{Post, PostId, TermId};
use svc_packages::theme::ThemeJson;
use svc_site::{ActiveTheme, Settings, SiteResult, Visitor, global_styles as stored, templates::load::TemplateLookup};
use svc_store::{
    Db,
    meta::{self, MetaKind},
};

use crate::{
    SiteRenderer,
    blocks::{site_blocks::BlockViewer, with_page},
    feeds::Missing,
};

/// A page of the list that an address asks for.
pub struct ListContext {
    /// The posts on it.
    pub posts: Vec<Post>,
    /// Posts on a page.
    pub per_page: u64,
    /// Number of the page, from 1.
    pub page: u64,
    /// How many pages there are.
    pub pages: u64,
    /// How many posts there are on all pages.
    pub total: u64,
    /// Address of a page of the list.
    pub address: Box<dyn Fn(u64) -> String>,
    /// What the list is of, as HTML; empty for the newest posts.
    pub title: String,
    /// What was searched for.
    pub searched: Option<String>,
}

/// What a page shows.
#[derive(Default)]
pub struct TemplateContext {
    /// The address that was asked for.
    pub address: String,
    /// The post that the page is of.
    pub post: Option<Post>,
    /// The term whose archive it is, and its taxonomy.
    pub term: Option<(TermId, String)>,
    /// The list that it shows.
    pub list: Option<ListContext>,
    /// Feeds of other sites that were not known yet.
    pub missing: Missing,
    /// Who views it.
    pub visitor: Visitor,
}

/// A page that was drawn.
pub struct RenderedPage {
    /// What stands in the body of the page.
    pub html: String,
    /// The rules that go with the classes of its blocks.
    pub css: String,
    /// The theme that drew it.
    pub theme: Arc<ActiveTheme>,
    /// What the site has chosen over the theme's styles.
    pub styles: ThemeJson,
}

/// The template that a post names for its own page.
///
/// # Errors
/// Those of the store.
pub fn chosen_template(db: &mut Db, post: PostId) -> SiteResult<Option<String>> {
    Ok(meta::get(db, MetaKind::Post, post.0, "_wp_page_template")?.map(|name| name.text().to_owned()))
}

/// Draws a page by the closest of these templates. `None` when the theme has none of them.
///
/// # Errors
/// Those of the store.
pub fn render_template(
    site: &SiteRenderer,
    settings: &Settings,
    db: &mut Db,
    slugs: &[String],
    context: TemplateContext,
) -> SiteResult<Option<RenderedPage>> {
    let lookup = TemplateLookup::for_pages(site, settings);
    let slugs: Vec<&str> = slugs.iter().map(String::as_str).collect();
    let Some(template) = lookup.closest(db, &slugs)? else { return Ok(None) };
    let content = lookup.with_patterns(&template.content);
    let theme = Arc::clone(&lookup.theme);
    let styles = stored::own(db, &theme.name)?;
    let Visitor { caller, logout_nonce, opened } = context.visitor;
    let reader = BlockViewer { caller, address: context.address, logout_nonce, missing: context.missing, opened };
    let shown = (context.list, context.post.clone());
    let (html, css) = with_page(site, settings, &reader, db, shown, |core| {
        let dynamic = svc_blocks::with_text(core);
        let renderer = Renderer::new(&theme.blocks, &dynamic).with_style_collection();
        let template = || renderer.render(&renderer.parse(&content, None));
        let of_term = || match &context.term {
            Some((term, taxonomy)) => core.within_term(*term, taxonomy, template),
            None => template(),
        };
        let html = match &context.post {
            Some(post) => core.within_post(post.id, &post.post_type, of_term),
            None => of_term(),
        };
        (html + &renderer.filters(), renderer.styles())
    })?;
    Ok(Some(RenderedPage { html, css, theme, styles }))
}
