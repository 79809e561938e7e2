//! The table of the dynamic core blocks and their renderers.

use serde_json::{Map, Value};
use svc_content::{
    block_render::{DynamicBlocks, Renderer},
    blocks::{Block, BlockTypes},
};
use svc_text::Html;

use crate::{
    attributes, bindings, breadcrumbs, calendar, comments,
    core::{BlockCall, CoreBlocks},
    featured, lists, navigation, parts, posts, query, search, site, social, users,
};

/// Renders a block to HTML.
type RenderFn = fn(&BlockCall<'_>) -> Html;

/// The renderers of the dynamic core blocks.
const RENDERERS: &[(&str, RenderFn)] = &[
    ("core/archives", lists::archives),
    ("core/avatar", users::avatar),
    ("core/block", parts::synced),
    ("core/breadcrumbs", breadcrumbs::breadcrumbs),
    ("core/calendar", calendar::calendar),
    ("core/categories", lists::categories),
    ("core/comment-author-name", comments::author_name),
    ("core/comment-content", comments::content),
    ("core/comment-date", comments::date),
    ("core/comment-edit-link", comments::edit_link),
    ("core/comment-reply-link", comments::reply_link),
    ("core/comment-template", comments::template),
    ("core/comments", comments::comments),
    ("core/comments-pagination", comments::pagination),
    ("core/comments-title", comments::title),
    ("core/cover", featured::cover),
    ("core/footnotes", parts::footnotes),
    ("core/home-link", site::home_link),
    ("core/icon", breadcrumbs::icon),
    ("core/latest-comments", comments::latest),
    ("core/latest-posts", posts::latest_posts),
    ("core/loginout", site::loginout),
    ("core/media-text", featured::media_text),
    ("core/navigation", navigation::navigation),
    ("core/navigation-link", navigation::item),
    ("core/navigation-overlay-close", navigation::overlay_close),
    ("core/navigation-submenu", navigation::submenu),
    ("core/page-list", lists::page_list),
    ("core/pattern", parts::pattern),
    ("core/post-author", users::post_author),
    ("core/post-author-biography", users::author_biography),
    ("core/post-author-name", users::author_name),
    ("core/post-comments", comments::deprecated),
    ("core/post-comments-count", posts::comments_count),
    ("core/post-comments-form", comments::form),
    ("core/post-comments-link", posts::comments_link),
    ("core/post-content", posts::content),
    ("core/post-date", posts::post_date),
    ("core/post-excerpt", posts::post_excerpt),
    ("core/post-featured-image", posts::featured_image),
    ("core/post-navigation-link", posts::navigation_link),
    ("core/post-template", query::post_template),
    ("core/post-terms", posts::terms),
    ("core/post-time-to-read", posts::time_to_read),
    ("core/post-title", posts::title),
    ("core/query", query::query),
    ("core/query-no-results", query::no_results),
    ("core/query-pagination", query::pagination),
    ("core/query-pagination-next", query::next),
    ("core/query-pagination-numbers", query::page_numbers),
    ("core/query-pagination-previous", query::previous),
    ("core/query-title", query::title),
    ("core/query-total", query::total),
    ("core/read-more", posts::read_more),
    ("core/rss", parts::rss),
    ("core/search", search::search),
    ("core/site-logo", site::logo),
    ("core/site-tagline", site::tagline),
    ("core/site-title", site::title),
    ("core/social-link", social::link),
    ("core/tag-cloud", lists::tag_cloud),
    ("core/template-part", parts::template_part),
    ("core/term-count", query::term_count),
    ("core/term-description", query::term_description),
    ("core/term-name", query::term_name),
    ("core/term-template", query::term_template),
];

/// Whether this crate renders a core block.
pub fn has_renderer(name: &str) -> bool {
    RENDERERS.iter().any(|(known, _)| *known == name)
}

/// Blocks whose renderers render their inner blocks themselves.
const RENDER_INNER_BLOCKS: &[&str] =
    &["core/comment-template", "core/navigation", "core/post-template", "core/term-template"];

impl DynamicBlocks for CoreBlocks<'_> {
    fn render(&self, renderer: &Renderer<'_>, block: &Block<'_>, content: &Html) -> Option<Html> {
        let name = block.name.as_deref()?;
        let block_type = self.types.get(name)?;
        let renderer_fn = RENDERERS.iter().find(|(known, _)| *known == name).map(|(_, renderer_fn)| *renderer_fn);
        if renderer_fn.is_none() && block_type.render.is_none() {
            return None;
        }
        let Some(left) = self.blocks_left.get().checked_sub(1) else { return Some(Html::new()) };
        self.blocks_left.set(left);
        let attrs = attributes::complete_attributes(block_type, &block.attrs);
        if let Some(render) = &block_type.render {
            self.mark_shared();
            return Some(self.count_bytes(content.len(), || render(&attrs, content)));
        }
        let (chosen, child) = (renderer.chosen_classes(), renderer.child_class());
        let call = BlockCall { blocks: self, renderer, block, block_type, attrs, content, chosen, child };
        renderer_fn.map(|renderer_fn| self.count_bytes(content.len(), || renderer_fn(&call)))
    }

    fn renders_inner_blocks(&self, name: &str) -> bool {
        RENDER_INNER_BLOCKS.contains(&name)
    }

    fn types(&self) -> &BlockTypes {
        self.types
    }

    fn bound(&self, block: &Block<'_>) -> Map<String, Value> {
        let bound = bindings::bound(self, block);
        let text = |value: &Value| value.as_str().map_or(0, str::len);
        let bytes: usize = bound.values().map(text).sum();
        let left = self.bytes_left.get().saturating_sub(bytes);
        self.bytes_left.set(left);
        if left == 0 { Map::new() } else { bound }
    }

    fn enter(&self, block: &Block<'_>) {
        let mut values = Vec::new();
        if let Some(block_type) = block.name.as_deref().and_then(|name| self.types.get(name))
            && !block_type.provides_context.is_empty()
        {
            let attrs = attributes::complete_attributes(block_type, &block.attrs);
            let given = block_type.provides_context.iter();
            values = given.filter_map(|(name, of)| Some((name.clone(), attrs.get(of)?.clone()))).collect();
        }
        self.context.borrow_mut().push(values);
    }

    fn leave(&self, _: &Block<'_>) {
        self.context.borrow_mut().pop();
    }
}
