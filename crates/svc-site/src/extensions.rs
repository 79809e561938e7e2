//! Extensions: crates compiled into the server that administrators switch on and off while it runs.
//!
//! An extension is listed among the plugins. While it is active, what it registers is part of the interface; the interface
//! is built anew when the list of active ones changes, and requests under way finish on the one that they began with.

use std::sync::Arc;

use svc_packages::plugins::Plugin;
use svc_routing::Registry;
use svc_store::{StoredText, Tx, options};

use crate::{Settings, Site, SiteResult};

/// Option that holds the ids of active extensions. It is not the option of PHP's plugins: PHP would look for files.
pub const ACTIVE_EXTENSIONS: &str = "active_extensions";

/// Option that holds the files of active plugins, as PHP keeps it.
pub const ACTIVE_PLUGINS: &str = "active_plugins";

/// Something compiled in that can be switched on and off.
pub trait Extension: Send + Sync + 'static {
    /// What people are told of it. `file` is its id among the plugins, without `.php`: `name` or `folder/name`.
    fn about(&self) -> Plugin;

    /// Registers routes, fields and hooks. Runs each time the interface is built while the extension is active.
    fn register(&self, registry: &mut Registry, site: &Arc<Site>);
}

/// The names that an option with a serialized list of names holds.
pub fn names(stored: Option<&StoredText>) -> Vec<String> {
    let list = stored.map(StoredText::json).unwrap_or_default();
    let text = |value: &serde_json::Value| value.as_str().map(str::to_owned);
    match list {
        serde_json::Value::Array(list) => list.iter().filter_map(text).collect(),
        serde_json::Value::Object(list) => list.values().filter_map(text).collect(),
        _ => Vec::new(),
    }
}

/// Puts a name on the list that an option holds, or takes it off; the list is kept as PHP sorts it.
///
/// # Errors
/// Those of the store.
pub fn switch(tx: &mut Tx, option: &str, name: &str, on: bool) -> SiteResult<()> {
    let before = names(options::get(tx, option)?.as_ref());
    let mut after: Vec<String> = before.iter().filter(|n| *n != name).cloned().collect();
    if on {
        after.push(name.to_owned());
        after.sort();
    }
    if after != before {
        options::set(tx, option, &StoredText::of(serde_json::Value::from(after)), true)?;
    }
    Ok(())
}

impl Site {
    /// The extensions that are switched on, by id in the order of their registration.
    pub fn active_extensions(&self, settings: &Settings) -> Vec<String> {
        let active = names(settings.stored(ACTIVE_EXTENSIONS));
        let ids = self.extensions.iter().map(|e| e.about().file);
        ids.filter(|id| active.contains(id)).collect()
    }

    /// Lets these extensions register what they bring.
    pub fn register_extensions(self: &Arc<Self>, active: &[String], registry: &mut Registry) {
        for extension in self.extensions.iter().filter(|e| active.contains(&e.about().file)) {
            extension.register(registry, self);
        }
    }
}
