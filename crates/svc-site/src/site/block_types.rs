//! The block types of a site: registered ones, and those of active plugins and the theme.

use std::sync::Arc;

use svc_content::blocks::BlockTypes;
use svc_packages::blocks::find;
use svc_store::StoredText;

use crate::{Settings, site::Site};

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
        if let Some(known) = &*self.caches.active_block_types.load()
            && known.active == active
        {
            return Arc::clone(&known.types);
        }
        let mut types = self.registries.blocks.clone();
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
        self.caches.active_block_types.store(Some(Arc::new(ActiveBlockTypes { active, types: Arc::clone(&types) })));
        types
    }
}

/// Folders of the active plugins; their option contains `FOLDER/FILE.php`.
pub(crate) fn plugin_folders(stored: Option<&StoredText>) -> Vec<String> {
    let files = stored.map(StoredText::json).unwrap_or_default();
    let folder = |file: &serde_json::Value| Some(file.as_str()?.split_once('/')?.0.to_owned());
    svc_php::list::parse_list(&files).unwrap_or_default().iter().filter_map(|file| folder(file)).collect()
}
