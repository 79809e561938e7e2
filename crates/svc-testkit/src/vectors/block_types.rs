//! Test vectors for block types in the REST API.

use serde_json::{Map, Value, json};
use svc_blocks::variations::{self, PartVariation};
use svc_content::blocks::{BlockType, BlockTypes};
use svc_model::{PostTypes, Taxonomies};

use super::{Outcome, Vector};

/// Properties whose texts are our own.
const PROSE: [&str; 3] = ["description", "keywords", "example"];

/// Calls the function of this group that the vector names.
pub(super) fn call(vector: &Vector) -> Option<Outcome> {
    Some(match vector.function.as_str() {
        "block_type_names" => {
            let mut names: Vec<&str> = BlockTypes::core().iter().map(|t| t.name.as_str()).collect();
            names.sort_unstable();
            Value::from(names).into()
        }
        "block_type" => {
            let block_type = with_theme_additions(BlockTypes::core().get(vector.text(0))?);
            let properties = svc_controllers::blocks::types::show(&block_type, vector.text(1));
            without_prose(Value::Object(properties)).into()
        }
        _ => return None,
    })
}

/// Removes the properties whose texts are our own.
pub(super) fn without_prose(value: Value) -> Value {
    match value {
        Value::Object(properties) => {
            let properties = properties.into_iter().filter(|(name, _)| !PROSE.contains(&name.as_str()));
            // An attribute may have one of these names; its schema is not prose.
            properties
                .map(|(name, v)| if name == "attributes" { (name, v) } else { (name, without_prose(v)) })
                .collect::<Map<_, _>>()
                .into()
        }
        Value::Array(items) => items.into_iter().map(without_prose).collect(),
        other => other,
    }
}

/// The type with the additions of the recorded site's theme (Twenty Twenty-Five).
fn with_theme_additions(block_type: &BlockType) -> BlockType {
    let mut extended = block_type.clone();
    match extended.name.as_str() {
        "core/column" | "core/columns" | "core/group" => {
            let style = |n: i32| json!({"name": format!("section-{n}"), "label": format!("Style {n}")});
            extended.styles.extend((1..=5).map(style));
        }
        "core/list" => extended.styles.push(json!({
            "name": "checkmark-list",
            "label": "Checkmark",
            "inline_style": "\n\t\t\t\tul.is-style-checkmark-list {\n\t\t\t\t\tlist-style-type: \"\\2713\";\n\t\t\t\t}\n\n\t\t\t\tul.is-style-checkmark-list li {\n\t\t\t\t\tpadding-inline-start: 1ch;\n\t\t\t\t}",
        })),
        "core/navigation-link" => {
            extended.variations = variations::navigation_link_variations(&PostTypes::default(), &Taxonomies::default());
        }
        "core/post-terms" => extended.variations = variations::post_terms_variations(&Taxonomies::default()),
        "core/template-part" => extended.variations = variations::template_part_variations(&template_parts()),
        _ => {}
    }
    extended
}

/// The template parts of the recorded theme.
fn template_parts() -> Vec<PartVariation> {
    PARTS
        .iter()
        .map(|(slug, title, area)| PartVariation {
            slug: (*slug).to_owned(),
            title: (*title).to_owned(),
            theme: "twentytwentyfive".to_owned(),
            area: (*area).to_owned(),
        })
        .collect()
}

const PARTS: &[(&str, &str, &str)] = &[
    ("header", "Header", "header"),
    ("sidebar", "Sidebar", "uncategorized"),
    ("footer-columns", "Footer Columns", "footer"),
    ("footer-newsletter", "Footer Newsletter", "footer"),
    ("vertical-header", "Vertical site header", "header"),
    ("header-large-title", "Header with large title", "header"),
    ("footer", "Footer", "footer"),
];
