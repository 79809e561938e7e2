//! A menu item: a post with meta.

use serde_json::Value;
use svc_auth::Caller;
use svc_model::{Post, PostId, TermId};
use svc_store::{
    Db, Meta, Order, Tx,
    meta::{self, MetaKind},
    posts::{self, PostOrderBy, PostQuery, TaxClause, TaxOperator},
    terms,
};

use crate::{
    Settings, Site, SiteResult,
    menus::target::{self, MenuItemTarget, TargetKind, TargetRef},
};

/// Maximum number of published items of a menu.
const MAX_ITEMS: u64 = 500;

/// A menu item with all data that its fields need.
pub struct NavItem {
    /// The row.
    pub post: Post,
    /// Its meta.
    pub meta: Meta,
    /// Id of its menu; zero for none.
    pub menu: TermId,
    /// The target of the link.
    pub target: MenuItemTarget,
}

impl NavItem {
    /// A text of its meta; empty if not stored.
    pub fn text(&self, key: &str) -> &str {
        self.meta.text(key)
    }

    fn number(&self, key: &str) -> i64 {
        svc_php::numeric::text_to_int(self.text(key))
    }

    /// The stored reference to the target.
    pub fn target_ref(&self) -> TargetRef {
        TargetRef {
            kind: self.kind(),
            object: self.text("_menu_item_object").to_owned(),
            object_id: self.object_id(),
            url: self.text("_menu_item_url").to_owned(),
        }
    }

    /// Kind of the item's target.
    pub fn kind(&self) -> TargetKind {
        TargetKind::of(self.text("_menu_item_type"))
    }

    /// The stored title, or the title of the target.
    pub fn title(&self) -> &str {
        if self.post.title.is_empty() { &self.target.title } else { &self.post.title }
    }

    /// Id of the parent item; zero for none.
    pub fn parent(&self) -> i64 {
        self.number("_menu_item_menu_item_parent")
    }

    /// Id of the target.
    pub fn object_id(&self) -> i64 {
        self.number("_menu_item_object_id").saturating_abs()
    }

    /// CSS classes of the link.
    pub fn classes(&self) -> Vec<String> {
        match self.meta.first("_menu_item_classes").map_or_else(|| "".into(), svc_store::StoredText::json) {
            Value::Array(classes) => classes.iter().map(|c| svc_php::cast::to_text(c).into_owned()).collect(),
            other => vec![svc_php::cast::to_text(&other).into_owned()],
        }
    }

    /// The link relations (XFN) as stored.
    pub fn xfn(&self) -> Value {
        self.text("_menu_item_xfn").split(' ').map(|rel| Value::from(svc_text::sanitize_html_class(rel, ""))).collect()
    }
}

/// Loads menu items for these rows in a fixed number of queries. URLs are those that the caller sees.
pub fn items(
    db: &mut Db,
    site: &Site,
    settings: &Settings,
    caller: &Caller,
    rows: Vec<Post>,
) -> SiteResult<Vec<NavItem>> {
    let ids: Vec<PostId> = rows.iter().map(|p| p.id).collect();
    let numbers: Vec<i64> = ids.iter().map(|id| id.0).collect();
    let mut meta = meta::load(db, MetaKind::Post, &numbers)?;
    let menus = terms::of_objects(db, &ids)?;
    let mut items: Vec<NavItem> = rows
        .into_iter()
        .map(|post| NavItem {
            meta: meta.remove(&post.id.0).unwrap_or_default(),
            menu: menus
                .get(&post.id)
                .and_then(|all| all.iter().find(|t| t.taxonomy == MENU))
                .map(|t| t.id)
                .unwrap_or_default(),
            post,
            target: target::MenuItemTarget::default(),
        })
        .collect();
    let target_refs: Vec<TargetRef> = items.iter().map(NavItem::target_ref).collect();
    for (item, target) in items.iter_mut().zip(target::load(db, site, settings, caller, &target_refs)?) {
        item.target = target;
    }
    Ok(items)
}

/// The published items of a menu, in order.
///
/// # Errors
/// Errors of the store.
pub fn published(
    db: &mut Db,
    site: &Site,
    settings: &Settings,
    caller: &Caller,
    menu: TermId,
) -> SiteResult<Vec<NavItem>> {
    let mut query = PostQuery::published(ITEM, MAX_ITEMS).order_by(vec![(PostOrderBy::MenuOrder, Order::Asc)]);
    let clause = TaxClause { taxonomy: MENU.to_owned(), terms: vec![menu], ..TaxClause::default() };
    query.tax.clauses = vec![clause];
    let ids = posts::query(db, &query)?.ids;
    let rows = posts::get_many(db, &ids)?;
    items(db, site, settings, caller, rows)
}

/// All items of a menu, with any status.
pub fn items_of(tx: &mut Tx, menu: TermId) -> SiteResult<Vec<PostId>> {
    let mut query = PostQuery::default().post_types(vec![ITEM.to_owned()]);
    query.tax.clauses = vec![TaxClause {
        taxonomy: MENU.to_owned(),
        terms: vec![menu],
        operator: TaxOperator::In,
        ..TaxClause::default()
    }];
    Ok(posts::query(tx, &query)?.ids)
}

/// The taxonomy whose terms are menus.
pub const MENU: &str = "nav_menu";

/// The type of posts that are items of menus.
pub const ITEM: &str = "nav_menu_item";
