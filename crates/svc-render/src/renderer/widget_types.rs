//! Widget types, their registry, and the context in which they render.

use std::{cell::Cell, sync::Arc};

use indexmap::IndexMap;
use svc_content::render_title;
use svc_site::{Settings, Site, SiteResult, widgets::instance::Instance};
use svc_store::Db;
use svc_text::{Html, esc_html, html};

use crate::renderer::{SiteRenderer, viewer::BlockViewer};

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

    /// The widget, with its title and without the sidebar's wrapper; `None` if there is nothing to show, not even
    /// the wrapper.
    ///
    /// # Errors
    /// Errors of the store.
    fn render(&self, context: &mut WidgetContext<'_>, instance: &Instance) -> SiteResult<Option<Html>>;

    /// The edit form. `number` identifies the widget among those of its type.
    fn form(&self, number: &str, instance: &Instance) -> Html;
}

/// Context for rendering a widget: a snapshot of the site, the viewer, and the markup around titles.
pub struct WidgetContext<'a> {
    /// The snapshot.
    pub db: &'a mut Db,
    /// The site.
    pub site: &'a Site,
    /// Renders the site.
    pub renderer: &'a Arc<SiteRenderer>,
    /// The site's options.
    pub settings: &'a Settings,
    /// The viewer.
    pub viewer: &'a BlockViewer,
    /// The widget's number among those of its type; -1 in previews.
    pub number: i64,
    /// Whether the response already contains a drop-down list of categories.
    pub has_category_menu: &'a Cell<bool>,
    pub(crate) before_title: &'a Html,
    pub(crate) after_title: &'a Html,
}

impl WidgetContext<'_> {
    /// The widget's title, or the default one, with the sidebar's markup. Empty for an empty title.
    pub fn title(&self, instance: &Instance, default: &str) -> Html {
        let title = self.title_text(instance, default);
        if title.is_empty() { title } else { html!("{}{}{}", self.before_title, title, self.after_title) }
    }

    /// The widget's title, or the default one, without markup around it. `0` is empty, as in PHP.
    pub fn title_text(&self, instance: &Instance, default: &str) -> Html {
        let title = instance.text("title");
        esc_html(&render_title(if matches!(title.as_str(), "" | "0") { default } else { &title }))
    }

    /// Element id of a drop-down list of categories. The first one of a response is `cat`.
    pub fn category_menu_id(&self) -> Html {
        if self.has_category_menu.replace(true) {
            html!("categories-dropdown-{}", self.number)
        } else {
            Html::from("cat")
        }
    }
}

/// The widget types of a site, in order of registration. Empty by default.
#[derive(Clone, Default)]
pub struct WidgetTypes(pub IndexMap<String, Arc<dyn WidgetType>>);

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
