//! Attributes of blocks that take their values from a post, its meta, a term, or the block around a synced pattern.

use serde_json::{Map, Value};
use svc_content::blocks::Block;
use svc_model::{PostId, TermId};

use crate::core::CoreBlocks;

/// Attributes that can be bound, by the name of the block.
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
/// Binds every attribute of a block that can be.
const ALL: &str = "__default";
/// The source of values that a synced pattern is used with.
const OVERRIDES: &str = "core/pattern-overrides";

/// The values of the bound attributes of a block; those without value are left out.
pub(crate) fn bound(blocks: &CoreBlocks<'_>, block: &Block<'_>) -> Map<String, Value> {
    let name = block.name.as_deref().unwrap_or_default();
    let Some((_, bindable)) = BINDABLE.iter().find(|(known, _)| *known == name) else { return Map::new() };
    let Some(given) = block["metadata"]["bindings"].as_object() else { return Map::new() };
    let mut bindings = given.clone();
    if bindings.shift_remove(ALL).is_some_and(|all| all["source"] == OVERRIDES) {
        for attribute in *bindable {
            bindings.entry(*attribute).or_insert_with(|| serde_json::json!({"source": OVERRIDES}));
        }
    }
    bindings
        .into_iter()
        .filter(|(attribute, _)| bindable.contains(&attribute.as_str()))
        .filter_map(|(attribute, binding)| {
            let value = value(blocks, block, &attribute, &binding).filter(|value| !value.is_null())?;
            Some((attribute, value))
        })
        .collect()
}

/// The value of one attribute.
fn value(blocks: &CoreBlocks<'_>, block: &Block<'_>, attribute: &str, binding: &Value) -> Option<Value> {
    let args = &binding["args"];
    let field = || args["field"].as_str().or_else(|| args["key"].as_str());
    match binding["source"].as_str()? {
        "core/post-meta" => {
            let post = blocks.data.post(blocks.post_id()?).filter(|post| !post.locked)?;
            blocks.data.post_meta(post.post.id, args["key"].as_str()?).map(Value::from)
        }
        "core/post-data" => of_post(blocks, block, field()?).map(Value::from),
        "core/term-data" => of_term(blocks, block, field()?).map(Value::from),
        OVERRIDES => {
            let name = block["metadata"]["name"].as_str()?;
            Some(blocks.around("pattern/overrides").get(name)?.get(attribute)?.clone())
        }
        _ => None,
    }
}

fn is_link(block: &Block<'_>) -> bool {
    matches!(block.name.as_deref(), Some("core/navigation-link" | "core/navigation-submenu"))
}

/// A field of the post that the block is of; items of navigation name theirs.
fn of_post(blocks: &CoreBlocks<'_>, block: &Block<'_>, field: &str) -> Option<String> {
    let id = if is_link(block) { PostId(svc_php::cast::to_int(&block["id"])) } else { blocks.post_id()? };
    let post = blocks.data.post(id).filter(|post| !post.locked)?;
    let machine = |moment| crate::date::format_at(moment, blocks.data.offset(moment), "c");
    match field {
        "date" => post.post.date.map(machine),
        // Of posts that were never changed there is no such date.
        "modified" if post.post.modified > post.post.date => post.post.modified.map(machine),
        "modified" => Some(String::new()),
        "link" => Some(post.link.clone()),
        _ => None,
    }
}

/// A field of the term that the block is of; items of navigation name theirs.
fn of_term(blocks: &CoreBlocks<'_>, block: &Block<'_>, field: &str) -> Option<String> {
    let (id, taxonomy) = if is_link(block) {
        let taxonomy = match block["type"].as_str()? {
            "tag" => "post_tag",
            name => name,
        };
        (svc_php::cast::to_int(&block["id"]), taxonomy.to_owned())
    } else {
        (svc_php::cast::to_int(&blocks.around("termId")), blocks.around("taxonomy").as_str()?.to_owned())
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
