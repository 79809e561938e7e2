//! The tokens of a PHP file with their lines. Text outside `<?php … ?>` is left out.

/// A PHP token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Token {
    /// `$name`, without the dollar sign.
    Variable(String),
    /// A name or keyword, without a leading backslash.
    Name(String),
    /// A string without variables.
    Text(String),
    /// A double-quoted string with variables.
    Template(Vec<Part>),
    /// An integer.
    Number(i64),
    /// An operator or punctuation.
    Sign(&'static str),
    /// An unsupported token: heredoc, float, shell command.
    Other,
}

/// A part of a double-quoted string.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    Text(String),
    Variable(String),
    /// An expression other than a plain variable.
    Other,
}

/// All operators and punctuation; longer ones precede their prefixes.
#[rustfmt::skip]
const SIGNS: &[&str] = &[
    "===", "!==", "<=>", "**=", "...", "<<=", ">>=", "??=", "?->",
    "=>", "->", "::", "==", "!=", "<>", "<=", ">=", "&&", "||", "??", ".=", "+=", "-=", "*=", "/=", "|=", "&=", "^=", "%=", "++",
    "--", "<<", ">>", "**",
    ";", ",", "(", ")", "[", "]", "{", "}", "=", ".", "?", ":", "!", "&", "|", "^", "~", "@", "<", ">", "+", "-", "*", "/", "%", "$", "\\",
];

/// Splits a file into tokens with their lines, from 1. A string or comment that is not terminated extends to the end of the file.
pub(crate) fn tokens(source: &str) -> Vec<(Token, usize)> {
    let mut lexer = Lexer { source, at: 0, line: 1, found: Vec::new() };
    lexer.skip_html();
    while lexer.at < source.len() {
        lexer.token();
    }
    lexer.found
}

struct Lexer<'a> {
    source: &'a str,
    at: usize,
    line: usize,
    found: Vec<(Token, usize)>,
}

fn is_name_start(c: char) -> bool {
    c.is_ascii_alphabetic() || c == '_' || !c.is_ascii()
}

fn is_name_char(c: char) -> bool {
    is_name_start(c) || c.is_ascii_digit()
}

impl<'a> Lexer<'a> {
    fn rest(&self) -> &'a str {
        &self.source[self.at..]
    }

    /// Takes `n` bytes and counts lines.
    fn take(&mut self, n: usize) -> &'a str {
        let taken = &self.source[self.at..self.at + n];
        self.at += n;
        self.line += taken.bytes().filter(|b| *b == b'\n').count();
        taken
    }

    fn take_while(&mut self, fits: impl Fn(char) -> bool) -> &'a str {
        let rest = self.rest();
        self.take(rest.find(|c| !fits(c)).unwrap_or(rest.len()))
    }

    /// Takes everything up to and including `end`.
    fn take_through(&mut self, end: &str) -> &'a str {
        let rest = self.rest();
        self.take(rest.find(end).map_or(rest.len(), |i| i + end.len()))
    }

    fn push(&mut self, token: Token, line: usize) {
        self.found.push((token, line));
    }

    /// Skips text up to the next opening tag.
    fn skip_html(&mut self) {
        self.take_through("<?");
        for open in ["php", "="] {
            if self.rest().get(..open.len()).is_some_and(|o| o.eq_ignore_ascii_case(open)) {
                self.take(open.len());
                return;
            }
        }
    }

    fn token(&mut self) {
        let line = self.line;
        let rest = self.rest();
        let Some(first) = rest.chars().next() else { return };
        if first.is_whitespace() {
            self.take_while(char::is_whitespace);
        } else if rest.starts_with("?>") {
            self.push(Token::Sign(";"), line);
            self.skip_html();
        } else if rest.starts_with("#[") {
            self.take(2);
            self.push(Token::Sign("["), line);
        } else if rest.starts_with("//") || first == '#' {
            // A closing tag ends a line comment.
            let end = rest.find('\n').unwrap_or(rest.len());
            self.take(rest[..end].find("?>").unwrap_or(end));
        } else if rest.starts_with("/*") {
            self.take_through("*/");
        } else if rest.starts_with("<<<") {
            self.heredoc(line);
        } else if first == '\'' {
            self.take(1);
            let text = self.quoted('\'');
            self.push(Token::Text(single(text)), line);
        } else if first == '"' {
            self.take(1);
            let text = self.quoted('"');
            self.push(double(text), line);
        } else if first == '`' {
            self.take(1);
            self.quoted('`');
            self.push(Token::Other, line);
        } else if first == '$' && rest[1..].starts_with(is_name_start) {
            self.take(1);
            let name = self.take_while(is_name_char).to_owned();
            self.push(Token::Variable(name), line);
        } else if is_name_start(first) || first == '\\' && rest[1..].starts_with(is_name_start) {
            let name = self.take_while(|c| is_name_char(c) || c == '\\').trim_start_matches('\\').to_owned();
            self.push(Token::Name(name), line);
        } else if first.is_ascii_digit() {
            let text = self.take_while(|c| c.is_ascii_alphanumeric() || c == '_').replace('_', "");
            self.push(text.parse().map_or(Token::Other, Token::Number), line);
        } else if let Some(sign) = SIGNS.iter().copied().find(|s| rest.starts_with(s)) {
            self.take(sign.len());
            self.push(Token::Sign(sign), line);
        } else {
            self.take(first.len_utf8());
        }
    }

    /// The text up to the closing quote, which is consumed.
    fn quoted(&mut self, quote: char) -> &'a str {
        let rest = self.rest();
        let mut escaped = false;
        for (i, c) in rest.char_indices() {
            if c == quote && !escaped {
                let text = self.take(i);
                self.take(quote.len_utf8());
                return text;
            }
            escaped = c == '\\' && !escaped;
        }
        self.take(rest.len())
    }

    /// `<<<NAME … NAME`, whose value is not evaluated.
    fn heredoc(&mut self, line: usize) {
        self.take(3);
        self.take_while(|c| matches!(c, ' ' | '\t' | '\'' | '"'));
        let name = self.take_while(is_name_char);
        self.take_through("\n");
        while !self.rest().is_empty() && !name.is_empty() {
            let after = self.rest().trim_start_matches([' ', '\t']);
            if after.strip_prefix(name).is_some_and(|a| !a.starts_with(is_name_char)) {
                self.take(self.rest().len() - after.len() + name.len());
                break;
            }
            self.take_through("\n");
        }
        self.push(Token::Other, line);
    }
}

/// Unescapes a single-quoted string.
fn single(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match (c, chars.peek()) {
            ('\\', Some('\'' | '\\')) => out.extend(chars.next()),
            _ => out.push(c),
        }
    }
    out
}

/// Unescapes a double-quoted string.
fn double(text: &str) -> Token {
    let mut parts = Vec::new();
    let mut out = String::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        rest = &rest[c.len_utf8()..];
        if c == '\\' {
            let Some(next) = rest.chars().next() else {
                out.push(c);
                break;
            };
            rest = &rest[next.len_utf8()..];
            match next {
                'n' => out.push('\n'),
                't' => out.push('\t'),
                'r' => out.push('\r'),
                '\\' | '$' | '"' => out.push(next),
                // Numeric escapes are not evaluated.
                'x' | 'u' | 'e' | 'f' | 'v' | '0'..='7' => parts.push(Part::Other),
                _ => out.extend([c, next]),
            }
            continue;
        }
        let braced = c == '{' && rest.starts_with('$');
        let name = if braced { rest.get(1..) } else { (c == '$').then_some(rest) };
        let Some(name) = name.filter(|n| n.starts_with(is_name_start)) else {
            // `${name}` is not evaluated.
            if c == '$' && rest.starts_with('{') {
                parts.push(Part::Other);
            }
            out.push(c);
            continue;
        };
        let end = name.find(|c| !is_name_char(c)).unwrap_or(name.len());
        let after = &name[end..];
        if !out.is_empty() {
            parts.push(Part::Text(std::mem::take(&mut out)));
        }
        let plain = if braced { after.starts_with('}') } else { !after.starts_with('[') && !after.starts_with("->") };
        parts.push(if plain { Part::Variable(name[..end].to_owned()) } else { Part::Other });
        rest = if braced { after.split_once('}').map_or("", |(_, after)| after) } else { after };
    }
    if parts.is_empty() {
        return Token::Text(out);
    }
    if !out.is_empty() {
        parts.push(Part::Text(out));
    }
    Token::Template(parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(source: &str, expected: &[Token]) {
        let found: Vec<Token> = tokens(&format!("<?php {source}")).into_iter().map(|(t, _)| t).collect();
        assert_eq!(found, expected, "{source}");
    }

    fn text(t: &str) -> Token {
        Token::Text(t.to_owned())
    }

    #[test]
    fn splits_tokens() {
        let name = |n: &str| Token::Name(n.to_owned());
        check(r"'it\'s \\ \n'", &[text(r"it's \ \n")]);
        check(r#""a\n\"\$x""#, &[text("a\n\"$x")]);
        check("$a??=0x1F", &[Token::Variable("a".into()), Token::Sign("??="), Token::Other]);
        check("\\define # x ?> out <?php 1_000", &[name("define"), Token::Sign(";"), Token::Number(1000)]);
        check("/* ' */ A\\B // \"\n::c", &[name("A\\B"), Token::Sign("::"), name("c")]);
        check("<<<'X'\n a'\n  X;", &[Token::Other, Token::Sign(";")]);
        check("'never ends", &[text("never ends")]);
    }

    #[test]
    fn variables_in_strings() {
        let variable = |n: &str| Part::Variable(n.to_owned());
        let part = |t: &str| Part::Text(t.to_owned());
        check(
            r#""a $b-{$c}/""#,
            &[Token::Template(vec![part("a "), variable("b"), part("-"), variable("c"), part("/")])],
        );
        check(r#""{$a['b']}x$c[0]""#, &[Token::Template(vec![Part::Other, part("x"), Part::Other, part("[0]")])]);
        check(r#""$ 5""#, &[text("$ 5")]);
    }

    #[test]
    fn lines_of_tokens() {
        let found = tokens("text\n<?php\n/*\n*/ 'a\nb'\n;");
        assert_eq!(found, [(text("a\nb"), 4), (Token::Sign(";"), 6)]);
    }
}
