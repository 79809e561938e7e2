//! Export and import of content as WXR files: authors, terms, and posts of all types with their meta, terms and comments.
//!
//! The content of another site is read by its REST API into such a file. Options, users' passwords, revisions and files are not part of
//! it: a backup has those.

pub mod download;
pub mod export;
pub mod import;
pub mod remote;
pub mod runs;
pub mod upload;

/// Meta of posts that is neither exported nor imported: who edits a post, and what belongs to this server.
fn is_transferred(key: &str) -> bool {
    key != "_edit_lock" && !key.starts_with("_svc_")
}

/// A GUID as WordPress stores it. In files, it is a URL.
fn stored_guid(guid: &str) -> String {
    guid.replace(AMPERSAND, "&").replace('&', AMPERSAND)
}

/// The ampersand of a stored GUID.
const AMPERSAND: &str = "&#038;";
