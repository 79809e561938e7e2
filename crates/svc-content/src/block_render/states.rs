//! Responsive and state styles of blocks (`@mobile`, `:hover`, `:focus`).
//!
//! A block gets a single class for all of them. The CSS rules are collected for pages.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::{
    layout,
    styles::{Rules, css_value, elements_of},
};
use crate::blocks::{Block, BlockType};

/// Viewports, as named in blocks and as media queries.
const VIEWPORTS: [(&str, &str); 2] = [("@mobile", "width <= 480px"), ("@tablet", "480px < width <= 782px")];
/// States of interactive blocks.
const STATES: [&str; 4] = [":hover", ":focus", ":focus-visible", ":active"];
/// The block type that has states.
const BLOCK_WITH_STATES: &str = "core/button";

/// Properties by feature, in the order of the rules.
#[rustfmt::skip]
const PROPERTIES: &[(&str, &str, &str)] = &[
    ("background", "backgroundPosition", "background-position"), ("background", "backgroundRepeat", "background-repeat"),
    ("background", "backgroundSize", "background-size"), ("background", "backgroundAttachment", "background-attachment"),
    ("color", "text", "color"), ("color", "background", "background-color"), ("color", "gradient", "background"),
    ("border", "color", "border-color"), ("border", "radius", "border-radius"), ("border", "style", "border-style"),
    ("border", "width", "border-width"), ("shadow", "", "box-shadow"),
    ("dimensions", "minHeight", "min-height"), ("dimensions", "width", "width"),
    ("spacing", "padding", "padding"), ("spacing", "margin", "margin"),
    ("typography", "fontSize", "font-size"), ("typography", "fontFamily", "font-family"),
    ("typography", "fontStyle", "font-style"), ("typography", "fontWeight", "font-weight"),
    ("typography", "lineHeight", "line-height"), ("typography", "textAlign", "text-align"),
    ("typography", "textDecoration", "text-decoration"), ("typography", "textTransform", "text-transform"),
    ("typography", "letterSpacing", "letter-spacing"), ("typography", "writingMode", "writing-mode"),
];
const SIDES: [&str; 4] = ["top", "right", "bottom", "left"];

/// The class of a block with responsive or state styles, and its rules.
pub(super) struct States {
    pub(super) class: String,
    pub(super) css: String,
}

/// The responsive and state styles of a block; `None` if there are none.
pub(super) fn of(block: &Block<'_>, block_type: Option<&BlockType>) -> Option<States> {
    let (style, block_type) = (block["style"].as_object()?, block_type?);
    if !style.keys().any(|name| name.starts_with([':', '@'])) {
        return None;
    }
    const CLASS: &str = "wp-states";
    let states = |style: &Value| {
        let pressed = STATES.iter().filter(|_| block_type.name == BLOCK_WITH_STATES);
        pressed.map(|state| style_rules(block_type, CLASS, state, &style[*state])).collect::<Vec<_>>().concat()
    };
    let mut css: String = states(&block["style"]).concat();
    for (viewport, media) in VIEWPORTS {
        let viewport_style = &block["style"][viewport];
        let mut rules = style_rules(block_type, CLASS, "", viewport_style);
        rules.extend(states(viewport_style));
        rules.extend(elements_of(CLASS, &viewport_style["elements"], IMPORTANT));
        for rule in rules {
            let _ = write!(css, "@media ({media}){{{rule}}}");
        }
    }
    if css.is_empty() {
        return None;
    }
    let class = format!("{CLASS}-{}", layout::hash(json!([block_type.name, css])));
    Some(States { css: css.replace(&format!(".{CLASS}"), &format!(".{class}")), class })
}

const IMPORTANT: &str = " !important";

/// The CSS rules of a style: one for each element of the block that has declarations.
fn style_rules(block_type: &BlockType, class: &str, state: &str, style: &Value) -> Vec<String> {
    let mut parts: Vec<(String, Rules)> = Vec::new();
    let mut declare = |feature: &str, part: &str, property: &str, value: String, mark: &str| {
        let selector = selector(block_type, class, feature, part);
        let at = parts.iter().position(|(known, _)| *known == selector).unwrap_or_else(|| {
            parts.push((selector, Rules::default()));
            parts.len() - 1
        });
        if let Some((_, rules)) = parts.get_mut(at) {
            rules.declare_with(property, Some(value), mark);
        }
    };
    for (feature, part, property) in PROPERTIES {
        let value = if part.is_empty() { &style[*feature] } else { &style[*feature][*part] };
        match value {
            Value::Object(sides) if *feature == "spacing" => {
                for side in SIDES {
                    if let Some(value) = sides.get(side).and_then(css_value) {
                        declare(feature, part, &format!("{property}-{side}"), value, IMPORTANT);
                    }
                }
            }
            value => {
                if let Some(value) = css_value(value) {
                    declare(feature, part, property, value, IMPORTANT);
                }
            }
        }
    }
    if css_value(&style["color"]["background"]).is_some() {
        declare("color", "background", "background-image", "unset".to_owned(), IMPORTANT);
    }
    let border = &style["border"];
    if border["style"].is_null() && ["color", "width"].iter().any(|part| css_value(&border[*part]).is_some()) {
        declare("border", "style", "border-style", "solid".to_owned(), "");
    }
    parts.iter().map(|(selector, rules)| rules.of(&format!("{selector}{state}"))).filter(|r| !r.is_empty()).collect()
}

/// The selector of the element that a feature applies to. For buttons, this is the link for all features but the
/// width.
fn selector(block_type: &BlockType, class: &str, feature: &str, part: &str) -> String {
    match (block_type.name.as_str(), feature, part) {
        (BLOCK_WITH_STATES, "dimensions", _) => format!(".{class}"),
        (BLOCK_WITH_STATES, ..) => format!(".{class} .wp-block-button__link"),
        _ => format!(".{class}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blocks::{BlockTypes, parse};

    /// Rules as recorded from WordPress.
    #[test]
    fn responsive_and_state_styles_have_rules() {
        let red = r##""color":{"text":"#f00","background":"#0f0"}"##;
        let shown = "color:#f00 !important;background-color:#0f0 !important;background-image:unset !important;";
        #[rustfmt::skip]
        let rows = [
            ("paragraph", format!("{{\":hover\":{{{red}}}}}"), String::new()),
            ("paragraph", r#"{"@mobile":{"foo":1},"@desktop":{"color":{"text":"red"}}}"#.to_owned(), String::new()),
            ("paragraph", r#"{"@mobile":{"color":{"text":"red;}"}}}"#.to_owned(), String::new()),
            ("paragraph", format!("{{\"@mobile\":{{{red}}}}}"), format!("@media (width <= 480px){{.C{{{shown}}}}}")),
            ("button", format!("{{\":hover\":{{{red}}}}}"), format!(".C .wp-block-button__link:hover{{{shown}}}")),
            ("button", format!("{{\"@tablet\":{{\":focus\":{{{red}}}}}}}"),
             format!("@media (480px < width <= 782px){{.C .wp-block-button__link:focus{{{shown}}}}}")),
            ("button", r#"{"@mobile":{"border":{"radius":"3px"},"dimensions":{"width":"50%"}}}"#.to_owned(),
             "@media (width <= 480px){.C .wp-block-button__link{border-radius:3px !important;}}@media (width <= 480px){.C{width:50% !important;}}".to_owned()),
            ("paragraph", r##"{"@mobile":{"spacing":{"padding":"1px","margin":{"top":"2px"}},"border":{"width":"2px","color":"#123"},"shadow":"1px 1px"}}"##.to_owned(),
             "@media (width <= 480px){.C{border-color:#123 !important;border-width:2px !important;box-shadow:1px 1px !important;padding:1px !important;margin-top:2px !important;border-style:solid;}}".to_owned()),
            ("group", r##"{"@mobile":{"elements":{"link":{"color":{"text":"#111"},":hover":{"color":{"text":"#222"}}}}}}"##.to_owned(),
             "@media (width <= 480px){.C a:where(:not(.wp-element-button)){color:#111 !important;}}@media (width <= 480px){.C a:where(:not(.wp-element-button)):hover{color:#222 !important;}}".to_owned()),
        ];
        for (name, style, expected) in rows {
            let content = format!("<!-- wp:{name} {{\"style\":{style}}} /-->");
            let blocks = parse(&content);
            let block_type = BlockTypes::core().get(&format!("core/{name}")).map(AsRef::as_ref);
            let states_of_block = of(&blocks[0], block_type);
            let css = states_of_block.map_or_else(String::new, |states| states.css.replace(&states.class, "C"));
            assert_eq!(css, expected, "{content}");
        }
    }
}
