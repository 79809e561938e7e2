//! The Navigation Menu widget.

use svc_model::TermId;
use svc_site::{SiteResult, menus::item::MENU, widgets::instance::Instance};
use svc_store::terms;

use crate::{
    menus::shown,
    widgets::{
        kinds::simple::{Input, SimpleWidget},
        show::Showing,
    },
};

/// The widget type of this module.
#[rustfmt::skip]
pub const KIND: SimpleWidget = SimpleWidget {
    id_base: "nav_menu", name: "Navigation Menu", description: "Shows a navigation menu.", class: "widget_nav_menu",
    settings: &[("title", "Title:", Input::Text), ("nav_menu", "Menu ID:", Input::Number(0))], only_given: true, show,
};

fn show(on: &mut Showing<'_>, instance: &Instance) -> SiteResult<Option<String>> {
    let id = TermId(instance.number("nav_menu"));
    let Some(menu) = (if id.0 > 0 { terms::get(on.db, id, Some(MENU))? } else { None }) else {
        return Ok(None);
    };
    let items = shown(on.db, on.site, on.settings, &menu)?;
    let (title, slug) = (on.title(instance, ""), svc_text::esc_attr(&menu.slug));
    Ok(Some(format!(
        "{title}<div class=\"menu-{slug}-container\"><ul id=\"menu-{slug}\" class=\"menu\">{items}</ul></div>"
    )))
}
