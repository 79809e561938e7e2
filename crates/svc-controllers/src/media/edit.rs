//! Edits of an image: rotate, flip and crop. The edited image is stored as a copy.

use serde_json::{Value, json};
use svc_media::{DecodedImage, ImageError};
use svc_routing::{Request, Result};
use svc_schema::{
    Args,
    build::{SchemaBuilder, array, boolean, integer, number, object, string},
};

use super::errors;

/// One edit. Percentages refer to the image before the edit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Edit {
    /// Flips along one or both axes.
    Flip { horizontal: bool, vertical: bool },
    /// Rotates clockwise by this many degrees.
    Rotate(f64),
    /// Crops to an area, in percent of the image.
    Crop { left: f64, top: f64, width: f64, height: f64 },
}

/// Maximum number of edits in one request. Each of them processes the whole image.
const MAX_EDITS: usize = 20;

/// The arguments of an edit request.
#[rustfmt::skip]
pub(super) fn args() -> Args {
    let percent = |text: &str| number().describe(text).range(0..=100);
    Args::from([
        ("src", string().describe("URL of the image to edit.").format("uri").required()),
        ("modifiers", array(modifier()).describe("Edits, applied in order.").min_items(1).last(&["items"])),
        ("rotation", integer().describe("Clockwise rotation in degrees. Use modifiers instead.").minimum(0).keyword("exclusiveMinimum", true).maximum(360).keyword("exclusiveMaximum", true)),
        ("x", percent("Left edge of the crop area, in percent. Use modifiers instead.")),
        ("y", percent("Top edge of the crop area, in percent. Use modifiers instead.")),
        ("width", percent("Width of the crop area, in percent. Use modifiers instead.")),
        ("height", percent("Height of the crop area, in percent. Use modifiers instead.")),
    ])
}

/// The schema of one edit. The titles are part of error messages.
#[rustfmt::skip]
fn modifier() -> Value {
    let variant = |title: &str, name: &str, args: SchemaBuilder| {
        let name = string().describe("Type of the edit.").one_of([name]);
        json!({"title": title, "properties": {"type": name.source(), "args": args.describe("Arguments of the edit.").last(&["properties"]).source()}})
    };
    let flip = object([
        ("horizontal", boolean().describe("Whether to flip horizontally.")),
        ("vertical", boolean().describe("Whether to flip vertically.")),
    ]);
    let flip = flip.describe("Axes to flip along.").keyword("required", json!(["horizontal", "vertical"])).last(&["properties"]);
    let percent = |text: &str| number().describe(text);
    let crop = object([
        ("left", percent("Left edge of the crop area, in percent of the image width.")),
        ("top", percent("Top edge of the crop area, in percent of the image height.")),
        ("width", percent("Width of the crop area, in percent of the image width.")),
        ("height", percent("Height of the crop area, in percent of the image height.")),
    ]);
    json!({
        "description": "One edit.",
        "type": "object",
        "required": ["type", "args"],
        "oneOf": [
            variant("Flip", "flip", object([("flip", flip)]).keyword("required", json!(["flip"]))),
            variant("Rotation", "rotate", object([("angle", number().describe("Clockwise rotation in degrees."))]).keyword("required", json!(["angle"]))),
            variant("Crop", "crop", crop.keyword("required", json!(["left", "top", "width", "height"]))),
        ],
    })
}

/// The edits in a request.
///
/// # Errors
/// 400 if there are none or too many.
pub(super) fn edits(req: &Request) -> Result<Vec<Edit>> {
    if let Some(Value::Array(all)) = req.param("modifiers") {
        if all.len() > MAX_EDITS {
            return Err(errors::too_many_changes(MAX_EDITS));
        }
        return Ok(all.iter().filter_map(edit).collect());
    }
    let mut edits = Vec::new();
    if let Some(degrees) = req.arg::<f64>("rotation")?.filter(|d| *d != 0.0) {
        edits.push(Edit::Rotate(degrees));
    }
    let part = ["x", "y", "width", "height"].map(|name| req.arg::<f64>(name));
    if let [Some(left), Some(top), Some(width), Some(height)] = part.into_iter().collect::<Result<Vec<_>>>()?[..] {
        edits.push(Edit::Crop { left, top, width, height });
    }
    if edits.is_empty() { Err(errors::not_edited()) } else { Ok(edits) }
}

fn edit(modifier: &Value) -> Option<Edit> {
    let args = modifier.get("args")?;
    let number = |name: &str| args.get(name)?.as_f64();
    Some(match modifier.get("type")?.as_str()? {
        "flip" => {
            let axis = |name: &str| args["flip"].get(name).is_some_and(svc_php::cast::truthy);
            Edit::Flip { horizontal: axis("horizontal"), vertical: axis("vertical") }
        }
        "rotate" => Edit::Rotate(number("angle")?),
        "crop" => Edit::Crop {
            left: number("left")?,
            top: number("top")?,
            width: number("width")?,
            height: number("height")?,
        },
        _ => return None,
    })
}

/// Applies edits. Blocks the thread.
///
/// # Errors
/// Fails if an edit cannot be applied.
pub(super) fn apply(image: DecodedImage, edits: &[Edit]) -> Result<DecodedImage> {
    edits.iter().try_fold(image, |image, edit| match *edit {
        Edit::Flip { horizontal, vertical } => Ok(image.flipped(horizontal, vertical)),
        Edit::Rotate(degrees) => image.rotated(degrees).map_err(|_| errors::rotation_failed()),
        Edit::Crop { left, top, width, height } => {
            let (w, h) = image.size();
            let pixels = |percent: f64, of: u32| (f64::from(of) * percent / 100.0).round().max(0.0) as u32;
            let area = image.part(pixels(left, w), pixels(top, h), pixels(width, w), pixels(height, h));
            area.map_err(|error: ImageError| {
                tracing::debug!(%error, "image crop failed");
                errors::crop_failed()
            })
        }
    })
}
