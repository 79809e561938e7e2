//! Adds loading attributes to the images and iframes of rendered content.

use std::ops::Range;

use crate::{
    markup::{find, is_white},
    srcset::Image,
};

/// Access to the attachments of images.
pub trait Images {
    /// The attachment of the class `wp-image-ID`; `None` if it does not exist or is not an image.
    fn image(&self, id: u64) -> Option<Image>;
}

/// The attachment ids of the images in a text, for loading them with a single query.
pub fn attachment_ids(html: &str) -> Vec<u64> {
    let mut ids: Vec<u64> = tags(html).filter_map(|(range, _)| attachment(&html[range])).collect();
    ids.sort_unstable();
    ids.dedup();
    ids
}

/// The tags of images and iframes, and whether a tag is an image.
fn tags(html: &str) -> impl Iterator<Item = (Range<usize>, bool)> {
    let mut from = 0;
    std::iter::from_fn(move || {
        while let Some(at) = find(html, from, "<") {
            from = at + 1;
            let is_image = html[at..].starts_with("<img");
            let name = match is_image {
                true => 4,
                false if html[at..].starts_with("<iframe") => 7,
                false => continue,
            };
            if !html.as_bytes().get(at + name).is_some_and(|b| is_white(*b)) {
                continue;
            }
            let end = find(html, at, ">")?;
            if end > at + name + 1 {
                from = end + 1;
                return Some((at..from, is_image));
            }
        }
        None
    })
}

/// Adds `loading` and `decoding` to images and iframes without these attributes. Source: `wp_filter_content_tags`.
///
/// As in the REST API, no image is assumed to be visible initially.
pub fn content_tags(html: &str, images: Option<&dyn Images>) -> String {
    let mut out = String::with_capacity(html.len());
    let mut copied = 0;
    for (range, is_image) in tags(html) {
        out.push_str(&html[copied..range.start]);
        copied = range.end;
        let tag = &html[range];
        out.push_str(&if is_image { image(tag, images) } else { frame(tag) });
    }
    out.push_str(&html[copied..]);
    out
}

fn frame(tag: &str) -> String {
    let ready = [" src=\"", " width=\"", " height=\""].iter().all(|part| tag.contains(part));
    if ready && !tag.contains(" loading=") {
        return tag.replace("<iframe", "<iframe loading=\"lazy\"");
    }
    tag.to_owned()
}

fn image(tag: &str, images: Option<&dyn Images>) -> String {
    let details = images.and_then(|images| images.image(attachment(tag)?));
    let mut tag = details.map_or_else(|| tag.to_owned(), |details| details.complete(tag));
    if tag.contains(" src=\"") {
        let (has_decoding, has_loading) = (word(&tag, "decoding").is_some(), word(&tag, "loading").is_some());
        let first = word(&tag, "fetchpriority") == Some("high");
        let sized = tag.contains(" width=\"") && tag.contains(" height=\"");
        if !has_decoding {
            tag = tag.replacen("<img", "<img decoding=\"async\"", 1);
        }
        if sized && !has_loading && !first {
            tag = tag.replacen("<img", "<img loading=\"lazy\"", 1);
        }
    }
    auto_sizes(tag)
}

/// The attachment id in the image's class.
fn attachment(tag: &str) -> Option<u64> {
    let lower = tag.to_ascii_lowercase();
    let digits = &lower[lower.find("wp-image-")? + 9..];
    let len = digits.bytes().take_while(u8::is_ascii_digit).count();
    digits[..len].parse().ok()
}

/// The value of a quoted attribute that consists of letters.
fn word<'t>(tag: &'t str, name: &str) -> Option<&'t str> {
    let (_, rest) = tag.split_once(&format!(" {name}="))?;
    let quote = rest.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    let value = &rest[1..1 + rest[1..].find(quote)?];
    (!value.is_empty() && value.bytes().all(|b| b.is_ascii_alphabetic())).then_some(value)
}

/// Adds `auto` to the `sizes` of lazy-loaded images.
fn auto_sizes(tag: String) -> String {
    let value = |name: &str| {
        let at = tag.find(&format!(" {name}="))? + name.len() + 2;
        let quote = tag[at..].chars().next().filter(|c| matches!(c, '"' | '\''))?;
        let len = tag[at + 1..].find(quote)?;
        Some((at, &tag[at + 1..at + 1 + len]))
    };
    let lazy = value("loading").is_some_and(|(_, value)| value.eq_ignore_ascii_case("lazy"));
    let sized = value("width").is_some_and(|(_, value)| !value.is_empty());
    match value("sizes") {
        Some((at, sizes)) if lazy && sized && !is_auto(sizes) => {
            let escaped = sizes.replace('"', "&quot;");
            format!("{}\"auto, {escaped}\"{}", &tag[..at], &tag[at + sizes.len() + 2..])
        }
        _ => tag,
    }
}

fn is_auto(sizes: &str) -> bool {
    let first = sizes.split(',').next().unwrap_or_default();
    svc_text::trim(first).eq_ignore_ascii_case("auto")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags() {
        for (html, expected) in [
            ("<img src=\"a\">", "<img decoding=\"async\" src=\"a\">"),
            (
                "<img src=\"a\" width=\"5\" height=\"6\">",
                "<img loading=\"lazy\" decoding=\"async\" src=\"a\" width=\"5\" height=\"6\">",
            ),
            (
                "<img src=\"a\" width=\"5\" height=\"6\" loading=\"eager\">",
                "<img decoding=\"async\" src=\"a\" width=\"5\" height=\"6\" loading=\"eager\">",
            ),
            (
                "<img src=\"a\" width=\"5\" height=\"6\" decoding=\"sync\" loading=\"lazy\" sizes=\"10px\">",
                "<img src=\"a\" width=\"5\" height=\"6\" decoding=\"sync\" loading=\"lazy\" sizes=\"auto, 10px\">",
            ),
            ("<img src='a'>", "<img src='a'>"),
            (
                "<iframe src=\"x\" width=\"5\" height=\"6\">",
                "<iframe loading=\"lazy\" src=\"x\" width=\"5\" height=\"6\">",
            ),
            ("<iframe src=\"x\">", "<iframe src=\"x\">"),
            ("<img>", "<img>"),
            ("<img src=\"a", "<img src=\"a"),
        ] {
            assert_eq!(content_tags(html, None), expected, "{html}");
        }
    }
}
