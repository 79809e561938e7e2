//! The option from which WordPress decides whether it shows calendars: whether the site has public posts.

use serde_json::Value;
use svc_store::{StoredText, Tx, options, posts};

use crate::SiteResult;

const OPTION: &str = "wp_calendar_block_has_published_posts";
const POST: &str = "post";
const PUBLIC: &str = "publish";

/// Updates the option after a post's status changed; `before` is empty for a new post. Source:
/// `block_core_calendar_update_has_published_post_on_transition_post_status`.
///
/// # Errors
/// Errors of the store.
pub(crate) fn status_changed(tx: &mut Tx, post_type: &str, before: &str, after: &str) -> SiteResult<()> {
    if post_type != POST || before == after || ![before, after].contains(&PUBLIC) {
        return Ok(());
    }
    let has_public = after == PUBLIC || posts::has_published(tx, POST)?;
    set(tx, has_public)
}

/// Updates the option before or after a post is deleted. As in WordPress, a deleted public post still counts. Source:
/// `block_core_calendar_update_has_published_post_on_delete`.
///
/// # Errors
/// Errors of the store.
pub(crate) fn deleted(tx: &mut Tx, post_type: &str, status: &str) -> SiteResult<()> {
    if (post_type, status) == (POST, PUBLIC) { set(tx, true) } else { Ok(()) }
}

/// Stores the option if it changes. A missing one counts as false.
fn set(tx: &mut Tx, has_public: bool) -> SiteResult<()> {
    let value = StoredText::of(Value::from(has_public));
    if options::get(tx, OPTION)?.unwrap_or_default() != value {
        options::set(tx, OPTION, &value, true)?;
    }
    Ok(())
}
