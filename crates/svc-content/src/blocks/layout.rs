//! Layout classes of blocks: how a container arranges the blocks inside, and how a block sits in its container.
//!
//! Only class names; the style sheets that go with them are for the pages.

use md5::{Digest, Md5};
use serde_json::{Map, Value, json};
use svc_php::{Php, json as text};

use super::{Block, Chunk, Theme, markup::Tags};

/// A container without a layout of its own: the layout's type, and whether it wraps.
type DefaultLayout = Option<(&'static str, Option<&'static str>)>;

/// Blocks that arrange blocks inside, with their default layout.
///
/// Source: `supports.layout` of the block types.
const CONTAINERS: [(&str, DefaultLayout); 23] = [
    ("core/accordion", None),
    ("core/accordion-item", None),
    ("core/accordion-panel", None),
    ("core/buttons", Some(("flex", None))),
    ("core/column", None),
    ("core/columns", Some(("flex", Some("nowrap")))),
    ("core/comments-pagination", Some(("flex", None))),
    ("core/cover", None),
    ("core/details", None),
    ("core/gallery", Some(("flex", None))),
    ("core/group", None),
    ("core/latest-posts", None),
    ("core/navigation", Some(("flex", None))),
    ("core/post-content", None),
    ("core/post-template", None),
    ("core/query", None),
    ("core/query-pagination", Some(("flex", None))),
    ("core/quote", None),
    ("core/social-links", Some(("flex", None))),
    ("core/tab-list", Some(("flex", Some("wrap")))),
    ("core/tab-panel", None),
    ("core/tabs", None),
    ("core/term-template", None),
];

/// Gaps that block types name for themes without one.
const TYPE_GAPS: [(&str, &str); 5] = [
    ("core/columns", "2em"),
    (
        "core/gallery",
        "var( --wp--style--gallery-gap-default, var( --gallery-block--gutter-size, var( --wp--style--block-gap, 0.5em ) ) )",
    ),
    ("core/latest-posts", "1.25em"),
    ("core/post-template", "1.25em"),
    ("core/term-template", "1.25em"),
];

/// The class for a block that is told how to sit in its container, as `wp-container-content-…`.
pub(super) fn child_class(block: &Block<'_>, parent: Option<&Block<'_>>) -> Option<String> {
    let layout = block.attrs.get("style")?.get("layout")?.as_object()?;
    let set = |name: &str| layout.get(name).is_some_and(is_truthy);
    let stretch = layout.get("selfStretch").and_then(Value::as_str);
    let styled = match stretch {
        Some("fixed") => set("flexSize"),
        Some("fill") => true,
        _ => false,
    };
    if !styled && !["columnStart", "columnSpan", "rowStart", "rowSpan"].into_iter().any(set) {
        return None;
    }
    let of_parent = parent.and_then(|parent| parent.attrs.get("layout")).and_then(Value::as_object);
    let hash = hash(json!({
        "layout": only(layout, &["selfStretch", "flexSize", "columnStart", "columnSpan", "rowStart", "rowSpan"]),
        "parentLayout": of_parent.map(|layout| only(layout, &["minimumColumnWidth", "columnCount"])).unwrap_or_default(),
    }));
    Some(format!("wp-container-content-{hash}"))
}

/// The classes of a container, in order; none for a block that is no container.
pub(super) fn container_classes(block: &Block<'_>, theme: &Theme) -> Vec<String> {
    let Some(name) = block.name.as_deref() else { return Vec::new() };
    let Some((_, default)) = CONTAINERS.iter().find(|(container, _)| *container == name) else { return Vec::new() };
    let given = block.attrs.get("layout").filter(|layout| !layout.is_null());
    let mut layout = match (given, default) {
        (Some(Value::Object(layout)), _) => layout.clone(),
        (None, Some((kind, wrap))) => {
            let mut layout = Map::from_iter([("type".to_owned(), Value::from(*kind))]);
            layout.extend(wrap.map(|wrap| ("flexWrap".to_owned(), Value::from(wrap))));
            layout
        }
        _ => Map::new(),
    };
    let set = |layout: &Map<String, Value>, name: &str| layout.get(name).is_some_and(is_truthy);
    if ["inherit", "contentSize"].into_iter().any(|name| set(&layout, name)) {
        layout.insert("type".to_owned(), Value::from("constrained"));
    }
    // Only what the block itself says; the defaults of its type have no classes.
    let word = |name: &str| given.and_then(|layout| layout.get(name)?.as_str()).filter(|text| !text.is_empty());
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
    let spacing = block.attrs.get("style").and_then(|style| style.get("spacing")).cloned().unwrap_or_default();
    let gap = gap(&spacing);
    if !base.is_empty() && has_own_style(kind, &layout, &spacing, theme.block_gap.is_some() && has_gap(kind, &gap)) {
        let fallback = theme.gap_of(name).unwrap_or_else(|| own_gap(name));
        let hash = hash(json!([layout, theme.block_gap.is_some(), gap, false, fallback, spacing]));
        classes.push(format!("wp-container-{}-is-layout-{hash}", name.replace('/', "-")));
    }
    classes.push(format!("wp-block-{}-{base}", super::strip_core_namespace(name)));
    classes
}

/// The value of `class` that tells the element around inner blocks: the last one in the text before the first of them.
pub(super) fn wrapper_class<'b>(block: &'b Block<'_>) -> Option<&'b str> {
    let mut chunks = block.chunks();
    let Some(Chunk::Text(first)) = chunks.next() else { return None };
    chunks.next()?;
    Tags::new(first).filter_map(|tag| tag.class(first)).filter(|class| !class.is_empty()).last()
}

/// Whether the layout needs rules of its own, beyond those of its type.
fn has_own_style(kind: &str, layout: &Map<String, Value>, spacing: &Value, gap: bool) -> bool {
    let word = |name: &str| layout.get(name).and_then(Value::as_str).unwrap_or_default();
    let set = |name: &str| layout.get(name).is_some_and(is_truthy);
    match kind {
        "constrained" => {
            let padding = &spacing["padding"];
            gap || set("contentSize")
                || set("wideSize")
                || matches!(word("justifyContent"), "left" | "right")
                || ["left", "right"].iter().any(|side| !padding[side].is_null() && padding[side] != "")
        }
        "flex" => {
            let vertical = word("orientation") == "vertical";
            gap || vertical
                || word("flexWrap") == "nowrap"
                || matches!(word("justifyContent"), "left" | "right" | "center" | "space-between")
                || matches!(word("verticalAlignment"), "top" | "center" | "bottom" | "stretch")
        }
        "grid" => true,
        _ => gap,
    }
}

/// The gap that a block sets, each part without what could leave its rule; null when none is left.
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

/// Whether a gap counts: text running down has only one above each block, others have both.
fn has_gap(kind: &str, gap: &Value) -> bool {
    match gap {
        Value::Object(sides) if matches!(kind, "default" | "constrained") => {
            sides.get("top").is_some_and(|v| !v.is_null())
        }
        Value::Object(sides) => !sides.is_empty(),
        gap => !gap.is_null(),
    }
}

fn own_gap(name: &str) -> &'static str {
    TYPE_GAPS.iter().find(|(of, _)| *of == name).map_or("0.5em", |(_, gap)| gap)
}

/// Eight hexadecimal digits that tell values apart. Source: `wp_unique_id_from_values`.
fn hash(values: Value) -> String {
    let text = text::encode(&Value::from(Php::from(values)));
    Md5::digest(text.as_bytes()).iter().take(4).map(|byte| format!("{byte:02x}")).collect()
}

fn only(map: &Map<String, Value>, names: &[&str]) -> Map<String, Value> {
    let wanted = map.iter().filter(|(name, _)| names.contains(&name.as_str()));
    wanted.map(|(name, value)| (name.clone(), value.clone())).collect()
}

/// Truth in PHP's sense.
fn is_truthy(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(b) => *b,
        Value::Number(n) => n.as_f64() != Some(0.0),
        Value::String(text) => !matches!(text.as_str(), "" | "0"),
        Value::Array(items) => !items.is_empty(),
        Value::Object(members) => !members.is_empty(),
    }
}

/// Text as part of a class name: small letters, digits, `_` and single hyphens.
fn slug(text: &str) -> String {
    let kept: String = text
        .chars()
        .filter_map(|c| match c {
            c if c.is_ascii_alphanumeric() || c == '_' => Some(c.to_ascii_lowercase()),
            '-' | '.' | '/' => Some('-'),
            c if c.is_whitespace() => Some('-'),
            _ => None,
        })
        .collect();
    kept.split('-').filter(|part| !part.is_empty()).collect::<Vec<_>>().join("-")
}
