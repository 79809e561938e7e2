//! Filters the attributes of block comments.

use std::{borrow::Cow, collections::HashMap};

use serde_json::{Map, Value};

use super::scan::Filter;
use crate::blocks::{Block, parse, serialize_blocks};

/// Maximum growth of content when its blocks are serialized, in bytes, in addition to the text's length.
///
/// Each unclosed block contains all text after it, so nested unclosed blocks repeat text.
const MAX_GROWTH: usize = 1 << 20;

/// Filters the attributes of all blocks, names and strings, by the rules for the surrounding text.
///
/// Blocks are serialized again, which normalizes their comments and closes unclosed ones. Attributes that are not
/// valid JSON are removed. Superfluous dashes at the end of comments are removed. Source: `filter_block_content`.
pub(super) fn filter<'a>(content: &'a str, filter: &mut Filter<'_>) -> Cow<'a, str> {
    let content = normalize_comment_ends(content);
    if !content.contains("<!--") || !content.contains("wp:") {
        return content;
    }
    let mut blocks = parse(&content);
    if blocks.iter().all(|block| block.name.is_none()) {
        drop(blocks);
        return content;
    }
    if blocks.iter().map(text_len).sum::<usize>() > content.len().saturating_mul(2).saturating_add(MAX_GROWTH) {
        // Hundreds of nested unclosed blocks around a long text, which no editor writes. Without comments there are
        // no blocks.
        return Cow::Owned(without_comments(&content));
    }
    blocks.iter_mut().for_each(|block| filter_block(block, filter));
    Cow::Owned(serialize_blocks(&blocks))
}

/// Recursion is limited by the depth of blocks from [`parse`].
fn filter_block(block: &mut Block<'_>, filter: &mut Filter<'_>) {
    let checks_tag_name = block.name.as_deref() == Some("core/template-part");
    let attrs = std::mem::take(&mut block.attrs);
    block.attrs = filter_properties(attrs, checks_tag_name, filter);
    block.has_invalid_attrs = false;
    block.inner_blocks.iter_mut().for_each(|block| filter_block(block, filter));
}

/// If filtering changes a property's name, the property moves to the end, or replaces the existing property of that
/// name.
fn filter_properties(
    properties: Map<String, Value>,
    checks_tag_name: bool,
    filter: &mut Filter<'_>,
) -> Map<String, Value> {
    let filter_property = |(name, value): (String, Value)| {
        let new_name = filter.filter_text(&name);
        let mut value = filter_value(value, checks_tag_name, filter);
        if checks_tag_name && new_name == "tagName" {
            value = tag_name(value, filter);
        }
        (name, new_name, value)
    };
    let filtered: Vec<(String, String, Value)> = properties.into_iter().map(filter_property).collect();
    // Removing properties from a `Map` one by one would take quadratic time.
    let mut positions: HashMap<String, usize> =
        filtered.iter().enumerate().map(|(position, (name, ..))| (name.clone(), position)).collect();
    let mut out: Vec<Option<(String, Value)>> = vec![None; filtered.len()];
    for (name, new_name, value) in filtered {
        if new_name != name
            && let Some(position) = positions.remove(&name)
        {
            out[position] = None;
        }
        let position = *positions.entry(new_name.clone()).or_insert(out.len());
        if position == out.len() {
            out.push(None);
        }
        out[position] = Some((new_name, value));
    }
    out.into_iter().flatten().collect()
}

/// Recursion is limited by the depth of parsed JSON.
fn filter_value(value: Value, checks_tag_name: bool, filter: &mut Filter<'_>) -> Value {
    match value {
        Value::String(text) => filter.filter_text(&text).into(),
        Value::Array(items) => {
            items.into_iter().map(|item| filter_value(item, checks_tag_name, filter)).collect::<Vec<_>>().into()
        }
        Value::Object(properties) => filter_properties(properties, checks_tag_name, filter).into(),
        value => value,
    }
}

/// Empties the element name of a template part if the element, with this spelling, is not allowed. Values that are
/// empty in PHP's sense are unchanged.
fn tag_name(value: Value, filter: &Filter<'_>) -> Value {
    let passes = match &value {
        Value::Null => true,
        Value::Bool(is) => !is,
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::String(name) => matches!(name.as_str(), "" | "0") || filter.allows(name),
        Value::Array(items) => items.is_empty(),
        Value::Object(properties) => properties.is_empty(),
    };
    if passes { value } else { Value::String(String::new()) }
}

/// Removes superfluous dashes from comments that end with `--->` or more dashes on their first line.
fn normalize_comment_ends(content: &str) -> Cow<'_, str> {
    if !content.contains("--->") {
        return Cow::Borrowed(content);
    }
    let mut out = String::with_capacity(content.len());
    for line in content.split_inclusive('\n') {
        let mut rest = line;
        while let Some((before, after)) = split_after(rest, "<!--")
            && let Some((inside, next)) = after.split_once("--->")
        {
            out.push_str(before);
            out.push_str(inside.trim_end_matches('-'));
            out.push_str("-->");
            rest = next;
        }
        out.push_str(rest);
    }
    Cow::Owned(out)
}

/// The text up to the end of the first `mark`, and the rest.
fn split_after<'a>(text: &'a str, mark: &str) -> Option<(&'a str, &'a str)> {
    text.find(mark).map(|i| text.split_at(i + mark.len()))
}

fn text_len(block: &Block<'_>) -> usize {
    let own: usize = block.inner_content.iter().flatten().map(|text| text.len()).sum();
    own + block.inner_blocks.iter().map(text_len).sum::<usize>()
}

fn without_comments(content: &str) -> String {
    let mut out = String::with_capacity(content.len());
    let mut at = 0;
    while let Some(start) = content[at..].find("<!--").map(|i| at + i) {
        out.push_str(&content[at..start]);
        at = content[start + 4..].find("-->").map_or(content.len(), |i| start + 4 + i + 3);
    }
    out.push_str(&content[at..]);
    out
}
