#![doc = include_str!("../README.md")]

mod bits;
mod generation;
mod highlight;
mod index;
mod occurrences;
mod rank;
mod ranked_query;
mod segment;
mod source;
mod tokens;
mod words;

pub use bits::Bits;
pub use generation::{Change, Folder, Generation, LiveSegment};
pub use highlight::{Highlighter, Piece};
pub use index::{Matches, SearchIndex, SearchIndexState};
pub use rank::{RankedPart, Ranking, rank};
pub use ranked_query::{QueryError, RankedQuery};
pub use segment::{Class, Document, FIELDS, Segment, SegmentBuilder};
pub use words::Language;
