//! The built-in widget types.

use crate::widgets::kind::WidgetTypes;

pub(crate) mod content;
pub(crate) mod lists;
pub(crate) mod media;
pub(crate) mod menu;
pub(crate) mod plain;
pub(crate) mod simple;
pub(crate) mod text;

/// WordPress's registration order. Widgets without a sidebar are listed in this order.
const ORDER: [&str; 18] = [
    "pages",
    "calendar",
    "archives",
    "media_audio",
    "media_image",
    "media_gallery",
    "media_video",
    "meta",
    "search",
    "text",
    "categories",
    "recent-posts",
    "recent-comments",
    "rss",
    "tag_cloud",
    "nav_menu",
    "custom_html",
    "block",
];

/// Registers all built-in types.
pub(crate) fn register(all: &mut WidgetTypes) {
    all.register(content::Block);
    all.register(text::Text);
    all.register(content::CustomHtml);
    for widget_type in
        [lists::KINDS.as_slice(), plain::KINDS.as_slice(), media::KINDS.as_slice(), &[menu::KIND]].concat()
    {
        all.register(widget_type);
    }
    all.0.sort_by_cached_key(|id_base, _| ORDER.iter().position(|known| known == id_base));
}
