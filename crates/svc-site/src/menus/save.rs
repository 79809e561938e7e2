//! Stores menu items.

use svc_model::PostId;
use svc_php::Php;
use svc_store::{
    StoredText, Tx,
    meta::{self, MetaKind},
};

use crate::{
    SiteResult,
    menus::target::{TargetKind, TargetRef},
};

/// Meta key: timestamp since when an item has been in no menu, for later clean-up.
pub const ORPHANED: &str = "_menu_item_orphaned";

/// The new values of an item's meta.
#[derive(Clone, Debug, Default)]
pub struct ItemMeta {
    /// Title.
    pub title: String,
    /// Target of the link.
    pub target_ref: TargetRef,
    /// Id of the parent item; zero for none.
    pub parent: i64,
    /// The `target` attribute of the link.
    pub link_target: String,
    /// CSS classes of the link.
    pub classes: Vec<String>,
    /// Link relations (XFN), separated by spaces.
    pub xfn: String,
}

/// Stores the target and the link attributes of an item.
pub fn store_meta(tx: &mut Tx, id: PostId, item: &ItemMeta) -> SiteResult<()> {
    let target_ref = &item.target_ref;
    // The object id of a custom link is its own id.
    let object_id = if target_ref.kind == TargetKind::Custom { id.0 } else { target_ref.object_id };
    let classes = Php::Array(item.classes.iter().map(|class| Php::from(class.as_str())).collect());
    for (key, value) in [
        ("_menu_item_type", StoredText::of(target_ref.kind.name())),
        ("_menu_item_menu_item_parent", StoredText::of(item.parent)),
        ("_menu_item_object_id", StoredText::of(object_id)),
        ("_menu_item_object", StoredText::of(&target_ref.object)),
        ("_menu_item_target", StoredText::of(&item.link_target)),
        ("_menu_item_classes", StoredText::of(classes)),
        ("_menu_item_xfn", StoredText::of(&item.xfn)),
        ("_menu_item_url", StoredText::of(&target_ref.url)),
    ] {
        meta::update(tx, MetaKind::Post, id.0, key, &value)?;
    }
    Ok(())
}
