//! Changes of an image, which make a copy of it: turned, mirrored, cut.

use serde_json::{Value, json};
use svc_media::{DecodedImage, ImageError};
use svc_routing::{Request, Result};
use svc_schema::{
    Args,
    build::{SchemaBuilder, array, boolean, integer, number, object, string},
};

use super::errors;

/// One change. Shares are of the image as it is before the change.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Change {
    /// Mirrored.
    Flip { horizontal: bool, vertical: bool },
    /// Turned clockwise by this many degrees.
    Rotate(f64),
    /// Cut to a part, in percent.
    Crop { left: f64, top: f64, width: f64, height: f64 },
}

/// Changes of one request: each of them works on the whole image.
const MOST_CHANGES: usize = 20;

/// The arguments that say what is to be changed.
#[rustfmt::skip]
pub(super) fn args() -> Args {
    let percent = |text: &str| number().describe(text).range(0..=100);
    Args::from([
        ("src", string().describe("Address of the image to be changed.").format("uri").required()),
        ("modifiers", array(modifier()).describe("The changes, in their order.").min_items(1)),
        ("rotation", integer().describe("Degrees to turn clockwise by. Use modifiers instead.").minimum(0).keyword("exclusiveMinimum", true).maximum(360).keyword("exclusiveMaximum", true)),
        ("x", percent("Left edge of the part to keep, in percent. Use modifiers instead.")),
        ("y", percent("Upper edge of the part to keep, in percent. Use modifiers instead.")),
        ("width", percent("Width of the part to keep, in percent. Use modifiers instead.")),
        ("height", percent("Height of the part to keep, in percent. Use modifiers instead.")),
    ])
}

/// One change as a client writes it. The titles are part of error messages.
#[rustfmt::skip]
fn modifier() -> Value {
    let kind = |title: &str, name: &str, args: SchemaBuilder| {
        let name = string().describe("Which change it is.").one_of([name]);
        json!({"title": title, "properties": {"type": name.source(), "args": args.describe("How it is made.").source()}})
    };
    let flip = object([
        ("horizontal", boolean().describe("Whether left and right are exchanged.")),
        ("vertical", boolean().describe("Whether top and bottom are exchanged.")),
    ]);
    let flip = flip.describe("Directions of the mirror.").keyword("required", json!(["horizontal", "vertical"]));
    let percent = |text: &str| number().describe(text);
    let crop = object([
        ("left", percent("Left edge of the part to keep, in percent of the width.")),
        ("top", percent("Upper edge of the part to keep, in percent of the height.")),
        ("width", percent("Width of the part to keep, in percent of the width.")),
        ("height", percent("Height of the part to keep, in percent of the height.")),
    ]);
    json!({
        "description": "One change.",
        "type": "object",
        "required": ["type", "args"],
        "oneOf": [
            kind("Flip", "flip", object([("flip", flip)]).keyword("required", json!(["flip"]))),
            kind("Rotation", "rotate", object([("angle", number().describe("Degrees to turn clockwise by."))]).keyword("required", json!(["angle"]))),
            kind("Crop", "crop", crop.keyword("required", json!(["left", "top", "width", "height"]))),
        ],
    })
}

/// The changes that a request asks for.
///
/// # Errors
/// When it asks for none.
pub(super) fn changes(req: &Request) -> Result<Vec<Change>> {
    if let Some(Value::Array(all)) = req.param("modifiers") {
        if all.len() > MOST_CHANGES {
            return Err(errors::too_many_changes(MOST_CHANGES));
        }
        return Ok(all.iter().filter_map(change).collect());
    }
    let mut changes = Vec::new();
    if let Some(degrees) = req.arg::<f64>("rotation")?.filter(|d| *d != 0.0) {
        changes.push(Change::Rotate(degrees));
    }
    let part = ["x", "y", "width", "height"].map(|name| req.arg::<f64>(name));
    if let [Some(left), Some(top), Some(width), Some(height)] = part.into_iter().collect::<Result<Vec<_>>>()?[..] {
        changes.push(Change::Crop { left, top, width, height });
    }
    if changes.is_empty() { Err(errors::not_edited()) } else { Ok(changes) }
}

fn change(modifier: &Value) -> Option<Change> {
    let args = modifier.get("args")?;
    let number = |name: &str| args.get(name)?.as_f64();
    Some(match modifier.get("type")?.as_str()? {
        "flip" => {
            let way = |name: &str| args["flip"].get(name).is_some_and(svc_php::cast::truthy);
            Change::Flip { horizontal: way("horizontal"), vertical: way("vertical") }
        }
        "rotate" => Change::Rotate(number("angle")?),
        "crop" => Change::Crop {
            left: number("left")?,
            top: number("top")?,
            width: number("width")?,
            height: number("height")?,
        },
        _ => return None,
    })
}

/// Makes the changes. Blocks.
///
/// # Errors
/// When one of them cannot be made.
pub(super) fn apply(picture: DecodedImage, changes: &[Change]) -> Result<DecodedImage> {
    changes.iter().try_fold(picture, |picture, change| match *change {
        Change::Flip { horizontal, vertical } => Ok(picture.flipped(horizontal, vertical)),
        Change::Rotate(degrees) => picture.rotated(degrees).map_err(|_| errors::rotation_failed()),
        Change::Crop { left, top, width, height } => {
            let (w, h) = picture.size();
            let pixels = |percent: f64, of: u32| (f64::from(of) * percent / 100.0).round().max(0.0) as u32;
            let part = picture.part(pixels(left, w), pixels(top, h), pixels(width, w), pixels(height, h));
            part.map_err(|error: ImageError| {
                tracing::debug!(%error, "an image cannot be cut");
                errors::crop_failed()
            })
        }
    })
}
