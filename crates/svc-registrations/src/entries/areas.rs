//! `[[sidebars]]` and `[[menu_locations]]`: places of a theme.

use serde::Deserialize;
use svc_site::registries::sidebars::Sidebar;
use validator::Validate;

use super::TableEntry;

/// `[[sidebars]]`
#[derive(Clone, Debug, PartialEq, Deserialize, Validate)]
#[serde(deny_unknown_fields)]
pub(super) struct SidebarEntry {
    #[validate(length(min = 1, max = 191, message = "`id` must have 1 to 191 characters"))]
    id: String,
    name: String,
    #[serde(default)]
    description: String,
    #[serde(default)]
    class: String,
    // By default a list item, with a heading.
    before_widget: Option<String>,
    after_widget: Option<String>,
    before_title: Option<String>,
    after_title: Option<String>,
    /// Public in the REST API.
    #[serde(default)]
    show_in_rest: bool,
}

impl TableEntry for SidebarEntry {
    const FIELDS: &'static [&'static str] = &["id"];

    fn is_same(&self, other: &Self) -> bool {
        self.id == other.id
    }
}

impl SidebarEntry {
    pub(super) fn sidebar(&self) -> Sidebar {
        let mut sidebar = Sidebar::new(&self.id, &self.name).describe(&self.description).class(&self.class);
        for (html, own) in [
            (&mut sidebar.before_widget, &self.before_widget),
            (&mut sidebar.after_widget, &self.after_widget),
            (&mut sidebar.before_title, &self.before_title),
            (&mut sidebar.after_title, &self.after_title),
        ] {
            if let Some(own) = own {
                html.clone_from(own);
            }
        }
        sidebar.show_in_rest = self.show_in_rest;
        sidebar
    }
}

/// `[[menu_locations]]`
#[derive(Clone, Debug, PartialEq, Deserialize, Validate)]
#[serde(deny_unknown_fields)]
pub(super) struct LocationEntry {
    #[validate(length(min = 1, max = 191, message = "`name` must have 1 to 191 characters"))]
    pub(super) name: String,
    pub(super) description: String,
}

impl TableEntry for LocationEntry {
    const FIELDS: &'static [&'static str] = &["name"];

    fn is_same(&self, other: &Self) -> bool {
        self.name == other.name
    }
}
