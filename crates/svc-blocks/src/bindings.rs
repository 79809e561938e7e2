//! Block bindings: attributes whose values come from a post, its meta, a term, or the overrides of a synced pattern.

use serde_json::{Map, Value};
use svc_content::blocks::Block;
use svc_model::{PostId, TermId};

use crate::core::CoreBlocks;

/// Attributes that can be bound, by block name.
#[rustfmt::skip]
const BINDABLE: &[(&str, &[&str])] = &[
    ("core/button", &["url", "text", "linkTarget", "rel"]),
    ("core/heading", &["content"]),
    ("core/image", &["id", "url", "title", "alt", "caption"]),
    ("core/list-item", &["content"]),
    ("core/navigation-link", &["url"]),
    ("core/navigation-submenu", &["url"]),
    ("core/paragraph", &["content"]),
    ("core/post-date", &["datetime"]),
];
/// Binds all bindable attributes of a block.
const BIND_ALL: &str = "__default";
/// The binding source for overrides of a synced pattern.
const PATTERN_OVERRIDES: &str = "core/pattern-overrides";

/// The values of a block's bound attributes. Attributes without a value are omitted.
pub(crate) fn bound(blocks: &CoreBlocks<'_>, block: &Block<'_>) -> Map<String, Value> {
    let name = block.name.as_deref().unwrap_or_default();
    let Some((_, bindable)) = BINDABLE.iter().find(|(known, _)| *known == name) else { return Map::new() };
    let Some(stored) = block["metadata"]["bindings"].as_object() else { return Map::new() };
    let mut bindings = stored.clone();
    if bindings.shift_remove(BIND_ALL).is_some_and(|all| all["source"] == PATTERN_OVERRIDES) {
        for attribute in *bindable {
            bindings.entry(*attribute).or_insert_with(|| serde_json::json!({"source": PATTERN_OVERRIDES}));
        }
    }
    bindings
        .into_iter()
        .filter(|(attribute, _)| bindable.contains(&attribute.as_str()))
        .filter_map(|(attribute, binding)| {
            let binding_value =
                binding_value(blocks, block, &attribute, &binding).filter(|binding_value| !binding_value.is_null())?;
            Some((attribute, binding_value))
        })
        .collect()
}

/// The value of a bound attribute.
fn binding_value(blocks: &CoreBlocks<'_>, block: &Block<'_>, attribute: &str, binding: &Value) -> Option<Value> {
    let args = &binding["args"];
    let field = || args["field"].as_str().or_else(|| args["key"].as_str());
    match binding["source"].as_str()? {
        "core/post-meta" => {
            let post = blocks.data.post(blocks.post_id()?).filter(|post| !post.locked)?;
            blocks.data.post_meta(post.post.id, args["key"].as_str()?).map(Value::from)
        }
        "core/post-data" => post_field(blocks, block, field()?).map(Value::from),
        "core/term-data" => term_field(blocks, block, field()?).map(Value::from),
        PATTERN_OVERRIDES => {
            let name = block["metadata"]["name"].as_str()?;
            Some(blocks.context_value("pattern/overrides").get(name)?.get(attribute)?.clone())
        }
        _ => None,
    }
}

fn is_navigation_link(block: &Block<'_>) -> bool {
    matches!(block.name.as_deref(), Some("core/navigation-link" | "core/navigation-submenu"))
}

/// A field of the block's post. Navigation links use the post in their own attributes.
fn post_field(blocks: &CoreBlocks<'_>, block: &Block<'_>, field: &str) -> Option<String> {
    let id = if is_navigation_link(block) { PostId(svc_php::cast::to_int(&block["id"])) } else { blocks.post_id()? };
    let post = blocks.data.post(id).filter(|post| !post.locked)?;
    let iso_date = |local| crate::date::format_at(local, blocks.data.offset(local), "c");
    match field {
        "date" => post.post.date.map(iso_date),
        // Posts that were never modified have no such date.
        "modified" if post.post.modified > post.post.date => post.post.modified.map(iso_date),
        "modified" => Some(String::new()),
        "link" => Some(post.link.clone()),
        _ => None,
    }
}

/// A field of the block's term. Navigation links use the term in their own attributes.
fn term_field(blocks: &CoreBlocks<'_>, block: &Block<'_>, field: &str) -> Option<String> {
    let (id, taxonomy) = if is_navigation_link(block) {
        let taxonomy = match block["type"].as_str()? {
            "tag" => "post_tag",
            name => name,
        };
        (svc_php::cast::to_int(&block["id"]), taxonomy.to_owned())
    } else {
        (svc_php::cast::to_int(&blocks.context_value("termId")), blocks.context_value("taxonomy").as_str()?.to_owned())
    };
    let view = blocks.data.term(TermId(id), &taxonomy)?;
    let term = &view.term;
    Some(match field {
        "id" => term.id.to_string(),
        "name" => term.name.clone(),
        "link" => view.link.clone(),
        "slug" => term.slug.clone(),
        "description" => term.description.clone(),
        "parent" => term.parent.to_string(),
        "count" => term.count.to_string(),
        _ => return None,
    })
}
