//! Test vectors for the blocks of svc-content.

use serde_json::{Map, Value, json};
use svc_blocks::CoreBlocks;
use svc_content::{
    block_render::{self, FluidSizes, Renderer, Theme},
    blocks::{self, Block, BlockTypes},
};
use svc_php::Php;

use super::{Outcome, Vector, block_data::RecordedSite};

/// Calls the function of this group that the vector names.
pub(super) fn call(vector: &Vector) -> Option<Outcome> {
    Some(match vector.function.as_str() {
        "parse_blocks" => Value::from_iter(blocks::parse(vector.text(0)).iter().map(to_recorded)).into(),
        "parse_and_serialize" => blocks::serialize_blocks(&blocks::parse(vector.text(0))).into(),
        "serialize_blocks" => {
            let blocks: Vec<Block<'_>> = vector.arg(0).as_array()?.iter().map(from_recorded).collect();
            blocks::serialize_blocks(&blocks).into()
        }
        "do_blocks" => with_renderer(|renderer| renderer.render(&blocks::parse(vector.text(0))).into_string()).into(),
        "render_block" => {
            with_renderer(|renderer| renderer.render_block(&from_recorded(vector.arg(0))).into_string()).into()
        }
        "excerpt_remove_blocks" => {
            with_renderer(|renderer| block_render::excerpt_remove_blocks(vector.text(0), renderer)).into()
        }
        "has_blocks" => blocks::has_blocks(vector.text(0)).into(),
        "block_version" => blocks::block_version(vector.text(0)).into(),
        "get_comment_delimited_block_content" => {
            blocks::comment_delimited(vector.arg(0).as_str(), &attributes(vector.arg(1)), vector.text(2)).into()
        }
        "serialize_block_attributes" => blocks::serialize_attributes(&attributes(vector.arg(0))).into(),
        "strip_core_block_namespace" => match vector.arg(0) {
            Value::String(name) => blocks::strip_core_namespace(name).into(),
            other => other.clone().into(),
        },
        _ => return None,
    })
}

/// The block settings of the recorded theme (Twenty Twenty-Five).
pub(super) fn recorded_theme() -> Theme {
    let gap = |name: &str, gap: &str| (name.to_owned(), gap.to_owned());
    Theme {
        block_gap: Some("1.2rem".to_owned()),
        block_gaps: [gap("core/columns", "var(--wp--preset--spacing--50)")].into(),
        root_padding: true,
        fluid: FluidSizes::of(&json!({"layout": {"wideSize": "1340px"}, "typography": {"fluid": true}})),
        positions: vec!["sticky".to_owned()],
        ..Theme::default()
    }
}

/// Renders with the settings and styles of that theme.
fn with_renderer(render: impl FnOnce(&Renderer<'_>) -> String) -> String {
    let theme = Theme {
        style_variations: ["core/heading", "core/paragraph"].map(|name| (name.to_owned(), text_styles())).into(),
        ..recorded_theme()
    };
    let site = RecordedSite::new();
    let blocks = CoreBlocks::new(BlockTypes::core(), &site);
    render(&Renderer::new(&theme, &svc_blocks::with_text(&blocks)))
}

fn text_styles() -> Vec<String> {
    ["text-annotation", "text-display", "text-subtitle"].map(str::to_owned).to_vec()
}

/// A block in the format of the recordings: attributes are PHP arrays.
fn to_recorded(block: &Block<'_>) -> Value {
    let attrs = match block.has_invalid_attrs {
        true => Value::Null,
        false => Php::from(Value::Object(block.attrs.clone())).into(),
    };
    json!({
        "blockName": block.name,
        "attrs": attrs,
        "innerBlocks": block.inner_blocks.iter().map(to_recorded).collect::<Vec<_>>(),
        "innerHTML": block.inner_html(),
        "innerContent": block.inner_content,
    })
}

fn from_recorded(block: &Value) -> Block<'static> {
    let list = |name: &str| block[name].as_array().into_iter().flatten();
    Block {
        name: block["blockName"].as_str().map(|name| name.to_owned().into()),
        attrs: attributes(&block["attrs"]),
        has_invalid_attrs: false,
        inner_blocks: list("innerBlocks").map(from_recorded).collect(),
        inner_content: list("innerContent").map(|text| text.as_str().map(|text| text.to_owned().into())).collect(),
    }
}

/// Block attributes, which PHP may encode as a list.
fn attributes(value: &Value) -> Map<String, Value> {
    match value {
        Value::Object(properties) => properties.clone(),
        Value::Array(items) => items.iter().enumerate().map(|(n, item)| (n.to_string(), item.clone())).collect(),
        _ => Map::new(),
    }
}
