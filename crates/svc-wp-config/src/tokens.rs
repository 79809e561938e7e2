//! The words of a PHP file, each with its line. What is no PHP (the text outside `<?php … ?>`) is left out.

/// A word of PHP.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Token {
    /// `$name`, without the sign.
    Variable(String),
    /// A name or keyword as written, with its backslashes but not a leading one.
    Name(String),
    /// A text without variables in it.
    Text(String),
    /// A text between double quotes with variables in it.
    Template(Vec<Part>),
    /// A whole number.
    Number(i64),
    /// A sign, the longest that fits.
    Sign(&'static str),
    /// Something that no configuration needs: a heredoc, a number with a fraction, a command.
    Other,
}

/// A piece of a text between double quotes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    Text(String),
    Variable(String),
    /// More than a plain variable.
    Other,
}

/// Every sign, longer ones before those that they begin with.
#[rustfmt::skip]
const SIGNS: &[&str] = &[
    "===", "!==", "<=>", "**=", "...", "<<=", ">>=", "??=", "?->",
    "=>", "->", "::", "==", "!=", "<>", "<=", ">=", "&&", "||", "??", ".=", "+=", "-=", "*=", "/=", "|=", "&=", "^=", "%=", "++",
    "--", "<<", ">>", "**",
    ";", ",", "(", ")", "[", "]", "{", "}", "=", ".", "?", ":", "!", "&", "|", "^", "~", "@", "<", ">", "+", "-", "*", "/", "%", "$", "\\",
];

/// The words of a file with their lines, from one. A text or comment that never ends goes on to the file's end, as does
/// everything that cannot be taken apart: what it hides is then missing, which the reader of the words tells.
pub(crate) fn tokens(source: &str) -> Vec<(Token, usize)> {
    let mut lexer = Lexer { source, at: 0, line: 1, found: Vec::new() };
    lexer.outside();
    while lexer.at < source.len() {
        lexer.one();
    }
    lexer.found
}

struct Lexer<'a> {
    source: &'a str,
    at: usize,
    line: usize,
    found: Vec<(Token, usize)>,
}

fn begins_name(c: char) -> bool {
    c.is_ascii_alphabetic() || c == '_' || !c.is_ascii()
}

fn in_name(c: char) -> bool {
    begins_name(c) || c.is_ascii_digit()
}

impl<'a> Lexer<'a> {
    fn rest(&self) -> &'a str {
        &self.source[self.at..]
    }

    /// Takes so many bytes, counting lines.
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

    /// Takes all up to and with `end`.
    fn take_past(&mut self, end: &str) -> &'a str {
        let rest = self.rest();
        self.take(rest.find(end).map_or(rest.len(), |i| i + end.len()))
    }

    fn push(&mut self, token: Token, line: usize) {
        self.found.push((token, line));
    }

    /// Skips to where PHP begins.
    fn outside(&mut self) {
        self.take_past("<?");
        for open in ["php", "="] {
            if self.rest().get(..open.len()).is_some_and(|o| o.eq_ignore_ascii_case(open)) {
                self.take(open.len());
                return;
            }
        }
    }

    fn one(&mut self) {
        let line = self.line;
        let rest = self.rest();
        let Some(first) = rest.chars().next() else { return };
        if first.is_whitespace() {
            self.take_while(char::is_whitespace);
        } else if rest.starts_with("?>") {
            self.push(Token::Sign(";"), line);
            self.outside();
        } else if rest.starts_with("#[") {
            self.take(2);
            self.push(Token::Sign("["), line);
        } else if rest.starts_with("//") || first == '#' {
            // A comment of one line also ends where PHP does.
            let end = rest.find('\n').unwrap_or(rest.len());
            self.take(rest[..end].find("?>").unwrap_or(end));
        } else if rest.starts_with("/*") {
            self.take_past("*/");
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
        } else if first == '$' && rest[1..].starts_with(begins_name) {
            self.take(1);
            let name = self.take_while(in_name).to_owned();
            self.push(Token::Variable(name), line);
        } else if begins_name(first) || first == '\\' && rest[1..].starts_with(begins_name) {
            let name = self.take_while(|c| in_name(c) || c == '\\').trim_start_matches('\\').to_owned();
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

    /// What stands before the closing quote, which is taken too.
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

    /// `<<<NAME … NAME`: its value is not told.
    fn heredoc(&mut self, line: usize) {
        self.take(3);
        self.take_while(|c| matches!(c, ' ' | '\t' | '\'' | '"'));
        let name = self.take_while(in_name);
        self.take_past("\n");
        while !self.rest().is_empty() && !name.is_empty() {
            let after = self.rest().trim_start_matches([' ', '\t']);
            if after.strip_prefix(name).is_some_and(|a| !a.starts_with(in_name)) {
                self.take(self.rest().len() - after.len() + name.len());
                break;
            }
            self.take_past("\n");
        }
        self.push(Token::Other, line);
    }
}

/// A text between single quotes, where only the quote and the backslash are escaped.
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

/// A text between double quotes.
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
                // By number; no configuration writes its texts so.
                'x' | 'u' | 'e' | 'f' | 'v' | '0'..='7' => parts.push(Part::Other),
                _ => out.extend([c, next]),
            }
            continue;
        }
        let braced = c == '{' && rest.starts_with('$');
        let name = if braced { rest.get(1..) } else { (c == '$').then_some(rest) };
        let Some(name) = name.filter(|n| n.starts_with(begins_name)) else {
            // `${name}` is not read.
            if c == '$' && rest.starts_with('{') {
                parts.push(Part::Other);
            }
            out.push(c);
            continue;
        };
        let end = name.find(|c| !in_name(c)).unwrap_or(name.len());
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
    fn words() {
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
    fn variables_in_texts() {
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
    fn lines_are_those_of_the_file() {
        let found = tokens("text\n<?php\n/*\n*/ 'a\nb'\n;");
        assert_eq!(found, [(text("a\nb"), 4), (Token::Sign(";"), 6)]);
    }
}
