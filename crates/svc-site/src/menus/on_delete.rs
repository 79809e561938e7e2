//! Deletes menu items when their target is deleted.

use svc_model::{PostId, Term};
use svc_store::{
    Tx,
    meta::{self, MetaKind},
    posts::{self, Clauses, MetaClause, PostQuery},
};

use crate::{SiteResult, menus::item::ITEM};

/// Deletes the items that link to a post, before that post is deleted. Source: `_wp_delete_post_menu_item`.
///
/// # Errors
/// Errors of the store.
pub(crate) fn delete_items_for_post(tx: &mut Tx, id: PostId) -> SiteResult<()> {
    delete(tx, id.0, |kind, _| kind == "post_type")
}

/// Deletes the items that link to a term. Source: `_wp_delete_tax_menu_item`.
///
/// # Errors
/// Errors of the store.
pub fn delete_items_for_term(tx: &mut Tx, term: &Term) -> SiteResult<()> {
    delete(tx, term.id.0, |kind, object| kind == "taxonomy" && object == term.taxonomy)
}

/// Deletes items whose target has this id and matches kind and object type.
fn delete(tx: &mut Tx, number: i64, leads_there: impl Fn(&str, &str) -> bool) -> SiteResult<()> {
    let leads = MetaClause {
        key: "_menu_item_object_id".to_owned(),
        values: vec![number.to_string()],
        ..MetaClause::default()
    };
    let query = PostQuery::default()
        .post_types(vec![ITEM.to_owned()])
        .meta(Clauses { clauses: vec![leads], ..Clauses::default() });
    let items = posts::query(tx, &query)?.ids;
    let numbers: Vec<i64> = items.iter().map(|id| id.0).collect();
    let meta = meta::load(tx, MetaKind::Post, &numbers)?;
    for item in items {
        let of_item = |key: &str| meta.get(&item.0).map_or("", |m| m.text(key));
        if leads_there(of_item("_menu_item_type"), of_item("_menu_item_object")) {
            posts::delete(tx, item)?;
        }
    }
    Ok(())
}
