//! Theme supports: the features in the REST API, their schemas and defaults, and those of every block theme.

use serde_json::{Map, Value, json};
use svc_packages::theme::Theme;
use svc_site::posts::formats::FORMATS;

/// Boolean features and their descriptions.
#[rustfmt::skip]
const FLAGS: &[(&str, &str)] = &[
    ("align-wide", "Blocks can use wide and full alignment."),
    ("automatic-feed-links", "Pages link to their feeds."),
    ("block-template-parts", "Block template parts can be edited."),
    ("block-templates", "Pages are rendered from block templates."),
    ("customize-selective-refresh-widgets", "Previews can refresh single widgets."),
    ("dark-editor-style", "The editor uses the theme's dark style."),
    ("disable-custom-colors", "Custom colors are disabled."),
    ("disable-custom-font-sizes", "Custom font sizes are disabled."),
    ("disable-custom-gradients", "Custom gradients are disabled."),
    ("disable-layout-styles", "Layout styles of blocks are disabled."),
    ("editor-styles", "The theme provides editor styles."),
    ("responsive-embeds", "Embedded content keeps its aspect ratio."),
    ("title-tag", "The server renders the title element."),
    ("wp-block-styles", "Default block styles are enabled."),
];

/// Features that are lists of presets: name, description and the properties of a preset.
#[rustfmt::skip]
const PRESETS: &[(&str, &str, &[(&str, &str)])] = &[
    ("editor-color-palette", "Color palette of the editor.", &[("name", "string"), ("slug", "string"), ("color", "string")]),
    ("editor-font-sizes", "Font sizes of the editor.", &[("name", "string"), ("size", "number"), ("slug", "string")]),
    ("editor-gradient-presets", "Gradient presets of the editor.", &[("name", "string"), ("gradient", "string"), ("slug", "string")]),
    ("editor-spacing-sizes", "Spacing sizes of the editor.", &[("name", "string"), ("size", "string"), ("slug", "string")]),
];

/// Features that every block theme supports.
const OF_BLOCK_THEMES: [&str; 4] = ["automatic-feed-links", "editor-styles", "responsive-embeds", "post-thumbnails"];
/// HTML5 markup that every block theme supports.
const HTML5: [&str; 7] = ["comment-form", "comment-list", "search-form", "gallery", "caption", "style", "script"];

/// The schema of all features, by name.
pub fn schemas() -> Map<String, Value> {
    let flag_schema = |(name, description): &(&str, &str)| {
        ((*name).to_owned(), json!({"description": description, "type": "boolean", "default": false}))
    };
    let mut all: Map<String, Value> = FLAGS.iter().map(flag_schema).collect();
    for (name, description, properties) in PRESETS {
        let properties: Map<String, Value> =
            properties.iter().map(|(name, kind)| ((*name).to_owned(), json!({"type": kind}))).collect();
        let item = json!({"type": "object", "properties": properties, "additionalProperties": false});
        let schema = json!({"description": description, "type": ["boolean", "array"], "default": false, "items": item});
        all.insert((*name).to_owned(), schema);
    }
    let object = |description: &str, properties: Value| {
        json!({"description": description, "type": ["boolean", "object"], "default": false, "properties": properties,
            "additionalProperties": false})
    };
    let (text, flag, number) = (json!({"type": "string"}), json!({"type": "boolean"}), json!({"type": "integer"}));
    let url = json!({"type": "string", "format": "uri"});
    let choice = |values: &[&str]| json!({"type": "string", "enum": values});
    let background = json!({
        "default-image": url,
        "default-preset": choice(&["default", "fill", "fit", "repeat", "custom"]),
        "default-position-x": choice(&["left", "center", "right"]),
        "default-position-y": choice(&["left", "center", "right"]),
        "default-size": choice(&["auto", "contain", "cover"]),
        "default-repeat": choice(&["repeat-x", "repeat-y", "repeat", "no-repeat"]),
        "default-attachment": choice(&["scroll", "fixed"]),
        "default-color": text,
    });
    let header = json!({
        "default-image": url, "random-default": flag, "width": number, "height": number, "flex-height": flag,
        "flex-width": flag, "default-text-color": text, "header-text": flag, "uploads": flag, "video": flag,
    });
    let logo = json!({
        "width": number, "height": number, "flex-width": flag, "flex-height": flag,
        "header-text": {"type": "array", "items": text}, "unlink-homepage-logo": flag,
    });
    all.insert("custom-background".to_owned(), object("Settings of the custom background.", background));
    all.insert("custom-header".to_owned(), object("Settings of the custom header image.", header));
    all.insert("custom-logo".to_owned(), object("Settings of the custom logo.", logo));
    // An object keyed by name, as in WordPress.
    let formats: Map<String, Value> = FORMATS.iter().map(|f| ((*f).to_owned(), Value::from(*f))).collect();
    let formats = json!({"description": "Supported post formats.", "type": "array", "default": ["standard"],
        "items": {"type": "string", "enum": formats}});
    all.insert("formats".to_owned(), formats);
    let kinds = ["search-form", "comment-form", "comment-list", "gallery", "caption", "script", "style"];
    let html5 = json!({"description": "Elements that are rendered as HTML5 markup.", "type": ["boolean", "array"],
        "default": false, "items": {"type": "string", "enum": kinds}});
    all.insert("html5".to_owned(), html5);
    let thumbnails = json!({"description": "Post types that support featured images; true for all types.",
        "type": ["boolean", "array"], "default": false, "items": text});
    all.insert("post-thumbnails".to_owned(), thumbnails);
    // WordPress lists them by name, except for these two pairs.
    all.sort_keys();
    let mut move_before = |name: &str, next: &str| {
        if let (Some(value), Some(at)) = (all.shift_remove(name), all.keys().position(|key| key == next)) {
            all.shift_insert(at, name.to_owned(), value);
        }
    };
    move_before("block-templates", "block-template-parts");
    move_before("html5", "formats");
    all
}

/// Features of a theme that declares none: defaults, and those that follow from its files.
pub fn usual(is_block_theme: bool, has_json: bool) -> Map<String, Value> {
    let mut all: Map<String, Value> = schemas().iter().map(|(name, s)| (name.clone(), s["default"].clone())).collect();
    if is_block_theme {
        for name in OF_BLOCK_THEMES {
            all.insert(name.to_owned(), true.into());
        }
        all.insert("html5".to_owned(), json!(HTML5));
    }
    all.insert("block-templates".to_owned(), (is_block_theme || has_json).into());
    all
}

/// Features that a theme supports. Those in `declared` take precedence.
pub(super) fn of(theme: &Theme, declared: &Map<String, Value>) -> Map<String, Value> {
    let mut all = usual(theme.is_block_theme, theme.has_json);
    for (name, value) in declared {
        if let Some(feature) = all.get_mut(name) {
            *feature = value.clone();
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_match_their_schemas() {
        for (name, schema) in schemas() {
            let default = schema["default"].clone();
            svc_schema::Schema::compile(schema).validate(&default, &name).expect("the default matches the schema");
        }
    }
}
