//! How a transaction changes posts: facts in its [`ChangeRecord`].

use svc_db::{ChangeRecord, Tx};
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
}

impl From<&Post> for PostClass {
    fn from(post: &Post) -> Self {
        PostClass { post_type: post.post_type.clone(), status: post.status.clone(), author: Some(post.author) }
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

/// The posts that a transaction has created, updated and deleted, in this order. Changes of many posts at once, such as a new
/// author for all posts of another one, are not among them; the record then has no ids of posts.
#[derive(Debug, Default)]
pub struct PostChanges(Vec<PostChange>);

impl PostChanges {
    /// Those in the record of a transaction.
    pub fn of(record: &ChangeRecord) -> &[PostChange] {
        record.facts::<PostChanges>().map_or(&[], |changes| &changes.0)
    }

    /// Adds a change to the record of a transaction.
    pub(crate) fn record(tx: &mut Tx, id: PostId, before: Option<PostClass>, after: Option<PostClass>) {
        tx.facts::<PostChanges>().0.push(PostChange { id, before, after });
    }
}
