//! Parsing of search texts.

use sea_query::{Cond, Expr, ExprTrait as _};

use crate::query::contains;

/// Common words that are not searched for, unless there are no others.
const STOP_WORDS: [&str; 29] = [
    "about", "an", "are", "as", "at", "be", "by", "com", "for", "from", "how", "in", "is", "it", "of", "on", "or",
    "that", "the", "this", "to", "was", "what", "when", "where", "who", "will", "with", "www",
];

/// Maximum number of terms; texts with more are searched for as a whole.
const MAX_TERMS: usize = 9;

/// Maximum length of a search text, in bytes. WordPress ignores longer ones.
const MAX_TEXT: usize = 1_600;

/// The text to search for; `None` for an empty or overlong one, which does not restrict a list.
pub fn search_text(text: Option<String>) -> Option<String> {
    text.filter(|text| !text.is_empty() && text.len() <= MAX_TEXT)
}

/// A column to search.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SearchColumn {
    /// The title.
    Title,
    /// The excerpt.
    Excerpt,
    /// The content.
    Content,
}

impl SearchColumn {
    /// The default columns.
    pub const ALL: [SearchColumn; 3] = [SearchColumn::Title, SearchColumn::Excerpt, SearchColumn::Content];

    pub(super) fn name(self) -> &'static str {
        match self {
            SearchColumn::Title => "post_title",
            SearchColumn::Excerpt => "post_excerpt",
            SearchColumn::Content => "post_content",
        }
    }
}

/// The condition of a rank: a column contains all of the terms, or any.
pub(super) struct RankStep<'a> {
    pub(super) rank: i64,
    pub(super) column: SearchColumn,
    pub(super) terms: Vec<&'a str>,
    pub(super) is_any: bool,
}

/// A parsed search text. Quoted phrases are kept together, `-word` excludes a word.
///
/// Source: `WP_Query` (`s`), according to WordPress's SQL statements.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct SearchTerms {
    /// The whole text without line breaks.
    pub(crate) sentence: String,
    /// Terms that must each occur in one of the columns.
    pub(crate) required: Vec<String>,
    /// Terms that must not occur in any column.
    pub(crate) excluded: Vec<String>,
    /// Whether the text has several words, including ignored ones.
    pub(crate) has_several_words: bool,
}

impl SearchTerms {
    /// Parses a search text.
    pub(crate) fn parse(text: &str) -> Self {
        let sentence: String = text.chars().filter(|c| !matches!(c, '\r' | '\n')).collect();
        let words = split(&sentence);
        let has_several_words = words.len() > 1;
        let terms = without_stop_words(words);
        // If no terms or too many terms are left, search for the whole text.
        let terms = if terms.is_empty() || terms.len() > MAX_TERMS { vec![sentence.clone()] } else { terms };
        let mut parsed = SearchTerms { sentence, has_several_words, ..SearchTerms::default() };
        for term in terms {
            match term.strip_prefix('-') {
                Some(rest) => parsed.excluded.push(rest.to_owned()),
                None => parsed.required.push(term),
            }
        }
        parsed
    }

    /// Matches posts with all required terms and none of the excluded ones.
    ///
    /// With `exact`, a column must equal a term instead of containing it.
    pub(super) fn condition(&self, columns: &[SearchColumn], file_name: Option<&Expr>, exact: bool) -> Cond {
        let pattern = |term: &String| if exact { crate::query::equals(term) } else { contains(term) };
        let mut all = Cond::all();
        for term in &self.required {
            let mut any = Cond::any();
            for column in columns {
                any = any.add(column_of(*column).like(pattern(term)));
            }
            if let Some(file_name) = file_name {
                any = any.add(file_name.clone().like(pattern(term)));
            }
            all = all.add(any);
        }
        for term in &self.excluded {
            let mut none = Cond::all();
            for column in columns {
                none = none.add(column_of(*column).not_like(pattern(term)));
            }
            all = all.add(none);
        }
        all
    }

    /// Relevance, smaller for better matches. `None` if all matches are equally relevant.
    pub(super) fn rank(&self) -> Option<Expr> {
        let steps = self.rank_steps();
        if steps.is_empty() {
            return None;
        }
        let mut case = sea_query::CaseStatement::new();
        for step in steps {
            let mut condition = if step.is_any { Cond::any() } else { Cond::all() };
            for term in step.terms {
                condition = condition.add(column_of(step.column).like(contains(term)));
            }
            case = case.case(condition, step.rank);
        }
        Some(case.finally(self.last_rank()).into())
    }

    /// The ranks of matches with their conditions, in ascending order. Other matches have [`Self::last_rank`].
    ///
    /// The order is: the sentence in the title, all terms in the title, any term in the title, the sentence in the
    /// excerpt, in the content, others. For a single word: in the title, others.
    pub(super) fn rank_steps(&self) -> Vec<RankStep<'_>> {
        let step = |rank, column, term| RankStep { rank, column, terms: vec![term], is_any: false };
        if !self.has_several_words {
            return self.required.first().map(|term| step(0, SearchColumn::Title, term)).into_iter().collect();
        }
        let match_sentence = !self.sentence.starts_with('-') && !has_space_then_minus(&self.sentence);
        let mut steps = Vec::new();
        if match_sentence {
            steps.push(step(1, SearchColumn::Title, &self.sentence));
        }
        if (1..7).contains(&self.required.len()) {
            let terms = || self.required.iter().map(String::as_str).collect();
            steps.push(RankStep { rank: 2, column: SearchColumn::Title, terms: terms(), is_any: false });
            if self.required.len() > 1 {
                steps.push(RankStep { rank: 3, column: SearchColumn::Title, terms: terms(), is_any: true });
            }
        }
        if match_sentence {
            steps.push(step(4, SearchColumn::Excerpt, &self.sentence));
            steps.push(step(5, SearchColumn::Content, &self.sentence));
        }
        steps
    }

    /// The rank of matches that satisfy no step.
    pub(super) fn last_rank(&self) -> i64 {
        if self.has_several_words { 6 } else { 1 }
    }
}

fn has_space_then_minus(text: &str) -> bool {
    text.as_bytes().windows(2).any(|w| w[0].is_ascii_whitespace() && w[1] == b'-')
}

fn column_of(column: SearchColumn) -> Expr {
    Expr::col(("p", column.name()))
}

/// Splits at tabs, spaces, commas and plus signs; quoted phrases are kept together. An unclosed quote extends to the
/// end.
fn split(text: &str) -> Vec<&str> {
    let separator = |c: char| matches!(c, '\t' | ' ' | '"' | ',' | '+');
    let mut terms = Vec::new();
    let mut at = 0;
    let mut fresh = true;
    while let Some(c) = text[at..].chars().next() {
        let rest = &text[at..];
        if c == '"' {
            let len = rest[1..].find('"').map_or(rest.len(), |n| n + 2);
            terms.push(&rest[..len]);
            at += len;
            // A term may follow the closing quote immediately.
            fresh = true;
        } else if separator(c) {
            at += c.len_utf8();
            fresh = true;
        } else {
            let len = rest.find(separator).unwrap_or(rest.len());
            if fresh {
                terms.push(&rest[..len]);
            }
            at += len;
            fresh = false;
        }
    }
    terms
}

/// Removes quotes, single letters and stop words.
fn without_stop_words(terms: Vec<&str>) -> Vec<String> {
    let trimmed = |term: &str| -> String {
        let quoted = term.len() > 2 && term.starts_with('"') && term.ends_with('"');
        let marks: &[char] = if quoted { &['"', '\''] } else { &['"', '\'', ' '] };
        term.trim_matches(marks).to_owned()
    };
    let single = |t: &str| t.len() == 1 && t.bytes().all(|b| b.is_ascii_alphabetic() || b == b'-');
    terms
        .into_iter()
        .map(trimmed)
        .filter(|t| !t.is_empty() && !single(t))
        .filter(|t| !STOP_WORDS.contains(&t.to_lowercase().as_str()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The terms in WordPress's statements, as printed by its query class.
    #[test]
    fn terms() {
        #[rustfmt::skip]
        let rows: &[(&str, &[&str], &[&str])] = &[
            ("fox", &["fox"], &[]),
            ("fox zebra", &["fox", "zebra"], &[]),
            ("fox -zebra the a", &["fox"], &["zebra"]),
            ("fox -\"zebra two\" the a", &["fox", "zebra two"], &[]),
            ("\"fox beta\" \"x", &["fox beta"], &[]),
            ("the", &["the"], &[]),
            ("a b c", &["a b c"], &[]),
            ("aa bb cc dd ee ff gg hh ii", &["aa", "bb", "cc", "dd", "ee", "ff", "gg", "hh", "ii"], &[]),
            ("aa bb cc dd ee ff gg hh ii jj", &["aa bb cc dd ee ff gg hh ii jj"], &[]),
            ("aa,bb+cc", &["aa", "bb", "cc"], &[]),
            ("50% a_b 'q", &["50%", "a_b"], &[]),
            ("-", &[], &[""]),
            ("- -x -foo", &[], &["x", "foo"]),
            ("   ", &["   "], &[]),
            ("a\nbc é", &["abc", "é"], &[]),
            ("", &[""], &[]),
        ];
        for (text, required, excluded) in rows {
            let terms = SearchTerms::parse(text);
            assert_eq!((terms.required, terms.excluded), (to_vec(required), to_vec(excluded)), "{text:?}");
        }
    }

    fn to_vec(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|t| (*t).to_owned()).collect()
    }
}
