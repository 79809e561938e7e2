//! Blocks of a site: the types that are known, and what dynamic ones show.

pub mod images;
pub mod site_blocks;

use std::{
    collections::HashMap,
    rc::Rc,
    sync::{Arc, Mutex},
};

use svc_blocks::{CoreBlocks, data::FeedItem};
use svc_content::blocks::{BlockTypes, ContentRoot};
use svc_model::Post;
use svc_schema::Error;
use svc_site::{Settings, SiteResult, block_types::IGNORED_HOOKS};
use svc_store::{
    Db,
    meta::{self, MetaKind},
};

use crate::{
    SiteRenderer,
    blocks::site_blocks::SiteBlocks,
    content as render,
    feeds::{Item, Missing},
    images::images_of,
    page_template::ListContext,
};

pub use crate::blocks::site_blocks::BlockViewer;

/// Runs with the site's dynamic blocks, which ask the store over this snapshot.
pub fn with_blocks<T>(
    site: &SiteRenderer,
    settings: &Settings,
    reader: &BlockViewer,
    db: &mut Db,
    run: impl FnOnce(&CoreBlocks<'_>) -> T,
) -> SiteResult<T> {
    with_page(site, settings, reader, db, (None, None), run)
}

/// [`with_blocks`] on a page that shows this list, or this post.
pub fn with_page<T>(
    site: &SiteRenderer,
    settings: &Settings,
    reader: &BlockViewer,
    db: &mut Db,
    (list, post): (Option<ListContext>, Option<Post>),
    run: impl FnOnce(&CoreBlocks<'_>) -> T,
) -> SiteResult<T> {
    let types = site.block_types(settings);
    let data = SiteBlocks::new(site, settings, reader, db);
    if let Some(list) = list {
        data.show(list);
    }
    if let Some(post) = post {
        data.show_post(post);
    }
    let blocks = CoreBlocks::new(&types, &data);
    let made = run(&blocks);
    if blocks.is_truncated() {
        let most = svc_blocks::MAX_BYTES;
        tracing::warn!("dynamic blocks were left out: they would render more than {most} bytes");
    }
    drop(blocks);
    match data.failure() {
        Some(failure) => Err(failure),
        None => Ok(made),
    }
}

/// Whether content holds blocks whose HTML is made by code.
fn has_dynamic(types: &BlockTypes, content: &str) -> bool {
    // What is bound to values from elsewhere asks for them.
    let is_bound = content.contains("\"bindings\"");
    is_bound
        || content.split("<!-- wp:").skip(1).any(|rest| {
            let name = rest.split([' ', '\t', '\n', '\r']).next().unwrap_or_default();
            let core = if name.contains('/') { name.to_owned() } else { format!("core/{name}") };
            svc_blocks::has_renderer(&core) || types.get(&core).is_some_and(|t| t.render.is_some())
        })
}

/// Texts of posts to render: whether contents and excerpts are wanted, and of how many words.
#[derive(Clone, Copy, Debug)]
pub struct Wanted {
    pub content: bool,
    pub excerpt: bool,
    pub words: usize,
}

/// The texts of those posts whose blocks ask the store; nothing for the others. The same question is asked once for all.
pub fn rendered(
    site: &SiteRenderer,
    settings: &Settings,
    reader: impl FnOnce() -> BlockViewer,
    db: &mut Db,
    rows: &[Post],
    wanted: Wanted,
    with: &render::RenderOptions<'_>,
) -> SiteResult<Vec<Rendered>> {
    let nothing = || vec![Rendered::default(); rows.len()];
    if !wanted.content && !wanted.excerpt {
        return Ok(nothing());
    }
    let types = site.block_types(settings);
    let has_hooks = !types.hooks().is_empty();
    let is_live: Vec<bool> = rows.iter().map(|post| has_hooks || has_dynamic(&types, &post.content)).collect();
    if !is_live.contains(&true) {
        return Ok(nothing());
    }
    let mut meta = HashMap::new();
    if has_hooks {
        meta = meta::load(db, MetaKind::Post, &rows.iter().map(|post| post.id.0).collect::<Vec<_>>())?;
    }
    with_blocks(site, settings, &reader(), db, |blocks| {
        let texts = |(post, is_live): (&Post, &bool)| {
            if !is_live {
                return Rendered::default();
            }
            let ignored = meta.get(&post.id.0).map_or("", |stored| stored.text(IGNORED_HOOKS));
            let root = has_hooks.then(|| ContentRoot::of(&post.post_type, ignored));
            let with = render::RenderOptions {
                dynamic: Some(blocks),
                root,
                ..render::RenderOptions::new(with.images, with.page)
            };
            blocks.within_post(post.id, &post.post_type, || Rendered {
                content: wanted.content.then(|| render::content(site, settings, post, &with)),
                excerpt: wanted.excerpt.then(|| render::excerpt(site, settings, post, &with, wanted.words)),
            })
        };
        rows.iter().zip(&is_live).map(texts).collect()
    })
}

/// The feed of another site. One that has not been fetched yet is noted as missing.
fn feed_of_others(
    site: &SiteRenderer,
    settings: &Settings,
    missing: &Missing,
    address: &str,
    items: u64,
) -> Option<Rc<Vec<FeedItem>>> {
    let Some(read) = site.feeds.get(address) else {
        missing.note(address);
        return None;
    };
    let item = |item: &Item| FeedItem {
        title: item.title.clone(),
        link: item.link.clone(),
        date: item.date.map(|date| settings.zone.to_local(date)),
        author: item.author.clone(),
        text: item.text.clone(),
    };
    let wanted = usize::try_from(items).unwrap_or(usize::MAX);
    Some(Rc::new(read?.iter().take(wanted).map(item).collect()))
}

/// A post's content as everybody sees it on the page with this address, or its excerpt of so many words.
///
/// # Errors
/// Those of the store.
pub fn on_page(
    site: &SiteRenderer,
    settings: &Arc<Settings>,
    post: &Post,
    address: &str,
    excerpt: Option<usize>,
) -> Result<String, Error> {
    let wanted = Wanted { content: excerpt.is_none(), excerpt: excerpt.is_some(), words: excerpt.unwrap_or_default() };
    let (images, page) = (images_of(site, settings, post), Mutex::default());
    let with = render::RenderOptions::new(&images, &page);
    let plain = |made: Option<String>| {
        made.unwrap_or_else(|| match excerpt {
            Some(words) => render::excerpt(site, settings, post, &with, words),
            None => render::content(site, settings, post, &with),
        })
    };
    let types = site.block_types(settings);
    if types.hooks().is_empty() && !has_dynamic(&types, &post.content) {
        return Ok(plain(None));
    }
    let reader = || BlockViewer { address: address.to_owned(), ..BlockViewer::default() };
    let made = site.read(|db| rendered(site, settings, reader, db, std::slice::from_ref(post), wanted, &with))?;
    let made = made.into_iter().next().unwrap_or_default();
    Ok(plain(made.content.or(made.excerpt)))
}

/// Texts of a post that were rendered while it was loaded.
#[derive(Clone, Debug, Default)]
pub struct Rendered {
    pub content: Option<String>,
    pub excerpt: Option<String>,
}
