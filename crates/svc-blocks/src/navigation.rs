//! Menus: their links, and the button that opens them on small screens.

use svc_content::kses;
use svc_model::PostId;
use svc_text::{esc_attr, esc_url, strip_all_tags};

use crate::{core::Call, posts::classes};

/// What the script of menus needs on an item with items below it.
pub(crate) const SUBMENU_BEHAVIOUR: &str = "data-wp-context=\"{ &quot;submenuOpenedBy&quot;: { &quot;click&quot;: false, &quot;hover&quot;: false, &quot;focus&quot;: false }, &quot;type&quot;: &quot;submenu&quot;, &quot;modal&quot;: null, &quot;previousFocus&quot;: null }\" data-wp-interactive=\"core/navigation\" data-wp-on--focusout=\"actions.handleMenuFocusout\" data-wp-on--keydown=\"actions.handleMenuKeydown\" data-wp-on--pointerenter=\"actions.openMenuOnHover\" data-wp-on--pointerleave=\"actions.closeMenuOnHover\" data-wp-watch=\"callbacks.initMenu\" tabindex=\"-1\" ";
const SUBMENU_ICON: &str = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"12\" height=\"12\" viewBox=\"0 0 12 12\" fill=\"none\" aria-hidden=\"true\" focusable=\"false\"><path d=\"M1.50002 4L6.00002 8L10.5 4\" stroke-width=\"1.5\"></path></svg>";
const OPEN_ICON: &str = "<svg width=\"24\" height=\"24\" xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 24 24\" aria-hidden=\"true\" focusable=\"false\"><path d=\"M4 7.5h16v1.5H4z\"></path><path d=\"M4 15h16v1.5H4z\"></path></svg>";
const CLOSE_ICON: &str = "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 24 24\" width=\"24\" height=\"24\" aria-hidden=\"true\" focusable=\"false\"><path d=\"m13.06 12 6.47-6.47-1.06-1.06L12 10.94 5.53 4.47 4.47 5.53 10.94 12l-6.47 6.47 1.06 1.06L12 13.06l6.47 6.47 1.06-1.06L13.06 12Z\"></path></svg>";

/// The button that opens the items below one.
pub(crate) fn submenu_button(label: &str) -> String {
    let label = esc_attr(&format!("{} submenu", strip_all_tags(label, false)));
    format!(
        "<button data-wp-bind--aria-expanded=\"state.isSubmenuOpen\" data-wp-on--click=\"actions.toggleMenuOnClick\" aria-label=\"{label}\" class=\"wp-block-navigation__submenu-icon wp-block-navigation-submenu__toggle\" >{SUBMENU_ICON}</button>"
    )
}

/// The link of an item: its label and what is said of it.
fn link(call: &Call<'_>, spaced: bool) -> String {
    let url = call.text("url");
    let mut out = format!("<a class=\"wp-block-navigation-item__content\"{}", if spaced { " " } else { "" });
    if !url.is_empty() {
        out.push_str(&format!(" href=\"{}\"", esc_url(url)));
    }
    if call.is("opensInNewTab") {
        out.push_str(" target=\"_blank\"  ");
    }
    for (attribute, value) in [("rel", call.text("rel")), ("title", call.text("title"))] {
        if !value.is_empty() {
            out.push_str(&format!(" {attribute}=\"{}\"", esc_attr(value)));
        }
    }
    out.push_str(&format!(
        "><span class=\"wp-block-navigation-item__label\">{}</span>",
        kses::post(call.text("label"))
    ));
    if !call.text("description").is_empty() {
        let description = kses::post(call.text("description"));
        out.push_str(&format!("<span class=\"wp-block-navigation-item__description\">{description}</span>"));
    }
    out.push_str("</a>");
    out
}

/// Whether the thing that an item leads to is there for everybody.
fn leads_somewhere(call: &Call<'_>) -> bool {
    let id = call.number("id").unwrap_or_default();
    if id <= 0 || call.text("kind") != "post-type" {
        return true;
    }
    call.data().post(PostId(id)).is_some_and(|post| post.post.status == "publish" || post.post.status == "inherit")
}

pub(crate) fn item(call: &Call<'_>) -> String {
    if call.text("label").is_empty() || !leads_somewhere(call) {
        return String::new();
    }
    let has_child = !call.block.inner_blocks.is_empty();
    let inside = if has_child {
        format!(
            "{}<ul class=\"wp-block-navigation__submenu-container\">{}</ul>",
            submenu_button(call.text("label")),
            call.content
        )
    } else {
        String::new()
    };
    let class = classes(&["wp-block-navigation-item", if has_child { "has-child" } else { "" }]);
    format!("<li {}>{}{inside}</li>", call.wrapper_with(&[&class]), link(call, true))
}

pub(crate) fn submenu(call: &Call<'_>) -> String {
    if call.text("label").is_empty() || !leads_somewhere(call) {
        return String::new();
    }
    let class = classes(&["wp-block-navigation-item", "has-child"]);
    let inside = if call.content.is_empty() {
        String::new()
    } else {
        format!(
            "<ul class=\"wp-block-navigation__submenu-container wp-block-navigation-submenu\">{}</ul>",
            call.content
        )
    };
    format!("<li {}>{}{inside}</li>", call.wrapper_with(&[&class]), link(call, false))
}

pub(crate) fn overlay_close(call: &Call<'_>) -> String {
    let text = if call.text("text").is_empty() { "Close" } else { call.text("text") };
    let icon = CLOSE_ICON;
    let (inside, label) = match call.text("displayMode") {
        "text" => (kses::post(text), String::new()),
        "both" => (
            format!("{icon}<span class=\"wp-block-navigation-overlay-close__text\">{}</span>", kses::post(text)),
            String::new(),
        ),
        _ => (icon.to_owned(), " aria-label=\"Close\"".to_owned()),
    };
    format!("<button {} type=\"button\"{label} >{inside}</button>", call.wrapper(&[]))
}

pub(crate) fn navigation(call: &Call<'_>) -> String {
    let chosen = call.number("ref").filter(|id| *id > 0).map(PostId);
    let own = !call.block.inner_blocks.is_empty() && chosen.is_none();
    let items = call.within([("isNavigation", true.into())], || {
        if own {
            items(call)
        } else {
            let Some(content) = call.data().menu(chosen) else { return String::new() };
            let name = format!("menu {}", chosen.map_or(0, |id| id.0));
            call.content_of(name, |context| {
                let blocks = svc_content::blocks::parse(&content);
                blocks.iter().filter(|b| b.name.is_some()).map(|b| context.renderer.render_block(b)).collect()
            })
        }
    });
    let responsive = !matches!(call.text("overlayMenu"), "never");
    let list = if items.is_empty() {
        String::new()
    } else {
        let class = classes(&["wp-block-navigation__container", if responsive { "is-responsive" } else { "" }]);
        format!("<ul {}>{items}</ul>", call.wrapper_without_id(&class))
    };
    if list.is_empty() && !responsive {
        return String::new();
    }
    let name = call.text("ariaLabel").to_owned();
    let class = classes(&[
        if responsive { "is-responsive" } else { "" },
        &match call.text("itemsJustification") {
            "" => String::new(),
            side => format!("items-justified-{side}"),
        },
    ]);
    let look = call.wrapper(&[("class", &class), ("aria-label", &name)]);
    if !responsive {
        return format!("<nav {look}>{list}</nav>");
    }
    format!("<nav {look} {}</nav>", overlay(call, &list))
}

/// The blocks of the menu that stand in the block itself.
fn items(call: &Call<'_>) -> String {
    call.block.inner_blocks.iter().map(|block| call.renderer.render_block(block)).collect()
}

/// The menu with the buttons that open and close it over the page.
fn overlay(call: &Call<'_>, list: &str) -> String {
    let id = format!("modal-{}", call.next_id());
    let always = if call.text("overlayMenu") == "always" { " always-shown" } else { "" };
    let hidden = if call.text("overlayMenu") == "always" { " hidden-by-default" } else { "" };
    let has_icon = call.attr("hasIcon").is_null() || call.is("hasIcon");
    let (open, close) = if has_icon { (OPEN_ICON, CLOSE_ICON) } else { ("Menu", "Close") };
    let open_label = if has_icon { "aria-label=\"Open menu\" " } else { "" };
    let close_label = if has_icon { "aria-label=\"Close menu\" " } else { "" };
    format!(
        concat!(
            "\n\t\t data-wp-interactive=\"core/navigation\" data-wp-context='{{\"overlayOpenedBy\":{{\"click\":false,\"hover\":false,\"focus\":false}},\"type\":\"overlay\",\"roleAttribute\":\"\",\"ariaLabel\":\"Menu\"}}'>",
            "<button aria-haspopup=\"dialog\" {open_label}class=\"wp-block-navigation__responsive-container-open{always}\" \n\t\t\t\tdata-wp-on--click=\"actions.openMenuOnClick\"\n\t\t\t\tdata-wp-on--keydown=\"actions.handleMenuKeydown\"\n\t\t\t>{open}</button>\n\t\t\t\t",
            "<div class=\"wp-block-navigation__responsive-container{hidden}\"  id=\"{id}\" \n\t\t\t\tdata-wp-class--has-modal-open=\"state.isMenuOpen\"\n\t\t\t\tdata-wp-class--is-menu-open=\"state.isMenuOpen\"\n\t\t\t\tdata-wp-watch=\"callbacks.initMenu\"\n\t\t\t\tdata-wp-on--keydown=\"actions.handleMenuKeydown\"\n\t\t\t\tdata-wp-on--focusout=\"actions.handleMenuFocusout\"\n\t\t\t\ttabindex=\"-1\"\n\t\t\t>\n\t\t\t\t\t",
            "<div class=\"wp-block-navigation__responsive-close\" tabindex=\"-1\">\n\t\t\t\t\t\t<div class=\"wp-block-navigation__responsive-dialog\" \n\t\t\t\tdata-wp-bind--aria-modal=\"state.ariaModal\"\n\t\t\t\tdata-wp-bind--aria-label=\"state.ariaLabel\"\n\t\t\t\tdata-wp-bind--role=\"state.roleAttribute\"\n\t\t\t>\n\t\t\t\t\t\t\t",
            "<button {close_label}class=\"wp-block-navigation__responsive-container-close\" \n\t\t\t\tdata-wp-on--click=\"actions.closeMenuOnClick\"\n\t\t\t>{close}</button>\n\t\t\t\t\t\t\t",
            "<div class=\"wp-block-navigation__responsive-container-content\" \n\t\t\t\tdata-wp-watch=\"callbacks.focusFirstElement\"\n\t\t\t id=\"{id}-content\">\n\t\t\t\t\t\t\t\t{list}\n\t\t\t\t\t\t\t\t\n\t\t\t\t\t\t\t</div>\n\t\t\t\t\t\t</div>\n\t\t\t\t\t</div>\n\t\t\t\t</div>",
        ),
        open_label = open_label,
        always = always,
        open = open,
        hidden = hidden,
        id = id,
        close_label = close_label,
        close = close,
        list = list,
    )
}
