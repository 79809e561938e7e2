#![doc = include_str!("../README.md")]

mod bits;
mod generation;
mod index;
mod segment;
mod tokens;

pub use bits::Bits;
pub use generation::{Change, Folder, Generation, LiveSegment};
pub use index::{Matches, SearchIndex, SearchIndexState};
pub use segment::{Class, Document, FIELDS, Segment, SegmentBuilder};
