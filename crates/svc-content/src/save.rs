//! What happens to texts before they are stored: the markup that a writer may not use goes, the rest is tidied.
//!
//! `filtered` tells that the writer has not the capability `unfiltered_html`. Each function takes and gives plain text: the
//! backslashes that the reference adds before and removes after are added here only where they matter for the result.
//! What is displayed is made of stored text elsewhere.

use svc_text::{convert_invalid_entities, esc_html, sanitize_text_field, slash, unslash};

use crate::{
    blocks::{Block, parse, serialize_blocks},
    kses::{self, AllowedHtml},
};

/// Content of a post. Source: `content_save_pre`.
///
/// Filtered, it loses custom styles of blocks besides what [`kses::post`] takes.
pub fn content(text: &str, filtered: bool) -> String {
    content_with(text, filtered.then(AllowedHtml::post))
}

/// Content of a post, with the markup that the writer may use; `None` is a writer who may use all.
///
/// For a site with uploads, `allowed` is [`AllowedHtml::post`] with their host.
pub fn content_with(text: &str, allowed: Option<&AllowedHtml>) -> String {
    match allowed {
        Some(allowed) => kses::filter(&convert_invalid_entities(&without_block_css(text)), allowed),
        None => convert_invalid_entities(text),
    }
}

/// Excerpt of a post. Source: `excerpt_save_pre`.
pub fn excerpt(text: &str, filtered: bool) -> String {
    let text = convert_invalid_entities(text);
    if filtered { kses::post(&text) } else { text }
}

/// Title of a post. Source: `title_save_pre`.
pub fn title(text: &str, filtered: bool) -> String {
    // NUL is written with a backslash when the reference trims, so it does not count as white space.
    let text = text.trim_matches([' ', '\t', '\n', '\r', '\x0B']);
    if filtered { kses::data(text) } else { text.to_owned() }
}

/// Name of a term, whoever writes it: plain text with `&`, `<` and `>` escaped. Source: `pre_term_name`.
pub fn term_name(text: &str) -> String {
    // With backslashes before quotes, as quotes of what looks like a tag are escaped differently then.
    let plain = unslash(&sanitize_text_field(&slash(text)));
    let allowed = kses::data(&plain);
    // Quotes can stand in no reference, so the parts between them are escaped on their own.
    let mut out = String::with_capacity(allowed.len());
    for part in allowed.split_inclusive(['"', '\'']) {
        let quote = part.ends_with(['"', '\'']).then(|| part.len() - 1).unwrap_or(part.len());
        out.push_str(&esc_html(&part[..quote]));
        out.push_str(&part[quote..]);
    }
    out
}

/// Description of a term, whoever writes it. Source: `pre_term_description`.
pub fn term_description(text: &str) -> String {
    kses::filter(text, AllowedHtml::description())
}

/// Biographical text of a user, whoever writes it. Source: `pre_user_description`.
pub fn user_description(text: &str) -> String {
    kses::filter(text, AllowedHtml::description())
}

/// Content of a comment, but for the relations of its links, which depend on the site's own address: whoever stores it
/// marks links afterwards. Source: `pre_comment_content` up to priority 14.
///
/// Filtered, spans keep only the classes that mark mentions of users.
pub fn comment_content(text: &str, filtered: bool) -> String {
    let text = convert_invalid_entities(text);
    if filtered { mention_classes(&kses::filter(&text, AllowedHtml::comment())) } else { text }
}

/// Takes away the custom styles of blocks; content without any is not touched. Source: `wp_strip_custom_css_from_blocks`.
fn without_block_css(content: &str) -> String {
    // Names of members may be written with escapes.
    if content.contains("wp:") && (content.contains("\"css\"") || content.contains("\\u")) {
        let mut blocks = parse(content);
        let mut changed = false;
        blocks.iter_mut().for_each(|block| remove_css(block, &mut changed));
        if changed {
            return serialize_blocks(&blocks);
        }
    }
    content.to_owned()
}

/// Recursion is no deeper than blocks nest, which [`parse`] bounds.
fn remove_css(block: &mut Block<'_>, changed: &mut bool) {
    if let Some(serde_json::Value::Object(style)) = block.attrs.get_mut("style")
        && style.get("css").is_some_and(|css| !css.is_null())
    {
        style.shift_remove("css");
        if style.is_empty() {
            block.attrs.shift_remove("style");
        }
        *changed = true;
    }
    block.inner_blocks.iter_mut().for_each(|block| remove_css(block, changed));
}

/// In filtered text, leaves of the classes of spans only `wp-note-mention` and `user-…` with a number. A span without one
/// keeps the space that stood before its class. Source: `_wp_kses_sanitize_note_mention_classes`.
fn mention_classes(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    // Filtered text writes tags in one way only, and its comments hold no other.
    const CLASS: &str = " class=\"";
    while let Some(tag) = text[at..].find('<').map(|i| at + i) {
        let is_span = text.as_bytes()[tag + 1..].get(..4).is_some_and(|name| name.eq_ignore_ascii_case(b"span"));
        let value = tag + 1 + 4 + CLASS.len();
        let len =
            text.get(tag + 5..).and_then(|rest| rest.strip_prefix(CLASS)?.find('"')).filter(|len| is_span && *len > 0);
        let Some(len) = len else {
            out.push_str(&text[at..=tag]);
            at = tag + 1;
            continue;
        };
        let kept: Vec<&str> = text[value..value + len].split_ascii_whitespace().filter(|c| is_mention(c)).collect();
        if kept.is_empty() {
            out.push_str(&text[at..value - CLASS.len() + 1]);
            at = value + len + 1;
        } else {
            out.push_str(&text[at..value]);
            out.push_str(&kept.join(" "));
            at = value + len;
        }
    }
    out.push_str(&text[at..]);
    out
}

fn is_mention(class: &str) -> bool {
    class == "wp-note-mention"
        || class.strip_prefix("user-").is_some_and(|id| {
            id.starts_with(|c: char| ('1'..='9').contains(&c)) && id.bytes().all(|b| b.is_ascii_digit())
        })
}
