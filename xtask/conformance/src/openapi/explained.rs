//! Failures of schemathesis that have a reason. All others fail the task.

use std::collections::BTreeMap;

use anyhow::{Result, ensure};
use xtask_support::say;

/// A code of schemathesis, a text in the failure, and why the failure is no defect. The first match counts.
#[rustfmt::skip]
const EXPLAINED: &[(&str, &str, &str)] = &[
    ("ST204", "rest_no_route", "WordPress responds to unknown methods with 404"),
    ("ST205", "does not match the schema. Missing documented methods", "`Allow` names the methods that the caller may use"),
    // Responses
    ("ST108", "[] is not of type \"object\"", EMPTY),
    ("ST108", "[] is not of types \"string\", \"object\"", EMPTY),
    ("ST108", "[] is not valid under any of the schemas", EMPTY),
    ("ST108", "/components/schemas/Settings/", "settings are null if the stored value does not have their type"),
    ("ST108", "/properties/origin", "WordPress returns null for templates without a source"),
    ("ST108", "Autosaves/properties/date", "WordPress returns null for drafts without a date"),
    ("ST108", "/properties/wp_pattern_sync_status", "WordPress returns null for synced patterns, which have no value"),
    ("ST108", "/properties/_wp_note_status", "WordPress returns null for comments that are not notes"),
    ("ST101", "rest_trash_not_supported", "WordPress responds with 501"),
    ("ST101", "\"empty_term_name\"", ERROR),
    ("ST101", "\"duplicate_term_slug\"", ERROR),
    ("ST101", "\"rest_invalid_widget\"", ERROR),
    ("ST101", "\"rest_invalid_stored_value\"", ERROR),
    ("ST101", "\"existing_user_login\"", ERROR),
    ("ST101", "\"rest_upload_unknown_error\"", ERROR),
    ("ST102", "\"rest_invalid_widget\"", "WordPress ignores bodies of other types, and responds with 500"),
    ("ST101", "\"plugins_api_failed\"", "the attacked server has no directory of plugins"),
    ("ST101", "\"http_request_not_executed\"", "the attacked server sends no requests"),
    // Accepted requests
    ("ST201", "default_post_format", "null resets a setting"),
    ("ST201", "ncorrect type", CONVERTED),
    ("ST201", "violates `type`", CONVERTED),
    ("ST201", "violates `enum` at /properties/status/items", "an empty text is an empty list"),
    ("ST201", "violates `enum` at /properties/subtype/items", "an empty text is an empty list"),
    ("ST201", "violates `additionalProperties`", "unknown parameters are ignored"),
    ("ST201", "violates `not`", "read-only values are ignored"),
    // Rejected requests
    ("ST202", "\"rest_invalid_date\"", "WordPress rejects an empty date"),
    ("ST202", "\"rest_forbidden_status\"", "WordPress responds with 400 to a status that the caller may not list"),
    ("ST202", "should match only one", "WordPress rejects values that match several forms of a parameter"),
    ("ST202", "meta[annotations]", "WordPress does not convert the text `null`"),
    ("ST202", "context is not edit", "WordPress requires a value other than the default"),
    ("ST202", "\"rest_no_search_term_defined\"", TOGETHER),
    ("ST202", "\"rest_orderby_include_missing_include\"", TOGETHER),
    ("ST202", "\"rest_title_required\"", TOGETHER),
    ("ST202", "\"empty_content\"", TOGETHER),
    ("ST202", "\"rest_upload_no_content_disposition\"", TOGETHER),
    ("ST202", "\"rest_user_invalid_password\"", RULE),
    ("ST202", "must be a JSON string", RULE),
    ("ST202", "of font_family_settings", RULE),
    ("ST202", "Invalid parameter(s): url", RULE),
    ("ST202", "The theme does not have this template.", MISSING),
    ("ST202", "\"rest_invalid_menu_location\"", MISSING),
    ("ST202", "\"rest_post_invalid_page_number\"", MISSING),
    ("ST202", "\"rest_search_invalid_page_number\"", MISSING),
    ("ST202", "\"rest_post_invalid_id\"", MISSING),
    ("ST202", "\"rest_term_invalid\"", MISSING),
    ("ST202", "\"rest_comment_author_invalid\"", MISSING),
    ("ST202", "\"invalid_menu_id\"", MISSING),
    ("ST202", "\"rest_invalid_widget\"", MISSING),
    ("ST202", "has_published_posts[0] is not one of", MISSING),
    ("ST202", "\"rest_ability_invalid_method\"", "the method depends on the ability"),
    ("ST202", "\"empty_term_name\"", RULE),
    ("ST202", "\"term_exists\"", TAKEN),
    ("ST202", "\"menu_exists\"", TAKEN),
];

const EMPTY: &str = "PHP writes objects without members as `[]`, such as those without a field of `_fields`";
const ERROR: &str = "WordPress responds with 500";
const CONVERTED: &str = "WordPress converts values of other types, and does not distinguish lists from objects";
const TOGETHER: &str = "a parameter requires another one";
const RULE: &str = "the format of a value has further rules";
const MISSING: &str = "the value names something that does not exist";
const TAKEN: &str = "the name is taken";

/// A failure of a check.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Failure {
    /// The code of the check.
    code: String,
    /// Method and path.
    operation: String,
    /// The failure with the request and the response.
    text: String,
}

impl Failure {
    /// Why it is no defect.
    fn reason(&self) -> Option<&'static str> {
        let is_it = |(code, text, _): &&(&str, &str, &str)| *code == self.code && self.text.contains(text);
        EXPLAINED.iter().find(is_it).map(|(_, _, reason)| *reason)
    }
}

/// The failures in the output of schemathesis: a line with the operation between underscores, then a paragraph per failed check that
/// begins with `- CODE`.
pub(super) fn parse(output: &str) -> Vec<Failure> {
    let (mut operation, mut failures) = (String::new(), Vec::<Failure>::new());
    let failed = output.split_once("= FAILURES =").map_or("", |(_, after)| after);
    let failed = failed.split("= WARNINGS =").next().unwrap_or_default();
    for line in failed.split("= SUMMARY =").next().unwrap_or_default().lines() {
        if let Some(name) = line.strip_prefix("__").filter(|_| line.ends_with("__")) {
            name.trim_matches(['_', ' ']).clone_into(&mut operation);
        } else if let Some(check) = line.strip_prefix("- ST") {
            let code = format!("ST{}", check.split(' ').next().unwrap_or_default());
            failures.push(Failure { code, operation: operation.clone(), text: check.to_owned() });
        } else if let Some(failure) = failures.last_mut() {
            failure.text.push('\n');
            failure.text.push_str(line);
        }
    }
    failures
}

/// Prints how many failures each reason explains.
///
/// # Errors
/// If a failure has no reason; all of them are printed.
pub(super) fn report(role: &str, failures: &[Failure]) -> Result<()> {
    let (mut explained, mut others) = (BTreeMap::<&str, usize>::new(), Vec::new());
    for failure in failures {
        match failure.reason() {
            Some(reason) => *explained.entry(reason).or_default() += 1,
            None => others.push(failure),
        }
    }
    say(&format!("{role}: {} failures, {} without a reason", failures.len(), others.len()))?;
    explained.iter().try_for_each(|(reason, n)| say(&format!("    {n:4} {reason}")))?;
    others.iter().try_for_each(|f| say(&format!("{} {}\n{}", f.code, f.operation, f.text)))?;
    ensure!(others.is_empty(), "{role}: {} failures have no reason", others.len());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const OUTPUT: &str = "\
==== FAILURES ====
___ DELETE /svc/v2/users/me ___
1. Test Case ID: a

- ST101 Server error

[501] Not Implemented:

    `{\"code\":\"rest_trash_not_supported\"}`

2. Test Case ID: b

- ST101 Server error

[500] Internal Server Error:

    `oops`
___ POST /svc/v2/posts ___
- ST202 Schema-valid request rejected

    `{\"code\":\"rest_invalid_date\"}`
==== SUMMARY ====
- ST999 not a failure
";

    #[test]
    fn failures_without_a_reason_are_found() {
        let failures = parse(OUTPUT);
        let found: Vec<_> = failures.iter().map(|f| (&*f.code, &*f.operation, f.reason().is_some())).collect();
        let users = "DELETE /svc/v2/users/me";
        assert_eq!(found, [("ST101", users, true), ("ST101", users, false), ("ST202", "POST /svc/v2/posts", true)]);
        let error = report("tests", &failures).unwrap_err().to_string();
        assert_eq!(error, "tests: 1 failures have no reason");
    }
}
