//! Renders dynamic blocks over a snapshot of the store.

mod images;
mod list_context;
mod site_blocks;

use std::{
    collections::HashMap,
    rc::Rc,
    sync::{Arc, Mutex},
    time::Duration,
};

use svc_blocks::{CoreBlocks, data::FeedItem};
use svc_content::blocks::{BlockTypes, ContentRoot};
use svc_model::Post;
use svc_schema::Error;
use svc_site::{Settings, Site, SiteResult, hooked_blocks::IGNORED_HOOKS};
use svc_store::{
    Db,
    meta::{self, MetaKind},
};
use svc_text::Html;
use svc_versions::{Context, Dependencies};

use crate::{
    SiteRenderer,
    blocks::site_blocks::SiteBlocks,
    content as render,
    feeds::{FeedEntry, MissingFeeds},
    images::images_of,
};

pub use crate::{blocks::list_context::ListContext, renderer::viewer::BlockViewer};

/// Calls `run` with the renderers of the site's dynamic blocks, which read from this snapshot.
///
/// # Errors
/// Errors of the store.
pub fn with_blocks<T>(
    renderer: &SiteRenderer,
    settings: &Settings,
    viewer: &BlockViewer,
    db: &mut Db,
    run: impl FnOnce(&CoreBlocks<'_>) -> T,
) -> SiteResult<T> {
    with_data(&renderer.site, settings, SiteBlocks::new(renderer, settings, viewer, db), |blocks, _| run(blocks))
}

/// [`with_blocks`] on a page that shows a list of posts, or a post.
///
/// # Errors
/// Errors of the store.
pub fn with_page<T>(
    renderer: &SiteRenderer,
    settings: &Settings,
    viewer: &BlockViewer,
    db: &mut Db,
    (list, post): (Option<ListContext>, Option<Post>),
    run: impl FnOnce(&CoreBlocks<'_>) -> T,
) -> SiteResult<T> {
    let data = SiteBlocks::new(renderer, settings, viewer, db);
    if let Some(list) = list {
        data.set_list(list);
    }
    if let Some(post) = post {
        data.set_post(post);
    }
    with_data(&renderer.site, settings, data, |blocks, _| run(blocks))
}

fn with_data<'a, T>(
    site: &Site,
    settings: &Settings,
    data: SiteBlocks<'a>,
    run: impl FnOnce(&CoreBlocks<'_>, &SiteBlocks<'a>) -> T,
) -> SiteResult<T> {
    let types = site.block_types(settings);
    let blocks = CoreBlocks::new(&types, &data);
    let output = run(&blocks, &data);
    if blocks.is_truncated() {
        let limit = svc_blocks::MAX_BYTES;
        tracing::warn!("omitted dynamic blocks because their output exceeds {limit} bytes");
    }
    drop(blocks);
    match data.failure() {
        Some(failure) => Err(failure),
        None => Ok(output),
    }
}

/// Whether content contains dynamic blocks or block bindings.
fn has_dynamic(types: &BlockTypes, content: &str) -> bool {
    let is_bound = content.contains("\"bindings\"");
    is_bound
        || content.split("<!-- wp:").skip(1).any(|rest| {
            let name = rest.split([' ', '\t', '\n', '\r']).next().unwrap_or_default();
            let core = if name.contains('/') { name.to_owned() } else { format!("core/{name}") };
            svc_blocks::has_renderer(&core) || types.get(&core).is_some_and(|t| t.render.is_some())
        })
}

/// Default maximum number of words of a generated excerpt.
pub const EXCERPT_WORDS: usize = 55;

/// Selects the texts to render.
#[derive(Clone, Copy, Debug)]
pub struct RequestedTexts<'a> {
    /// Render contents.
    pub content: bool,
    /// Render excerpts.
    pub excerpt: bool,
    /// Maximum number of words of a generated excerpt.
    pub words: usize,
    /// HTML before the content of each post, such as an attachment's file; may be empty.
    pub before: &'a [Option<Html>],
}

/// Renders the texts of posts with dynamic blocks; empty for other posts. Queries are shared by all posts.
///
/// The texts have what they depend on; it is not recorded.
///
/// # Errors
/// Errors of the store.
pub fn render_dynamic(
    renderer: &SiteRenderer,
    settings: &Settings,
    viewer: impl FnOnce(&Context) -> BlockViewer,
    db: &mut Db,
    rows: &[Post],
    requested: RequestedTexts<'_>,
    with: &render::RenderOptions<'_>,
) -> SiteResult<Vec<RenderedTexts>> {
    let none = || vec![RenderedTexts::default(); rows.len()];
    if !requested.content && !requested.excerpt {
        return Ok(none());
    }
    let types = renderer.site.block_types(settings);
    let has_hooks = !types.hooks().is_empty();
    let is_dynamic: Vec<bool> = rows.iter().map(|post| has_hooks || has_dynamic(&types, &post.content)).collect();
    if !is_dynamic.contains(&true) {
        return Ok(none());
    }
    let mut meta = HashMap::new();
    if has_hooks {
        meta = meta::load(db, MetaKind::Post, &rows.iter().map(|post| post.id.0).collect::<Vec<_>>())?;
    }
    let render = |blocks: &CoreBlocks<'_>, data: &SiteBlocks<'_>| {
        let texts = |(n, (post, is_dynamic)): (usize, (&Post, &bool))| {
            if !is_dynamic {
                return RenderedTexts::default();
            }
            let ignored = meta.get(&post.id.0).map_or("", |stored| stored.text(IGNORED_HOOKS));
            let root = has_hooks.then(|| ContentRoot::of(&post.post_type, ignored));
            let with = render::RenderOptions {
                dynamic: Some(blocks),
                before: requested.before.get(n).cloned().flatten(),
                root,
                ..render::RenderOptions::new(data.cx(), with.images, with.page)
            };
            let render = || RenderedTexts {
                content: requested.content.then(|| render::content(renderer, settings, post, &with)),
                excerpt: requested.excerpt.then(|| render::excerpt(renderer, settings, post, &with, requested.words)),
                ..RenderedTexts::default()
            };
            let (texts, mut dependencies) = data.cx().capture(|| {
                let texts = blocks.within_post(post.id, &post.post_type, render);
                if blocks.take_shared() {
                    data.cx().depends_on_request();
                }
                texts
            });
            dependencies.extend(&data.dependencies());
            RenderedTexts { dependencies, ..texts }
        };
        rows.iter().zip(&is_dynamic).enumerate().map(texts).collect()
    };
    db.recorded_by_caller(|db| {
        // The nonce of the viewer depends on the time.
        let viewer = viewer(db.cx());
        with_data(&renderer.site, settings, SiteBlocks::new(renderer, settings, &viewer, db), render)
    })
}

/// How long HTML with an external feed is used before the feed is looked up again.
const FEED_AGE: Duration = Duration::from_mins(5);

/// Items of an external feed. A feed that is not cached is recorded as missing.
fn external_feed(
    cx: &Context,
    renderer: &SiteRenderer,
    settings: &Settings,
    missing: &MissingFeeds,
    url: &str,
    items: u64,
) -> Option<Rc<Vec<FeedItem>>> {
    let Some(cached) = renderer.feeds.get(cx, url) else {
        missing.record(url);
        // The HTML is incomplete.
        cx.never();
        return None;
    };
    cx.expires_in(FEED_AGE);
    let item = |entry: &FeedEntry| FeedItem {
        title: entry.title.clone(),
        link: entry.link.clone(),
        date: entry.date.map(|date| settings.zone.to_local(date)),
        author: entry.author.clone(),
        text: entry.text.clone(),
    };
    let limit = usize::try_from(items).unwrap_or(usize::MAX);
    Some(Rc::new(cached?.iter().take(limit).map(item).collect()))
}

/// A post's content as anonymous visitors see it on the page at this URL, or its excerpt of at most `excerpt` words.
///
/// # Errors
/// Errors of the store.
pub fn render_public(
    cx: &Context,
    renderer: &SiteRenderer,
    settings: &Arc<Settings>,
    post: &Post,
    url: &str,
    excerpt: Option<usize>,
) -> Result<Html, Error> {
    let words = excerpt.unwrap_or_default();
    let requested = RequestedTexts { content: excerpt.is_none(), excerpt: excerpt.is_some(), words, before: &[] };
    let (images, page) = (images_of(cx, &renderer.site, settings, post), Mutex::default());
    let with = render::RenderOptions::new(cx, &images, &page);
    let or_static = |rendered: Option<Html>| {
        rendered.unwrap_or_else(|| match excerpt {
            Some(words) => render::excerpt(renderer, settings, post, &with, words),
            None => render::content(renderer, settings, post, &with),
        })
    };
    let types = renderer.site.block_types(settings);
    if types.hooks().is_empty() && !has_dynamic(&types, &post.content) {
        return Ok(or_static(None));
    }
    let viewer = |_: &Context| BlockViewer { url: url.to_owned(), ..BlockViewer::default() };
    let texts = renderer
        .site
        .read(cx, |db| render_dynamic(renderer, settings, viewer, db, std::slice::from_ref(post), requested, &with))?;
    let text = texts.into_iter().next().unwrap_or_default();
    cx.record(&text.dependencies);
    Ok(or_static(text.content.or(text.excerpt)))
}

/// Texts of a post that were rendered while it was loaded.
#[derive(Clone, Debug, Default)]
pub struct RenderedTexts {
    /// The content.
    pub content: Option<Html>,
    /// The excerpt.
    pub excerpt: Option<Html>,
    /// Their dependencies.
    pub dependencies: Dependencies,
}
