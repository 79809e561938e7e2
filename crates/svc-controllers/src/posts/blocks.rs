//! The blocks of a post's content as data: the parameter `_blocks`, and content that is written as blocks.

use std::sync::Mutex;

use serde_json::{Map, Value};
use svc_content::blocks::{self, Block, BlockForm, block_schema, serialize_block};
use svc_model::Post;
use svc_render::{
    blocks::{RenderedTexts, RequestedTexts, render_dynamic},
    content::{self as render, RenderOptions},
    images::SiteImages,
};
use svc_resource::View;
use svc_routing::{Request, Result};
use svc_schema::{
    Arg, Error, Schema,
    build::{array, string},
};
use svc_site::Settings;
use svc_text::Html;
use svc_versions::Context;

use super::{Posts, item::PostItem};
use crate::request::block_viewer;

/// The parameter that adds the blocks.
pub(super) const PARAM: &str = "_blocks";

/// The field with the blocks, and the parameter of writes.
pub(super) const FIELD: &str = "blocks";

/// The field of the context `edit` that says whether the blocks make the stored content again.
const EXACT: &str = "blocks_exact";

/// The value of the parameter that adds the HTML of each block, too.
const HTML: &str = "html";

/// Maximum number of blocks of a post whose HTML is added.
const MAX_HTML: usize = 500;

/// Maximum size of the blocks whose HTML is added, as a multiple of the content: inner blocks are in it for each level.
const MAX_REPEATS: usize = 4;

/// The parameter of requests that read one post.
pub(super) fn arg() -> Arg {
    let schema = string().one_of(["1", "true", HTML]).describe(
        "Adds `blocks`, the blocks of the content with their attributes. With `html`, each has its HTML as well.",
    );
    Arg { unlisted: true, ..Arg::new(schema) }
}

/// The parameter of lists, where the HTML of all blocks would take too long.
pub(super) fn list_arg() -> Arg {
    let schema =
        string().one_of(["1", "true"]).describe("Adds `blocks`, the blocks of the contents with their attributes.");
    Arg { unlisted: true, ..Arg::new(schema) }
}

/// The parameter of requests that write.
pub(super) fn write_arg() -> Arg {
    let schema = array(block_schema()).describe("The content as blocks, in the form of `_blocks` in the context edit.");
    Arg { unlisted: true, ..Arg::by_schema(Schema::from(schema)) }
}

/// The blocks of a request cannot be stored.
fn invalid(reason: &str) -> Error {
    Error::new("rest_invalid_blocks", reason).with_status(400)
}

/// Whether a request asks for blocks, and whether with HTML.
pub(super) fn wanted(req: &Request) -> Option<bool> {
    req.sent_param(PARAM).filter(|value| svc_php::cast::truthy(value)).map(|value| value == HTML)
}

impl Posts {
    /// The content of the blocks that a request writes; `None` if it has none. To be called after the permission check, because it
    /// reads all markup.
    pub(super) fn content_of_blocks(&self, req: &Request, settings: &Settings) -> Result<Option<String>> {
        let sent = req.param(FIELD).filter(|sent| !sent.is_null() && self.fields.has("content"));
        let Some(sent) = sent else { return Ok(None) };
        if req.sent_param("content").is_some() {
            return Err(invalid("The content is sent twice: as content and as blocks."));
        }
        let types = self.site.block_types(settings);
        blocks::content_of(sent, &types).map(Some).map_err(|reason| invalid(&reason))
    }

    /// Adds the blocks of a post to its item, if the request asks for them. Without the password of a protected post there are none.
    pub(super) fn add_blocks(
        &self,
        data: &mut Map<String, Value>,
        item: &PostItem,
        req: &Request,
        view: &View,
    ) -> Result<()> {
        let is_visible = self.fields.has("content") && view.context != "embed" && view.includes(FIELD);
        let Some(with_html) = wanted(req).filter(|_| is_visible) else { return Ok(()) };
        let parsed = if item.is_locked() { Vec::new() } else { blocks::parse(&item.post.content) };
        let form = if view.context == "edit" { BlockForm::Edit } else { BlockForm::Read };
        let types = item.site.block_types(&item.settings);
        let to_json = |extra: &mut dyn FnMut(&Block<'_>) -> Map<String, Value>| {
            blocks::blocks_to_json(&parsed, &types, form, extra)
        };
        let json = if with_html {
            let mut sources = Sources { all: Vec::new(), left: MAX_REPEATS * item.post.content.len() };
            to_json(&mut |block| sources.add(block));
            let mut html = self.html_of(item, req, sources.all)?.into_iter();
            to_json(&mut |_| Map::from_iter([(HTML.to_owned(), html.next().map(Html::into_string).into())]))
        } else {
            to_json(&mut |_| Map::new())
        };
        data.insert(FIELD.to_owned(), json);
        if form == BlockForm::Edit {
            data.insert(EXACT.to_owned(), blocks::is_exact(&item.post.content).into());
        }
        Ok(())
    }

    /// The HTML of blocks with this content, as it is in the rendered content. Dynamic blocks share their queries.
    fn html_of(&self, item: &PostItem, req: &Request, sources: Vec<String>) -> Result<Vec<Html>> {
        let mut without = item.post.clone();
        without.content.clear();
        let rows: Vec<Post> = sources.into_iter().map(|content| Post { content, ..without.clone() }).collect();
        let (renderer, settings) = (&*self.rest.renderer, &item.settings);
        let requested = RequestedTexts { content: true, excerpt: false, words: 0, before: &[] };
        let cx = req.cx();
        let viewer = |cx: &Context| block_viewer(cx, &self.site, settings, req);
        self.site.read(cx, |db| {
            let images = SiteImages::of_posts(db, &self.site, settings, &[&item.post])?;
            let page = Mutex::default();
            let with = RenderOptions::new(cx, &images, &page);
            let texts = render_dynamic(renderer, settings, viewer, db, &rows, requested, &with)?;
            let html = |(post, texts): (&Post, RenderedTexts)| {
                cx.record(&texts.dependencies);
                texts.content.unwrap_or_else(|| render::content(renderer, settings, post, &with))
            };
            Ok(rows.iter().zip(texts).map(html).collect())
        })
    }
}

/// The contents of blocks whose HTML is added.
struct Sources {
    all: Vec<String>,
    /// How much more may be rendered, in bytes.
    left: usize,
}

impl Sources {
    fn add(&mut self, block: &Block<'_>) -> Map<String, Value> {
        if self.all.len() < MAX_HTML && self.left > 0 {
            let source = serialize_block(block);
            self.left = self.left.saturating_sub(source.len());
            self.all.push(source);
        }
        Map::new()
    }
}
