//! Widgets: small pieces of a page that stand in sidebars, as classic themes show them.
//!
//! Code registers sidebars ([`Sidebar`]) and kinds of widgets ([`WidgetKind`]); what stands where, and how each widget is
//! set, is kept in the site's options.

mod errors;
mod fields;
mod instance;
mod kinds;
mod routes;
mod show;
mod sidebars;
mod store;
mod types;

use std::sync::Arc;

use indexmap::IndexMap;
use svc_routing::{Request, Result};

pub use self::{
    instance::Instance, routes::WidgetRoutes, show::Showing, sidebars::SidebarRoutes, types::WidgetTypeRoutes,
};
use crate::{Access, Site, SiteResult, caller};

/// Where widgets are kept that stand nowhere.
const INACTIVE: &str = "wp_inactive_widgets";

/// A place of the theme where widgets stand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sidebar {
    id: String,
    name: String,
    description: String,
    class: String,
    before_widget: String,
    after_widget: String,
    before_title: String,
    after_title: String,
    show_in_rest: bool,
}

impl Sidebar {
    /// A sidebar with its name for programs and what people call it.
    pub fn new(id: &str, name: &str) -> Self {
        Sidebar {
            id: id.to_owned(),
            name: name.to_owned(),
            description: String::new(),
            class: String::new(),
            before_widget: "<li id=\"%1$s\" class=\"widget %2$s\">".to_owned(),
            after_widget: "</li>\n".to_owned(),
            before_title: "<h2 class=\"widgettitle\">".to_owned(),
            after_title: "</h2>\n".to_owned(),
            show_in_rest: false,
        }
    }

    /// Its name for programs.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Says where it is.
    #[must_use]
    pub fn describe(mut self, description: &str) -> Self {
        description.clone_into(&mut self.description);
        self
    }

    /// Sets its class name in the administration area.
    #[must_use]
    pub fn class(mut self, class: &str) -> Self {
        class.clone_into(&mut self.class);
        self
    }

    /// Sets what stands around each widget; `%1$s` is the widget's id, `%2$s` its class names.
    #[must_use]
    pub fn around_widgets(mut self, before: &str, after: &str) -> Self {
        before.clone_into(&mut self.before_widget);
        after.clone_into(&mut self.after_widget);
        self
    }

    /// Sets what stands around the title of each widget.
    #[must_use]
    pub fn around_titles(mut self, before: &str, after: &str) -> Self {
        before.clone_into(&mut self.before_title);
        after.clone_into(&mut self.after_title);
        self
    }

    /// Lets everybody see it, and the widgets in it, through the interface.
    #[must_use]
    pub fn in_rest(mut self) -> Self {
        self.show_in_rest = true;
        self
    }
}

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
pub struct WidgetKinds(IndexMap<String, Arc<dyn WidgetKind>>);

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

    fn get(&self, id_base: &str) -> Option<&Arc<dyn WidgetKind>> {
        self.0.get(id_base)
    }

    /// The kinds in the order of their ids.
    fn sorted(&self) -> Vec<&Arc<dyn WidgetKind>> {
        let mut kinds: Vec<_> = self.0.values().collect();
        kinds.sort_by_key(|kind| kind.id_base());
        kinds
    }

    fn iter(&self) -> impl Iterator<Item = &Arc<dyn WidgetKind>> {
        self.0.values()
    }
}

/// Whether the caller may set widgets.
fn may_manage(site: &Site, req: &Request) -> Result<bool> {
    let settings = site.settings()?;
    Ok(Access::new(site, &settings).can(&caller(req), "edit_theme_options"))
}

/// Refuses callers who may not set widgets.
fn check_manage(site: &Site, req: &Request) -> Result<()> {
    if may_manage(site, req)? { Ok(()) } else { Err(errors::cannot_manage(req)) }
}

/// Whether everybody sees what stands in a sidebar.
fn is_open(site: &Site, sidebar: &str) -> bool {
    site.sidebars.get(sidebar).is_some_and(|sidebar| sidebar.show_in_rest)
}
