//! Ranked searches: the documents that contain the words of a search, best first, by BM25.
//!
//! A word finds the words with the same stem, and those that begin with it if they are asked for. If no document that the
//! caller may see has any of them, it finds words that differ by one letter. Only documents with the most words are found:
//! those with all words, if there are any. Very common words do not count for that, and not even for the order if reading
//! their documents would take too long.
//!
//! Everything is computed from the documents that may be found: the others do not influence which are found and how they
//! are ordered, except that the most frequent of many similar words are chosen among all.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, HashSet};
use std::io;

use crate::bits::{Bits, MAX_DOCS};
use crate::highlight::Highlighter;
use crate::occurrences::{Entry, Posting, Postings, each_position, each_posting};
use crate::ranked_query::{RankedQuery, Unit};
use crate::segment::Segment;
use crate::words::{SHARED, is_one_edit};

/// How soon more occurrences of a word in a document do not matter.
const SATURATION: f32 = 1.2;

/// How much the length of title and text matters, from 0 to 1.
const LENGTH: [f32; 2] = [0.3, 0.75];

/// Weight of an occurrence in title and text.
const FIELD: [f32; 2] = [4.0, 1.0];

/// Weight of an occurrence of another form of a word.
const OTHER_FORM: f32 = 0.9;

/// Weight of a document with only a word that begins with the searched one, or that differs by one letter.
const SIMILAR: f32 = 0.5;

/// Maximum number of words that begin with a searched one, or differ by one letter.
const MAX_SIMILAR: usize = 64;

/// Minimum length in characters of a word with a typing error.
const MIN_TYPO: usize = 5;

/// Minimum length in characters of a beginning of words.
const MIN_PREFIX: usize = 2;

/// Maximum number of documents that are read for all words. More are read if the rarest word alone has more.
const MAX_POSTINGS: u64 = 1_000_000;

/// Maximum number of documents of a common word that are read next to rarer words, which decide alone what is found.
const MAX_COMMON: u64 = 300_000;

/// Maximum number of documents that are read for the words that are similar to one. More are read if the most frequent one alone has
/// more.
const MAX_OF_SIMILAR: u64 = 200_000;

/// Maximum number of documents in which a phrase is looked for, of those that have all its words: the last ones of the first parts.
const MAX_WITH_PHRASE: usize = 40_000;

/// Lengths up to this one have their weights in a table.
const TABLE: usize = 2_048;

/// A word is common if one in this many documents has it, of at least [`MIN_DOCS`].
const COMMON: usize = 3;

/// Minimum number of documents for words to be common.
const MIN_DOCS: usize = 100;

/// A segment and those of its documents that may be found.
pub struct RankedPart<'a> {
    /// The segment.
    pub segment: &'a Segment,
    /// The documents that may be found.
    pub allowed: Bits,
}

/// The documents that a ranked search has found.
pub struct Ranking {
    /// The ids of the best documents, best first.
    pub ids: Vec<i64>,
    /// Number of all found documents.
    pub total: u64,
    /// Their number per type, most frequent first.
    pub types: Vec<(String, u64)>,
    /// Marks the words of the search in texts.
    pub highlighter: Highlighter,
}

/// A word of the dictionary of a part.
struct Match {
    part: usize,
    form: String,
    postings: Postings,
    n_docs: u32,
    /// Weight of an occurrence; `None` for similar words, which count less as a whole.
    weight: Option<f32>,
}

/// A document with a unit of the search, and how much it counts.
type Hit = (u16, f32);

/// Finds the best `n` documents of the parts, whose segments have the language of the query.
///
/// # Errors
/// If a segment cannot be read.
pub fn rank(parts: &[RankedPart<'_>], query: &RankedQuery, n: usize) -> io::Result<Ranking> {
    let mut search = Search::new(parts);
    let mut units = Vec::with_capacity(query.units.len());
    for (at, unit) in query.units.iter().enumerate() {
        units.push((at, unit, search.matches(unit)?));
    }
    let n_allowed = parts.iter().map(|part| part.allowed.len() as u64).sum::<u64>();
    let n_docs = |found: &[Vec<Match>]| found.iter().flatten().map(|found| u64::from(found.n_docs)).sum::<u64>();
    units.sort_by_key(|(_, _, found)| n_docs(found));
    let (mut hits, mut left, mut typos) = (Vec::new(), MAX_POSTINGS, Vec::new());
    for (at, unit, found) in units {
        if matches!(unit, Unit::Word { .. }) {
            let cost = n_docs(&found);
            let is_too_common = cost > MAX_COMMON && cost > n_allowed / COMMON as u64;
            if (cost > left || is_too_common) && hits.iter().any(|(_, hits): &(usize, UnitHits)| hits.n > 0) {
                continue;
            }
            left = left.saturating_sub(cost);
        }
        let mut of_unit = search.hits(unit, &found)?;
        if of_unit.n == 0
            && let Unit::Word { word, .. } = unit
            && word.form.chars().count() >= MIN_TYPO
        {
            // The first letter must be right.
            let start: String = word.form.chars().take(1).collect();
            let similar = search.most_frequent(&start, |entry| {
                is_one_edit(entry.form, &word.form) || is_one_edit(&entry.stem(), &word.stem)
            })?;
            typos.extend(similar.iter().map(|found| found.form.clone()));
            of_unit = search.hits(unit, &[similar])?;
        }
        hits.push((at, of_unit));
    }
    // Sums do not depend on the number of documents that may not be found.
    hits.sort_by_key(|(at, _)| *at);
    let hits: Vec<UnitHits> = hits.into_iter().map(|(_, hits)| hits).collect();
    let highlighter = Highlighter::new(query, typos);
    let (best, total, types) = search.best(&hits, n);
    Ok(Ranking { ids: best, total, types, highlighter })
}

/// The documents of a unit in each part.
struct UnitHits {
    parts: Vec<Vec<Hit>>,
    n: usize,
    is_required: bool,
}

struct Search<'a> {
    parts: &'a [RankedPart<'a>],
    /// Weights of an occurrence in titles and texts.
    weights: [FieldWeights; 2],
    /// Weighted frequencies of a unit per document: of its words, and of similar ones.
    sums: [Vec<f32>; 2],
}

impl<'a> Search<'a> {
    fn new(parts: &'a [RankedPart<'a>]) -> Self {
        let n = parts.iter().map(|part| part.allowed.len()).sum::<usize>().max(1) as f32;
        let mut totals = [0_u64; 2];
        for RankedPart { segment, allowed } in parts {
            // Most documents may be found.
            let mut others = segment.all();
            others.subtract(allowed);
            for (total, (all, lengths)) in totals.iter_mut().zip(segment.occurrences.totals()) {
                let length = |at: u16| lengths.get(usize::from(at)).copied().map_or(0, u64::from);
                *total += all.saturating_sub(others.iter().map(length).sum());
            }
        }
        let [title, text] = totals.map(|total| (total as f32 / n).max(1.0));
        let weights = [FieldWeights::new(FIELD[0], LENGTH[0], title), FieldWeights::new(FIELD[1], LENGTH[1], text)];
        Search { parts, weights, sums: [vec![0.0; MAX_DOCS], vec![0.0; MAX_DOCS]] }
    }

    /// The words of the dictionaries for each word of a unit.
    fn matches(&self, unit: &Unit) -> io::Result<Vec<Vec<Match>>> {
        match unit {
            Unit::Phrase { forms, .. } => {
                forms.iter().map(|form| self.find(form, |entry| (entry.form == form).then_some(1.0))).collect()
            }
            Unit::Word { word, is_prefix } => {
                let weight = |entry: &Entry<'_>| match () {
                    () if entry.form == word.form => Some(1.0),
                    () if entry.has_stem(&word.stem) => Some(OTHER_FORM),
                    () => None,
                };
                let mut found = self.find(&word.form, weight)?;
                if *is_prefix && word.form.chars().count() >= MIN_PREFIX {
                    found.extend(self.most_frequent(&word.form, |entry| weight(entry).is_none())?);
                }
                Ok(vec![found])
            }
        }
    }

    /// The words with a weight that share their beginning with a word.
    fn find(&self, form: &str, weight: impl Fn(&Entry<'_>) -> Option<f32>) -> io::Result<Vec<Match>> {
        let mut found = Vec::new();
        let start: String = form.chars().take(SHARED).collect();
        for (part, RankedPart { segment, .. }) in self.parts.iter().enumerate() {
            segment.occurrences.scan(segment.source(), &start, |entry| {
                if let Some(weight) = weight(&entry) {
                    found.push(of_entry(part, &entry, Some(weight)));
                }
            })?;
        }
        Ok(found)
    }

    /// The most frequent wanted words that begin with a text.
    fn most_frequent(&self, start: &str, is_wanted: impl Fn(&Entry<'_>) -> bool) -> io::Result<Vec<Match>> {
        let mut found: Vec<Match> = Vec::new();
        for (part, RankedPart { segment, .. }) in self.parts.iter().enumerate() {
            // The least frequent one is on top.
            let mut kept: BinaryHeap<(Reverse<u32>, usize)> = BinaryHeap::new();
            let mut of_part: Vec<Match> = Vec::new();
            segment.occurrences.scan(segment.source(), start, |entry| {
                let is_rarer =
                    kept.len() >= MAX_SIMILAR && kept.peek().is_some_and(|(least, _)| entry.n_docs <= least.0);
                if is_rarer || !is_wanted(&entry) {
                    return;
                }
                let new = of_entry(part, &entry, None);
                let at = if kept.len() < MAX_SIMILAR {
                    of_part.push(new);
                    of_part.len() - 1
                } else {
                    let at = kept.pop().map_or(0, |(_, at)| at);
                    if let Some(old) = of_part.get_mut(at) {
                        *old = new;
                    }
                    at
                };
                kept.push((Reverse(entry.n_docs), at));
            })?;
            found.extend(of_part);
        }
        let mut counts: HashMap<&str, u64> = HashMap::new();
        for Match { form, n_docs, .. } in &found {
            *counts.entry(form).or_default() += u64::from(*n_docs);
        }
        let mut sorted: Vec<(Reverse<u64>, String)> =
            counts.into_iter().map(|(form, n)| (Reverse(n), form.to_owned())).collect();
        sorted.sort_unstable();
        let mut left = MAX_OF_SIMILAR;
        let n_kept = sorted.iter().take(MAX_SIMILAR).take_while(|(Reverse(n), _)| {
            let is_first = left == MAX_OF_SIMILAR;
            let fits = *n <= left;
            left = left.saturating_sub(*n);
            fits || is_first
        });
        let n_kept = n_kept.count();
        if n_kept < sorted.len() {
            sorted.truncate(n_kept);
            let kept: HashSet<String> = sorted.into_iter().map(|(_, form)| form).collect();
            found.retain(|found| kept.contains(&found.form));
        }
        Ok(found)
    }

    /// The documents of a unit.
    fn hits(&mut self, unit: &Unit, found: &[Vec<Match>]) -> io::Result<UnitHits> {
        let (mut parts, mut left) = (Vec::with_capacity(self.parts.len()), MAX_WITH_PHRASE);
        for part in 0..self.parts.len() {
            let of_part: Vec<Vec<&Match>> =
                found.iter().map(|found| found.iter().filter(|found| found.part == part).collect()).collect();
            parts.push(match unit {
                Unit::Phrase { .. } => self.with_phrase(part, &of_part, &mut left)?,
                Unit::Word { .. } => self.with_word(part, of_part.first().map_or(&[][..], Vec::as_slice))?,
            });
        }
        let n = parts.iter().map(Vec::len).sum();
        Ok(UnitHits { parts, n, is_required: matches!(unit, Unit::Phrase { is_required: true, .. }) })
    }

    /// The documents of a part with a word.
    fn with_word(&mut self, part: usize, found: &[&Match]) -> io::Result<Vec<Hit>> {
        let Some(RankedPart { segment, allowed }) = self.parts.get(part) else { return Ok(Vec::new()) };
        let Search { weights, sums: [own, similar], .. } = self;
        if let [Match { postings, weight, n_docs, .. }] = found {
            let (weight, factor) = weight.map_or((1.0, SIMILAR), |weight| (weight, 1.0));
            let mut hits = Vec::with_capacity((*n_docs as usize).min(MAX_DOCS));
            each_posting(segment.source(), *postings, |Posting { doc, frequencies }| {
                if allowed.contains(doc) {
                    let sum = weight * frequency(segment, doc, frequencies, weights);
                    hits.push((doc, factor * saturated(sum)));
                }
            })?;
            return Ok(hits);
        }
        let mut docs = [Vec::new(), Vec::new()];
        for found in found {
            let weight = found.weight.unwrap_or(1.0);
            let (sums, docs) = match (found.weight, &mut docs) {
                (Some(_), [docs, _]) => (&mut *own, docs),
                (None, [_, docs]) => (&mut *similar, docs),
            };
            each_posting(segment.source(), found.postings, |Posting { doc, frequencies }| {
                if let Some(sum) = sums.get_mut(usize::from(doc)).filter(|_| allowed.contains(doc)) {
                    if *sum == 0.0 {
                        docs.push(doc);
                    }
                    *sum += weight * frequency(segment, doc, frequencies, weights);
                }
            })?;
        }
        let sum_of = |sums: &[f32], doc: u16| sums.get(usize::from(doc)).copied().unwrap_or_default();
        let [of_own, of_similar] = &docs;
        let mut hits: Vec<Hit> = of_own.iter().map(|doc| (*doc, saturated(sum_of(own, *doc)))).collect();
        let only_similar = of_similar.iter().filter(|doc| sum_of(own, **doc) == 0.0);
        hits.extend(only_similar.map(|doc| (*doc, SIMILAR * saturated(sum_of(similar, *doc)))));
        for (sums, docs) in [(own, of_own), (similar, of_similar)] {
            for doc in docs {
                if let Some(sum) = sums.get_mut(usize::from(*doc)) {
                    *sum = 0.0;
                }
            }
        }
        Ok(hits)
    }

    /// The documents of a part with words that follow each other, of the last `left` ones with all words.
    fn with_phrase(&self, part: usize, words: &[Vec<&Match>], left: &mut usize) -> io::Result<Vec<Hit>> {
        let Some(RankedPart { segment, allowed }) = self.parts.get(part).filter(|_| *left > 0) else {
            return Ok(Vec::new());
        };
        let source = segment.source();
        let mut with_all = allowed.clone();
        for found in words {
            let mut with_word = Bits::none();
            for found in found {
                each_posting(source, found.postings, |posting| with_word.insert(posting.doc))?;
            }
            with_all.retain(&with_word);
            if with_all.is_empty() {
                return Ok(Vec::new());
            }
        }
        let n_with_all = with_all.len();
        if n_with_all > *left {
            with_all = with_all.iter().skip(n_with_all - *left).collect();
        }
        *left = left.saturating_sub(n_with_all);
        // Where phrases may begin: document, whether in the text, position. Sorted.
        let mut starts: Vec<(u16, bool, u32)> = Vec::new();
        for (n, found) in words.iter().enumerate() {
            let mut next = Vec::new();
            for found in found {
                each_position(
                    source,
                    found.postings,
                    |doc| with_all.contains(doc),
                    |doc, title, text| {
                        for (in_text, positions) in [(false, title), (true, text)] {
                            let begun = positions.iter().filter_map(|position| position.checked_sub(n as u32));
                            next.extend(begun.map(|at| (doc, in_text, at)));
                        }
                    },
                )?;
            }
            // A form with two stems has two lists.
            if found.len() > 1 {
                next.sort_unstable();
            }
            if n > 0 {
                let mut before = starts.iter().peekable();
                next.retain(|start| {
                    while before.next_if(|other| *other < start).is_some() {}
                    before.peek().is_some_and(|other| *other == start)
                });
            }
            starts = next;
            with_all = starts.iter().map(|(doc, ..)| *doc).collect();
        }
        let hit = |group: &[(u16, bool, u32)]| {
            let in_text = group.iter().filter(|(_, in_text, _)| *in_text).count();
            let frequencies = [group.len() - in_text, in_text].map(|n| u8::try_from(n).unwrap_or(u8::MAX));
            let doc = group.first()?.0;
            Some((doc, saturated(frequency(segment, doc, frequencies, &self.weights))))
        };
        Ok(starts.chunk_by(|a, b| a.0 == b.0).filter_map(hit).collect())
    }

    /// The best documents, the number of all, and their number per type.
    fn best(&self, units: &[UnitHits], n: usize) -> (Vec<i64>, u64, Vec<(String, u64)>) {
        let n_allowed = self.parts.iter().map(|part| part.allowed.len()).sum::<usize>();
        let is_common = |unit: &UnitHits| n_allowed >= MIN_DOCS && unit.n > n_allowed / COMMON;
        let all_common = units.iter().all(is_common);
        let n_required = units.iter().filter(|unit| unit.is_required).count();
        let rarity = |unit: &UnitHits| ((n_allowed as f32 - unit.n as f32 + 0.5) / (unit.n as f32 + 0.5)).ln_1p();
        let mut best = Best::new(n);
        if let [unit] = units {
            let rarity = rarity(unit);
            for (RankedPart { segment, .. }, hits) in self.parts.iter().zip(&unit.parts) {
                best.add_part(segment, hits.iter().map(|(doc, value)| (usize::from(*doc), 1, rarity * value)));
            }
            return best.finish();
        }
        let (mut scores, mut counts) = (vec![0.0_f32; MAX_DOCS], vec![[0_u8; 2]; MAX_DOCS]);
        for (part, RankedPart { segment, .. }) in self.parts.iter().enumerate() {
            scores.fill(0.0);
            counts.fill([0; 2]);
            for unit in units {
                let rarity = rarity(unit);
                let counted = u8::from(all_common || unit.is_required || !is_common(unit));
                for (doc, value) in unit.parts.get(part).into_iter().flatten() {
                    let at = usize::from(*doc);
                    if let (Some(score), Some([found, required])) = (scores.get_mut(at), counts.get_mut(at)) {
                        *score += rarity * value;
                        *found += counted;
                        *required += u8::from(unit.is_required);
                    }
                }
            }
            let found = counts.iter().zip(&scores).take(segment.len()).enumerate();
            let found = found.filter(|(_, ([_, required], _))| usize::from(*required) >= n_required);
            best.add_part(segment, found.map(|(at, ([found, _], score))| (at, *found, *score)));
        }
        best.finish()
    }
}

/// The best documents with the most units.
struct Best<'a> {
    n: usize,
    /// The number of units that all documents so far have.
    level: u8,
    /// The worst one is on top.
    kept: BinaryHeap<Reverse<(u32, i64, i64)>>,
    types: HashMap<&'a str, u64>,
}

impl<'a> Best<'a> {
    fn new(n: usize) -> Self {
        Best { n, level: 0, kept: BinaryHeap::new(), types: HashMap::new() }
    }

    /// Adds documents of a segment: position, number of units, and score.
    fn add_part(&mut self, segment: &'a Segment, found: impl Iterator<Item = (usize, u8, f32)>) {
        let mut by_class = vec![0_u64; segment.class_list.len()];
        for (at, n_units, score) in found {
            if n_units < self.level.max(1) {
                continue;
            }
            if n_units > self.level {
                self.level = n_units;
                self.kept.clear();
                self.types.clear();
                by_class.fill(0);
            }
            if let Some(n) = segment.classes.get(at).and_then(|class| by_class.get_mut(usize::from(*class))) {
                *n += 1;
            }
            // Positive numbers have the order of their bits.
            let score = score.max(0.0).to_bits();
            let is_full = self.kept.len() >= self.n;
            if is_full && self.kept.peek().is_none_or(|Reverse((least, ..))| score < *least) {
                continue;
            }
            let (Some(date), Some(id)) = (segment.dates.get(at), segment.ids.get(at)) else { continue };
            let key = Reverse((score, *date, *id));
            if !is_full {
                self.kept.push(key);
            } else if self.kept.peek().is_some_and(|least| key < *least) {
                self.kept.pop();
                self.kept.push(key);
            }
        }
        for (class, n) in segment.class_list.iter().zip(by_class).filter(|(_, n)| *n > 0) {
            *self.types.entry(&class.post_type).or_default() += n;
        }
    }

    /// The ids, best first, the number of all documents, and their number per type.
    fn finish(self) -> (Vec<i64>, u64, Vec<(String, u64)>) {
        let total = self.types.values().sum();
        let mut types: Vec<(String, u64)> = self.types.into_iter().map(|(name, n)| (name.to_owned(), n)).collect();
        types.sort_by(|(a, n), (b, m)| m.cmp(n).then_with(|| a.cmp(b)));
        (self.kept.into_sorted_vec().into_iter().map(|Reverse((_, _, id))| id).collect(), total, types)
    }
}

fn of_entry(part: usize, entry: &Entry<'_>, weight: Option<f32>) -> Match {
    Match { part, form: entry.form.to_owned(), postings: entry.postings, n_docs: entry.n_docs, weight }
}

/// How much an occurrence counts in a title or text of some length.
struct FieldWeights {
    weight: f32,
    matters: f32,
    average: f32,
    /// The weight by length.
    table: Vec<f32>,
}

impl FieldWeights {
    fn new(weight: f32, matters: f32, average: f32) -> Self {
        let mut weights = FieldWeights { weight, matters, average, table: Vec::new() };
        weights.table = (0..TABLE).map(|length| weights.compute(length as f32)).collect();
        weights
    }

    fn compute(&self, length: f32) -> f32 {
        self.weight / (1.0 - self.matters + self.matters * length / self.average)
    }

    fn of(&self, length: u16) -> f32 {
        self.table.get(usize::from(length)).copied().unwrap_or_else(|| self.compute(f32::from(length)))
    }
}

/// How often a document contains something, weighted by the length of title and text.
fn frequency(segment: &Segment, doc: u16, frequencies: [u8; 2], weights: &[FieldWeights; 2]) -> f32 {
    let mut sum = 0.0;
    for ((frequency, weights), lengths) in frequencies.into_iter().zip(weights).zip(&segment.occurrences.lengths) {
        if let (1.., Some(length)) = (frequency, lengths.get(usize::from(doc))) {
            sum += f32::from(frequency) * weights.of(*length);
        }
    }
    sum
}

fn saturated(frequency: f32) -> f32 {
    frequency * (SATURATION + 1.0) / (frequency + SATURATION)
}

#[cfg(test)]
mod tests;
