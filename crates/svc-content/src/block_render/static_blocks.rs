//! Changes to the stored markup of static blocks when a page is rendered: classes, widths, and attributes for scripts
//! of interactive blocks.
//!
//! These depend only on the block, its type and the theme.

use serde_json::Value;

use crate::{
    blocks::Block,
    kses,
    tags::{Tag, TagChanges, Tags},
};

/// The surroundings of a block.
pub(super) struct Surroundings<'a> {
    pub(super) block: &'a Block<'a>,
    pub(super) parent: Option<&'a Block<'a>>,
    /// Returns the next number for element ids.
    pub(super) id: &'a dyn Fn() -> u64,
    /// Returns the next number of a gallery.
    pub(super) gallery: &'a dyn Fn() -> u64,
}

impl Surroundings<'_> {
    fn style(&self, path: &[&str]) -> &Value {
        path.iter().fold(&self.block["style"], |at, step| at.get(step).unwrap_or(&Value::Null))
    }

    /// A unique key for scripts: thirteen hexadecimal digits.
    fn key(&self) -> String {
        format!("{:013x}", 0x6_b000_0000_0000_u64 + (self.id)())
    }
}

const HEADINGS: [&str; 6] = ["h1", "h2", "h3", "h4", "h5", "h6"];

/// The rendered markup of a static block.
pub(super) fn render_static(name: &str, html: String, surroundings: &Surroundings<'_>) -> String {
    match name {
        "core/heading" => {
            add_class(html, |html, tag| HEADINGS.iter().any(|name| tag.is(html, name)), "wp-block-heading")
        }
        "core/list" => add_class(html, |html, tag| tag.is(html, "ul") || tag.is(html, "ol"), "wp-block-list"),
        "core/gallery" => gallery(html, surroundings),
        "core/image" => image(html, surroundings),
        "core/button" => button(html, surroundings),
        "core/file" if surroundings.block["displayPreview"] == true => preview(html),
        "core/accordion" => accordion(html, surroundings),
        "core/accordion-item" => accordion_item(html, surroundings),
        "core/tab-list" => tab_list(html, surroundings),
        "core/tabs" => tabs(html, surroundings),
        _ => html,
    }
}

fn add_class(html: String, predicate: impl Fn(&str, &Tag) -> bool, class: &str) -> String {
    let Some(tag) = Tags::new(&html).find(|tag| predicate(&html, tag)) else { return html };
    let mut changes = TagChanges::of(&html);
    changes.add_classes(&tag, [class]);
    changes.apply()
}

/// Sets attributes of the first tag; an empty value sets an attribute without a value.
fn set_first(html: String, attributes: &[(&str, &str)]) -> String {
    let Some(tag) = Tags::new(&html).next() else { return html };
    let mut changes = TagChanges::of(&html);
    set_all(&mut changes, &tag, attributes);
    changes.apply()
}

fn set_all(changes: &mut TagChanges<'_>, tag: &Tag, attributes: &[(&str, &str)]) {
    for (name, value) in attributes {
        if value.is_empty() { changes.set_boolean(tag, name) } else { changes.set(tag, name, value) }
    }
}

fn gallery(html: String, surroundings: &Surroundings<'_>) -> String {
    let class = format!("wp-block-gallery-{}", (surroundings.gallery)());
    let html = add_class(html, |_, _| true, &class);
    let has_lightbox = surroundings
        .block
        .inner_blocks
        .iter()
        .any(|inner| inner.name.as_deref() == Some("core/image") && inner["lightbox"]["enabled"] == true);
    if !has_lightbox {
        return html;
    }
    let context = format!("{{\"galleryId\":\"{}\"}}", surroundings.key());
    set_first(html, &[("data-wp-interactive", "core/gallery"), ("data-wp-context", &context)])
}

/// Script attributes of an image with a lightbox.
const LIGHTBOX_ATTRIBUTES: [(&str, &str); 9] = [
    ("data-wp-class--hide", "state.isContentHidden"),
    ("data-wp-class--show", "state.isContentVisible"),
    ("data-wp-init", "callbacks.setButtonStyles"),
    ("data-wp-on--click", "actions.showLightbox"),
    ("data-wp-on--load", "callbacks.setButtonStyles"),
    ("data-wp-on--pointerdown", "actions.preloadImage"),
    ("data-wp-on--pointerenter", "actions.preloadImageWithDelay"),
    ("data-wp-on--pointerleave", "actions.cancelPreload"),
    ("data-wp-on-window--resize", "callbacks.setButtonStyles"),
];

/// The button that opens the lightbox.
const LIGHTBOX_BUTTON: &str = include_str!("opener.html");

fn image(html: String, surroundings: &Surroundings<'_>) -> String {
    let Some(tag) = Tags::new(&html).find(|tag| tag.is(&html, "img")) else { return String::new() };
    if tag.value(&html, "src").unwrap_or_default().is_empty() {
        return String::new();
    }
    let block = surroundings.block;
    let in_gallery = surroundings.parent.is_some_and(|parent| parent.name.as_deref() == Some("core/gallery"));
    let data_id = if in_gallery { &block["id"] } else { &block["data-id"] };
    let links = !matches!(block["linkDestination"].as_str(), None | Some("" | "none"));
    let mut changes = TagChanges::of(&html);
    if svc_php::cast::truthy(data_id) {
        changes.set(&tag, "data-id", &svc_php::cast::to_text(data_id));
    }
    if block["lightbox"]["enabled"] == true && !links {
        let key = surroundings.key();
        set_all(&mut changes, &tag, &LIGHTBOX_ATTRIBUTES);
        changes.insert(tag.end(), LIGHTBOX_BUTTON.trim_end());
        if let Some(figure) = Tags::new(&html).find(|tag| tag.is(&html, "figure")) {
            let context = format!("{{\"imageId\":\"{key}\"}}");
            let of_figure =
                [("data-wp-interactive", "core/image"), ("data-wp-context", &context), ("data-wp-key", &key)];
            set_all(&mut changes, &figure, &of_figure);
            changes.add_classes(&figure, ["wp-lightbox-container"]);
        }
    }
    changes.apply()
}

fn button(html: String, surroundings: &Surroundings<'_>) -> String {
    if !has_label(&html) {
        return String::new();
    }
    let Some(width) = surroundings.style(&["dimensions", "width"]).as_str().filter(|text| !text.is_empty()) else {
        return html;
    };
    // Presets with numeric names are percentages.
    let value = match width.strip_prefix("var:preset|dimension|") {
        Some(name) if name.parse::<f64>().is_ok() => format!("{name}%"),
        Some(name) => format!("var(--wp--preset--dimension--{name})"),
        None => width.to_owned(),
    };
    let Some(tag) = Tags::new(&html).next() else { return html };
    let percent = value.strip_suffix('%').filter(|n| n.parse::<f64>().is_ok());
    let (css, mut classes) = match percent {
        Some(n) => (format!("--wp--block-button--width: {n};"), vec!["has-custom-width", "wp-block-button__width"]),
        None => (format!("width: {value};"), vec!["has-custom-width"]),
    };
    let width_class = format!("wp-block-button__width-{}", percent.unwrap_or_default());
    if matches!(percent, Some("25" | "50" | "75" | "100")) {
        classes.push(&width_class);
    }
    let own = tag.value(&html, "style").unwrap_or_default();
    let separator = if own.is_empty() { "" } else { " " };
    let mut changes = TagChanges::of(&html);
    changes.set_escaped(
        &tag,
        "style",
        &format!("{}{separator}{}", svc_text::esc_attr(&css), own.replace('"', "&quot;")),
    );
    changes.add_classes(&tag, classes);
    changes.apply()
}

/// Whether a button's link or button element is not empty, not counting comments. True for text without tags.
fn has_label(html: &str) -> bool {
    let mut tags = Tags::new(html).peekable();
    if tags.peek().is_none() {
        return true;
    }
    let Some(tag) = tags.find(|tag| tag.is(html, "a") || tag.is(html, "button")) else { return false };
    let mut rest = &html[tag.end()..];
    while let Some(comment) = rest.strip_prefix("<!--") {
        rest = comment.split_once("-->").map_or("", |(_, rest)| rest);
    }
    !rest.is_empty() && !rest.starts_with("</")
}

/// An embedded preview of a document, for browsers that support it.
fn preview(html: String) -> String {
    let mut tags = Tags::new(&html);
    let Some(first) = tags.next() else { return html };
    let Some(object) = tags.find(|tag| tag.is(&html, "object")) else { return html };
    let label = match object.value(&html, "aria-label") {
        None | Some("") => "PDF embed".to_owned(),
        Some(name) => format!("Embed of {}.", kses::strip(name)),
    };
    let mut changes = TagChanges::of(&html);
    changes.set(&first, "data-wp-interactive", "core/file");
    changes.set(&object, "aria-label", &label);
    set_all(&mut changes, &object, &[("data-wp-bind--hidden", "!state.hasPdfPreview"), ("hidden", "")]);
    changes.apply()
}

fn accordion(html: String, surroundings: &Surroundings<'_>) -> String {
    let context = format!("{{ \"autoclose\": {}, \"accordionItems\": [] }}", surroundings.block["autoclose"] == true);
    set_first(html, &[("data-wp-interactive", "core/accordion"), ("data-wp-context", &context)])
}

/// An accordion item: a heading that opens and closes its panel.
fn accordion_item(html: String, surroundings: &Surroundings<'_>) -> String {
    let with_class = |class: &str| Tags::new(&html).find(|tag| tag.has_class(&html, class));
    // A heading without a panel is unchanged.
    let (Some(item), Some(toggle), Some(panel)) = (
        with_class("wp-block-accordion-item"),
        with_class("wp-block-accordion-heading__toggle"),
        with_class("wp-block-accordion-panel"),
    ) else {
        return html;
    };
    let is_open = surroundings.block["openByDefault"] == true;
    let id = format!("accordion-item-{}", (surroundings.id)());
    let panel_id = format!("{id}-panel");
    let mut changes = TagChanges::of(&html);
    let context = format!("{{ \"id\": \"{id}\", \"openByDefault\": {is_open} }}");
    let of_item = [
        ("data-wp-context", context.as_str()),
        ("data-wp-class--is-open", "state.isOpen"),
        ("data-wp-init", "callbacks.initAccordionItems"),
        ("data-wp-on-window--hashchange", "callbacks.hashChange"),
    ];
    set_all(&mut changes, &item, &of_item);
    // Only items of an accordion have this attribute. As in WordPress, it precedes the other attributes.
    let is_known = surroundings.parent.is_some_and(|parent| parent.name.as_deref() == Some("core/accordion"));
    let expanded = if is_known { format!(" aria-expanded=\"{is_open}\"") } else { String::new() };
    changes.insert_first(&toggle, format!("{expanded} aria-controls=\"{panel_id}\""));
    let of_toggle =
        [("data-wp-bind--aria-expanded", "state.isOpen"), ("data-wp-on--click", "actions.toggle"), ("id", id.as_str())];
    set_all(&mut changes, &toggle, &of_toggle);
    let of_panel = [
        ("aria-labelledby", id.as_str()),
        ("data-wp-bind--hidden", "state.isHidden"),
        ("data-wp-on--beforematch", "actions.handleBeforeMatch"),
        ("id", &panel_id),
    ];
    set_all(&mut changes, &panel, &of_panel);
    changes.apply()
}

fn tab_list(html: String, surroundings: &Surroundings<'_>) -> String {
    let label = surroundings.block["ariaLabel"].as_str().filter(|label| !label.is_empty()).unwrap_or("Tabbed content");
    set_first(html, &[("aria-label", label)])
}

/// Tabs: a list of buttons and their panels.
fn tabs(html: String, surroundings: &Surroundings<'_>) -> String {
    let Some(first) = Tags::new(&html).next() else { return html };
    let anchor = surroundings.block["anchor"].as_str().filter(|anchor| !anchor.is_empty());
    let id = anchor.map_or_else(|| format!("tabs_{}", (surroundings.id)()), str::to_owned);
    // Nested tabs were already rendered.
    let is_new = |tag: &Tag, mark: &str| tag.value(&html, mark).is_none();
    let panels: Vec<(Tag, String)> = Tags::new(&html)
        .filter(|tag| tag.has_class(&html, "wp-block-tab-panel") && is_new(tag, "data-wp-bind--hidden"))
        .enumerate()
        .map(|(index, tag)| {
            let own = tag.value(&html, "id").filter(|own| !own.is_empty()).map(ToOwned::to_owned);
            (tag, own.unwrap_or_else(|| format!("{id}-tab-{index}")))
        })
        .collect();
    let buttons = Tags::new(&html).filter(|tag| {
        tag.has_class(&html, "wp-block-tab") && tag.is(&html, "button") && is_new(tag, "data-wp-context")
    });
    let mut changes = TagChanges::of(&html);
    let context =
        serde_json::json!({"tabsId": id, "activeTabIndex": surroundings.block["activeTabIndex"].as_i64().unwrap_or(0)});
    let of_tabs = [
        ("data-wp-context", context.to_string()),
        ("data-wp-init", "callbacks.onTabsInit".to_owned()),
        ("data-wp-interactive", "core/tabs".to_owned()),
        ("data-wp-on--keydown", "actions.handleTabKeyDown".to_owned()),
    ];
    of_tabs.iter().for_each(|(name, value)| changes.set(&first, name, value));
    for (index, (button, (_, panel))) in buttons.zip(&panels).enumerate() {
        let (context, own) = (format!("{{\"tabIndex\":{index}}}"), format!("tab__{panel}"));
        let of_button = [
            ("aria-controls", panel.as_str()),
            ("data-wp-bind--aria-selected", "state.isActiveTab"),
            ("data-wp-bind--tabindex", "state.tabIndexAttribute"),
            ("data-wp-context", &context),
            ("data-wp-on--click", "actions.handleTabClick"),
            ("data-wp-on--keydown", "actions.handleTabKeyDown"),
            ("id", &own),
        ];
        set_all(&mut changes, &button, &of_button);
    }
    for (panel, id) in &panels {
        let label = format!("tab__{id}");
        changes.insert_first(panel, " hidden".to_owned());
        let of_panel =
            [("aria-labelledby", label.as_str()), ("data-wp-bind--hidden", "!state.isActiveTab"), ("id", id)];
        set_all(&mut changes, panel, &of_panel);
    }
    changes.apply()
}

/// Attributes for the script that fits text to its container.
pub(super) fn fit_text(html: String) -> String {
    set_first(
        html,
        &[
            ("data-wp-context---core-fit-text", "core/fit-text::{\"fontSize\":\"\"}"),
            ("data-wp-init---core-fit-text", "core/fit-text::callbacks.init"),
            ("data-wp-interactive", ""),
            ("data-wp-style--font-size", "core/fit-text::context.fontSize"),
        ],
    )
}
