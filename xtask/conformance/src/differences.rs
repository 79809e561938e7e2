//! Steps on which the project differs from the recordings on purpose: `tests/conformance/differences.toml`.

use anyhow::{Context, Result};
use serde::Deserialize;
use xtask_support::say;

use crate::{brand, folders::own_folder, scenario::Scenario};

/// Failing steps that are printed per scenario, unless all are requested.
const PRINTED: usize = 5;

/// The result of a scenario.
pub(crate) struct Report {
    pub(crate) scenario: String,
    pub(crate) passed: usize,
    pub(crate) failures: Vec<Failure>,
}

/// A step whose response differs from the recorded one.
pub(crate) struct Failure {
    pub(crate) step: String,
    pub(crate) difference: String,
}

/// Results with the intended differences counted apart.
#[derive(Default)]
pub(crate) struct Outcome {
    pub(crate) passed: usize,
    pub(crate) differing: usize,
    pub(crate) failures: Vec<String>,
}

impl Outcome {
    /// Prints a scenario's result, with a few of its failures or all.
    pub(crate) fn print(&self, scenario: &Scenario, all: bool) -> Result<()> {
        for line in self.failures.iter().take(if all { usize::MAX } else { PRINTED }) {
            say(&format!("    {line}"))?;
        }
        let differing = if self.differing > 0 { format!(" {:5} differ", self.differing) } else { String::new() };
        let (passed, failed) = (self.passed, self.failures.len());
        say(&format!("{:28} {passed:5} passed {failed:5} failed{differing}", scenario.name))
    }
}

/// The intended differences under one brand.
pub(crate) struct Differences {
    /// Pairs of a scenario and a step that differs.
    steps: Vec<(String, String)>,
    /// Pairs of a scenario and a response header that differs in all of its steps.
    headers: Vec<(String, String)>,
}

impl Differences {
    /// Those of a brand.
    pub(crate) fn read(brand: &str) -> Result<Self> {
        #[derive(Deserialize)]
        struct File {
            difference: Vec<Difference>,
        }
        #[derive(Deserialize)]
        struct Difference {
            #[expect(dead_code, reason = "required, for those who read the file")]
            reason: String,
            scenario: String,
            #[serde(default)]
            steps: Vec<String>,
            /// Headers that are compared in no step of the scenario.
            #[serde(default)]
            headers: Vec<String>,
            /// Only under a brand other than that of the recordings.
            #[serde(default)]
            other_brands: bool,
        }
        let path = own_folder()?.join("differences.toml");
        let text = std::fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        let file: File = toml::from_str(&text).with_context(|| format!("cannot read {}", path.display()))?;
        let mut found = Differences { steps: Vec::new(), headers: Vec::new() };
        for listed in file.difference.into_iter().filter(|d| !d.other_brands || brand != brand::RECORDED) {
            let pair = |name: String| (listed.scenario.clone(), name);
            found.steps.extend(listed.steps.into_iter().map(pair));
            found.headers.extend(listed.headers.into_iter().map(pair));
        }
        Ok(found)
    }

    /// Leaves headers that differ on purpose out of the comparison.
    pub(crate) fn ignore_headers(&self, scenario: &mut Scenario) {
        for (_, header) in self.headers.iter().filter(|(name, _)| *name == scenario.name) {
            scenario.steps.iter_mut().for_each(|step| step.ignore_headers.push(header.clone()));
        }
    }

    /// Counts listed failures apart. A listed step that does not fail is a failure.
    pub(crate) fn judge(&self, report: Report) -> Outcome {
        let listed: Vec<&str> =
            self.steps.iter().filter(|(s, _)| *s == report.scenario).map(|(_, step)| step.as_str()).collect();
        let (differing, failed): (Vec<Failure>, Vec<Failure>) =
            report.failures.into_iter().partition(|f| listed.contains(&f.step.as_str()));
        let passing = listed.iter().filter(|step| !differing.iter().any(|f| f.step == **step));
        let mut failures: Vec<String> = failed.iter().map(|f| format!("{}: {}", f.step, f.difference)).collect();
        failures.extend(passing.map(|step| format!("{step}: is listed as differing, and passes or is gone")));
        Outcome { passed: report.passed, differing: differing.len(), failures }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn listed_steps_are_counted_apart_and_must_fail() {
        let listed = ["a", "b"].map(|step| ("s".to_owned(), step.to_owned())).to_vec();
        let failure = |step: &str| Failure { step: step.to_owned(), difference: "x".to_owned() };
        let report = Report { scenario: "s".to_owned(), passed: 3, failures: vec![failure("a"), failure("c")] };
        let outcome = Differences { steps: listed, headers: Vec::new() }.judge(report);
        assert_eq!((outcome.passed, outcome.differing), (3, 1));
        assert_eq!(outcome.failures, ["c: x", "b: is listed as differing, and passes or is gone"]);
    }

    #[test]
    fn the_list_in_the_repository_can_be_read() {
        assert!(Differences::read(brand::RECORDED).is_ok());
    }
}
