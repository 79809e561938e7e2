//! Blocks of a site: the types that are known, and what dynamic ones show.

//pub mod renderer;
pub mod types;

use std::sync::Arc;

use svc_content::blocks::BlockTypes;
use svc_packages::blocks::find;

use crate::{Settings, Site};

/// The block types known while these plugins and this theme are active.
#[derive(Debug)]
pub(crate) struct Known {
    /// What the options say is active.
    active: [String; 3],
    types: Arc<BlockTypes>,
}

impl Site {
    /// The block types of the site: those registered, and those that active plugins and the theme describe in files,
    /// which are read once for each change of what is active.
    pub fn block_types(&self, settings: &Settings) -> Arc<BlockTypes> {
        let active = ["active_plugins", "template", "stylesheet"].map(|name| settings.option(name).to_owned());
        if let Some(known) = &*self.known_blocks.load()
            && known.active == active
        {
            return Arc::clone(&known.types);
        }
        let mut types = self.blocks.clone();
        let mut add = |kind: &str, name: &str| {
            // Options name folders, never paths.
            if !name.is_empty() && !name.contains(['/', '\\', '\0']) && !name.starts_with('.') {
                find(&self.content_dir.join(kind).join(name)).into_iter().for_each(|found| types.add_found(found));
            }
        };
        for plugin in plugin_folders(&active[0]) {
            add("plugins", &plugin);
        }
        add("themes", &active[1]);
        add("themes", &active[2]);
        let types = Arc::new(types);
        self.known_blocks.store(Some(Arc::new(Known { active, types: Arc::clone(&types) })));
        types
    }
}

/// The folders of the active plugins, as their option names their files: `FOLDER/FILE.php`.
fn plugin_folders(stored: &str) -> Vec<String> {
    let files: serde_json::Value = svc_php::serialize::from_stored(stored.as_bytes()).into();
    let folder = |file: &serde_json::Value| Some(file.as_str()?.split_once('/')?.0.to_owned());
    svc_php::list::parse_list(&files).iter().filter_map(|file| folder(file)).collect()
}
