//! Renders widgets with the wrappers of their sidebars.

use std::{cell::Cell, sync::Arc};

use svc_site::{
    Settings, SiteResult,
    widgets::{instance::Instance, sidebar::Sidebar, store::parse_id},
};
use svc_store::Db;
use svc_text::{Html, esc_attr, html};

use crate::{
    SiteRenderer,
    renderer::{
        viewer::BlockViewer,
        widget_types::{WidgetContext, WidgetType},
    },
};

/// Markup around widgets.
fn registered(markup: &str) -> Html {
    Html::trusted(markup, "the markup of a sidebar, which a theme or an extension registers")
}

/// Fills the placeholders in a sidebar's markup.
fn fill_placeholders(markup: &str, id: &Html, class: &Html) -> Html {
    registered(&markup.replace("%1$s", id).replace("%2$s", class))
}

/// The class names of a widget.
fn classes(widget_type: &dyn WidgetType, instance: &Instance) -> Html {
    let mut classes = vec![widget_type.class()];
    classes.extend(widget_type.classes_of(instance));
    esc_attr(&classes.join(" "))
}

/// Renders a widget in a sidebar.
///
/// # Errors
/// Errors of the store.
pub fn in_sidebar(
    db: &mut Db,
    renderer: &Arc<SiteRenderer>,
    settings: &Settings,
    (viewer, has_category_menu): (&BlockViewer, &Cell<bool>),
    sidebar: &Sidebar,
    (id, widget_type, instance): (&str, &dyn WidgetType, &Instance),
) -> SiteResult<Html> {
    let (before_title, after_title) = (&registered(&sidebar.before_title), &registered(&sidebar.after_title));
    let number = parse_id(id).map_or(-1, |(_, number)| number);
    let mut context = WidgetContext {
        db,
        site: &renderer.site,
        renderer,
        settings,
        viewer,
        number,
        has_category_menu,
        before_title,
        after_title,
    };
    let Some(html) = widget_type.render(&mut context, instance)? else { return Ok(Html::new()) };
    let id = esc_attr(id);
    let before = fill_placeholders(&sidebar.before_widget, &id, &classes(widget_type, instance));
    let after = fill_placeholders(&sidebar.after_widget, &id, &Html::new());
    Ok(html!("{}{}{}", with_text_class(widget_type, before), html, after).trimmed())
}

/// Renders the preview of a widget, outside a sidebar.
///
/// # Errors
/// Errors of the store.
pub fn preview(
    db: &mut Db,
    renderer: &Arc<SiteRenderer>,
    settings: &Settings,
    viewer: &BlockViewer,
    widget_type: &dyn WidgetType,
    instance: &Instance,
) -> SiteResult<Html> {
    let (before_title, after_title) = (&Html::from("<h2 class=\"widgettitle\">"), &Html::from("</h2>"));
    let (number, has_category_menu) = (-1, &Cell::new(false));
    let mut context = WidgetContext {
        db,
        site: &renderer.site,
        renderer,
        settings,
        viewer,
        number,
        has_category_menu,
        before_title,
        after_title,
    };
    let Some(html) = widget_type.render(&mut context, instance)? else { return Ok(Html::new()) };
    let before = html!("<div class=\"widget {}\">", classes(widget_type, instance));
    Ok(html!("{}{}</div>", with_text_class(widget_type, before), html))
}

/// Adds the class of text widgets to Custom HTML widgets, for themes that style only the former.
fn with_text_class(widget_type: &dyn WidgetType, before: Html) -> Html {
    if widget_type.id_base() == "custom_html" {
        registered(&before.replacen("class=\"", "class=\"widget_text ", 1))
    } else {
        before
    }
}
