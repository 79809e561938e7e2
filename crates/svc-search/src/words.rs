//! Words as ranked searches compare them: in lower case, without accents, and with the stem by which their other forms are found.

use std::borrow::Cow;

use snowball_stemmers_rs::{Algorithm, Stemmer};
use unicode_normalization::UnicodeNormalization as _;

/// Maximum length of a word in bytes. Longer ones are not found by ranked searches.
pub(crate) const MAX_WORD: usize = 64;

/// Number of characters that a word shares with its stem. Only entries of the dictionary with the same beginning are examined.
pub(crate) const SHARED: usize = 2;

/// The language whose words are reduced to stems.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Language(Option<Algorithm>);

/// The languages with stems, by the first part of a locale.
const LANGUAGES: [(&str, Algorithm); 14] = [
    ("da", Algorithm::Danish),
    ("de", Algorithm::German),
    ("en", Algorithm::English),
    ("es", Algorithm::Spanish),
    ("fi", Algorithm::Finnish),
    ("fr", Algorithm::French),
    ("it", Algorithm::Italian),
    ("nb", Algorithm::Norwegian),
    ("nl", Algorithm::Dutch),
    ("nn", Algorithm::Norwegian),
    ("no", Algorithm::Norwegian),
    ("pt", Algorithm::Portuguese),
    ("ru", Algorithm::Russian),
    ("sv", Algorithm::Swedish),
];

impl Language {
    /// A language without stems.
    pub const NONE: Language = Language(None);

    /// The language of a locale such as `de_DE`; English for an empty one, as in WordPress. Words of languages without stems are
    /// found in the form that is searched for.
    pub fn of_locale(locale: &str) -> Self {
        let code = locale.split(['_', '-']).next().unwrap_or_default();
        let code = if code.is_empty() { "en" } else { code };
        Language(LANGUAGES.iter().find(|(name, _)| name.eq_ignore_ascii_case(code)).map(|(_, algorithm)| *algorithm))
    }

    /// Identifies the rules for words of the language.
    pub(crate) fn name(self) -> String {
        format!("{:?}", self.0)
    }
}

/// A word and its stem, without accents.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Word {
    pub(crate) form: String,
    /// Begins with the first characters of the form.
    pub(crate) stem: String,
}

/// Reduces the words of a language.
pub(crate) struct Analyzer(Option<Stemmer>);

impl Analyzer {
    pub(crate) fn new(language: Language) -> Self {
        Analyzer(language.0.map(Stemmer::create))
    }

    /// The word of a token; `None` if it is too long.
    pub(crate) fn word(&self, token: &str) -> Option<Word> {
        if token.len() > MAX_WORD {
            return None;
        }
        let lower = token.to_lowercase();
        let form = without_accents(&lower);
        if form.len() > MAX_WORD {
            return None;
        }
        let stem = self.0.as_ref().map(|stemmer| without_accents(&stemmer.stem(&lower)));
        let is_near = |stem: &String| {
            let shared = stem.chars().zip(form.chars()).take(SHARED).take_while(|(a, b)| a == b);
            shared.count() == SHARED.min(form.chars().count())
        };
        let stem = stem.filter(is_near).unwrap_or_else(|| form.clone());
        Some(Word { form, stem })
    }
}

/// A text whose letters are composed with their accents, so that these do not separate words.
pub(crate) fn composed(text: &str) -> Cow<'_, str> {
    if text.is_ascii() || unicode_normalization::is_nfc(text) {
        text.into()
    } else {
        text.nfc().collect::<String>().into()
    }
}

/// A lower-case word with plain letters.
fn without_accents(word: &str) -> String {
    if word.is_ascii() {
        return word.to_owned();
    }
    let mut plain = String::with_capacity(word.len());
    for c in word.chars() {
        match c {
            'ß' => plain.push_str("ss"),
            'æ' => plain.push_str("ae"),
            'œ' => plain.push_str("oe"),
            'ø' => plain.push('o'),
            'ł' => plain.push('l'),
            'đ' => plain.push('d'),
            'ё' => plain.push('е'),
            // Other accents of Cyrillic letters distinguish words.
            '\u{400}'..='\u{52f}' => plain.push(c),
            _ => {
                plain.extend(std::iter::once(c).nfkd().filter(|c| !unicode_normalization::char::is_combining_mark(*c)))
            }
        }
    }
    plain
}

/// Whether two words differ by at most one letter that is missing, added, other, or swapped with its neighbour.
pub(crate) fn is_one_edit(a: &str, b: &str) -> bool {
    if a.len().abs_diff(b.len()) > 4 {
        return false;
    }
    let (mut left, mut right) = (a.chars(), b.chars());
    // What follows the common beginning.
    let (rest_a, rest_b) = loop {
        let (rest_a, rest_b) = (left.as_str(), right.as_str());
        match (left.next(), right.next()) {
            (Some(x), Some(y)) if x == y => {}
            _ => break (rest_a, rest_b),
        }
    };
    match (skip_char(rest_a), skip_char(rest_b)) {
        (None, None) => true,
        (Some((_, tail)), None) | (None, Some((_, tail))) => tail.is_empty(),
        (Some((x, tail_a)), Some((y, tail_b))) => {
            let is_swapped = match (skip_char(tail_a), skip_char(tail_b)) {
                (Some((next_a, tail_a)), Some((next_b, tail_b))) => x == next_b && y == next_a && tail_a == tail_b,
                _ => false,
            };
            tail_a == tail_b || tail_a == rest_b || rest_a == tail_b || is_swapped
        }
    }
}

/// The first character of a text and the rest.
fn skip_char(text: &str) -> Option<(char, &str)> {
    let mut chars = text.chars();
    chars.next().map(|first| (first, chars.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_and_stems() {
        for (locale, token, form, stem) in [
            ("", "Running", "running", "run"),
            ("en_GB", "Harbours", "harbours", "harbour"),
            ("de_DE_formal", "Häuser", "hauser", "haus"),
            ("de_AT", "Straße", "strasse", "strass"),
            ("fr_FR", "Économiques", "economiques", "econom"),
            ("es_MX", "canciones", "canciones", "cancion"),
            ("es_ES", "canción", "cancion", "cancion"),
            ("pt_BR", "Nações", "nacoes", "naco"),
            ("it_IT", "città", "citta", "citt"),
            ("nl_NL", "boten", "boten", "boot"),
            // The stem without the prefix would not be found.
            ("nl_NL", "gelopen", "gelopen", "gelopen"),
            ("sv_SE", "båtarna", "batarna", "bat"),
            ("da_DK", "bådene", "badene", "bad"),
            ("nb_NO", "båtene", "batene", "bat"),
            ("fi", "talossa", "talossa", "talo"),
            ("ru_RU", "чёрный", "черный", "черн"),
            ("pl_PL", "Łodzie", "lodzie", "lodzie"),
            ("ja", "中", "中", "中"),
        ] {
            let found = Analyzer::new(Language::of_locale(locale)).word(token).unwrap();
            assert_eq!((found.form.as_str(), found.stem.as_str()), (form, stem), "{locale} {token}");
        }
        assert_eq!(Analyzer::new(Language::NONE).word(&"x".repeat(MAX_WORD + 1)), None);
        assert_eq!(composed("cafe\u{301}"), "café");
    }

    #[test]
    fn one_edit() {
        for (a, b, expected) in [
            ("harbour", "harbour", true),
            ("harbour", "harbor", true),
            ("harbour", "harbours", true),
            ("harbour", "habrour", true),
            ("harbour", "harbqur", true),
            ("harbour", "arbour", true),
            ("harbour", "habour", true),
            ("harbour", "haqbouq", false),
            ("harbour", "hrabuor", false),
            ("harbour", "harbo", false),
            ("мороз", "морз", true),
            ("", "a", true),
            ("", "ab", false),
        ] {
            assert_eq!(is_one_edit(a, b), expected, "{a} {b}");
            assert_eq!(is_one_edit(b, a), expected, "{b} {a}");
        }
    }
}
