//! Escapes text for HTML text and attributes, text areas, scripts and XML.

use crate::{
    Html,
    entities::{entity, is_entity_name, push_reference},
    slashes::{slash, unslash},
};

/// Escapes text for HTML: `<`, `>` and both quotes, and each `&` that starts no valid reference.
///
/// Source: `esc_html`.
pub fn esc_html(text: &str) -> Html {
    let mut out = String::with_capacity(text.len());
    push_esc_html(&mut out, text);
    Html::escaped(out)
}

/// Appends text as [`esc_html`] returns it.
pub(crate) fn push_esc_html(out: &mut String, text: &str) {
    // HTML 4.01 has no entity `apos`, so its ampersand is escaped here although `apos` is valid in XML.
    push_special_chars(out, text, "&#039;", |name| name != "apos" && is_entity_name(name));
}

/// Escapes text for a quoted HTML attribute. Source: `esc_attr`.
pub fn esc_attr(text: &str) -> Html {
    esc_html(text)
}

pub(crate) fn special_chars(text: &str, apostrophe: &str, is_known: impl Fn(&str) -> bool) -> String {
    let mut out = String::with_capacity(text.len());
    push_special_chars(&mut out, text, apostrophe, is_known);
    out
}

fn push_special_chars(out: &mut String, text: &str, apostrophe: &str, is_known: impl Fn(&str) -> bool) {
    let mut at = 0;
    while let Some(i) = text[at..].find(['&', '<', '>', '"', '\'']) {
        let start = at + i;
        out.push_str(&text[at..start]);
        at = start + 1;
        match text.as_bytes()[start] {
            b'<' => out.push_str("&lt;"),
            b'>' => out.push_str("&gt;"),
            b'"' => out.push_str("&quot;"),
            b'\'' => out.push_str(apostrophe),
            _ => at = start + push_reference(out, &text[start..], &is_known),
        }
    }
    out.push_str(&text[at..]);
}

/// Escapes text for a text area. Every `&` is escaped, so that editing shows references as they are written.
///
/// Source: `esc_textarea`.
pub fn esc_textarea(text: &str) -> Html {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#039;"),
            c => out.push(c),
        }
    }
    Html::escaped(out)
}

/// Escapes text for a quoted string in an inline script inside an attribute. Source: `esc_js`.
pub fn esc_js(text: &str) -> String {
    let escaped = special_chars(text, "'", |name| name != "apos" && is_entity_name(name));
    let plain = unslash(&escaped).replace("&#039;", "'").replace("&#x27;", "'");
    slash(&plain.replace('\r', "")).replace('\n', "\\n")
}

/// Escapes text for XML. HTML entities that XML does not define become characters; CDATA sections are unchanged.
///
/// Source: `esc_xml`.
pub fn esc_xml(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find("<![CDATA[") {
        let Some(end) = rest[start..].find("]]>").map(|i| start + i + 3) else { break };
        out.push_str(&xml_part(&rest[..start]));
        out.push_str(&rest[start..end]);
        rest = &rest[end..];
    }
    out.push_str(&xml_part(rest));
    out
}

fn xml_part(text: &str) -> String {
    const XML: &[&str] = &["amp", "lt", "gt", "quot", "apos"];
    let mut plain = String::with_capacity(text.len());
    let mut at = 0;
    while let Some(i) = text[at..].find('&') {
        let start = at + i;
        plain.push_str(&text[at..start]);
        let named = match crate::entities::parse_reference(&text[start..]) {
            Some((crate::entities::Reference::Named(name), len)) if !XML.contains(&name) => {
                entity(name).map(|c| (c, len))
            }
            _ => None,
        };
        match named {
            Some((c, len)) => {
                plain.push(c);
                at = start + len;
            }
            None => {
                plain.push('&');
                at = start + 1;
            }
        }
    }
    plain.push_str(&text[at..]);
    special_chars(&plain, "&apos;", |name| XML.contains(&name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn html() {
        for (text, html, area) in [
            (
                "<a href='x'>\"&amp;&",
                "&lt;a href=&#039;x&#039;&gt;&quot;&amp;&amp;",
                "&lt;a href=&#039;x&#039;&gt;&quot;&amp;amp;&amp;",
            ),
            ("&apos;&nbsp;&#39;", "&amp;apos;&nbsp;&#039;", "&amp;apos;&amp;nbsp;&amp;#39;"),
        ] {
            assert_eq!(esc_html(text), html, "{text}");
            assert_eq!(esc_attr(text), html, "{text}");
            assert_eq!(esc_textarea(text), area, "{text}");
        }
    }

    #[test]
    fn js() {
        for (text, expected) in [
            ("it's \"x\"", "it\\'s &quot;x&quot;"),
            ("a\r\nb", "a\\nb"),
            ("&#39;&#x0027;&#039", "\\'\\'&amp;#039"),
            ("a\\'b\\\\", "a\\'b\\\\"),
        ] {
            assert_eq!(esc_js(text), expected, "{text}");
        }
    }

    #[test]
    fn xml() {
        for (text, expected) in [
            ("&eacute;&bogus;&lt;'", "é&amp;bogus;&lt;&apos;"),
            ("<![CDATA[ <a> ]]><b>", "<![CDATA[ <a> ]]>&lt;b&gt;"),
            ("<![CDATA[ <a>", "&lt;![CDATA[ &lt;a&gt;"),
            ("&#39;&#x41;&#0;", "&#039;&#x41;&amp;#0;"),
        ] {
            assert_eq!(esc_xml(text), expected, "{text}");
        }
    }
}
