//! Blocks that are hooked into content.

use svc_content::blocks::{ContentRoot, StoredContent};
use svc_model::PostId;
use svc_store::{
    StoredText, Tx,
    meta::{self, MetaKind},
};

use crate::{Settings, Site, SiteResult};

/// Meta key: names of hooked blocks that are not inserted into a post's content.
pub const IGNORED_HOOKS: &str = "_wp_ignored_hooked_blocks";

/// Post types whose content is sent to editors with hooked blocks inserted. Updates store the serialized form of that
/// content.
pub(crate) const EDITED: [&str; 4] = ["post", "page", "wp_block", "wp_navigation"];

/// Whether editors receive the content of posts of this type with hooked blocks inserted.
pub fn applies_to(post_type: &str) -> bool {
    EDITED.contains(&post_type)
}

/// The content to store, and the hooked blocks that the post already contains ([`store_ignored_hooks`]).
pub fn content_to_store(site: &Site, settings: &Settings, post_type: &str, content: &str) -> StoredContent {
    site.block_types(settings).hooks().content_to_store(content, Some(&ContentRoot::of(post_type, "")))
}

/// Adds names to the hooked blocks that are no longer inserted into a post.
pub fn store_ignored_hooks(tx: &mut Tx, post: PostId, names: &[String]) -> SiteResult<()> {
    if names.is_empty() {
        return Ok(());
    }
    let stored = meta::get(tx, MetaKind::Post, post.0, IGNORED_HOOKS)?.unwrap_or_default();
    let mut all: Vec<String> = serde_json::from_str(stored.text()).unwrap_or_default();
    all.extend(names.iter().filter(|name| !all.contains(name)).cloned().collect::<Vec<_>>());
    meta::update(tx, MetaKind::Post, post.0, IGNORED_HOOKS, &StoredText::of(svc_php::json::encode(&all.into())))?;
    Ok(())
}
