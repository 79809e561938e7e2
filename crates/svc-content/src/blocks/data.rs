//! Blocks as JSON, and content from it.
//!
//! The form for readers has the attributes that block types declare. The form for editors has what is stored as well, from which
//! [`content_of`] makes the content again, byte for byte.

use std::borrow::Cow;

use serde_json::{Map, Value, json};

use super::{Block, BlockTypes, declared_attributes, parse, parse::MAX_BLOCKS, serialize_blocks};

/// Attributes of all block types that the HTML does not show, such as the names that editors give to blocks.
const EDITORS_ONLY: [&str; 2] = ["lock", "metadata"];

/// The form of blocks as JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockForm {
    /// For everybody who may read the content: name, declared attributes and inner blocks. Text between blocks that is only white
    /// space, and blocks that are hidden, are left out. So are attributes that are meant for editors only, and those of unknown
    /// types, which may be.
    Read,
    /// For those who may edit it: also the attributes and the markup as stored, of all blocks.
    Edit,
}

/// Blocks as JSON. `extra` returns further members of a block.
pub fn blocks_to_json(
    blocks: &[Block<'_>],
    types: &BlockTypes,
    form: BlockForm,
    extra: &mut dyn FnMut(&Block<'_>) -> Map<String, Value>,
) -> Value {
    let is_shown = |block: &&Block<'_>| match form {
        BlockForm::Edit => true,
        BlockForm::Read if block.name.is_none() => !block.inner_html().trim().is_empty(),
        BlockForm::Read => block["metadata"]["blockVisibility"] != Value::Bool(false),
    };
    let shown = blocks.iter().filter(is_shown);
    shown.map(|block| Value::Object(block_to_json(block, types, form, extra))).collect()
}

fn block_to_json(
    block: &Block<'_>,
    types: &BlockTypes,
    form: BlockForm,
    extra: &mut dyn FnMut(&Block<'_>) -> Map<String, Value>,
) -> Map<String, Value> {
    let mut out = Map::new();
    out.insert("name".to_owned(), block.name.as_deref().into());
    let mut attributes = attributes(block, types);
    if form == BlockForm::Read {
        EDITORS_ONLY.iter().for_each(|name| drop(attributes.shift_remove(*name)));
    }
    out.insert("attributes".to_owned(), attributes.into());
    if form == BlockForm::Edit {
        let attrs = if block.has_invalid_attrs { Value::Null } else { block.attrs.clone().into() };
        out.insert("attrs".to_owned(), attrs);
        let chunks = block.inner_content.iter().map(|chunk| Value::from(chunk.as_deref()));
        out.insert("innerContent".to_owned(), chunks.collect());
    }
    out.extend(extra(block));
    out.insert("innerBlocks".to_owned(), blocks_to_json(&block.inner_blocks, types, form, extra));
    out
}

/// The attributes of a block that its type declares; for text between blocks, `content`.
fn attributes(block: &Block<'_>, types: &BlockTypes) -> Map<String, Value> {
    match &block.name {
        None => Map::from_iter([("content".to_owned(), block.inner_html().into())]),
        Some(name) => types.get(name).map(|block_type| declared_attributes(block, block_type)).unwrap_or_default(),
    }
}

/// The content of blocks in the form for editors.
///
/// # Errors
/// Why the blocks have no exact content. The text is for the caller.
pub fn content_of(blocks: &Value, types: &BlockTypes) -> Result<String, String> {
    let mut left = MAX_BLOCKS;
    let given = blocks_of(blocks, types, "blocks", &mut left)?;
    let content = serialize_blocks(&given);
    // Text that looks like the comment of a block, for example, would become one.
    let mut read = parse(&content);
    read.iter_mut().for_each(drop_empty_texts);
    if read == given { Ok(content) } else { Err("blocks would be read differently once they are stored.".to_owned()) }
}

/// Whether the form for editors makes the content again. If not, a save without blocks would normalize it, too.
pub fn is_exact(content: &str) -> bool {
    serialize_blocks(&parse(content)) == content
}

/// Removes empty texts, of which the parser makes some.
fn drop_empty_texts(block: &mut Block<'_>) {
    block.inner_content.retain(|chunk| chunk.as_deref() != Some(""));
    block.inner_blocks.iter_mut().for_each(drop_empty_texts);
}

fn blocks_of(value: &Value, types: &BlockTypes, path: &str, left: &mut usize) -> Result<Vec<Block<'static>>, String> {
    let list = match value {
        Value::Null => return Ok(Vec::new()),
        Value::Array(list) => list,
        _ => return Err(format!("{path} is not of type array.")),
    };
    list.iter().enumerate().map(|(n, block)| block_of(block, types, &format!("{path}[{n}]"), left)).collect()
}

fn block_of(value: &Value, types: &BlockTypes, path: &str, left: &mut usize) -> Result<Block<'static>, String> {
    let object = value.as_object().ok_or_else(|| format!("{path} is not of type object."))?;
    *left = left.checked_sub(1).ok_or_else(|| format!("{path} is one block too many."))?;
    let name = match object.get("name") {
        None | Some(Value::Null) => None,
        Some(Value::String(name)) if may_be_name(name) => Some(name.clone()),
        Some(_) => return Err(format!("{path}[name] is not the name of a block type.")),
    };
    let attrs = match object.get("attrs") {
        None => Map::new(),
        // As PHP encodes an empty map.
        Some(Value::Array(none)) if none.is_empty() => Map::new(),
        Some(Value::Object(attrs)) => attrs.clone(),
        Some(_) => return Err(format!("{path}[attrs] is not of type object.")),
    };
    let inner_blocks =
        blocks_of(object.get("innerBlocks").unwrap_or(&Value::Null), types, &format!("{path}[innerBlocks]"), left)?;
    let block = Block {
        inner_content: inner_content(object.get("innerContent"), inner_blocks.len(), path)?,
        name: name.map(Cow::Owned),
        attrs,
        has_invalid_attrs: false,
        inner_blocks,
    };
    if block.name.is_none() && !(block.attrs.is_empty() && block.inner_blocks.is_empty()) {
        return Err(format!("{path} is text, which has neither attributes nor inner blocks."));
    }
    if let Some(given) = object.get("attributes").and_then(Value::as_object) {
        let stored = attributes(&block, types);
        let is_stored = |(name, value): &(&String, &Value)| stored.get(*name) == Some(value);
        if let Some((name, _)) = given.iter().find(|attribute| !is_stored(attribute)) {
            let reason = "is not what attrs and innerContent contain. Change these";
            return Err(format!("{path}[attributes][{name}] {reason}, or leave out attributes."));
        }
    }
    Ok(block)
}

/// Whether a name consists of the characters of names, with a namespace. That the parser reads it is checked with the content.
fn may_be_name(name: &str) -> bool {
    let is_part = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '_' | '/');
    name.contains('/') && name.chars().all(is_part)
}

/// The content of a block: texts, and null for each inner block. Adjacent texts become one. Without it, only the inner blocks.
fn inner_content(value: Option<&Value>, n_inner: usize, path: &str) -> Result<Vec<Option<Cow<'static, str>>>, String> {
    let chunks = match value {
        None => return Ok(vec![None; n_inner]),
        Some(Value::Array(chunks)) => chunks,
        Some(_) => return Err(format!("{path}[innerContent] is not of type array.")),
    };
    let mut out: Vec<Option<Cow<'static, str>>> = Vec::new();
    for chunk in chunks {
        match (chunk, out.last_mut()) {
            (Value::Null, _) => out.push(None),
            (Value::String(text), _) if text.is_empty() => {}
            (Value::String(text), Some(Some(before))) => before.to_mut().push_str(text),
            (Value::String(text), _) => out.push(Some(text.clone().into())),
            _ => return Err(format!("{path}[innerContent] contains only texts and null.")),
        }
    }
    if out.iter().filter(|chunk| chunk.is_none()).count() == n_inner {
        Ok(out)
    } else {
        Err(format!("{path}[innerContent] has another number of nulls than innerBlocks has blocks."))
    }
}

/// The description of a block in this form, as a JSON schema.
pub fn block_schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "name": {"type": ["string", "null"], "description": "Name of the block type, such as core/paragraph; null for text between blocks."},
            "attrs": {"type": "object", "additionalProperties": true, "description": "Attributes in the comment of the block."},
            "attributes": {"type": "object", "additionalProperties": true, "description": "All declared attributes. If sent, they must be what attrs and innerContent contain."},
            "innerBlocks": {"type": "array", "items": {"type": "object"}, "description": "Inner blocks, in the same form."},
            "innerContent": {"type": "array", "items": {"type": ["string", "null"]}, "description": "Markup of the block, and null for each inner block."},
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nothing(_: &Block<'_>) -> Map<String, Value> {
        Map::new()
    }

    fn edit(content: &str) -> Value {
        blocks_to_json(&parse(content), BlockTypes::core(), BlockForm::Edit, &mut nothing)
    }

    const NESTED: &str = "<!-- wp:group {\"layout\":{\"type\":\"flex\"}} -->\n<div class=\"wp-block-group\"><!-- wp:paragraph -->\n<p>a</p>\n<!-- /wp:paragraph -->\n\n<!-- wp:a/unknown {\"secret\":\"x\"} /--></div>\n<!-- /wp:group -->\n\ntext";

    #[test]
    fn the_form_for_readers_has_declared_attributes() {
        let json = blocks_to_json(&parse(NESTED), BlockTypes::core(), BlockForm::Read, &mut nothing);
        assert_eq!(json[0]["name"], "core/group");
        assert_eq!(json[0]["attributes"]["tagName"], "div");
        let inner = json[0]["innerBlocks"].as_array().unwrap();
        assert_eq!((inner.len(), &inner[0]["attributes"]["content"]), (2, &json!("a")));
        assert_eq!(inner[1], json!({"name": "a/unknown", "attributes": {}, "innerBlocks": []}));
        assert_eq!(json[1], json!({"name": null, "attributes": {"content": "\n\ntext"}, "innerBlocks": []}));
        assert!(!json.to_string().contains("innerContent") && !json.to_string().contains("secret"));
        let named = "<!-- wp:paragraph {\"metadata\":{\"name\":\"x\"},\"lock\":{\"move\":true}} --><p>a</p><!-- /wp:paragraph -->";
        let shown = blocks_to_json(&parse(named), BlockTypes::core(), BlockForm::Read, &mut nothing);
        let names = ["metadata", "lock"].map(|name| shown[0]["attributes"].get(name).is_some());
        assert_eq!((names, &edit(named)[0]["attributes"]["metadata"]["name"]), ([false; 2], &json!("x")));
        let hidden = "<!-- wp:paragraph {\"metadata\":{\"blockVisibility\":false}} --><p>no</p><!-- /wp:paragraph -->";
        let shown = blocks_to_json(&parse(hidden), BlockTypes::core(), BlockForm::Read, &mut nothing);
        assert_eq!((shown, edit(hidden).as_array().unwrap().len()), (json!([]), 1));
    }

    #[test]
    fn the_form_for_editors_is_the_content() {
        for content in [
            "",
            "text",
            NESTED,
            "<!-- wp:a/b {\"x\":[1,2.5,null,true,\"\\u002d\\u002d\\u003c\\u003e\\u0026\\u0022\\u005c é\"],\"y\":{\"z\":[]}} /-->",
            "a<!-- wp:a/b --><!-- wp:a/c --><!-- wp:a/d /--><!-- /wp:a/c --><!-- /wp:a/b -->b",
        ] {
            assert_eq!(content_of(&edit(content), BlockTypes::core()).as_deref(), Ok(content));
        }
    }

    /// Contents that WordPress's functions were recorded with, as a save normalizes them.
    #[test]
    fn recorded_contents_come_back_byte_for_byte() {
        let (mut n_exact, mut n_other) = (0, 0);
        for line in include_str!("../../testdata/contents.jsonl").lines() {
            let stored = serialize_blocks(&parse(&serde_json::from_str::<String>(line).unwrap()));
            let back = content_of(&edit(&stored), BlockTypes::core());
            if is_exact(&stored) {
                assert_eq!(back.as_deref(), Ok(&*stored));
                n_exact += 1;
            } else {
                n_other += 1;
            }
        }
        assert!(n_exact > 20 * n_other, "{n_exact} {n_other}");
    }

    #[test]
    fn blocks_without_an_exact_content_are_refused() {
        let text = |text: &str| json!([{"name": null, "innerContent": [text]}]);
        let mut changed = edit(NESTED);
        changed[0]["innerBlocks"][0]["attributes"]["content"] = json!("b");
        let deep = (0..200).fold(json!([]), |inner, _| json!([{"name": "a/b", "innerBlocks": inner}]));
        for (blocks, reason) in [
            (json!({}), "blocks is not of type array"),
            (json!([1]), "blocks[0] is not of type object"),
            (json!([{"name": "x y"}]), "blocks[0][name]"),
            (json!([{"name": 5}]), "blocks[0][name]"),
            (json!([{"name": "a/b", "attrs": [1]}]), "blocks[0][attrs]"),
            (json!([{"name": null, "attrs": {"a": 1}}]), "blocks[0] is text"),
            (json!([{"name": "a/b", "innerContent": [null]}]), "blocks[0][innerContent]"),
            (json!([{"name": "a/b", "innerContent": [1]}]), "blocks[0][innerContent]"),
            (json!([{"name": "a/b", "innerContent": "x"}]), "blocks[0][innerContent]"),
            (
                json!([{"name": "a/b", "innerBlocks": [{"name": "a/c", "innerBlocks": 1}]}]),
                "blocks[0][innerBlocks][0][innerBlocks]",
            ),
            (changed, "blocks[0][innerBlocks][0][attributes][content]"),
            (text("<!-- wp:a/b /-->"), "read differently"),
            (json!([{"name": "a/b", "innerContent": ["x<!-- /wp:a/b -->y"]}]), "read differently"),
            // PHP has one type for both.
            (json!([{"name": "a/b", "attrs": {"x": {}}}]), "read differently"),
            (json!([{"name": "a/b", "innerContent": ["0"]}]), "read differently"),
            (deep, "read differently"),
            (json!(vec![json!({"name": "a/b"}); MAX_BLOCKS + 1]), "one block too many"),
        ] {
            let refused = content_of(&blocks, BlockTypes::core()).unwrap_err();
            assert!(refused.contains(reason), "{refused}");
        }
        // Texts are joined.
        let joined = json!([{"name": "a/b", "innerContent": ["x", "", "y"]}]);
        assert_eq!(content_of(&joined, BlockTypes::core()).as_deref(), Ok("<!-- wp:a/b -->xy<!-- /wp:a/b -->"));
    }
}
