//! Deletes posts that are not named by a request, for example together with their author.

use svc_model::{Post, PostId};
use svc_store::{StoredText, Tx, options, posts};

use crate::{
    Site, SiteResult,
    languages::post_is_deleted,
    media::delete::delete_attachment,
    menus::on_delete::delete_items_for_post,
    posts::{
        calendar_option,
        rules::sanitize_guid,
        save::{give_default_terms, set_sticky},
        slugs,
    },
    preview_links,
    revisions::{RevisionAuthor, store_revision},
    sanitize,
};

/// Trashes a post or page. Posts of other types, and posts in the trash, are deleted permanently.
///
/// `by` is the user who trashes a post. Returns the paths of files that are no longer
/// referenced; the caller deletes them after the transaction. Source: `wp_delete_post`.
///
/// # Errors
/// Errors of the store.
pub fn trash_or_delete(tx: &mut Tx, site: &Site, id: PostId, by: RevisionAuthor) -> SiteResult<Vec<String>> {
    let Some(post) = posts::get(tx, id)? else { return Ok(Vec::new()) };
    if post.post_type == "attachment" {
        return delete_attachment(tx, id);
    }
    if matches!(post.post_type.as_str(), "post" | "page") && post.status != "trash" {
        trash(tx, site, id, by)?;
        return Ok(Vec::new());
    }
    delete_permanently(tx, id)?;
    Ok(Vec::new())
}

/// Permanently deletes a post that is not an attachment, with everything that links to it, and returns it.
pub fn delete_permanently(tx: &mut Tx, id: PostId) -> SiteResult<Option<Post>> {
    reset_settings(tx, id)?;
    delete_items_for_post(tx, id)?;
    post_is_deleted(tx, id)?;
    let deleted = posts::delete(tx, id)?;
    if let Some(post) = &deleted {
        calendar_option::deleted(tx, &post.post_type, &post.status)?;
    }
    Ok(deleted)
}

/// Resets the site settings that name a post when it is trashed or deleted. Source:
/// `_reset_front_page_settings_for_post`.
fn reset_settings(tx: &mut Tx, id: PostId) -> SiteResult<()> {
    set_sticky(tx, id, false)?;
    let names = ["page_on_front", "page_for_posts"];
    let number = StoredText::of(id.0);
    let named = options::get_many(tx, &names)?;
    for name in names.into_iter().filter(|name| named.get(*name).is_some_and(|value| *value == number)) {
        options::set(tx, name, &StoredText::of(0), true)?;
        if name == "page_on_front" {
            options::set(tx, "show_on_front", &StoredText::of("posts"), true)?;
        }
    }
    Ok(())
}

/// Trashes a post, stores a revision and gives it a unique slug. As with every other change, the texts are filtered if the
/// user may not use any HTML.
pub fn trash(tx: &mut Tx, site: &Site, id: PostId, by: RevisionAuthor) -> SiteResult<()> {
    reset_settings(tx, id)?;
    preview_links::delete_all(tx, id)?;
    let settings = site.settings_in(tx)?;
    let now = (settings.zone.to_local(site.clock()), site.clock());
    let before = posts::get(tx, id)?.map(|post| post.status).unwrap_or_default();
    let Some(mut row) = posts::trash(tx, id, now)? else { return Ok(()) };
    calendar_option::status_changed(tx, &row.post_type, &before, &row.status)?;
    let Some(post_type) = site.registries.types.get(&row.post_type) else { return Ok(()) };
    let trashed = row.clone();
    row.slug = slugs::unique(tx, &row, "", post_type, &settings.urls)?;
    sanitize_guid(&mut row);
    if !by.unfiltered_html {
        row.title = sanitize::title(&row.title, true);
        row.content = sanitize::content(&row.content, true);
        row.excerpt = sanitize::excerpt(&row.excerpt, true);
    }
    if trashed != row {
        posts::update(tx, &row)?;
    }
    give_default_terms(tx, &settings, &row)?;
    // Meta is stored unchanged.
    store_revision(tx, site, &settings, post_type, &row, RevisionAuthor { unfiltered_html: true, ..by })
}
