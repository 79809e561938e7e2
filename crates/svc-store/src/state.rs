//! The stored state of an object as a digest of its rows: if two digests are equal, nobody changed the object in
//! between.
//!
//! Counts, caches and traces of use that change without an edit are left out: the number of a post's comments, edit
//! locks, sessions. So are objects that an object refers to.
//!
//! A digest is made from the rows that a response with the object is made of, so that they are loaded once.

use sha2::{Digest as _, Sha256};
use svc_db::{Db, Result};
use svc_model::{Comment, CommentId, Post, PostId, Term, TermId, Timestamp, User, UserId};

use crate::meta::{self, Meta, MetaKind};
use crate::{comments, posts, terms, users};

/// An object of the database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoredObject {
    /// A post of any type: its row, meta and terms.
    Post(PostId),
    /// A term in any taxonomy: its rows and meta.
    Term(TermId),
    /// A user: the row and meta.
    User(UserId),
    /// A comment: its row and meta.
    Comment(CommentId),
}

/// The state of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredState {
    /// A digest of the rows. It may cover secrets, such as the hash of a password: do not publish it without a key.
    pub digest: [u8; 32],
    /// When the object was last changed, in UTC, if this is stored.
    pub modified: Timestamp,
}

/// Meta of posts that editors and caches store without an edit.
fn is_trace_of_post(key: &str) -> bool {
    matches!(key, "_edit_lock" | "_pingme" | "_encloseme" | "_svc_preview_link") || key.starts_with("_oembed_")
}

/// Meta of users that logging in and looking around changes. No visitor sees any trace of it.
pub(crate) fn is_trace_of_user(key: &str) -> bool {
    const ENDINGS: [&str; 3] = ["user-settings", "user-settings-time", "dashboard_quick_press_last_post_id"];
    matches!(key, "session_tokens" | "_application_passwords" | "_svc_two_factor" | "community-events-location")
        || ENDINGS.iter().any(|ending| key.ends_with(ending))
}

/// The state of an object; `None` if it does not exist. A fixed number of statements.
///
/// In a transaction it remains the object's state until the transaction changes it.
///
/// # Errors
/// Errors of the database.
pub fn read(db: &mut Db, object: StoredObject) -> Result<Option<StoredState>> {
    match object {
        StoredObject::Post(id) => of_post(db, id),
        StoredObject::Term(id) => of_term(db, id),
        StoredObject::User(id) => of_user(db, id),
        StoredObject::Comment(id) => of_comment(db, id),
    }
}

fn of_post(db: &mut Db, id: PostId) -> Result<Option<StoredState>> {
    let Some(post) = posts::get(db, id)? else { return Ok(None) };
    let meta = meta::load_one(db, MetaKind::Post, id.0)?;
    let mut terms: Vec<i64> =
        terms::of_objects(db, &[id])?.remove(&id).unwrap_or_default().iter().map(|term| term.taxonomy_id.0).collect();
    terms.sort_unstable();
    let mut digest = Digest::default();
    digest.add_post(&post);
    digest.add_meta(&meta, is_trace_of_post);
    terms.into_iter().for_each(|term| digest.number(term));
    Ok(Some(StoredState { modified: post.modified_gmt, ..digest.finish() }))
}

fn of_term(db: &mut Db, id: TermId) -> Result<Option<StoredState>> {
    let terms = terms::without_counts(db, &[id])?;
    if terms.is_empty() {
        return Ok(None);
    }
    let mut digest = Digest::default();
    terms.iter().for_each(|term| digest.add_term(term));
    digest.add_meta(&meta::load_one(db, MetaKind::Term, id.0)?, |_| false);
    Ok(Some(digest.finish()))
}

fn of_user(db: &mut Db, id: UserId) -> Result<Option<StoredState>> {
    let Some(user) = users::get(db, id)? else { return Ok(None) };
    let mut digest = Digest::default();
    digest.add_user(&user);
    digest.add_meta(&meta::load_one(db, MetaKind::User, id.0)?, is_trace_of_user);
    Ok(Some(digest.finish()))
}

fn of_comment(db: &mut Db, id: CommentId) -> Result<Option<StoredState>> {
    let Some(comment) = comments::get(db, id)? else { return Ok(None) };
    let mut digest = Digest::default();
    digest.add_comment(&comment);
    digest.add_meta(&meta::load_one(db, MetaKind::Comment, id.0)?, |_| false);
    Ok(Some(digest.finish()))
}

/// A digest of values in a fixed order.
#[derive(Default)]
struct Digest(Sha256);

impl Digest {
    fn number(&mut self, number: i64) {
        self.0.update(number.to_le_bytes());
    }

    fn count(&mut self, count: usize) {
        self.0.update((count as u64).to_le_bytes());
    }

    /// With its length, so that neighbouring values cannot be confused.
    fn text(&mut self, text: &str) {
        self.count(text.len());
        self.0.update(text);
    }

    fn time(&mut self, stamp: Timestamp) {
        self.number(stamp.map_or(i64::MIN, |time| time.and_utc().timestamp()));
    }

    fn texts(&mut self, texts: &[&String]) {
        texts.iter().for_each(|text| self.text(text));
    }

    /// All columns but the number of comments, which changes without an edit.
    #[rustfmt::skip]
    fn add_post(&mut self, post: &Post) {
        let Post {
            id, author, date, date_gmt, content, title, excerpt, status, comment_status, ping_status, password, slug, modified,
            modified_gmt, parent, guid, menu_order, post_type, mime_type, comment_count: _,
        } = post;
        [id.0, author.0, parent.0, *menu_order].into_iter().for_each(|number| self.number(number));
        [date, date_gmt, modified, modified_gmt].into_iter().for_each(|stamp| self.time(*stamp));
        self.texts(&[content, title, excerpt, status, comment_status, ping_status, password, slug, guid, post_type, mime_type]);
    }

    /// All columns but the number of posts, which changes without an edit.
    fn add_term(&mut self, term: &Term) {
        let Term { id, taxonomy_id, taxonomy, name, slug, group, description, parent, count: _ } = term;
        [id.0, taxonomy_id.0, *group, parent.0].into_iter().for_each(|number| self.number(number));
        self.texts(&[taxonomy, name, slug, description]);
    }

    /// All columns but the key for a new password, which is stored when somebody asks for one.
    fn add_user(&mut self, user: &User) {
        let User { id, login, pass, nicename, email, url, registered, activation_key: _, status, display_name } = user;
        [id.0, *status].into_iter().for_each(|number| self.number(number));
        self.time(*registered);
        self.texts(&[login, pass, nicename, email, url, display_name]);
    }

    #[rustfmt::skip]
    fn add_comment(&mut self, comment: &Comment) {
        let Comment {
            id, post, author, author_email, author_url, author_ip, date, date_gmt, content, karma, approved, agent, comment_type,
            parent, user,
        } = comment;
        [id.0, post.0, *karma, parent.0, user.0].into_iter().for_each(|number| self.number(number));
        [date, date_gmt].into_iter().for_each(|stamp| self.time(*stamp));
        self.texts(&[author, author_email, author_url, author_ip, content, approved, agent, comment_type]);
    }

    /// All meta but traces that are stored without an edit.
    fn add_meta(&mut self, meta: &Meta, is_trace: fn(&str) -> bool) {
        let edited = || meta.iter().filter(|(key, _)| !is_trace(key));
        self.count(edited().count());
        for (key, values) in edited() {
            self.text(key);
            self.count(values.len());
            values.iter().for_each(|value| self.text(value.as_stored()));
        }
    }

    fn finish(self) -> StoredState {
        StoredState { digest: self.0.finalize().into(), modified: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Store, StoredText, fixture};

    fn state(store: &Store, object: StoredObject) -> StoredState {
        store.read_blocking(|db| read(db, object)).unwrap().expect("an object of the fixture")
    }

    #[test]
    fn edits_change_the_state_and_traces_do_not() {
        fixture::on_each(|store| {
            let id = PostId(1059);
            let object = StoredObject::Post(id);
            assert_eq!(state(&store, object), state(&store, object));
            for (key, value, is_edit) in [
                ("_edit_lock", "1:1", false),
                ("_oembed_x", "y", false),
                ("_svc_preview_link", "{}", false),
                ("subtitle", "a", true),
                ("subtitle", "a", false),
                ("subtitle", "b", true),
            ] {
                let before = state(&store, object);
                let write =
                    move |tx: &mut crate::Tx| meta::update(tx, MetaKind::Post, id.0, key, &StoredText::of(value));
                store.write_blocking(write).unwrap();
                assert_eq!(state(&store, object) != before, is_edit, "{key} {value}");
            }
            let before = state(&store, object);
            store.write_blocking(move |tx| terms::set_object_terms(tx, id, "category", &[])).unwrap();
            assert_ne!(state(&store, object), before);
        });
    }

    #[test]
    fn every_kind_of_object_has_a_state() {
        fixture::on_each(|store| {
            assert!(state(&store, StoredObject::Post(PostId(1059))).modified.is_some());
            for object in [StoredObject::Term(TermId(1)), StoredObject::User(UserId(1))] {
                assert_eq!(state(&store, object).modified, None, "{object:?}");
            }
            for object in
                [StoredObject::Post(PostId(0)), StoredObject::Comment(CommentId(-1)), StoredObject::User(UserId(0))]
            {
                assert_eq!(store.read_blocking(|db| read(db, object)).unwrap(), None, "{object:?}");
            }
        });
    }
}
