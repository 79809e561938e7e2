//! A plugin of the site: installed or compiled in.

use svc_packages::plugins::{DisplayTexts, Plugin};

/// A plugin in the content folder, or an extension.
#[derive(Clone, Debug)]
pub struct Item {
    pub plugin: Plugin,
    pub display_texts: DisplayTexts,
    pub active: bool,
    /// Whether it is compiled into the server.
    pub compiled_in: bool,
}

impl Item {
    pub fn new(plugin: Plugin, active: bool, compiled_in: bool) -> Self {
        Item { display_texts: plugin.display_texts(), plugin, active, compiled_in }
    }

    /// The name in REST URLs.
    pub fn id(&self) -> &str {
        self.plugin.file.strip_suffix(".php").unwrap_or(&self.plugin.file)
    }

    /// Whether it was installed from the directory under this slug.
    pub fn is_of(&self, slug: &str) -> bool {
        !self.compiled_in && self.plugin.file.split_once('/').is_some_and(|(folder, _)| folder == slug)
    }

    pub fn status(&self) -> &'static str {
        if self.active { "active" } else { "inactive" }
    }
}
