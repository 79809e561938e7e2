//! The words of a segment with their frequencies and positions in each document, for ranked searches.
//!
//! ```text
//! lengths     u16 per document: words of the title; u16 per document: words of the text
//! dictionary  entries, sorted by form: length and bytes of the form; how many bytes of it the stem begins with, length and
//!             bytes of the rest of the stem; number of documents; lengths of the documents and of the positions
//! postings    per word, in the order of the dictionary: the documents, then the positions, in blocks of up to 128 documents
//! blocks      per 64 entries: length and bytes of the first form, position in the dictionary, position in the postings
//! ```
//!
//! A block of documents has a header (its length u16, and that of the block of positions u16), and the documents (distance to the
//! previous one, and a byte with the frequencies: 2 bits for the title, 6 for the text). A block of positions has those of these
//! documents (distances). Positions in the text follow those in the title, with a gap. Numbers without a type have a variable length.

use std::borrow::Cow;
use std::collections::HashMap;
use std::io;

use serde_json::{Value, json};

use crate::segment::Positioned;
use crate::source::{Source, damaged};
use crate::tokens::tokens;
use crate::words::{Analyzer, Language, Word, composed};

/// Number of documents of a block.
const BLOCK: u8 = 128;

/// Number of entries of the dictionary per entry of the table in memory.
const ENTRIES: usize = 64;

/// Maximum frequency in the title and in the text. The positions of more occurrences are not stored.
const MAX_FREQUENCY: [usize; 2] = [3, 63];

/// Length of a block's header.
const HEADER: usize = 4;

/// Collects the words of a segment.
pub(crate) struct OccurrencesBuilder {
    analyzer: Analyzer,
    /// Numbers of words by their spelling in texts. `None` if the word is too long.
    spellings: HashMap<Box<str>, Option<u32>>,
    numbers: HashMap<Word, u32>,
    lists: Vec<List>,
    lengths: [Vec<u16>; 2],
    /// Word, position, and whether it is in the text, of one document.
    found: Vec<(u32, u32, bool)>,
}

/// The documents of a word.
#[derive(Default)]
struct List {
    n_docs: u32,
    docs: Vec<u8>,
    positions: Vec<u8>,
    /// The block that is not full yet.
    open: Open,
}

/// A block of postings that is not full yet.
#[derive(Default)]
struct Open {
    n: u8,
    last: u16,
    docs: Vec<u8>,
    positions: Vec<u8>,
}

impl List {
    /// Adds a document with the ascending positions in its title and its text.
    fn add(&mut self, doc: u16, found: &[(u32, u32, bool)]) {
        let in_title = found.iter().filter(|(_, _, in_text)| !in_text).count();
        let kept = [in_title.min(MAX_FREQUENCY[0]), (found.len() - in_title).min(MAX_FREQUENCY[1])];
        put(&mut self.open.docs, u64::from(doc - self.open.last));
        self.open.docs.push(((kept[0] as u8) << 6) | kept[1] as u8);
        let (title, text) = found.split_at(in_title);
        let mut last = 0;
        for (_, position, _) in title.iter().take(kept[0]).chain(text.iter().take(kept[1])) {
            put(&mut self.open.positions, u64::from(position - last));
            last = *position;
        }
        self.open.last = doc;
        self.n_docs += 1;
        self.open.n += 1;
        if self.open.n == BLOCK {
            self.close();
        }
    }

    fn close(&mut self) {
        let Open { n, last, docs, positions } = &mut self.open;
        if *n > 0 {
            // 128 documents have at most 4 bytes each, and 66 positions with at most 5 bytes.
            self.docs.extend((docs.len() as u16).to_le_bytes());
            self.docs.extend((positions.len() as u16).to_le_bytes());
            self.docs.append(docs);
            self.positions.append(positions);
            (*n, *last) = (0, 0);
        }
    }
}

impl OccurrencesBuilder {
    pub(crate) fn new(language: Language) -> Self {
        OccurrencesBuilder {
            analyzer: Analyzer::new(language),
            spellings: HashMap::new(),
            numbers: HashMap::new(),
            lists: Vec::new(),
            lengths: Default::default(),
            found: Vec::new(),
        }
    }

    /// Adds the title and the text of the next document.
    pub(crate) fn add(&mut self, doc: u16, texts: [&str; 2]) {
        let mut found = std::mem::take(&mut self.found);
        let mut at: u32 = 0;
        for (which, text) in texts.into_iter().enumerate() {
            let start = at;
            let text = composed(text);
            for range in tokens(&text) {
                if let Some(word) = self.number(text.get(range).unwrap_or_default()) {
                    found.push((word, at, which == 1));
                }
                at = at.saturating_add(1);
            }
            if let Some(lengths) = self.lengths.get_mut(which) {
                lengths.push(u16::try_from(at - start).unwrap_or(u16::MAX));
            }
            at = at.saturating_add(1);
        }
        found.sort_unstable();
        for group in found.chunk_by(|a, b| a.0 == b.0) {
            let list = group.first().and_then(|(word, _, _)| self.lists.get_mut(*word as usize));
            if let Some(list) = list {
                list.add(doc, group);
            }
        }
        found.clear();
        self.found = found;
    }

    fn number(&mut self, token: &str) -> Option<u32> {
        if let Some(known) = self.spellings.get(token) {
            return *known;
        }
        let number = self.analyzer.word(token).map(|word| {
            let next = self.lists.len() as u32;
            *self.numbers.entry(word).or_insert_with(|| {
                self.lists.push(List::default());
                next
            })
        });
        self.spellings.insert(token.into(), number);
        number
    }

    /// Writes all words and returns their entry of the footer.
    pub(crate) fn write(mut self, out: &mut impl Positioned) -> io::Result<Value> {
        let lengths_at = out.position();
        let totals = self.lengths.each_ref().map(|lengths| lengths.iter().map(|n| u64::from(*n)).sum::<u64>());
        self.lengths.iter().flatten().try_for_each(|length| out.write_all(&length.to_le_bytes()))?;
        let mut words: Vec<(Word, u32)> = self.numbers.into_iter().collect();
        words.sort_unstable_by(|(a, _), (b, _)| (&a.form, &a.stem).cmp(&(&b.form, &b.stem)));
        let (dictionary_at, mut postings_len) = (out.position(), 0);
        let (mut blocks, mut entry) = (Vec::new(), Vec::new());
        for (at, (Word { form, stem }, number)) in words.iter().enumerate() {
            if at.is_multiple_of(ENTRIES) {
                put_text(&mut blocks, form);
                put(&mut blocks, out.position() - dictionary_at);
                put(&mut blocks, postings_len);
            }
            let Some(list) = self.lists.get_mut(*number as usize) else { continue };
            list.close();
            let shared = form.chars().zip(stem.chars()).take_while(|(a, b)| a == b).map(|(c, _)| c.len_utf8()).sum();
            entry.clear();
            put_text(&mut entry, form);
            put(&mut entry, shared as u64);
            put_text(&mut entry, stem.get(shared..).unwrap_or_default());
            put(&mut entry, u64::from(list.n_docs));
            for part in [&list.docs, &list.positions] {
                put(&mut entry, part.len() as u64);
                postings_len += part.len() as u64;
            }
            out.write_all(&entry)?;
        }
        let postings_at = out.position();
        for (_, number) in &words {
            let Some(list) = self.lists.get(*number as usize) else { continue };
            out.write_all(&list.docs)?;
            out.write_all(&list.positions)?;
        }
        let blocks_at = out.position();
        out.write_all(&blocks)?;
        Ok(json!({
            "lengths": lengths_at, "totals": totals, "dictionary": dictionary_at, "postings": postings_at,
            "blocks": [blocks_at, blocks.len()],
        }))
    }
}

/// An entry of the table in memory.
struct Block {
    first: Box<str>,
    dictionary: u64,
    postings: u64,
}

/// The words of a segment.
pub(crate) struct Occurrences {
    /// Numbers of words of the titles and of the texts.
    pub(crate) lengths: [Vec<u16>; 2],
    /// Sums of these.
    totals: [u64; 2],
    dictionary_at: u64,
    postings_at: u64,
    blocks: Vec<Block>,
}

/// A word of the dictionary.
#[derive(Clone, Copy)]
pub(crate) struct Entry<'a> {
    pub(crate) form: &'a str,
    shared: &'a str,
    rest: &'a str,
    pub(crate) n_docs: u32,
    pub(crate) postings: Postings,
}

/// Where the postings of a word are in the file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Postings {
    at: u64,
    docs_len: usize,
    positions_len: usize,
}

impl Entry<'_> {
    pub(crate) fn has_stem(&self, stem: &str) -> bool {
        stem.len() == self.shared.len() + self.rest.len() && stem.starts_with(self.shared) && stem.ends_with(self.rest)
    }

    pub(crate) fn stem(&self) -> Cow<'_, str> {
        if self.rest.is_empty() { self.shared.into() } else { [self.shared, self.rest].concat().into() }
    }
}

impl Occurrences {
    /// `None` if the footer lacks something.
    pub(crate) fn parse(source: &Source, footer: &Value, n_docs: usize) -> Option<io::Result<Self>> {
        let total = |at: usize| footer["totals"][at].as_u64();
        let totals = [total(0)?, total(1)?];
        let (dictionary_at, postings_at) = (footer["dictionary"].as_u64()?, footer["postings"].as_u64()?);
        let (blocks_at, blocks_len) = (footer["blocks"][0].as_u64()?, footer["blocks"][1].as_u64()?);
        let lengths_at = footer["lengths"].as_u64()?;
        let read = || {
            let bytes = source.read(lengths_at, n_docs * 4)?;
            let all: Vec<u16> = bytes.as_chunks().0.iter().map(|b| u16::from_le_bytes(*b)).collect();
            let (titles, texts) = all.split_at_checked(n_docs).ok_or_else(incomplete)?;
            let bytes = source.read(blocks_at, usize::try_from(blocks_len).map_err(|_| incomplete())?)?;
            let (mut rest, mut blocks) = (&bytes[..], Vec::new());
            while !rest.is_empty() {
                let first = take_text(&mut rest).ok_or_else(incomplete)?.into();
                let dictionary = take(&mut rest).ok_or_else(incomplete)?;
                let postings = take(&mut rest).ok_or_else(incomplete)?;
                blocks.push(Block { first, dictionary, postings });
            }
            let lengths = [titles.to_vec(), texts.to_vec()];
            Ok(Occurrences { lengths, totals, dictionary_at, postings_at, blocks })
        };
        Some(read())
    }

    /// The numbers of words of all titles and of all texts, each with those of the documents.
    pub(crate) fn totals(&self) -> impl Iterator<Item = (u64, &[u16])> {
        self.totals.into_iter().zip(self.lengths.iter().map(Vec::as_slice))
    }

    /// Calls `each` for the words that begin with a text.
    ///
    /// # Errors
    /// If the segment cannot be read.
    pub(crate) fn scan(&self, source: &Source, start: &str, mut each: impl FnMut(Entry<'_>)) -> io::Result<()> {
        // The words may begin in the block before the first one that begins after the text.
        let first = self.blocks.partition_point(|block| *block.first < *start).saturating_sub(1);
        let after = self.blocks.partition_point(|block| *block.first < *start || block.first.starts_with(start));
        let Some(block) = self.blocks.get(first) else { return Ok(()) };
        let end = self.blocks.get(after).map_or(self.postings_at - self.dictionary_at, |block| block.dictionary);
        let len = usize::try_from(end.saturating_sub(block.dictionary)).map_err(|_| incomplete())?;
        let bytes = source.read(self.dictionary_at + block.dictionary, len)?;
        let (mut rest, mut at) = (&bytes[..], self.postings_at + block.postings);
        while !rest.is_empty() {
            let form = take_text(&mut rest).ok_or_else(incomplete)?;
            let shared = take(&mut rest).and_then(|n| form.get(..usize::try_from(n).ok()?)).ok_or_else(incomplete)?;
            let stem = take_text(&mut rest).ok_or_else(incomplete)?;
            let n_docs = take(&mut rest).and_then(|n| u32::try_from(n).ok()).ok_or_else(incomplete)?;
            let mut len = || take(&mut rest).and_then(|n| usize::try_from(n).ok()).ok_or_else(incomplete);
            let postings = Postings { at, docs_len: len()?, positions_len: len()? };
            if form.starts_with(start) {
                each(Entry { form, shared, rest: stem, n_docs, postings });
            }
            at = at.saturating_add(postings.docs_len as u64).saturating_add(postings.positions_len as u64);
        }
        Ok(())
    }
}

/// A document of a word.
pub(crate) struct Posting {
    pub(crate) doc: u16,
    /// How often the word is in the title and in the text.
    pub(crate) frequencies: [u8; 2],
}

/// Calls `each` for the documents of a word.
///
/// # Errors
/// If the segment cannot be read.
pub(crate) fn each_posting(source: &Source, postings: Postings, mut each: impl FnMut(Posting)) -> io::Result<()> {
    let docs = source.read(postings.at, postings.docs_len)?;
    let mut rest = &docs[..];
    while let Some((docs, _)) = take_block(&mut rest)? {
        each_doc(docs, &mut each)?;
    }
    Ok(())
}

fn each_doc(mut docs: &[u8], each: &mut impl FnMut(Posting)) -> io::Result<()> {
    let mut doc = 0_u16;
    while let [first, rest @ ..] = docs {
        // Nearly all distances have one byte.
        let distance = if *first < 128 {
            docs = rest;
            u16::from(*first)
        } else {
            take(&mut docs).and_then(|n| u16::try_from(n).ok()).ok_or_else(incomplete)?
        };
        let (frequencies, rest) = docs.split_first().ok_or_else(incomplete)?;
        docs = rest;
        doc = doc.wrapping_add(distance);
        each(Posting { doc, frequencies: [frequencies >> 6, frequencies & 63] });
    }
    Ok(())
}

/// Calls `each` for the wanted documents of a word, with the positions in title and text.
///
/// # Errors
/// If the segment cannot be read.
pub(crate) fn each_position(
    source: &Source,
    postings: Postings,
    is_wanted: impl Fn(u16) -> bool,
    mut each: impl FnMut(u16, &[u32], &[u32]),
) -> io::Result<()> {
    let bytes = source.read(postings.at, postings.docs_len.saturating_add(postings.positions_len))?;
    let (mut rest, mut positions_left) = bytes.split_at_checked(postings.docs_len).ok_or_else(incomplete)?;
    let (mut listed, mut found) = (Vec::new(), Vec::new());
    while let Some((docs, positions_len)) = take_block(&mut rest)? {
        let (mut positions, after) = positions_left.split_at_checked(positions_len).ok_or_else(incomplete)?;
        positions_left = after;
        listed.clear();
        each_doc(docs, &mut |posting| listed.push(posting))?;
        if !listed.iter().any(|posting| is_wanted(posting.doc)) {
            continue;
        }
        for Posting { doc, frequencies: [in_title, in_text] } in &listed {
            found.clear();
            let mut last = 0_u32;
            for _ in 0..usize::from(*in_title) + usize::from(*in_text) {
                let distance = take(&mut positions).and_then(|n| u32::try_from(n).ok()).ok_or_else(incomplete)?;
                last = last.wrapping_add(distance);
                found.push(last);
            }
            if is_wanted(*doc) {
                let (title, text) = found.split_at_checked(usize::from(*in_title)).ok_or_else(incomplete)?;
                each(*doc, title, text);
            }
        }
    }
    Ok(())
}

/// The documents of the next block, and the length of their positions.
fn take_block<'a>(rest: &mut &'a [u8]) -> io::Result<Option<(&'a [u8], usize)>> {
    if rest.is_empty() {
        return Ok(None);
    }
    let ([a, b, c, d], after) = rest.split_first_chunk::<HEADER>().ok_or_else(incomplete)?;
    let (docs, after) = after.split_at_checked(u16::from_le_bytes([*a, *b]).into()).ok_or_else(incomplete)?;
    *rest = after;
    Ok(Some((docs, u16::from_le_bytes([*c, *d]).into())))
}

fn incomplete() -> io::Error {
    damaged("the words are damaged")
}

/// Appends a number, 7 bits per byte.
fn put(out: &mut Vec<u8>, mut n: u64) {
    while n >= 128 {
        out.push((n & 127) as u8 | 128);
        n >>= 7;
    }
    out.push(n as u8);
}

fn put_text(out: &mut Vec<u8>, text: &str) {
    put(out, text.len() as u64);
    out.extend(text.as_bytes());
}

fn take(rest: &mut &[u8]) -> Option<u64> {
    let mut n = 0;
    for shift in (0..64).step_by(7) {
        let (byte, after) = rest.split_first()?;
        *rest = after;
        n |= u64::from(byte & 127) << shift;
        if byte & 128 == 0 {
            return Some(n);
        }
    }
    None
}

fn take_text<'a>(rest: &mut &'a [u8]) -> Option<&'a str> {
    let len = usize::try_from(take(rest)?).ok()?;
    let (text, after) = rest.split_at_checked(len)?;
    *rest = after;
    std::str::from_utf8(text).ok()
}
