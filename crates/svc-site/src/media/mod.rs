//! Attachments: files, image sizes and metadata.

pub mod attached;
pub mod av_metadata;
pub mod delete;
pub mod finalize;
pub mod sideload;
pub mod sizes;
pub mod upload_store;
