//! Widgets as HTML, with what a sidebar puts around them.

use std::{cell::Cell, sync::Arc};

use svc_site::{
    Settings, SiteResult,
    widgets::{instance::Instance, sidebar::Sidebar, store::parse_id},
};
use svc_store::Db;

use crate::{SiteRenderer, blocks::site_blocks::BlockViewer, content as render, widgets::kind::WidgetKind};

/// What a widget is shown with: the site as of one snapshot, the request, and what stands around titles.
pub struct Showing<'a> {
    /// The snapshot.
    pub db: &'a mut Db,
    /// The site.
    pub site: &'a Arc<SiteRenderer>,
    /// The site's options.
    pub settings: &'a Settings,
    /// Who views the response.
    pub viewer: &'a BlockViewer,
    /// The widget's number among those of its kind; -1 for one that is only previewed.
    pub number: i64,
    /// Whether this response shows a drop-down of categories already.
    pub has_category_menu: &'a Cell<bool>,
    before_title: &'a str,
    after_title: &'a str,
}

impl Showing<'_> {
    /// The widget's title with what stands around it, or this one when it has none; nothing for an empty one.
    pub fn title(&self, instance: &Instance, otherwise: &str) -> String {
        let title = self.title_text(instance, otherwise);
        if title.is_empty() { title } else { format!("{}{title}{}", self.before_title, self.after_title) }
    }

    /// The widget's title as HTML, without what is around it. `0` counts as none, as in PHP.
    pub fn title_text(&self, instance: &Instance, otherwise: &str) -> String {
        let given = instance.text("title");
        svc_text::esc_html(&render::title(if matches!(given.as_str(), "" | "0") { otherwise } else { &given }))
    }

    /// The id of a drop-down of categories: the first of a response is `cat`.
    pub fn category_menu_id(&self) -> String {
        if self.has_category_menu.replace(true) {
            format!("categories-dropdown-{}", self.number)
        } else {
            "cat".to_owned()
        }
    }
}

/// The markup around a widget, filled in.
fn filled(markup: &str, id: &str, class: &str) -> String {
    markup.replace("%1$s", id).replace("%2$s", class)
}

/// The class names of a widget.
fn classes(kind: &dyn WidgetKind, instance: &Instance) -> String {
    let mut classes = vec![kind.class()];
    classes.extend(kind.classes_of(instance));
    classes.join(" ")
}

/// A widget in a sidebar.
///
/// # Errors
/// Those of the store.
pub fn in_sidebar(
    db: &mut Db,
    site: &Arc<SiteRenderer>,
    settings: &Settings,
    (viewer, has_category_menu): (&BlockViewer, &Cell<bool>),
    sidebar: &Sidebar,
    (id, kind, instance): (&str, &dyn WidgetKind, &Instance),
) -> SiteResult<String> {
    let (before_title, after_title) = (sidebar.before_title.as_str(), sidebar.after_title.as_str());
    let number = parse_id(id).map_or(-1, |(_, number)| number);
    let mut on = Showing { db, site, settings, viewer, number, has_category_menu, before_title, after_title };
    let Some(html) = kind.show(&mut on, instance)? else { return Ok(String::new()) };
    let before = filled(&sidebar.before_widget, id, &classes(kind, instance));
    let after = filled(&sidebar.after_widget, id, "");
    Ok(svc_text::trim(&format!("{}{html}{after}", marked(kind, &before))).to_owned())
}

/// A widget by itself, as it is shown while it is edited.
///
/// # Errors
/// Those of the store.
pub fn alone(
    db: &mut Db,
    site: &Arc<SiteRenderer>,
    settings: &Settings,
    viewer: &BlockViewer,
    kind: &dyn WidgetKind,
    instance: &Instance,
) -> SiteResult<String> {
    let (before_title, after_title) = ("<h2 class=\"widgettitle\">", "</h2>");
    let (number, has_category_menu) = (-1, &Cell::new(false));
    let mut on = Showing { db, site, settings, viewer, number, has_category_menu, before_title, after_title };
    let Some(html) = kind.show(&mut on, instance)? else { return Ok(String::new()) };
    let before = format!("<div class=\"widget {}\">", classes(kind, instance));
    Ok(format!("{}{html}</div>", marked(kind, &before)))
}

/// Widgets of HTML look like those of text to themes that know only these.
fn marked(kind: &dyn WidgetKind, before: &str) -> String {
    if kind.id_base() == "custom_html" {
        before.replacen("class=\"", "class=\"widget_text ", 1)
    } else {
        before.to_owned()
    }
}
