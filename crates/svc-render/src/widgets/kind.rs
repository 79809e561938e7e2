//! Kinds of widgets.

use std::sync::Arc;

use indexmap::IndexMap;
use svc_site::{SiteResult, widgets::instance::Instance};

use crate::widgets::{kinds, show::Showing};

/// A kind of widgets: how one is set, shown and edited.
pub trait WidgetKind: Send + Sync {
    /// The kind's name for programs; ids of widgets begin with it.
    fn id_base(&self) -> &str;

    /// What people call it.
    fn name(&self) -> &str;

    /// What it shows.
    fn description(&self) -> &str;

    /// Class names of the element around a widget of the kind.
    fn class(&self) -> &str;

    /// Further class names that depend on how it is set.
    fn classes_of(&self, _: &Instance) -> Vec<&'static str> {
        Vec::new()
    }

    /// What becomes of a widget's settings when `new` are given; `unfiltered_html` says whether any HTML may be used.
    fn update(&self, new: &Instance, old: Instance, unfiltered_html: bool) -> Instance;

    /// The HTML of a widget, title included, without what the sidebar puts around it; `None` when nothing at all is to be
    /// seen of it.
    ///
    /// # Errors
    /// Those of the store.
    fn show(&self, on: &mut Showing<'_>, instance: &Instance) -> SiteResult<Option<String>>;

    /// The form that edits a widget; `number` tells it from others of its kind.
    fn form(&self, number: &str, instance: &Instance) -> String;
}

/// The kinds of widgets of a site, in the order of their registration.
#[derive(Clone)]
pub struct WidgetKinds(pub IndexMap<String, Arc<dyn WidgetKind>>);

impl Default for WidgetKinds {
    /// Those that every site has.
    fn default() -> Self {
        let mut all = WidgetKinds(IndexMap::new());
        kinds::register(&mut all);
        all
    }
}

impl WidgetKinds {
    /// Adds a kind, or replaces the one of the same name.
    pub fn register(&mut self, kind: impl WidgetKind + 'static) {
        self.0.insert(kind.id_base().to_owned(), Arc::new(kind));
    }

    pub fn get(&self, id_base: &str) -> Option<&Arc<dyn WidgetKind>> {
        self.0.get(id_base)
    }

    /// The kinds in the order of their ids.
    pub fn sorted(&self) -> Vec<&Arc<dyn WidgetKind>> {
        let mut kinds: Vec<_> = self.0.values().collect();
        kinds.sort_by_key(|kind| kind.id_base());
        kinds
    }

    /// The names of the kinds in the order of their registration.
    pub fn id_bases(&self) -> impl Iterator<Item = &str> + Clone {
        self.0.keys().map(String::as_str)
    }

    pub fn iter(&self) -> impl Iterator<Item = &Arc<dyn WidgetKind>> {
        self.0.values()
    }
}
