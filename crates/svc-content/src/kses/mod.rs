//! Allowed HTML: removes the markup that a text may not have, and leaves everything else unchanged.
//!
//! This is a linear scan, not a parser: permitted text keeps its bytes, and tags are written from their parsed names
//! and attributes. The output runs no script: every `<` starts an allowed tag or a comment, every attribute is on a
//! list and its value is quoted and escaped, URLs have allowed schemes, and styles pass [`crate::css`].
//!
//! [`AllowedHtml`] defines which markup is allowed. Other filters for stored text are in [`crate::save`].

mod allowed;
mod attributes;
mod blocks;
mod one_attribute;
mod scan;
mod tables;

pub use allowed::{AllowedHtml, Check, Rule};
pub use one_attribute::{filter_attribute, split_attributes};
pub use scan::unescape_quotes;
use svc_text::Html;

/// Filters text with the markup of posts. Source: `wp_kses_post`.
///
/// PDF objects are removed, since the host of uploads is unknown; see [`AllowedHtml::with_uploads_host`].
pub fn post(text: &str) -> Html {
    filter(text, AllowedHtml::post())
}

/// Filters text with the markup of comments, titles and other short texts. Source: `wp_kses_data`.
pub fn data(text: &str) -> Html {
    filter(text, AllowedHtml::data())
}

/// Removes all markup except comments, including block comments. Source: `wp_kses` with `'strip'`.
pub fn strip(text: &str) -> Html {
    filter(text, AllowedHtml::strip())
}

/// Filters text with the allowed markup.
///
/// Never fails and takes linear time. Ampersands that start no reference, and `<` and `>` outside of tags, are
/// escaped. The attributes of block comments are filtered like the surrounding text, and the comments are normalized.
/// Source: `wp_kses`.
pub fn filter(text: &str, allowed: &AllowedHtml) -> Html {
    let mut filter = scan::Filter::new(allowed, text.len());
    let prepared = scan::prepare(text);
    let with_filtered_blocks = blocks::filter(&prepared, &mut filter);
    Html::trusted(filter.filter_prepared(&with_filtered_blocks), "the filter for allowed markup")
}

#[cfg(test)]
mod tests;
