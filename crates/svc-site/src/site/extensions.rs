//! Extensions: crates compiled into the server that administrators activate and deactivate while it runs.
//!
//! Extensions are listed among the plugins. The REST API includes the registrations of active extensions. It is rebuilt
//! when the list of active ones changes; requests in progress finish on the version that they started with.

use std::sync::Arc;

use svc_packages::plugins::Plugin;
use svc_routing::Registry;
use svc_store::{StoredText, Tx, options};

use crate::{Settings, Site, SiteResult};

/// Option with the ids of active extensions. It differs from the option of PHP plugins, for which PHP would look for
/// files.
pub const ACTIVE_EXTENSIONS: &str = "active_extensions";

/// Option with the files of active plugins, in PHP's format.
pub const ACTIVE_PLUGINS: &str = "active_plugins";

/// A compiled-in component that can be activated and deactivated.
pub trait Extension: Send + Sync + 'static {
    /// The entry in the list of plugins. `file` is its id without `.php`: `name` or `folder/name`.
    fn about(&self) -> Plugin;

    /// Registers routes, fields and hooks. Called each time the REST API is built while the extension is active.
    fn register(&self, registry: &mut Registry, site: &Arc<Site>);

    /// Adds filters of URLs, routes and avatar sizes. They apply while the extension is active, like all that
    /// [`Extension::register`] adds. Called each time the site's options have changed.
    fn filters(&self, _hooks: &mut svc_permalinks::UrlHooks) {}
}

/// The names in an option that stores a serialized list.
pub fn names_in(stored: Option<&StoredText>) -> Vec<String> {
    let list = stored.map(StoredText::json).unwrap_or_default();
    let text = |value: &serde_json::Value| value.as_str().map(str::to_owned);
    match list {
        serde_json::Value::Array(list) => list.iter().filter_map(text).collect(),
        serde_json::Value::Object(list) => list.values().filter_map(text).collect(),
        _ => Vec::new(),
    }
}

/// Adds a name to the list in an option, or removes it. The list is stored in PHP's sort order.
///
/// # Errors
/// Errors of the store.
pub fn set_active(tx: &mut Tx, option: &str, name: &str, on: bool) -> SiteResult<()> {
    let before = names_in(options::get(tx, option)?.as_ref());
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
    /// Ids of the active extensions in the order of registration.
    pub fn active_extensions(&self, settings: &Settings) -> Vec<String> {
        self.extensions_in(settings.stored(ACTIVE_EXTENSIONS)).map(|extension| extension.about().file).collect()
    }

    /// The extensions that the option lists.
    pub(crate) fn extensions_in(&self, option: Option<&StoredText>) -> impl Iterator<Item = &Arc<dyn Extension>> {
        let active = names_in(option);
        self.extensions.iter().filter(move |extension| active.contains(&extension.about().file))
    }

    /// Calls [`Extension::register`] for these extensions.
    pub fn register_extensions(self: &Arc<Self>, active: &[String], registry: &mut Registry) {
        for extension in self.extensions.iter().filter(|e| active.contains(&e.about().file)) {
            extension.register(registry, self);
        }
    }
}
