#![doc = include_str!("../README.md")]
// The modules in reading order: where objects are stored (`destination`, `folder`, `bucket`), what an object is (`object`), how it
// is encrypted (`encryption`) and named (`names`), what a destination has (`catalog`); which server writes (`lease`) and its threads (`backup`), which store the
// log (`shipper`, `current`), all pages (`snapshot`) and files (`files`), and delete what is old (`retention`); then what reads
// (`restore`, `verify`).

mod backup;
#[cfg(feature = "s3")]
mod bucket;
mod catalog;
mod current;
mod destination;
mod encryption;
mod error;
mod files;
mod folder;
mod lease;
mod names;
mod object;
mod restore;
mod retention;
mod shipper;
mod snapshot;
mod status;
mod verify;

pub use backup::{Backup, BackupSettings};
#[cfg(feature = "s3")]
pub use bucket::{Bucket, BucketConfig};
pub use catalog::{Summary, summary};
pub use destination::Destination;
pub use encryption::{Decrypting, Identities, Recipients};
pub use error::{BackupError, Result};
pub use files::{FileSource, RestoredFiles, restore_files};
pub use folder::Folder;
pub use restore::{Moment, Restored, check_readable, restore_database};
pub use status::{BackupReport, BackupStatus};
pub use verify::{Verified, verify};
