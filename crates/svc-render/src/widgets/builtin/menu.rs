//! The Navigation Menu widget.

use svc_model::TermId;
use svc_site::{SiteResult, menus::item::MENU, widgets::instance::Instance};
use svc_store::terms;
use svc_text::{Html, esc_attr, html};

use crate::{
    menus::render_menu,
    renderer::widget_types::WidgetContext,
    widgets::builtin::simple::{Input, SimpleWidget},
};

/// The widget type of this module.
#[rustfmt::skip]
pub(crate) const TYPE: SimpleWidget = SimpleWidget {
    id_base: "nav_menu", name: "Navigation Menu", description: "Shows a navigation menu.", class: "widget_nav_menu",
    settings: &[("title", "Title:", Input::Text), ("nav_menu", "Menu ID:", Input::Number(0))], partial_update: true, render,
};

fn render(context: &mut WidgetContext<'_>, instance: &Instance) -> SiteResult<Option<Html>> {
    let id = TermId(instance.number("nav_menu"));
    let Some(menu) = (if id.0 > 0 { terms::get(context.db, id, Some(MENU))? } else { None }) else {
        return Ok(None);
    };
    let items = render_menu(context.db, context.site, context.settings, &context.viewer.caller, &menu)?;
    let (title, slug) = (context.title(instance, ""), esc_attr(&menu.slug));
    Ok(Some(html!(
        "{}<div class=\"menu-{slug}-container\"><ul id=\"menu-{slug}\" class=\"menu\">{}</ul></div>",
        title,
        items,
        slug = slug
    )))
}
