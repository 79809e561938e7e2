//! Writes recordings: a line for the head of each response, and a line for its body, with sorted keys.

use std::fmt::Write;

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};
use xtask_support::say;

use crate::{
    accounts::SiteKeys,
    brand,
    compare::sorted_text,
    folders::{asset_folders, folders, own_folder, scenarios},
    options::Options,
    remote::reset,
    runner::Runner,
    scenario::StepResponse,
    site,
};

/// Records scenarios from a running WordPress on the recorded site: the project's own of these names, or all of these names (all
/// without names) in a folder of their own, `--recordings`. `--reset` is a shell command that restores the site; it runs before
/// each scenario that writes.
pub(crate) fn run(base: &str, options: &Options) -> Result<()> {
    let folders = match &options.recordings {
        Some(_) => folders(options)?,
        None if options.scenarios.is_empty() => bail!("--record needs the names of scenarios, or --recordings"),
        None => vec![own_folder()?],
    };
    let mut dirty = true;
    for scenario in scenarios(&folders, options)? {
        if let Some(command) = options.reset.as_ref().filter(|_| dirty || scenario.writes) {
            reset(command)?;
        }
        dirty = scenario.writes;
        let keys = SiteKeys::read(&site::config()?)?;
        let runner = Runner::new(base, brand::RECORDED, keys, asset_folders(&folders))?;
        let responses = runner.over_tls(options.tls).record(&scenario)?;
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
    use crate::scenario::in_folder;

    #[test]
    fn stored_recordings_have_the_written_form() {
        for scenario in in_folder(&own_folder().unwrap()).unwrap() {
            let stored = std::fs::read_to_string(scenario.recording_path()).unwrap();
            assert!(text(&scenario.name, &scenario.recording().unwrap()) == stored, "{}", scenario.name);
        }
    }
}
