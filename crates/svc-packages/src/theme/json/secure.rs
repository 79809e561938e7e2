//! Removes what users who may not use any HTML cannot store in global styles.

use serde_json::{Map, Value};
use svc_content::{blocks::BlockTypes, css::filter_declarations};

use super::{
    PRESETS, Presets, StyleOrigin, migrate, resolve, retain_settings,
    styles::{Nested, StyleNode, clean, widths},
    tables::{BOOLEANS, INDIRECT_PROPERTIES, PROPERTIES, TOP_LEVEL},
};
use crate::theme::Theme;

/// Names of the origins of presets in stored styles.
const ORIGINS: [&str; 4] = ["default", "blocks", "theme", "custom"];

/// The blocks and the variations of blocks that styles can be for.
#[derive(Clone, Copy)]
pub struct RegisteredBlocks<'a> {
    /// The block types.
    pub types: &'a BlockTypes,
    /// The active theme, which defines further variations.
    pub theme: Option<&'a Theme>,
}

impl RegisteredBlocks<'_> {
    fn has(&self, block: &str) -> bool {
        self.types.get(block).is_some()
    }

    fn has_variation(&self, block: &str, name: &str) -> bool {
        let of_type = self.types.get(block).is_some_and(|block| block.styles.iter().any(|style| style["name"] == name));
        of_type || self.theme.is_some_and(|theme| theme.has_block_variation(block, name))
    }
}

/// Removes unknown properties, values that are no harmless CSS, presets whose names are no plain text, and custom CSS
/// from the user's styles and settings, as in `theme.json`.
///
/// Source: `WP_Theme_JSON::remove_insecure_properties`, for users without the capability `edit_css`.
pub fn without_insecure_properties(
    mut members: Map<String, Value>,
    registered: RegisteredBlocks<'_>,
) -> Map<String, Value> {
    migrate(&mut members, StyleOrigin::Custom);
    members.retain(|name, _| TOP_LEVEL.contains(&name.as_str()));
    let widths = widths(members.get("settings"));
    members.retain(|name, value| {
        let secure = match (name.as_str(), &mut *value) {
            ("styles", Value::Object(styles)) => {
                clean(styles, StyleNode::Page, &widths, &|block| registered.has(block));
                secure_styles(styles, StyleNode::Page, &widths, registered)
            }
            ("settings", Value::Object(settings)) => secure_root_settings(settings, registered),
            ("styles" | "settings", _) => return false,
            _ => return true,
        };
        let is_left = !secure.is_empty();
        *value = Value::Object(secure);
        is_left
    });
    members
}

/// The harmless styles of an object and of all that is nested in it.
fn secure_styles(
    styles: &Map<String, Value>,
    node: StyleNode<'_>,
    widths: &[&str],
    registered: RegisteredBlocks<'_>,
) -> Map<String, Value> {
    let mut out = harmless_properties(styles);
    for (name, value) in styles {
        let (Some(nested), Some(members)) = (node.nested(name, widths), value.as_object()) else { continue };
        match nested {
            Nested::One(child) if is_dropped(node, child) => {}
            Nested::One(child) => {
                let inner = secure_styles(members, child, widths, registered);
                if !inner.is_empty() || keeps_empty(node, child) {
                    out.insert(name.clone(), object(inner));
                }
            }
            Nested::Named => {
                let mut secure = Map::new();
                for (member, value) in members {
                    let child = node.member(name, member);
                    let Some(styles) = value.as_object().filter(|_| !is_dropped(node, child)) else { continue };
                    if name == "variations" && !is_variation(node, member, registered) {
                        continue;
                    }
                    let inner = secure_styles(styles, child, widths, registered);
                    if !inner.is_empty() || keeps_empty(node, child) {
                        secure.insert(member.clone(), object(inner));
                    }
                }
                if !secure.is_empty() {
                    out.insert(name.clone(), Value::Object(secure));
                }
            }
        }
    }
    out
}

fn is_variation(node: StyleNode<'_>, name: &str, registered: RegisteredBlocks<'_>) -> bool {
    matches!(node, StyleNode::Block(block) if registered.has_variation(block, name))
}

/// Whether nested styles are removed in any case: WordPress does not look at all that can be nested in variations.
fn is_dropped(node: StyleNode<'_>, child: StyleNode<'_>) -> bool {
    use StyleNode::{ClassState, Element, InnerBlock, InnerBlockAtWidth, Leaf, Variation};
    matches!(
        (node, child),
        (Variation(_) | InnerBlock(_), Leaf) | (InnerBlock(_), ClassState(_)) | (InnerBlockAtWidth(_), Element(_))
    )
}

/// Whether nested styles remain, without properties, if none is harmless.
fn keeps_empty(node: StyleNode<'_>, child: StyleNode<'_>) -> bool {
    use StyleNode::{BlockAtWidth, Element, InnerBlock, InnerBlockAtWidth, Leaf, Variation, VariationAtWidth};
    matches!(
        (node, child),
        (_, BlockAtWidth(_) | VariationAtWidth(_) | InnerBlockAtWidth(_) | InnerBlock(_))
            | (Element(_) | VariationAtWidth(_) | InnerBlockAtWidth(_), Leaf)
            | (Variation(_) | VariationAtWidth(_) | InnerBlock(_), Element(_))
    )
}

/// An object; an empty one is an empty list, as PHP encodes it.
fn object(members: Map<String, Value>) -> Value {
    if members.is_empty() { Value::Array(Vec::new()) } else { Value::Object(members) }
}

/// The value at a path of objects.
fn at<'v>(members: &'v Map<String, Value>, path: &[&str]) -> Option<&'v Value> {
    let (first, rest) = path.split_first()?;
    rest.iter().try_fold(members.get(*first)?, |value, name| value.as_object()?.get(*name))
}

/// Sets the value at a path of objects.
fn set(members: &mut Map<String, Value>, path: &[&str], value: Value) {
    match path {
        [] => {}
        [name] => {
            members.insert((*name).to_owned(), value);
        }
        [name, rest @ ..] => {
            let inner = members.entry(*name).or_insert_with(|| Value::Object(Map::new()));
            // A text at the path itself and properties below it exclude each other.
            if let Some(inner) = inner.as_object_mut() {
                set(inner, rest, value);
            }
        }
    }
}

/// The styles that are harmless CSS.
fn harmless_properties(styles: &Map<String, Value>) -> Map<String, Value> {
    let mut out = Map::new();
    for (property, path) in PROPERTIES {
        let Some(value) = at(styles, path).filter(|value| has_value(value)) else { continue };
        let mut css = svc_php::cast::to_text(value).into_owned();
        // Both are printed as one declaration.
        if *property == "background-image"
            && let Some(Value::String(gradient)) =
                at(styles, &["background", "gradient"]).filter(|value| has_value(value))
        {
            css = format!("{gradient}, {css}");
        }
        if is_harmless(property, &css) {
            set(&mut out, path, value.clone());
        }
    }
    add_indirect_properties(styles, &mut out);
    out
}

/// Whether a value is printed: numbers are, and all else that PHP does not consider empty; lists and objects are not.
fn has_value(value: &Value) -> bool {
    match value {
        Value::String(text) => !text.is_empty(),
        Value::Number(_) | Value::Bool(true) => true,
        _ => false,
    }
}

/// Adds the texts that are part of other declarations.
fn add_indirect_properties(members: &Map<String, Value>, out: &mut Map<String, Value>) {
    for (property, path) in INDIRECT_PROPERTIES {
        if let Some(Value::String(text)) = at(members, path)
            && is_harmless(property, text)
        {
            set(out, path, text.as_str().into());
        }
    }
}

fn is_harmless(property: &str, value: &str) -> bool {
    !svc_text::trim(&filter_declarations(&format!("{property}: {value}"))).is_empty()
}

/// The harmless settings, and those of blocks.
fn secure_root_settings(settings: &mut Map<String, Value>, registered: RegisteredBlocks<'_>) -> Map<String, Value> {
    retain_settings(settings, true);
    resolve_all(settings);
    let mut out = secure_settings(settings);
    if let Some(viewport) = settings.get("viewport") {
        out.insert("viewport".to_owned(), viewport.clone());
    }
    let mut blocks = Map::new();
    for (name, of_block) in settings.get_mut("blocks").and_then(Value::as_object_mut).into_iter().flatten() {
        let Some(of_block) = of_block.as_object_mut().filter(|_| registered.has(name)) else { continue };
        retain_settings(of_block, false);
        let secure = secure_settings(of_block);
        if !secure.is_empty() {
            blocks.insert(name.clone(), Value::Object(secure));
        }
    }
    if !blocks.is_empty() {
        out.insert("blocks".to_owned(), Value::Object(blocks));
    }
    out
}

/// Expands references to presets.
fn resolve_all(settings: &mut Map<String, Value>) {
    settings.values_mut().for_each(|value| resolve(value, 0));
}

fn secure_settings(settings: &Map<String, Value>) -> Map<String, Value> {
    let mut out = Map::new();
    for presets in PRESETS {
        let (group, name) = presets.path;
        for origin in ORIGINS {
            let Some(Value::Array(list)) = at(settings, &[group, name, origin]) else { continue };
            let harmless: Vec<Value> =
                list.iter().filter(|preset| is_harmless_preset(preset, presets)).cloned().collect();
            if !harmless.is_empty() {
                set(&mut out, &[group, name, origin], harmless.into());
            }
        }
    }
    add_indirect_properties(settings, &mut out);
    for group in BOOLEANS {
        for (name, value) in settings.get(*group).and_then(Value::as_object).into_iter().flatten() {
            set(&mut out, &[group, name], value.clone());
        }
    }
    out
}

/// Whether a preset has a name without markup, a slug that is part of a class name, and a harmless value.
fn is_harmless_preset(preset: &Value, presets: &Presets) -> bool {
    let (Some(name), Some(slug)) = (preset["name"].as_str(), preset["slug"].as_str()) else { return false };
    if svc_text::esc_html(name) != name || svc_text::sanitize_html_class(slug, "") != slug {
        return false;
    }
    let value = presets.value.map_or(&Value::Null, |key| &preset[key]);
    let css = svc_php::cast::to_text(value);
    presets.properties.iter().all(|property| is_harmless(property, &css))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Styles and what WordPress stores of them for a user who may not use any HTML.
    const VECTORS: &str = include_str!("../../../testdata/insecure_styles.jsonl");

    #[test]
    fn stores_what_wordpress_stores() {
        let registered = RegisteredBlocks { types: BlockTypes::core(), theme: None };
        let mut count = 0;
        let mut failed = Vec::new();
        for line in VECTORS.lines() {
            let vector: Value = serde_json::from_str(line).unwrap();
            let Value::Object(given) = vector["given"].clone() else { panic!("{line}") };
            let stored = Value::Object(without_insecure_properties(given, registered));
            if stored != vector["stored"] {
                failed.push(format!("{}\n  expected {}\n  got      {stored}", vector["given"], vector["stored"]));
            }
            count += 1;
        }
        assert!(failed.is_empty(), "{}", failed.join("\n"));
        assert!(count > 70, "{count}");
    }
}
