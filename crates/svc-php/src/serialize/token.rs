//! Tokenizer of serialized text; the only module that parses the notation.

use std::borrow::Cow;

use super::UnserializeError;

/// One token. The entries of arrays and objects follow as further tokens, then [`Cursor::close`].
#[derive(Debug, PartialEq)]
pub(super) enum Token<'a> {
    Null,
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(Cow<'a, [u8]>),
    /// Number of entries.
    Array(u64),
    /// Class name and number of properties.
    Object(&'a [u8], u64),
    /// The complete text of a reference, custom payload or enum case.
    Opaque(&'a [u8]),
}

/// Reads tokens from the front of the text.
pub(super) struct Cursor<'a> {
    text: &'a [u8],
    at: usize,
}

type Result<T> = std::result::Result<T, UnserializeError>;

impl<'a> Cursor<'a> {
    pub(super) fn new(text: &'a [u8]) -> Self {
        Cursor { text, at: 0 }
    }

    /// The current position, in bytes.
    pub(super) fn position(&self) -> usize {
        self.at
    }

    /// The text between an earlier position and the current one.
    pub(super) fn since(&self, start: usize) -> &'a [u8] {
        self.text.get(start..self.at).unwrap_or_default()
    }

    pub(super) fn error(&self) -> UnserializeError {
        UnserializeError { offset: self.at }
    }

    /// Consumes the brace that ends an array or object.
    pub(super) fn close(&mut self) -> Result<()> {
        self.expect(b"}")
    }

    pub(super) fn token(&mut self) -> Result<Token<'a>> {
        let start = self.at;
        let kind = *self.text.get(self.at).ok_or_else(|| self.error())?;
        self.at += 1;
        if kind == b'N' {
            self.expect(b";")?;
            return Ok(Token::Null);
        }
        self.expect(b":")?;
        match kind {
            b'b' => {
                let bit = self.take(1)?;
                self.expect(b";")?;
                match bit {
                    b"0" => Ok(Token::Bool(false)),
                    b"1" => Ok(Token::Bool(true)),
                    _ => Err(self.error()),
                }
            }
            b'i' => {
                let text = self.until(b';')?;
                integer(text).map(Token::Int).ok_or_else(|| self.error())
            }
            b'd' => {
                let text = self.until(b';')?;
                float(text).map(Token::Float).ok_or_else(|| self.error())
            }
            b's' => {
                let text = self.quoted()?;
                self.expect(b";")?;
                Ok(Token::Text(Cow::Borrowed(text)))
            }
            b'S' => self.escaped_text().map(|text| Token::Text(Cow::Owned(text))),
            b'a' => {
                let n = self.number(b':')?;
                self.expect(b"{")?;
                Ok(Token::Array(n))
            }
            b'O' => {
                let class = self.class()?;
                let n = self.number(b':')?;
                self.expect(b"{")?;
                Ok(Token::Object(class, n))
            }
            b'C' => {
                self.class()?;
                let length = self.number(b':')?;
                self.expect(b"{")?;
                self.take(length)?;
                self.expect(b"}")?;
                Ok(Token::Opaque(self.since(start)))
            }
            b'E' => {
                self.quoted()?;
                self.expect(b";")?;
                Ok(Token::Opaque(self.since(start)))
            }
            b'r' | b'R' => {
                self.number(b';')?;
                Ok(Token::Opaque(self.since(start)))
            }
            _ => {
                self.at = start;
                Err(self.error())
            }
        }
    }

    /// A quoted class name with its length, and the colon after it.
    fn class(&mut self) -> Result<&'a [u8]> {
        let class = self.quoted()?;
        let in_name = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'\\' | b':') || *b >= 0x80;
        if class.is_empty() || class[0] == b'\\' || !class.iter().all(in_name) {
            return Err(self.error());
        }
        self.expect(b":")?;
        Ok(class)
    }

    /// `length:"bytes"`.
    fn quoted(&mut self) -> Result<&'a [u8]> {
        let length = self.number(b':')?;
        self.expect(b"\"")?;
        let text = self.take(length)?;
        self.expect(b"\"")?;
        Ok(text)
    }

    /// `length:"text";` with bytes written as `\41`; the length counts the decoded bytes.
    fn escaped_text(&mut self) -> Result<Vec<u8>> {
        let length = self.number(b':')?;
        self.expect(b"\"")?;
        let mut out = Vec::new();
        for _ in 0..length {
            let byte = match self.take(1)? {
                b"\\" => {
                    let digits = self.take(2)?;
                    let digits = if digits.iter().all(u8::is_ascii_hexdigit) { digits } else { b"" };
                    let digits = std::str::from_utf8(digits).unwrap_or_default();
                    u8::from_str_radix(digits, 16).map_err(|_| self.error())?
                }
                byte => byte.first().copied().unwrap_or_default(),
            };
            out.push(byte);
        }
        self.expect(b"\";")?;
        Ok(out)
    }

    /// An unsigned number and the mark after it. A number beyond 64 bits saturates; reading that many bytes then
    /// fails.
    fn number(&mut self, end: u8) -> Result<u64> {
        let mut n: u64 = 0;
        let start = self.at;
        while let Some(digit) = self.text.get(self.at).filter(|b| b.is_ascii_digit()) {
            n = n.saturating_mul(10).saturating_add(u64::from(digit - b'0'));
            self.at += 1;
        }
        if self.at == start {
            return Err(self.error());
        }
        self.expect(&[end])?;
        Ok(n)
    }

    fn take(&mut self, n: u64) -> Result<&'a [u8]> {
        let taken =
            usize::try_from(n).ok().and_then(|n| self.at.checked_add(n)).and_then(|end| self.text.get(self.at..end));
        let taken = taken.ok_or_else(|| self.error())?;
        self.at += taken.len();
        Ok(taken)
    }

    fn until(&mut self, end: u8) -> Result<&'a [u8]> {
        let rest = self.text.get(self.at..).unwrap_or_default();
        // Numbers are short; the limit keeps parsing of malformed text linear.
        let length = rest.iter().take(512).position(|b| *b == end).ok_or_else(|| self.error())?;
        self.at += length + 1;
        Ok(&rest[..length])
    }

    fn expect(&mut self, mark: &[u8]) -> Result<()> {
        if self.text.get(self.at..).unwrap_or_default().starts_with(mark) {
            self.at += mark.len();
            Ok(())
        } else {
            Err(self.error())
        }
    }
}

/// Signed decimal digits, saturating beyond 64 bits.
fn integer(text: &[u8]) -> Option<i64> {
    let (negative, digits) = match text {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        _ => (false, text),
    };
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    Some(digits.iter().fold(0i64, |n, digit| {
        let digit = i64::from(digit - b'0');
        let n = n.saturating_mul(10);
        if negative { n.saturating_sub(digit) } else { n.saturating_add(digit) }
    }))
}

/// `1`, `-1.5`, `.5`, `1.e5`, `INF`, `-INF`, `NAN`.
fn float(text: &[u8]) -> Option<f64> {
    match text {
        b"INF" => return Some(f64::INFINITY),
        b"-INF" => return Some(f64::NEG_INFINITY),
        b"NAN" => return Some(f64::NAN),
        _ => {}
    }
    // Rust's parser accepts the same notation, and also words such as `infinity`.
    let plain = text.iter().all(|b| b.is_ascii_digit() || matches!(b, b'+' | b'-' | b'.' | b'e' | b'E'));
    if plain { std::str::from_utf8(text).ok()?.parse().ok() } else { None }
}
