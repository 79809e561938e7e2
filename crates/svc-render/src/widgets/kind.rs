//! Widget types and their registry.

use std::sync::Arc;

use indexmap::IndexMap;
use svc_site::{SiteResult, widgets::instance::Instance};

use crate::widgets::{builtin, render::WidgetContext};

/// A widget type: renders a widget, its edit form, and updates its settings.
pub trait WidgetType: Send + Sync {
    /// The type's id. A widget's id is this and its number.
    fn id_base(&self) -> &str;

    /// Display name.
    fn name(&self) -> &str;

    /// A short description.
    fn description(&self) -> &str;

    /// Class names of the widget's wrapper element.
    fn class(&self) -> &str;

    /// Additional class names that depend on the settings.
    fn classes_of(&self, _: &Instance) -> Vec<&'static str> {
        Vec::new()
    }

    /// Merges new settings into the old ones and sanitizes them. `unfiltered_html`: the user may store any HTML.
    fn update(&self, new: &Instance, old: Instance, unfiltered_html: bool) -> Instance;

    /// The widget as HTML, with its title and without the sidebar's wrapper; `None` if there is nothing to show, not even
    /// the wrapper.
    ///
    /// # Errors
    /// Errors of the store.
    fn show(&self, context: &mut WidgetContext<'_>, instance: &Instance) -> SiteResult<Option<String>>;

    /// The edit form as HTML. `number` identifies the widget among those of its type.
    fn form(&self, number: &str, instance: &Instance) -> String;
}

/// The widget types of a site, in order of registration.
#[derive(Clone)]
pub struct WidgetTypes(pub IndexMap<String, Arc<dyn WidgetType>>);

impl Default for WidgetTypes {
    /// The built-in types.
    fn default() -> Self {
        let mut all = WidgetTypes(IndexMap::new());
        builtin::register(&mut all);
        all
    }
}

impl WidgetTypes {
    /// Adds a type, or replaces the one with the same id.
    pub fn register(&mut self, widget_type: impl WidgetType + 'static) {
        self.0.insert(widget_type.id_base().to_owned(), Arc::new(widget_type));
    }

    /// A type by its id.
    pub fn get(&self, id_base: &str) -> Option<&Arc<dyn WidgetType>> {
        self.0.get(id_base)
    }

    /// The types, sorted by id.
    pub fn sorted(&self) -> Vec<&Arc<dyn WidgetType>> {
        let mut types: Vec<_> = self.0.values().collect();
        types.sort_by_key(|widget_type| widget_type.id_base());
        types
    }

    /// The ids of the types, in order of registration.
    pub fn id_bases(&self) -> impl Iterator<Item = &str> + Clone {
        self.0.keys().map(String::as_str)
    }

    /// The types, in order of registration.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<dyn WidgetType>> {
        self.0.values()
    }
}
