//! Navigation blocks: menus, their links and submenus, and the overlay on small screens.

use svc_content::{block_render::Renderer, blocks::Block, kses};
use svc_model::PostId;
use svc_text::{Html, esc_attr, esc_url, html, strip_all_tags};

use crate::{
    core::{BlockCall, root_of},
    html::classes,
};

/// Script attributes of an item with a submenu, before and after [`HOVER_ATTRIBUTES`].
const SUBMENU_ATTRIBUTES: [&str; 2] = [
    "data-wp-context=\"{ &quot;submenuOpenedBy&quot;: { &quot;click&quot;: false, &quot;hover&quot;: false, &quot;focus&quot;: false }, &quot;type&quot;: &quot;submenu&quot;, &quot;modal&quot;: null, &quot;previousFocus&quot;: null }\" data-wp-interactive=\"core/navigation\" data-wp-on--focusout=\"actions.handleMenuFocusout\" data-wp-on--keydown=\"actions.handleMenuKeydown\" ",
    "data-wp-watch=\"callbacks.initMenu\" tabindex=\"-1\" ",
];
const HOVER_ATTRIBUTES: &str =
    "data-wp-on--pointerenter=\"actions.openMenuOnHover\" data-wp-on--pointerleave=\"actions.closeMenuOnHover\" ";

/// How submenus are opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SubmenuOpening {
    /// By hovering or by a button.
    Hover,
    /// By clicking on the item.
    Click,
    /// Always open.
    Always,
    /// By hovering; there is no button.
    HoverOnly,
}

impl SubmenuOpening {
    /// The setting of the surrounding menu; `None` outside of menus.
    pub(crate) fn around(call: &BlockCall<'_>) -> Option<Self> {
        if call.context_value("isNavigation") != true {
            return None;
        }
        let shows_button = call.context_value("showSubmenuIcon");
        Some(match call.context_value("submenuVisibility").as_str() {
            _ if svc_php::cast::truthy(&call.context_value("openSubmenusOnClick")) => SubmenuOpening::Click,
            Some("click") => SubmenuOpening::Click,
            Some("always") => SubmenuOpening::Always,
            _ if shows_button.is_null() || svc_php::cast::truthy(&shows_button) => SubmenuOpening::Hover,
            _ => SubmenuOpening::HoverOnly,
        })
    }

    pub(crate) fn class(self) -> &'static str {
        match self {
            SubmenuOpening::Hover => "open-on-hover-click",
            SubmenuOpening::Click => "open-on-click",
            SubmenuOpening::Always => "open-always",
            SubmenuOpening::HoverOnly => "",
        }
    }

    /// Script attributes of an item with a submenu.
    pub(crate) fn script_attributes(self) -> Html {
        let pointers =
            if matches!(self, SubmenuOpening::Hover | SubmenuOpening::HoverOnly) { HOVER_ATTRIBUTES } else { "" };
        [SUBMENU_ATTRIBUTES[0], pointers, SUBMENU_ATTRIBUTES[1]].into_iter().collect()
    }

    /// Script attributes of the submenu's list.
    pub(crate) fn list_attributes(self) -> &'static str {
        if self == SubmenuOpening::HoverOnly { "" } else { "data-wp-on--focus=\"actions.openMenuOnFocus\" " }
    }

    /// The button after an item. Empty if the item itself is the button.
    pub(crate) fn button(self, label: &str) -> Html {
        if matches!(self, SubmenuOpening::Hover | SubmenuOpening::Always) { submenu_button(label) } else { Html::new() }
    }

    /// An item that is itself the submenu's button, with its icon.
    pub(crate) fn toggle(label: &str, inside: &Html, classes: [&'static str; 2]) -> Html {
        let label = esc_attr(&format!("{} submenu", strip_all_tags(label, false)));
        let [class, icon_class] = classes;
        html!(
            "<button data-wp-bind--aria-expanded=\"state.isSubmenuOpen\" data-wp-on--click=\"actions.toggleMenuOnClick\" aria-label=\"{}\" class=\"{}wp-block-navigation-item__content wp-block-navigation-submenu__toggle\" >{}</button><span class=\"{}wp-block-navigation__submenu-icon\">{}</span>",
            label,
            class,
            inside,
            icon_class,
            SUBMENU_ICON
        )
    }
}

/// The colours of a menu, as classes of presets and custom declarations.
struct Colors {
    classes: Vec<String>,
    css: Vec<String>,
}

impl Colors {
    /// `text` and `background` are the attributes of the text and background colours: preset and custom.
    fn of(read: impl Fn(&str) -> String, text: [&str; 2], background: [&str; 2]) -> Self {
        let mut colors = Colors { classes: Vec::new(), css: Vec::new() };
        let rows = [
            (text, "has-text-color", "color", "color"),
            (background, "has-background", "background-color", "background-color"),
        ];
        for ([preset, custom], class, ending, property) in rows {
            let (preset, custom) = (read(preset), read(custom));
            if preset.is_empty() && custom.is_empty() {
                continue;
            }
            colors.classes.push(class.to_owned());
            if preset.is_empty() {
                colors.css.push(format!("{property}: {custom}"));
            } else {
                colors.classes.push(format!("has-{preset}-{ending}"));
            }
        }
        colors
    }

    fn class(&self) -> String {
        self.classes.join(" ")
    }

    fn css(&self) -> String {
        svc_content::css::filter_declarations(&self.css.join(";"))
    }
}

/// The colours that a menu provides to its items; `is_overlay` for those of the overlay.
pub(crate) fn context_colors(call: &BlockCall<'_>, is_overlay: bool) -> (String, String) {
    let read = |name: &str| match call.context_value(name).as_str() {
        Some(text) => text.to_owned(),
        None => String::new(),
    };
    let own =
        |part: &'static str| call.context_value("style")["color"][part].as_str().map(str::to_owned).unwrap_or_default();
    let colors = if is_overlay {
        Colors::of(
            read,
            ["overlayTextColor", "customOverlayTextColor"],
            ["overlayBackgroundColor", "customOverlayBackgroundColor"],
        )
    } else {
        let custom = |name: &str| match (name, read(name)) {
            ("customTextColor", text) if text.is_empty() => own("text"),
            ("customBackgroundColor", text) if text.is_empty() => own("background"),
            (_, text) => text,
        };
        Colors::of(custom, ["textColor", "customTextColor"], ["backgroundColor", "customBackgroundColor"])
    };
    (colors.class(), colors.css())
}

const SUBMENU_ICON: &str = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"12\" height=\"12\" viewBox=\"0 0 12 12\" fill=\"none\" aria-hidden=\"true\" focusable=\"false\"><path d=\"M1.50002 4L6.00002 8L10.5 4\" stroke-width=\"1.5\"></path></svg>";
const OPEN_ICON: &str = "<svg width=\"24\" height=\"24\" xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 24 24\" aria-hidden=\"true\" focusable=\"false\"><path d=\"M4 7.5h16v1.5H4z\"></path><path d=\"M4 15h16v1.5H4z\"></path></svg>";
const OVERLAY_CLOSE_ICON: &str = "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 24 24\" width=\"24\" height=\"24\" aria-hidden=\"true\" focusable=\"false\"><path d=\"M13 11.8l6.1-6.3-1.1-1-6.1 6.2-6.1-6.2-1.1 1 6.1 6.3-6.5 6.7 1.1 1 6.5-6.6 6.5 6.6 1.1-1z\" /></svg>";
const CLOSE_ICON: &str = "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 24 24\" width=\"24\" height=\"24\" aria-hidden=\"true\" focusable=\"false\"><path d=\"m13.06 12 6.47-6.47-1.06-1.06L12 10.94 5.53 4.47 4.47 5.53 10.94 12l-6.47 6.47 1.06 1.06L12 13.06l6.47 6.47 1.06-1.06L13.06 12Z\"></path></svg>";

/// The colour presets that a menu provides to its items.
pub(crate) fn context_presets(call: &BlockCall<'_>) -> (String, String) {
    let read = |name: &str| call.context_value(name).as_str().map(str::to_owned).unwrap_or_default();
    let colors = Colors::of(read, ["textColor", ""], ["backgroundColor", ""]);
    (colors.class(), colors.css())
}

/// The button that opens a submenu.
pub(crate) fn submenu_button(label: &str) -> Html {
    let label = esc_attr(&format!("{} submenu", strip_all_tags(label, false)));
    html!(
        "<button data-wp-bind--aria-expanded=\"state.isSubmenuOpen\" data-wp-on--click=\"actions.toggleMenuOnClick\" aria-label=\"{}\" class=\"wp-block-navigation__submenu-icon wp-block-navigation-submenu__toggle\" >{}</button>",
        label,
        SUBMENU_ICON
    )
}

/// The link of an item, with its label and description.
fn link(call: &BlockCall<'_>, spaced: bool) -> Html {
    let mut out = html!("<a class=\"wp-block-navigation-item__content\"{}", if spaced { " " } else { "" });
    if let Some(url) = call.attr("url").as_str().filter(|url| spaced || !url.is_empty()) {
        out.push(html!(" href=\"{}\"", esc_url(url)));
    }
    if call.is("opensInNewTab") {
        out.push(" target=\"_blank\"  ");
    }
    for (attribute, value) in [("rel", call.text("rel")), ("title", call.text("title"))] {
        if !value.is_empty() {
            out.push(html!(" {}=\"{}\"", attribute, esc_attr(value)));
        }
    }
    out.push(html!("><span class=\"wp-block-navigation-item__label\">{}</span>", kses::post(call.text("label"))));
    if !call.text("description").is_empty() {
        let description = kses::post(call.text("description"));
        out.push(html!("<span class=\"wp-block-navigation-item__description\">{}</span>", description));
    }
    out.push("</a>");
    out
}

/// Whether the item's target is not a post, or is a published one.
fn has_target(call: &BlockCall<'_>) -> bool {
    let id = call.number("id").unwrap_or_default();
    if id <= 0 || call.text("kind") != "post-type" {
        return true;
    }
    call.data().post(PostId(id)).is_some_and(|post| post.post.status == "publish" || post.post.status == "inherit")
}

pub(crate) fn item(call: &BlockCall<'_>) -> Html {
    if call.text("label").is_empty() || !has_target(call) {
        return Html::new();
    }
    let has_child = !call.block.inner_blocks.is_empty();
    let inside = if has_child {
        html!(
            "{}<ul class=\"wp-block-navigation__submenu-container\">{}</ul>",
            submenu_button(call.text("label")),
            call.content
        )
    } else {
        Html::new()
    };
    let class = classes(&["wp-block-navigation-item", if has_child { "has-child" } else { "" }]);
    html!("<li {}>{}{}</li>", call.wrapper_with(&[&class]), link(call, true), inside)
}

pub(crate) fn submenu(call: &BlockCall<'_>) -> Html {
    if call.text("label").is_empty() || !has_target(call) {
        return Html::new();
    }
    let opening = SubmenuOpening::around(call);
    let has_child = !call.block.inner_blocks.is_empty();
    let class = classes(&[
        "wp-block-navigation-item",
        if has_child { "has-child" } else { "" },
        opening.map_or("", SubmenuOpening::class),
    ]);
    let link_or_toggle = if opening == Some(SubmenuOpening::Click) && has_child {
        let inside = html!("<span class=\"wp-block-navigation-item__label\">{}</span>", kses::post(call.text("label")));
        SubmenuOpening::toggle(call.text("label"), &inside, ["", ""])
    } else {
        link(call, false)
    };
    let inside = if has_child {
        let (colors, css) = context_colors(call, true);
        let class = classes(&["wp-block-navigation__submenu-container", &colors, "wp-block-navigation-submenu"]);
        let style =
            if css.is_empty() { Html::new() } else { html!("style=\"{}\" ", esc_attr(&css.replace(": ", ":"))) };
        html!(
            "{}<ul {}{}class=\"{}\">{}</ul>",
            opening.map_or_else(Html::new, |opening| opening.button(call.text("label"))),
            opening.map_or("", SubmenuOpening::list_attributes),
            style,
            esc_attr(&class),
            call.content
        )
    } else {
        Html::new()
    };
    let script_attributes = opening.filter(|_| has_child).map_or_else(Html::new, SubmenuOpening::script_attributes);
    html!("<li {}{}>{}{}</li>", script_attributes, call.wrapper_with(&[&class]), link_or_toggle, inside)
}

pub(crate) fn overlay_close(call: &BlockCall<'_>) -> Html {
    let text = if call.text("text").is_empty() { "Close" } else { call.text("text") };
    let icon = OVERLAY_CLOSE_ICON;
    let (inside, label) = match call.text("displayMode") {
        "text" => (kses::post(text), ""),
        "both" => {
            (html!("{}<span class=\"wp-block-navigation-overlay-close__text\">{}</span>", icon, kses::post(text)), "")
        }
        _ => (Html::from(icon), " aria-label=\"Close\""),
    };
    html!("<button {} type=\"button\"{} >{}</button>", call.wrapper(&[]), label, inside)
}

pub(crate) fn navigation(call: &BlockCall<'_>) -> Html {
    let menu_id = call.number("ref").filter(|id| *id > 0).map(PostId);
    let own = !call.block.inner_blocks.is_empty() && menu_id.is_none();
    let stored = if own { None } else { call.data().menu(menu_id) };
    let menu = Menu::of(call);
    let list = call.within([("isNavigation", true.into())], || {
        if own {
            return menu.list(call.block.inner_blocks.iter(), call.renderer);
        }
        let Some(stored) = &stored else {
            // A site without menus has a list of its pages. WordPress puts it into a second list, which HTML does not allow.
            let pages = if menu_id.is_some() { Vec::new() } else { call.renderer.parse(PAGES, None) };
            return pages.iter().map(|block| call.renderer.render_block(block)).collect();
        };
        call.content_of(format!("menu {}", stored.post.id), |context| {
            let blocks = context.renderer.parse(&stored.post.content, Some(&root_of(stored)));
            menu.list(blocks.iter().filter(|b| b.name.is_some()), &context.renderer)
        })
    });
    if list.is_empty() && !menu.responsive {
        return Html::new();
    }
    let title = stored.filter(|_| menu_id.is_some()).map(|post| strip_all_tags(&post.title, false));
    let name = match call.text("ariaLabel") {
        "" => title.unwrap_or_default(),
        name => name.to_owned(),
    };
    let css = menu.colors.css();
    let attributes = call.wrapper(&[("class", &menu.class), ("style", &css), ("aria-label", &name)]);
    if !menu.responsive {
        return html!("<nav {}>{}</nav>", attributes, list);
    }
    html!("<nav {} {}</nav>", attributes, overlay(call, &list))
}

/// Blocks that are wrapped in a list item of the menu.
const WRAPPED_IN_ITEMS: [&str; 3] = ["core/site-logo", "core/site-title", "core/social-links"];
/// Blocks that are list items themselves.
const ITEMS: [&str; 4] = ["core/home-link", "core/navigation-link", "core/navigation-submenu", "core/page-list"];

/// The menu of a site that has none.
const PAGES: &str = "<!-- wp:page-list /-->";

/// The settings of a menu.
struct Menu<'c> {
    call: &'c BlockCall<'c>,
    responsive: bool,
    colors: Colors,
    class: String,
}

impl<'c> Menu<'c> {
    fn of(call: &'c BlockCall<'c>) -> Self {
        let responsive = call.text("overlayMenu") != "never";
        let read = |name: &str| match (name, call.text(name)) {
            ("customTextColor", "") => call.text("rgbTextColor").to_owned(),
            ("customBackgroundColor", "") => call.text("rgbBackgroundColor").to_owned(),
            (_, text) => text.to_owned(),
        };
        let colors = Colors::of(read, ["textColor", "customTextColor"], ["backgroundColor", "customBackgroundColor"]);
        let layout = call.attr("layout");
        let side = match (layout["justifyContent"].as_str(), call.text("itemsJustification")) {
            (Some(side @ ("left" | "right" | "center" | "space-between")), _) => format!("items-justified-{side}"),
            (_, "") => String::new(),
            (_, side) => format!("items-justified-{side}"),
        };
        let size = match call.text("fontSize") {
            "" => String::new(),
            size => format!("has-{size}-font-size"),
        };
        let line = match call.attr("style")["typography"]["textDecoration"].as_str() {
            Some(line) if !line.is_empty() => format!("has-text-decoration-{line}"),
            _ => String::new(),
        };
        let class = classes(&[
            &colors.class(),
            &size,
            if responsive { "is-responsive" } else { "" },
            &side,
            if layout["orientation"] == "vertical" { "is-vertical" } else { "" },
            if layout["flexWrap"] == "nowrap" { "no-wrap" } else { "" },
            &line,
        ]);
        Menu { call, responsive, colors, class }
    }

    /// The blocks of the menu. WordPress renders them twice, which is visible in numbered element ids.
    fn list<'b, 'a: 'b>(&self, blocks: impl Iterator<Item = &'b Block<'a>>, renderer: &Renderer<'_>) -> Html {
        let blocks: Vec<&Block<'_>> = blocks.collect();
        let before = renderer.last_id();
        let rendered = self.render_lists(&blocks, renderer);
        if renderer.last_id() == before { rendered } else { self.render_lists(&blocks, renderer) }
    }

    /// Renders consecutive items as lists, with other blocks between them.
    fn render_lists(&self, blocks: &[&Block<'_>], renderer: &Renderer<'_>) -> Html {
        let class = classes(&["wp-block-navigation__container", &self.class]);
        let open = html!("<ul {}>", self.call.wrapper(&[("class", &class), ("style", &self.colors.css())]));
        let (mut out, mut is_open) = (Html::new(), false);
        for block in blocks {
            let name = block.name.as_deref().unwrap_or_default();
            let html = renderer.render_block(block);
            if svc_text::trim(&html).is_empty() {
                continue;
            }
            let html = match WRAPPED_IN_ITEMS.contains(&name) {
                true => html!("<li class=\"wp-block-navigation-item\">{}</li>", html),
                false => html,
            };
            let wants_list = WRAPPED_IN_ITEMS.contains(&name) || ITEMS.contains(&name);
            if wants_list != is_open {
                match is_open {
                    true => out.push("</ul>"),
                    false => out.push(&open),
                }
                is_open = wants_list;
            }
            out.push(html);
        }
        out.push(if is_open { "</ul>" } else { "" });
        out
    }
}

/// The menu in its overlay, with the buttons that open and close it.
fn overlay(call: &BlockCall<'_>, list: &Html) -> Html {
    let id = html!("modal-{}", call.next_id());
    let always = if call.text("overlayMenu") == "always" { " always-shown" } else { "" };
    let hidden = if call.text("overlayMenu") == "always" { " hidden-by-default" } else { "" };
    let color_attribute = |name: &str| call.text(name).to_owned();
    let colors = Colors::of(
        color_attribute,
        ["overlayTextColor", "customOverlayTextColor"],
        ["overlayBackgroundColor", "customOverlayBackgroundColor"],
    );
    let style = match colors.css() {
        css if css.is_empty() => Html::new(),
        css => html!("style=\"{}\"", esc_attr(&css)),
    };
    let colors = match colors.class() {
        class if class.is_empty() => Html::new(),
        class => html!(" {}", esc_attr(&class)),
    };
    let has_icon = call.attr("hasIcon").is_null() || call.is("hasIcon");
    let (open, close) = if has_icon { (OPEN_ICON, CLOSE_ICON) } else { ("Menu", "Close") };
    let open_label = if has_icon { "aria-label=\"Open menu\"" } else { "" };
    let close_label = if has_icon { "aria-label=\"Close menu\"" } else { "" };
    html!(
        concat!(
            "\n\t\t data-wp-interactive=\"core/navigation\" data-wp-context='{{\"overlayOpenedBy\":{{\"click\":false,\"hover\":false,\"focus\":false}},\"type\":\"overlay\",\"roleAttribute\":\"\",\"ariaLabel\":\"Menu\"}}'>",
            "<button aria-haspopup=\"dialog\" {open_label} class=\"wp-block-navigation__responsive-container-open{always}\" \n\t\t\t\tdata-wp-on--click=\"actions.openMenuOnClick\"\n\t\t\t\tdata-wp-on--keydown=\"actions.handleMenuKeydown\"\n\t\t\t>{open}</button>\n\t\t\t\t",
            "<div class=\"wp-block-navigation__responsive-container{hidden}{colors}\" {style} id=\"{id}\" \n\t\t\t\tdata-wp-class--has-modal-open=\"state.isMenuOpen\"\n\t\t\t\tdata-wp-class--is-menu-open=\"state.isMenuOpen\"\n\t\t\t\tdata-wp-watch=\"callbacks.initMenu\"\n\t\t\t\tdata-wp-on--keydown=\"actions.handleMenuKeydown\"\n\t\t\t\tdata-wp-on--focusout=\"actions.handleMenuFocusout\"\n\t\t\t\ttabindex=\"-1\"\n\t\t\t>\n\t\t\t\t\t",
            "<div class=\"wp-block-navigation__responsive-close\" tabindex=\"-1\">\n\t\t\t\t\t\t<div class=\"wp-block-navigation__responsive-dialog\" \n\t\t\t\tdata-wp-bind--aria-modal=\"state.ariaModal\"\n\t\t\t\tdata-wp-bind--aria-label=\"state.ariaLabel\"\n\t\t\t\tdata-wp-bind--role=\"state.roleAttribute\"\n\t\t\t>\n\t\t\t\t\t\t\t",
            "<button {close_label} class=\"wp-block-navigation__responsive-container-close\" \n\t\t\t\tdata-wp-on--click=\"actions.closeMenuOnClick\"\n\t\t\t>{close}</button>\n\t\t\t\t\t\t\t",
            "<div class=\"wp-block-navigation__responsive-container-content\" \n\t\t\t\tdata-wp-watch=\"callbacks.focusFirstElement\"\n\t\t\t id=\"{id}-content\">\n\t\t\t\t\t\t\t\t{list}\n\t\t\t\t\t\t\t\t\n\t\t\t\t\t\t\t</div>\n\t\t\t\t\t\t</div>\n\t\t\t\t\t</div>\n\t\t\t\t</div>",
        ),
        open_label = open_label,
        always = always,
        open = open,
        hidden = hidden,
        colors = colors,
        style = style,
        id = id,
        close_label = close_label,
        close = close,
        list = list
    )
}
