#![doc = include_str!("../README.md")]

mod model;
mod nodes;
mod reader;
mod writer;

pub use model::{Author, Comment, Entry, ExportedSite, Item, ItemTerm, MetaRow, Term};
pub use nodes::ReadError;
pub use reader::{MAX_ENTRY, MAX_PARTS, Reader};
pub use writer::{VERSION, Writer};
