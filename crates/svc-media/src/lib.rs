#![doc = include_str!("../README.md")]
#![cfg_attr(not(test), warn(clippy::unwrap_used))]

mod av_metadata;
mod blob;
mod decoded_image;
mod exif;
mod file_cache;
mod journal;
mod kind;
mod moving;
mod names;
pub mod permissions;
mod segments;
mod sizes;
mod storage;
mod variant;
mod xmp;

pub use av_metadata::{AudioTrack, AvMetadata, Cover, VideoTrack, av_metadata};
pub use blob::Blob;
pub use decoded_image::{DecodedImage, Format, ImageError, MAX_PIXELS, dimensions};
pub use exif::{ImageMeta, image_meta};
pub use file_cache::{CachedFile, CachedFiles, FileCache};
pub use journal::{PendingUpload, unfinished_uploads};
pub use kind::{FileType, check, content_type};
pub use moving::{MoveError, Moved, MovedFile, Moving};
pub use names::{Naming, edited_name, split_extension};
pub use sizes::{Fit, RegisteredSize, constrain, fit};
#[cfg(feature = "s3")]
pub use storage::Bucket;
pub use storage::{ReadPart, Storage, StorageError, StoredFile, leads_outside};
pub use variant::{Focus, NoFocus, Variant};
pub use xmp::alt_texts;
