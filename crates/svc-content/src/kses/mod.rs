//! Allowed HTML: takes away the markup that a text may not have, and leaves everything else as it was written.
//!
//! A linear scan, not a parser: permitted text keeps its bytes, tags are written anew from what was understood of them.
//! What comes out runs no script: every `<` begins an allowed tag or a comment, every attribute is on a list and its value is
//! quoted and escaped, addresses have schemes from a list, styles are those of [`crate::css`].
//! Which markup is allowed is said by [`AllowedHtml`]. What else happens to a text before it is stored is in [`crate::save`].

mod allowed;
mod attributes;
mod blocks;
mod one_attribute;
mod scan;
mod tables;

pub use allowed::{AllowedHtml, Check, Rule};
pub use one_attribute::{filter_attribute, split_attributes};
pub use scan::unescape_quotes;

/// A text with the markup that posts may have. Source: `wp_kses_post`.
///
/// PDF objects go, as no host of uploads is known here: see [`AllowedHtml::with_uploads_host`].
pub fn post(text: &str) -> String {
    filter(text, AllowedHtml::post())
}

/// A text with the markup that comments, titles and other short texts may have. Source: `wp_kses_data`.
pub fn data(text: &str) -> String {
    filter(text, AllowedHtml::data())
}

/// A text without markup; comments of blocks and other HTML comments stay. Source: `wp_kses` with `'strip'`.
pub fn strip(text: &str) -> String {
    filter(text, AllowedHtml::strip())
}

/// A text with the markup that `allowed` names.
///
/// Never fails and takes time in proportion to the text. Ampersands that begin no reference, and `<` and `>` that are no part of
/// a tag, come out escaped; the attributes of block comments are filtered like the text around them, which writes the comments
/// in their shortest form. Source: `wp_kses`.
pub fn filter(text: &str, allowed: &AllowedHtml) -> String {
    scan::Filter::new(allowed, text.len()).whole(text)
}
#[cfg(test)]
mod tests;
