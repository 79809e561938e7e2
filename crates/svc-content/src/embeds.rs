//! URLs of audio, video and other pages' content, alone on a line or in `[embed]`.

use svc_text::{Html, esc_html, esc_url, html};

use crate::{
    markup::{MarkupKind, find, html_split, is_white, skip_white, stored, trim_white_end},
    shortcodes::{Page, Shortcodes, media_kind},
};

/// Returns the cached embed HTML of a URL.
pub type EmbedLookup<'e> = Option<&'e dyn Fn(&str) -> Option<String>>;

/// The replacement of a URL: HTML, or a player's shortcode.
fn embed(url: &str, lookup: EmbedLookup<'_>) -> Option<String> {
    if let Some(kind) = media_kind(url).filter(|_| after_web_scheme(url, 0).is_some()) {
        return Some(format!("[{kind} src=\"{}\" /]", esc_url(url)));
    }
    if let Some(page) = video_page(url) {
        return Some(lookup.and_then(|lookup| lookup(&page)).unwrap_or(page));
    }
    lookup.and_then(|lookup| lookup(url))
}

/// The URL of the page for a video player's URL.
fn video_page(url: &str) -> Option<String> {
    let (host, rest) = after_web_scheme(url, 0).map(|end| &url[end..])?.split_once('/')?;
    let host = host.to_ascii_lowercase();
    let rest = rest.strip_prefix("v/").or_else(|| rest.strip_prefix("embed/"))?;
    let id = rest.split('/').next().filter(|id| !id.is_empty())?;
    matches!(host.as_str(), "youtube.com" | "www.youtube.com").then(|| format!("https://youtube.com/watch?v={id}"))
}

/// The position after `http://` or `https://`, ignoring case.
fn after_web_scheme(text: &str, at: usize) -> Option<usize> {
    ["http://", "https://"].into_iter().find_map(|scheme| {
        let own = text.get(at..at + scheme.len())?;
        own.eq_ignore_ascii_case(scheme).then_some(at + scheme.len())
    })
}

/// Replaces `[embed]` shortcodes, by a link if there is no embed. Source: `WP_Embed::run_shortcode`.
pub(crate) fn embed_shortcodes(text: &str, page: &Page, lookup: EmbedLookup<'_>) -> String {
    if !text.contains("[embed") {
        return text.to_owned();
    }
    Shortcodes::run_one("embed", text, page, &|call| {
        let content = call.content.filter(|content| !content.is_empty());
        let url = content.or(call.attributes.get("src")).unwrap_or_default().replace("&amp;", "&");
        if url.is_empty() {
            return Html::new();
        }
        match embed(&url, lookup) {
            Some(embed) => stored(embed),
            None => html!("<a href=\"{}\">{}</a>", esc_url(&url), esc_html(&url)),
        }
    })
}

/// Temporarily replaces line breaks inside tags.
const LINE_IN_TAG: &str = "<!-- wp-line-break -->";

/// Replaces URLs that are alone on a line or in a paragraph by their embeds.
///
/// Source: `WP_Embed::autoembed`.
pub(crate) fn autoembed(text: &str, lookup: EmbedLookup<'_>) -> String {
    if !text.contains("://") {
        return text.to_owned();
    }
    let mut hidden = String::with_capacity(text.len());
    for (kind, part) in html_split(text) {
        match kind {
            MarkupKind::Text => hidden.push_str(part),
            _ => hidden.push_str(&part.replace('\n', LINE_IN_TAG)),
        }
    }
    let mut out = String::with_capacity(hidden.len());
    for (n, line) in hidden.split('\n').enumerate() {
        if n > 0 {
            out.push('\n');
        }
        let url = trim_white_end(line);
        let start = skip_white(url, 0);
        match replace_lone_url(&url[start..], lookup) {
            Some(replacement) => {
                out.push_str(&line[..start]);
                out.push_str(&replacement);
                out.push_str(&line[url.len()..]);
            }
            None => out.push_str(line),
        }
    }
    in_paragraphs(&out, lookup).replace(LINE_IN_TAG, "\n")
}

/// The replacement of text that is a single URL: its embed, or the URL with references decoded.
fn replace_lone_url(text: &str, lookup: EmbedLookup<'_>) -> Option<String> {
    let host = after_web_scheme(text, 0)?;
    let whole = text.len() > host && !text.bytes().any(|b| is_white(b) || matches!(b, b'<' | b'>' | b'"'));
    let url = text.replace("&amp;", "&");
    whole.then(|| embed(&url, lookup).unwrap_or(url))
}

fn in_paragraphs(text: &str, lookup: EmbedLookup<'_>) -> String {
    let mut out = String::with_capacity(text.len());
    let (mut copied, mut from) = (0, 0);
    while let Some(at) = find(text, from, "<") {
        from = at + 1;
        let is =
            |at: usize, word: &str| text.get(at..at + word.len()).is_some_and(|own| own.eq_ignore_ascii_case(word));
        let open = match () {
            () if is(at, "<p>") => Some(at + 3),
            () if is(at, "<p ") => text[at..].find('>').map(|n| at + n + 1),
            () => None,
        };
        let Some(open) = open else { continue };
        let start = skip_white(text, open);
        let end = text[start..].find('<').map_or(text.len(), |n| start + n);
        let url = trim_white_end(&text[start..end]);
        if is(end, "</p>")
            && let Some(replacement) = replace_lone_url(url, lookup)
        {
            out.push_str(&text[copied..start]);
            out.push_str(&replacement);
            copied = start + url.len();
        }
        from = end.max(from);
    }
    out.push_str(&text[copied..]);
    out
}
