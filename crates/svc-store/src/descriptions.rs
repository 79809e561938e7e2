//! How a transaction changes terms, comments and meta: the descriptions in the log of changes.

use std::collections::HashMap;

use svc_db::{ChangeRecord, Description, Rows, Tx};
use svc_model::{Comment, PostId, UserId};

use crate::post_changes::PostChanges;
use crate::rows;

/// What a comment is listed by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommentClass {
    /// `1` if the comment is approved, `0` if it is not, `spam` or `trash`.
    pub approved: String,
    /// The post.
    pub post: PostId,
    /// The author; 0 without an account.
    pub user: UserId,
    /// The type of the comment, such as `comment` or `note`.
    pub comment_type: String,
}

impl CommentClass {
    /// An SQL expression for [`to_text`](Self::to_text) of a stored comment.
    pub(crate) const COLUMNS: &str =
        "{row}.comment_post_ID || ',' || {row}.user_id || ',' || {row}.comment_approved || ',' || {row}.comment_type";

    fn to_text(&self) -> String {
        format!("{},{},{},{}", self.post.0, self.user.0, self.approved, self.comment_type)
    }

    /// Parses a [description](svc_db::LoggedChange) of a comment in the log of changes.
    pub fn from_text(text: &str) -> Option<Self> {
        let mut parts = text.splitn(4, ',');
        let (post, user) = (PostId(parts.next()?.parse().ok()?), UserId(parts.next()?.parse().ok()?));
        let (approved, comment_type) = (parts.next()?.to_owned(), parts.next()?.to_owned());
        Some(CommentClass { approved, post, user, comment_type })
    }
}

impl From<&Comment> for CommentClass {
    fn from(comment: &Comment) -> Self {
        CommentClass {
            approved: comment.approved.clone(),
            post: comment.post,
            user: comment.user,
            comment_type: comment.comment_type.clone(),
        }
    }
}

/// Separates the keys of changed meta.
const KEY_END: char = '\n';

/// The keys of changed meta, from a [description](svc_db::LoggedChange). None if the object's own row describes the change.
pub fn meta_keys(text: &str) -> impl Iterator<Item = &str> {
    text.split(KEY_END).filter(|key| !key.is_empty())
}

/// The descriptions of a transaction's objects other than posts: facts in its [`ChangeRecord`].
#[derive(Debug, Default)]
pub(crate) struct Descriptions(HashMap<(Rows, i64), Description>);

impl Descriptions {
    /// Adds a change of a comment.
    pub(crate) fn comment(tx: &mut Tx, id: i64, before: Option<&Comment>, after: Option<&Comment>) {
        let text = |comment: Option<&Comment>| comment.map(|comment| CommentClass::from(comment).to_text());
        Self::change(tx, rows::COMMENTS, id, text(before), text(after));
    }

    /// Adds a change of a term of these taxonomies.
    pub(crate) fn term(tx: &mut Tx, id: i64, before: Option<&str>, after: Option<&str>) {
        Self::change(tx, rows::TERMS, id, before.map(str::to_owned), after.map(str::to_owned));
    }

    fn change(tx: &mut Tx, rows: Rows, id: i64, before: Option<String>, after: Option<String>) {
        let first = || Description { before, after: None };
        tx.facts::<Self>().0.entry((rows, id)).or_insert_with(first).after = after;
    }

    /// Adds a change of the meta of an object with this key.
    pub(crate) fn meta(tx: &mut Tx, rows: Rows, id: i64, key: &str) {
        let keys = tx.facts::<Self>().0.entry((rows, id)).or_default().after.get_or_insert_default();
        if !keys.split(KEY_END).any(|known| known == key) {
            keys.push_str(key);
            keys.push(KEY_END);
        }
    }

    /// The descriptions of the objects of these rows, by id.
    pub(crate) fn of(record: &ChangeRecord, of: Rows) -> HashMap<i64, Description> {
        if of == rows::POSTS {
            return PostChanges::descriptions(record);
        }
        let stored = record.facts::<Self>().into_iter().flat_map(|all| &all.0);
        let mut found: HashMap<i64, Description> =
            stored.filter(|((rows, _), _)| *rows == of).map(|((_, id), text)| (*id, text.clone())).collect();
        // What belongs to an object that has changed itself is one change of the object.
        let whole = match of {
            of if of == rows::POST_META || of == rows::POST_TERMS => {
                PostChanges::of(record).iter().map(|post| post.id.0).collect()
            }
            of if of == rows::TERM_META => record.ids(rows::TERMS).unwrap_or_default(),
            of if of == rows::COMMENT_META => record.ids(rows::COMMENTS).unwrap_or_default(),
            of if of == rows::USER_META => record.ids(rows::USERS).unwrap_or_default(),
            _ => Vec::new(),
        };
        let none = Description { before: None, after: Some(String::new()) };
        found.extend(whole.into_iter().map(|id| (id, none.clone())));
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_are_described_by_a_text() {
        let class =
            CommentClass { approved: "1".to_owned(), post: PostId(7), user: UserId(0), comment_type: "a,b".to_owned() };
        assert_eq!(CommentClass::from_text(&class.to_text()), Some(class));
        assert_eq!(CommentClass::from_text("7,0,1"), None);
    }
}
