//! Case- and accent-insensitive comparison and `LIKE` for SQLite, equivalent to the collation of WordPress's MySQL
//! tables.
//!
//! The order is that of the first level of the Unicode collation algorithm for the scripts that titles and names
//! usually contain: spaces and punctuation, symbols, digits, Latin letters, then other scripts by code point. The full
//! table is not reproduced: rare symbols and scripts are in code point order.
//!
//! A change to the order corrupts existing indexes. [`VERSION`] identifies the order that a database's indexes use.

use std::cmp::Ordering;

use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::is_combining_mark;

/// Version of the order. Indexes are rebuilt if the database has another version.
pub const VERSION: i64 = 1;

/// ASCII punctuation in collation order (`utf8mb4_unicode_520_ci`), measured on a server.
const MARKS: &[u8] = b"\t\n\x0b\x0c\r `^_-,;:!?.'\"()[]{}@*/\\&#%+<=>|~$";

const DIGITS: u32 = 20_000;
const LETTERS: u32 = 20_100;
const OTHERS: u32 = 30_000;

/// Weights of ASCII characters. Characters with weight 0 are ignored.
const ASCII: [u32; 128] = ascii_weights();

const fn ascii_weights() -> [u32; 128] {
    let mut table = [0; 128];
    let mut i = 0;
    while i < MARKS.len() {
        table[MARKS[i] as usize] = 1 + i as u32;
        i += 1;
    }
    // The dollar sign follows all other punctuation, next to other currency symbols.
    table[b'$' as usize] = DIGITS - 20;
    let mut c = 0;
    while c < 10 {
        table[b'0' as usize + c] = DIGITS + c as u32;
        c += 1;
    }
    c = 0;
    while c < 26 {
        table[b'a' as usize + c] = LETTERS + 100 * c as u32;
        table[b'A' as usize + c] = LETTERS + 100 * c as u32;
        c += 1;
    }
    table
}

/// Letters that expand by convention rather than by canonical decomposition.
fn special(c: char) -> Option<&'static str> {
    Some(match c {
        'ß' | 'ẞ' => "ss",
        'æ' | 'Æ' => "ae",
        'œ' | 'Œ' => "oe",
        'ø' | 'Ø' => "o",
        'đ' | 'Đ' | 'ð' | 'Ð' => "d",
        'ł' | 'Ł' => "l",
        'ħ' | 'Ħ' => "h",
        _ => return None,
    })
}

/// Weight of a non-ASCII character without a decomposition.
fn weight_of_other(c: char) -> u32 {
    let cp = u32::from(c);
    match c {
        'ı' => LETTERS + 100 * 8 + 50,
        'ŋ' | 'Ŋ' => LETTERS + 100 * 13 + 50,
        'þ' | 'Þ' => LETTERS + 100 * 25 + 50,
        '£' | '¢' | '¥' | '€' | '¤' => DIGITS - 19 + cp % 16,
        // Punctuation and symbols are between ASCII punctuation and digits.
        '\u{80}'..='\u{bf}' | '×' | '÷' | '\u{2000}'..='\u{2bff}' | '\u{3000}'..='\u{303f}' => 100 + cp,
        _ => OTHERS + c.to_lowercase().next().map_or(cp, u32::from),
    }
}

fn push_weights(c: char, out: &mut Vec<u32>) {
    if let Some(w) = ASCII.get(c as usize) {
        if *w != 0 {
            out.push(*w);
        }
    } else if let Some(s) = special(c) {
        out.extend(s.bytes().map(|b| ASCII[usize::from(b)]));
    } else {
        for d in c.nfkd() {
            if is_combining_mark(d) {
                continue;
            }
            match ASCII.get(d as usize) {
                Some(w) => out.extend((*w != 0).then_some(*w)),
                None => out.push(weight_of_other(d)),
            }
        }
    }
}

fn weights(text: &str) -> Vec<u32> {
    let mut out = Vec::with_capacity(text.len());
    text.chars().for_each(|c| push_weights(c, &mut out));
    out
}

/// Compares two texts, ignoring trailing spaces.
pub fn compare(a: &str, b: &str) -> Ordering {
    if a == b {
        return Ordering::Equal;
    }
    if a.is_ascii()
        && b.is_ascii()
        && let Some(order) = compare_ascii(a.as_bytes(), b.as_bytes())
    {
        return order;
    }
    compare_padded(&weights(a), &weights(b))
}

/// Compares ASCII texts without collecting weights. `None` if an ignored character shifts them.
fn compare_ascii(a: &[u8], b: &[u8]) -> Option<Ordering> {
    for (x, y) in a.iter().zip(b) {
        let (x, y) = (ASCII[usize::from(*x)], ASCII[usize::from(*y)]);
        if x == 0 || y == 0 {
            return None;
        }
        if x != y {
            return Some(x.cmp(&y));
        }
    }
    let space = ASCII[usize::from(b' ')];
    let common = a.len().min(b.len());
    let rest = if a.len() > common { &a[common..] } else { &b[common..] };
    let first = rest.iter().map(|c| ASCII[usize::from(*c)]).find(|w| *w != 0 && *w != space);
    let order = first.map_or(Ordering::Equal, |w| w.cmp(&space));
    Some(if a.len() > common { order } else { order.reverse() })
}

/// Compares as if the shorter text was padded with spaces.
fn compare_padded(a: &[u32], b: &[u32]) -> Ordering {
    let space = ASCII[usize::from(b' ')];
    for i in 0..a.len().max(b.len()) {
        let (x, y) = (a.get(i).copied().unwrap_or(space), b.get(i).copied().unwrap_or(space));
        if x != y {
            return x.cmp(&y);
        }
    }
    Ordering::Equal
}

/// Removes case and accents from a text, character by character, for `LIKE`.
///
/// A character that expands to several weights (`ß`) is left unchanged, because `LIKE` compares single characters.
pub(crate) fn fold(text: &str, out: &mut String) {
    out.clear();
    if text.is_ascii() {
        out.extend(text.bytes().map(|b| char::from(b.to_ascii_lowercase())));
        return;
    }
    for c in text.chars() {
        fold_char(c, out);
    }
}

fn fold_char(c: char, out: &mut String) {
    if c.is_ascii() {
        out.push(c.to_ascii_lowercase());
        return;
    }
    if is_combining_mark(c) {
        return;
    }
    let base = match special(c) {
        Some(s) if s.len() == 1 => s.chars().next(),
        Some(_) => None,
        None => {
            let mut bases = c.nfkd().filter(|d| !is_combining_mark(*d));
            let first = bases.next();
            if bases.next().is_some() { None } else { first }
        }
    };
    out.extend(base.unwrap_or(c).to_lowercase().take(1));
}

/// A parsed `LIKE` pattern.
#[derive(Debug)]
pub(crate) enum LikePattern {
    /// `%text%`, the most common form.
    Contains(String),
    /// Any other pattern.
    Parts(Vec<PatternPart>),
}

/// An element of a pattern.
#[derive(Debug, PartialEq)]
pub(crate) enum PatternPart {
    Char(char),
    AnyChar,
    Anything,
}

impl LikePattern {
    /// Parses a pattern with `%`, `_` and an optional escape character.
    pub(crate) fn new(pattern: &str, escape: Option<char>) -> Self {
        let mut parts = Vec::new();
        let mut folded = String::new();
        let mut chars = pattern.chars();
        while let Some(c) = chars.next() {
            let literal = match c {
                _ if Some(c) == escape => chars.next().unwrap_or(c),
                '%' => {
                    if parts.last() != Some(&PatternPart::Anything) {
                        parts.push(PatternPart::Anything);
                    }
                    continue;
                }
                '_' => {
                    parts.push(PatternPart::AnyChar);
                    continue;
                }
                _ => c,
            };
            folded.clear();
            fold_char(literal, &mut folded);
            parts.extend(folded.chars().map(PatternPart::Char));
        }
        if let [PatternPart::Anything, middle @ .., PatternPart::Anything] = &parts[..] {
            let text: Option<String> =
                middle.iter().map(|p| if let PatternPart::Char(c) = p { Some(*c) } else { None }).collect();
            if let Some(text) = text {
                return LikePattern::Contains(text);
            }
        }
        LikePattern::Parts(parts)
    }

    /// Returns whether the text matches. `buffer` is reused between calls.
    pub(crate) fn matches(&self, text: &str, buffer: &mut String) -> bool {
        fold(text, buffer);
        match self {
            LikePattern::Contains(part) => buffer.contains(part.as_str()),
            LikePattern::Parts(parts) => wildcard(parts, buffer),
        }
    }
}

/// Matches with a single backtracking point, so the cost is at most the product of both lengths.
fn wildcard(parts: &[PatternPart], text: &str) -> bool {
    let (mut p, mut rest) = (0, text);
    let mut backtrack: Option<(usize, &str)> = None;
    loop {
        let mut chars = rest.chars();
        match (parts.get(p), chars.next()) {
            (Some(PatternPart::Anything), _) => {
                backtrack = Some((p + 1, rest));
                p += 1;
                continue;
            }
            (None, None) => return true,
            (Some(PatternPart::AnyChar), Some(_)) => {
                (p, rest) = (p + 1, chars.as_str());
                continue;
            }
            (Some(PatternPart::Char(c)), Some(t)) if *c == t => {
                (p, rest) = (p + 1, chars.as_str());
                continue;
            }
            _ => {}
        }
        let Some((after, from)) = backtrack else { return false };
        let mut chars = from.chars();
        if chars.next().is_none() {
            return false;
        }
        backtrack = Some((after, chars.as_str()));
        (p, rest) = (after, chars.as_str());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_of_texts() {
        // Each line sorts before the next.
        let lines = [
            "", "_a", "-a", "!a", "\"a", "(a", "&a", "~a", "$a", "0", "1", "a", "Ab", "AC", "é", "f", "Z", "þ", "α",
            "я", "中",
        ];
        for (i, a) in lines.iter().enumerate() {
            for (j, b) in lines.iter().enumerate() {
                assert_eq!(compare(a, b), i.cmp(&j), "{a:?} {b:?}");
            }
        }
    }

    #[test]
    fn equal_texts() {
        let rows = [
            ("é", "E"),
            ("straße", "STRASSE"),
            ("a", "a  "),
            ("Ærø", "aero"),
            ("e\u{301}", "e"),
            ("²", "2"),
            ("a\u{0}b", "ab"),
        ];
        for (a, b) in rows {
            assert_eq!(compare(a, b), Ordering::Equal, "{a:?} {b:?}");
            assert_eq!(compare(b, a), Ordering::Equal, "{b:?} {a:?}");
        }
    }

    #[test]
    fn like() {
        let rows = [
            ("%fox%", "The FOX jumps", true),
            ("%cafe%", "Un Café noir", true),
            ("%CAFÉ%", "un cafe", true),
            ("%ss%", "straße", false),
            ("%ß%", "straße", true),
            ("a%b", "axxb", true),
            ("a%b", "a\nb", true),
            ("a%b", "axxbc", false),
            ("a_c", "abc", true),
            ("a_c", "ac", false),
            ("50\\%", "50%", true),
            ("50\\%", "500", false),
            ("%a\\_b%", "xa_by", true),
            ("%a\\_b%", "xacby", false),
            ("%%", "", true),
            ("%", "", true),
            ("", "", true),
            ("", "x", false),
            ("%a%a%a%a%a%b", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", false),
        ];
        let mut buffer = String::new();
        for (pattern, text, expected) in rows {
            assert_eq!(
                LikePattern::new(pattern, Some('\\')).matches(text, &mut buffer),
                expected,
                "{text:?} LIKE {pattern:?}"
            );
        }
    }
}
