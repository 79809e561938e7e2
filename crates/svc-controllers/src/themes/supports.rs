//! What a theme supports: every feature that the interface tells of, its default, and what themes made of blocks have.

use serde_json::{Map, Value, json};
use svc_packages::theme::Theme;
use svc_site::posts::formats::FORMATS;

/// Features that are on or off, and what they are.
#[rustfmt::skip]
const SWITCHES: &[(&str, &str)] = &[
    ("align-wide", "Blocks may be wide, or as wide as the window."),
    ("automatic-feed-links", "Pages name their feeds."),
    ("block-template-parts", "Template parts made of blocks can be edited."),
    ("block-templates", "Pages are drawn from templates made of blocks."),
    ("customize-selective-refresh-widgets", "Previews draw single widgets anew."),
    ("dark-editor-style", "The editor is dark."),
    ("disable-custom-colors", "Colours are chosen from the palette only."),
    ("disable-custom-font-sizes", "Font sizes are chosen from the list only."),
    ("disable-custom-gradients", "Gradients are chosen from the list only."),
    ("disable-layout-styles", "Layouts of blocks bring no styles."),
    ("editor-styles", "The theme has styles for the editor."),
    ("responsive-embeds", "Embedded content keeps its proportions."),
    ("title-tag", "Pages have their title from the server."),
    ("wp-block-styles", "Blocks have their opinionated styles."),
];

/// Lists of presets, each with the members of a preset.
#[rustfmt::skip]
const PRESETS: &[(&str, &str, &[(&str, &str)])] = &[
    ("editor-color-palette", "Colours to choose from.", &[("name", "string"), ("slug", "string"), ("color", "string")]),
    ("editor-font-sizes", "Font sizes to choose from.", &[("name", "string"), ("size", "number"), ("slug", "string")]),
    ("editor-gradient-presets", "Gradients to choose from.", &[("name", "string"), ("gradient", "string"), ("slug", "string")]),
    ("editor-spacing-sizes", "Distances to choose from.", &[("name", "string"), ("size", "string"), ("slug", "string")]),
];

/// Features of a theme made of blocks that it need not ask for.
const OF_BLOCK_THEMES: [&str; 4] = ["automatic-feed-links", "editor-styles", "responsive-embeds", "post-thumbnails"];
/// Kinds of markup that such a theme has in the manner of HTML 5.
const HTML5: [&str; 7] = ["comment-form", "comment-list", "search-form", "gallery", "caption", "style", "script"];

/// The schema of all features.
pub(super) fn schemas() -> Map<String, Value> {
    let switch = |(name, description): &(&str, &str)| {
        ((*name).to_owned(), json!({"description": description, "type": "boolean", "default": false}))
    };
    let mut all: Map<String, Value> = SWITCHES.iter().map(switch).collect();
    for (name, description, members) in PRESETS {
        let members: Map<String, Value> =
            members.iter().map(|(name, kind)| ((*name).to_owned(), json!({"type": kind}))).collect();
        let item = json!({"type": "object", "properties": members, "additionalProperties": false});
        let schema = json!({"description": description, "type": ["boolean", "array"], "items": item, "default": false});
        all.insert((*name).to_owned(), schema);
    }
    let object = |description: &str, members: Value| {
        json!({"description": description, "type": ["boolean", "object"], "default": false, "properties": members,
            "additionalProperties": false})
    };
    let (text, flag, number) = (json!({"type": "string"}), json!({"type": "boolean"}), json!({"type": "integer"}));
    let address = json!({"type": "string", "format": "uri"});
    let choice = |values: &[&str]| json!({"type": "string", "enum": values});
    let background = json!({
        "default-image": address,
        "default-preset": choice(&["default", "fill", "fit", "repeat", "custom"]),
        "default-position-x": choice(&["left", "center", "right"]),
        "default-position-y": choice(&["left", "center", "right"]),
        "default-size": choice(&["auto", "contain", "cover"]),
        "default-repeat": choice(&["repeat-x", "repeat-y", "repeat", "no-repeat"]),
        "default-attachment": choice(&["scroll", "fixed"]),
        "default-color": text,
    });
    let header = json!({
        "default-image": address, "random-default": flag, "width": number, "height": number, "flex-height": flag,
        "flex-width": flag, "default-text-color": text, "header-text": flag, "uploads": flag, "video": flag,
    });
    let logo = json!({
        "width": number, "height": number, "flex-width": flag, "flex-height": flag,
        "header-text": {"type": "array", "items": text}, "unlink-homepage-logo": flag,
    });
    all.insert("custom-background".to_owned(), object("The background can be chosen.", background));
    all.insert("custom-header".to_owned(), object("The header's picture can be chosen.", header));
    all.insert("custom-logo".to_owned(), object("The site has a logo.", logo));
    // By name, as the reference shows it.
    let formats: Map<String, Value> = FORMATS.iter().map(|f| ((*f).to_owned(), Value::from(*f))).collect();
    let formats = json!({"description": "Formats that posts can have.", "type": "array", "default": ["standard"],
        "items": {"type": "string", "enum": formats}});
    all.insert("formats".to_owned(), formats);
    let kinds = ["search-form", "comment-form", "comment-list", "gallery", "caption", "script", "style"];
    let html5 = json!({"description": "Kinds of markup in the manner of HTML 5.", "type": ["boolean", "array"],
        "default": false, "items": {"type": "string", "enum": kinds}});
    all.insert("html5".to_owned(), html5);
    let thumbnails = json!({"description": "Types of posts that have a featured image, or all.",
        "type": ["boolean", "array"], "default": false, "items": text});
    all.insert("post-thumbnails".to_owned(), thumbnails);
    all.sort_keys();
    all
}

/// What this theme supports, `by_code` beside what follows from its files.
pub(super) fn of(theme: &Theme, by_code: &Map<String, Value>) -> Map<String, Value> {
    let mut all: Map<String, Value> = schemas().iter().map(|(name, s)| (name.clone(), s["default"].clone())).collect();
    if theme.is_block_theme {
        for name in OF_BLOCK_THEMES {
            all.insert(name.to_owned(), true.into());
        }
        all.insert("html5".to_owned(), json!(HTML5));
    }
    all.insert("block-templates".to_owned(), (theme.is_block_theme || theme.has_json).into());
    for (name, value) in by_code {
        if let Some(known) = all.get_mut(name) {
            *known = value.clone();
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_default_fits_its_schema() {
        for (name, schema) in schemas() {
            let default = schema["default"].clone();
            svc_schema::Schema::compile(schema).validate(&default, &name).expect("a default that fits");
        }
    }
}
