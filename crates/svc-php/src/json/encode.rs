//! Writes JSON: a serde_json formatter with PHP's number format and escapes.

use std::io;

use serde::Serialize;
use serde_json::{
    Value,
    ser::{CharEscape, CompactFormatter, Formatter, PrettyFormatter, Serializer},
};

use crate::float;

/// The output styles of `json_encode`. All of them print whole floats without a fraction (`1.0` as `1`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// PHP's default, which WordPress's REST API uses: `/` and all non-ASCII characters are escaped.
    Escaped,
    /// `JSON_UNESCAPED_SLASHES
    /// JSON_UNESCAPED_UNICODE`: escapes only what JSON requires and the line separators U+2028 and U+2029.
    Compact,
    /// [`Style::Compact`] on several lines, indented by four spaces.
    Pretty,
}

/// Writes any serializable value to a stream.
///
/// # Errors
/// If writing fails, or if the value has no JSON form (a map whose keys are not strings).
pub fn write<T: Serialize + ?Sized>(out: impl io::Write, value: &T, style: Style) -> io::Result<()> {
    let result = match style {
        Style::Escaped => value
            .serialize(&mut Serializer::with_formatter(out, PhpFormatter { layout: CompactFormatter, escape: true })),
        Style::Compact => value
            .serialize(&mut Serializer::with_formatter(out, PhpFormatter { layout: CompactFormatter, escape: false })),
        Style::Pretty => {
            let layout = PrettyFormatter::with_indent(b"    ");
            value.serialize(&mut Serializer::with_formatter(out, PhpFormatter { layout, escape: false }))
        }
    };
    result.map_err(io::Error::from)
}

/// Encodes a value as `wp_json_encode` does: [`Style::Escaped`].
pub fn encode(value: &Value) -> String {
    text(value, Style::Escaped)
}

/// Encodes a value in [`Style::Compact`], the form of HTTP responses and block attributes.
pub fn compact(value: &Value) -> String {
    text(value, Style::Compact)
}

/// Encodes a value in [`Style::Pretty`].
pub fn pretty(value: &Value) -> String {
    text(value, Style::Pretty)
}

fn text(value: &Value, style: Style) -> String {
    let mut out = Vec::with_capacity(128);
    write(&mut out, value, style).expect("a JSON value serializes to memory without errors");
    String::from_utf8(out).expect("the formatter writes UTF-8")
}

/// PHP's number format and escapes on top of a serde_json layout.
struct PhpFormatter<F> {
    layout: F,
    escape: bool,
}

impl<F: Formatter> Formatter for PhpFormatter<F> {
    fn write_f64<W: ?Sized + io::Write>(&mut self, out: &mut W, value: f64) -> io::Result<()> {
        out.write_all(float::shortest(value, 'e').as_bytes())
    }

    fn write_f32<W: ?Sized + io::Write>(&mut self, out: &mut W, value: f32) -> io::Result<()> {
        self.write_f64(out, f64::from(value))
    }

    fn write_string_fragment<W: ?Sized + io::Write>(&mut self, out: &mut W, text: &str) -> io::Result<()> {
        let special = |c: char| match c {
            '\u{2028}' | '\u{2029}' => true,
            _ => self.escape && (c == '/' || !c.is_ascii()),
        };
        let mut rest = text;
        while let Some((at, c)) = rest.char_indices().find(|(_, c)| special(*c)) {
            out.write_all(&rest.as_bytes()[..at])?;
            if c == '/' {
                out.write_all(b"\\/")?;
            } else {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    write!(out, "\\u{unit:04x}")?;
                }
            }
            rest = &rest[at + c.len_utf8()..];
        }
        out.write_all(rest.as_bytes())
    }

    fn write_char_escape<W: ?Sized + io::Write>(&mut self, out: &mut W, escape: CharEscape) -> io::Result<()> {
        self.layout.write_char_escape(out, escape)
    }

    fn begin_array<W: ?Sized + io::Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.layout.begin_array(out)
    }

    fn end_array<W: ?Sized + io::Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.layout.end_array(out)
    }

    fn begin_array_value<W: ?Sized + io::Write>(&mut self, out: &mut W, first: bool) -> io::Result<()> {
        self.layout.begin_array_value(out, first)
    }

    fn end_array_value<W: ?Sized + io::Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.layout.end_array_value(out)
    }

    fn begin_object<W: ?Sized + io::Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.layout.begin_object(out)
    }

    fn end_object<W: ?Sized + io::Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.layout.end_object(out)
    }

    fn begin_object_key<W: ?Sized + io::Write>(&mut self, out: &mut W, first: bool) -> io::Result<()> {
        self.layout.begin_object_key(out, first)
    }

    fn begin_object_value<W: ?Sized + io::Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.layout.begin_object_value(out)
    }

    fn end_object_value<W: ?Sized + io::Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.layout.end_object_value(out)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn three_styles() {
        // value, escaped, compact
        for (value, escaped, plain) in [
            (json!("a/b"), r#""a\/b""#, r#""a/b""#),
            (json!("日本🎉"), r#""\u65e5\u672c\ud83c\udf89""#, "\"日本🎉\""),
            (json!("\u{2028}/é\u{7f}\u{1f}"), "\"\\u2028\\/\\u00e9\u{7f}\\u001f\"", "\"\\u2028/é\u{7f}\\u001f\""),
            (json!("\t\n\r\u{8}\u{c}\"\\"), r#""\t\n\r\b\f\"\\""#, r#""\t\n\r\b\f\"\\""#),
            (
                json!([1.0, -0.0, 1e21, 0.1, i64::MAX]),
                "[1,-0,1.0e+21,0.1,9223372036854775807]",
                "[1,-0,1.0e+21,0.1,9223372036854775807]",
            ),
            (json!({"é": {}, "a/b": []}), r#"{"\u00e9":{},"a\/b":[]}"#, r#"{"é":{},"a/b":[]}"#),
        ] {
            assert_eq!(encode(&value), escaped);
            assert_eq!(compact(&value), plain);
        }
    }

    #[test]
    fn pretty_indents_by_four() {
        let text = pretty(&json!({"a": [], "b": {}, "c": {"x": 1.0, "y": [1, "/é"]}}));
        let expected = "{\n    \"a\": [],\n    \"b\": {},\n    \"c\": {\n        \"x\": 1,\n        \"y\": [\n            1,\n            \"/é\"\n        ]\n    }\n}";
        assert_eq!(text, expected);
    }
}
