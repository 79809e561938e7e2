#![doc = include_str!("../README.md")]
// The modules in reading order: where objects are stored (`destination`, `folder`, `bucket`), what an object is (`object`) and how it
// is named (`names`), what a destination has (`catalog`); then what writes: the log (`shipper`), all pages (`snapshot`), files
// (`files`), and what deletes (`retention`); then what reads (`restore`, `verify`).

#[cfg(feature = "s3")]
mod bucket;
mod catalog;
mod destination;
mod error;
mod files;
mod folder;
mod names;
mod object;
mod restore;
mod retention;
mod shipper;
mod snapshot;
mod status;
mod verify;

#[cfg(feature = "s3")]
pub use bucket::{Bucket, BucketConfig};
pub use catalog::{Summary, summary};
pub use destination::Destination;
pub use error::{BackupError, Result};
pub use files::{FileSource, RestoredFiles, restore_files};
pub use folder::Folder;
pub use restore::{Moment, Restored, restore_database};
pub use shipper::{Backup, BackupSettings};
pub use status::{BackupReport, BackupStatus};
pub use verify::{Verified, verify};
