//! Text of a column that WordPress passes to PHP's `unserialize`: values of meta and options.
//!
//! Such text is code to WordPress: `O:8:"stdClass":0:{}` becomes an object when it is read. Values written to these
//! columns are therefore [`StoredText`], which is only created by the encoder (`maybe_serialize`: text that looks
//! serialized is serialized a second time) or by reading these columns, so that rows can be copied unchanged.

use svc_php::{
    Php,
    serialize::{from_stored, is_serialized, to_stored, unserialize},
};

/// A stored value of meta or of an option.
///
/// There is no conversion from text: use [`StoredText::of`], which encodes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StoredText(String);

impl StoredText {
    /// Encodes a value: a text, a number, an array. Do not pass an encoded value.
    pub fn of(value: impl Encode) -> Self {
        value.encode()
    }

    /// Wraps the content of a row.
    pub(crate) fn from_row(text: String) -> Self {
        StoredText(text)
    }

    /// The column's content, for comparisons and for copies to other databases.
    pub fn as_stored(&self) -> &str {
        &self.0
    }

    /// Returns whether the column is empty.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Decodes the value (`maybe_unserialize`). Objects are never instantiated.
    pub fn value(&self) -> Php {
        from_stored(self.0.as_bytes())
    }

    /// Decodes the value as JSON.
    pub fn json(&self) -> serde_json::Value {
        self.value().into()
    }

    /// Decodes the value as text. Other values (an array, an object, unreadable data) are returned as stored, so that
    /// writing them back stores them as text.
    pub fn text(&self) -> &str {
        let text = self.0.as_str();
        if !is_serialized(text.as_bytes(), true) {
            return text;
        }
        let trimmed = text.trim_matches([' ', '\t', '\n', '\r', '\0', '\x0B']);
        match unserialize(trimmed.as_bytes()) {
            Ok(Php::Bytes(inner)) => {
                // `s:5:"hello";`: the bytes after the first quotation mark.
                let start = trimmed.find('"').map_or(0, |at| at + 1);
                trimmed.get(start..start + inner.len()).unwrap_or(text)
            }
            Ok(Php::Int(_) | Php::Float(_)) => trimmed.get(2..).map_or(text, |t| t.split(';').next().unwrap_or(t)),
            Ok(Php::Bool(true)) => "1",
            Ok(Php::Bool(false) | Php::Null) => "",
            _ => text,
        }
    }
}

/// A value that can be encoded.
pub trait Encode {
    /// The encoded value.
    fn encode(self) -> StoredText;
}

impl Encode for Php {
    fn encode(self) -> StoredText {
        StoredText(
            String::from_utf8(to_stored(self)).unwrap_or_else(|e| String::from_utf8_lossy(e.as_bytes()).into_owned()),
        )
    }
}

impl Encode for &str {
    fn encode(self) -> StoredText {
        if is_serialized(self.as_bytes(), false) { Php::from(self).encode() } else { StoredText(self.to_owned()) }
    }
}

impl Encode for String {
    fn encode(self) -> StoredText {
        if is_serialized(self.as_bytes(), false) { Php::from(self.as_str()).encode() } else { StoredText(self) }
    }
}

impl Encode for &String {
    fn encode(self) -> StoredText {
        self.as_str().encode()
    }
}

impl Encode for i64 {
    fn encode(self) -> StoredText {
        StoredText(self.to_string())
    }
}

impl Encode for serde_json::Value {
    /// PHP has only one empty array, so an empty map is encoded as one.
    fn encode(self) -> StoredText {
        match self {
            serde_json::Value::Object(map) if map.is_empty() => Php::Array(svc_php::Array::new()).encode(),
            value => Php::from(value).encode(),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::StoredText;

    #[test]
    fn serialized_looking_text_round_trips() {
        for (text, stored) in [
            ("plain", "plain"),
            ("", ""),
            (r#"O:8:"stdClass":0:{}"#, r#"s:19:"O:8:"stdClass":0:{}";"#),
            (r#" O:8:"stdClass":0:{} "#, r#"s:21:" O:8:"stdClass":0:{} ";"#),
            (r#"s:1:"é";"#, r#"s:9:"s:1:"é";";"#),
            ("i:5;", r#"s:4:"i:5;";"#),
            ("b:1;", r#"s:4:"b:1;";"#),
            ("N;", r#"s:2:"N;";"#),
            ("a:0:{}", r#"s:6:"a:0:{}";"#),
            ("O:8:x", "O:8:x"),
            ("C:1:\"A\":0:{}", "C:1:\"A\":0:{}"),
        ] {
            let encoded = StoredText::of(text);
            assert_eq!(encoded.as_stored(), stored, "{text}");
            assert_eq!(encoded.text(), text);
            assert_eq!(encoded, StoredText::of(text.to_owned()));
            assert_eq!(encoded, StoredText::of(json!(text)));
            assert_eq!(encoded.json(), json!(text));
        }
    }

    #[test]
    fn encodes_other_values() {
        assert_eq!(StoredText::of(7), StoredText::of(json!(7)));
        assert_eq!(StoredText::of(json!(true)).as_stored(), "1");
        assert_eq!(StoredText::of(json!({})).as_stored(), "a:0:{}");
        assert_eq!(StoredText::of(json!({"a": ["O:1:"]})).as_stored(), r#"a:1:{s:1:"a";a:1:{i:0;s:4:"O:1:";}}"#);
    }

    #[test]
    fn decodes_rows_like_php() {
        for (stored, text) in [
            ("i:7;", "7"),
            ("d:0.5;", "0.5"),
            ("b:1;", "1"),
            ("b:0;", ""),
            ("N;", ""),
            (" s:1:\"x\"; ", "x"),
            // Not a text: returned as stored.
            ("a:0:{}", "a:0:{}"),
            ("O:8:\"stdClass\":0:{}", "O:8:\"stdClass\":0:{}"),
            ("s:5:\"x\";", "s:5:\"x\";"),
        ] {
            assert_eq!(StoredText::from_row(stored.to_owned()).text(), text, "{stored}");
        }
    }
}
