//! oEmbed responses as XML.

use std::fmt::Write as _;

use serde_json::Value;

/// Writes the properties as elements of a document. Other characters than ASCII become numeric references, so the document
/// is independent of its encoding.
pub(super) fn document(data: &Value) -> String {
    format!("<?xml version=\"1.0\"?>\n<oembed>{}</oembed>\n", content(data))
}

fn content(value: &Value) -> String {
    match value {
        Value::Object(properties) => {
            properties.iter().map(|(name, value)| format!("<{name}>{}</{name}>", content(value))).collect()
        }
        // HTML's named references are undefined in XML, so they are decoded first.
        value => escaped(&svc_text::decode_references(&svc_php::cast::to_text(value))),
    }
}

fn escaped(text: &str) -> String {
    text.chars().fold(String::with_capacity(text.len()), |mut out, c| {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '\n' | '\t' | ' '..='~' => out.push(c),
            // XML allows no other control characters, not even as references.
            c if c.is_control() => {}
            c => drop(write!(out, "&#x{:X};", u32::from(c))),
        }
        out
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_text_as_ascii() {
        let data = serde_json::json!({"width": 600, "title": "“A” &amp; <b>\u{1}é</b>"});
        assert_eq!(
            document(&data),
            "<?xml version=\"1.0\"?>\n<oembed><width>600</width><title>&#x201C;A&#x201D; &amp; &lt;b&gt;&#xE9;&lt;/b&gt;\
             </title></oembed>\n"
        );
    }
}
