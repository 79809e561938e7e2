//! Compares the results of WordPress's tests on WordPress with those on the server.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result, ensure};
use serde_json::Value;
use xtask_support::say;

/// Tests that fail on the server, by reason.
#[rustfmt::skip]
const EXPLAINED: &[(&str, &[&str])] = &[
    ("the sentence of an error is svc's own", &[
        "Tests_REST_WpRestFontFacesController::test_create_item_invalid_file_src",
        "Tests_REST_WpRestFontFacesController::test_create_item_invalid_settings_json",
        "Tests_REST_WpRestFontFacesController::test_create_item_missing_file_src",
        "Tests_REST_WpRestFontFacesController::test_create_item_with_duplicate_properties",
        "Tests_REST_WpRestFontFacesController::test_delete_item_invalid_parent_id",
        "Tests_REST_WpRestFontFacesController::test_get_item_invalid_parent_id",
        "Tests_REST_WpRestFontFamiliesController::test_create_item_invalid_settings_json",
        "Tests_REST_WpRestFontFamiliesController::test_create_item_with_duplicate_slug",
        "Tests_REST_WpRestFontFamiliesController::test_update_item_update_slug_not_allowed",
        "WP_REST_Navigation_Fallback_Controller_Test::test_should_not_return_menus_for_users_without_permissions",
        "WP_Test_REST_Revisions_Controller::test_get_item_invalid_parent_id",
        "WP_Test_REST_Users_Controller::test_create_item_invalid_username",
        "Tests_REST_wpRestTemplateRevisionsController::test_get_item_invalid_parent_id",
    ]),
    ("descriptions are svc's own", &[
        "WP_Test_REST_Themes_Controller::test_theme_default_template_part_areas",
        "WP_Test_REST_Themes_Controller::test_theme_default_template_types",
    ]),
    ("functions.php of the theme declares what it supports, and the server runs no PHP", &[
        "WP_Test_REST_Themes_Controller::test_theme_can_manage_title_tag",
        "WP_Test_REST_Themes_Controller::test_theme_supports_post_thumbnails_true",
        "WP_Test_REST_Widget_Types_Controller::test_encode_form_data_with_form_data",
        "WP_Test_REST_Widget_Types_Controller::test_encode_form_data_with_instance",
    ]),
];

/// The result of a test.
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
pub(crate) fn judge(on_wordpress: &Outcomes, on_svc: &Outcomes) -> Result<()> {
    let (mut n_expected, mut n_passed, mut problems) = (0, 0, Vec::new());
    for (piece, tests) in on_wordpress {
        let expected: Vec<&String> =
            tests.iter().filter(|(_, it)| it.passed && it.n_requests > 0).map(|(test, _)| test).collect();
        let outcome = |test: &str| on_svc.get(piece).and_then(|tests| tests.get(test));
        let failed: Vec<&String> =
            expected.iter().copied().filter(|test| outcome(test).is_none_or(|outcome| !outcome.passed)).collect();
        for test in &failed {
            let message = outcome(test).map_or("not run", |outcome| &outcome.message).replace('\n', " ");
            match reason(test) {
                Some(reason) => say(&format!("    {test}: {reason}"))?,
                None => problems.push(format!("{test} passes on WordPress only: {message:.300}")),
            }
        }
        let failed_methods: BTreeSet<&str> = failed.iter().map(|test| method(test)).collect();
        let run: BTreeSet<&str> = expected.iter().map(|test| method(test)).collect();
        let is_stale = |test: &&str| reason(test).is_some() && !failed_methods.contains(test);
        problems.extend(run.into_iter().filter(is_stale).map(|test| format!("{test} is explained, and passes")));
        say(&format!("{piece}: {} of {}", expected.len() - failed.len(), expected.len()))?;
        n_expected += expected.len();
        n_passed += expected.len() - failed.len();
    }
    for problem in &problems {
        say(problem)?;
    }
    say(&format!("{n_passed} of the {n_expected} tests that pass on WordPress over HTTP pass on svc"))?;
    ensure!(n_expected > 0, "no test passes on WordPress");
    ensure!(problems.is_empty(), "{} tests have other results than expected", problems.len());
    Ok(())
}

/// A test without its data set.
fn method(test: &str) -> &str {
    test.split(" with data set").next().unwrap_or_default()
}

fn reason(test: &str) -> Option<&'static str> {
    EXPLAINED.iter().find(|(_, tests)| tests.contains(&method(test))).map(|(reason, _)| *reason)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_results_than_expected_fail() {
        let explained = EXPLAINED[0].1[0];
        let line = |test: &str, outcome: &str, requests: u64| {
            serde_json::json!({"test": test, "outcome": outcome, "requests": requests, "message": "a\nb"}).to_string()
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
            assert_eq!(judge(&outcomes(&wordpress), &outcomes(&svc)).is_ok(), is_right, "{wordpress:?} {svc:?}");
        }
    }
}
