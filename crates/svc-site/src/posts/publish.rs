//! Completes posts that become public, by a request or on schedule.

use chrono::NaiveDateTime;
use svc_model::{Post, PostType, UserId};
use svc_store::{Tx, posts, terms, users};

use crate::{
    Settings, Site, SiteResult,
    menus::on_publish::add_published_page,
    permalinks::{PermalinkParts, category_paths},
};

/// Completes a post whose stored status has just become `publish`: sets a missing GUID and adds pages to menus. `now`
/// is in UTC, `by` the user who publishes it: none on schedule.
///
/// Source: `_transition_post_status`, `_wp_auto_add_pages_to_menu`.
///
/// # Errors
/// Errors of the store.
pub(crate) fn published(
    tx: &mut Tx,
    site: &Site,
    settings: &Settings,
    post_type: &PostType,
    post: &Post,
    (by, now): (UserId, NaiveDateTime),
) -> SiteResult<()> {
    if post.guid.is_empty() {
        let guid = permalink(tx, settings, post_type, post)?;
        posts::set_guid(tx, post.id, &guid, None)?;
    }
    add_published_page(tx, site, settings, post, (by, now))
}

/// The current permalink of a post, with what it requires from the store.
///
/// # Errors
/// Errors of the store.
pub(crate) fn permalink(tx: &mut Tx, settings: &Settings, post_type: &PostType, post: &Post) -> SiteResult<String> {
    let mut parts = PermalinkParts::default();
    let urls = &settings.urls;
    if post.post_type == "post" && urls.uses_author() {
        parts.author = users::get(tx, post.author)?.map(|u| u.nicename).unwrap_or_default();
    }
    if post.post_type == "post" && urls.uses_category() {
        let terms = terms::of_objects(tx, &[post.id])?.remove(&post.id).unwrap_or_default();
        let first = terms.iter().filter(|t| t.taxonomy == "category").min_by_key(|t| t.id);
        parts.category = category_paths(tx, first.into_iter())?.into_values().next().unwrap_or_default();
    }
    if post_type.hierarchical {
        let mut paths = posts::ancestor_slugs(tx, std::slice::from_ref(post))?;
        parts.ancestors = paths.remove(&post.id).unwrap_or_default();
    }
    Ok(urls.post(post, post_type, &parts))
}
