//! The text of a ranked search: words, phrases and beginnings of words.

use crate::tokens::tokens;
use crate::words::{Analyzer, Language, Word, composed};

/// Maximum number of words of a search, including those of phrases.
const MAX_WORDS: usize = 16;

/// Why a text cannot be searched for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueryError {
    /// It has no word.
    NoWords,
    /// It has more words than this.
    TooManyWords(usize),
}

/// A part of a search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Unit {
    Word {
        word: Word,
        /// Whether words that begin with it are found as well.
        is_prefix: bool,
    },
    /// Words in this order, in these forms.
    Phrase {
        forms: Vec<String>,
        /// Whether only documents with the phrase are found.
        is_required: bool,
    },
}

/// A parsed search.
///
/// Words are separated by spaces; what is in double quotes is a phrase, and so are words that are joined by other characters or
/// written without spaces. `*` after a word finds all words that begin with it; the last word is searched for in this way too, if
/// no space follows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RankedQuery {
    pub(crate) units: Vec<Unit>,
    pub(crate) language: Language,
}

impl RankedQuery {
    /// Parses a text of a language, which must be that of the index.
    ///
    /// # Errors
    /// If it has no word, or too many.
    pub fn parse(text: &str, language: Language) -> Result<Self, QueryError> {
        let (analyzer, text) = (Analyzer::new(language), composed(text));
        let mut units: Vec<Unit> = Vec::new();
        let mut n_words = 0;
        for (at, part) in text.split('"').enumerate() {
            let is_quoted = at % 2 == 1;
            let chunks: Vec<&str> = if is_quoted { vec![part] } else { part.split_whitespace().collect() };
            for (n, chunk) in chunks.iter().enumerate() {
                // Nothing can be typed before a space.
                let is_last = n + 1 == chunks.len() && text.ends_with(chunk);
                let mut words: Vec<Word> =
                    tokens(chunk).filter_map(|range| analyzer.word(chunk.get(range).unwrap_or_default())).collect();
                n_words += words.len();
                if n_words > MAX_WORDS {
                    return Err(QueryError::TooManyWords(MAX_WORDS));
                }
                let unit = match (words.pop(), words.is_empty() && !is_quoted) {
                    (None, _) => continue,
                    (Some(word), true) => Unit::Word { is_prefix: is_last || chunk.ends_with('*'), word },
                    (Some(word), false) => {
                        words.push(word);
                        let forms = words.into_iter().map(|word| word.form).collect();
                        Unit::Phrase { forms, is_required: is_quoted }
                    }
                };
                // A repeated word says nothing more.
                if !units.contains(&unit) {
                    units.push(unit);
                }
            }
        }
        if units.is_empty() { Err(QueryError::NoWords) } else { Ok(RankedQuery { units, language }) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let found = match RankedQuery::parse(text, Language::of_locale("en")) {
            Err(e) => format!("{e:?}"),
            Ok(query) => {
                let shown = query.units.iter().map(|unit| match unit {
                    Unit::Word { word, is_prefix } => {
                        format!("{}/{}{}", word.form, word.stem, if *is_prefix { "*" } else { "" })
                    }
                    Unit::Phrase { forms, is_required } => format!("{forms:?}{}", if *is_required { "!" } else { "" }),
                });
                shown.collect::<Vec<_>>().join(" ")
            }
        };
        assert_eq!(found, expected, "{text:?}");
    }

    #[test]
    fn texts() {
        check("", "NoWords");
        check(" -- \"\" * ", "NoWords");
        check("Harbours", "harbours/harbour*");
        check("harbours ", "harbours/harbour");
        check("harb* boats ", "harb/harb* boats/boat");
        check("the \"old harbour\" boats", "the/the [\"old\", \"harbour\"]! boats/boat*");
        check("\"harbours\"", "[\"harbours\"]!");
        check("\"old harbour", "[\"old\", \"harbour\"]!");
        check("wi-fi O'Neil ", "[\"wi\", \"fi\"] [\"o\", \"neil\"]");
        check("中文 x", "[\"中\", \"文\"] x/x*");
        check("fox fox fox ", "fox/fox");
        check(&"a b c d e f g h ".repeat(2), "a/a b/b c/c d/d e/e f/f g/g h/h");
        check(&"a ".repeat(17), "TooManyWords(16)");
        check(&"a-".repeat(17), "TooManyWords(16)");
    }
}
