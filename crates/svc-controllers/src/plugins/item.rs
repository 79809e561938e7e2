//! A plugin of the site: installed, or compiled in.

use svc_packages::plugins::{Plugin, Shown};

/// A plugin of the content folder, or an extension.
#[derive(Clone, Debug)]
pub(crate) struct Item {
    pub(crate) plugin: Plugin,
    pub(crate) shown: Shown,
    pub(crate) active: bool,
    /// Part of the program.
    pub(crate) compiled_in: bool,
}

impl Item {
    pub(crate) fn new(plugin: Plugin, active: bool, compiled_in: bool) -> Self {
        Item { shown: plugin.shown(), plugin, active, compiled_in }
    }

    /// The name in addresses.
    pub(crate) fn id(&self) -> &str {
        self.plugin.file.strip_suffix(".php").unwrap_or(&self.plugin.file)
    }

    /// Whether it came from the directory under this name.
    pub(crate) fn is_of(&self, slug: &str) -> bool {
        !self.compiled_in && self.plugin.file.split_once('/').is_some_and(|(folder, _)| folder == slug)
    }

    pub(crate) fn status(&self) -> &'static str {
        if self.active { "active" } else { "inactive" }
    }
}
