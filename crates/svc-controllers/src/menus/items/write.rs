//! Creates and updates menu items: the post and its link target.

use std::sync::Arc;

use svc_auth::Caller;
use svc_model::{Post, PostId, TermId};
use svc_resource::Typed;
use svc_routing::{Request, Result};
use svc_site::{
    Settings, Site, SiteResult,
    menus::{
        item::{self, MENU, NavItem},
        save::{ItemMeta, ORPHANED, store_meta},
        target::{self, MenuItemTarget, TargetKind, TargetRef},
    },
    posts::draft::PostDraft,
};
use svc_store::{
    Db, StoredText, Tx,
    meta::{self, MetaKind},
    posts, terms,
};

use super::{MenuItems, fields::ItemDraft};
use crate::{caller, errors::post_not_found, menus::errors};

impl MenuItems {
    /// Creates or updates an item.
    pub(super) async fn save(&self, req: &Request, draft: Typed<ItemDraft>, existing: Option<Post>) -> Result<PostId> {
        let mut draft = draft.accepted()?;
        let (site, settings) = (Arc::clone(&self.site), self.site.settings(req.cx())?);
        let id = existing.map(|p| p.id);
        let menu = draft.row.terms.swap_remove(MENU).and_then(|ids| ids.first().copied()).map(TermId);
        draft.row.redated = true;
        let (posts_routes, caller) = (Arc::clone(&self.posts), caller(req));
        let (is_new, now) = (id.is_none(), self.site.now(req.cx()));
        let store = move |tx: &mut Tx| {
            // Read everything in the transaction, so that concurrent updates do not overwrite each other.
            let before = match id {
                Some(id) => {
                    let post = posts::get(tx, id)?.ok_or_else(post_not_found)?;
                    item::items(tx, &site, &settings, &caller, vec![post])?.pop()
                }
                None => None,
            };
            let item = merge(tx, &site, &settings, &caller, &draft, before.as_ref())?;
            if let Some(menu) = menu
                && terms::get(tx, menu, Some(MENU))?.is_none()
            {
                return Err(errors::invalid_menu().into());
            }
            let is_in_menu = menu.or(before.as_ref().map(|item| item.menu)).is_some_and(|menu| !menu.is_none());
            let unchecked_parent = target_parent(tx, &item.target_ref)?;
            let mut row = PostDraft { title: Some(item.title.clone()), unchecked_parent, ..draft.row.clone() };
            let description = row.content.as_deref().or(before.as_ref().map(|item| item.post.content.as_str()));
            if item.title.is_empty()
                && item.target_ref.kind != TargetKind::Custom
                && description.is_none_or(|text| svc_text::trim(text).is_empty())
            {
                // As in WordPress, which stores no post without title and content.
                row.content = Some(" ".to_owned());
            }
            if !is_in_menu {
                // Without a menu there is no other position.
                row.menu_order = Some(1);
            }
            let id = posts_routes.job(caller.clone(), row, id, Arc::clone(&settings)).run(tx)?;
            store_meta(tx, id, &item)?;
            match menu {
                Some(menu) => {
                    terms::set_object_terms(tx, id, MENU, &[menu])?;
                    meta::delete(tx, MetaKind::Post, id.0, ORPHANED, None)?;
                }
                None if is_new => {
                    meta::update(tx, MetaKind::Post, id.0, ORPHANED, &StoredText::of(now.and_utc().timestamp()))?;
                }
                None => {}
            }
            Ok(id)
        };
        let id = self.site.write(req.cx(), store).await?;
        self.posts.update_extra(id, req).await?;
        Ok(id)
    }
}

/// The id of the parent of the post or term that an item links to; `None` if it has none of these. WordPress stores it in
/// the item's row, although nothing reads it.
fn target_parent(db: &mut Db, target_ref: &TargetRef) -> SiteResult<Option<i64>> {
    let id = target_ref.object_id;
    Ok(match target_ref.kind {
        TargetKind::PostType => posts::get(db, PostId(id))?.map(|post| post.parent.0),
        TargetKind::Taxonomy => terms::get(db, TermId(id), Some(&target_ref.object))?.map(|term| term.parent.0),
        TargetKind::Custom | TargetKind::Archive => None,
    })
}

/// The item to store: the request's values, and stored values for missing ones.
fn merge(
    db: &mut Db,
    site: &Site,
    settings: &Settings,
    caller: &Caller,
    draft: &ItemDraft,
    before: Option<&NavItem>,
) -> SiteResult<ItemMeta> {
    let text = |new: &Option<String>, stored: &str| new.clone().unwrap_or_else(|| stored.to_owned());
    let stored_meta = |key: &str| before.map(|b| b.text(key)).unwrap_or_default();
    let names = |new: &Option<Vec<String>>, stored: Vec<String>| new.clone().unwrap_or(stored).join(" ");
    let mut item = ItemMeta {
        title: text(&draft.title, before.map(NavItem::title).unwrap_or_default()),
        target_ref: TargetRef {
            kind: TargetKind::of(&text(&draft.kind, stored_meta("_menu_item_type"))),
            object: text(&draft.object, stored_meta("_menu_item_object")),
            object_id: draft.object_id.unwrap_or_else(|| before.map(NavItem::object_id).unwrap_or_default()),
            // An item that becomes a custom link keeps the URL of its former target.
            url: text(&draft.url, before.and_then(|b| b.target.url.as_deref()).unwrap_or_default()),
        },
        parent: draft.parent.unwrap_or_else(|| before.map(NavItem::parent).unwrap_or_default()),
        link_target: text(&draft.target, stored_meta("_menu_item_target")),
        classes: names(&draft.classes, before.map(NavItem::classes).unwrap_or_default())
            .split(' ')
            .map(str::to_owned)
            .collect(),
        xfn: names(&draft.xfn, vec![stored_meta("_menu_item_xfn").to_owned()]),
    };
    if before.is_some_and(|b| b.post.id.0 == item.parent) {
        item.parent = 0;
    }
    let target_ref = &mut item.target_ref;
    match target_ref.kind {
        TargetKind::Custom => {
            if let Some(error) = errors::missing_link_fields(item.title.is_empty(), target_ref.url.is_empty()) {
                return Err(error.into());
            }
            target_ref.object = TargetKind::Custom.name().to_owned();
        }
        TargetKind::Archive => {
            if site.registries.types.get(&target_ref.object).is_none() {
                return Err(errors::invalid_type().into());
            }
            target_ref.url.clear();
        }
        TargetKind::PostType | TargetKind::Taxonomy => {
            if matches!(target_ref.object.as_str(), "" | "0") {
                target_ref.object = object_of(db, site, target_ref)?;
            }
            target_ref.url.clear();
            // A title equal to the target's is not stored, so that it follows later changes of the target.
            let targets = target::load(db, site, settings, caller, std::slice::from_ref(target_ref))?;
            if targets.first().is_some_and(|MenuItemTarget { title, .. }| *title == item.title) {
                item.title.clear();
            }
        }
    }
    Ok(item)
}

/// The post type or taxonomy of the item's target.
///
/// # Errors
/// `rest_post_invalid_id` or `rest_term_invalid_id` (400) if the target does not exist; errors of the store.
fn object_of(db: &mut Db, site: &Site, target_ref: &TargetRef) -> SiteResult<String> {
    let id = target_ref.object_id.saturating_abs();
    if target_ref.kind == TargetKind::PostType {
        let post = if id == 0 { None } else { posts::get(db, PostId(id))? };
        return Ok(post.ok_or_else(errors::invalid_post)?.post_type);
    }
    let term = if id == 0 { None } else { terms::get(db, TermId(id), None)? };
    let term = term.filter(|term| site.registries.taxonomies.get(&term.taxonomy).is_some());
    Ok(term.ok_or_else(errors::invalid_term)?.taxonomy)
}
