//! Fluid font sizes, which grow with the viewport between two limits.

use serde_json::Value;

/// Default viewport width for the minimum size, in pixels.
const DEFAULT_MIN_VIEWPORT: f64 = 320.0;
/// Default viewport width for the maximum size, in pixels.
const DEFAULT_MAX_VIEWPORT: f64 = 1600.0;
/// Pixels per `rem`.
const REM: f64 = 16.0;
/// Default minimum font size, in pixels. Smaller sizes are not fluid.
const DEFAULT_MIN_SIZE: f64 = 14.0;

/// The setting `settings.typography.fluid`.
#[derive(Clone, Copy, Debug, Default)]
pub struct FluidSizes {
    is_on: bool,
    /// Viewport widths for the minimum and the maximum size, in pixels.
    viewports: (f64, f64),
    min_size: f64,
}

/// Parses a length: its number and its unit.
fn parse_length(text: &str) -> Option<(f64, &str)> {
    let at = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(at);
    let unit = if unit.is_empty() { "px" } else { unit };
    matches!(unit, "px" | "rem" | "em").then_some((number.parse().ok()?, unit))
}

/// A length in pixels.
fn to_pixels(text: &str) -> Option<f64> {
    let (number, unit) = parse_length(text)?;
    Some(if unit == "px" { number } else { number * REM })
}

/// Rounds to three decimals, as WordPress does.
fn round(number: f64) -> f64 {
    (number * 1000.0).round() / 1000.0
}

impl FluidSizes {
    /// The fluid typography of a theme's settings.
    pub fn of(settings: &Value) -> Self {
        let fluid = &settings["typography"]["fluid"];
        let max_viewport = settings["layout"]["wideSize"].as_str().and_then(to_pixels);
        let width = |name: &str| fluid[name].as_str().and_then(to_pixels);
        FluidSizes {
            is_on: fluid == &Value::Bool(true) || fluid.as_object().is_some_and(|settings| !settings.is_empty()),
            viewports: (
                width("minViewportWidth").unwrap_or(DEFAULT_MIN_VIEWPORT),
                width("maxViewportWidth").or(max_viewport).unwrap_or(DEFAULT_MAX_VIEWPORT),
            ),
            min_size: width("minFontSize").unwrap_or(DEFAULT_MIN_SIZE),
        }
    }

    /// The fluid value of a preset's size, or the size itself. `fluid` is the preset's own setting.
    pub fn size(&self, size: &str, fluid: &Value) -> String {
        self.clamp(size, fluid).unwrap_or_else(|| size.to_owned())
    }

    /// The `clamp()` value of a size; `None` if it is not fluid.
    pub fn clamp(&self, size: &str, fluid: &Value) -> Option<String> {
        if !self.is_on || fluid == &Value::Bool(false) {
            return None;
        }
        let (preferred, unit) = parse_length(size)?;
        let in_pixels = to_pixels(size)?;
        let max_size = fluid["max"].as_str().unwrap_or(size);
        let (max, max_unit) = parse_length(max_size)?;
        let (min, min_unit) = match fluid["min"].as_str() {
            Some(min) => parse_length(min)?,
            None if in_pixels <= self.min_size => return None,
            None => {
                let factor = (1.0 - 0.075 * in_pixels.log2()).clamp(0.25, 0.75);
                let min_size = if unit == "px" { self.min_size } else { self.min_size / REM };
                (round(preferred * factor).max(min_size), unit)
            }
        };
        if min_unit != max_unit {
            return None;
        }
        let scale = if min_unit == "px" { 1.0 } else { REM };
        let (min_viewport, max_viewport) = self.viewports;
        if max_viewport <= min_viewport {
            return None;
        }
        let factor = round(100.0 * (max - min) / ((max_viewport - min_viewport) / scale));
        let factor = if factor == 0.0 { 1.0 } else { factor };
        let base = if min_unit == "px" { round(min / REM) } else { min };
        let step = round(min_viewport / scale / 100.0);
        Some(format!("clamp({min}{min_unit}, {base}rem + ((1vw - {step}{min_unit}) * {factor}), {max}{max_unit})"))
    }
}
