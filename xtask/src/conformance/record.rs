//! Writes recordings: a line for the head of each response, and a line for its body, with sorted keys.

use std::fmt::Write;

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use super::{
    Options,
    accounts::SiteKeys,
    asset_folders, brand,
    compare::sorted_text,
    own_folder,
    runner::Runner,
    scenario::{StepResponse, in_folder},
    site,
};
use crate::say;

/// Records the project's own scenarios of these names from a running WordPress on the recorded site.
pub(super) fn run(base: &str, options: &Options) -> Result<()> {
    let (folder, wanted) = (own_folder()?, &options.scenarios);
    let mut scenarios = in_folder(&folder)?;
    scenarios.retain(|scenario| wanted.contains(&scenario.name));
    if scenarios.is_empty() || scenarios.len() < wanted.len() {
        bail!("--record needs the names of scenarios in {}", folder.display());
    }
    let keys = SiteKeys::read(&site::config()?)?;
    let mut runner = Runner::new(base, brand::RECORDED, keys, asset_folders(&[folder]))?;
    for scenario in scenarios {
        let responses = runner.record(&scenario)?;
        let path = scenario.recording_path();
        std::fs::write(&path, text(&scenario.name, &responses))
            .with_context(|| format!("cannot write {}", path.display()))?;
        say(&format!("{:28} {:5} recorded", scenario.name, responses.len()))?;
    }
    Ok(())
}

/// The text of a recording.
fn text(scenario: &str, responses: &[StepResponse]) -> String {
    let step = |response: &StepResponse| {
        let head = json!({"name": response.name, "status": response.status, "headers": response.headers});
        let head = sorted_text(&head);
        format!("{},\n\"body\":{}}}", head.strip_suffix('}').unwrap_or(&head), sorted_text(&response.body))
    };
    let steps: Vec<String> = responses.iter().map(step).collect();
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _written = writeln!(text, "{{\"scenario\":{},\"steps\":[\n{}\n]}}", Value::from(scenario), steps.join(",\n"));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stored_recordings_have_the_written_form() {
        for scenario in in_folder(&own_folder().unwrap()).unwrap() {
            let stored = std::fs::read_to_string(scenario.recording_path()).unwrap();
            assert!(text(&scenario.name, &scenario.recording().unwrap()) == stored, "{}", scenario.name);
        }
    }
}
