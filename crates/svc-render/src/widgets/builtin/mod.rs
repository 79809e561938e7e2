//! The built-in widget types.

use crate::renderer::widget_types::WidgetTypes;

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

/// The built-in widget types.
pub fn types() -> WidgetTypes {
    let mut types = WidgetTypes::default();
    types.register(content::Block);
    types.register(text::Text);
    types.register(content::CustomHtml);
    for widget_type in
        [lists::TYPES.as_slice(), plain::TYPES.as_slice(), media::TYPES.as_slice(), &[menu::TYPE]].concat()
    {
        types.register(widget_type);
    }
    types.0.sort_by_cached_key(|id_base, _| ORDER.iter().position(|known| known == id_base));
    types
}
