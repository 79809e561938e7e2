//! A streaming lexer for SQL dumps. Only one value at a time is in memory, never a whole statement or file.

use std::io::Read;

use super::ImportError;

/// Maximum length of a value, in bytes.
const MAX_VALUE: usize = 256 << 20;

/// Maximum length of a statement that is read as a whole (`CREATE TABLE`), in bytes.
const MAX_STATEMENT: usize = 1 << 20;

const BUFFER: usize = 256 << 10;

/// A value of a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Literal {
    Null,
    /// A number, as written.
    Number(String),
    /// A text with resolved escapes.
    Text(Vec<u8>),
}

/// A byte reader that counts lines.
pub(crate) struct Lexer<R> {
    from: R,
    buffer: Vec<u8>,
    at: usize,
    end: usize,
    line: u64,
    /// Statement terminator, which `DELIMITER` lines change.
    delimiter: Vec<u8>,
}

impl<R: Read> Lexer<R> {
    pub(crate) fn new(from: R) -> Self {
        Lexer { from, buffer: vec![0; BUFFER], at: 0, end: 0, line: 1, delimiter: b";".to_vec() }
    }

    /// Current line, from one.
    pub(crate) fn line(&self) -> u64 {
        self.line
    }

    /// An error at the current line.
    pub(crate) fn error(&self, what: impl Into<String>) -> ImportError {
        ImportError::Dump { line: self.line, what: what.into() }
    }

    fn fill(&mut self) -> Result<bool, ImportError> {
        if self.at < self.end {
            return Ok(true);
        }
        loop {
            match self.from.read(&mut self.buffer) {
                Ok(n) => {
                    (self.at, self.end) = (0, n);
                    return Ok(n > 0);
                }
                Err(e) if e.kind() == std::io::ErrorKind::Interrupted => {}
                Err(e) => return Err(self.error(format!("failed to read the file: {e}"))),
            }
        }
    }

    pub(crate) fn peek(&mut self) -> Result<Option<u8>, ImportError> {
        Ok(if self.fill()? { Some(self.buffer[self.at]) } else { None })
    }

    pub(crate) fn bump(&mut self) -> Result<Option<u8>, ImportError> {
        let byte = self.peek()?;
        if let Some(b) = byte {
            self.at += 1;
            self.line += u64::from(b == b'\n');
        }
        Ok(byte)
    }

    fn require_byte(&mut self) -> Result<u8, ImportError> {
        self.bump()?.ok_or_else(|| self.error("the dump ends within a statement"))
    }

    /// Skips white space and comments, including all `/* */` comments that MySQL executes. They set up the session or
    /// contain views and triggers, which a site does not need.
    pub(crate) fn skip_space(&mut self) -> Result<(), ImportError> {
        while let Some(b) = self.peek()? {
            match b {
                b' ' | b'\t' | b'\r' | b'\n' => {
                    self.bump()?;
                }
                b'#' => self.skip_line()?,
                b'-' => {
                    self.bump()?;
                    if self.peek()? != Some(b'-') {
                        return Err(self.error("expected a statement, found a hyphen"));
                    }
                    self.skip_line()?;
                }
                b'/' => {
                    self.bump()?;
                    if self.require_byte()? != b'*' {
                        return Err(self.error("expected a statement, found a slash"));
                    }
                    self.skip_comment()?;
                }
                // A byte order mark at the beginning of the file.
                0xef | 0xbb | 0xbf if self.line == 1 => {
                    self.bump()?;
                }
                _ => break,
            }
        }
        Ok(())
    }

    fn skip_line(&mut self) -> Result<(), ImportError> {
        while let Some(b) = self.bump()? {
            if b == b'\n' {
                break;
            }
        }
        Ok(())
    }

    fn skip_comment(&mut self) -> Result<(), ImportError> {
        let mut star = false;
        loop {
            let b = self.bump()?.ok_or_else(|| self.error("the dump ends within a comment"))?;
            if star && b == b'/' {
                return Ok(());
            }
            star = b == b'*';
        }
    }

    /// A word of letters, digits and underscores; empty if there is none.
    pub(crate) fn word(&mut self) -> Result<String, ImportError> {
        let mut word = String::new();
        while let Some(b) = self.peek()? {
            if !(b.is_ascii_alphanumeric() || matches!(b, b'_' | b'$')) {
                break;
            }
            if word.len() >= 256 {
                return Err(self.error("the word is too long"));
            }
            word.push(char::from(b));
            self.bump()?;
        }
        Ok(word)
    }

    /// The last part of a bare or quoted name (`db`.`table`).
    pub(crate) fn name(&mut self) -> Result<String, ImportError> {
        loop {
            self.skip_space()?;
            let name = match self.peek()? {
                Some(quote @ (b'`' | b'"')) => {
                    self.bump()?;
                    let mut name = Vec::new();
                    loop {
                        let b = self.require_byte()?;
                        if b == quote {
                            if self.peek()? != Some(quote) {
                                break;
                            }
                            self.bump()?;
                        }
                        if name.len() >= 256 {
                            return Err(self.error("the name is too long"));
                        }
                        name.push(b);
                    }
                    String::from_utf8_lossy(&name).into_owned()
                }
                _ => self.word()?,
            };
            if name.is_empty() {
                return Err(self.error("expected a name"));
            }
            self.skip_space()?;
            if self.peek()? != Some(b'.') {
                return Ok(name);
            }
            self.bump()?;
        }
    }

    /// Skips white space and consumes `byte` if it is next.
    pub(crate) fn take(&mut self, byte: u8) -> Result<bool, ImportError> {
        self.skip_space()?;
        let is_next = self.peek()? == Some(byte);
        if is_next {
            self.bump()?;
        }
        Ok(is_next)
    }

    /// Skips white space and consumes `byte`, or fails.
    pub(crate) fn expect(&mut self, byte: u8) -> Result<(), ImportError> {
        if self.take(byte)? { Ok(()) } else { Err(self.error(format!("expected `{}`", char::from(byte)))) }
    }

    /// Reads a value of a row.
    pub(crate) fn literal(&mut self) -> Result<Literal, ImportError> {
        // A minus sign does not start a comment here.
        while matches!(self.peek()?, Some(b' ' | b'\t' | b'\r' | b'\n')) {
            self.bump()?;
        }
        match self.peek()? {
            Some(quote @ (b'\'' | b'"')) => {
                self.bump()?;
                Ok(Literal::Text(self.text(quote)?))
            }
            Some(b'-' | b'+' | b'.' | b'0'..=b'9') => self.number(),
            Some(_) => self.keyword_or_prefixed(),
            None => Err(self.error("the dump ends within a statement")),
        }
    }

    fn number(&mut self) -> Result<Literal, ImportError> {
        let mut text = String::new();
        while let Some(b) = self.peek()? {
            let hex = text.starts_with("0x") && b.is_ascii_hexdigit();
            let is_number_byte = b.is_ascii_digit() || matches!(b, b'-' | b'+' | b'.' | b'e' | b'E') || hex;
            let marks_hex = text == "0" && matches!(b, b'x' | b'X');
            if !is_number_byte && !marks_hex {
                break;
            }
            if text.len() >= MAX_VALUE {
                return Err(self.error("the value is too long"));
            }
            text.push(char::from(b.to_ascii_lowercase()));
            self.bump()?;
        }
        match text.strip_prefix("0x") {
            Some(digits) => self.hex(digits),
            None if text.parse::<f64>().is_ok() => Ok(Literal::Number(text)),
            None => Err(self.error(format!("`{text}` is not a number"))),
        }
    }

    fn hex(&self, digits: &str) -> Result<Literal, ImportError> {
        let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
        let bytes: Option<Vec<u8>> = digits.as_bytes().chunks(2).map(byte).collect();
        match bytes {
            Some(bytes) if digits.len().is_multiple_of(2) => Ok(Literal::Text(bytes)),
            _ => Err(self.error("invalid hexadecimal value")),
        }
    }

    /// Reads `NULL`, `TRUE`, and values with a prefix: `x'00'`, `b'01'`, `_binary 'text'`, `N'text'`.
    fn keyword_or_prefixed(&mut self) -> Result<Literal, ImportError> {
        let word = self.word()?.to_ascii_lowercase();
        match word.as_str() {
            "null" | "default" => return Ok(Literal::Null),
            "true" => return Ok(Literal::Number("1".to_owned())),
            "false" => return Ok(Literal::Number("0".to_owned())),
            _ => {}
        }
        let prefixed = word == "n" || word == "x" || word == "b" || word.starts_with('_');
        if !prefixed {
            return Err(self.error(format!("`{word}` is not a supported value")));
        }
        match (word.as_str(), self.literal()?) {
            ("x", Literal::Text(digits)) => self.hex(&String::from_utf8_lossy(&digits)),
            ("b", Literal::Text(digits)) => {
                let bits = u64::from_str_radix(&String::from_utf8_lossy(&digits), 2);
                bits.map(|n| Literal::Number(n.to_string())).map_err(|_| self.error("invalid binary value"))
            }
            (_, value) => Ok(value),
        }
    }

    /// Reads a text after its opening quote.
    fn text(&mut self, quote: u8) -> Result<Vec<u8>, ImportError> {
        let start = self.line;
        let mut text = Vec::new();
        loop {
            if !self.fill()? {
                return Err(ImportError::Dump { line: start, what: "unterminated text".to_owned() });
            }
            // Copy text without quotes and escapes, which is nearly everything, in one step.
            let rest = &self.buffer[self.at..self.end];
            let n = rest.iter().position(|b| *b == quote || *b == b'\\').unwrap_or(rest.len());
            text.extend_from_slice(&rest[..n]);
            self.line += rest[..n].iter().filter(|b| **b == b'\n').count() as u64;
            self.at += n;
            if text.len() > MAX_VALUE {
                return Err(self.error("the value is too long"));
            }
            if self.at == self.end {
                continue;
            }
            if self.require_byte()? == quote {
                if self.peek()? != Some(quote) {
                    return Ok(text);
                }
                self.bump()?;
                text.push(quote);
            } else {
                match self.require_byte()? {
                    b'0' => text.push(0),
                    b'b' => text.push(8),
                    b'n' => text.push(b'\n'),
                    b'r' => text.push(b'\r'),
                    b't' => text.push(b'\t'),
                    b'Z' => text.push(26),
                    b @ (b'%' | b'_') => text.extend([b'\\', b]),
                    b => text.push(b),
                }
            }
        }
    }

    /// The rest of the statement without comments. Consumes the terminator.
    pub(crate) fn rest(&mut self) -> Result<String, ImportError> {
        let mut out = Vec::new();
        self.scan_rest(|b| {
            out.push(b);
            out.len() <= MAX_STATEMENT
        })?;
        Ok(String::from_utf8_lossy(&out).into_owned())
    }

    /// Skips to the end of the statement.
    pub(crate) fn skip_rest(&mut self) -> Result<(), ImportError> {
        self.scan_rest(|_| true)
    }

    fn scan_rest(&mut self, mut visit: impl FnMut(u8) -> bool) -> Result<(), ImportError> {
        let start = self.line;
        loop {
            let Some(b) = self.bump()? else {
                return Err(ImportError::Dump { line: start, what: "unterminated statement".to_owned() });
            };
            if b == self.delimiter[0] {
                let mut matches = true;
                for i in 1..self.delimiter.len() {
                    matches = matches && self.peek()? == Some(self.delimiter[i]);
                    if matches {
                        self.bump()?;
                    }
                }
                if matches {
                    return Ok(());
                }
            }
            match b {
                b'\'' | b'"' | b'`' => {
                    let inner = if b == b'`' { self.quoted_name()? } else { self.text(b)? };
                    let mut accepted = visit(b);
                    for c in inner {
                        // Doubled quotes in a text are dropped: they would end it for the reader, and no name or number
                        // contains one.
                        accepted = accepted && (c == b || visit(c));
                    }
                    if !(accepted && visit(b)) {
                        return Err(self.error("the statement is too long"));
                    }
                }
                b'/' if self.peek()? == Some(b'*') => {
                    self.bump()?;
                    self.skip_comment()?;
                }
                _ => {
                    if !visit(b) {
                        return Err(self.error("the statement is too long"));
                    }
                }
            }
        }
    }

    fn quoted_name(&mut self) -> Result<Vec<u8>, ImportError> {
        let mut name = Vec::new();
        loop {
            match self.require_byte()? {
                b'`' => return Ok(name),
                b if name.len() < 256 => name.push(b),
                _ => return Err(self.error("the name is too long")),
            }
        }
    }

    /// Reads the argument of a `DELIMITER` line.
    pub(crate) fn set_delimiter(&mut self) -> Result<(), ImportError> {
        let mut text = Vec::new();
        while let Some(b) = self.bump()? {
            if b == b'\n' || text.len() > 16 {
                break;
            }
            text.push(b);
        }
        let text = text.trim_ascii();
        if text.is_empty() {
            return Err(self.error("expected a delimiter"));
        }
        self.delimiter = text.to_vec();
        Ok(())
    }

    /// Consumes the statement terminator if it is next.
    pub(crate) fn take_end(&mut self) -> Result<bool, ImportError> {
        self.skip_space()?;
        let first = self.delimiter[0];
        if self.peek()? != Some(first) {
            return Ok(false);
        }
        self.skip_rest()?;
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> Result<Literal, String> {
        Lexer::new(text.as_bytes()).literal().map_err(|e| e.to_string())
    }

    #[test]
    fn values() {
        let text = |t: &str| Literal::Text(t.as_bytes().to_vec());
        let number = |t: &str| Literal::Number(t.to_owned());
        let rows = [
            ("'a'", text("a")),
            ("'it''s'", text("it's")),
            (r"'it\'s'", text("it's")),
            (r#"'a\"b\\c\n\r\t\0\Z\b\%\_\x'"#, text("a\"b\\c\n\r\t\0\u{1a}\u{8}\\%\\_x")),
            (r#""a""b""#, text("a\"b")),
            ("0x6162", text("ab")),
            ("x'6162'", text("ab")),
            ("b'101'", number("5")),
            ("_binary 'ab'", text("ab")),
            ("_utf8mb4'ab'", text("ab")),
            ("NULL", Literal::Null),
            ("-1.5e3,", number("-1.5e3")),
            ("0)", number("0")),
            ("true", number("1")),
        ];
        for (source, expected) in rows {
            assert_eq!(value(source).unwrap(), expected, "{source}");
        }
        for broken in ["'a", "NOW()", "0x616", "--", "x'6'", ""] {
            assert!(value(broken).is_err(), "{broken}");
        }
    }

    #[test]
    fn statements_end_at_the_delimiter() {
        let mut lexer = Lexer::new(&b"a ';' `;` /* ; */ b; DELIMITER ;;\nx ; y;;\nz"[..]);
        assert_eq!(lexer.rest().unwrap(), "a ';' `;`  b");
        lexer.skip_space().unwrap();
        assert_eq!(lexer.word().unwrap(), "DELIMITER");
        lexer.set_delimiter().unwrap();
        assert_eq!(lexer.rest().unwrap(), "x ; y");
        lexer.skip_space().unwrap();
        assert_eq!(lexer.line(), 3);
        assert!(lexer.rest().is_err());
    }
}
