//! Filters text before it is stored: removes markup that the author may not use, and normalizes the rest.
//!
//! `filtered` means that the author lacks the capability `unfiltered_html`. All functions take and return unslashed
//! text; slashes are added only where they affect the result. The display filters are in [`crate::display`].

use std::borrow::Cow;

use serde_json::{Map, Value, json};
use svc_php::cast::{is_scalar, to_text, truthy};
use svc_text::{convert_invalid_entities, esc_html, sanitize_key, sanitize_text_field, slash, unslash};

use crate::{
    blocks::{
        scan::{DelimiterKind, Scanner},
        serialize_attributes,
    },
    kses::{self, AllowedHtml},
};

/// The content of a post. Source: `content_save_pre`.
///
/// `filtered` also removes custom CSS of blocks, in addition to [`kses::post`].
pub fn content(text: &str, filtered: bool) -> String {
    content_with_allowed(text, filtered.then(AllowedHtml::post))
}

/// The content of a post with the allowed markup; `None` allows all markup.
///
/// For a site with uploads, use [`AllowedHtml::post`] with their host.
pub fn content_with_allowed(text: &str, allowed: Option<&AllowedHtml>) -> String {
    match allowed {
        Some(allowed) => {
            let filtered = kses::filter(&convert_invalid_entities(&without_block_css(text)), allowed);
            // Filtering may complete a block comment, so remove CSS again. WordPress does not do this.
            without_block_css(&filtered).into_owned()
        }
        None => convert_invalid_entities(text),
    }
}

/// The excerpt of a post. Source: `excerpt_save_pre`.
pub fn excerpt(text: &str, filtered: bool) -> String {
    let text = convert_invalid_entities(text);
    if filtered { kses::post(&text).into_string() } else { text }
}

/// The title of a post. Source: `title_save_pre`.
pub fn title(text: &str, filtered: bool) -> String {
    // NUL is slashed when WordPress trims the title, so it is not white space here.
    let text = text.trim_matches([' ', '\t', '\n', '\r', '\x0B']);
    if filtered { kses::data(text).into_string() } else { text.to_owned() }
}

/// The name of a term, for all authors: plain text with `&`, `<` and `>` escaped. Source: `pre_term_name`.
pub fn term_name(text: &str) -> String {
    // Slashed text, since quotes in text that looks like a tag are escaped differently.
    let plain = unslash(&sanitize_text_field(&slash(text)));
    let allowed = kses::data(&plain);
    // References have no quotes, so escape the parts between quotes separately.
    let mut out = String::with_capacity(allowed.len());
    for part in allowed.split_inclusive(['"', '\'']) {
        let quote = if part.ends_with(['"', '\'']) { part.len() - 1 } else { part.len() };
        out.push_str(&esc_html(&part[..quote]));
        out.push_str(&part[quote..]);
    }
    out
}

/// The URL of a comment author, for all authors. Source: `pre_comment_author_url`.
pub fn author_url(text: &str) -> String {
    kses::data(&svc_text::sanitize_url(&svc_text::strip_all_tags(text, false))).into_string()
}

/// The description of a term, for all authors. Source: `pre_term_description`.
pub fn term_description(text: &str) -> String {
    kses::filter(text, AllowedHtml::description()).into_string()
}

/// The biographical text of a user, for all authors. Source: `pre_user_description`.
pub fn user_description(text: &str) -> String {
    kses::filter(text, AllowedHtml::description()).into_string()
}

/// The footnotes of a post, for authors without `unfiltered_html`: a JSON list of objects with `id` and `content`.
///
/// Other properties, and footnotes without an id or content, are removed; text that is not a list or an object becomes
/// empty. Source: `_wp_filter_post_meta_footnotes`.
pub fn footnotes(text: &str) -> String {
    let footnotes = match svc_php::json::decode(text.as_bytes()) {
        Ok(Value::Array(list)) => list,
        Ok(Value::Object(members)) => members.into_iter().map(|(_, footnote)| footnote).collect(),
        _ => return String::new(),
    };
    let filtered = |footnote: &Value| {
        let [id, content] = ["id", "content"].map(|name| footnote.get(name).filter(|value| truthy(value)));
        let (id, content) = (id?, content.filter(|content| is_scalar(content))?);
        let id = if is_scalar(id) { sanitize_key(&to_text(id)) } else { String::new() };
        Some(json!({"id": id, "content": kses::post(&to_text(content)).as_str()}))
    };
    svc_php::json::encode(&footnotes.iter().filter_map(filtered).collect())
}

/// The content of a comment, without marking its links, which depends on the site's URL; callers do this afterwards.
/// Source: `pre_comment_content` up to priority 14.
///
/// `filtered` keeps only the classes of user mentions on `span` elements.
pub fn comment_content(text: &str, filtered: bool) -> String {
    let text = convert_invalid_entities(text);
    if filtered { mention_classes(&kses::filter(&text, AllowedHtml::comment())) } else { text }
}

/// Removes the custom CSS of blocks (`style.css`) and serializes the attributes of these blocks; everything else is
/// unchanged. Source: `wp_strip_custom_css_from_blocks`.
fn without_block_css(content: &str) -> Cow<'_, str> {
    // Property names may be escaped.
    if !content.contains("css") && !content.contains("\\u") {
        return Cow::Borrowed(content);
    }
    let mut out = String::new();
    let mut at = 0;
    let mut scanner = Scanner::new(content);
    while let Some(delimiter) = scanner.next() {
        let Some(attrs) = delimiter.attrs.filter(|_| delimiter.kind != DelimiterKind::Closer) else { continue };
        let Some(remaining) = attributes_without_css(attrs) else { continue };
        // Attributes start at the first brace of the comment and are surrounded by white space.
        let Some(start) = content[delimiter.start..].find('{').map(|i| delimiter.start + i) else { continue };
        out.push_str(&content[at..start]);
        at = start + attrs.len();
        if remaining.is_empty() {
            out.pop();
        } else {
            out.push_str(&serialize_attributes(&remaining));
        }
    }
    if at == 0 {
        return Cow::Borrowed(content);
    }
    out.push_str(&content[at..]);
    Cow::Owned(out)
}

/// The attributes without custom CSS; `None` if there is none.
fn attributes_without_css(text: &str) -> Option<Map<String, Value>> {
    let Ok(Value::Object(mut attrs)) = svc_php::json::decode(text.as_bytes()) else { return None };
    let style = attrs.get_mut("style")?.as_object_mut()?;
    style.shift_remove("css").filter(|css| !css.is_null())?;
    if style.is_empty() {
        attrs.shift_remove("style");
    }
    Some(attrs)
}

/// Removes all classes of `span` elements in filtered text except `wp-note-mention` and `user-…` with an id. A `span`
/// without classes keeps the space before the attribute. Source: `_wp_kses_sanitize_note_mention_classes`.
fn mention_classes(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    // Tags are normalized in filtered text.
    const CLASS: &str = " class=\"";
    while let Some(tag) = text[at..].find('<').map(|i| at + i) {
        if text[tag..].starts_with("<!--") {
            // Skip comments, which may contain text that looks like a tag.
            let end = text[tag..].find("-->").map_or(text.len(), |i| tag + i + "-->".len());
            out.push_str(&text[at..end]);
            at = end;
            continue;
        }
        let is_span = text.as_bytes()[tag + 1..].get(..4).is_some_and(|name| name.eq_ignore_ascii_case(b"span"));
        let value = tag + 1 + 4 + CLASS.len();
        let len =
            text.get(tag + 5..).and_then(|rest| rest.strip_prefix(CLASS)?.find('"')).filter(|len| is_span && *len > 0);
        let Some(len) = len else {
            out.push_str(&text[at..=tag]);
            at = tag + 1;
            continue;
        };
        let mut remaining =
            text[value..value + len].split_ascii_whitespace().filter(|class| is_mention(class)).peekable();
        if remaining.peek().is_none() {
            out.push_str(&text[at..value - CLASS.len() + 1]);
            at = value + len + 1;
        } else {
            out.push_str(&text[at..value]);
            for (idx, class) in remaining.enumerate() {
                out.push_str(if idx == 0 { "" } else { " " });
                out.push_str(class);
            }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(save: impl Fn(&str) -> String, rows: &[(&str, &str)]) {
        for (text, expected) in rows {
            assert_eq!(save(text), *expected, "{text:?}");
        }
    }

    #[test]
    fn titles() {
        check(
            |text| title(text, true),
            &[("  <b>x</b> <span>y ", "<b>x</b> y"), ("\0 a \0", " a "), ("a & b > c\\", "a &amp; b &gt; c\\")],
        );
        check(|text| title(text, false), &[(" <script>x</script> & ", "<script>x</script> &")]);
    }

    #[test]
    fn contents_and_excerpts() {
        let text = " &#150;<p onclick=x>a & b<script> ";
        let filtered = " &#8211;<p>a &amp; b ";
        check(|text| content(text, true), &[(text, filtered)]);
        check(|text| excerpt(text, true), &[(text, filtered)]);
        let free = " &#8211;<p onclick=x>a & b<script> ";
        check(|text| content(text, false), &[(text, free)]);
        check(|text| excerpt(text, false), &[(text, free)]);
        let pdf = "<object data=\"http://a.example/x.pdf\" type=\"application/pdf\"></object>";
        let allowed = AllowedHtml::post().clone().with_uploads_host("a.example");
        check(|text| content_with_allowed(text, Some(&allowed)), &[(pdf, pdf)]);
        check(|text| content(text, true), &[(pdf, "<object></object>")]);
    }

    #[test]
    fn custom_styles_of_blocks() {
        let css = "<!-- wp:core/p {\"style\":{\"css\":\"x\",\"a\":1.0}} /-->";
        check(
            |text| content(text, true),
            &[
                (css, "<!-- wp:p {\"style\":{\"a\":1}} /-->"),
                ("<!-- wp:p {\"style\":{\"css\":\"a<b\"}} -->x<!-- /wp:p -->", "<!-- wp:p -->x<!-- /wp:p -->"),
                ("<!-- wp:p {\"style\":{\"\\u0063ss\":[]}} /-->", "<!-- wp:p /-->"),
                ("<!-- wp:p {\"style\":{\"css\":null}} /-->", "<!-- wp:p {\"style\":{\"css\":null}} /-->"),
                ("<!-- wp:p {\"a\":{\"style\":{\"css\":1}}} /-->", "<!-- wp:p {\"a\":{\"style\":{\"css\":1}}} /-->"),
                // These become blocks only by filtering.
                ("<!--  wp:p {\"style\":{\"css\":1}} -->x<!-- /wp:p -->", "<!-- wp:p -->x<!-- /wp:p -->"),
                ("<!-- wp:p {\"style\":{\"css\":1}} --->x<!-- /wp:p -->", "<!-- wp:p -->x<!-- /wp:p -->"),
            ],
        );
        check(|text| content(text, false), &[(css, css)]);
        check(|text| excerpt(text, true), &[(css, "<!-- wp:p {\"style\":{\"css\":\"x\",\"a\":1}} /-->")]);
    }

    #[test]
    fn footnotes_of_filtered_authors() {
        check(
            footnotes,
            &[
                (
                    r#"[{"content":"<script>alert(1)</script><b onclick=x>n</b>","id":"x1"}]"#,
                    r#"[{"id":"x1","content":"alert(1)<b>n<\/b>"}]"#,
                ),
                (
                    r#"{"a":{"id":"A b-c","content":"é & \"q\" 'r' \\","z":1},"b":5}"#,
                    r#"[{"id":"ab-c","content":"\u00e9 &amp; \"q\" 'r' \\"}]"#,
                ),
                (
                    r#"[{"id":"","content":"x"},{"id":"a"},{"id":"a","content":"0"},{"id":7,"content":1.5},{"id":[1],"content":true},"x",null,[]]"#,
                    r#"[{"id":"7","content":"1.5"},{"id":"","content":"1"}]"#,
                ),
                ("[]", "[]"),
                ("{}", "[]"),
                ("", ""),
                ("null", ""),
                ("5", ""),
                (r#""<b>""#, ""),
                ("<script>", ""),
                ("[{]", ""),
            ],
        );
    }

    #[test]
    fn terms() {
        check(
            term_name,
            &[
                ("a & b <i>c</i> \"d\" 'e'", "a &amp; b c \"d\" 'e'"),
                ("a <\"b\" c", "a &lt;&quot;b&quot; c"),
                ("x > y &lt; &quot; &apos;", "x &gt; y &lt; &quot; &amp;apos;"),
                (" a%41 b\\", "a b\\"),
            ],
        );
        check(term_description, &[("<p><a href=x rel=y class=z>&", "<a href=\"x\" rel=\"y\">&amp;")]);
        check(user_description, &[("<p><b>x", "<b>x")]);
    }

    #[test]
    fn comments() {
        check(
            |text| comment_content(text, true),
            &[
                ("<p>&#150;<b>x", "&#8211;<b>x"),
                ("<!-- > <span class='a'> --><i>", "<!-- &gt; <span class=\"a\"> --><i>"),
                ("<span class='user-12 x wp-note-mention' id=y>", "<span class=\"user-12 wp-note-mention\">"),
                ("<SPAN class=a>x</SPAN><span class=\"user-01\"/>", "<SPAN >x</SPAN><span  />"),
                ("<span class><span class=\"\"><b class=x>", "<span class><span class=\"\"><b>"),
                ("<span class=\"user-1 user-1\n user-2x\">", "<span class=\"user-1 user-1\">"),
            ],
        );
        check(|text| comment_content(text, false), &[("<span class='a'>&#150;", "<span class='a'>&#8211;")]);
    }
}
