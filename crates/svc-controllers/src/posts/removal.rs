//! What becomes of a post that goes without being asked for by name, such as with its author.

use svc_model::{PostId, UserId};
use svc_store::{Tx, posts};

use super::{slugs, write::set_sticky};
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
        return trash(tx, site, id, by);
    }
    set_sticky(tx, id, false)?;
    posts::delete(tx, id)?;
    Ok(())
}

/// Moves a post to the trash, with a revision of what it was. Its slug there is one that no other post has.
pub(super) fn trash(tx: &mut Tx, site: &Site, id: PostId, by: UserId) -> Stored<()> {
    let settings = site.settings_in(tx)?;
    let now = (settings.zone.to_local(site.now()), site.now());
    let Some(mut row) = posts::trash(tx, id, now)? else { return Ok(()) };
    let Some(post_type) = site.types.get(&row.post_type) else { return Ok(()) };
    if !row.slug.is_empty() {
        let slug = slugs::unique(tx, &row, "", post_type, &settings.urls)?;
        if slug != row.slug {
            row.slug = slug;
            posts::update(tx, &row)?;
        }
    }
    revise(tx, site, post_type, &row, by)
}
