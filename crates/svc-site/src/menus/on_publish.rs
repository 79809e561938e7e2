//! Adds new pages to menus.

use chrono::NaiveDateTime;
use svc_auth::Caller;
use svc_model::{Post, PostId, TermId, UserId};
use svc_store::{Tx, posts, terms};

use crate::{
    Settings, Site, SiteResult,
    menus::{
        item::{ITEM, MENU, NavItem, items, items_of},
        save,
        target::{TargetKind, TargetRef},
    },
    posts::publish::permalink,
};

/// Adds a newly published page to the menus with automatic addition, unless the page has a parent or is already in the
/// menu. The item's author is the user who publishes the page.
///
/// # Errors
/// Errors of the store.
pub(crate) fn add_published_page(
    tx: &mut Tx,
    site: &Site,
    settings: &Settings,
    page: &Post,
    by: (UserId, NaiveDateTime),
) -> SiteResult<()> {
    if page.post_type != "page" || !page.parent.is_none() {
        return Ok(());
    }
    for menu in settings.menu_assignments().auto_add_menus() {
        if terms::get(tx, *menu, Some(MENU))?.is_none() {
            continue;
        }
        let items = shown_items(tx, site, settings, *menu)?;
        if items.iter().any(|item| item.object_id() == page.id.0) {
            continue;
        }
        // WordPress counts positions from 1, except for the first item of a menu, which it adds at 0.
        let position = if items.is_empty() { 0 } else { i64::try_from(items.len()).unwrap_or(i64::MAX - 1) + 1 };
        let id = insert(tx, site, settings, position, by)?;
        let target_ref = TargetRef {
            kind: TargetKind::PostType,
            object: page.post_type.clone(),
            object_id: page.id.0,
            url: String::new(),
        };
        save::store_meta(
            tx,
            id,
            &save::ItemMeta { target_ref, classes: vec![String::new()], ..save::ItemMeta::default() },
        )?;
        terms::set_object_terms(tx, id, MENU, &[*menu])?;
    }
    Ok(())
}

/// The items of a menu that are published or drafts, and whose target exists.
fn shown_items(tx: &mut Tx, site: &Site, settings: &Settings, menu: TermId) -> SiteResult<Vec<NavItem>> {
    let ids = items_of(tx, menu)?;
    let mut rows = posts::get_many(tx, &ids)?;
    rows.retain(|row| matches!(row.status.as_str(), "publish" | "draft"));
    if !rows.iter().any(|row| row.status == "publish") {
        // WordPress takes a menu without a published item for empty.
        return Ok(Vec::new());
    }
    let mut items = items(tx, site, settings, &Caller::default(), rows)?;
    items.retain(|item| !item.target.invalid);
    Ok(items)
}

fn insert(
    tx: &mut Tx,
    site: &Site,
    settings: &Settings,
    menu_order: i64,
    (author, now): (UserId, NaiveDateTime),
) -> SiteResult<PostId> {
    let local = settings.zone.to_local(now);
    let mut item = Post {
        author,
        // A post without title and content is not stored by WordPress.
        content: " ".to_owned(),
        date: Some(local),
        date_gmt: Some(now),
        modified: Some(local),
        modified_gmt: Some(now),
        status: "publish".to_owned(),
        comment_status: "closed".to_owned(),
        ping_status: "closed".to_owned(),
        post_type: ITEM.to_owned(),
        menu_order,
        ..Post::default()
    };
    item.id = posts::insert(tx, &item)?;
    item.slug = item.id.to_string();
    if let Some(post_type) = site.registries.types.get(ITEM) {
        item.guid = permalink(tx, settings, post_type, &item)?;
    }
    posts::update(tx, &item)?;
    Ok(item.id)
}
