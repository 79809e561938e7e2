//! Adds new pages to menus.

use chrono::NaiveDateTime;
use svc_model::{Post, PostId, UserId};
use svc_store::{
    Tx,
    meta::{self, MetaKind},
    posts, terms,
};

use crate::{
    Settings, Site, SiteResult,
    menus::{
        item::{ITEM, MENU, items_of},
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
        let items = items_of(tx, *menu)?;
        let numbers: Vec<i64> = items.iter().map(|id| id.0).collect();
        let number = page.id.0.to_string();
        let is_linked = |meta: &svc_store::Meta| meta.text("_menu_item_object_id") == number;
        if meta::load(tx, MetaKind::Post, &numbers)?.values().any(is_linked) {
            continue;
        }
        // The first item of a menu has the position 0, as in WordPress.
        let last_position = posts::get_many(tx, &items)?.iter().map(|item| item.menu_order).max();
        let id = insert(tx, site, settings, last_position.map_or(0, |last| last + 1), by)?;
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
