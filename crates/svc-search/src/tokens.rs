//! Tokens of folded texts, and terms to search for as patterns of tokens.
//!
//! A token is a maximal run of letters and digits. A term that consists of letters and digits only cannot extend over
//! the edge of a token: a text contains the term exactly if one of its tokens does. A term with other characters
//! matches only texts with the tokens of its parts; the rule has to decide on these. Letters of scripts that are
//! written without spaces are tokens of their own.

/// Version of the rules in this file. Segments of another version are not used.
pub(crate) const VERSION: u32 = 2;

/// Maximum length of a token in bytes. Documents with longer tokens are not indexed.
pub(crate) const MAX_TOKEN: usize = 255;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CharKind {
    Word,
    /// A token of its own.
    Single,
    Separator,
}

fn kind(c: char) -> CharKind {
    match c {
        'a'..='z' | 'A'..='Z' | '0'..='9' => CharKind::Word,
        _ if c.is_ascii() => CharKind::Separator,
        // Thai to Myanmar, Khmer, CJK with kana, CJK compatibility, supplementary ideographs.
        '\u{e00}'..='\u{eff}'
        | '\u{1000}'..='\u{109f}'
        | '\u{1780}'..='\u{17ff}'
        | '\u{2e80}'..='\u{31ff}'
        | '\u{3400}'..='\u{9fff}'
        | '\u{f900}'..='\u{faff}'
        | '\u{20000}'..='\u{3ffff}' => CharKind::Single,
        _ if c.is_alphanumeric() => CharKind::Word,
        _ => CharKind::Separator,
    }
}

/// The byte ranges of a text's tokens, in order.
pub(crate) fn tokens(text: &str) -> impl Iterator<Item = std::ops::Range<usize>> + '_ {
    let mut at = 0;
    std::iter::from_fn(move || {
        let rest = text.get(at..)?;
        let mut chars = rest.char_indices();
        let (skipped, first) = chars.find(|(_, c)| kind(*c) != CharKind::Separator)?;
        let start = at + skipped;
        let len = match kind(first) {
            CharKind::Word => {
                rest[skipped..].char_indices().find(|(_, c)| kind(*c) != CharKind::Word).map(|(len, _)| len)
            }
            _ => Some(first.len_utf8()),
        };
        let end = len.map_or(text.len(), |len| start + len);
        at = end;
        Some(start..end)
    })
}

/// Calls `each` for the tokens of a text. Returns `false` if it has a token that is too long.
pub(crate) fn each_token<'a>(text: &'a str, mut each: impl FnMut(&'a str)) -> bool {
    tokens(text).all(|range| {
        let token = &text[range];
        let fits = token.len() <= MAX_TOKEN;
        if fits {
            each(token);
        }
        fits
    })
}

/// A part of a term, which a token must match.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TokenPattern<'a> {
    pub(crate) text: &'a str,
    /// Whether the token may continue before the text.
    pub(crate) open_start: bool,
    /// Whether the token may continue after the text.
    pub(crate) open_end: bool,
}

/// A folded term as patterns that must all match.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TermPattern<'a> {
    pub(crate) tokens: Vec<TokenPattern<'a>>,
    /// Whether each text with matching tokens contains the term.
    pub(crate) is_exact: bool,
}

impl<'a> TermPattern<'a> {
    /// Parses a folded term.
    pub(crate) fn parse(term: &'a str) -> Self {
        let pattern = |range: std::ops::Range<usize>| {
            let is_word = |c: char| kind(c) == CharKind::Word;
            let text = &term[range.clone()];
            let is_run = text.starts_with(is_word);
            TokenPattern { text, open_start: range.start == 0 && is_run, open_end: range.end == term.len() && is_run }
        };
        let tokens: Vec<TokenPattern<'a>> = tokens(term).map(pattern).collect();
        // The empty term is in every text.
        let is_exact = term.is_empty() || matches!(&tokens[..], [only] if only.text.len() == term.len());
        TermPattern { tokens, is_exact }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        let mut found = Vec::new();
        assert!(each_token(text, |token| found.push(token)));
        assert_eq!(found, expected, "{text:?}");
    }

    #[test]
    fn texts() {
        check("", &[]);
        check(" -- ", &[]);
        check("fox", &["fox"]);
        check("<p>a fox's den_1</p>", &["p", "a", "fox", "s", "den", "1", "p"]);
        check("straße, привет", &["straße", "привет"]);
        check("a中文b ไทย", &["a", "中", "文", "b", "ไ", "ท", "ย"]);
        check("a\u{fffd}b😀c", &["a", "b", "c"]);
        assert!(!each_token(&"x".repeat(MAX_TOKEN + 1), |_| {}));
    }

    #[test]
    fn terms() {
        let rows: &[(&str, &[(&str, bool, bool)], bool)] = &[
            ("", &[], true),
            ("%", &[], false),
            ("fox", &[("fox", true, true)], true),
            ("fox beta", &[("fox", true, false), ("beta", false, true)], false),
            ("a b c", &[("a", true, false), ("b", false, false), ("c", false, true)], false),
            (" fox", &[("fox", false, true)], false),
            ("fox.", &[("fox", true, false)], false),
            ("中", &[("中", false, false)], true),
            ("中文", &[("中", false, false), ("文", false, false)], false),
            ("x中", &[("x", true, false), ("中", false, false)], false),
        ];
        for (term, expected, is_exact) in rows {
            let parsed = TermPattern::parse(term);
            let found: Vec<_> = parsed.tokens.iter().map(|t| (t.text, t.open_start, t.open_end)).collect();
            assert_eq!((&found[..], parsed.is_exact), (*expected, *is_exact), "{term:?}");
        }
    }
}
