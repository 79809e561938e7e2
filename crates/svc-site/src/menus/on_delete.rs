//! Items that lead to what is deleted go with it.

use svc_model::{PostId, Term};
use svc_store::{
    Tx,
    meta::{self, MetaKind},
    posts::{self, Clauses, MetaClause, PostQuery},
};

use crate::{SiteResult, menus::item::ITEM};

/// Deletes the items that lead to a post, which is about to be deleted for good. Source: `_wp_delete_post_menu_item`.
///
/// # Errors
/// Those of the store.
pub fn post_gone(tx: &mut Tx, id: PostId) -> SiteResult<()> {
    delete(tx, id.0, |kind, _| kind == "post_type")
}

/// Deletes the items that lead to a term. Source: `_wp_delete_tax_menu_item`.
///
/// # Errors
/// Those of the store.
pub fn term_gone(tx: &mut Tx, term: &Term) -> SiteResult<()> {
    delete(tx, term.id.0, |kind, object| kind == "taxonomy" && object == term.taxonomy)
}

/// Deletes items that lead to something of this number, if their kind and their object's type are those.
fn delete(tx: &mut Tx, number: i64, leads_there: impl Fn(&str, &str) -> bool) -> SiteResult<()> {
    let leads = MetaClause {
        key: "_menu_item_object_id".to_owned(),
        values: vec![number.to_string()],
        ..MetaClause::default()
    };
    let query = PostQuery {
        post_types: vec![ITEM.to_owned()],
        meta: Clauses { clauses: vec![leads], ..Clauses::default() },
        ..PostQuery::default()
    };
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
