//! `theme.json`: settings and styles of WordPress's defaults, the theme, and the user.
//!
//! Files are parsed ([`ThemeJson::new`]), merged ([`ThemeJson::merge`]) and returned in the REST API's format. This
//! module generates no CSS.

mod export;
mod secure;
mod spacing;
mod styles;
mod tables;

use std::sync::LazyLock;

use serde_json::{Map, Value};

pub use secure::{RegisteredBlocks, without_insecure_properties};
use styles::StyleNode;
use tables::{APPEARANCE_TOOLS, BOOLEANS, DEFAULT_WIDTHS, FONT_FACE, FONT_FAMILY, RENAMED, ROOT_SETTINGS, SETTINGS};
pub(crate) use tables::{ELEMENTS, PRESETS, Presets};

/// The current version of the format.
pub const VERSION: u64 = 3;
/// Maximum nesting depth; deeper properties are dropped.
const MAX_DEPTH: usize = 24;

/// StyleOrigin of settings and styles. Presets are stored per origin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum StyleOrigin {
    /// WordPress's defaults.
    Default,
    /// The theme.
    Theme,
    /// The user's customizations.
    Custom,
}

impl StyleOrigin {
    /// All origins, in merge order.
    pub const ALL: [StyleOrigin; 3] = [StyleOrigin::Default, StyleOrigin::Theme, StyleOrigin::Custom];

    /// The name in the REST API.
    pub fn name(self) -> &'static str {
        match self {
            StyleOrigin::Default => "default",
            StyleOrigin::Theme => "theme",
            StyleOrigin::Custom => "custom",
        }
    }
}

/// Validated settings and styles. Unknown properties are removed and presets are grouped by origin.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ThemeJson(Map<String, Value>);

impl ThemeJson {
    /// Parses a file or a stored document.
    pub fn new(source: Value, origin: StyleOrigin) -> Self {
        let Value::Object(mut source) = source else { return ThemeJson::default() };
        migrate(&mut source, origin);
        let widths = styles::widths(source.get("settings"));
        // A file with block types is a variation of them.
        let node = if source.contains_key("blockTypes") { StyleNode::Variation("") } else { StyleNode::Page };
        if let Some(Value::Object(settings)) = source.get_mut("settings") {
            expand_appearance_tools(settings);
            clean_settings(settings, origin, true);
        }
        if let Some(Value::Object(styles)) = source.get_mut("styles") {
            styles::clean(styles, node, &widths, &is_block_name);
        }
        for name in ["settings", "styles"] {
            if source.get(name).is_some_and(|v| v.as_object().is_none_or(Map::is_empty)) {
                source.shift_remove(name);
            }
        }
        ThemeJson(source)
    }

    /// The default settings and styles. The values are WordPress's; stored content relies on them.
    pub fn core() -> &'static ThemeJson {
        static CORE: LazyLock<ThemeJson> = LazyLock::new(|| {
            let source = serde_json::from_str(include_str!("core.json")).expect("core.json is invalid");
            ThemeJson::new(source, StyleOrigin::Default)
        });
        &CORE
    }

    /// A top-level property, such as `title` or `customTemplates`.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.0.get(name)
    }

    /// All top-level properties.
    pub fn members(&self) -> &Map<String, Value> {
        &self.0
    }

    /// The settings; null if there are none.
    pub fn settings(&self) -> &Value {
        self.0.get("settings").unwrap_or(&Value::Null)
    }

    /// The styles; null if there are none.
    pub fn styles(&self) -> &Value {
        self.0.get("styles").unwrap_or(&Value::Null)
    }

    /// Adds style variations of blocks. `of_blocks` contains `(name, blocks, styles)`.
    ///
    /// Styles of a variation, from `variations` in the top-level styles, are copied to each of its blocks. Styles
    /// defined for the block itself take precedence over them, and they take precedence over the variation's own file.
    pub(crate) fn add_variations(&mut self, of_blocks: &[(String, Vec<String>, Value)]) {
        let shared = self.0.get_mut("styles").and_then(|s| s.as_object_mut()?.shift_remove("variations"));
        let shared = shared.unwrap_or_default();
        for (name, blocks, styles) in of_blocks {
            let mut target = styles.clone();
            if let Some(shared) = shared.get(name) {
                replace_recursive(&mut target, shared);
            }
            if target.as_object().is_none_or(Map::is_empty) {
                continue;
            }
            let styles = self.0.entry("styles").or_insert_with(|| Value::Object(Map::new()));
            for block in blocks {
                let own = &mut styles["blocks"][block]["variations"][name];
                let over = std::mem::replace(own, target.clone());
                if over.is_object() {
                    replace_recursive(own, &over);
                }
            }
        }
    }

    /// Merges `over` on top: its properties replace existing ones, its presets only those of the same origin.
    ///
    /// Lists are merged by index, like PHP's `array_replace_recursive`. For example, the first template of a child
    /// theme replaces the parent's first template.
    pub fn merge(&mut self, over: &ThemeJson) {
        let mut settings = self.0.shift_remove("settings");
        for (name, value) in &over.0 {
            if name != "settings" {
                replace_recursive(self.0.entry(name.clone()).or_insert(Value::Null), value);
            }
        }
        if let Some(new) = over.0.get("settings") {
            let target = settings.get_or_insert(Value::Null);
            replace_recursive(target, new);
            replace_lists(target, new);
            for (block, of_block) in new["blocks"].as_object().into_iter().flatten() {
                replace_lists(&mut target["blocks"][block], of_block);
            }
        }
        if let Some(mut settings) = settings {
            drop_redefined_defaults(&mut settings);
            self.0.insert("settings".to_owned(), settings);
        }
    }
}

/// Replaces lists that represent a single value instead of merging them.
fn replace_lists(target: &mut Value, new: &Value) {
    let mut replace = |group: &str, name: &str, origin: Option<&str>| {
        let new = &new[group][name];
        let (new, target) = match origin {
            Some(origin) => (&new[origin], &mut target[group][name][origin]),
            None => (new, &mut target[group][name]),
        };
        *target = new.clone();
    };
    if new["spacing"]["units"].is_array() {
        replace("spacing", "units", None);
    }
    for presets in PRESETS {
        let (group, name) = presets.path;
        for origin in StyleOrigin::ALL {
            if new[group][name][origin.name()].is_array() {
                replace(group, name, Some(origin.name()));
            }
        }
    }
}

/// Removes theme presets that have the slug of a default preset, if the defaults are enabled.
fn drop_redefined_defaults(settings: &mut Value) {
    for presets in PRESETS {
        let (group, name) = presets.path;
        let Some(offered) = presets.defaults.map(|d| settings[group][d] == true) else { continue };
        let slugs: Vec<Value> =
            settings[group][name]["default"].as_array().into_iter().flatten().map(|p| p["slug"].clone()).collect();
        if let Some(Value::Array(theme)) = settings.pointer_mut(&format!("/{group}/{name}/theme"))
            && offered
        {
            theme.retain(|preset| !slugs.contains(&preset["slug"]));
        }
    }
}

/// PHP's `array_replace_recursive`.
fn replace_recursive(target: &mut Value, over: &Value) {
    match (target, over) {
        (Value::Object(target), Value::Object(over)) => {
            for (name, value) in over {
                match target.get_mut(name) {
                    Some(known) => replace_recursive(known, value),
                    None => {
                        target.insert(name.clone(), value.clone());
                    }
                }
            }
        }
        (Value::Array(target), Value::Array(over)) => {
            for (node, value) in over.iter().enumerate() {
                match target.get_mut(node) {
                    Some(known) => replace_recursive(known, value),
                    None => target.push(value.clone()),
                }
            }
        }
        (target, over) => *target = over.clone(),
    }
}

/// Migrates older files to the current version. Presets defined by a version 2 theme replace the defaults; those of the
/// user do not.
fn migrate(source: &mut Map<String, Value>, origin: StyleOrigin) {
    let version = source.get("version").and_then(Value::as_u64).unwrap_or(1);
    if version == 1
        && let Some(Value::Object(settings)) = source.get_mut("settings")
    {
        rename(settings);
        let blocks = settings.get_mut("blocks").and_then(Value::as_object_mut);
        blocks.into_iter().flat_map(Map::values_mut).filter_map(Value::as_object_mut).for_each(rename);
    }
    if version < VERSION
        && origin != StyleOrigin::Custom
        && let Some(settings) = source.get_mut("settings").filter(|s| s.is_object())
    {
        if settings["typography"]["fontSizes"].is_array() {
            settings["typography"]["defaultFontSizes"] = Value::Bool(false);
        }
        let spacing = &mut settings["spacing"];
        if spacing["spacingSizes"].is_array() || spacing["spacingScale"].is_object() {
            spacing["defaultSpacingSizes"] = Value::Bool(false);
        }
        if spacing["spacingSizes"].is_array()
            && let Some(spacing) = spacing.as_object_mut()
        {
            spacing.shift_remove("spacingScale");
        }
    }
    source.insert("version".to_owned(), VERSION.into());
}

/// Renames settings of version 1.
fn rename(settings: &mut Map<String, Value>) {
    for (group, old, new) in RENAMED {
        let Some(group) = settings.get_mut(group).and_then(Value::as_object_mut) else { continue };
        if let Some(value) = group.shift_remove(old) {
            group.insert(new.to_owned(), value);
        }
    }
}

/// Expands `appearanceTools` into the settings that it enables.
fn expand_appearance_tools(settings: &mut Map<String, Value>) {
    let on = |settings: &mut Map<String, Value>| {
        if settings.get("appearanceTools") != Some(&Value::Bool(true)) {
            return;
        }
        settings.shift_remove("appearanceTools");
        for (group, names) in APPEARANCE_TOOLS {
            let members = settings.entry(*group).or_insert_with(|| Value::Object(Map::new()));
            let Some(members) = members.as_object_mut() else { continue };
            for name in *names {
                members.entry(*name).or_insert(Value::Bool(true));
            }
        }
    };
    on(settings);
    for block in settings.get_mut("blocks").and_then(Value::as_object_mut).into_iter().flat_map(Map::values_mut) {
        if let Some(block) = block.as_object_mut() {
            on(block);
        }
    }
}

/// Drops unknown settings and groups presets by origin.
fn clean_settings(settings: &mut Map<String, Value>, origin: StyleOrigin, is_top_level: bool) {
    retain_settings(settings, is_top_level);
    if origin != StyleOrigin::Default
        && let Some(spacing) = settings.get_mut("spacing").and_then(Value::as_object_mut)
    {
        spacing::compute(spacing);
    }
    for presets in PRESETS {
        let (group, name) = presets.path;
        if let Some(list) = settings.get_mut(group).and_then(|g| g.get_mut(name)).filter(|l| l.is_array()) {
            *list = group_by_origin(origin, list.take());
        }
    }
    if let Some(scale) = settings.get_mut("spacing").and_then(|g| g.get_mut("spacingScale"))
        && StyleOrigin::ALL.iter().all(|o| scale.get(o.name()).is_none())
    {
        *scale = group_by_origin(origin, scale.take());
    }
    if let Some(blocks) = settings.get_mut("blocks").and_then(Value::as_object_mut) {
        blocks.retain(|name, block| {
            let block = block.as_object_mut().filter(|_| is_block_name(name));
            block.is_some_and(|block| {
                clean_settings(block, origin, false);
                !block.is_empty()
            })
        });
        if blocks.is_empty() {
            settings.shift_remove("blocks");
        }
    }
}

/// Drops unknown settings, except for those of blocks.
fn retain_settings(settings: &mut Map<String, Value>, is_top_level: bool) {
    settings.retain(|name, value| match SETTINGS.iter().find(|(known, _)| known == name) {
        _ if !is_top_level && ROOT_SETTINGS.contains(&name.as_str()) => false,
        Some(_) if name == "viewport" => {
            *value = viewport(value);
            true
        }
        Some((_, [])) => true,
        Some((_, members)) => {
            if BOOLEANS.contains(&name.as_str())
                && let Some(members) = value.as_object_mut()
            {
                members.retain(|_, value| value.is_boolean());
            }
            retain_properties(value, members)
        }
        None => is_top_level && name == "blocks",
    });
    if let Some(families) = settings.get_mut("typography").and_then(|group| group.get_mut("fontFamilies")) {
        let lists = match families {
            Value::Object(by_origin) => by_origin.values_mut().collect(),
            list => vec![list],
        };
        for family in lists.into_iter().filter_map(Value::as_array_mut).flatten() {
            retain_properties(family, FONT_FAMILY);
            let faces = family.get_mut("fontFace").and_then(Value::as_array_mut);
            for face in faces.into_iter().flatten() {
                retain_properties(face, FONT_FACE);
            }
        }
    }
}

/// The widths that end the styles for small screens: valid lengths, the second larger than the first, otherwise the
/// defaults.
fn viewport(setting: &Value) -> Value {
    let length = |name: &str| {
        let text = svc_text::trim(setting[name].as_str()?);
        Some((text, pixels(text)?))
    };
    let mut widths = Map::new();
    match (length("mobile"), length("tablet")) {
        (None, None) => widths.extend(DEFAULT_WIDTHS.map(|(name, width)| (name.to_owned(), width.into()))),
        (Some((mobile, least)), tablet) => {
            widths.insert("mobile".to_owned(), mobile.into());
            if let Some((tablet, _)) = tablet.filter(|(_, most)| least < *most) {
                widths.insert("tablet".to_owned(), tablet.into());
            }
        }
        (None, Some((tablet, _))) => {
            widths.insert("tablet".to_owned(), tablet.into());
        }
    }
    Value::Object(widths)
}

/// A length in pixels, with 16 pixels per `em` and `rem`; `None` for other units.
fn pixels(length: &str) -> Option<f64> {
    let (number, factor) = [("px", 1.0), ("rem", 16.0), ("em", 16.0)]
        .iter()
        .find_map(|(unit, factor)| Some((length.strip_suffix(unit)?, factor)))?;
    let is_number = number.bytes().all(|b| b.is_ascii_digit() || b == b'.') && !number.ends_with('.');
    if is_number { number.parse::<f64>().ok().map(|number| number * factor) } else { None }
}

fn group_by_origin(origin: StyleOrigin, value: Value) -> Value {
    Value::Object(Map::from_iter([(origin.name().to_owned(), value)]))
}

/// Retains the named properties of an object and returns whether any are left.
fn retain_properties(value: &mut Value, names: &[&str]) -> bool {
    let Some(members) = value.as_object_mut() else { return false };
    members.retain(|name, _| names.contains(&name.as_str()));
    !members.is_empty()
}

/// Returns whether `name` is a valid block name.
fn is_block_name(name: &str) -> bool {
    name.split_once('/').is_some_and(|(space, name)| {
        let is_word = |s: &str| !s.is_empty() && s.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_');
        is_word(space) && is_word(name)
    })
}

/// Expands `var:preset|color|base` to `var(--wp--preset--color--base)`.
fn resolve(value: &mut Value, depth: usize) {
    match value {
        Value::String(text) => {
            if let Some(path) = text.strip_prefix("var:") {
                *text = format!("var(--wp--{})", path.replace('|', "--"));
            }
        }
        Value::Object(members) if depth < MAX_DEPTH => members.values_mut().for_each(|v| resolve(v, depth + 1)),
        Value::Array(items) if depth < MAX_DEPTH => items.iter_mut().for_each(|v| resolve(v, depth + 1)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(over: Value, path: &str, expected: Value) {
        let mut merged = ThemeJson::core().clone();
        merged.merge(&ThemeJson::new(over, StyleOrigin::Theme));
        let merged = Value::Object(merged.members().clone());
        assert_eq!(merged.pointer(path).unwrap_or(&Value::Null), &expected, "{path}");
    }

    /// WordPress's responses for these themes, from `global-styles/themes/…`.
    #[test]
    fn merges_themes_with_the_defaults() {
        let theme = json!({"version": 3, "settings": {"appearanceTools": true, "nonsense": 1,
            "color": {"palette": [{"slug": "black", "color": "#010101"}, {"slug": "own", "color": "#020202"}], "x": 1},
            "spacing": {"margin": false}, "custom": {"any": {"thing": [1]}}}});
        check(theme.clone(), "/settings/appearanceTools", json!(false));
        check(theme.clone(), "/settings/border/radius", json!(true));
        check(theme.clone(), "/settings/spacing/margin", json!(false));
        check(theme.clone(), "/settings/spacing/blockGap", json!(true));
        check(theme.clone(), "/settings/color/palette/theme", json!([{"slug": "own", "color": "#020202"}]));
        check(theme.clone(), "/settings/color/palette/default/0/color", json!("#000000"));
        check(theme.clone(), "/settings/nonsense", Value::Null);
        check(theme.clone(), "/settings/custom", json!({"any": {"thing": [1]}}));
        check(theme, "/settings/color/x", Value::Null);
        let replacing = json!({"version": 3, "settings": {"color": {"defaultPalette": false,
            "palette": [{"slug": "black", "color": "#010101"}]}}});
        check(replacing, "/settings/color/palette/theme", json!([{"slug": "black", "color": "#010101"}]));
        let old = json!({"version": 2, "settings": {"typography": {"fontSizes": [{"slug": "small", "size": "1px"}]},
            "spacing": {"spacingScale": {"steps": 0}, "spacingSizes": [{"slug": "20", "size": "4px"}]}}});
        check(old.clone(), "/settings/typography/fontSizes/theme", json!([{"slug": "small", "size": "1px"}]));
        check(old.clone(), "/settings/spacing/defaultSpacingSizes", json!(false));
        check(old, "/settings/spacing/spacingScale/theme", Value::Null);
    }

    #[test]
    fn drops_unknown_styles() {
        let theme = json!({"version": 3, "styles": {
            "color": {"text": "var:preset|color|base", "bogus": "x"}, "bogus": {"x": 1},
            "elements": {"bogus": {"color": {"text": "red"}}, "h1": {":hover": {"color": {"text": "red"}}},
                "link": {":hover": {"color": {"text": "red"}}, ":bogus": {"color": {"text": "red"}}}},
            "blocks": {"core/group": {"elements": {"link": {"color": {"text": "green"}}}}, "bad name": {"css": "x"}}}});
        check(theme.clone(), "/styles/color", json!({"text": "var(--wp--preset--color--base)"}));
        check(theme.clone(), "/styles/elements/link", json!({":hover": {"color": {"text": "red"}}}));
        check(theme.clone(), "/styles/elements/h1", Value::Null);
        check(theme.clone(), "/styles/blocks/core~1group", json!({"elements": {"link": {"color": {"text": "green"}}}}));
        check(theme, "/styles/blocks/bad name", Value::Null);
    }

    /// The user's styles and settings, and how WordPress's REST API shows them.
    #[test]
    fn shows_what_wordpress_shows() {
        let mut failed = Vec::new();
        for line in include_str!("../../../testdata/shown_styles.jsonl").lines() {
            let row: Value = serde_json::from_str(line).unwrap();
            let mut shown = ThemeJson::new(row["given"].clone(), StyleOrigin::Custom).0;
            shown.retain(|name, _| matches!(name.as_str(), "styles" | "settings"));
            let shown = Value::Object(shown);
            if shown != row["shown"] {
                failed.push(format!("{}\n  expected {}\n  got      {shown}", row["given"], row["shown"]));
            }
        }
        assert!(failed.is_empty(), "{}", failed.join("\n"));
    }

    #[test]
    fn copies_variations_to_their_blocks() {
        let mut json = ThemeJson::new(
            json!({"styles": {
                "variations": {"dark": {"color": {"text": "white"}, "elements": {"link": {"color": {"text": "blue"}}}},
                    "other": {"color": {"text": "red"}}},
                "blocks": {"core/group": {"variations": {"dark": {"elements": {"link": {"color": {"text": "pink"}}},
                    "blocks": {"core/list": {"color": {"text": "grey"}, "variations": {"x": {"css": "y"}}}}}}}}}}),
            StyleOrigin::Theme,
        );
        let blocks = vec!["core/group".to_owned(), "core/columns".to_owned()];
        json.add_variations(&[("dark".to_owned(), blocks, json!({"color": {"text": "a", "background": "b"}}))]);
        let group = json!({"color": {"text": "white", "background": "b"}, "elements": {"link": {"color": {"text": "pink"}}},
            "blocks": {"core/list": {"color": {"text": "grey"}}}});
        assert_eq!(json.styles()["blocks"]["core/group"]["variations"]["dark"], group);
        let columns =
            json!({"color": {"text": "white", "background": "b"}, "elements": {"link": {"color": {"text": "blue"}}}});
        assert_eq!(json.styles()["blocks"]["core/columns"]["variations"]["dark"], columns);
        assert!(json.styles().get("variations").is_none());
    }

    #[test]
    fn child_themes_merge_lists_by_index() {
        let read = |value| ThemeJson::new(value, StyleOrigin::Theme);
        let mut parent = read(json!({"customTemplates": [{"name": "wide", "postTypes": ["post"]}, {"name": "bare"}],
            "settings": {"spacing": {"units": ["px", "rem"]}}}));
        parent.merge(&read(json!({"customTemplates": [{"name": "kid"}], "settings": {"spacing": {"units": ["em"]}}})));
        let expected = json!([{"name": "kid", "postTypes": ["post"]}, {"name": "bare"}]);
        assert_eq!(parent.get("customTemplates"), Some(&expected));
        assert_eq!(parent.settings()["spacing"]["units"], json!(["em"]));
    }
}
