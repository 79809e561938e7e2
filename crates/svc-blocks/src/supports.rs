//! The attributes of a block's wrapper element, from its supports and attributes.
//!
//! Source: `get_block_wrapper_attributes`, the style engine.

use serde_json::{Map, Value};
use svc_content::{block_render::FluidSizes, blocks::BlockType, css};
use svc_text::{Html, esc_attr, html, kebab_case};

/// Style declarations in output order: the path in the `style` attribute, and the property.
type Rows = &'static [(&'static [&'static str], &'static str)];

const TYPOGRAPHY: Rows = &[
    (&["typography", "fontSize"], "font-size"),
    (&["typography", "fontFamily"], "font-family"),
    (&["typography", "fontStyle"], "font-style"),
    (&["typography", "fontWeight"], "font-weight"),
    (&["typography", "lineHeight"], "line-height"),
    (&["typography", "textColumns"], "column-count"),
    (&["typography", "textDecoration"], "text-decoration"),
    (&["typography", "textTransform"], "text-transform"),
    (&["typography", "letterSpacing"], "letter-spacing"),
    (&["typography", "writingMode"], "writing-mode"),
];
const DIMENSIONS: Rows =
    &[(&["dimensions", "minHeight"], "min-height"), (&["dimensions", "aspectRatio"], "aspect-ratio")];
const SHADOW: Rows = &[(&["shadow"], "box-shadow")];
const SIDES: [&str; 4] = ["top", "right", "bottom", "left"];
pub(crate) const CORNERS: [(&str, &str); 4] = [
    ("topLeft", "top-left"),
    ("topRight", "top-right"),
    ("bottomLeft", "bottom-left"),
    ("bottomRight", "bottom-right"),
];

/// The support that enables each property of [`TYPOGRAPHY`].
const TYPOGRAPHY_SUPPORTS: [(&str, &str); 10] = [
    ("font-size", "fontSize"),
    ("font-family", "__experimentalFontFamily"),
    ("font-style", "__experimentalFontStyle"),
    ("font-weight", "__experimentalFontWeight"),
    ("line-height", "lineHeight"),
    ("column-count", "textColumns"),
    ("text-decoration", "__experimentalTextDecoration"),
    ("text-transform", "__experimentalTextTransform"),
    ("letter-spacing", "__experimentalLetterSpacing"),
    ("writing-mode", "__experimentalWritingMode"),
];

/// Classes and style declarations.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct WrapperStyles {
    pub(crate) classes: Vec<String>,
    pub(crate) style: Vec<(String, String)>,
}

impl WrapperStyles {
    fn class(&mut self, class: impl Into<String>) {
        self.classes.push(class.into());
    }

    fn declare(&mut self, property: impl Into<String>, value: &Value) {
        if let Some((property, value)) = css_value(value).and_then(|value| filtered(&property.into(), &value)) {
            self.style.push((property, value));
        }
    }

    /// The declarations as CSS: `a:b;c:d`.
    pub(crate) fn css(&self) -> String {
        self.style.iter().map(|(name, value)| format!("{name}:{value}")).collect::<Vec<_>>().join(";")
    }
}

/// The CSS value of a style attribute: `var:preset|color|red` is `var(--wp--preset--color--red)`.
pub(crate) fn css_value(value: &Value) -> Option<String> {
    let text = match value {
        Value::String(text) if !text.is_empty() => text.clone(),
        _ => return None,
    };
    let Some(path) = text.strip_prefix("var:") else { return Some(text) };
    let path: Vec<String> = path.split('|').map(kebab_case).collect();
    Some(format!("var(--wp--{})", path.join("--")))
}

/// The preset that a style value refers to: `red` for `var:preset|color|red`.
fn preset_of<'v>(value: &'v Value, kind: &str) -> Option<&'v str> {
    value.as_str()?.strip_prefix("var:preset|")?.strip_prefix(kind)?.strip_prefix('|').filter(|name| !name.is_empty())
}

/// Filters a declaration, whose value may contain further declarations after a `;`: returns the first property, and
/// everything after its colon. Source: `WP_Style_Engine_CSS_Declarations::filter_declaration`.
pub(crate) fn filtered(property: &str, value: &str) -> Option<(String, String)> {
    let value = svc_text::strip_all_tags(value, true);
    let declarations = css::filter_declarations(&format!("{property}:{value}"));
    let (property, value) = declarations.split_once(':')?;
    Some((property.to_owned(), value.to_owned()))
}

fn at<'v>(value: &'v Value, path: &[&str]) -> &'v Value {
    path.iter().fold(value, |at, step| at.get(step).unwrap_or(&Value::Null))
}

fn word<'a>(attrs: &'a Map<String, Value>, name: &str) -> Option<&'a str> {
    attrs.get(name).and_then(Value::as_str).filter(|text| !text.is_empty())
}

/// Classes and styles of text, background and gradient colours.
pub(crate) fn colors(block_type: &BlockType, attrs: &Map<String, Value>) -> WrapperStyles {
    let mut styles = WrapperStyles::default();
    let style = attrs.get("style").unwrap_or(&Value::Null);
    let on = |part: &str, default: bool| match block_type.support(&["color"]) {
        Some(Value::Object(color)) => color.get(part).map_or(default, svc_php::cast::truthy),
        Some(all) => default && svc_php::cast::truthy(all),
        None => false,
    };
    #[rustfmt::skip]
    let parts = [
        (on("text", true), "text", "textColor", "color", "has-text-color", "color"),
        (on("background", true), "background", "backgroundColor", "background-color", "has-background", "background-color"),
        (on("gradients", false), "gradient", "gradient", "background", "has-background", "gradient-background"),
    ];
    for (is_on, part, attribute, property, class, ending) in parts {
        let custom = at(style, &["color", part]);
        let kind = if part == "gradient" { "gradient" } else { "color" };
        // A preset attribute takes precedence even if it is empty.
        let named = attrs.get(attribute).and_then(Value::as_str);
        let preset = named.or_else(|| preset_of(custom, kind));
        let hidden = block_type.skips_serialization("color", if part == "gradient" { "gradients" } else { part });
        if !is_on || hidden || (preset.is_none() && !svc_php::cast::truthy(custom)) {
            continue;
        }
        if !styles.classes.iter().any(|known| known == class) {
            styles.class(class);
        }
        match preset {
            Some("") => {}
            Some(preset) => styles.class(format!("has-{}-{ending}", kebab_case(preset))),
            None => styles.declare(property, custom),
        }
    }
    styles
}

/// Classes and styles of typography.
pub(crate) fn typography(block_type: &BlockType, attrs: &Map<String, Value>, fluid: &FluidSizes) -> WrapperStyles {
    let mut styles = WrapperStyles::default();
    let style = attrs.get("style").unwrap_or(&Value::Null);
    let on = |support: &str, part: &str| {
        block_type.has_support(&["typography", support], false) && !block_type.skips_serialization("typography", part)
    };
    let custom = at(style, &["typography", "fontSize"]);
    let size =
        word(attrs, "fontSize").or_else(|| preset_of(custom, "font-size")).filter(|_| on("fontSize", "fontSize"));
    let family = word(attrs, "fontFamily").filter(|_| on("__experimentalFontFamily", "fontFamily"));
    if let Some(size) = size {
        styles.class(format!("has-{}-font-size", kebab_case(size)));
    }
    if let Some(family) = family {
        styles.class(format!("has-{}-font-family", kebab_case(family)));
    }
    if let Some(align) = at(style, &["typography", "textAlign"]).as_str().filter(|_| on("textAlign", "textAlign")) {
        styles.class(format!("has-text-align-{align}"));
    }
    for (path, property) in TYPOGRAPHY {
        let by_class = (*property == "font-size" && size.is_some()) || (*property == "font-family" && family.is_some());
        let support = TYPOGRAPHY_SUPPORTS.iter().find(|(name, _)| name == property).map_or("", |(_, support)| support);
        if by_class || !on(support, path[1]) {
            continue;
        }
        match property {
            &"font-size" => styles.declare(*property, &fluid_size(custom, fluid)),
            property => styles.declare(*property, at(style, path)),
        }
    }
    styles
}

/// The fluid value of a font size, if the theme enables fluid typography.
pub(crate) fn fluid_size(size: &Value, fluid: &FluidSizes) -> Value {
    let text = match size {
        Value::Number(pixels) => format!("{pixels}px"),
        other => other.as_str().unwrap_or_default().to_owned(),
    };
    fluid.clamp(&text, &Value::Null).map_or_else(|| size.clone(), Value::from)
}

/// Classes and styles of the border.
pub(crate) fn border(block_type: &BlockType, attrs: &Map<String, Value>) -> WrapperStyles {
    let mut styles = WrapperStyles::default();
    let border = at(attrs.get("style").unwrap_or(&Value::Null), &["border"]);
    let feature = if block_type.support(&["border"]).is_some() { "border" } else { "__experimentalBorder" };
    let on = |part: &str| {
        let all = block_type.support(&[feature]) == Some(&Value::Bool(true));
        (all || block_type.has_support(&[feature, part], false)) && !block_type.skips_serialization(feature, part)
    };
    let named = attrs.get("borderColor").and_then(Value::as_str);
    let preset = named.or_else(|| preset_of(&border["color"], "color")).filter(|_| on("color"));
    if on("color") && (preset.is_some() || svc_php::cast::truthy(&border["color"])) {
        styles.class("has-border-color");
    }
    if let Some(preset) = preset.filter(|preset| !preset.is_empty()) {
        styles.class(format!("has-{}-border-color", kebab_case(preset)));
    }
    if on("color") && preset.is_none() {
        styles.declare("border-color", &border["color"]);
    }
    if on("radius") {
        match &border["radius"] {
            Value::Object(corners) => {
                for (name, css) in CORNERS {
                    styles.declare(format!("border-{css}-radius"), corners.get(name).unwrap_or(&Value::Null));
                }
            }
            Value::Number(pixels) => styles.declare("border-radius", &Value::from(format!("{pixels}px"))),
            radius => styles.declare("border-radius", radius),
        }
    }
    for part in ["style", "width"] {
        if on(part) {
            match &border[part] {
                Value::Number(pixels) if part == "width" => {
                    styles.declare("border-width", &Value::from(format!("{pixels}px")));
                }
                value => styles.declare(format!("border-{part}"), value),
            }
        }
    }
    for side in SIDES {
        for part in ["width", "color", "style"] {
            if on(part) {
                styles.declare(format!("border-{side}-{part}"), at(border, &[side, part]));
            }
        }
    }
    styles
}

/// The border for blocks that apply it to another element: all stored values, regardless of the block type's
/// supports.
pub(crate) fn stored_border(block_type: &BlockType, attrs: &Map<String, Value>) -> WrapperStyles {
    let mut styles = WrapperStyles { style: Vec::new(), ..border(block_type, attrs) };
    let stored = at(attrs.get("style").unwrap_or(&Value::Null), &["border"]);
    let has_preset = word(attrs, "borderColor").is_some() || preset_of(&stored["color"], "color").is_some();
    if !has_preset {
        styles.declare("border-color", &stored["color"]);
    }
    match &stored["radius"] {
        Value::Object(corners) => {
            for (name, css) in CORNERS {
                styles.declare(format!("border-{css}-radius"), corners.get(name).unwrap_or(&Value::Null));
            }
        }
        radius => styles.declare("border-radius", radius),
    }
    for part in ["style", "width"] {
        styles.declare(format!("border-{part}"), &stored[part]);
    }
    for side in SIDES {
        for part in ["color", "style", "width"] {
            styles.declare(format!("border-{side}-{part}"), at(stored, &[side, part]));
        }
    }
    styles
}

/// Styles of padding and margin.
fn spacing(block_type: &BlockType, attrs: &Map<String, Value>) -> WrapperStyles {
    let mut styles = WrapperStyles::default();
    let spacing = at(attrs.get("style").unwrap_or(&Value::Null), &["spacing"]);
    for kind in ["padding", "margin"] {
        if !block_type.has_support(&["spacing", kind], false) || block_type.skips_serialization("spacing", kind) {
            continue;
        }
        match &spacing[kind] {
            Value::Object(sides) => {
                // In stored order.
                for (side, value) in sides.iter().filter(|(side, _)| SIDES.contains(&side.as_str())) {
                    styles.declare(format!("{kind}-{side}"), value);
                }
            }
            value => styles.declare(kind, value),
        }
    }
    styles
}

/// Styles of a feature whose properties have supports of the same name.
fn by_rows(block_type: &BlockType, attrs: &Map<String, Value>, rows: Rows) -> WrapperStyles {
    let mut styles = WrapperStyles::default();
    let style = attrs.get("style").unwrap_or(&Value::Null);
    for (path, property) in rows {
        let part = path.get(1).copied().unwrap_or_default();
        if block_type.has_support(path, false) && !block_type.skips_serialization(path[0], part) {
            styles.declare(*property, at(style, path));
        }
    }
    styles
}

/// All classes and styles of a block's supports. `more_classes` are added to the block's `className`.
pub(crate) fn styles(
    block_type: &BlockType,
    attrs: &Map<String, Value>,
    more_classes: &[String],
    fluid: &FluidSizes,
) -> WrapperStyles {
    let mut styles = WrapperStyles::default();
    let align = attrs.get("align").and_then(Value::as_str).filter(|_| block_type.has_support(&["align"], false));
    if let Some(align) = align {
        styles.class(format!("align{align}"));
    }
    if block_type.has_support(&["customClassName"], true) {
        styles.classes.extend(word(attrs, "className").map(str::to_owned));
        styles.classes.extend(more_classes.iter().cloned());
    }
    if block_type.has_support(&["className"], true) {
        styles.class(class_of(&block_type.name));
    }
    let parts = [
        colors(block_type, attrs),
        typography(block_type, attrs, fluid),
        border(block_type, attrs),
        spacing(block_type, attrs),
        by_rows(block_type, attrs, DIMENSIONS),
        by_rows(block_type, attrs, SHADOW),
    ];
    for part in parts {
        styles.classes.extend(part.classes);
        styles.style.extend(part.style);
    }
    styles
}

/// The default class of a block type. Source: `wp_get_block_default_classname`.
pub(crate) fn class_of(name: &str) -> String {
    format!("wp-block-{}", name.strip_prefix("core/").unwrap_or(name).replace('/', "-"))
}

/// The attributes of the wrapper element as HTML, including the renderer's own: style, class, id and label first,
/// then the others.
pub(crate) fn attributes(
    styles: &WrapperStyles,
    attrs: &Map<String, Value>,
    block_type: &BlockType,
    own: &[(&'static str, &str)],
) -> Html {
    let own_of = |name: &str| own.iter().find(|(known, _)| *known == name).map_or("", |(_, value)| *value);
    let joined = |parts: [&str; 2], by: &str| parts.into_iter().filter(|p| !p.is_empty()).collect::<Vec<_>>().join(by);
    let style = joined([own_of("style").trim_end_matches(';'), &styles.css()], ";");
    let mut names: Vec<&str> = Vec::new();
    for name in
        own_of("class").split_ascii_whitespace().chain(styles.classes.iter().flat_map(|c| c.split_ascii_whitespace()))
    {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let class = names.join(" ");
    let supported = |name: &str, support: &str| {
        word(attrs, name).filter(|_| block_type.has_support(&[support], false)).unwrap_or_default()
    };
    let id = joined([own_of("id"), if own_of("id").is_empty() { supported("anchor", "anchor") } else { "" }], "");
    let label = match own_of("aria-label") {
        "" => supported("ariaLabel", "ariaLabel"),
        own => own,
    };
    let mut out = Vec::new();
    for (name, value) in [("style", style.as_str()), ("class", &class), ("id", &id), ("aria-label", label)] {
        if !value.is_empty() {
            out.push(html!("{}=\"{}\"", name, esc_attr(value)));
        }
    }
    for (name, value) in own.iter().filter(|(name, _)| !["style", "class", "id", "aria-label"].contains(name)) {
        out.push(html!("{}=\"{}\"", name, esc_attr(value)));
    }
    Html::join(out, " ")
}

/// A copy of a block type with the support serialized, for renderers that apply a skipped support to another element.
pub(crate) fn with_serialized_support(block_type: &BlockType, feature: &str) -> BlockType {
    let mut plain = block_type.clone();
    if let Some(Value::Object(settings)) = plain.supports.get_mut(feature) {
        settings.shift_remove("__experimentalSkipSerialization");
    }
    plain
}
