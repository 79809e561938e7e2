//! `theme.json`: the settings and styles of a theme, of the site's own choice, and of the server itself.
//!
//! Read ([`ThemeJson::new`]), laid over one another ([`ThemeJson::merge`]) and shown as the interface does. No CSS is
//! made here.

mod export;
mod spacing;
mod tables;

use std::sync::LazyLock;

use serde_json::{Map, Value};

use tables::{APPEARANCE_TOOLS, SETTINGS, STATES, STYLES};
pub use tables::{ELEMENTS, PRESETS, Presets};

/// The version of the format that is written.
pub const VERSION: u64 = 3;
/// Members of nested members that are looked into; deeper ones are dropped.
const MAX_DEPTH: usize = 24;

/// Who says it. Presets are kept apart by this.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Origin {
    /// The server itself.
    Default,
    /// The theme.
    Theme,
    /// The site.
    Custom,
}

impl Origin {
    /// All, in the order in which they are laid over one another.
    pub const ALL: [Origin; 3] = [Origin::Default, Origin::Theme, Origin::Custom];

    /// The name in the interface.
    pub fn name(self) -> &'static str {
        match self {
            Origin::Default => "default",
            Origin::Theme => "theme",
            Origin::Custom => "custom",
        }
    }
}

/// Settings and styles that were understood: unknown members are gone, presets stand under their origin.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ThemeJson(Map<String, Value>);

impl ThemeJson {
    /// Understands a file or a stored text.
    pub fn new(source: Value, origin: Origin) -> Self {
        let Value::Object(mut source) = source else { return ThemeJson::default() };
        migrate(&mut source);
        if let Some(Value::Object(settings)) = source.get_mut("settings") {
            opt_in(settings);
            clean_settings(settings, origin, true);
        }
        if let Some(Value::Object(styles)) = source.get_mut("styles") {
            clean_styles(styles, Place::Page);
        }
        for name in ["settings", "styles"] {
            if source.get(name).is_some_and(|v| v.as_object().is_none_or(Map::is_empty)) {
                source.remove(name);
            }
        }
        ThemeJson(source)
    }

    /// What the server says itself. Its values are those of the reference, which stored content relies on.
    pub fn core() -> &'static ThemeJson {
        static CORE: LazyLock<ThemeJson> = LazyLock::new(|| {
            let source = serde_json::from_str(include_str!("core.json")).expect("the embedded file is JSON");
            ThemeJson::new(source, Origin::Default)
        });
        &CORE
    }

    /// A member of the file, such as `title` or `customTemplates`.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.0.get(name)
    }

    /// All members.
    pub fn members(&self) -> &Map<String, Value> {
        &self.0
    }

    /// The settings; null without any.
    pub fn settings(&self) -> &Value {
        self.0.get("settings").unwrap_or(&Value::Null)
    }

    /// The styles; null without any.
    pub fn styles(&self) -> &Value {
        self.0.get("styles").unwrap_or(&Value::Null)
    }

    /// Gives blocks the variations of their styles: `of_blocks` holds `(name, blocks, styles)`.
    ///
    /// What stands in the styles for all blocks of a variation, under `variations`, is put at each of them; what a block
    /// says itself counts more than that, and that more than what the variation's own file says.
    pub fn add_variations(&mut self, of_blocks: &[(String, Vec<String>, Value)]) {
        let shared = self.0.get_mut("styles").and_then(|s| s.as_object_mut()?.shift_remove("variations"));
        let shared = shared.unwrap_or_default();
        for (name, blocks, styles) in of_blocks {
            let mut below = styles.clone();
            if let Some(shared) = shared.get(name) {
                lay_over(&mut below, shared);
            }
            if below.as_object().is_none_or(Map::is_empty) {
                continue;
            }
            let styles = self.0.entry("styles").or_insert_with(|| Value::Object(Map::new()));
            for block in blocks {
                let own = &mut styles["blocks"][block]["variations"][name];
                let over = std::mem::replace(own, below.clone());
                if over.is_object() {
                    lay_over(own, &over);
                }
            }
        }
    }

    /// Lays `over` on top: members replace one another, presets only those of the same origin.
    ///
    /// Lists are joined place by place, as PHP's `array_replace_recursive` does; so a child theme's first template replaces
    /// the parent's first.
    pub fn merge(&mut self, over: &ThemeJson) {
        let mut settings = self.0.remove("settings");
        for (name, value) in &over.0 {
            if name != "settings" {
                lay_over(self.0.entry(name.clone()).or_insert(Value::Null), value);
            }
        }
        if let Some(new) = over.0.get("settings") {
            let below = settings.get_or_insert(Value::Null);
            lay_over(below, new);
            replace_lists(below, new);
            for (block, of_block) in new["blocks"].as_object().into_iter().flatten() {
                replace_lists(&mut below["blocks"][block], of_block);
            }
        }
        if let Some(mut settings) = settings {
            protect_defaults(&mut settings);
            self.0.insert("settings".to_owned(), settings);
        }
    }
}

/// Lists that are one value are replaced, not joined.
fn replace_lists(below: &mut Value, new: &Value) {
    let mut replace = |group: &str, name: &str, origin: Option<&str>| {
        let new = &new[group][name];
        let (new, below) = match origin {
            Some(origin) => (&new[origin], &mut below[group][name][origin]),
            None => (new, &mut below[group][name]),
        };
        *below = new.clone();
    };
    if new["spacing"]["units"].is_array() {
        replace("spacing", "units", None);
    }
    for presets in PRESETS {
        let (group, name) = presets.path;
        for origin in Origin::ALL {
            if new[group][name][origin.name()].is_array() {
                replace(group, name, Some(origin.name()));
            }
        }
    }
}

/// A theme does not redefine defaults that are offered beside its own presets: its presets of the same name go.
fn protect_defaults(settings: &mut Value) {
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
fn lay_over(below: &mut Value, over: &Value) {
    match (below, over) {
        (Value::Object(below), Value::Object(over)) => {
            for (name, value) in over {
                match below.get_mut(name) {
                    Some(known) => lay_over(known, value),
                    None => {
                        below.insert(name.clone(), value.clone());
                    }
                }
            }
        }
        (Value::Array(below), Value::Array(over)) => {
            for (place, value) in over.iter().enumerate() {
                match below.get_mut(place) {
                    Some(known) => lay_over(known, value),
                    None => below.push(value.clone()),
                }
            }
        }
        (below, over) => *below = over.clone(),
    }
}

/// Older files to the present version: what a theme of version 2 defines, it defines instead of the defaults.
fn migrate(source: &mut Map<String, Value>) {
    let version = source.get("version").and_then(Value::as_u64).unwrap_or(1);
    if version < VERSION
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

/// `appearanceTools` stands for many settings.
fn opt_in(settings: &mut Map<String, Value>) {
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

/// Drops what is no setting, and puts presets under their origin.
fn clean_settings(settings: &mut Map<String, Value>, origin: Origin, of_page: bool) {
    settings.retain(|name, value| match SETTINGS.iter().find(|(known, _)| known == name) {
        Some((_, [])) => true,
        Some((_, members)) => keep_members(value, members),
        None => of_page && name == "blocks",
    });
    if origin != Origin::Default
        && let Some(spacing) = settings.get_mut("spacing").and_then(Value::as_object_mut)
    {
        spacing::compute(spacing);
    }
    for presets in PRESETS {
        let (group, name) = presets.path;
        if let Some(list) = settings.get_mut(group).and_then(|g| g.get_mut(name)).filter(|l| l.is_array()) {
            *list = under(origin, list.take());
        }
    }
    if let Some(scale) = settings.get_mut("spacing").and_then(|g| g.get_mut("spacingScale"))
        && Origin::ALL.iter().all(|o| scale.get(o.name()).is_none())
    {
        *scale = under(origin, scale.take());
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

fn under(origin: Origin, value: Value) -> Value {
    Value::Object(Map::from_iter([(origin.name().to_owned(), value)]))
}

/// Keeps these members of an object; whether there is anything left.
fn keep_members(value: &mut Value, names: &[&str]) -> bool {
    let Some(members) = value.as_object_mut() else { return false };
    members.retain(|name, _| names.contains(&name.as_str()));
    !members.is_empty()
}

/// What styles belong to, which decides what stands in them.
#[derive(Clone, Copy, PartialEq)]
enum Place {
    Page,
    Block,
    Variation,
    BlockOfVariation,
    Element,
    State,
}

impl Place {
    /// What the members of this member are styles of.
    fn inside(self, name: &str) -> Option<Place> {
        Some(match (self, name) {
            (Place::Page, "blocks") => Place::Block,
            (Place::Variation, "blocks") => Place::BlockOfVariation,
            // Those of the page are for all blocks that have a variation of the name.
            (Place::Page | Place::Block, "variations") => Place::Variation,
            (Place::Element | Place::State, "elements") => return None,
            (_, "elements") => Place::Element,
            _ => return None,
        })
    }
}

/// Drops what is no style, and resolves short names of presets.
fn clean_styles(styles: &mut Map<String, Value>, place: Place) {
    styles.retain(|name, value| match STYLES.iter().find(|(known, _)| known == name) {
        Some((_, members)) => {
            if !members.is_empty() && !keep_members(value, members) {
                return false;
            }
            resolve(value, 0);
            true
        }
        None => clean_nested(name, value, place),
    });
}

/// Cleans further styles inside; whether there is anything left.
fn clean_nested(kind: &str, value: &mut Value, place: Place) -> bool {
    let Some(members) = value.as_object_mut() else { return false };
    if STATES.contains(&kind) {
        clean_styles(members, Place::State);
        return !members.is_empty();
    }
    let Some(inside) = place.inside(kind) else { return false };
    members.retain(|name, value| {
        let is_known = match kind {
            "elements" => ELEMENTS.iter().any(|(known, _)| known == name),
            "blocks" => is_block_name(name),
            _ => true,
        };
        let Some(styles) = value.as_object_mut().filter(|_| is_known) else { return false };
        if kind == "elements" && !matches!(name.as_str(), "link" | "button") {
            styles.retain(|name, _| !STATES.contains(&name.as_str()));
        }
        clean_styles(styles, inside);
        !styles.is_empty()
    });
    !members.is_empty()
}

/// Whether this can be the name of a block.
fn is_block_name(name: &str) -> bool {
    name.split_once('/').is_some_and(|(space, name)| {
        let is_word = |s: &str| !s.is_empty() && s.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_');
        is_word(space) && is_word(name)
    })
}

/// `var:preset|color|base` is short for `var(--wp--preset--color--base)`.
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
        merged.merge(&ThemeJson::new(over, Origin::Theme));
        let merged = Value::Object(merged.members().clone());
        assert_eq!(merged.pointer(path).unwrap_or(&Value::Null), &expected, "{path}");
    }

    /// What the reference shows of such themes, at `global-styles/themes/…`.
    #[test]
    fn a_theme_is_laid_over_the_defaults() {
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
    fn styles_keep_what_is_known() {
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

    #[test]
    fn variations_of_blocks_are_put_at_the_blocks() {
        let mut json = ThemeJson::new(
            json!({"styles": {
                "variations": {"dark": {"color": {"text": "white"}, "elements": {"link": {"color": {"text": "blue"}}}},
                    "other": {"color": {"text": "red"}}},
                "blocks": {"core/group": {"variations": {"dark": {"elements": {"link": {"color": {"text": "pink"}}},
                    "blocks": {"core/list": {"color": {"text": "grey"}, "variations": {"x": {"css": "y"}}}}}}}}}}),
            Origin::Theme,
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
    fn a_child_theme_joins_lists_place_by_place() {
        let read = |value| ThemeJson::new(value, Origin::Theme);
        let mut parent = read(json!({"customTemplates": [{"name": "wide", "postTypes": ["post"]}, {"name": "bare"}],
            "settings": {"spacing": {"units": ["px", "rem"]}}}));
        parent.merge(&read(json!({"customTemplates": [{"name": "kid"}], "settings": {"spacing": {"units": ["em"]}}})));
        let expected = json!([{"name": "kid", "postTypes": ["post"]}, {"name": "bare"}]);
        assert_eq!(parent.get("customTemplates"), Some(&expected));
        assert_eq!(parent.settings()["spacing"]["units"], json!(["em"]));
    }
}
