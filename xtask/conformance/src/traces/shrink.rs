//! Finds few steps of a trace that still lead to its difference.

use std::collections::BTreeSet;

use anyhow::Result;
use fancy_regex::Regex;
use serde_json::Value;

/// The most runs for one difference.
const MAX_RUNS: usize = 40;

/// Removes steps while `differs` still returns true for the others. The last step is the one that differs, and stays.
pub(super) fn smallest(steps: Vec<Value>, mut differs: impl FnMut(&[Value]) -> Result<bool>) -> Result<Vec<Value>> {
    let mut runs = 0;
    let mut try_steps = |steps: &[Value]| {
        runs += 1;
        if runs > MAX_RUNS { Ok(false) } else { differs(steps) }
    };
    let Some(last) = steps.len().checked_sub(1) else { return Ok(steps) };
    for few in [vec![steps[last].clone()], with_origins(&steps)?] {
        if few.len() < steps.len() && try_steps(&few)? {
            return Ok(few);
        }
    }
    let mut kept = steps;
    let mut size = kept.len() / 2;
    while size > 0 {
        let mut start = 0;
        while start < kept.len() - 1 {
            let end = (start + size).min(kept.len() - 1);
            let others: Vec<Value> = kept[..start].iter().chain(&kept[end..]).cloned().collect();
            if try_steps(&others)? {
                kept = others;
            } else {
                start = end;
            }
        }
        size /= 2;
    }
    Ok(kept)
}

/// The last step, and the steps that create the objects that it names, directly or through others.
fn with_origins(steps: &[Value]) -> Result<Vec<Value>> {
    let variable = Regex::new(r"\{\{(\w+)\}\}")?;
    let mut needed = BTreeSet::new();
    let mut kept: Vec<&Value> = Vec::new();
    for step in steps.iter().rev() {
        let captured = step.get("capture").and_then(Value::as_object).into_iter().flat_map(|names| names.keys());
        if kept.is_empty() || captured.into_iter().any(|name| needed.contains(name)) {
            let text = step.to_string();
            for found in variable.captures_iter(&text) {
                needed.extend(found?.get(1).map(|name| name.as_str().to_owned()));
            }
            kept.push(step);
        }
    }
    Ok(kept.into_iter().rev().cloned().collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[track_caller]
    fn check(steps: &[Value], needed: &[&str], expected: &[&str]) {
        let name = |step: &Value| step["name"].as_str().unwrap().to_owned();
        let mut runs = 0;
        let found = smallest(steps.to_vec(), |steps| {
            runs += 1;
            let names: Vec<String> = steps.iter().map(name).collect();
            Ok(needed.iter().all(|step| names.iter().any(|name| name == step)))
        });
        assert_eq!(found.unwrap().iter().map(name).collect::<Vec<_>>(), expected);
        assert!(runs <= MAX_RUNS);
    }

    #[test]
    fn only_the_steps_that_lead_to_the_difference_remain() {
        let step = |n: usize| json!({"name": format!("s{n}")});
        let plain: Vec<Value> = (1..=30).map(step).collect();
        check(&plain, &["s30"], &["s30"]);
        check(&plain, &["s30", "s7"], &["s7", "s30"]);
        check(&plain, &["s30", "s1", "s29"], &["s1", "s29", "s30"]);
        check(&plain[..1], &["s1"], &["s1"]);
        let mut linked = plain;
        linked[2]["capture"] = json!({"a": "/id"});
        linked[4]["capture"] = json!({"b": "/id"});
        linked[4]["path"] = "/{{a}}".into();
        linked[29]["path"] = "/x/{{b}}".into();
        check(&linked, &["s30", "s3"], &["s3", "s5", "s30"]);
    }

    #[test]
    fn runs_are_bounded() {
        let steps: Vec<Value> = (0..500).map(|n| json!({ "name": n })).collect();
        let mut runs = 0;
        let found = smallest(steps, |steps| {
            runs += 1;
            Ok(steps.len() == 500)
        });
        assert_eq!((found.unwrap().len(), runs), (500, MAX_RUNS));
    }
}
