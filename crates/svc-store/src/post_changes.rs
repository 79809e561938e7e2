//! How a transaction changes posts: facts in its [`ChangeRecord`].

use std::collections::HashMap;

use svc_db::{ChangeRecord, Description, Tx};
use svc_model::{Post, PostId, UserId};

/// What a post is counted and listed by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PostClass {
    /// The post type.
    pub post_type: String,
    /// The status.
    pub status: String,
    /// The author; `None` if the transaction did not read it.
    pub author: Option<UserId>,
    /// The post that it is attached to or below; `None` if the transaction did not read it.
    pub parent: Option<PostId>,
}

impl PostClass {
    /// An SQL expression for [`to_text`](Self::to_text) of a stored post.
    pub(crate) const COLUMNS: &str =
        "{row}.post_author || ',' || {row}.post_status || ',' || {row}.post_type || ',' || {row}.post_parent";

    /// The text in the log of changes: `AUTHOR,STATUS,TYPE,PARENT`. Author and parent are empty if they are not known.
    fn to_text(&self) -> String {
        let author = self.author.map_or_else(String::new, |author| author.0.to_string());
        let parent = self.parent.map_or_else(String::new, |parent| parent.0.to_string());
        format!("{author},{},{},{parent}", self.status, self.post_type)
    }

    /// Parses a [description](svc_db::LoggedChange) of a post in the log of changes. Those of earlier versions have no parent.
    pub fn from_text(text: &str) -> Option<Self> {
        let mut parts = text.splitn(4, ',');
        let author = parts.next()?.parse().ok().map(UserId);
        let (status, post_type) = (parts.next()?.to_owned(), parts.next()?.to_owned());
        let parent = parts.next().and_then(|parent| parent.parse().ok()).map(PostId);
        Some(PostClass { post_type, status, author, parent })
    }
}

impl From<&Post> for PostClass {
    fn from(post: &Post) -> Self {
        let (author, parent) = (Some(post.author), Some(post.parent));
        PostClass { post_type: post.post_type.clone(), status: post.status.clone(), author, parent }
    }
}

/// A post that a transaction has changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PostChange {
    /// The post.
    pub id: PostId,
    /// What it was; `None` if it is new.
    pub before: Option<PostClass>,
    /// What it is now; `None` if it is deleted.
    pub after: Option<PostClass>,
}

/// The posts that a transaction has created, updated and deleted, in this order. A change of other columns, such as the number of
/// comments, is not among them.
#[derive(Debug, Default)]
pub struct PostChanges(Vec<PostChange>);

impl PostChanges {
    /// Those in the record of a transaction.
    pub fn of(record: &ChangeRecord) -> &[PostChange] {
        record.facts::<PostChanges>().map_or(&[], |changes| &changes.0)
    }

    /// What the posts were before the transaction and are after it, by id.
    pub(crate) fn descriptions(record: &ChangeRecord) -> HashMap<i64, Description> {
        let mut of = HashMap::new();
        for change in Self::of(record) {
            let text = |class: &Option<PostClass>| class.as_ref().map(PostClass::to_text);
            let first = || Description { before: text(&change.before), after: None };
            of.entry(change.id.0).or_insert_with(first).after = text(&change.after);
        }
        of
    }

    /// Adds a change to the record of a transaction.
    pub(crate) fn record(tx: &mut Tx, id: PostId, before: Option<PostClass>, after: Option<PostClass>) {
        tx.facts::<PostChanges>().0.push(PostChange { id, before, after });
    }
}
