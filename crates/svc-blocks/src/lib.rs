#![doc = include_str!("../README.md")]

mod attributes;
mod bindings;
mod breadcrumbs;
mod calendar;
mod comments;
mod core;
pub mod data;
pub mod date;
mod featured;
mod lists;
mod navigation;
mod parts;
mod posts;
mod query;
mod search;
mod site;
mod social;
mod supports;
mod urls;
mod users;
pub mod variations;

use svc_content::blocks::BlockType;

use crate::core::RenderFn;
pub use crate::core::{CoreBlocks, MAX_BYTES, with_text};
pub use data::BlockData;

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

/// A copy of a block type with the support serialized, for renderers that apply a skipped support to another element.
fn with_serialized_support(block_type: &BlockType, feature: &str) -> BlockType {
    let mut plain = block_type.clone();
    if let Some(serde_json::Value::Object(settings)) = plain.supports.get_mut(feature) {
        settings.remove("__experimentalSkipSerialization");
    }
    plain
}
