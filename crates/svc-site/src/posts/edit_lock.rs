//! The edit lock of a post: who has it open in an editor. It warns other editors, and keeps nobody from saving.
//!
//! It is stored as WordPress stores it, so that editors of both see each other.

use svc_model::{PostId, User, UserId};
use svc_store::{
    Db, StoredText, Tx,
    meta::{self, MetaKind},
    users,
};

use crate::SiteResult;

/// Meta key of the lock: the time in seconds since the epoch, and the user's ID.
const KEY: &str = "_edit_lock";

/// Lifetime of a lock, in seconds. Editors renew it while the post is open.
const LIFETIME: i64 = 150;

/// The other user who has the post open, if there is one. `now` in seconds since the epoch.
///
/// Source: `wp_check_post_lock`.
///
/// # Errors
/// Errors of the store.
pub fn holder(db: &mut Db, post: PostId, caller: UserId, now: i64) -> SiteResult<Option<User>> {
    let Some(lock) = meta::get(db, MetaKind::Post, post.0, KEY)? else { return Ok(None) };
    let Some((since, user)) = lock.text().split_once(':') else { return Ok(None) };
    let (since, user) = (svc_php::numeric::text_to_int(since), UserId(svc_php::numeric::text_to_int(user)));
    if since <= now.saturating_sub(LIFETIME) || user == caller {
        return Ok(None);
    }
    Ok(users::get(db, user)?)
}

/// Locks the post for the caller, unless another user has it open, who is returned. `now` in seconds since the epoch.
///
/// Source: `wp_set_post_lock`.
///
/// # Errors
/// Errors of the store.
pub fn lock(tx: &mut Tx, post: PostId, caller: UserId, now: i64) -> SiteResult<Option<User>> {
    let other = holder(tx, post, caller, now)?;
    if other.is_none() {
        meta::update(tx, MetaKind::Post, post.0, KEY, &StoredText::of(format!("{now}:{}", caller.0)))?;
    }
    Ok(other)
}
