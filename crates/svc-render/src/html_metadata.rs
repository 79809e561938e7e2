//! Metadata in the head of an HTML page: title, icon, description, image.
//!
//! Reads the tags in one pass without building a tree. The body is not read.

use svc_text::{decode_references, strip_all_tags};

/// Metadata of an HTML page. Missing values are empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HtmlMetadata {
    /// The `title` element, as plain text.
    pub title: String,
    /// The icon's URL as written; it may be relative or a `data:` URL.
    pub icon: String,
    /// The `description` or `og:description`, as plain text.
    pub description: String,
    /// The `og:image` URL as written; it may be relative.
    pub image: String,
}

/// Maximum length of an icon's `data:` URL, in bytes. Longer ones are ignored.
const MAX_DATA_URL: usize = 16 << 10;

/// Reads the metadata in a page's head.
pub fn read(html: &str) -> HtmlMetadata {
    let mut metadata = HtmlMetadata::default();
    let mut at = 0;
    while let Some(tag) = Tag::next(html, at) {
        at = tag.end;
        match tag.name.as_str() {
            "body" => break,
            "/head" => break,
            "title" if metadata.title.is_empty() => {
                let text = until(html, at, "</title");
                metadata.title = plain(text);
                at += text.len();
            }
            "script" | "style" | "noscript" | "template" => at += until(html, at, &format!("</{}", tag.name)).len(),
            "link" if metadata.icon.is_empty() && tag.is_icon() => metadata.icon = icon(tag.attribute("href")),
            "meta" => meta(&mut metadata, &tag),
            _ => {}
        }
    }
    metadata
}

/// The URL of a page's JSON oEmbed document, as written; it may be relative.
pub fn description(html: &str) -> Option<String> {
    let mut at = 0;
    while let Some(tag) = Tag::next(html, at) {
        at = tag.end;
        match tag.name.as_str() {
            "body" | "/head" => break,
            "script" | "style" | "noscript" | "template" => at += until(html, at, &format!("</{}", tag.name)).len(),
            "link" if tag.attribute("type").trim().eq_ignore_ascii_case("application/json+oembed") => {
                return Some(tag.attribute("href")).filter(|href| !href.is_empty());
            }
            _ => {}
        }
    }
    None
}

fn meta(metadata: &mut HtmlMetadata, tag: &Tag<'_>) {
    let names = [tag.attribute("name"), tag.attribute("property")].map(|name| name.trim().to_ascii_lowercase());
    let is = |candidates: &[&str]| names.iter().any(|name| candidates.contains(&name.as_str()));
    if metadata.description.is_empty() && is(&["description", "og:description"]) {
        metadata.description = plain(&tag.raw_attribute("content"));
    }
    if metadata.image.is_empty() && is(&["og:image", "og:image:url"]) {
        metadata.image = tag.attribute("content").trim().to_owned();
    }
}

/// Text without markup, with character references decoded.
fn plain(text: &str) -> String {
    strip_all_tags(&decode_references(text), true).trim().to_owned()
}

fn icon(href: String) -> String {
    let href = href.trim();
    let is_data = href.get(..5).is_some_and(|scheme| scheme.eq_ignore_ascii_case("data:"));
    let fits = !is_data || (href.starts_with("data:image/") && href.len() <= MAX_DATA_URL);
    if fits { href.to_owned() } else { String::new() }
}

/// The text from `at` to the closing tag, or to the end.
fn until<'a>(html: &'a str, at: usize, close: &str) -> &'a str {
    let rest = &html[at..];
    let bytes = rest.as_bytes();
    let end = bytes.windows(close.len()).position(|w| w.eq_ignore_ascii_case(close.as_bytes()));
    &rest[..end.unwrap_or(rest.len())]
}

/// A tag with its unparsed attributes.
struct Tag<'a> {
    /// In lower case. The name of a closing tag begins with a slash.
    name: String,
    attributes: &'a str,
    /// Offset of the text after the tag.
    end: usize,
}

impl<'a> Tag<'a> {
    /// The first tag at or after an offset.
    fn next(html: &'a str, mut at: usize) -> Option<Self> {
        loop {
            let start = at + html.get(at..)?.find('<')?;
            let rest = &html[start + 1..];
            if let Some(comment) = rest.strip_prefix("!--") {
                at = start + 4 + comment.find("-->")? + 3;
                continue;
            }
            let n_name = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '/' && c != '-').unwrap_or(rest.len());
            let (name, inside) = rest.split_at(n_name);
            if name.is_empty() {
                at = start + 1;
                continue;
            }
            let n_inside = tag_end(inside)?;
            let end = start + 1 + n_name + n_inside + 1;
            return Some(Tag { name: name.to_ascii_lowercase(), attributes: &inside[..n_inside], end });
        }
    }

    fn is_icon(&self) -> bool {
        let rel = self.attribute("rel");
        rel.split_ascii_whitespace().any(|word| word.eq_ignore_ascii_case("icon"))
    }

    /// An attribute's value with character references decoded; empty if there is none.
    fn attribute(&self, name: &str) -> String {
        decode_references(&self.raw_attribute(name))
    }

    fn raw_attribute(&self, name: &str) -> String {
        let mut rest = self.attributes;
        loop {
            rest = rest.trim_start_matches(|c: char| c.is_ascii_whitespace() || c == '/' || c == '=');
            if rest.is_empty() {
                return String::new();
            }
            let n = rest.find(|c: char| c.is_ascii_whitespace() || c == '=' || c == '/').unwrap_or(rest.len());
            let (key, after) = rest.split_at(n);
            let (value, after) = match after.trim_start().strip_prefix('=') {
                Some(after) => value(after.trim_start()),
                None => ("", after),
            };
            if key.eq_ignore_ascii_case(name) {
                return value.to_owned();
            }
            rest = after;
        }
    }
}

/// Splits off the leading attribute value, quoted or not.
fn value(text: &str) -> (&str, &str) {
    for quote in ['"', '\''] {
        if let Some(inside) = text.strip_prefix(quote) {
            return inside.split_once(quote).unwrap_or((inside, ""));
        }
    }
    text.split_at(text.find(|c: char| c.is_ascii_whitespace()).unwrap_or(text.len()))
}

/// Offset of the `>` that ends a tag, outside quotes. An unclosed quote ends with the tag.
fn tag_end(inside: &str) -> Option<usize> {
    let mut quote = None;
    for (i, byte) in inside.bytes().enumerate() {
        match (quote, byte) {
            (None, b'>') => return Some(i),
            (None, b'"' | b'\'') if inside[..i].trim_end().ends_with('=') => quote = Some(byte),
            (Some(q), b) if q == b => quote = None,
            _ => {}
        }
    }
    inside.find('>')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(html: &str, expected: [&str; 4]) {
        let head = read(html);
        assert_eq!([&head.title, &head.icon, &head.description, &head.image].map(String::as_str), expected, "{html}");
    }

    #[test]
    fn reads_metadata_of_the_head() {
        check(
            "<!doctype html><html><head data-x='>'><title class=a>A &amp; <b>B</b>\n&#8211; C</title>\
             <link rel=\"shortcut icon\" href='/i.png?a=1&amp;b=2'><meta content=\"Says &quot;it&quot;\" name=Description />\
             <META property=\"og:image\" content=//x.example/i.png></head><body><title>no</title>",
            ["A & B – C", "/i.png?a=1&b=2", "Says \"it\"", "//x.example/i.png"],
        );
        // The first of each is used. Scripts and comments are skipped.
        check(
            "<head><!-- <title>no</title> --><script>'<title>no</title>'</script><title>one</title><title>two</title>\
             <link rel=stylesheet href=s><link href=a rel=icon><link href=b rel=icon>\
             <meta property=og:description content=d><meta name=description content=e>",
            ["one", "a", "d", ""],
        );
        check("<link rel=icon href='data:text/html,x'><body><meta name=description content=no>", ["", "", "", ""]);
        check("<link rel=icon href='data:image/png;base64,AA=='>", ["", "data:image/png;base64,AA==", "", ""]);
    }

    #[test]
    fn finds_oembed_urls() {
        let link = "<link rel=alternate type='application/json+oembed' href='/o?a=1&amp;b=2'>";
        assert_eq!(description(&format!("<head><title>x</title>{link}")).as_deref(), Some("/o?a=1&b=2"));
        assert_eq!(description(&format!("<head></head>{link}")), None);
        assert_eq!(description(&format!("<!-- {link} --><script>{link}</script>")), None);
    }

    #[test]
    fn tolerates_malformed_pages() {
        for html in [
            "",
            "<",
            "<title",
            "<title>",
            "<meta content='",
            "<!--",
            "<meta name=description content",
            "<é>",
            "<a b='>",
        ] {
            check(html, ["", "", "", ""]);
        }
        check("<title>half", ["half", "", "", ""]);
        // Linear time even if no quote is closed.
        let many = "<meta content='".repeat(50_000);
        let started = std::time::Instant::now();
        read(&many);
        assert!(started.elapsed().as_secs() < 5);
    }
}
