//! The search form.

use serde_json::Value;
use svc_content::{blocks::BlockType, kses};
use svc_text::{Html, esc_attr, esc_html, esc_url, html};

use crate::{core::BlockCall, supports};

/// A magnifying glass icon.
const ICON: &str = "<svg class=\"search-icon\" viewBox=\"0 0 24 24\" width=\"24\" height=\"24\">\n\t\t\t\t\t<path d=\"M13 5c-3.3 0-6 2.7-6 6 0 1.4.5 2.7 1.3 3.7l-3.8 3.8 1.1 1.1 3.8-3.8c1 .8 2.3 1.3 3.7 1.3 3.3 0 6-2.7 6-6S16.3 5 13 5zm0 10.5c-2.5 0-4.5-2-4.5-4.5s2-4.5 4.5-4.5 4.5 2 4.5 4.5-2 4.5-4.5 4.5z\"></path>\n\t\t\t\t</svg>";

pub(crate) fn search(call: &BlockCall<'_>) -> Html {
    let id = html!("wp-block-search__input-{}", call.next_id());
    let position = call.text("buttonPosition");
    let (has_button, only_button) = (position != "no-button", position == "button-only");
    let class = classes(call, has_button, only_button);
    let parts = SearchStyles::of(call, only_button);

    let script_attributes = if only_button { script_attributes(&id) } else { Html::new() };
    let width = width(call, &parts);
    html!(
        "<form role=\"search\" method=\"get\" action=\"{}\" {} {script_attributes}>{}<div class=\"wp-block-search__inside-wrapper{}\" {width}>{}{}{}</div></form>",
        esc_url(&format!("{}/", call.data().site_info().home)),
        call.wrapper_with(&[&class]),
        label(call, &id, &parts),
        parts.frame_class,
        input(call, &id, &parts, only_button),
        hidden_fields(call.attr("query")),
        if has_button { button(call, &id, &parts, only_button) } else { Html::new() },
        script_attributes = script_attributes,
        width = width
    )
}

/// The classes and styles for the parts of the form.
struct SearchStyles {
    /// Classes of the typography support.
    typography: String,
    typography_css: String,
    border: String,
    border_css: String,
    colors: String,
    colors_css: String,
    /// Classes of the wrapper around the field and the button.
    frame_class: Html,
    /// Whether the field and the button share a border.
    is_framed: bool,
}

impl SearchStyles {
    fn of(call: &BlockCall<'_>, _only_button: bool) -> Self {
        // The block type skips the serialization of these supports, since its renderer applies them to inner elements.
        let [color, typography, border] = ["color", "typography", "__experimentalBorder"]
            .map(|feature| supports::with_serialized_support(call.block_type, feature));
        let fluid = &call.renderer.theme().fluid;
        // Presets in the `style` attribute are declarations, not classes.
        let mut by_name = call.attrs.clone();
        by_name.retain(|name, _| name != "style");
        let typography = supports::typography(&typography, &by_name, fluid);
        let border_class = supports::border(&border, &call.attrs).classes.join(" ");
        let is_framed = call.text("buttonPosition") == "button-inside";
        SearchStyles {
            typography: typography.classes.join(" "),
            typography_css: typography_css(call),
            border_css: border_css(call),
            colors: colors(call, &color),
            colors_css: colors_css(call),
            frame_class: if is_framed && !border_class.is_empty() {
                html!(" {}", esc_attr(&border_class))
            } else {
                Html::new()
            },
            border: border_class,
            is_framed,
        }
    }
}

/// A style declaration of this block, whose values are written as stored.
fn declaration(name: &str, value: &Value) -> Option<String> {
    let text = svc_php::cast::to_text(value);
    let text = (svc_php::cast::truthy(value) && !value.is_object() && !value.is_array()).then_some(text)?;
    Some(svc_content::css::filter_declarations(&format!("{name}: {text}"))).filter(|css| !css.is_empty())
}

/// Typography declarations, in the order of this block.
fn typography_css(call: &BlockCall<'_>) -> String {
    let stored = &call.attr("style")["typography"];
    let size = supports::fluid_size(&stored["fontSize"], &call.renderer.theme().fluid);
    let rows = [
        ("font-size", &size),
        ("font-family", &stored["fontFamily"]),
        ("letter-spacing", &stored["letterSpacing"]),
        ("font-weight", &stored["fontWeight"]),
        ("font-style", &stored["fontStyle"]),
        ("line-height", &stored["lineHeight"]),
        ("text-transform", &stored["textTransform"]),
        ("text-decoration", &stored["textDecoration"]),
    ];
    rows.iter().filter_map(|(name, value)| declaration(name, value)).collect::<Vec<_>>().join(";")
}

/// Border declarations: width, colour and style, each for all sides and then for single ones, and radii last.
fn border_css(call: &BlockCall<'_>) -> String {
    let border = &call.attr("style")["border"];
    let mut css = Vec::new();
    for part in ["width", "color", "style"] {
        css.extend(declaration(&format!("border-{part}"), &border[part]));
        for side in ["top", "right", "bottom", "left"] {
            let value = supports::css_value(&border[side][part]).map_or(Value::Null, Value::from);
            css.extend(declaration(&format!("border-{side}-{part}"), &value));
        }
    }
    let length = |value: &Value| match value {
        Value::Number(pixels) => Value::from(format!("{pixels}px")),
        other => supports::css_value(other).map_or(Value::Null, Value::from),
    };
    match &border["radius"] {
        Value::Object(corners) => {
            for (name, corner) in supports::CORNERS {
                let value = corners.get(name).unwrap_or(&Value::Null);
                css.extend(declaration(&format!("border-{corner}-radius"), &length(value)));
            }
        }
        radius => css.extend(declaration("border-radius", &length(radius))),
    }
    css.join(";")
}

/// Colour classes, with the names of presets as stored.
fn colors(call: &BlockCall<'_>, color: &BlockType) -> String {
    let mut classes = Vec::new();
    let stored = &call.attr("style")["color"];
    for (attribute, part, class, ending) in [
        ("textColor", "text", "has-text-color", "color"),
        ("backgroundColor", "background", "has-background", "background-color"),
        ("gradient", "gradient", "has-background", "gradient-background"),
    ] {
        let (preset, support) = (call.text(attribute), if part == "gradient" { "gradients" } else { part });
        let is_on = color.has_support(&["color", support], part != "gradient");
        if !is_on || (preset.is_empty() && !svc_php::cast::truthy(&stored[part])) {
            continue;
        }
        if !classes.iter().any(|known| known == class) {
            classes.push(class.to_owned());
        }
        if !preset.is_empty() {
            classes.push(format!("has-{preset}-{ending}"));
        }
    }
    classes.join(" ")
}

fn colors_css(call: &BlockCall<'_>) -> String {
    let stored = &call.attr("style")["color"];
    let rows = [("color", "text"), ("background-color", "background"), ("background", "gradient")];
    rows.iter().filter_map(|(name, part)| declaration(name, &stored[*part])).collect::<Vec<_>>().join(";")
}

fn classes(call: &BlockCall<'_>, has_button: bool, only_button: bool) -> String {
    let mut classes = Vec::new();
    match call.text("buttonPosition") {
        "button-inside" => classes.push("wp-block-search__button-inside"),
        "no-button" => classes.push("wp-block-search__no-button"),
        "button-only" => classes.extend(["wp-block-search__button-only", "wp-block-search__searchfield-hidden"]),
        _ => classes.push("wp-block-search__button-outside"),
    }
    if has_button || only_button {
        classes.push(if call.is("buttonUseIcon") {
            "wp-block-search__icon-button"
        } else {
            "wp-block-search__text-button"
        });
    }
    classes.join(" ")
}

/// Joins class names; empty ones are omitted.
fn class_list(parts: &[&str]) -> String {
    parts.iter().copied().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
}

fn style(parts: &[&str]) -> Html {
    let css = parts.iter().copied().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(";");
    if css.is_empty() { Html::new() } else { html!(" style=\"{}\"", esc_attr(&css)) }
}

fn label(call: &BlockCall<'_>, id: &Html, parts: &SearchStyles) -> Html {
    let text = match call.text("label") {
        "" => Html::from("Search"),
        label => kses::post(label),
    };
    let hidden = if call.is("showLabel") && !call.text("label").is_empty()
        || call.attr("label").is_null() && call.is("showLabel")
    {
        ""
    } else {
        "screen-reader-text"
    };
    let typography = if hidden.is_empty() { parts.typography.as_str() } else { "" };
    let css = if hidden.is_empty() { parts.typography_css.as_str() } else { "" };
    let class = class_list(&["wp-block-search__label", hidden, typography]);
    html!("<label class=\"{}\" for=\"{}\" {}>{}</label>", esc_attr(&class), id, style(&[css]), text)
}

fn input(call: &BlockCall<'_>, id: &Html, parts: &SearchStyles, only_button: bool) -> Html {
    let (border, border_css) =
        if parts.is_framed { ("", "") } else { (parts.border.as_str(), parts.border_css.as_str()) };
    let class = esc_attr(&class_list(&["wp-block-search__input", border, &parts.typography]));
    let typography = parts.typography_css.split(";text-decoration").next().unwrap_or_default();
    let typography = if typography.starts_with("text-decoration") { "" } else { typography };
    let css = style(&[border_css, typography]);
    let placeholder = esc_attr(call.text("placeholder"));
    if only_button {
        return html!(
            "<input aria-hidden=\"true\" class=\"{}\" data-wp-bind--aria-hidden=\"!context.isSearchInputVisible\" data-wp-bind--tabindex=\"state.tabindex\" id=\"{}\" placeholder=\"{}\"  value=\"\" type=\"search\" name=\"s\" required {}/>",
            class,
            id,
            placeholder,
            css
        );
    }
    html!(
        "<input class=\"{}\" id=\"{}\" placeholder=\"{}\" value=\"\" type=\"search\" name=\"s\" required {}/>",
        class,
        id,
        placeholder,
        css
    )
}

/// Hidden fields for further parameters of the search.
fn hidden_fields(query: &Value) -> Html {
    let field = |(name, value): (&String, &Value)| {
        let value = svc_php::cast::to_text(value);
        html!("<input type=\"hidden\" name=\"{}\" value=\"{}\" />", esc_attr(name), esc_attr(&value))
    };
    query.as_object().into_iter().flatten().map(field).collect()
}

fn button(call: &BlockCall<'_>, _id: &Html, parts: &SearchStyles, only_button: bool) -> Html {
    let is_icon = call.is("buttonUseIcon");
    let text = match call.text("buttonText") {
        "" => Html::from("Search"),
        text => kses::post(text),
    };
    let (border, border_css) =
        if parts.is_framed { ("", "") } else { (parts.border.as_str(), parts.border_css.as_str()) };
    let icon = if is_icon { "has-icon" } else { "" };
    let class = esc_attr(&class_list(&[
        "wp-block-search__button",
        &parts.colors,
        &parts.typography,
        border,
        icon,
        "wp-element-button",
    ]));
    let css = style(&[border_css, &parts.colors_css, &parts.typography_css]);
    let inside = if is_icon { Html::from(ICON) } else { text.clone() };
    if only_button {
        return html!(
            "<button  aria-expanded=\"false\"  class=\"{}\" data-wp-bind--aria-controls=\"state.ariaControls\" data-wp-bind--aria-expanded=\"context.isSearchInputVisible\" data-wp-bind--aria-label=\"state.ariaLabel\" data-wp-bind--type=\"state.type\" data-wp-on--click=\"actions.openSearchInput\"  {}>{}</button>",
            class,
            css,
            inside
        );
    }
    let name = esc_attr(&svc_text::strip_all_tags(&text, false));
    html!("<button aria-label=\"{}\" class=\"{}\" type=\"submit\" {}>{}</button>", name, class, css, inside)
}

/// Script attributes of a form whose field opens on demand.
fn script_attributes(id: &Html) -> Html {
    let context = format!(
        "{{\"isSearchInputVisible\":false,\"inputId\":\"{id}\",\"ariaLabelExpanded\":\"Submit Search\",\"ariaLabelCollapsed\":\"Expand search field\"}}"
    );
    html!(
        "\n\t\t data-wp-interactive=\"core/search\"\n\t\t data-wp-context='{}'\n\t\t data-wp-class--wp-block-search__searchfield-hidden=\"!context.isSearchInputVisible\"\n\t\t data-wp-on--keydown=\"actions.handleSearchKeydown\"\n\t\t data-wp-on--focusout=\"actions.handleSearchFocusout\"\n\t\t",
        Html::trusted(esc_html(&context).replace("&quot;", "\""), "escaped for an attribute in apostrophes")
    )
}

fn width(call: &BlockCall<'_>, parts: &SearchStyles) -> Html {
    let mut css = Vec::new();
    if let (Some(width), unit @ ("px" | "%")) = (call.number("width").filter(|w| *w > 0), call.text("widthUnit")) {
        css.push(format!("width: {width}{unit}"));
    }
    if parts.is_framed && !parts.border_css.is_empty() {
        css.push(parts.border_css.clone());
    }
    let css: Vec<&str> = css.iter().map(String::as_str).collect();
    style(&css)
}
