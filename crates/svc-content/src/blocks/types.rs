//! Block types: what is known of a kind of block, whoever registers it.
//!
//! The core types stand in `core.json`, in the form of the `block.json` files of plugins and themes, with one member
//! more: `dynamic`. What the reference derives from such a file (attributes that supports bring, names of scripts) is
//! derived here. Reads no files.

use std::{
    fmt,
    sync::{Arc, LazyLock, OnceLock},
};

use indexmap::IndexMap;
use serde_json::{Map, Value, json};

use super::Hooks;

/// Makes the HTML of a block: its attributes, completed, and its content with inner blocks rendered.
pub type RenderBlock = dyn Fn(&Map<String, Value>, &str) -> String + Send + Sync;

/// A kind of block.
#[derive(Clone, Default)]
pub struct BlockType {
    /// The full name, namespace included: `core/paragraph`.
    pub name: String,
    /// What people call it.
    pub title: String,
    /// What it is for.
    pub description: String,
    /// Under which heading editors offer it.
    pub category: Option<String>,
    /// Name of an icon, or an SVG.
    pub icon: Option<String>,
    /// Version of the interface that the block's code is written for.
    pub api_version: i64,
    /// Words that find it.
    pub keywords: Vec<String>,
    /// Blocks that it may stand in directly; any when nothing is said.
    pub parent: Option<Vec<String>>,
    /// Blocks that it may stand in at any depth.
    pub ancestor: Option<Vec<String>>,
    /// Blocks that may stand in it directly.
    pub allowed_blocks: Option<Vec<String>>,
    /// Attributes by name, each with its schema; those of supports included.
    pub attributes: Map<String, Value>,
    /// Names under which blocks inside see attributes of this one.
    pub provides_context: IndexMap<String, String>,
    /// What it wants to know from blocks around.
    pub uses_context: Vec<String>,
    /// CSS selectors of its parts.
    pub selectors: Map<String, Value>,
    /// Features that editor and theme may use on it.
    pub supports: Map<String, Value>,
    /// Styles to choose from.
    pub styles: Vec<Value>,
    /// Ready-made forms.
    pub variations: Vec<Value>,
    /// Blocks beside which it wants to stand, and where.
    pub block_hooks: Map<String, Value>,
    /// Domain of its translations.
    pub textdomain: Option<String>,
    /// A block to show in previews.
    pub example: Value,
    /// Names of its scripts and styles.
    pub assets: Assets,
    /// Its HTML is made when a page is.
    pub dynamic: bool,
    /// Makes the HTML of a type that code registers.
    pub render: Option<Arc<RenderBlock>>,
}

/// Names of the scripts and styles of a block type.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Assets {
    /// Scripts for the editor.
    pub editor_script: Vec<String>,
    /// Scripts for editor and pages.
    pub script: Vec<String>,
    /// Scripts for pages.
    pub view_script: Vec<String>,
    /// Script modules for pages.
    pub view_script_module: Vec<String>,
    /// Styles for the editor.
    pub editor_style: Vec<String>,
    /// Styles for editor and pages.
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
    /// A type with this name and title, and the attributes that every type has.
    pub fn new(name: &str, title: &str) -> Self {
        Self::from_json(&json!({"name": name, "title": title, "apiVersion": 3})).unwrap_or_default()
    }

    /// Reads the content of a `block.json`; nothing when it names no block. Source: `register_block_type_from_metadata`.
    pub fn from_json(file: &Value) -> Option<Self> {
        let name = file["name"].as_str().filter(|name| is_name(name))?;
        let text = |member: &str| file[member].as_str().map(str::to_owned);
        let map = |member: &str| file[member].as_object().cloned().unwrap_or_default();
        let list = |member: &str| file[member].as_array().map(|items| texts(items));
        let files = |member: &str, kind: &str| assets(name, kind, &file[member]);
        let mut made = BlockType {
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
            block_hooks: map("blockHooks").into_iter().filter_map(place_of_hook).collect(),
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
        made.add_support_attributes();
        Some(made)
    }

    /// Adds an attribute with its schema.
    pub fn attribute(mut self, name: &str, schema: Value) -> Self {
        self.attributes.insert(name.to_owned(), schema);
        self
    }

    /// Sets what the block supports, and adds the attributes that come with it.
    pub fn supports(mut self, supports: Value) -> Self {
        self.supports = supports.as_object().cloned().unwrap_or_default();
        self.add_support_attributes();
        self
    }

    /// Makes the block's HTML with this.
    pub fn rendered_by(mut self, render: impl Fn(&Map<String, Value>, &str) -> String + Send + Sync + 'static) -> Self {
        self.dynamic = true;
        self.render = Some(Arc::new(render));
        self
    }

    /// The part of the name before the slash.
    pub fn namespace(&self) -> &str {
        self.name.split_once('/').map_or("", |(namespace, _)| namespace)
    }

    /// A setting of its supports, by the path to it.
    pub fn support(&self, path: &[&str]) -> Option<&Value> {
        let (first, rest) = path.split_first()?;
        rest.iter().try_fold(self.supports.get(*first)?, |at, step| at.get(step))
    }

    /// Whether it supports a feature; `default` when nothing is said.
    pub fn has_support(&self, path: &[&str], default: bool) -> bool {
        self.support(path).map_or(default, is_on)
    }

    /// Whether the reference leaves it to the block's own code to show a feature (`__experimentalSkipSerialization`).
    pub fn shows_itself(&self, feature: &str, part: &str) -> bool {
        match self.support(&[feature, "__experimentalSkipSerialization"]) {
            Some(Value::Array(parts)) => parts.iter().any(|p| p == part),
            Some(all) => is_on(all),
            None => false,
        }
    }

    /// Attributes that every type has, and those that its supports bring. Those it has already stay.
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
        #[rustfmt::skip]
        let rows = [
            (true, "lock", object()),
            (true, "metadata", object()),
            (self.has_support(&["align"], false), "align", align),
            (self.has_support(&["customClassName"], true), "className", text()),
            (color("background", true), "backgroundColor", text()),
            (color("text", true), "textColor", text()),
            (color("gradients", false), "gradient", text()),
            (self.has_support(&["typography", "fontSize"], false), "fontSize", text()),
            (self.has_support(&["typography", "__experimentalFontFamily"], false), "fontFamily", text()),
            (has_border_color, "borderColor", text()),
            (has_layout, "layout", object()),
            (self.has_support(&["ariaLabel"], false), "ariaLabel", text()),
            (self.has_support(&["anchor"], false), "anchor", text()),
            (self.has_support(&["customCSS"], true), "style", object()),
        ];
        for (wanted, name, schema) in rows {
            if wanted && !self.attributes.contains_key(name) {
                self.attributes.insert(name.to_owned(), schema);
            }
        }
    }
}

/// Whether a text names a block type: `namespace/name`, of small letters, digits and hyphens.
pub fn is_name(name: &str) -> bool {
    let part = |part: &str| {
        part.starts_with(|c: char| c.is_ascii_lowercase())
            && part.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
    };
    name.split_once('/').is_some_and(|(namespace, name)| part(namespace) && part(name))
}

/// A list or map of settings that is empty is off, as any other empty value.
fn is_on(value: &Value) -> bool {
    svc_php::cast::truthy(value)
}

fn texts(items: &[Value]) -> Vec<String> {
    items.iter().filter_map(|item| item.as_str().map(str::to_owned)).collect()
}

/// Names of assets: those given, and for files (`file:./view.js`) ones made of the block's name, numbered from the second.
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

/// A hook's place as files spell it (`firstChild`) in the interface's spelling.
fn place_of_hook((anchor, place): (String, Value)) -> Option<(String, Value)> {
    let place = match place.as_str()? {
        place @ ("before" | "after") => place,
        "firstChild" => "first_child",
        "lastChild" => "last_child",
        _ => return None,
    };
    Some((anchor, place.into()))
}

/// The block types of a site, in the order of the interface: those that code registers, then those of the core, then
/// those that come with plugins and themes.
#[derive(Clone, Debug)]
pub struct BlockTypes {
    by_name: IndexMap<String, Arc<BlockType>>,
    /// Found out when they are first asked for.
    hooks: OnceLock<Hooks>,
}

static CORE: LazyLock<BlockTypes> = LazyLock::new(|| {
    let files: Vec<Value> = serde_json::from_str(include_str!("core.json")).unwrap_or_default();
    let types = files.iter().filter_map(BlockType::from_json);
    let by_name = types.map(|made| (made.name.clone(), Arc::new(made))).collect();
    BlockTypes { by_name, hooks: OnceLock::new() }
});

impl BlockTypes {
    /// The types that every site has.
    pub fn core() -> &'static Self {
        &CORE
    }

    /// Registers a type by code, before those of the core; one of the same name gives way.
    pub fn register(&mut self, block_type: BlockType) {
        self.hooks.take();
        let place = self.by_name.keys().take_while(|name| !name.starts_with("core/")).count();
        match self.by_name.get_mut(&block_type.name) {
            Some(known) => *known = Arc::new(block_type),
            None => {
                self.by_name.shift_insert(place, block_type.name.clone(), Arc::new(block_type));
            }
        }
    }

    /// Adds a type that was found in a file, unless its name is taken.
    pub fn add_found(&mut self, block_type: BlockType) {
        self.hooks.take();
        self.by_name.entry(block_type.name.clone()).or_insert_with(|| Arc::new(block_type));
    }

    /// Changes a type that is registered, such as by adding a style.
    pub fn change(&mut self, name: &str, change: impl FnOnce(&mut BlockType)) {
        self.hooks.take();
        if let Some(known) = self.by_name.get_mut(name) {
            change(Arc::make_mut(known));
        }
    }

    /// The type with this name.
    pub fn get(&self, name: &str) -> Option<&Arc<BlockType>> {
        self.by_name.get(name)
    }

    /// Which of them want to stand by others.
    pub fn hooks(&self) -> &Hooks {
        self.hooks.get_or_init(|| Hooks::of(self))
    }

    /// All types, in order.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<BlockType>> {
        self.by_name.values()
    }
}

impl Default for BlockTypes {
    fn default() -> Self {
        CORE.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn core_types_are_all_read() {
        let types = BlockTypes::core();
        assert_eq!(types.iter().count(), include_str!("core.json").matches("\n  \"name\": ").count());
        for block_type in types.iter() {
            assert!(!block_type.description.is_empty(), "{}", block_type.name);
            let from_supports = ["lock", "metadata"].iter().all(|name| block_type.attributes.contains_key(*name));
            assert!(from_supports, "{}", block_type.name);
        }
    }

    #[test]
    fn files_give_types() {
        let file = json!({
            "name": "my/box", "title": "Box", "render": "file:./render.php", "style": ["file:./a.css", "mine", "file:./b.css"],
            "editorScript": "file:./index.js", "viewScriptModule": "file:./view.js",
            "supports": {"color": {"text": false}, "align": ["wide"], "border": {"color": true}, "typography": {"fontSize": true}},
            "blockHooks": {"core/group": "firstChild", "core/list": "between"},
        });
        let made = BlockType::from_json(&file).unwrap();
        assert!(made.dynamic && made.api_version == 1);
        assert_eq!(made.assets.style, ["my-box-style", "mine", "my-box-style-3"]);
        assert_eq!(made.assets.editor_script, ["my-box-editor-script"]);
        assert_eq!(made.assets.view_script_module, ["my-box-view-script-module"]);
        assert_eq!(Value::Object(made.block_hooks), json!({"core/group": "first_child"}));
        let names: Vec<&String> = made.attributes.keys().collect();
        assert_eq!(
            names,
            ["lock", "metadata", "align", "className", "backgroundColor", "fontSize", "borderColor", "style"]
        );
        for name in ["box", "My/box", "my/box/x", "my/", "/x", "1/x", "my/_"] {
            assert!(BlockType::from_json(&json!({"name": name})).is_none(), "{name}");
        }
    }

    #[test]
    fn types_by_code_come_first_and_files_last() {
        let mut types = BlockTypes::default();
        types.register(BlockType::new("a/one", "One"));
        types.register(BlockType::new("a/two", "Two"));
        types.add_found(BlockType::new("b/three", "Three"));
        types.add_found(BlockType::new("a/one", "Not this"));
        let names: Vec<&str> = types.iter().map(|t| t.name.as_str()).collect();
        assert_eq!((&names[..2], names.last().copied()), (&["a/one", "a/two"][..], Some("b/three")));
        assert_eq!(types.get("a/one").unwrap().title, "One");
    }
}
