//! Marks the words of a ranked search in texts.

use std::collections::HashSet;
use std::ops::Range;

use crate::ranked_query::{RankedQuery, Unit};
use crate::tokens::tokens;
use crate::words::{Analyzer, composed};

/// Maximum number of bytes of a text that are examined.
const MAX_TEXT: usize = 64 << 10;

/// Marks the words of a search.
pub struct Highlighter {
    analyzer: Analyzer,
    units: Vec<Unit>,
    /// Words that were found instead of misspelled ones.
    typos: HashSet<String>,
}

/// A part of a text, and whether it is a word of the search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// The text.
    pub text: String,
    /// Whether it is a word of the search.
    pub is_match: bool,
}

impl Highlighter {
    pub(crate) fn new(query: &RankedQuery, typos: Vec<String>) -> Self {
        Highlighter {
            analyzer: Analyzer::new(query.language),
            units: query.units.clone(),
            typos: typos.into_iter().collect(),
        }
    }

    /// The part of a text with the most words of the search, in pieces. It has about `length` bytes, and begins and ends
    /// with whole words; `…` stands for what is before and after it. If the first 64 KB contain none of the words, it is the
    /// beginning.
    pub fn highlight(&self, text: &str, length: usize) -> Vec<Piece> {
        let composed = composed(text.get(..text.floor_char_boundary(MAX_TEXT)).unwrap_or_default());
        let words: Vec<Range<usize>> = tokens(&composed).collect();
        let found: Vec<(usize, usize)> = words
            .iter()
            .enumerate()
            .filter_map(|(at, range)| Some((at, self.unit(composed.get(range.clone())?)?)))
            .collect();
        let (start, end) = window(&composed, &words, &found, length);
        let mut pieces = Vec::new();
        let mut push = |text: &str, is_match| {
            if !text.is_empty() {
                pieces.push(Piece { text: text.to_owned(), is_match });
            }
        };
        if start > 0 {
            push("…", false);
        }
        let mut at = start;
        let matches = found.iter().filter_map(|(word, _)| words.get(*word));
        for range in matches.filter(|range| range.start >= start && range.end <= end) {
            push(composed.get(at..range.start).unwrap_or_default(), false);
            push(composed.get(range.clone()).unwrap_or_default(), true);
            at = range.end;
        }
        push(composed.get(at..end).unwrap_or_default(), false);
        if end < composed.len() || text.len() > MAX_TEXT {
            push("…", false);
        }
        pieces
    }

    /// The number of the unit that a word belongs to.
    fn unit(&self, token: &str) -> Option<usize> {
        let word = self.analyzer.word(token)?;
        let is_of = |unit: &Unit| match unit {
            Unit::Phrase { forms, .. } => forms.contains(&word.form),
            Unit::Word { word: searched, is_prefix } => {
                word.form == searched.form
                    || word.stem == searched.stem
                    || *is_prefix && word.form.starts_with(&searched.form)
            }
        };
        self.units.iter().position(is_of).or_else(|| self.typos.contains(&word.form).then_some(self.units.len()))
    }
}

/// The range of the part with the most different units.
fn window(text: &str, words: &[Range<usize>], found: &[(usize, usize)], length: usize) -> (usize, usize) {
    if text.len() <= length {
        return (0, text.len());
    }
    let start_of = |word: usize| words.get(word).map_or(0, |range| range.start);
    let mut best = (0, 0);
    for (n, (word, _)) in found.iter().enumerate() {
        let start = start_of(*word);
        let mut units = 0_u32;
        for (_, unit) in found.iter().skip(n).take_while(|(other, _)| start_of(*other) < start + length) {
            units |= 1 << (*unit).min(31);
        }
        if units.count_ones() > best.0 {
            best = (units.count_ones(), start);
        }
    }
    // A few words before the first match.
    let from = best.1.saturating_sub(length / 4);
    let start = if from == 0 { 0 } else { words.iter().map(|range| range.start).find(|at| *at >= from).unwrap_or(0) };
    let n = words.partition_point(|range| range.end <= start + length);
    let end = match n.checked_sub(1).and_then(|last| words.get(last)) {
        // What follows the last word is part of the text.
        _ if n == words.len() => text.len().min(start + 2 * length),
        Some(last) if last.end > start => last.end,
        _ => start + length,
    };
    (start, text.floor_char_boundary(end))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::Language;

    #[test]
    fn texts() {
        let long = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen";
        #[rustfmt::skip]
        let rows = [
            ("harbour", "Old harbours of the Harbour", 200, "Old [harbours] of the [Harbour]"),
            ("harb", "Old harbours <b>", 200, "Old [harbours] <b>"),
            ("harb ", "Old harbours", 200, "Old harbours"),
            ("\"old harbours\"", "Old harbours", 200, "[Old] [harbours]"),
            ("x", "", 200, ""),
            ("zzz ", long, 20, "one two three four…"),
            ("nine ", long, 20, "…[nine] ten eleven…"),
            ("nine ten", long, 30, "…eight [nine] [ten] eleven twelve…"),
            ("fourteen", long, 20, "…[fourteen]"),
            ("fourteen", &format!("{long} .)"), 20, "…[fourteen] .)"),
            ("cafe", "un cafe\u{301} à", 200, "un [café] à"),
            ("a", &"x".repeat(90), 20, "xxxxxxxxxxxxxxxxxxxx…"),
        ];
        for (query, text, length, expected) in rows {
            let query = RankedQuery::parse(query, Language::of_locale("en")).unwrap();
            let pieces = Highlighter::new(&query, Vec::new()).highlight(text, length);
            let show = |piece: Piece| if piece.is_match { format!("[{}]", piece.text) } else { piece.text };
            assert_eq!(pieces.into_iter().map(show).collect::<String>(), expected, "{query:?}");
        }
    }
}
