//! Block types.
//!
//! They are parsed from the format of the `block.json` files of plugins and themes. Properties that WordPress derives
//! from such a file (attributes of supports, script handles) are derived here. This module reads no files.

use std::{fmt, sync::Arc};

use indexmap::IndexMap;
use serde_json::{Map, Value, json};
use svc_text::Html;

/// Renders a block: receives its attributes with defaults, and its content with inner blocks rendered.
pub type RenderBlock = dyn Fn(&Map<String, Value>, &Html) -> Html + Send + Sync;

/// A block type.
#[derive(Clone, Default)]
pub struct BlockType {
    /// The full name with namespace: `core/paragraph`.
    pub name: String,
    /// Title for users.
    pub title: String,
    /// Description for users.
    pub description: String,
    /// The category in the editor's block library.
    pub category: Option<String>,
    /// Name of an icon, or an SVG.
    pub icon: Option<String>,
    /// Version of the block API.
    pub api_version: i64,
    /// Search terms.
    pub keywords: Vec<String>,
    /// Allowed parent blocks; `None` for any.
    pub parent: Option<Vec<String>>,
    /// Blocks of which one must be an ancestor.
    pub ancestor: Option<Vec<String>>,
    /// Allowed inner blocks.
    pub allowed_blocks: Option<Vec<String>>,
    /// Schemas of attributes by name, including those of supports.
    pub attributes: Map<String, Value>,
    /// Context for inner blocks: names, and the attributes with the values.
    pub provides_context: IndexMap<String, String>,
    /// Context values that the block uses.
    pub uses_context: Vec<String>,
    /// CSS selectors of the block's elements.
    pub selectors: Map<String, Value>,
    /// Block supports.
    pub supports: Map<String, Value>,
    /// Block styles.
    pub styles: Vec<Value>,
    /// Block variations.
    pub variations: Vec<Value>,
    /// Block hooks: anchor blocks and positions.
    pub block_hooks: Map<String, Value>,
    /// Text domain of the translations.
    pub textdomain: Option<String>,
    /// An example for previews.
    pub example: Value,
    /// Handles of scripts and styles.
    pub assets: Assets,
    /// Whether the block is rendered by code.
    pub dynamic: bool,
    /// Renderer of a block type that is registered by code.
    pub render: Option<Arc<RenderBlock>>,
}

/// Handles of the scripts and styles of a block type.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Assets {
    /// Scripts for the editor.
    pub editor_script: Vec<String>,
    /// Scripts for the editor and for pages.
    pub script: Vec<String>,
    /// Scripts for pages.
    pub view_script: Vec<String>,
    /// Script modules for pages.
    pub view_script_module: Vec<String>,
    /// Styles for the editor.
    pub editor_style: Vec<String>,
    /// Styles for the editor and for pages.
    pub style: Vec<String>,
    /// Styles for pages.
    pub view_style: Vec<String>,
}

impl fmt::Debug for BlockType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BlockType").field("name", &self.name).field("dynamic", &self.dynamic).finish_non_exhaustive()
    }
}

impl BlockType {
    /// Creates a block type with a name, a title, and the attributes of every type.
    pub fn new(name: &str, title: &str) -> Self {
        Self::from_json(&json!({"name": name, "title": title, "apiVersion": 3})).unwrap_or_default()
    }

    /// Parses a `block.json`; `None` without a valid name. Source: `register_block_type_from_metadata`.
    pub fn from_json(file: &Value) -> Option<Self> {
        let name = file["name"].as_str().filter(|name| is_name(name))?;
        let text = |property: &str| file[property].as_str().map(str::to_owned);
        let map = |property: &str| file[property].as_object().cloned().unwrap_or_default();
        let list = |property: &str| file[property].as_array().map(|items| texts(items));
        let files = |property: &str, kind: &str| assets(name, kind, &file[property]);
        let mut block_type = BlockType {
            name: name.to_owned(),
            title: text("title").unwrap_or_default(),
            description: text("description").unwrap_or_default(),
            category: text("category"),
            icon: text("icon"),
            api_version: file["apiVersion"].as_i64().unwrap_or(1),
            keywords: list("keywords").unwrap_or_default(),
            parent: list("parent"),
            ancestor: list("ancestor"),
            allowed_blocks: list("allowedBlocks"),
            attributes: map("attributes"),
            provides_context: map("providesContext")
                .into_iter()
                .filter_map(|(name, of)| Some((name, of.as_str()?.to_owned())))
                .collect(),
            uses_context: list("usesContext").unwrap_or_default(),
            selectors: map("selectors"),
            supports: map("supports"),
            styles: file["styles"].as_array().cloned().unwrap_or_default(),
            variations: file["variations"].as_array().cloned().unwrap_or_default(),
            block_hooks: map("blockHooks").into_iter().filter_map(hook_position).collect(),
            textdomain: text("textdomain"),
            example: file["example"].clone(),
            assets: Assets {
                editor_script: files("editorScript", "editor-script"),
                script: files("script", "script"),
                view_script: files("viewScript", "view-script"),
                view_script_module: files("viewScriptModule", "view-script-module"),
                editor_style: files("editorStyle", "editor-style"),
                style: files("style", "style"),
                view_style: files("viewStyle", "view-style"),
            },
            dynamic: file["dynamic"] == true || file["render"].is_string(),
            render: None,
        };
        block_type.add_support_attributes();
        Some(block_type)
    }

    /// Adds an attribute with its schema.
    pub fn attribute(mut self, name: &str, schema: Value) -> Self {
        // The attributes of supports come last.
        let end = self.attributes.keys().position(|name| name == "lock").unwrap_or(self.attributes.len());
        self.attributes.shift_insert(end, name.to_owned(), schema);
        self
    }

    /// Sets the block supports, and adds their attributes.
    pub fn supports(mut self, supports: Value) -> Self {
        self.supports = supports.as_object().cloned().unwrap_or_default();
        self.add_support_attributes();
        self
    }

    /// Sets the block's renderer.
    pub fn rendered_by(mut self, render: impl Fn(&Map<String, Value>, &Html) -> Html + Send + Sync + 'static) -> Self {
        self.dynamic = true;
        self.render = Some(Arc::new(render));
        self
    }

    /// The part of the name before the slash.
    pub fn namespace(&self) -> &str {
        self.name.split_once('/').map_or("", |(namespace, _)| namespace)
    }

    /// A setting of the supports, by its path.
    pub fn support(&self, path: &[&str]) -> Option<&Value> {
        let (first, rest) = path.split_first()?;
        rest.iter().try_fold(self.supports.get(*first)?, |at, step| at.get(step))
    }

    /// Whether the block supports a feature; `default` if there is no setting.
    pub fn has_support(&self, path: &[&str], default: bool) -> bool {
        self.support(path).map_or(default, is_on)
    }

    /// Whether the block's renderer applies the feature itself (`__experimentalSkipSerialization`).
    pub fn skips_serialization(&self, feature: &str, part: &str) -> bool {
        match self.support(&[feature, "__experimentalSkipSerialization"]) {
            Some(Value::Array(parts)) => parts.iter().any(|p| p == part),
            Some(all) => is_on(all),
            None => false,
        }
    }

    /// Adds the attributes of every type and of its supports, unless they exist.
    fn add_support_attributes(&mut self) {
        let text = || json!({"type": "string"});
        let object = || json!({"type": "object"});
        let color = |part: &str, default: bool| match self.support(&["color"]) {
            Some(Value::Object(color)) => color.get(part).map_or(default, is_on),
            Some(all) => default && is_on(all),
            None => false,
        };
        let border = ["border", "__experimentalBorder"].iter().find_map(|name| self.support(&[name]));
        let has_border_color = border.is_some_and(|b| b == &Value::Bool(true) || b.get("color").is_some_and(is_on));
        let has_layout = ["layout", "__experimentalLayout"].iter().any(|name| self.has_support(&[name], false));
        let align = json!({"type": "string", "enum": ["left", "center", "right", "wide", "full", ""]});
        let has_style = self.has_support(&["customCSS"], true);
        let supports_any = |names: &[&str]| names.iter().any(|name| self.has_support(&[name], false));
        // The first support that uses the attribute `style` adds it.
        let is_styled = supports_any(&["color", "typography", "border", "__experimentalBorder"]);
        let is_spaced = supports_any(&["spacing", "dimensions", "shadow", "background", "position"]);
        #[rustfmt::skip]
        let rows = [
            (true, "lock", object()),
            (true, "metadata", object()),
            (self.has_support(&["align"], false), "align", align),
            (self.has_support(&["customClassName"], true), "className", text()),
            (has_style && is_styled, "style", object()),
            (color("background", true), "backgroundColor", text()),
            (color("text", true), "textColor", text()),
            (color("gradients", false), "gradient", text()),
            (self.has_support(&["typography", "fontSize"], false), "fontSize", text()),
            (self.has_support(&["typography", "__experimentalFontFamily"], false), "fontFamily", text()),
            (has_border_color, "borderColor", text()),
            (has_layout, "layout", object()),
            (has_style && is_spaced, "style", object()),
            (self.has_support(&["ariaLabel"], false), "ariaLabel", text()),
            (self.has_support(&["anchor"], false), "anchor", text()),
            (has_style, "style", object()),
        ];
        for (is_supported, name, schema) in rows {
            if is_supported && !self.attributes.contains_key(name) {
                self.attributes.insert(name.to_owned(), schema);
            }
        }
    }
}

/// Whether this is a valid block name: `namespace/name`, with lowercase letters, digits and hyphens.
pub fn is_name(name: &str) -> bool {
    let part = |part: &str| {
        part.starts_with(|c: char| c.is_ascii_lowercase())
            && part.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
    };
    name.split_once('/').is_some_and(|(namespace, name)| part(namespace) && part(name))
}

/// Whether a setting is truthy. Empty arrays and objects are not.
fn is_on(value: &Value) -> bool {
    svc_php::cast::truthy(value)
}

fn texts(items: &[Value]) -> Vec<String> {
    items.iter().filter_map(|item| item.as_str().map(str::to_owned)).collect()
}

/// Asset handles: as given, or for files (`file:./view.js`) generated from the block's name, numbered from the second
/// one on.
fn assets(block: &str, kind: &str, value: &Value) -> Vec<String> {
    let given = match value {
        Value::String(_) => std::slice::from_ref(value),
        Value::Array(items) => items,
        _ => &[],
    };
    let name = |index: usize, given: &Value| {
        let given = given.as_str()?;
        if !given.starts_with("file:") {
            return Some(given.to_owned());
        }
        let number = if index > 0 { format!("-{}", index + 1) } else { String::new() };
        Some(format!("{}-{kind}{number}", block.replace('/', "-")))
    };
    given.iter().enumerate().filter_map(|(index, given)| name(index, given)).collect()
}

/// Converts a hook position from `block.json` (`firstChild`) to the REST API's form.
fn hook_position((anchor, position): (String, Value)) -> Option<(String, Value)> {
    let position = match position.as_str()? {
        position @ ("before" | "after") => position,
        "firstChild" => "first_child",
        "lastChild" => "last_child",
        _ => return None,
    };
    Some((anchor, position.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn block_json_files_are_parsed() {
        let file = json!({
            "name": "my/box", "title": "Box", "render": "file:./render.php", "style": ["file:./a.css", "mine", "file:./b.css"],
            "editorScript": "file:./index.js", "viewScriptModule": "file:./view.js",
            "supports": {"color": {"text": false}, "align": ["wide"], "border": {"color": true}, "typography": {"fontSize": true}},
            "blockHooks": {"core/group": "firstChild", "core/list": "between"},
        });
        let block_type = BlockType::from_json(&file).unwrap();
        assert!(block_type.dynamic && block_type.api_version == 1);
        assert_eq!(block_type.assets.style, ["my-box-style", "mine", "my-box-style-3"]);
        assert_eq!(block_type.assets.editor_script, ["my-box-editor-script"]);
        assert_eq!(block_type.assets.view_script_module, ["my-box-view-script-module"]);
        assert_eq!(Value::Object(block_type.block_hooks), json!({"core/group": "first_child"}));
        let names: Vec<&String> = block_type.attributes.keys().collect();
        assert_eq!(
            names,
            ["lock", "metadata", "align", "className", "style", "backgroundColor", "fontSize", "borderColor"]
        );
        for name in ["box", "My/box", "my/box/x", "my/", "/x", "1/x", "my/_"] {
            assert!(BlockType::from_json(&json!({"name": name})).is_none(), "{name}");
        }
    }
}
