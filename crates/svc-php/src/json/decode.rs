//! Parses JSON as PHP's `json_decode` does, with its error codes.
//!
//! Open arrays and objects are on an explicit stack, so nesting uses no call stack.

use std::fmt;

use serde_json::{Map, Value};

use crate::{Array, ArrayKey, Php, value::float_value};

/// Maximum number of open arrays and objects. PHP's depth of 512 also counts the innermost value.
pub const MAX_DEPTH: usize = 511;

/// Unused capacity, in bytes, that a parsed string may have.
const MAX_SPARE_CAPACITY: usize = 256;

/// A JSON syntax error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JsonError {
    /// The kind of error.
    pub kind: JsonErrorKind,
    /// Position of the error, in bytes from the start.
    pub offset: usize,
}

/// Kinds of JSON errors. The discriminants are PHP's error codes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum JsonErrorKind {
    /// Nesting deeper than [`MAX_DEPTH`].
    Depth = 1,
    /// An array closed by a brace, or an object closed by a bracket.
    StateMismatch = 2,
    /// A control character, or an unterminated string.
    ControlCharacter = 3,
    /// Any other syntax error.
    Syntax = 4,
    /// Invalid UTF-8.
    Utf8 = 5,
    /// An unpaired surrogate in a `\u` escape.
    Utf16 = 10,
    /// More values than the limit of [`decode_bounded`]. PHP has no such limit.
    TooManyValues = 1_000,
}

impl JsonError {
    /// PHP's error code (`json_last_error`).
    pub fn number(&self) -> i64 {
        self.kind as i64
    }
}

/// PHP's error message (`json_last_error_msg`), which the REST API returns.
impl fmt::Display for JsonError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.kind {
            JsonErrorKind::Depth => "Maximum stack depth exceeded",
            JsonErrorKind::StateMismatch => "State mismatch (invalid or malformed JSON)",
            JsonErrorKind::ControlCharacter => "Control character error, possibly incorrectly encoded",
            JsonErrorKind::Syntax => "Syntax error",
            JsonErrorKind::Utf8 => "Malformed UTF-8 characters, possibly incorrectly encoded",
            JsonErrorKind::Utf16 => "Single unpaired UTF-16 surrogate in unicode escape",
            JsonErrorKind::TooManyValues => "Too many values",
        })
    }
}

impl std::error::Error for JsonError {}

/// Parses JSON. Objects stay objects: `{}` and `[]` remain distinct.
///
/// Integers beyond 64 bits become floats, floats out of range become the largest finite float, and the last of
/// several properties with one name takes precedence.
///
/// # Errors
/// [`JsonError`] for every text that PHP's `json_decode` rejects.
pub fn decode(text: &[u8]) -> Result<Value, JsonError> {
    JsonParser::new(text, usize::MAX).document()
}

/// [`decode`] for untrusted input: fails if the text holds more than `max_values` values, where arrays and objects
/// count as values, too.
///
/// A value takes about 70 bytes of memory, up to about 300 in objects with a single property, and may be as short as
/// two bytes of text.
///
/// # Errors
/// As [`decode`], and [`JsonErrorKind::TooManyValues`].
pub fn decode_bounded(text: &[u8], max_values: usize) -> Result<Value, JsonError> {
    JsonParser::new(text, max_values).document()
}

/// [`decode`] to PHP values: objects become arrays, and floats may be infinite.
///
/// # Errors
/// As [`decode`].
pub fn decode_php(text: &[u8]) -> Result<Php, JsonError> {
    JsonParser::new(text, usize::MAX).document()
}

/// The type of tree that the parser builds.
trait TreeBuilder: Sized {
    type Entries: Default;
    fn null() -> Self;
    fn bool(b: bool) -> Self;
    fn int(n: i64) -> Self;
    fn float(f: f64) -> Self;
    fn text(text: String) -> Self;
    fn list(items: Vec<Self>) -> Self;
    fn insert(entries: &mut Self::Entries, name: String, value: Self);
    fn map(entries: Self::Entries) -> Self;
}

impl TreeBuilder for Value {
    type Entries = Map<String, Value>;
    fn null() -> Self {
        Value::Null
    }
    fn bool(b: bool) -> Self {
        Value::Bool(b)
    }
    fn int(n: i64) -> Self {
        Value::from(n)
    }
    fn float(f: f64) -> Self {
        float_value(f)
    }
    fn text(text: String) -> Self {
        Value::String(text)
    }
    fn list(items: Vec<Self>) -> Self {
        Value::Array(items)
    }
    fn insert(entries: &mut Self::Entries, name: String, value: Self) {
        entries.insert(name, value);
    }
    fn map(entries: Self::Entries) -> Self {
        Value::Object(entries)
    }
}

impl TreeBuilder for Php {
    type Entries = Array;
    fn null() -> Self {
        Php::Null
    }
    fn bool(b: bool) -> Self {
        Php::Bool(b)
    }
    fn int(n: i64) -> Self {
        Php::Int(n)
    }
    fn float(f: f64) -> Self {
        Php::Float(f)
    }
    fn text(text: String) -> Self {
        Php::Bytes(text.into_bytes())
    }
    fn list(items: Vec<Self>) -> Self {
        Php::Array(items.into_iter().collect())
    }
    fn insert(entries: &mut Self::Entries, name: String, value: Self) {
        entries.insert(ArrayKey::from(name.as_str()), value);
    }
    fn map(entries: Self::Entries) -> Self {
        Php::Array(entries)
    }
}

/// An unfinished array or object; an object with the name of the property being parsed.
enum Unfinished<T: TreeBuilder> {
    List(Vec<T>),
    Map(T::Entries, String),
}

#[derive(Debug, PartialEq)]
enum Token {
    End,
    Null,
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(String),
    /// One of `[]{},:`.
    Mark(u8),
}

struct JsonParser<'a> {
    input: &'a [u8],
    /// The longest prefix of the input that is valid UTF-8. Invalid bytes after it are an error only when the parser
    /// reaches them.
    text: &'a str,
    at: usize,
    /// How many more values may be parsed.
    n_left: usize,
}

impl<'a> JsonParser<'a> {
    fn new(input: &'a [u8], max_values: usize) -> Self {
        let valid = match std::str::from_utf8(input) {
            Ok(text) => text.len(),
            Err(error) => error.valid_up_to(),
        };
        let text = std::str::from_utf8(&input[..valid]).unwrap_or_default();
        JsonParser { input, text, at: 0, n_left: max_values }
    }

    fn error<R>(&self, kind: JsonErrorKind) -> Result<R, JsonError> {
        Err(JsonError { kind, offset: self.at })
    }

    fn document<T: TreeBuilder>(mut self) -> Result<T, JsonError> {
        let mut open: Vec<Unfinished<T>> = Vec::new();
        let mut token = self.token()?;
        loop {
            // A value is expected here, and `token` is its first token.
            match self.n_left.checked_sub(1) {
                Some(n_left) => self.n_left = n_left,
                None => return self.error(JsonErrorKind::TooManyValues),
            }
            let mut value = match token {
                Token::Null => T::null(),
                Token::Bool(b) => T::bool(b),
                Token::Int(n) => T::int(n),
                Token::Float(f) => T::float(f),
                Token::Text(text) => T::text(text),
                Token::Mark(mark @ (b'[' | b'{')) => {
                    if open.len() >= MAX_DEPTH {
                        return self.error(JsonErrorKind::Depth);
                    }
                    token = self.token()?;
                    match (mark, token) {
                        (b'[', Token::Mark(b']')) => T::list(Vec::new()),
                        (b'{', Token::Mark(b'}')) => T::map(T::Entries::default()),
                        (b'[', Token::Mark(b'}')) | (b'{', Token::Mark(b']')) => {
                            return self.error(JsonErrorKind::StateMismatch);
                        }
                        (b'[', first) => {
                            open.push(Unfinished::List(Vec::new()));
                            token = first;
                            continue;
                        }
                        (_, first) => {
                            let name = self.property_name(first)?;
                            open.push(Unfinished::Map(T::Entries::default(), name));
                            token = self.token()?;
                            continue;
                        }
                    }
                }
                Token::Mark(_) | Token::End => return self.error(JsonErrorKind::Syntax),
            };
            // Add the complete value to the innermost open array or object, which may complete that one as well.
            loop {
                let next = self.token()?;
                match (open.pop(), next) {
                    (None, Token::End) => return Ok(value),
                    (Some(Unfinished::List(mut items)), Token::Mark(mark @ (b',' | b']'))) => {
                        items.push(value);
                        if mark == b',' {
                            open.push(Unfinished::List(items));
                            break;
                        }
                        value = T::list(items);
                    }
                    (Some(Unfinished::Map(mut entries, name)), Token::Mark(mark @ (b',' | b'}'))) => {
                        T::insert(&mut entries, name, value);
                        if mark == b',' {
                            let first = self.token()?;
                            let name = self.property_name(first)?;
                            open.push(Unfinished::Map(entries, name));
                            break;
                        }
                        value = T::map(entries);
                    }
                    (Some(_), Token::Mark(b']' | b'}')) => return self.error(JsonErrorKind::StateMismatch),
                    _ => return self.error(JsonErrorKind::Syntax),
                }
            }
            token = self.token()?;
        }
    }

    /// The property name in `token`; consumes the colon after it.
    fn property_name(&mut self, token: Token) -> Result<String, JsonError> {
        let Token::Text(name) = token else { return self.error(JsonErrorKind::Syntax) };
        if self.token()? == Token::Mark(b':') { Ok(name) } else { self.error(JsonErrorKind::Syntax) }
    }

    fn token(&mut self) -> Result<Token, JsonError> {
        while matches!(self.peek(0), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
        let Some(byte) = self.peek(0) else { return Ok(Token::End) };
        match byte {
            b'[' | b']' | b'{' | b'}' | b',' | b':' => {
                self.at += 1;
                Ok(Token::Mark(byte))
            }
            b'"' => self.string(),
            b'-' | b'0'..=b'9' => self.number(),
            b't' if self.keyword("true") => Ok(Token::Bool(true)),
            b'f' if self.keyword("false") => Ok(Token::Bool(false)),
            b'n' if self.keyword("null") => Ok(Token::Null),
            0..0x20 => self.error(JsonErrorKind::ControlCharacter),
            0x80.. if self.at >= self.text.len() => self.error(JsonErrorKind::Utf8),
            _ => self.error(JsonErrorKind::Syntax),
        }
    }

    fn peek(&self, ahead: usize) -> Option<u8> {
        self.input.get(self.at + ahead).copied()
    }

    fn keyword(&mut self, keyword: &str) -> bool {
        let found = self.input[self.at..].starts_with(keyword.as_bytes());
        self.at += if found { keyword.len() } else { 0 };
        found
    }

    fn number(&mut self) -> Result<Token, JsonError> {
        let start = self.at;
        let mut end = start + usize::from(self.peek(0) == Some(b'-'));
        let digits = |from: usize| self.input[from..].iter().take_while(|b| b.is_ascii_digit()).count();
        end += match self.input.get(end) {
            Some(b'0') => 1,
            Some(b'1'..=b'9') => digits(end),
            _ => return self.error(JsonErrorKind::Syntax),
        };
        let mut is_integer = true;
        if self.input.get(end) == Some(&b'.') && digits(end + 1) > 0 {
            end += 1 + digits(end + 1);
            is_integer = false;
        }
        if let Some(b'e' | b'E') = self.input.get(end) {
            let sign = usize::from(matches!(self.input.get(end + 1), Some(b'+' | b'-')));
            let n = self.input.get(end + 1 + sign..).map_or(0, |_| digits(end + 1 + sign));
            if n > 0 {
                end += 1 + sign + n;
                is_integer = false;
            }
        }
        let text = &self.text[start..end];
        self.at = end;
        if is_integer && let Ok(n) = text.parse() {
            return Ok(Token::Int(n));
        }
        text.parse().map_or_else(|_| self.error(JsonErrorKind::Syntax), |f| Ok(Token::Float(f)))
    }

    fn string(&mut self) -> Result<Token, JsonError> {
        self.at += 1;
        let mut out = String::new();
        let mut plain = self.at;
        loop {
            match self.peek(0) {
                Some(b'"') => {
                    out.push_str(&self.text[plain..self.at]);
                    self.at += 1;
                    // The capacity of a long string can be twice its length.
                    if out.capacity() - out.len() > MAX_SPARE_CAPACITY {
                        out.shrink_to_fit();
                    }
                    return Ok(Token::Text(out));
                }
                Some(b'\\') => {
                    out.push_str(&self.text[plain..self.at]);
                    out.push(self.escape()?);
                    plain = self.at;
                }
                None | Some(0..0x20) => return self.error(JsonErrorKind::ControlCharacter),
                Some(0x80..) if self.at >= self.text.len() => return self.error(JsonErrorKind::Utf8),
                Some(_) => self.at += 1,
            }
        }
    }

    fn escape(&mut self) -> Result<char, JsonError> {
        let plain = match self.peek(1) {
            Some(c @ (b'"' | b'\\' | b'/')) => char::from(c),
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => return self.unicode_escape(),
            _ => return self.error(JsonErrorKind::Syntax),
        };
        self.at += 2;
        Ok(plain)
    }

    fn unicode_escape(&mut self) -> Result<char, JsonError> {
        let Some(first) = self.code_unit(0) else { return self.error(JsonErrorKind::Syntax) };
        let (units, length) = match self.code_unit(6) {
            Some(second) if (0xD800..0xDC00).contains(&first) => (vec![first, second], 12),
            _ => (vec![first], 6),
        };
        match char::decode_utf16(units).next() {
            Some(Ok(c)) => {
                self.at += length;
                Ok(c)
            }
            _ => self.error(JsonErrorKind::Utf16),
        }
    }

    /// The value of the `\u` escape at this offset from the current position.
    fn code_unit(&self, ahead: usize) -> Option<u16> {
        let escape = self.input.get(self.at + ahead..self.at + ahead + 6)?;
        let digits = escape.strip_prefix(b"\\u")?;
        digits.iter().try_fold(0u16, |n, digit| Some(n << 4 | u16::try_from(char::from(*digit).to_digit(16)?).ok()?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Text, and the compact JSON of its value or the error code.
    const ROWS: &[(&[u8], Result<&str, i64>)] = &[
        (b" [1, 2.50, -0, -0.0, 1e2]\n", Ok("[1,2.5,0,-0,100]")),
        (b"{\"a\":1,\"b\":2,\"a\":[]}", Ok("{\"a\":[],\"b\":2}")),
        (b"{}", Ok("{}")),
        (b"9223372036854775807", Ok("9223372036854775807")),
        (b"9223372036854775808", Ok("9.223372036854776e+18")),
        (b"1e400", Ok("1.7976931348623157e+308")),
        (b"\"\\u00e9\\ud83c\\udf89\\/\\b\"", Ok("\"é🎉/\\b\"")),
        (b"", Err(4)),
        (b"True", Err(4)),
        (b"\"abc", Err(3)),
        (b"\"a\tb\"", Err(3)),
        (b"\"\\u12\"", Err(4)),
        (b"\"\\x\"", Err(4)),
        (b"\"\\ud800\\u0041\"", Err(10)),
        (b"\"\\udc00\"", Err(10)),
        (b"[1}", Err(2)),
        (b"{]", Err(2)),
        (b"{\"a\":1]", Err(2)),
        (b"[1,}", Err(4)),
        (b"[1,]", Err(4)),
        (b"{1:2}", Err(4)),
        (b"1\0", Err(3)),
        (b"\x01", Err(3)),
        (b"\xff", Err(5)),
        (b"\"\xed\xa0\x80\"", Err(5)),
        (b"[1\xff", Err(5)),
        (b"[1 2\xff", Err(4)),
        (b"01", Err(4)),
        (b"-", Err(4)),
        (b"1.", Err(4)),
        (b"1e", Err(4)),
        (b"1e+", Err(4)),
    ];

    #[test]
    fn decode_bounded_counts_every_value() {
        for (text, n) in [("1", 1), ("[]", 1), ("[1,2]", 3), ("[[],[]]", 3), (r#"{"a":1,"b":{"c":[2]}}"#, 5)] {
            assert_eq!(decode_bounded(text.as_bytes(), n), decode(text.as_bytes()), "{text}");
            let result = decode_bounded(text.as_bytes(), n - 1).map_err(|e| e.kind);
            assert_eq!(result, Err(JsonErrorKind::TooManyValues), "{text}");
        }
    }

    #[test]
    fn values_and_error_codes() {
        for (text, expected) in ROWS {
            let value = decode(text).map(|v| crate::json::compact(&v)).map_err(|e| e.number());
            assert_eq!(value, expected.map(str::to_owned), "{}", text.escape_ascii());
        }
    }

    #[test]
    fn depth_is_bounded() {
        for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
            let nested = |n: usize| format!("{}1{}", open.repeat(n), close.repeat(n));
            assert!(decode(nested(MAX_DEPTH).as_bytes()).is_ok());
            assert_eq!(decode(nested(MAX_DEPTH + 1).as_bytes()).map_err(|e| e.number()), Err(1));
        }
        assert_eq!(decode("[".repeat(1_000_000).as_bytes()).map_err(|e| e.number()), Err(1));
    }

    #[test]
    fn decode_php_preserves_infinite_floats_and_integer_keys() {
        assert_eq!(decode_php(b"-1e400"), Ok(Php::Float(f64::NEG_INFINITY)));
        let expected: Array =
            [(ArrayKey::Int(5), Php::Int(1)), (ArrayKey::Bytes(b"05".to_vec()), Php::Null)].into_iter().collect();
        assert_eq!(decode_php(b"{\"5\":1,\"05\":null}"), Ok(Php::Array(expected)));
    }
}
