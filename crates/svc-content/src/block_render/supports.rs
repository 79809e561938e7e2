//! Block supports that are applied to a block's rendered HTML: aspect ratio, position, background, visibility, custom
//! CSS.

use serde_json::{Value, json};
use svc_php::cast::truthy;

use super::{Theme, layout, styles::Styles};
use crate::{
    blocks::{Block, BlockType},
    css,
    tags::{TagChanges, Tags},
};

fn style<'b>(block: &'b Block<'_>, path: &[&str]) -> &'b Value {
    path.iter().fold(&block["style"], |at, step| at.get(step).unwrap_or(&Value::Null))
}

/// Adds declarations and classes to the first tag.
pub(super) fn add(html: String, css: &str, classes: &[&str]) -> String {
    let Some(tag) = Tags::new(&html).next() else { return html };
    let mut changes = TagChanges::of(&html);
    if !css.is_empty() {
        changes.add_style(&tag, css);
    }
    changes.add_classes(&tag, classes.iter().copied());
    changes.apply()
}

/// A declaration with its semicolon; empty if the CSS filter rejects it.
fn declaration(property: &str, value: &str) -> String {
    let text = format!("{property}:{value}");
    if value.contains(';') || css::filter_declarations(&text).is_empty() { String::new() } else { text + ";" }
}

/// Aspect ratio of blocks. Source: `wp_render_dimensions_support`.
pub(super) fn ratio(html: String, block: &Block<'_>, block_type: &BlockType) -> String {
    if !block_type.has_support(&["dimensions", "aspectRatio"], false)
        || block_type.skips_serialization("dimensions", "aspectRatio")
    {
        return html;
    }
    match style(block, &["dimensions", "aspectRatio"]).as_str() {
        Some("auto") => add(html, "aspect-ratio:auto;", &[]),
        Some(ratio) => {
            let css = declaration("aspect-ratio", ratio) + "height:unset;min-height:unset;";
            add(html, &css, &["has-aspect-ratio"])
        }
        None if truthy(&block["minHeight"]) || truthy(style(block, &["dimensions", "minHeight"])) => {
            add(html, "aspect-ratio:unset;", &[])
        }
        None => html,
    }
}

/// Sticky and fixed blocks. Source: `wp_render_position_support`.
pub(super) fn position(
    html: String,
    block: &Block<'_>,
    block_type: &BlockType,
    theme: &Theme,
    styles: Option<&mut Styles>,
    id: impl Fn() -> u64,
) -> String {
    let kind = style(block, &["position", "type"]).as_str().unwrap_or_default();
    let is_known =
        block_type.has_support(&["position", kind], false) && theme.positions.iter().any(|known| known == kind);
    if !matches!(kind, "sticky" | "fixed") || !is_known {
        return html;
    }
    let (container, place) = (format!("wp-container-{}", id()), format!("is-position-{kind}"));
    if let Some(styles) = styles {
        styles.position(&container, style(block, &["position"]));
    }
    add(html, "", &[&container, &place])
}

/// Background image and gradient of a block. Source: `wp_render_background_support`.
pub(super) fn background(html: String, block: &Block<'_>, block_type: &BlockType) -> String {
    let settings = style(block, &["background"]);
    if !settings.is_object() || !block_type.has_support(&["background", "backgroundImage"], false) {
        return html;
    }
    let word = |name: &str| settings[name].as_str().filter(|text| !text.is_empty());
    let image = match &settings["backgroundImage"] {
        Value::Object(file) => file.get("url").and_then(Value::as_str).map(|url| format!("url('{url}')")),
        Value::String(text) if !text.is_empty() => Some(text.clone()),
        _ => None,
    };
    let gradient = word("gradient").filter(|_| block_type.has_support(&["background", "gradient"], false));
    let gradient = gradient.filter(|text| !text.contains("url("));
    // The default size is `cover`, and the default position of a contained image is the centre.
    let size = word("backgroundSize").or(image.is_some().then_some("cover"));
    let default_position = (size == Some("contain") && image.is_some()).then_some("50% 50%");
    let images = [gradient.map(str::to_owned), image].into_iter().flatten().collect::<Vec<_>>().join(", ");
    let rows = [
        ("background-image", Some(images.as_str()).filter(|images| !images.is_empty())),
        ("background-position", word("backgroundPosition").or(default_position)),
        ("background-repeat", word("backgroundRepeat")),
        ("background-size", size),
        ("background-attachment", word("backgroundAttachment")),
    ];
    let css: String = rows.into_iter().filter_map(|(name, value)| Some(declaration(name, value?))).collect();
    if css.is_empty() { html } else { add(html, &css, &["has-background"]) }
}

/// Hides blocks, always or on some screen sizes. Source: `wp_render_block_visibility_support`.
pub(super) fn visibility(
    html: String,
    block: &Block<'_>,
    block_type: &BlockType,
    styles: Option<&mut Styles>,
) -> String {
    let settings = &block["metadata"]["blockVisibility"];
    if settings == &Value::Bool(false) {
        return String::new();
    }
    if !block_type.has_support(&["visibility"], true) {
        return html;
    }
    let hidden = |viewport: &&str| settings["viewport"][*viewport] == Value::Bool(false);
    if let Some(styles) = styles {
        ["desktop", "mobile", "tablet"].iter().filter(|w| hidden(w)).for_each(|viewport| styles.hide_on(viewport));
    }
    let classes: Vec<String> =
        ["desktop", "mobile", "tablet"].iter().filter(|w| hidden(w)).map(|w| format!("wp-block-hidden-{w}")).collect();
    if classes.is_empty() || html.is_empty() {
        return html;
    }
    let names: Vec<&str> = classes.iter().map(String::as_str).collect();
    // The priority of images that may be hidden is unknown.
    crate::tags::set_image_priority(&add(html, "", &names), "auto")
}

/// Prefix of the classes for a block's custom CSS.
pub(super) const CSS_CLASS: &str = "wp-custom-css-";

/// The class for a block's custom CSS. `chosen` are the classes that were generated for the block before.
pub(super) fn css_class(
    block: &Block<'_>,
    block_type: Option<&BlockType>,
    parent: Option<&Block<'_>>,
    chosen: &[String],
) -> Option<String> {
    let css = style(block, &["css"]).as_str()?;
    if css.trim().is_empty() || css.contains('<') || block_type.is_some_and(|t| !t.has_support(&["customCSS"], true)) {
        return None;
    }
    let mut hashed = block_value(block);
    if !chosen.is_empty() {
        let own = block["className"].as_str().filter(|class| !class.is_empty());
        let classes: Vec<&str> = own.into_iter().chain(chosen.iter().map(String::as_str)).collect();
        hashed["attrs"]["className"] = classes.join(" ").into();
    }
    if let Some(layout) = parent.and_then(|parent| parent.attrs.get("layout")).filter(|layout| !layout.is_null()) {
        hashed["parentLayout"] = layout.clone();
    }
    Some(format!("{CSS_CLASS}{}", layout::hash(hashed)))
}

/// A block as a JSON value, as input for its hash.
fn block_value(block: &Block<'_>) -> Value {
    json!({
        "blockName": block.name,
        "attrs": block.attrs,
        "innerBlocks": block.inner_blocks.iter().map(block_value).collect::<Vec<_>>(),
        "innerHTML": block.inner_html(),
        "innerContent": block.inner_content,
    })
}
