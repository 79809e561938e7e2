//! Uploaded files: what they may be called, what they are, what is made of images, and where they are kept.
//!
//! Knows no site, no database and no request. Everything that decodes is bounded ([`MAX_PIXELS`]) and blocks: callers
//! run it aside.
#![cfg_attr(not(test), warn(clippy::unwrap_used))]

mod alt;
mod blob;
mod exif;
mod journal;
mod kind;
mod names;
mod picture;
mod playing;
mod segments;
mod sizes;
mod storage;

pub use alt::alt_texts;
pub use blob::Blob;
pub use exif::{ImageMeta, image_meta};
pub use journal::Pending;
pub use kind::{Kind, check, media_type};
pub use names::{Candidates, edited_name, split_extension};
pub use picture::{Failure, Format, MAX_PIXELS, Picture, dimensions};
pub use playing::{Cover, Film, Playing, Sound, playing};
pub use sizes::{Fit, Size, constrain, fit};
#[cfg(feature = "s3")]
pub use storage::Bucket;
pub use storage::{Part, Storage, StorageError, Stored};
