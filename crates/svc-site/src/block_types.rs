//! The block types of a site, and blocks that are hooked into content.

use std::sync::Arc;

use svc_content::blocks::{BlockTypes, ContentRoot, StoredContent};
use svc_model::PostId;
use svc_packages::blocks::find;
use svc_store::{
    StoredText, Tx,
    meta::{self, MetaKind},
};

use crate::{Settings, Site, SiteResult};

/// The block types available while these plugins and this theme are active.
#[derive(Debug)]
pub(crate) struct ActiveBlockTypes {
    /// Values of the options that list active plugins and the theme.
    active: [StoredText; 3],
    types: Arc<BlockTypes>,
}

impl Site {
    /// The site's block types: the registered ones and those that active plugins and the theme define in files. Files
    /// are read once per change of the active plugins and theme.
    pub fn block_types(&self, settings: &Settings) -> Arc<BlockTypes> {
        let active =
            ["active_plugins", "template", "stylesheet"].map(|name| settings.stored(name).cloned().unwrap_or_default());
        if let Some(known) = &*self.known_blocks.load()
            && known.active == active
        {
            return Arc::clone(&known.types);
        }
        let mut types = self.blocks.clone();
        let mut add = |kind: &str, name: &str| {
            // Options contain folder names, never paths.
            if !name.is_empty() && !name.contains(['/', '\\', '\0']) && !name.starts_with('.') {
                find(&self.content_dir.join(kind).join(name))
                    .into_iter()
                    .for_each(|found| types.register_from_file(found));
            }
        };
        for plugin in plugin_folders(Some(&active[0])) {
            add("plugins", &plugin);
        }
        add("themes", active[1].text());
        add("themes", active[2].text());
        let types = Arc::new(types);
        self.known_blocks.store(Some(Arc::new(ActiveBlockTypes { active, types: Arc::clone(&types) })));
        types
    }
}

/// Folders of the active plugins; their option contains `FOLDER/FILE.php`.
pub(crate) fn plugin_folders(stored: Option<&StoredText>) -> Vec<String> {
    let files = stored.map(StoredText::json).unwrap_or_default();
    let folder = |file: &serde_json::Value| Some(file.as_str()?.split_once('/')?.0.to_owned());
    svc_php::list::parse_list(&files).iter().filter_map(|file| folder(file)).collect()
}

/// Meta key: names of hooked blocks that are not inserted into a post's content.
pub const IGNORED_HOOKS: &str = "_wp_ignored_hooked_blocks";

/// Post types whose content is sent to editors with hooked blocks inserted. Updates store the serialized form of that
/// content.
pub(crate) const EDITED: [&str; 4] = ["post", "page", "wp_block", "wp_navigation"];

/// Whether editors receive the content of posts of this type with hooked blocks inserted.
pub fn is_edited(post_type: &str) -> bool {
    EDITED.contains(&post_type)
}

/// The content to store, and the hooked blocks that the post already contains ([`remember`]).
pub fn content_to_store(site: &Site, settings: &Settings, post_type: &str, content: &str) -> StoredContent {
    site.block_types(settings).hooks().content_to_store(content, Some(&ContentRoot::of(post_type, "")))
}

/// Adds names to the hooked blocks that are no longer inserted into a post.
pub fn remember(tx: &mut Tx, post: PostId, names: &[String]) -> SiteResult<()> {
    if names.is_empty() {
        return Ok(());
    }
    let stored = meta::get(tx, MetaKind::Post, post.0, IGNORED_HOOKS)?.unwrap_or_default();
    let mut all: Vec<String> = serde_json::from_str(stored.text()).unwrap_or_default();
    all.extend(names.iter().filter(|name| !all.contains(name)).cloned().collect::<Vec<_>>());
    meta::update(tx, MetaKind::Post, post.0, IGNORED_HOOKS, &StoredText::of(svc_php::json::encode(&all.into())))?;
    Ok(())
}
