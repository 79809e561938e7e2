//! The `pattern` keyword and the names in `patternProperties`: Perl-compatible regular expressions that match anywhere
//! in a string.
//!
//! The dialect is PCRE in Unicode mode. Constructs that the regex engine interprets differently are rewritten first. An
//! invalid pattern matches nothing.

use std::{fmt::Write, iter::Peekable, str::Chars};

use fancy_regex::{Regex, RegexBuilder};

/// Maximum number of backtracking steps of a match.
const BACKTRACK_LIMIT: usize = 100_000;
/// Maximum compiled size of a pattern, in bytes.
const SIZE_LIMIT: usize = 1 << 20;
/// Maximum length of a pattern, in bytes.
const MAX_PATTERN: usize = 10_000;

/// A compiled pattern.
#[derive(Debug)]
pub(crate) struct Pattern {
    source: Box<str>,
    regex: Option<Regex>,
}

/// Result of a match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Match {
    Yes,
    No,
    /// The match exceeded the backtracking limit.
    GaveUp,
}

impl Pattern {
    pub(crate) fn compile(source: &str) -> Self {
        let regex = (source.len() <= MAX_PATTERN).then(|| rewrite(source)).flatten().and_then(|pattern| {
            RegexBuilder::new(&pattern)
                .backtrack_limit(BACKTRACK_LIMIT)
                .delegate_size_limit(SIZE_LIMIT)
                .delegate_dfa_size_limit(SIZE_LIMIT)
                .max_prog_size(SIZE_LIMIT)
                .build()
                .ok()
        });
        Pattern { source: source.into(), regex }
    }

    /// The pattern as written in the schema.
    pub(crate) fn source(&self) -> &str {
        &self.source
    }

    /// Searches for a match anywhere in the string.
    pub(crate) fn find(&self, text: &str) -> Match {
        match self.regex.as_ref().map(|regex| regex.is_match(text)) {
            Some(Ok(true)) => Match::Yes,
            Some(Ok(false)) | None => Match::No,
            Some(Err(_)) => Match::GaveUp,
        }
    }
}

/// PCRE's sets of horizontal white space (`\h`) and line ends (`\v`), as the content of a bracket expression.
const HORIZONTAL: &str = r"\t\x20\x{A0}\x{1680}\x{180E}\x{2000}-\x{200A}\x{202F}\x{205F}\x{3000}";
const VERTICAL: &str = r"\n\x0B\x0C\r\x{85}\x{2028}\x{2029}";
/// PCRE's set of word characters (`\w`).
const WORD: &str = r"\p{L}\p{N}_";

/// The sets that are written as `[:name:]` within brackets, as the content of a bracket expression.
const POSIX_SETS: &[(&str, &str)] = &[
    ("alpha", r"\p{L}"),
    ("lower", r"\p{Ll}"),
    ("upper", r"\p{Lu}"),
    ("alnum", r"\p{L}\p{N}"),
    ("ascii", r"\x00-\x7F"),
    ("blank", HORIZONTAL),
    ("cntrl", r"\p{Cc}"),
    ("digit", r"\p{Nd}"),
    ("graph", r"\p{L}\p{M}\p{N}\p{P}\p{S}\p{Cf}"),
    ("print", r"\p{L}\p{M}\p{N}\p{P}\p{S}\p{Cf}\p{Zs}"),
    ("punct", r"\p{P}\x24\x2B\x3C-\x3E\x5E\x60\x7C\x7E"),
    ("space", r"\s"),
    ("word", WORD),
    ("xdigit", "0-9A-Fa-f"),
];

/// Long names of general categories, which PCRE does not support, unlike short ones (`\p{L}`) and script names.
const LONG_CATEGORIES: &[&str] = &[
    "letter",
    "casedletter",
    "uppercaseletter",
    "lowercaseletter",
    "titlecaseletter",
    "modifierletter",
    "otherletter",
    "mark",
    "combiningmark",
    "nonspacingmark",
    "spacingmark",
    "enclosingmark",
    "number",
    "decimalnumber",
    "digit",
    "letternumber",
    "othernumber",
    "punctuation",
    "punct",
    "connectorpunctuation",
    "dashpunctuation",
    "openpunctuation",
    "closepunctuation",
    "initialpunctuation",
    "finalpunctuation",
    "otherpunctuation",
    "symbol",
    "mathsymbol",
    "currencysymbol",
    "modifiersymbol",
    "othersymbol",
    "separator",
    "spaceseparator",
    "lineseparator",
    "paragraphseparator",
    "other",
    "control",
    "cntrl",
    "format",
    "surrogate",
    "privateuse",
    "unassigned",
    "assigned",
];

/// Rewrites a PCRE pattern for the regex engine; `None` if PCRE would reject it.
fn rewrite(pattern: &str) -> Option<String> {
    let mut writer = Rewriter {
        rest: pattern.chars().peekable(),
        out: String::with_capacity(pattern.len() + 16),
        depth: 0,
        is_multiline: has_multiline_flag(pattern),
    };
    writer.run()?;
    Some(writer.out)
}

/// Whether an inline flag group sets `m`, which makes `$` match at any line end.
fn has_multiline_flag(pattern: &str) -> bool {
    pattern.match_indices("(?").any(|(at, found)| {
        let flags = pattern[at + found.len()..].chars().take_while(|c| c.is_ascii_alphabetic());
        let flags: String = flags.collect();
        flags.contains('m') && flags.chars().all(|c| "imsxnUJ".contains(c))
    })
}

struct Rewriter<'p> {
    rest: Peekable<Chars<'p>>,
    out: String,
    /// Number of open groups.
    depth: usize,
    is_multiline: bool,
}

impl Rewriter<'_> {
    fn run(&mut self) -> Option<()> {
        while let Some(c) = self.rest.next() {
            match c {
                '\\' => self.escape(false)?,
                '[' => self.bracket()?,
                '$' if !self.is_multiline => self.end_of_text(),
                '{' if !self.is_quantifier() => self.out.push_str(r"\{"),
                '{' => self.quantifier(),
                '}' => self.out.push_str(r"\}"),
                '(' => {
                    self.depth += 1;
                    self.out.push('(');
                }
                ')' => {
                    self.depth = self.depth.saturating_sub(1);
                    self.out.push(')');
                }
                other => self.out.push(other),
            }
        }
        Some(())
    }

    /// `$` also matches before a line feed at the end of the string. Consuming that line feed instead of looking ahead
    /// allows the linear engine; it is equivalent if nothing can follow.
    fn end_of_text(&mut self) {
        let mut ahead = self.rest.clone();
        let is_last = match ahead.next() {
            None => true,
            Some('|') => self.depth == 0,
            Some(')') => ahead.all(|c| c == ')'),
            Some(_) => false,
        };
        self.out.push_str(if is_last { r"(?:\n?\z)" } else { r"(?=\n?\z)" });
    }

    /// Whether the `{` just read starts a repetition count. Otherwise it is a literal.
    fn is_quantifier(&self) -> bool {
        let body: String = self.rest.clone().take_while(|c| *c != '}').take(24).collect();
        let closed = self.rest.clone().nth(body.chars().count()) == Some('}');
        let is_count = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        let fits = match body.split_once(',') {
            None => is_count(&body),
            Some((low, high)) => is_count(low) && (high.is_empty() || is_count(high)),
        };
        closed && fits
    }

    fn quantifier(&mut self) {
        self.out.push('{');
        for c in self.rest.by_ref() {
            self.out.push(c);
            if c == '}' {
                return;
            }
        }
    }

    /// Rewrites a bracket expression whose `[` was just read.
    fn bracket(&mut self) -> Option<()> {
        self.out.push('[');
        if self.rest.next_if_eq(&'^').is_some() {
            self.out.push('^');
        }
        if self.rest.next_if_eq(&']').is_some() {
            self.out.push_str(r"\]");
        }
        loop {
            match self.rest.next()? {
                ']' => {
                    self.out.push(']');
                    return Some(());
                }
                '\\' => {
                    let is_set = self.rest.peek().is_some_and(|c| "wWdDsShHvVNpP".contains(*c));
                    self.escape(true)?;
                    // After a set, a hyphen is a literal at the end of the brackets, and invalid elsewhere.
                    if is_set && self.rest.next_if_eq(&'-').is_some() {
                        self.rest.next_if_eq(&']')?;
                        self.out.push_str(r"\-]");
                        return Some(());
                    }
                }
                '[' => match self.posix_name() {
                    Some(name) => {
                        let (negated, name) = name.strip_prefix('^').map_or((false, &*name), |name| (true, name));
                        let (_, members) = POSIX_SETS.iter().find(|(known, _)| *known == name)?;
                        let caret = if negated { "^" } else { "" };
                        write!(self.out, "[{caret}{members}]").ok()?;
                    }
                    None => self.out.push_str(r"\["),
                },
                '-' if self.out.ends_with('-') => self.out.push_str(r"\-"),
                c @ ('&' | '~') => {
                    self.out.push('\\');
                    self.out.push(c);
                }
                other => self.out.push(other),
            }
        }
    }

    /// The name in `[:name:]`, whose first bracket was just read. `None` if that bracket is a literal.
    fn posix_name(&mut self) -> Option<String> {
        let mut ahead = self.rest.clone();
        ahead.next_if_eq(&':')?;
        let mut name = String::new();
        loop {
            match ahead.next()? {
                ':' if ahead.next_if_eq(&']').is_some() => break,
                '[' | ']' => return None,
                c => name.push(c),
            }
        }
        self.rest = ahead;
        Some(name)
    }

    /// Rewrites an escape whose backslash was just read.
    fn escape(&mut self, in_bracket: bool) -> Option<()> {
        let set = |out: &mut String, members: &str, negated: bool| {
            let caret = if negated { "^" } else { "" };
            if in_bracket && !negated {
                out.push_str(members)
            } else {
                let _ = write!(out, "[{caret}{members}]");
            }
        };
        let c = self.rest.next()?;
        match c {
            // WordPress delimits patterns with number signs, so an escaped one ends the pattern early.
            '#' => return None,
            'w' => set(&mut self.out, WORD, false),
            'W' => set(&mut self.out, WORD, true),
            'h' => set(&mut self.out, HORIZONTAL, false),
            'H' => set(&mut self.out, HORIZONTAL, true),
            'v' => set(&mut self.out, VERTICAL, false),
            'V' => set(&mut self.out, VERTICAL, true),
            'N' if !in_bracket => self.out.push_str(r"[^\n]"),
            'R' if !in_bracket => self.out.push_str(r"(?>\r\n|[\n\x0B\x0C\r\x{85}\x{2028}\x{2029}])"),
            'd' | 'D' | 's' | 'S' | 'n' | 'r' | 't' | 'f' => self.copy(c),
            'a' => self.out.push_str(r"\x07"),
            'e' => self.out.push_str(r"\x1B"),
            'b' if in_bracket => self.out.push_str(r"\x08"),
            'Z' if !in_bracket => self.out.push_str(r"(?=\n?\z)"),
            'b' | 'B' | 'A' | 'z' | 'G' | 'K' if !in_bracket => self.copy(c),
            'k' | 'g' if !in_bracket => self.reference(c),
            'Q' => self.quoted(),
            'E' => {}
            'c' => {
                let control = self.rest.next().filter(char::is_ascii)?.to_ascii_uppercase() as u8 ^ 0x40;
                let _ = write!(self.out, "\\x{{{control:X}}}");
            }
            'x' => self.hexadecimal()?,
            'p' | 'P' => self.property(c)?,
            '0' => self.octal(0),
            '1'..='9' if in_bracket => self.octal(c.to_digit(8)?),
            '1'..='9' => self.copy(c),
            c if c.is_ascii_alphanumeric() => return None,
            c if c.is_ascii() => {
                let _ = write!(self.out, "\\x{{{:X}}}", u32::from(c));
            }
            c => self.out.push(c),
        }
        Some(())
    }

    fn copy(&mut self, c: char) {
        self.out.push('\\');
        self.out.push(c);
    }

    /// Rewrites a back-reference: `\k{name}`, `\k'name'`, `\k<name>`, `\g{2}`, `\g2`.
    fn reference(&mut self, c: char) {
        let close = match self.rest.peek() {
            Some('{') => '}',
            Some('\'') => '\'',
            Some('<') => return self.copy(c),
            _ => {
                let digits: String = std::iter::from_fn(|| self.rest.next_if(char::is_ascii_digit)).collect();
                let _ = write!(self.out, r"\k<{digits}>");
                return;
            }
        };
        self.rest.next();
        let name: String = self.rest.by_ref().take_while(|c| *c != close).collect();
        let _ = write!(self.out, r"\k<{name}>");
    }

    /// Copies literal text up to `\E`.
    fn quoted(&mut self) {
        while let Some(c) = self.rest.next() {
            if c == '\\' && self.rest.next_if_eq(&'E').is_some() {
                return;
            }
            let _ = write!(self.out, "\\x{{{:X}}}", u32::from(c));
        }
    }

    fn hexadecimal(&mut self) -> Option<()> {
        let digits: String = if self.rest.next_if_eq(&'{').is_some() {
            let body: String = self.rest.by_ref().take_while(|c| *c != '}').collect();
            body.bytes().all(|b| b.is_ascii_hexdigit()).then_some(body)?
        } else {
            let mut two = String::new();
            while two.len() < 2 {
                let Some(digit) = self.rest.next_if(char::is_ascii_hexdigit) else { break };
                two.push(digit);
            }
            if two.is_empty() { "0".to_owned() } else { two }
        };
        let code = u32::from_str_radix(&digits, 16).ok().and_then(char::from_u32)?;
        write!(self.out, "\\x{{{:X}}}", u32::from(code)).ok()
    }

    fn octal(&mut self, first: u32) {
        let mut code = first;
        for _ in 0..2 {
            let Some(digit) = self.rest.next_if(|c| c.is_digit(8)) else { break };
            code = code * 8 + digit.to_digit(8).unwrap_or(0);
        }
        let _ = write!(self.out, "\\x{{{code:X}}}");
    }

    /// Rewrites `\p{…}`, `\pL`, and their negations.
    fn property(&mut self, c: char) -> Option<()> {
        let mut negated = c == 'P';
        let mut name: String = match self.rest.next()? {
            '{' => self.rest.by_ref().take_while(|c| *c != '}').collect(),
            one => one.to_string(),
        };
        if let Some(rest) = name.strip_prefix('^') {
            negated = !negated;
            name = rest.to_owned();
        }
        let plain: String =
            name.chars().filter(|c| !matches!(c, ' ' | '_' | '-')).map(|c| c.to_ascii_lowercase()).collect();
        if plain.is_empty() || LONG_CATEGORIES.contains(&plain.as_str()) {
            return None;
        }
        let letter = if negated { 'P' } else { 'p' };
        let name = match plain.as_str() {
            "l&" | "lc" => "LC",
            _ => name.as_str(),
        };
        write!(self.out, "\\{letter}{{{name}}}").ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matches_like_pcre() {
        let rows: &[(&str, &str, Match)] = &[
            ("a$", "ba", Match::Yes),
            ("a$", "ba\n", Match::Yes),
            ("a$", "ba\n\n", Match::No),
            ("^(a|b$)", "b\n", Match::Yes),
            ("a$|b", "xb", Match::Yes),
            ("(a$)\\n", "a\n", Match::Yes),
            (r"^\d$", "٣", Match::Yes),
            (r"^[\w-]+$", "é_-", Match::Yes),
            (r"^[\w-]+$", "a-", Match::Yes),
            (r"^[\d]$", "-", Match::No),
            ("^[+--]+$", "+,-", Match::Yes),
            ("^[[]$", "[", Match::Yes),
            ("^[a&&b]+$", "a&b", Match::Yes),
            ("^[[:alpha:][:digit:]_]+$", "é_٣", Match::Yes),
            ("^[^[:alpha:]]+$", "1é", Match::No),
            ("^[[:lower:]]$", "É", Match::No),
            ("^[[:upper:]]$", "É", Match::Yes),
            ("^[[:punct:]]+$", "!$–", Match::Yes),
            ("^[[:punct:]]$", "€", Match::No),
            ("^[[:blank:][:space:]]+$", "\u{a0}\n", Match::Yes),
            ("^[[:graph:]]+$", "é€", Match::Yes),
            ("^[[:graph:]]$", " ", Match::No),
            ("^[[:print:]]+$", "é ", Match::Yes),
            ("^[[:cntrl:]]$", "\u{85}", Match::Yes),
            ("^[[:ascii:][:xdigit:]]+$", "é", Match::No),
            ("^[[:word:]]+$", "é_1", Match::Yes),
            ("^[]a]+$", "]a", Match::Yes),
            ("^[[:^alpha:]]$", "1", Match::Yes),
            ("^[[:^alpha:]]$", "é", Match::No),
            ("^[[:a]$", ":", Match::Yes),
            ("^[[:,]:]x$", ",:]x", Match::Yes),
            ("^[[:ab:c]+$", "[:abc", Match::Yes),
            (r"^[\W]$", "!", Match::Yes),
            (r"^[\W]$", "a", Match::No),
            // PCRE before 10.43 has no `{,n}`.
            ("^a{,3}$", "a{,3}", Match::Yes),
            ("^a{x}$", "a{x}", Match::Yes),
            ("^a{}$", "a{}", Match::Yes),
            ("^a{2x}$", "a{2x}", Match::Yes),
            ("^a{2,x}$", "a{2,x}", Match::Yes),
            ("^a{x,2}$", "a{x,2}", Match::Yes),
            ("^a{2$", "a{2", Match::Yes),
            ("^a{2,3$", "a{2,3", Match::Yes),
            ("(?m)a$", "a\nb", Match::Yes),
            ("(?i)a$", "A\n", Match::Yes),
            (r"(a$|b)\n", "a\n", Match::Yes),
            (r"^\N$", "a", Match::Yes),
            (r"^\N$", "\n", Match::No),
            (r"^[\b]$", "\u{8}", Match::Yes),
            (r"a\b", "a", Match::Yes),
            (r"a\Z", "a\n", Match::Yes),
            (r"a\Z", "a\n\n", Match::No),
            (r"\Aa\z", "a", Match::Yes),
            (r"^\.$", "a", Match::No),
            (r"^[\1]$", "\u{1}", Match::Yes),
            (r"^\012$", "\n", Match::Yes),
            (r"^\0$", "\0", Match::Yes),
            (r"^\x414$", "A4", Match::Yes),
            (r"^\x{0000041}$", "A", Match::Yes),
            ("^a{2,3}$", "aaa", Match::Yes),
            ("{x}", "{x}", Match::Yes),
            (r"\/", "a/b", Match::Yes),
            (r"^\cC$", "\u{3}", Match::Yes),
            (r"\x{e9}", "é", Match::Yes),
            (r"\R", "a\r\n", Match::Yes),
            (r"^\h$", "\u{a0}", Match::Yes),
            (r"(?<n>a)\k<n>", "aa", Match::Yes),
            (r"(?<n>a)\k{n}", "ab", Match::No),
            (r"(?<n>a)\k{n}", "aa", Match::Yes),
            (r"(?<n>a)\k'n'", "aa", Match::Yes),
            (r"(a)\g{1}", "aa", Match::Yes),
            (r"(a)\g1", "aa", Match::Yes),
            (r"\Qa.b\E", "a.b", Match::Yes),
            (r"\Qa.b\E", "axb", Match::No),
            (r"\p{Lu}", "É", Match::Yes),
            (r"\p{^Lu}", "é", Match::Yes),
            (r"^\p{L&}$", "a", Match::Yes),
            (r"^\p{Lc}$", "a", Match::Yes),
            (r"^\p{any}$", "a", Match::Yes),
            ("a#b", "a#b", Match::Yes),
            // PCRE rejects these, so nothing matches.
            ("[", "[", Match::No),
            ("[[:A:]]", "A:]", Match::No),
            ("[[:foo:]]", "f", Match::No),
            ("[[:a^:]]", "a:]", Match::No),
            (r"^[\w-.]+$", "a.-", Match::No),
            (r"[\N]", "N", Match::No),
            (r"[\R]", "(", Match::No),
            (r"[\Z]", "(", Match::No),
            (r"[\A]", "A", Match::No),
            (r"[\k]", "k", Match::No),
            (r"\x{}", "x{}", Match::No),
            (r"\x{+41}", "A", Match::No),
            (r"\p{Letter}cole", "École", Match::No),
            (r"a\#b", "a#b", Match::No),
            (r"\y", "y", Match::No),
            // These exceed the backtracking limit.
            (r"^(?:(\w+)\s?)*\1!$", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab!?!", Match::GaveUp),
        ];
        for (pattern, text, expected) in rows {
            assert_eq!(Pattern::compile(pattern).find(text), *expected, "{pattern} {text:?}");
        }
    }
}
