//! What becomes of a post that goes without being asked for by name, such as with its author.

use svc_model::{PostId, UserId};
use svc_store::{Tx, posts};

use super::write::set_sticky;
use crate::{Site, Stored, revisions::keep::revise};

/// Moves a post or page to the trash; removes what is there already, and everything of other types, for good.
///
/// `by` is who does it: the revision that is kept of a post in the trash is his. Source: `wp_delete_post`.
///
/// # Errors
/// Those of the store.
pub(crate) fn remove(tx: &mut Tx, site: &Site, id: PostId, by: UserId) -> Stored<()> {
    let Some(post) = posts::get(tx, id)? else { return Ok(()) };
    if matches!(post.post_type.as_str(), "post" | "page") && post.status != "trash" {
        let settings = site.settings_in(tx)?;
        let now = (settings.zone.to_local(site.now()), site.now());
        if let (Some(row), Some(post_type)) = (posts::trash(tx, id, now)?, site.types.get(&post.post_type)) {
            revise(tx, site, post_type, &row, by)?;
        }
        return Ok(());
    }
    set_sticky(tx, id, false)?;
    posts::delete(tx, id)?;
    Ok(())
}
