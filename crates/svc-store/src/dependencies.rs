//! The keys that readers of the database depend on and that writers change.
//!
//! Reads and writes of whole tables are recorded for every statement ([`crate::Db`]), so that nothing can be forgotten.
//! Frequent statements name the rows instead. Both sides use the same keys: a write of known rows changes those rows and
//! everything that depends on *any* row; a write of unknown rows also changes everything that depends on *a* row.

use svc_versions::{Key, depends_on};

/// Rows of a table, by the id of the object that they belong to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rows {
    /// Posts, by id.
    Posts,
    /// Post meta, by post.
    PostMeta,
    /// The terms of posts, by post.
    PostTerms,
    /// Terms, by id, without their numbers of posts.
    Terms,
    /// The numbers of posts of terms, by term taxonomy id.
    TermCounts,
    /// Term meta, by term.
    TermMeta,
    /// Users, by id.
    Users,
    /// User meta, by user.
    UserMeta,
    /// Comments, by id.
    Comments,
    /// Comment meta, by comment.
    CommentMeta,
    /// Options.
    Options,
    /// Links.
    Links,
}

impl Rows {
    /// The rows of a table, by its name without prefix.
    pub(crate) fn of_table(name: &str) -> &'static [Self] {
        match name {
            "posts" => &[Rows::Posts],
            "postmeta" => &[Rows::PostMeta],
            "term_relationships" => &[Rows::PostTerms],
            "terms" => &[Rows::Terms],
            "term_taxonomy" => &[Rows::Terms, Rows::TermCounts],
            "termmeta" => &[Rows::TermMeta],
            "users" => &[Rows::Users],
            "usermeta" => &[Rows::UserMeta],
            "comments" => &[Rows::Comments],
            "commentmeta" => &[Rows::CommentMeta],
            "options" => &[Rows::Options],
            "links" => &[Rows::Links],
            _ => &[],
        }
    }

    fn row(self, id: i64) -> Key {
        Key::of(&(self, "row", id))
    }

    fn any(self) -> Key {
        Key::of(&(self, "any"))
    }

    fn unknown(self) -> Key {
        Key::of(&(self, "unknown"))
    }

    /// Records that the current computation depends on the rows of these objects, whether they exist or not.
    pub fn depend_on(self, ids: impl IntoIterator<Item = i64>) {
        depends_on(self.unknown());
        ids.into_iter().for_each(|id| depends_on(self.row(id)));
    }

    /// Records that the current computation depends on all rows.
    pub fn depend_on_all(self) {
        depends_on(self.any());
    }

    /// The keys that a write of the rows of these objects changes.
    pub(crate) fn changed(self, ids: &[i64]) -> impl Iterator<Item = Key> {
        ids.iter().map(move |id| self.row(*id)).chain([self.any()])
    }

    /// The keys that a write of unknown rows changes.
    pub(crate) fn all_changed(self) -> [Key; 2] {
        [self.any(), self.unknown()]
    }
}

/// The lists of posts of a type that depend on nothing but the columns of
/// [`listing`](crate::posts::Listing): they do not change when a text is edited.
pub(crate) fn post_lists(post_type: &str) -> Key {
    Key::of(&("lists of posts", post_type.to_ascii_lowercase()))
}
