//! Compares the results of WordPress's tests on WordPress with those on the server.
//!
//! `live_phpunit_differences.json` lists the tests that fail on the server for a known reason, and what their failures say.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result, ensure};
use serde::Deserialize;
use serde_json::Value;
use xtask_support::say;

/// Tests that fail on the server for the same reason.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Difference {
    /// Why they fail.
    reason: String,
    /// Whether only a text for people differs, such as the sentence of an error.
    only_text: bool,
    /// A part of the messages of their failures. A test that fails with another message is not explained.
    failure: String,
    /// Class and method, without data sets.
    tests: BTreeSet<String>,
}

/// The known differences.
pub(crate) fn differences() -> Result<Vec<Difference>> {
    serde_json::from_str(include_str!("live_phpunit_differences.json")).context("the list of differences is invalid")
}

/// The result of a test.
#[derive(Debug)]
pub(crate) struct Outcome {
    passed: bool,
    n_requests: u64,
    message: String,
}

/// Results by piece and test.
pub(crate) type Outcomes = BTreeMap<String, BTreeMap<String, Outcome>>;

/// Reads the results of a piece: an object in each line.
pub(crate) fn read(lines: &str) -> Result<BTreeMap<String, Outcome>> {
    let parse = |line: &str| {
        let line: Value = serde_json::from_str(line).context("the results are no JSON")?;
        let text = |key: &str| line[key].as_str().unwrap_or_default().to_owned();
        let n_requests = line["requests"].as_u64().unwrap_or_default();
        Ok((text("test"), Outcome { passed: text("outcome") == "pass", n_requests, message: text("message") }))
    };
    lines.lines().map(parse).collect()
}

/// Prints the figures of each piece. Fails if a test passes on WordPress only and is not explained, or is explained and passes.
pub(crate) fn judge(differences: &[Difference], on_wordpress: &Outcomes, on_svc: &Outcomes) -> Result<()> {
    let (mut n_expected, mut n_passed, mut n_text, mut problems) = (0, 0, 0, Vec::new());
    for (piece, tests) in on_wordpress {
        let expected: Vec<&String> =
            tests.iter().filter(|(_, it)| it.passed && it.n_requests > 0).map(|(test, _)| test).collect();
        let outcome = |test: &str| on_svc.get(piece).and_then(|tests| tests.get(test));
        let failed: Vec<&String> =
            expected.iter().copied().filter(|test| outcome(test).is_none_or(|outcome| !outcome.passed)).collect();
        for test in &failed {
            let message = outcome(test).map_or("not run", |outcome| &outcome.message);
            match explanation(differences, test).filter(|known| message.contains(&known.failure)) {
                Some(known) => {
                    n_text += usize::from(known.only_text);
                    say(&format!("    {test}: {}", known.reason))?;
                }
                None => problems.push(format!("{test} passes on WordPress only: {:.300}", message.replace('\n', " "))),
            }
        }
        let failed_methods: BTreeSet<&str> = failed.iter().map(|test| method(test)).collect();
        let run: BTreeSet<&str> = expected.iter().map(|test| method(test)).collect();
        let is_stale = |test: &&str| explanation(differences, test).is_some() && !failed_methods.contains(test);
        problems.extend(run.into_iter().filter(is_stale).map(|test| format!("{test} is explained, and passes")));
        say(&format!("{piece}: {} of {}", expected.len() - failed.len(), expected.len()))?;
        n_expected += expected.len();
        n_passed += expected.len() - failed.len();
    }
    for problem in &problems {
        say(problem)?;
    }
    let n_other = n_expected - n_passed - n_text;
    say(&format!("{n_passed} of the {n_expected} tests that pass on WordPress over HTTP pass on svc"))?;
    say(&format!("{n_text} differ only in a text of svc's own, {n_other} otherwise"))?;
    ensure!(n_expected > 0, "no test passes on WordPress");
    ensure!(problems.is_empty(), "{} tests have other results than expected", problems.len());
    Ok(())
}

/// A test without its data set.
fn method(test: &str) -> &str {
    test.split(" with data set").next().unwrap_or_default()
}

fn explanation<'a>(differences: &'a [Difference], test: &str) -> Option<&'a Difference> {
    differences.iter().find(|difference| difference.tests.contains(method(test)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_results_than_expected_fail() {
        let known = |only_text, failure: &str| Difference {
            reason: "known".to_owned(),
            only_text,
            failure: failure.to_owned(),
            tests: ["B::b".to_owned()].into(),
        };
        let explained = "B::b";
        let line = |test: &str, outcome: &str, requests: u64| {
            serde_json::json!({"test": test, "outcome": outcome, "requests": requests, "message": "two strings\nb"})
                .to_string()
        };
        let outcomes = |lines: &[String]| Outcomes::from([("posts".to_owned(), read(&lines.join("\n")).unwrap())]);
        for (wordpress, svc, is_right) in [
            (vec![line("A::a", "pass", 1)], vec![line("A::a", "pass", 1)], true),
            (vec![line("A::a", "pass", 1)], vec![line("A::a", "fail", 1)], false),
            (vec![line("A::a", "pass", 1)], vec![], false),
            (vec![line("A::a", "fail", 1)], vec![line("A::a", "fail", 1)], false),
            (vec![line("A::a", "pass", 0)], vec![line("A::a", "pass", 0)], false),
            (vec![line(explained, "pass", 1)], vec![line(explained, "fail", 1)], true),
            (vec![line(explained, "pass", 1)], vec![line(explained, "pass", 1)], false),
            (
                [" with data set \"x\"", " with data set \"y\""]
                    .map(|set| line(&format!("{explained}{set}"), "pass", 1))
                    .into(),
                vec![
                    line(&format!("{explained} with data set \"x\""), "fail", 1),
                    line(&format!("{explained} with data set \"y\""), "pass", 1),
                ],
                true,
            ),
        ] {
            let (wordpress, svc) = (outcomes(&wordpress), outcomes(&svc));
            for only_text in [true, false] {
                assert_eq!(
                    judge(&[known(only_text, "two strings")], &wordpress, &svc).is_ok(),
                    is_right,
                    "{wordpress:?} {svc:?}"
                );
            }
            let fails_otherwise = judge(&[known(true, "two arrays")], &wordpress, &svc);
            let has_explained = wordpress.values().flatten().any(|(test, _)| method(test) == explained);
            assert_eq!(fails_otherwise.is_ok(), is_right && !has_explained, "{wordpress:?} {svc:?}");
        }
    }

    #[test]
    fn a_test_is_explained_once() {
        let all = differences().unwrap();
        let n_tests: usize = all.iter().map(|difference| difference.tests.len()).sum();
        let distinct: BTreeSet<&String> = all.iter().flat_map(|difference| &difference.tests).collect();
        assert_eq!(distinct.len(), n_tests);
        assert!(all.iter().all(|difference| !difference.failure.is_empty()));
    }
}
