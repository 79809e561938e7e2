//! Sidebars: the widget areas of a theme.

/// Id of the list of inactive widgets.
pub const INACTIVE: &str = "wp_inactive_widgets";

/// A widget area of the theme.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sidebar {
    /// The sidebar's id.
    pub id: String,
    /// Display name.
    pub name: String,
    /// Description of the widget area.
    pub description: String,
    /// Class name in the administration screens.
    pub class: String,
    /// HTML before each widget, with the placeholders `%1$s` (widget id) and `%2$s` (class names).
    pub before_widget: String,
    /// HTML after each widget.
    pub after_widget: String,
    /// HTML before each widget's title.
    pub before_title: String,
    /// HTML after each widget's title.
    pub after_title: String,
    /// Whether the sidebar and its widgets are public in the REST API.
    pub show_in_rest: bool,
}

impl Sidebar {
    /// Creates a sidebar with an id and a display name.
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

    /// The sidebar's id.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Sets the description.
    #[must_use]
    pub fn describe(mut self, description: &str) -> Self {
        description.clone_into(&mut self.description);
        self
    }

    /// Sets the class name in the administration screens.
    #[must_use]
    pub fn class(mut self, class: &str) -> Self {
        class.clone_into(&mut self.class);
        self
    }

    /// Sets the HTML around each widget; `%1$s` is the widget's id, `%2$s` its class names.
    #[must_use]
    pub fn around_widgets(mut self, before: &str, after: &str) -> Self {
        before.clone_into(&mut self.before_widget);
        after.clone_into(&mut self.after_widget);
        self
    }

    /// Sets the HTML around each widget's title.
    #[must_use]
    pub fn around_titles(mut self, before: &str, after: &str) -> Self {
        before.clone_into(&mut self.before_title);
        after.clone_into(&mut self.after_title);
        self
    }

    /// Makes the sidebar and its widgets public in the REST API.
    #[must_use]
    pub fn in_rest(mut self) -> Self {
        self.show_in_rest = true;
        self
    }
}
