//! Layout classes of blocks: how a container arranges its inner blocks, and how a block is placed in its container.
//!
//! Only class names; [`Styles`] has the CSS rules.

use md5::{Digest, Md5};
use serde_json::{Map, Value, json};
use svc_php::{Php, cast::truthy, json as text};

use super::{Theme, styles::Styles};
use crate::{
    blocks::{Block, BlockType, Chunk, strip_core_namespace},
    tags::Tags,
};

/// The class of a block with layout settings for its container, such as `wp-container-content-…`.
pub(super) fn child_class(block: &Block<'_>, parent: Option<&Block<'_>>) -> Option<String> {
    let layout = block.attrs.get("style")?.get("layout")?.as_object()?;
    let is_set = |name: &str| layout.get(name).is_some_and(truthy);
    let stretch = layout.get("selfStretch").and_then(Value::as_str);
    let styled = match stretch {
        Some("fixed" | "fixedNoShrink") => is_set("flexSize"),
        Some("fill") => true,
        _ => false,
    };
    if !styled && !["columnStart", "columnSpan", "rowStart", "rowSpan"].into_iter().any(is_set) {
        return None;
    }
    let of_parent = parent.and_then(|parent| parent.attrs.get("layout")).and_then(Value::as_object);
    let hash = hash(json!({
        "layout": select_keys(layout, &["selfStretch", "flexSize", "columnStart", "columnSpan", "rowStart", "rowSpan"]),
        "parentLayout": of_parent.map(|layout| select_keys(layout, &["minimumColumnWidth", "columnCount"])).unwrap_or_default(),
    }));
    Some(format!("wp-container-content-{hash}"))
}

/// The layout classes of a container block, in order. Empty if the block type has no layout support.
pub(super) fn container_classes(
    block: &Block<'_>,
    block_type: Option<&BlockType>,
    theme: &Theme,
    styles: Option<&mut Styles>,
) -> Vec<String> {
    let Some(block_type) = block_type else { return Vec::new() };
    let support = ["layout", "__experimentalLayout"].iter().find_map(|name| block_type.support(&[name]));
    let Some(support) = support.filter(|support| truthy(support)) else { return Vec::new() };
    let own_layout = block.attrs.get("layout").filter(|layout| !layout.is_null());
    let default = support.get("default").and_then(Value::as_object);
    let mut layout = match own_layout {
        Some(layout) => layout.as_object().cloned().unwrap_or_default(),
        None => default.cloned().unwrap_or_default(),
    };
    let is_set = |layout: &Map<String, Value>, name: &str| layout.get(name).is_some_and(truthy);
    if ["inherit", "contentSize"].into_iter().any(|name| is_set(&layout, name)) {
        layout.insert("type".to_owned(), Value::from("constrained"));
    }
    // Only the block's own settings have classes, not the defaults of its type.
    let word = |name: &str| own_layout.and_then(|layout| layout.get(name)?.as_str()).filter(|text| !text.is_empty());
    let kind = layout.get("type").map_or("default", |kind| kind.as_str().unwrap_or_default());

    let mut classes = Vec::new();
    if theme.root_padding && kind == "constrained" {
        classes.push("has-global-padding".to_owned());
    }
    classes.extend(word("orientation").map(|word| format!("is-{}", slug(word))));
    classes.extend(word("justifyContent").map(|word| format!("is-content-justification-{}", slug(word))));
    classes.extend(word("flexWrap").filter(|wrap| *wrap == "nowrap").map(|_| "is-nowrap".to_owned()));

    let base = match kind {
        "default" => "is-layout-flow",
        "constrained" => "is-layout-constrained",
        "flex" => "is-layout-flex",
        "grid" => "is-layout-grid",
        _ => "",
    };
    classes.push(base.to_owned());
    let name = block_type.name.as_str();
    let spacing = block.attrs.get("style").and_then(|style| style.get("spacing")).cloned().unwrap_or_default();
    let gap = gap(&spacing);
    if !base.is_empty() && has_own_style(kind, &layout, &spacing, theme.block_gap.is_some() && has_gap(kind, &gap)) {
        let fallback = theme.gap_of(name).unwrap_or_else(|| own_gap(block_type));
        let hash = hash(json!([layout, theme.block_gap.is_some(), gap, false, fallback, spacing]));
        let class = format!("wp-container-{}-is-layout-{hash}", name.replace('/', "-"));
        if let Some(styles) = styles {
            let gap = if theme.block_gap.is_some() { &gap } else { &Value::Null };
            styles.container(&class, kind, &layout, &spacing, gap);
        }
        classes.push(class);
    }
    classes.push(format!("wp-block-{}-{base}", strip_core_namespace(name)));
    classes
}

/// The `class` value of the element around inner blocks: the last one in the text before the first inner block.
pub(super) fn wrapper_class<'b>(block: &'b Block<'_>) -> Option<&'b str> {
    let mut chunks = block.chunks();
    let Some(Chunk::Text(first)) = chunks.next() else { return None };
    chunks.next()?;
    Tags::new(first).filter_map(|tag| tag.value(first, "class")).filter(|class| !class.is_empty()).last()
}

/// Whether the layout needs CSS rules besides those of its type.
fn has_own_style(kind: &str, layout: &Map<String, Value>, spacing: &Value, gap: bool) -> bool {
    let word = |name: &str| layout.get(name).and_then(Value::as_str).unwrap_or_default();
    let is_set = |name: &str| layout.get(name).is_some_and(truthy);
    match kind {
        "constrained" => {
            let padding = &spacing["padding"];
            gap || is_set("contentSize")
                || is_set("wideSize")
                || matches!(word("justifyContent"), "left" | "right")
                || ["left", "right"].iter().any(|side| !padding[side].is_null() && padding[side] != "")
        }
        "flex" => {
            let vertical = !matches!(word("orientation"), "" | "horizontal");
            gap || vertical
                || word("flexWrap") == "nowrap"
                || matches!(word("justifyContent"), "left" | "right" | "center" | "space-between")
                || matches!(word("verticalAlignment"), "top" | "center" | "bottom" | "stretch")
        }
        "grid" => true,
        _ => gap,
    }
}

/// The block's gap without unsafe values; null if nothing is left.
fn gap(spacing: &Value) -> Value {
    let safe = |value: &Value| match value.as_str() {
        Some(text) if text.contains(['\\', '(', '&', '=', '}']) || text.contains("/*") => Value::Null,
        _ => value.clone(),
    };
    match &spacing["blockGap"] {
        Value::Object(sides) => Value::Object(sides.iter().map(|(side, gap)| (side.clone(), safe(gap))).collect()),
        gap => safe(gap),
    }
}

/// Whether a gap applies. Flow layouts use only its `top`, others both values.
fn has_gap(kind: &str, gap: &Value) -> bool {
    match gap {
        Value::Object(sides) if matches!(kind, "default" | "constrained") => {
            sides.get("top").is_some_and(|v| !v.is_null())
        }
        Value::Object(sides) => !sides.is_empty(),
        gap => !gap.is_null(),
    }
}

/// The block type's gap for themes without one.
fn own_gap(block_type: &BlockType) -> &str {
    block_type.support(&["spacing", "blockGap", "__experimentalDefault"]).and_then(Value::as_str).unwrap_or("0.5em")
}

/// A hash of eight hexadecimal digits. Source: `wp_unique_id_from_values`.
pub(super) fn hash(values: Value) -> String {
    let text = text::encode(&Value::from(Php::from(values)));
    Md5::digest(text.as_bytes()).iter().take(4).map(|byte| format!("{byte:02x}")).collect()
}

fn select_keys(map: &Map<String, Value>, names: &[&str]) -> Map<String, Value> {
    let selected = map.iter().filter(|(name, _)| names.contains(&name.as_str()));
    selected.map(|(name, value)| (name.clone(), value.clone())).collect()
}

/// Converts text to a part of a class name: lowercase letters, digits, `_` and single hyphens.
fn slug(text: &str) -> String {
    let mapped: String = text
        .chars()
        .filter_map(|c| match c {
            c if c.is_ascii_alphanumeric() || c == '_' => Some(c.to_ascii_lowercase()),
            '-' | '.' | '/' => Some('-'),
            c if c.is_whitespace() => Some('-'),
            _ => None,
        })
        .collect();
    mapped.split('-').filter(|part| !part.is_empty()).collect::<Vec<_>>().join("-")
}
