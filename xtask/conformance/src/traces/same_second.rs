//! Changes of a post within one second: the second one leaves the time of the last change as it is, and the date of a draft that
//! has none of its own, so whether these times are among the changed columns depends on the speed of the server.

use std::{
    collections::HashMap,
    time::{Duration, Instant},
};

use serde_json::{Map, Value};

/// The columns that a change sets to the present.
const TIMES: [&str; 3] = ["post_modified", "post_modified_gmt", "post_date"];

/// Two changes that are observed after one another in a shorter time may have been made within one second.
const WINDOW: Duration = Duration::from_secs(3);

/// When posts were changed last, by id.
#[derive(Default)]
pub(super) struct LastChanges(HashMap<String, Instant>);

impl LastChanges {
    /// Records the posts in these changes of rows that have the present as one of their times.
    pub(super) fn record(&mut self, rows: &Value) {
        for post in posts(rows) {
            if let (Some(id), true) = (id(post), TIMES.iter().any(|column| is_present(post.get(*column)))) {
                self.0.insert(id.to_owned(), Instant::now());
            }
        }
    }

    fn has_recent(&self, id: &str) -> bool {
        self.0.get(id).is_some_and(|at| at.elapsed() < WINDOW)
    }
}

/// The changes of rows of one server without those times that another server, with the changes `others`, may have kept because it
/// had changed the same post just before.
pub(super) fn without_kept_times(rows: &Value, others: &Value, last: &LastChanges) -> Value {
    let mut rows = rows.clone();
    let Some(Value::Array(changes)) = rows.get_mut("posts") else { return rows };
    changes.retain_mut(|change| {
        let Some(post) = change.get_mut("changed").and_then(Value::as_object_mut) else { return true };
        let Some(id) = id(post).filter(|id| last.has_recent(id)) else { return true };
        let other = changed_post(others, id);
        let may_be_kept = |column: &str, value: &Value| TIMES.contains(&column) && is_present(Some(value));
        let mut columns = post.iter().filter(|(column, _)| *column != "ID");
        if other.is_none() && columns.all(|(column, value)| may_be_kept(column, value)) {
            // The other server has changed nothing else, either.
            return false;
        }
        if let Some(other) = other {
            post.retain(|column, value| other.contains_key(column) || !may_be_kept(column, value));
        }
        true
    });
    if changes.is_empty()
        && let Some(tables) = rows.as_object_mut()
    {
        tables.shift_remove("posts");
    }
    rows
}

/// The added and the changed posts.
fn posts(rows: &Value) -> impl Iterator<Item = &Map<String, Value>> {
    let changes = rows.get("posts").and_then(Value::as_array).into_iter().flatten();
    changes.filter_map(|change| change.get("added").or_else(|| change.get("changed"))?.as_object())
}

fn changed_post<'v>(rows: &'v Value, wanted: &str) -> Option<&'v Map<String, Value>> {
    let changes = rows.get("posts").and_then(Value::as_array).into_iter().flatten();
    changes.filter_map(|change| change.get("changed")?.as_object()).find(|post| id(post) == Some(wanted))
}

fn id(post: &Map<String, Value>) -> Option<&str> {
    post.get("ID")?.as_str()
}

/// Whether it is the mark of the present time.
fn is_present(value: Option<&Value>) -> bool {
    value.and_then(Value::as_str).is_some_and(|text| matches!(text, "{now}" | "{now-local}"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn times_that_may_be_those_before_are_not_compared() {
        let with = json!({"posts": [{"changed": {"ID": "7", "post_title": "x", "post_modified": "{now-local}", "post_modified_gmt": "{now}"}}]});
        let without = json!({"posts": [{"changed": {"ID": "7", "post_title": "x"}}]});
        let mut last = LastChanges::default();
        assert_eq!(without_kept_times(&with, &without, &last), with, "nothing was changed before");
        last.record(&json!({"posts": [{"changed": {"ID": "7", "post_title": "y"}}, {"removed": {"ID": "7"}}]}));
        assert_eq!(without_kept_times(&with, &without, &last), with, "the time was not changed before");
        last.record(&json!({"posts": [{"added": {"ID": "8", "post_modified": "{now-local}"}}]}));
        assert_eq!(without_kept_times(&with, &without, &last), with, "another post was changed before");
        last.record(&json!({"posts": [{"added": {"ID": "7", "post_modified_gmt": "{now}"}}]}));
        assert_eq!(without_kept_times(&with, &without, &last), without);
        assert_eq!(without_kept_times(&with, &with, &last), with);
        assert_eq!(without_kept_times(&with, &json!({}), &last), with, "the other server did not change the post");
        let draft = json!({"posts": [{"changed": {"ID": "7", "post_title": "x", "post_date": "{now-local}", "post_modified": "{now-local}"}}]});
        assert_eq!(without_kept_times(&draft, &without, &last), without);
        let only = json!({"posts": [{"changed": {"ID": "7", "post_modified": "{now-local}"}}]});
        assert_eq!(without_kept_times(&only, &json!({}), &last), json!({}));
        let past =
            json!({"posts": [{"changed": {"ID": "7", "post_title": "x", "post_modified": "2020-01-01 00:00:00"}}]});
        assert_eq!(without_kept_times(&past, &without, &last), past);
    }
}
