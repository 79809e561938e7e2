//! Export of settings and styles as a `theme.json` file.

use serde::Serialize;
use serde_json::{Map, Serializer, Value, ser::PrettyFormatter};

use super::{
    StyleOrigin, ThemeJson,
    tables::{APPEARANCE_TOOLS, PRESETS},
};

/// URL of the JSON schema of the format.
const SCHEMA: &str = "https://schemas.wp.org/wp/7.1/theme.json";
/// Top-level properties of an exported file.
const PROPERTIES: [&str; 11] = [
    "blockTypes",
    "customTemplates",
    "description",
    "patterns",
    "settings",
    "slug",
    "styles",
    "templateParts",
    "title",
    "variations",
    "version",
];
/// Origins of the presets that a theme exports. Later ones replace earlier ones of the same slug.
const ORIGINS: [StyleOrigin; 2] = [StyleOrigin::Theme, StyleOrigin::Custom];

impl ThemeJson {
    /// Formats the settings and styles as `theme.json`: each setting's presets are merged into one list, settings
    /// implied by `appearanceTools` are omitted, and properties are in alphabetical order.
    ///
    /// Source: the archive returned by WordPress's `export` route.
    pub fn to_file(&self) -> String {
        let mut file = self.0.clone();
        file.retain(|name, _| PROPERTIES.contains(&name.as_str()));
        file.insert("$schema".to_owned(), SCHEMA.into());
        if let Some(Value::Object(settings)) = file.get_mut("settings") {
            flatten(settings);
            for block in settings.get_mut("blocks").and_then(Value::as_object_mut).into_iter().flat_map(Map::values_mut)
            {
                if let Some(block) = block.as_object_mut() {
                    flatten(block);
                }
            }
        }
        let mut file = Value::Object(file);
        file.sort_all_objects();
        let mut out = Vec::new();
        let tabs = PrettyFormatter::with_indent(b"\t");
        file.serialize(&mut Serializer::with_formatter(&mut out, tabs)).expect("serializing to memory cannot fail");
        String::from_utf8(out).expect("JSON is UTF-8")
    }
}

/// Collapses presets of all origins into one list, and settings into `appearanceTools`.
fn flatten(settings: &mut Map<String, Value>) {
    let scale = [("spacing", "spacingScale")];
    for (group, name) in PRESETS.iter().map(|presets| presets.path).chain(scale) {
        let Some(value) = settings.get_mut(group).and_then(|group| group.get_mut(name)) else { continue };
        let of = |origin: &StyleOrigin| value.get(origin.name()).filter(|v| !v.is_null()).cloned();
        let by_origin: Vec<Value> = ORIGINS.iter().filter_map(of).collect();
        match by_origin.last() {
            Some(Value::Array(_)) => *value = merge_presets(&by_origin),
            Some(last) => *value = last.clone(),
            None => {}
        }
    }
    let all_are_set = APPEARANCE_TOOLS.iter().all(|(group, names)| {
        names.iter().all(|name| settings.get(*group).is_some_and(|members| members.get(*name).is_some()))
    });
    if !all_are_set {
        return;
    }
    settings.insert("appearanceTools".to_owned(), true.into());
    for (group, names) in APPEARANCE_TOOLS {
        let Some(members) = settings.get_mut(*group).and_then(Value::as_object_mut) else { continue };
        members.retain(|name, value| !names.contains(&name.as_str()) || *value != Value::Bool(true));
        if members.is_empty() {
            settings.shift_remove(*group);
        }
    }
}

/// Merges lists of presets. A later preset replaces the one with the same slug, in its position.
fn merge_presets(lists: &[Value]) -> Value {
    let mut all: Vec<Value> = Vec::new();
    for preset in lists.iter().filter_map(Value::as_array).flatten() {
        match all.iter_mut().find(|existing| existing["slug"] == preset["slug"]) {
            Some(existing) => *existing = preset.clone(),
            None => all.push(preset.clone()),
        }
    }
    Value::Array(all)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn exports_user_settings() {
        let theme = json!({
            "version": 3, "extra": 1, "title": "T",
            "settings": {
                "appearanceTools": true,
                "spacing": {"margin": false},
                "custom": {"zeta": 1, "alpha": 2},
                "color": {"palette": [{"slug": "a", "color": "red"}, {"slug": "b", "color": "blue"}]},
                "blocks": {"core/paragraph": {"border": {"color": true}}},
            },
        });
        let chosen = json!({
            "settings": {"color": {"palette": {"custom": [{"slug": "b", "color": "navy"}, {"slug": "c", "color": "tan"}]}}},
            "styles": {"color": {"text": "var:preset|color|c"}},
        });
        let mut json = ThemeJson::new(theme, StyleOrigin::Theme);
        json.merge(&ThemeJson::new(chosen, StyleOrigin::Custom));
        let expected = r#"{
	"$schema": "https://schemas.wp.org/wp/7.1/theme.json",
	"settings": {
		"appearanceTools": true,
		"blocks": {
			"core/paragraph": {
				"border": {
					"color": true
				}
			}
		},
		"color": {
			"palette": [
				{
					"color": "red",
					"slug": "a"
				},
				{
					"color": "navy",
					"slug": "b"
				},
				{
					"color": "tan",
					"slug": "c"
				}
			]
		},
		"custom": {
			"alpha": 2,
			"zeta": 1
		},
		"spacing": {
			"margin": false
		}
	},
	"styles": {
		"color": {
			"text": "var(--wp--preset--color--c)"
		}
	},
	"title": "T",
	"version": 3
}"#;
        assert_eq!(json.to_file(), expected);
    }
}
