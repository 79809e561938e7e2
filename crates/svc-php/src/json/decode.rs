//! Reading JSON text: PHP's `json_decode`, with its error numbers.
//!
//! The stack of open lists and maps is kept by hand, so that depth costs no call stack.

use std::fmt;

use serde_json::{Map, Value};

use crate::{Array, Key, Php, value::float_value};

/// Lists and maps that may be open at once. One less than PHP's depth of 512, which also counts the innermost value.
pub const MAX_DEPTH: usize = 511;

/// Bytes that a text may keep in reserve.
const SPARE: usize = 256;

/// Why JSON text cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JsonError {
    /// The kind of error.
    pub kind: JsonErrorKind,
    /// Where, in bytes from the start.
    pub offset: usize,
}

/// Kinds of errors, with PHP's numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JsonErrorKind {
    /// Nested more deeply than [`MAX_DEPTH`].
    Depth = 1,
    /// A list closed by a brace, or a map by a bracket.
    StateMismatch = 2,
    /// A control character, or a string without end.
    ControlCharacter = 3,
    /// Any other error of form.
    Syntax = 4,
    /// Bytes that are not UTF-8.
    Utf8 = 5,
    /// An escape that is half of a surrogate pair.
    Utf16 = 10,
    /// More values than [`decode_bounded`] was to read. PHP has no such bound.
    TooManyValues = 1_000,
}

impl JsonError {
    /// PHP's number of the error (`json_last_error`).
    pub fn number(&self) -> i64 {
        self.kind as i64
    }
}

/// PHP's words for the error (`json_last_error_msg`), which the interface shows.
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

/// Reads JSON text; maps stay maps (`{}` and `[]` stay apart).
///
/// Integers beyond 64 bits become floats, floats beyond their range the largest one, and the last of members with one name wins.
///
/// # Errors
/// As PHP's `json_decode` fails.
pub fn decode(text: &[u8]) -> Result<Value, JsonError> {
    Reader::new(text, usize::MAX).document()
}

/// As [`decode`], for text of strangers: lists, maps and what they hold count as values, and reading stops at the first
/// above `max_values`. A value takes some 70 bytes of memory, up to some 300 in maps of one member, and may be two bytes
/// of text.
///
/// # Errors
/// As PHP's `json_decode` fails, and [`JsonErrorKind::TooManyValues`].
pub fn decode_bounded(text: &[u8], max_values: usize) -> Result<Value, JsonError> {
    Reader::new(text, max_values).document()
}

/// As [`decode`], into PHP values: maps become arrays, and floats may be infinite.
///
/// # Errors
/// As PHP's `json_decode` fails.
pub fn decode_php(text: &[u8]) -> Result<Php, JsonError> {
    Reader::new(text, usize::MAX).document()
}

/// What is built while reading.
trait Tree: Sized {
    type Members: Default;
    fn null() -> Self;
    fn bool(b: bool) -> Self;
    fn int(n: i64) -> Self;
    fn float(f: f64) -> Self;
    fn text(text: String) -> Self;
    fn list(items: Vec<Self>) -> Self;
    fn insert(members: &mut Self::Members, name: String, value: Self);
    fn map(members: Self::Members) -> Self;
}

impl Tree for Value {
    type Members = Map<String, Value>;
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
    fn insert(members: &mut Self::Members, name: String, value: Self) {
        members.insert(name, value);
    }
    fn map(members: Self::Members) -> Self {
        Value::Object(members)
    }
}

impl Tree for Php {
    type Members = Array;
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
    fn insert(members: &mut Self::Members, name: String, value: Self) {
        members.insert(Key::from(name.as_str()), value);
    }
    fn map(members: Self::Members) -> Self {
        Php::Array(members)
    }
}

/// A list or map whose end is still to come; a map with the name of the member being read.
enum Open<T: Tree> {
    List(Vec<T>),
    Map(T::Members, String),
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

struct Reader<'a> {
    input: &'a [u8],
    /// The front of the input that is UTF-8; what comes after it is an error only once it is reached.
    text: &'a str,
    at: usize,
    /// Values that may still be read.
    n_left: usize,
}

impl<'a> Reader<'a> {
    fn new(input: &'a [u8], max_values: usize) -> Self {
        let valid = match std::str::from_utf8(input) {
            Ok(text) => text.len(),
            Err(error) => error.valid_up_to(),
        };
        let text = std::str::from_utf8(&input[..valid]).unwrap_or_default();
        Reader { input, text, at: 0, n_left: max_values }
    }

    fn error<R>(&self, kind: JsonErrorKind) -> Result<R, JsonError> {
        Err(JsonError { kind, offset: self.at })
    }

    fn document<T: Tree>(mut self) -> Result<T, JsonError> {
        let mut open: Vec<Open<T>> = Vec::new();
        let mut token = self.token()?;
        loop {
            // At this point a value is due, and `token` begins it.
            match self.n_left.checked_sub(1) {
                Some(n_left) => self.n_left = n_left,
                None => return self.error(JsonErrorKind::TooManyValues),
            }
            let mut done = match token {
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
                        (b'{', Token::Mark(b'}')) => T::map(T::Members::default()),
                        (b'[', Token::Mark(b'}')) | (b'{', Token::Mark(b']')) => {
                            return self.error(JsonErrorKind::StateMismatch);
                        }
                        (b'[', first) => {
                            open.push(Open::List(Vec::new()));
                            token = first;
                            continue;
                        }
                        (_, first) => {
                            let name = self.member_name(first)?;
                            open.push(Open::Map(T::Members::default(), name));
                            token = self.token()?;
                            continue;
                        }
                    }
                }
                Token::Mark(_) | Token::End => return self.error(JsonErrorKind::Syntax),
            };
            // A value is complete: it goes into what is open, which may complete that in turn.
            loop {
                let next = self.token()?;
                match (open.pop(), next) {
                    (None, Token::End) => return Ok(done),
                    (Some(Open::List(mut items)), Token::Mark(mark @ (b',' | b']'))) => {
                        items.push(done);
                        if mark == b',' {
                            open.push(Open::List(items));
                            break;
                        }
                        done = T::list(items);
                    }
                    (Some(Open::Map(mut members, name)), Token::Mark(mark @ (b',' | b'}'))) => {
                        T::insert(&mut members, name, done);
                        if mark == b',' {
                            let first = self.token()?;
                            let name = self.member_name(first)?;
                            open.push(Open::Map(members, name));
                            break;
                        }
                        done = T::map(members);
                    }
                    (Some(_), Token::Mark(b']' | b'}')) => return self.error(JsonErrorKind::StateMismatch),
                    _ => return self.error(JsonErrorKind::Syntax),
                }
            }
            token = self.token()?;
        }
    }

    /// The name that a token is, and the colon after it.
    fn member_name(&mut self, token: Token) -> Result<String, JsonError> {
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
            b't' if self.word("true") => Ok(Token::Bool(true)),
            b'f' if self.word("false") => Ok(Token::Bool(false)),
            b'n' if self.word("null") => Ok(Token::Null),
            0..0x20 => self.error(JsonErrorKind::ControlCharacter),
            0x80.. if self.at >= self.text.len() => self.error(JsonErrorKind::Utf8),
            _ => self.error(JsonErrorKind::Syntax),
        }
    }

    fn peek(&self, ahead: usize) -> Option<u8> {
        self.input.get(self.at + ahead).copied()
    }

    fn word(&mut self, word: &str) -> bool {
        let found = self.input[self.at..].starts_with(word.as_bytes());
        self.at += if found { word.len() } else { 0 };
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
        let mut whole = true;
        if self.input.get(end) == Some(&b'.') && digits(end + 1) > 0 {
            end += 1 + digits(end + 1);
            whole = false;
        }
        if let Some(b'e' | b'E') = self.input.get(end) {
            let sign = usize::from(matches!(self.input.get(end + 1), Some(b'+' | b'-')));
            let n = self.input.get(end + 1 + sign..).map_or(0, |_| digits(end + 1 + sign));
            if n > 0 {
                end += 1 + sign + n;
                whole = false;
            }
        }
        let text = &self.text[start..end];
        self.at = end;
        if whole && let Ok(n) = text.parse() {
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
                    // A long text would keep up to as much again in reserve.
                    if out.capacity() - out.len() > SPARE {
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

    /// The four hexadecimal digits of a `\u` escape this far ahead.
    fn code_unit(&self, ahead: usize) -> Option<u16> {
        let escape = self.input.get(self.at + ahead..self.at + ahead + 6)?;
        let digits = escape.strip_prefix(b"\\u")?;
        digits.iter().try_fold(0u16, |n, digit| Some(n << 4 | u16::try_from(char::from(*digit).to_digit(16)?).ok()?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Text and what becomes of it: compact JSON of the value, or the error's number.
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
    fn values_are_counted() {
        for (text, n) in [("1", 1), ("[]", 1), ("[1,2]", 3), ("[[],[]]", 3), (r#"{"a":1,"b":{"c":[2]}}"#, 5)] {
            assert_eq!(decode_bounded(text.as_bytes(), n), decode(text.as_bytes()), "{text}");
            let refused = decode_bounded(text.as_bytes(), n - 1).map_err(|e| e.kind);
            assert_eq!(refused, Err(JsonErrorKind::TooManyValues), "{text}");
        }
    }

    #[test]
    fn values_and_error_numbers() {
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
    fn php_values_keep_infinite_floats_and_integer_keys() {
        assert_eq!(decode_php(b"-1e400"), Ok(Php::Float(f64::NEG_INFINITY)));
        let expected: Array =
            [(Key::Int(5), Php::Int(1)), (Key::Bytes(b"05".to_vec()), Php::Null)].into_iter().collect();
        assert_eq!(decode_php(b"{\"5\":1,\"05\":null}"), Ok(Php::Array(expected)));
    }
}
