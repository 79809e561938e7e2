//! Renders navigation menus as nested lists of links.

use std::collections::HashMap;

use svc_auth::Caller;
use svc_model::Term;
use svc_site::{
    Settings, Site, SiteResult,
    menus::item::{self, NavItem},
};
use svc_store::Db;
use svc_text::{Html, esc_attr, esc_url, html};

use crate::content as render;

/// Maximum nesting depth.
const MAX_DEPTH: usize = 20;

/// The published items of a menu as HTML for this viewer, in menu order. Invalid items are left out.
///
/// # Errors
/// Errors of the store.
pub(crate) fn render_menu(
    db: &mut Db,
    site: &Site,
    settings: &Settings,
    viewer: &Caller,
    menu: &Term,
) -> SiteResult<Html> {
    let items = item::published(db, site, settings, viewer, menu.id)?;
    let mut children: HashMap<i64, Vec<&NavItem>> = HashMap::new();
    let valid: Vec<&NavItem> = items.iter().filter(|item| !item.target.invalid).collect();
    for item in &valid {
        let parent = item.parent();
        let has_parent = valid.iter().any(|other| other.post.id.0 == parent);
        children.entry(if has_parent { parent } else { 0 }).or_default().push(item);
    }
    Ok(render_level(0, &children, MAX_DEPTH))
}

fn render_level(parent: i64, children: &HashMap<i64, Vec<&NavItem>>, depth: usize) -> Html {
    let Some(depth) = depth.checked_sub(1) else { return Html::new() };
    children
        .get(&parent)
        .into_iter()
        .flatten()
        .map(|item| render_item(item, &render_level(item.post.id.0, children, depth)))
        .collect()
}

fn render_item(item: &NavItem, inner: &Html) -> Html {
    let (id, kind, object) = (item.post.id, item.kind().name(), item.text("_menu_item_object"));
    let mut classes = item.classes();
    classes.retain(|class| !class.is_empty());
    classes.push("menu-item".to_owned());
    classes.push(format!("menu-item-type-{kind}"));
    classes.push(format!("menu-item-object-{object}"));
    if !inner.is_empty() {
        classes.push("menu-item-has-children".to_owned());
    }
    classes.push(format!("menu-item-{id}"));
    let title = render::menu_item_text(&item.post.excerpt);
    let attributes =
        [("title", title.as_str()), ("target", item.text("_menu_item_target")), ("rel", item.text("_menu_item_xfn"))];
    let mut link = Html::new();
    for (name, value) in attributes.iter().filter(|(_, value)| !value.is_empty()) {
        link.push(html!("{}=\"{}\" ", name, esc_attr(value)));
    }
    let href = esc_url(item.target.url.as_deref().unwrap_or_default());
    let list = if inner.is_empty() { Html::new() } else { html!("\n<ul class=\"sub-menu\">\n{}</ul>\n", inner) };
    html!(
        "<li id=\"menu-item-{}\" class=\"{}\"><a {}href=\"{}\">{}</a>{}</li>\n",
        id.0,
        esc_attr(&classes.join(" ")),
        link,
        href,
        render::title(item.title()),
        list
    )
}
