//! A segment: an immutable file with the tokens of up to 65,536 documents.
//!
//! ```text
//! magic
//! ids        i64 per document, ascending
//! dates      i64 per document
//! classes    u16 per document
//! digests    u64 per document, if the footer has their position
//! per field: dictionary (a NUL before, between and after the sorted tokens),
//!            entries (count and offset, u32 each, per token), postings
//! words      with their frequencies and positions, for ranked searches (`occurrences.rs`)
//! footer     JSON
//! length of the footer (u32), CRC-32 of everything before it (u32)
//! ```
//!
//! The postings of a token are its documents: the only one in place of the offset, a list of u16, or a bitmap of 8 KB if
//! that is smaller.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use memchr::{memchr, memchr_iter, memmem};
use serde_json::{Value, json};

use crate::bits::{Bits, MAX_DOCS};
use crate::occurrences::{Occurrences, OccurrencesBuilder};
use crate::source::{Source, damaged};
use crate::tokens::{self, TermPattern, TokenPattern};
use crate::words::Language;

const MAGIC: &[u8; 8] = b"svcseg1\n";

/// Number of texts of a document. A search names the one that it looks at.
pub const FIELDS: usize = 3;

/// Length of the entry of a token.
const ENTRY: usize = 8;

/// Postings with more documents than this are bitmaps.
const MAX_LIST: usize = Bits::BYTES / 2;

/// What searches are restricted by: the type and status of a document, and whether it has a password.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Class {
    /// The type.
    pub post_type: String,
    /// The status.
    pub status: String,
    /// Whether it has a password.
    pub has_password: bool,
}

/// A document, with folded texts.
pub struct Document<'a> {
    /// Identifies the document.
    pub id: i64,
    /// A number that sorts like the document's date.
    pub date: i64,
    /// What searches are restricted by.
    pub class: Class,
    /// A hash of what is indexed, if changed documents are found by comparison.
    pub digest: Option<u64>,
    /// The texts, such as title, excerpt and content. Texts that a search must treat as equal are equal after folding.
    pub texts: [&'a str; FIELDS],
    /// Title and text without markup, not folded, for ranked searches.
    pub ranked: [&'a str; 2],
}

/// Collects the documents of a segment.
pub struct SegmentBuilder {
    ids: Vec<i64>,
    dates: Vec<i64>,
    classes: Vec<u16>,
    digests: Vec<u64>,
    class_numbers: HashMap<Class, u16>,
    fields: [HashMap<Box<str>, Vec<u16>>; FIELDS],
    occurrences: OccurrencesBuilder,
}

impl SegmentBuilder {
    /// A segment without documents. The words of the ranked texts are of a language.
    pub fn new(language: Language) -> Self {
        SegmentBuilder {
            ids: Vec::new(),
            dates: Vec::new(),
            classes: Vec::new(),
            digests: Vec::new(),
            class_numbers: HashMap::new(),
            fields: Default::default(),
            occurrences: OccurrencesBuilder::new(language),
        }
    }

    /// Number of documents.
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// Returns whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// Adds a document; ids must ascend. Returns `false` if it cannot be indexed, or if the segment is full.
    pub fn add(&mut self, document: &Document<'_>) -> bool {
        let fits = document.texts.iter().all(|text| tokens::each_token(text, |_| {}));
        let Ok(position) = u16::try_from(self.ids.len()) else { return false };
        if !fits {
            return false;
        }
        let next = self.class_numbers.len();
        let class = match self.class_numbers.get(&document.class) {
            Some(class) => *class,
            None => {
                let Ok(class) = u16::try_from(next) else { return false };
                *self.class_numbers.entry(document.class.clone()).or_insert(class)
            }
        };
        self.ids.push(document.id);
        self.dates.push(document.date);
        self.classes.push(class);
        self.digests.extend(document.digest);
        for (field, text) in self.fields.iter_mut().zip(document.texts) {
            tokens::each_token(text, |token| match field.get_mut(token) {
                Some(positions) if positions.last() == Some(&position) => {}
                Some(positions) => positions.push(position),
                None => {
                    field.insert(token.into(), vec![position]);
                }
            });
        }
        self.occurrences.add(position, document.ranked);
        true
    }

    /// Writes the segment to a new file, durably.
    ///
    /// # Errors
    /// If it cannot be written, or a part exceeds 4 GB.
    pub(crate) fn write(self, path: &Path) -> io::Result<()> {
        let file = File::create(path)?;
        self.write_to(BufWriter::with_capacity(1 << 20, &file))?;
        file.sync_all()
    }

    /// A segment in memory.
    ///
    /// # Errors
    /// If a part exceeds 4 GB.
    pub fn in_memory(self) -> io::Result<Segment> {
        let mut bytes = Vec::new();
        self.write_to(&mut bytes)?;
        Segment::read(Source::Memory(bytes))
    }

    fn write_to(self, out: impl Write) -> io::Result<()> {
        let mut out = Checked { out, crc: flate2::Crc::new(), n: 0 };
        out.write_all(MAGIC)?;
        let ids_at = out.n;
        self.ids.iter().try_for_each(|id| out.write_all(&id.to_le_bytes()))?;
        self.dates.iter().try_for_each(|date| out.write_all(&date.to_le_bytes()))?;
        self.classes.iter().try_for_each(|class| out.write_all(&class.to_le_bytes()))?;
        let digests_at = (!self.digests.is_empty()).then_some(out.n);
        self.digests.iter().try_for_each(|digest| out.write_all(&digest.to_le_bytes()))?;
        let fields =
            self.fields.into_iter().map(|field| write_field(field, &mut out)).collect::<io::Result<Vec<_>>>()?;
        let words = self.occurrences.write(&mut out)?;
        let mut classes: Vec<(Class, u16)> = self.class_numbers.into_iter().collect();
        classes.sort_by_key(|(_, number)| *number);
        let classes: Vec<Value> =
            classes.into_iter().map(|(c, _)| json!([c.post_type, c.status, c.has_password])).collect();
        let footer = json!({
            "version": tokens::VERSION, "docs": self.ids.len(), "ids": ids_at, "digests": digests_at, "classes": classes, "fields": fields,
            "words": words,
        });
        let footer = footer.to_string();
        out.write_all(footer.as_bytes())?;
        out.write_all(&small(footer.len())?.to_le_bytes())?;
        let crc = out.crc.sum();
        out.write_all(&crc.to_le_bytes())?;
        out.out.flush()
    }
}

/// Writes the tokens of a field and returns its entry of the footer.
fn write_field(field: HashMap<Box<str>, Vec<u16>>, out: &mut impl Positioned) -> io::Result<Value> {
    let mut tokens: Vec<(Box<str>, Vec<u16>)> = field.into_iter().collect();
    tokens.sort_unstable();
    let dictionary_at = out.position();
    out.write_all(b"\0")?;
    for (token, _) in &tokens {
        out.write_all(token.as_bytes())?;
        out.write_all(b"\0")?;
    }
    let (n_tokens, entries_at) = (tokens.len(), out.position());
    // Entries and postings are found with offsets of 32 bits.
    small(n_tokens * ENTRY)?;
    let mut offset = 0;
    for (_, positions) in &tokens {
        out.write_all(&small(positions.len())?.to_le_bytes())?;
        match positions[..] {
            [only] => out.write_all(&u32::from(only).to_le_bytes())?,
            _ => {
                out.write_all(&small(offset)?.to_le_bytes())?;
                offset += postings_len(positions.len());
            }
        }
    }
    let postings_at = out.position();
    for (_, positions) in tokens {
        if positions.len() > MAX_LIST {
            out.write_all(&positions.into_iter().collect::<Bits>().bytes())?;
        } else if positions.len() > 1 {
            positions.iter().try_for_each(|position| out.write_all(&position.to_le_bytes()))?;
        }
    }
    Ok(json!([n_tokens, dictionary_at, entries_at, postings_at]))
}

/// Length of the postings of a token with this many documents.
fn postings_len(count: usize) -> usize {
    if count > MAX_LIST { Bits::BYTES } else { count * 2 }
}

fn small(n: usize) -> io::Result<u32> {
    u32::try_from(n).map_err(|_| damaged("a part of the segment is too large"))
}

/// Output whose length so far is known.
pub(crate) trait Positioned: Write {
    fn position(&self) -> u64;
}

/// Counts and sums up what is written.
struct Checked<W> {
    out: W,
    crc: flate2::Crc,
    n: u64,
}

impl<W: Write> Write for Checked<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let n = self.out.write(bytes)?;
        self.crc.update(bytes.get(..n).unwrap_or(bytes));
        self.n += n as u64;
        Ok(n)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

impl<W: Write> Positioned for Checked<W> {
    fn position(&self) -> u64 {
        self.n
    }
}

/// Number of bytes that are read at a time if many tokens match.
const READ_AHEAD: usize = 256 << 10;

/// A part of the file in memory.
#[derive(Default)]
struct Window {
    at: u64,
    bytes: Vec<u8>,
}

impl Window {
    /// Reads `len` bytes at an offset, and up to `ahead` bytes in total if the file has as many.
    fn read(&mut self, source: &Source, start: u64, offset: u32, len: usize, ahead: usize) -> io::Result<&[u8]> {
        let at = start + u64::from(offset);
        let is_inside = at >= self.at && at + len as u64 <= self.at + self.bytes.len() as u64;
        if !is_inside {
            let mut n = len;
            if ahead > len {
                let left = source.len()?.saturating_sub(at);
                n = usize::try_from(left).unwrap_or(ahead).clamp(len, ahead);
            }
            self.bytes.resize(n, 0);
            self.at = at;
            source.read_into(at, &mut self.bytes)?;
        }
        let start = usize::try_from(at - self.at).unwrap_or(usize::MAX);
        let found = self.bytes.get(start..).and_then(|rest| rest.get(..len));
        found.ok_or_else(|| damaged("the file is too short"))
    }
}

/// Where a field is in the file.
struct Field {
    n_tokens: usize,
    dictionary_at: u64,
    entries_at: u64,
    postings_at: u64,
}

/// A field's sorted tokens, read into memory for a search.
pub(crate) struct Dictionary(Vec<u8>);

impl Dictionary {
    /// The numbers of the tokens that match, ascending.
    fn matches(&self, pattern: &TokenPattern<'_>) -> Vec<u32> {
        let edge = |open: bool| if open { "" } else { "\0" };
        let needle = format!("{}{}{}", edge(pattern.open_start), pattern.text, edge(pattern.open_end));
        let finder = memmem::Finder::new(needle.as_bytes());
        let n_separators = |text: &[u8]| memchr_iter(0, text).count();
        let (mut rest, mut skipped, mut found) = (&self.0[..], 0, Vec::new());
        while let Some(hit) = finder.find(rest) {
            let (before, from) = rest.split_at(hit + usize::from(!pattern.open_start));
            // The first token has one separator before it.
            skipped += n_separators(before);
            found.push(u32::try_from(skipped.saturating_sub(1)).unwrap_or(u32::MAX));
            // The separator behind the token also begins the next one.
            let Some(end) = memchr(0, from) else { break };
            rest = from.get(end..).unwrap_or_default();
        }
        found
    }
}

/// An open segment.
pub struct Segment {
    /// Identifies the segment within this process.
    pub(crate) number: u64,
    source: Source,
    /// The documents' ids, ascending.
    pub ids: Vec<i64>,
    /// The documents' dates.
    pub dates: Vec<i64>,
    /// The documents' positions in `class_list`.
    pub classes: Vec<u16>,
    /// The classes of the documents.
    pub class_list: Vec<Class>,
    /// The documents' digests; empty if they have none.
    pub(crate) digests: Vec<u64>,
    fields: Vec<Field>,
    /// What ranked searches look up.
    pub(crate) occurrences: Occurrences,
}

impl Segment {
    /// Opens a file and verifies its checksum.
    ///
    /// # Errors
    /// [`io::ErrorKind::InvalidData`] if it is damaged or has another version.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        Self::read(Source::of_file(File::open(path)?))
    }

    /// Verifies the checksum and reads what is kept in memory.
    fn read(source: Source) -> io::Result<Self> {
        let len = source.len()?;
        let mut tail = [0; 8];
        source.read_into(len.checked_sub(8).ok_or_else(|| damaged("the segment is too short"))?, &mut tail)?;
        let [a, b, c, d, crc @ ..] = tail;
        let (footer_len, crc) = (u64::from(u32::from_le_bytes([a, b, c, d])), u32::from_le_bytes(crc));
        verify(&source, len - 4, crc)?;
        let footer_at = (len - 8).checked_sub(footer_len).ok_or_else(|| damaged("the segment is too short"))?;
        let footer = source.read(footer_at, (len - 8 - footer_at) as usize)?;
        let footer: Value = serde_json::from_slice(&footer).map_err(|_| damaged("the footer is damaged"))?;
        Self::parse(source, &footer).unwrap_or_else(|| Err(damaged("the footer is incomplete")))
    }

    /// `None` if the footer lacks something.
    fn parse(source: Source, footer: &Value) -> Option<io::Result<Self>> {
        if footer["version"].as_u64()? != u64::from(tokens::VERSION) {
            return Some(Err(damaged("the segment has another version")));
        }
        let n = usize::try_from(footer["docs"].as_u64()?).ok().filter(|n| *n <= MAX_DOCS)?;
        let columns = match source.read(footer["ids"].as_u64()?, n * 18) {
            Ok(columns) => columns,
            Err(e) => return Some(Err(e)),
        };
        let digests = match footer["digests"].as_u64() {
            Some(at) => match source.read(at, n * 8) {
                Ok(bytes) => bytes.as_chunks().0.iter().map(|b| u64::from_le_bytes(*b)).collect(),
                Err(e) => return Some(Err(e)),
            },
            None => Vec::new(),
        };
        let (ids, rest) = columns.split_at_checked(n * 8)?;
        let (dates, classes) = rest.split_at_checked(n * 8)?;
        let longs = |bytes: &[u8]| bytes.as_chunks().0.iter().map(|b| i64::from_le_bytes(*b)).collect::<Vec<_>>();
        let class = |c: &Value| {
            let text = |at: usize| Some(c[at].as_str()?.to_owned());
            Some(Class { post_type: text(0)?, status: text(1)?, has_password: c[2].as_bool()? })
        };
        let class_list: Vec<Class> = footer["classes"].as_array()?.iter().map(class).collect::<Option<_>>()?;
        let field = |f: &Value| {
            let number = |at: usize| f[at].as_u64();
            Some(Field {
                n_tokens: usize::try_from(number(0)?).ok()?,
                dictionary_at: number(1)?,
                entries_at: number(2)?,
                postings_at: number(3)?,
            })
        };
        let fields: Vec<Field> = footer["fields"].as_array()?.iter().map(field).collect::<Option<_>>()?;
        let classes: Vec<u16> = classes.as_chunks().0.iter().map(|b| u16::from_le_bytes(*b)).collect();
        let occurrences = match Occurrences::parse(&source, &footer["words"], n)? {
            Ok(occurrences) => occurrences,
            Err(e) => return Some(Err(e)),
        };
        let is_valid = fields.len() == FIELDS && classes.iter().all(|c| usize::from(*c) < class_list.len());
        is_valid.then(|| {
            static NEXT: AtomicU64 = AtomicU64::new(0);
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            let (ids, dates) = (longs(ids), longs(dates));
            Ok(Segment { number, source, ids, dates, classes, class_list, digests, fields, occurrences })
        })
    }

    /// Number of documents.
    pub(crate) fn len(&self) -> usize {
        self.ids.len()
    }

    /// All documents.
    pub fn all(&self) -> Bits {
        Bits::first(self.len())
    }

    /// The documents of some classes.
    pub fn of_classes(&self, is_wanted: impl Fn(&Class) -> bool) -> Bits {
        let wanted: Vec<bool> = self.class_list.iter().map(is_wanted).collect();
        if !wanted.contains(&true) {
            return Bits::none();
        }
        let is_wanted = |class: &u16| wanted.get(usize::from(*class)) == Some(&true);
        (0..=u16::MAX).zip(&self.classes).filter(|(_, class)| is_wanted(class)).map(|(at, _)| at).collect()
    }

    /// The documents with these ids, which ascend.
    pub fn positions(&self, ids: &[i64]) -> Bits {
        let first = self.ids.first().copied().unwrap_or_default();
        let mut ids = ids.iter().skip(ids.partition_point(|id| *id < first)).peekable();
        let mut is_wanted = |of_document: &i64| {
            while ids.next_if(|id| *id < of_document).is_some() {}
            ids.peek() == Some(&of_document)
        };
        (0..=u16::MAX).zip(&self.ids).filter(|(_, id)| is_wanted(id)).map(|(at, _)| at).collect()
    }

    /// The position of a document.
    pub fn position(&self, id: i64) -> Option<u16> {
        self.ids.binary_search(&id).ok().and_then(|at| u16::try_from(at).ok())
    }

    /// Reads the dictionary of a field.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub(crate) fn dictionary(&self, field: usize) -> io::Result<Dictionary> {
        let field = self.field(field)?;
        let len = usize::try_from(field.entries_at.saturating_sub(field.dictionary_at)).unwrap_or(usize::MAX);
        Ok(Dictionary(self.source.read(field.dictionary_at, len)?))
    }

    /// The documents whose field may contain a term; exactly those that do if the pattern is exact.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub(crate) fn find(&self, field: usize, dictionary: &Dictionary, term: &TermPattern<'_>) -> io::Result<Bits> {
        let mut all = Bits::first(self.len());
        for pattern in &term.tokens {
            if all.is_empty() {
                break;
            }
            let mut any = Bits::none();
            self.add_postings(field, &dictionary.matches(pattern), &mut any)?;
            all.retain(&any);
        }
        Ok(all)
    }

    /// Adds the documents of some tokens, whose numbers ascend.
    fn add_postings(&self, field: usize, tokens: &[u32], any: &mut Bits) -> io::Result<()> {
        let field = self.field(field)?;
        let source = &self.source;
        let (mut entries, mut postings) = (Window::default(), Window::default());
        // Both are in the order of the tokens. Many are read with few calls, including unneeded ones in between.
        let ahead = if tokens.len() > field.n_tokens / 64 { READ_AHEAD } else { 0 };
        let mut lists = Vec::new();
        for token in tokens {
            let at = token.checked_mul(ENTRY as u32).ok_or_else(|| damaged("the dictionary is damaged"))?;
            let entry = entries.read(source, field.entries_at, at, ENTRY, ahead)?;
            let (Some(count), Some(offset)) = (entry.first_chunk(), entry.last_chunk()) else {
                return Err(damaged("the dictionary is damaged"));
            };
            let (count, offset) = (u32::from_le_bytes(*count) as usize, u32::from_le_bytes(*offset));
            match count {
                1 => any.insert(u16::try_from(offset).map_err(|_| damaged("the dictionary is damaged"))?),
                _ if count > MAX_LIST => {
                    any.add_bytes(postings.read(source, field.postings_at, offset, Bits::BYTES, 0)?);
                }
                _ => lists.push((count, offset)),
            }
        }
        // Frequent words are often in all documents already.
        if any.len() == self.len() {
            return Ok(());
        }
        for (count, offset) in lists {
            let list = postings.read(source, field.postings_at, offset, postings_len(count), ahead)?;
            list.as_chunks().0.iter().for_each(|position| any.insert(u16::from_le_bytes(*position)));
        }
        Ok(())
    }

    fn field(&self, field: usize) -> io::Result<&Field> {
        self.fields.get(field).ok_or_else(|| damaged("the field is missing"))
    }

    /// The bytes of the segment.
    pub(crate) fn source(&self) -> &Source {
        &self.source
    }
}

/// Compares the checksum of the first `len` bytes.
fn verify(source: &Source, len: u64, expected: u32) -> io::Result<()> {
    let (mut crc, mut buffer, mut at) = (flate2::Crc::new(), vec![0; 1 << 18], 0);
    let mut magic = Some(MAGIC);
    while at < len {
        let n = usize::try_from((len - at).min(buffer.len() as u64)).unwrap_or(buffer.len());
        let part = buffer.get_mut(..n).unwrap_or_default();
        source.read_into(at, part)?;
        if magic.take().is_some_and(|magic| !part.starts_with(magic)) {
            return Err(damaged("the file is not a segment"));
        }
        crc.update(part);
        at += n as u64;
    }
    if crc.sum() == expected { Ok(()) } else { Err(damaged("the checksum is wrong")) }
}
