//! Spacing sizes computed from a scale: a medium size, and steps below and above it.
//!
//! Source: `WP_Theme_JSON::compute_spacing_sizes`.

use serde_json::{Map, Value, json};

/// Scale of themes that define only parts of one.
const OPERATOR: &str = "*";
const INCREMENT: f64 = 1.5;
const STEPS: f64 = 7.0;
const MEDIUM: f64 = 1.5;
const UNIT: &str = "rem";
/// Maximum number of steps.
const MAX_STEPS: f64 = 100.0;
/// Slug of the medium size, and the distance between slugs.
const MEDIUM_SLUG: i64 = 50;
const SLUG_STEP: i64 = 10;

/// Adds the sizes of the scale, if there is one, to the named sizes.
pub(super) fn compute(spacing: &mut Map<String, Value>) {
    let Some(scale) = spacing.get("spacingScale").filter(|scale| scale.is_object()) else { return };
    let mut sizes = sizes(scale);
    for named in spacing.get("spacingSizes").and_then(Value::as_array).into_iter().flatten() {
        match sizes.iter_mut().find(|size| size["slug"] == named["slug"]) {
            Some(size) => *size = named.clone(),
            None => sizes.push(named.clone()),
        }
    }
    // Slugs that are not numbers come first.
    sizes.sort_by_key(|size| size["slug"].as_str().and_then(|slug| slug.parse::<i64>().ok()).unwrap_or_default());
    spacing.insert("spacingSizes".to_owned(), Value::Array(sizes));
}

/// The sizes of a scale in ascending order; empty if the scale is invalid.
fn sizes(scale: &Value) -> Vec<Value> {
    let number = |name: &str, default: f64| match &scale[name] {
        Value::Null => Some(default),
        value => value.as_f64(),
    };
    let (Some(increment), Some(steps), Some(medium)) =
        (number("increment", INCREMENT), number("steps", STEPS), number("mediumStep", MEDIUM))
    else {
        return Vec::new();
    };
    let operator = scale["operator"].as_str().unwrap_or(OPERATOR);
    let unit = scale["unit"].as_str().unwrap_or(UNIT);
    let is_whole = !unit.is_empty() && increment > 0.0 && (1.0..=MAX_STEPS).contains(&steps);
    if !is_whole || !matches!(operator, "+" | "*") {
        return Vec::new();
    }
    let size = |name: String, slug: i64, value: f64| json!({"name": name, "slug": slug.to_string(), "size": format!("{}{unit}", (value * 100.0).round() / 100.0)});
    let name = |step: i64, label: &str| match step {
        1 => label.to_owned(),
        2 => format!("X-{label}"),
        n => format!("{}X-{label}", n - 1),
    };
    let steps = steps.trunc() as i64;
    // Half of the steps, rounded up: the medium size and those below it.
    let half = (steps + 1) / 2;
    let (mut result, mut remaining, mut value) = (Vec::new(), half - 1, medium);
    while remaining > 0 {
        let step = result.len() as i64 + 1;
        // There are no slugs below the first.
        if MEDIUM_SLUG <= SLUG_STEP * step {
            remaining = 0;
            break;
        }
        value = match operator {
            "+" => value - increment,
            _ if increment > 1.0 => value / increment,
            _ => value * increment,
        };
        // Steps that do not fit below the medium size are added above it.
        if value <= 0.0 {
            break;
        }
        result.push(size(name(step, "Small"), MEDIUM_SLUG - SLUG_STEP * step, value));
        remaining -= 1;
    }
    result.reverse();
    result.push(size("Medium".to_owned(), MEDIUM_SLUG, medium));
    value = medium;
    for step in 1..=steps - half + remaining {
        value = match operator {
            "+" => value + increment,
            _ if increment > 1.0 => value * increment,
            _ => value / increment,
        };
        result.push(size(name(step, "Large"), MEDIUM_SLUG + SLUG_STEP * step, value));
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sizes that WordPress computes for these scales.
    #[test]
    fn computes_sizes_of_scales() {
        let rows = [
            (
                json!({"operator": "+", "increment": 0.5, "steps": 5, "mediumStep": 2, "unit": "rem"}),
                "X-Small 30 1rem, Small 40 1.5rem, Medium 50 2rem, Large 60 2.5rem, X-Large 70 3rem",
            ),
            (json!({"increment": 2, "steps": 2, "mediumStep": 4, "unit": "em"}), "Medium 50 4em, Large 60 8em"),
            (json!({"increment": 2, "steps": 1, "mediumStep": 4, "unit": "em"}), "Medium 50 4em"),
            (json!({"steps": 3, "unit": "%"}), "Small 40 1%, Medium 50 1.5%, Large 60 2.25%"),
            (
                json!({"operator": "+", "increment": 3, "steps": 6, "mediumStep": 4, "unit": "em"}),
                "Small 40 1em, Medium 50 4em, Large 60 7em, X-Large 70 10em, 2X-Large 80 13em, 3X-Large 90 16em",
            ),
            (
                json!({"increment": 0.5, "steps": 9}),
                "3X-Small 10 0.09rem, 2X-Small 20 0.19rem, X-Small 30 0.38rem, Small 40 0.75rem, Medium 50 1.5rem, Large 60 3rem, X-Large 70 6rem, 2X-Large 80 12rem, 3X-Large 90 24rem",
            ),
            (json!({"operator": "x"}), ""),
            (json!({"steps": 0}), ""),
        ];
        for (scale, expected) in rows {
            let actual: Vec<String> = sizes(&scale)
                .iter()
                .map(|size| ["name", "slug", "size"].map(|member| size[member].as_str().unwrap().to_owned()).join(" "))
                .collect();
            assert_eq!(actual.join(", "), expected, "{scale}");
        }
        let slugs = |scale: Value| sizes(&scale).len();
        assert_eq!(slugs(json!({"operator": "+", "increment": 10, "steps": 12, "mediumStep": 50, "unit": "px"})), 11);
    }

    #[test]
    fn merges_named_sizes_with_the_scale() {
        let value = json!({"spacingScale": {"steps": 3}, "spacingSizes": [{"slug": "50", "size": "1px"}, {"slug": "b", "size": "2px"}]});
        let Value::Object(mut spacing) = value else { panic!("expected an object") };
        compute(&mut spacing);
        let sizes: Vec<&str> =
            spacing["spacingSizes"].as_array().unwrap().iter().filter_map(|s| s["size"].as_str()).collect();
        assert_eq!(sizes, ["2px", "1rem", "1px", "2.25rem"]);
    }
}
