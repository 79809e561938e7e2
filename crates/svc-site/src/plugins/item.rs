//! A plugin of the site: installed or compiled in.

use svc_packages::plugins::{DisplayTexts, Plugin};

/// A plugin in the content folder, or an extension.
#[derive(Clone, Debug)]
pub struct PluginItem {
    /// The plugin's headers.
    pub plugin: Plugin,
    /// Texts for the list of plugins.
    pub display_texts: DisplayTexts,
    /// Whether it is active.
    pub active: bool,
    /// Whether it is compiled into the server.
    pub compiled_in: bool,
}

impl PluginItem {
    /// A plugin with its display texts.
    pub fn new(plugin: Plugin, active: bool, compiled_in: bool) -> Self {
        PluginItem { display_texts: plugin.display_texts(), plugin, active, compiled_in }
    }

    /// The name in REST URLs.
    pub fn id(&self) -> &str {
        self.plugin.file.strip_suffix(".php").unwrap_or(&self.plugin.file)
    }

    /// Whether it was installed from the directory under this slug.
    pub fn is_of(&self, slug: &str) -> bool {
        !self.compiled_in && self.plugin.file.split_once('/').is_some_and(|(folder, _)| folder == slug)
    }

    /// The status in the REST API: `active` or `inactive`.
    pub fn status(&self) -> &'static str {
        if self.active { "active" } else { "inactive" }
    }
}
