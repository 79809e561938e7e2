//! Splits Rust source text into code, comments and string literals.

/// A part of a source file.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Piece {
    pub(crate) kind: Kind,
    /// Line of the first character, from 1.
    pub(crate) line: usize,
    /// Comments come without their markers, string literals without their quotes and with escapes as written.
    pub(crate) text: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Code,
    Comment,
    String,
}

/// The pieces of a file in order. Character literals count as code.
pub(crate) fn pieces(text: &str) -> Vec<Piece> {
    let mut splitter = Splitter { rest: text, line: 1, found: Vec::new() };
    while !splitter.rest.is_empty() {
        splitter.step();
    }
    splitter.found
}

struct Splitter<'a> {
    rest: &'a str,
    line: usize,
    found: Vec<Piece>,
}

impl Splitter<'_> {
    fn step(&mut self) {
        let rest = self.rest;
        if rest.starts_with("//") {
            let end = rest.find('\n').unwrap_or(rest.len());
            let marker = rest.find(|c| !matches!(c, '/' | '!')).unwrap_or(rest.len()).min(end);
            self.take(Kind::Comment, end, marker, end);
        } else if rest.starts_with("/*") {
            let end = block_comment(rest);
            let inner = if rest[..end].ends_with("*/") { end - 2 } else { end };
            self.take(Kind::Comment, end, 2.min(inner), inner);
        } else if let Some(hashes) = raw_string(rest) {
            let open = rest.find('"').map_or(rest.len(), |at| at + 1);
            let close = format!("\"{}", "#".repeat(hashes));
            let inner = rest[open..].find(&close).map_or(rest.len(), |at| open + at);
            self.take(Kind::String, (inner + close.len()).min(rest.len()), open, inner);
        } else if rest.starts_with('"') {
            let inner = string_end(rest);
            self.take(Kind::String, (inner + 1).min(rest.len()), 1, inner);
        } else {
            let end = code_end(rest);
            self.take(Kind::Code, end, 0, end);
        }
    }

    /// Consumes `length` bytes; the piece's text is `from..to` of them.
    fn take(&mut self, kind: Kind, length: usize, from: usize, to: usize) {
        let (whole, rest) = self.rest.split_at(length);
        let text = &whole[from..to.max(from)];
        match self.found.last_mut() {
            Some(last) if kind == Kind::Code && last.kind == Kind::Code => last.text.push_str(text),
            _ => self.found.push(Piece { kind, line: self.line, text: text.to_owned() }),
        }
        self.line += whole.matches('\n').count();
        self.rest = rest;
    }
}

/// The length of the block comment at the start, which may contain others.
fn block_comment(text: &str) -> usize {
    let (mut depth, mut at) = (0_usize, 0);
    while at < text.len() {
        let here = &text[at..];
        if here.starts_with("/*") {
            depth += 1;
            at += 2;
        } else if here.starts_with("*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += here.chars().next().map_or(1, char::len_utf8);
        }
    }
    text.len()
}

/// The number of `#` of the raw string literal at the start.
fn raw_string(text: &str) -> Option<usize> {
    let after = ["br", "cr", "r"].iter().find_map(|p| text.strip_prefix(p))?;
    let hashes = after.len() - after.trim_start_matches('#').len();
    after[hashes..].starts_with('"').then_some(hashes)
}

/// The offset of the quote that ends the string literal at the start.
fn string_end(text: &str) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return at,
            _ => {}
        }
    }
    text.len()
}

/// The length of the code at the start: one identifier, character literal or other character.
fn code_end(text: &str) -> usize {
    let Some(first) = text.chars().next() else { return 0 };
    if first == '_' || first.is_alphanumeric() {
        // Of `b"…"` and `c"…"` the prefix is code and the rest a string.
        return text.find(|c: char| c != '_' && !c.is_alphanumeric()).unwrap_or(text.len());
    }
    if first == '\'' {
        let mut chars = text.char_indices().skip(1);
        match (chars.next(), chars.next()) {
            (Some((_, '\\')), _) => {
                // The character after the backslash is never the closing quote.
                let end = text.char_indices().skip(3).find(|(_, c)| *c == '\'');
                return end.map_or(text.len(), |(at, _)| at + 1);
            }
            (Some(_), Some((at, '\''))) => return at + 1,
            // A lifetime.
            _ => {}
        }
    }
    first.len_utf8()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn source_is_split_into_code_comments_and_strings() {
        for (source, expected) in [
            ("let a = 1; // one", "C let a = 1; |/  one"),
            ("/// Doc.\n//! Top.\nfn f() {}", "/  Doc.|C \n|/  Top.|C \nfn f() {}"),
            ("/* a /* b */ c */ d", "/  a /* b */ c |C  d"),
            (r#"f("a \" // b") + 'c'"#, r#"C f(|S a \" // b|C ) + 'c'"#),
            (r##"r#"a "b" c"# x"##, r#"S a "b" c|C  x"#),
            (r#"b"ab" + br"c\" + '"' + '\'' + '\\'"#, r#"C b|S ab|C  + |S c\|C  + '"' + '\'' + '\\'"#),
            ("fn f<'a>(x: &'a str) // '", "C fn f<'a>(x: &'a str) |/  '"),
            ("\"open", "S open"),
            ("/* open", "/  open"),
            ("for_r\"x\"", "C for_r|S x"),
        ] {
            let found: Vec<String> = pieces(source)
                .into_iter()
                .map(|p| {
                    let kind = match p.kind {
                        Kind::Code => 'C',
                        Kind::Comment => '/',
                        Kind::String => 'S',
                    };
                    format!("{kind} {}", p.text)
                })
                .collect();
            assert_eq!(found.join("|"), expected, "{source}");
        }
    }

    #[test]
    fn pieces_know_their_lines() {
        let lines: Vec<usize> = pieces("a\n// b\n\"c\nd\"\n// e").into_iter().map(|p| p.line).collect();
        assert_eq!(lines, [1, 2, 2, 3, 4, 5]);
    }
}
