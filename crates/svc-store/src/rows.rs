//! The rows of a site that readers depend on and that writers change ([`Rows`]).

use svc_db::Rows;
use svc_versions::Key;

/// Posts, by id.
pub const POSTS: Rows = Rows::named("posts");
/// Revisions of posts, by post. They are posts themselves.
pub const REVISIONS: Rows = Rows::named("revisions");
/// Post meta, by post.
pub const POST_META: Rows = Rows::named("post meta");
/// The terms of posts, by post.
pub const POST_TERMS: Rows = Rows::named("post terms");
/// Terms, by id, without their numbers of posts.
pub const TERMS: Rows = Rows::named("terms");
/// The numbers of posts of terms, by term taxonomy id.
pub const TERM_COUNTS: Rows = Rows::named("term counts");
/// Term meta, by term.
pub const TERM_META: Rows = Rows::named("term meta");
/// Users, by id.
pub const USERS: Rows = Rows::named("users");
/// User meta, by user.
pub const USER_META: Rows = Rows::named("user meta");
/// Comments, by id.
pub const COMMENTS: Rows = Rows::named("comments");
/// Comment meta, by comment.
pub const COMMENT_META: Rows = Rows::named("comment meta");
/// Options.
pub const OPTIONS: Rows = Rows::named("options");
/// Links.
pub const LINKS: Rows = Rows::named("links");
/// The lists of posts, by type. They are not in the log of changes, since they follow from the posts.
pub const POST_LISTS: Rows = Rows::named("lists of posts");

/// The lists of posts of a type that depend on nothing but the columns of
/// [`listing`](crate::posts::Listing): they do not change when a text is edited.
pub(crate) fn post_lists(post_type: &str) -> Key {
    POST_LISTS.with_name(&post_type.to_ascii_lowercase())
}
