//! The change counters on which caches depend. SQLite stores them in a table maintained by triggers, so that changes by any
//! process are visible in the same snapshot as the changed rows.

/// The users who have posts of a type and status.
pub(crate) const AUTHORS: &str = "authors";
/// Comment meta.
pub(crate) const COMMENT_META: &str = "commentmeta";
/// Comments.
pub(crate) const COMMENTS: &str = "comments";
/// Links.
pub(crate) const LINKS: &str = "links";
/// Options.
pub(crate) const OPTIONS: &str = "options";
/// Post meta.
pub(crate) const POST_META: &str = "postmeta";
/// Posts of all types, except revisions.
pub(crate) const POSTS: &str = "posts";
/// Revisions, which are stored as posts. They are written with every save and are in no cached total.
pub(crate) const REVISIONS: &str = "revisions";
/// Term meta.
pub(crate) const TERM_META: &str = "termmeta";
/// Terms, taxonomies and their relationships.
pub(crate) const TERMS: &str = "terms";
/// Users and their meta.
pub(crate) const USERS: &str = "users";

/// All of them.
pub(crate) const ALL: &[&str] =
    &[AUTHORS, COMMENT_META, COMMENTS, LINKS, OPTIONS, POST_META, POSTS, REVISIONS, TERM_META, TERMS, USERS];
