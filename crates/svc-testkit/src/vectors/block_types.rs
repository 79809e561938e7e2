//! Block types, as the interface shows them.

use serde_json::{Map, Value, json};
use svc_blocks::variations::{self, Part};
use svc_content::blocks::{BlockType, BlockTypes};
use svc_model::{PostTypes, Taxonomies};

use super::{Outcome, Vector};

/// Members that everybody words for himself.
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
            let block_type = recorded(BlockTypes::core().get(vector.text(0))?);
            let shown = svc_controllers::blocks::types::show(&block_type, vector.text(1));
            without_prose(Value::Object(shown)).into()
        }
        _ => return None,
    })
}

/// A value without what every implementation words for itself.
pub(super) fn without_prose(value: Value) -> Value {
    match value {
        Value::Object(members) => {
            let kept = members.into_iter().filter(|(name, _)| !PROSE.contains(&name.as_str()));
            // Names of attributes are not prose: they hold schemas.
            kept.map(|(name, v)| if name == "attributes" { (name, v) } else { (name, without_prose(v)) })
                .collect::<Map<_, _>>()
                .into()
        }
        Value::Array(items) => items.into_iter().map(without_prose).collect(),
        other => other,
    }
}

/// The type with what the recorded site's theme (Twenty Twenty-Five) adds.
fn recorded(block_type: &BlockType) -> BlockType {
    let mut made = block_type.clone();
    match made.name.as_str() {
        "core/column" | "core/columns" | "core/group" => {
            let style = |n: i32| json!({"name": format!("section-{n}"), "label": format!("Style {n}")});
            made.styles.extend((1..=5).map(style));
        }
        "core/list" => made.styles.push(json!({
            "name": "checkmark-list",
            "label": "Checkmark",
            "inline_style": "\n\t\t\t\tul.is-style-checkmark-list {\n\t\t\t\t\tlist-style-type: \"\\2713\";\n\t\t\t\t}\n\n\t\t\t\tul.is-style-checkmark-list li {\n\t\t\t\t\tpadding-inline-start: 1ch;\n\t\t\t\t}",
        })),
        "core/navigation-link" => {
            made.variations = variations::of_navigation_link(&PostTypes::default(), &Taxonomies::default());
        }
        "core/post-terms" => made.variations = variations::of_post_terms(&Taxonomies::default()),
        "core/template-part" => made.variations = variations::of_template_part(&parts()),
        _ => {}
    }
    made
}

/// The parts of the recorded theme.
fn parts() -> Vec<Part> {
    PARTS
        .iter()
        .map(|(slug, title, area)| Part {
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
