#![doc = include_str!("../README.md")]

pub mod autop;
pub mod balance;
pub mod block_render;
pub mod blocks;
pub mod clickable;
pub mod css;
pub mod display;
pub mod embeds;
pub mod excerpt;
pub mod images;
pub mod kses;
pub mod links;
pub mod markdown;
pub mod markup;
pub mod save;
pub mod shortcodes;
pub mod smilies;
pub mod srcset;
pub mod tags;
pub mod texturize;

pub use autop::autop;
pub use display::{
    RenderContext, render_comment, render_content, render_excerpt, render_inline, render_term_description,
    render_title, render_widget_text, trim_excerpt,
};
pub use shortcodes::Shortcodes;
pub use texturize::texturize;
