//! Fluid font sizes, which grow with the viewport between two limits.

use serde_json::Value;

/// Default viewport width for the minimum size, in pixels.
const NARROW: f64 = 320.0;
/// Default viewport width for the maximum size, in pixels.
const WIDE: f64 = 1600.0;
/// Pixels per `rem`.
const REM: f64 = 16.0;
/// Default minimum font size, in pixels. Smaller sizes are not fluid.
const LEAST: f64 = 14.0;

/// The setting `settings.typography.fluid`.
#[derive(Clone, Copy, Debug, Default)]
pub struct FluidSizes {
    is_on: bool,
    /// Viewport widths for the minimum and the maximum size, in pixels.
    widths: (f64, f64),
    least: f64,
}

/// Parses a length: its number and its unit.
fn length(text: &str) -> Option<(f64, &str)> {
    let at = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(at);
    let unit = if unit.is_empty() { "px" } else { unit };
    matches!(unit, "px" | "rem" | "em").then_some((number.parse().ok()?, unit))
}

/// A length in pixels.
fn pixels(text: &str) -> Option<f64> {
    let (number, unit) = length(text)?;
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
        let wide = settings["layout"]["wideSize"].as_str().and_then(pixels);
        let width = |name: &str| fluid[name].as_str().and_then(pixels);
        FluidSizes {
            is_on: fluid == &Value::Bool(true) || fluid.as_object().is_some_and(|members| !members.is_empty()),
            widths: (width("minViewportWidth").unwrap_or(NARROW), width("maxViewportWidth").or(wide).unwrap_or(WIDE)),
            least: width("minFontSize").unwrap_or(LEAST),
        }
    }

    /// The fluid value of a preset's size, or the size itself. `fluid` is the preset's own setting.
    pub fn size(&self, size: &str, fluid: &Value) -> String {
        self.clamped(size, fluid).unwrap_or_else(|| size.to_owned())
    }

    /// The `clamp()` value of a size; `None` if it is not fluid.
    pub fn clamped(&self, size: &str, fluid: &Value) -> Option<String> {
        if !self.is_on || fluid == &Value::Bool(false) {
            return None;
        }
        let (preferred, unit) = length(size)?;
        let in_pixels = pixels(size)?;
        let greatest = fluid["max"].as_str().unwrap_or(size);
        let (max, max_unit) = length(greatest)?;
        let (min, min_unit) = match fluid["min"].as_str() {
            Some(min) => length(min)?,
            None if in_pixels <= self.least => return None,
            None => {
                let factor = (1.0 - 0.075 * in_pixels.log2()).clamp(0.25, 0.75);
                let least = if unit == "px" { self.least } else { self.least / REM };
                (round(preferred * factor).max(least), unit)
            }
        };
        if min_unit != max_unit {
            return None;
        }
        let scale = if min_unit == "px" { 1.0 } else { REM };
        let (narrow, wide) = self.widths;
        if wide <= narrow {
            return None;
        }
        let factor = round(100.0 * (max - min) / ((wide - narrow) / scale));
        let factor = if factor == 0.0 { 1.0 } else { factor };
        let base = if min_unit == "px" { round(min / REM) } else { min };
        let step = round(narrow / scale / 100.0);
        Some(format!("clamp({min}{min_unit}, {base}rem + ((1vw - {step}{min_unit}) * {factor}), {max}{max_unit})"))
    }
}
