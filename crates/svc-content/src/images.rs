//! Images and frames of shown content: loaded late, decoded aside.

use crate::markup::find;

/// What a site knows about the images in its content.
pub trait Images {
    /// The tag with what the attachment adds (dimensions, `srcset`, `sizes`); nothing when it adds nothing.
    ///
    /// `id` is the number of the class `wp-image-NUMBER`.
    fn complete(&self, id: u64, tag: &str) -> Option<String>;
}

/// HTML with `loading` and `decoding` on images and frames that leave them open. Source: `wp_filter_content_tags`.
///
/// No image is taken to be in view at first, as on pages of the interface.
pub fn content_tags(html: &str, images: Option<&dyn Images>) -> String {
    let mut out = String::with_capacity(html.len());
    let (mut kept, mut from) = (0, 0);
    while let Some(at) = find(html, from, "<") {
        from = at + 1;
        let is_image = html[at..].starts_with("<img");
        let name = if is_image {
            4
        } else if html[at..].starts_with("<iframe") {
            7
        } else {
            continue;
        };
        if !html.as_bytes().get(at + name).is_some_and(|b| crate::markup::is_white(*b)) {
            continue;
        }
        let Some(end) = find(html, at, ">") else { break };
        if end <= at + name + 1 {
            continue;
        }
        let tag = &html[at..=end];
        out.push_str(&html[kept..at]);
        out.push_str(&if is_image { image(tag, images) } else { frame(tag) });
        (kept, from) = (end + 1, end + 1);
    }
    out.push_str(&html[kept..]);
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
    let mut tag = images.and_then(|images| images.complete(attachment(tag)?, tag)).unwrap_or_else(|| tag.to_owned());
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

/// The number in the class that names the attachment.
fn attachment(tag: &str) -> Option<u64> {
    let lower = tag.to_ascii_lowercase();
    let digits = &lower[lower.find("wp-image-")? + 9..];
    let len = digits.bytes().take_while(u8::is_ascii_digit).count();
    digits[..len].parse().ok()
}

/// The value of an attribute, quoted, that is made of letters.
fn word<'t>(tag: &'t str, name: &str) -> Option<&'t str> {
    let (_, rest) = tag.split_once(&format!(" {name}="))?;
    let quote = rest.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    let value = &rest[1..1 + rest[1..].find(quote)?];
    (!value.is_empty() && value.bytes().all(|b| b.is_ascii_alphabetic())).then_some(value)
}

/// Late images may take their size from the place they get on the page.
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
