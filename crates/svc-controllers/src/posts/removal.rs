//! What becomes of a post that goes without being asked for by name, such as with its author.

use svc_model::{PostId, UserId};
use svc_store::{Tx, posts};

use super::{slugs, write::set_sticky};
use crate::{Site, Stored, media, revisions::keep::revise};

/// Moves a post or page to the trash; removes what is there already, and everything of other types, for good.
///
/// `by` is who does it: the revision that is kept of a post in the trash is his. The paths of files that nothing names any
/// more come back: they are the caller's to delete when all is written. Source: `wp_delete_post`.
///
/// # Errors
/// Those of the store.
pub(crate) fn remove(tx: &mut Tx, site: &Site, id: PostId, by: UserId) -> Stored<Vec<String>> {
    let Some(post) = posts::get(tx, id)? else { return Ok(Vec::new()) };
    if post.post_type == "attachment" {
        return Ok(media::remove(tx, id)?);
    }
    if matches!(post.post_type.as_str(), "post" | "page") && post.status != "trash" {
        trash(tx, site, id, by)?;
        return Ok(Vec::new());
    }
    set_sticky(tx, id, false)?;
    posts::delete(tx, id)?;
    Ok(Vec::new())
}

/// Moves a post to the trash, with a revision of what it was. Its slug there is one that no other post has.
pub(super) fn trash(tx: &mut Tx, site: &Site, id: PostId, by: UserId) -> Stored<()> {
    let settings = site.settings_in(tx)?;
    let now = (settings.zone.to_local(site.now()), site.now());
    let Some(mut row) = posts::trash(tx, id, now)? else { return Ok(()) };
    let Some(post_type) = site.types.get(&row.post_type) else { return Ok(()) };
    let slug = slugs::unique(tx, &row, "", post_type, &settings.urls)?;
    if slug != row.slug {
        row.slug = slug;
        posts::update(tx, &row)?;
    }
    revise(tx, site, post_type, &row, by)
}
