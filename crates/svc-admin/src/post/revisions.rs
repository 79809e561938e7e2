//! The revisions of a post: what each changed, and a way back to it.

use askama::Template;
use http::StatusCode;
use serde_json::{Map, Value};
use similar::{ChangeTag, TextDiff};
use svc_login::{Form, Page, PrivateResponse};
use svc_schema::Error;

use super::save;
use crate::{
    layout::{self, Layout, Link, plain},
    posts::title_of,
    request::{AdminRequest, items, text},
};

/// The most revisions that are listed.
const MOST_REVISIONS: &str = "100";

/// Texts that are longer than this are shown whole instead of compared, in bytes.
const MAX_COMPARED: usize = 1 << 20;

/// Unchanged lines that are shown around a change.
const CONTEXT: usize = 3;

/// The texts that are compared: labels, and where the objects have them.
const TEXTS: &[(&str, &str)] = &[("Title", "/title/raw"), ("Content", "/content/raw"), ("Excerpt", "/excerpt/raw")];

/// A revision of the list.
struct Entry {
    link: Link,
    author: String,
    current: bool,
}

/// A line of a comparison.
struct Line {
    /// `old`, `new`, `same` or `gap`.
    kind: &'static str,
    text: String,
}

/// The changes of a text.
struct Comparison {
    label: &'static str,
    /// The words, without markup.
    lines: Vec<Line>,
    /// The text as it is stored; empty if it has no markup.
    markup: Vec<Line>,
}

#[derive(Template)]
#[template(path = "revisions.html")]
struct RevisionsPage {
    page: Layout,
    back: Link,
    entries: Vec<Entry>,
    changes: Vec<Comparison>,
    action: String,
    revision: i64,
    state: String,
}

impl AdminRequest<'_> {
    /// The revisions of a post. The parameter `revision` selects one.
    pub(crate) async fn show_revisions(&self) -> Page {
        let id = self.id("post").unwrap_or_default();
        let (info, post) = self.post_of(id).await?;
        let call = self.get(format!("{}/{id}/revisions", info.rest_base)).query("context", "edit");
        let revisions = call.query("per_page", MOST_REVISIONS).send().await?.data;
        let revisions = items(&revisions);
        let selected = self.id("revision").and_then(|id| revisions.iter().position(|r| r["id"] == id)).unwrap_or(0);
        let mut authors: Vec<i64> = revisions.iter().filter_map(|r| r["author"].as_i64()).collect();
        authors.sort_unstable();
        authors.dedup();
        let names = self.names_of(&authors).await?;
        let entry = |(at, revision): (usize, &Value)| {
            let date = text(revision, "/modified").replace('T', " ");
            let query = [("post", id.to_string()), ("revision", revision["id"].to_string())];
            let url = self.url("revision.php", &query.each_ref().map(|(name, value)| (*name, &**value)));
            let author = revision["author"].as_i64().and_then(|id| names.get(&id)).cloned().unwrap_or_default();
            Entry { link: Link::new(date, url), author, current: at == selected }
        };
        let list = self.list_url(&info.name);
        let mut page = self.layout(&format!("Revisions of {}", title_of(&post.data)), &list).await?;
        if revisions.is_empty() {
            page.problem = "There are no revisions of this post yet.".to_owned();
        }
        let shown = revisions.get(selected).unwrap_or(&Value::Null);
        let before = revisions.get(selected.saturating_add(1)).unwrap_or(&Value::Null);
        let template = RevisionsPage {
            page,
            back: Link::new("Back to the post", self.edit_url(id)),
            entries: revisions.iter().enumerate().map(entry).collect(),
            changes: comparisons(before, shown),
            action: self.url("revision.php", &[("post", &id.to_string())]),
            revision: shown["id"].as_i64().unwrap_or_default(),
            state: post.state,
        };
        Ok(layout::html(StatusCode::OK, &template))
    }

    /// Restores a revision: its texts become those of the post, which is a change like any other.
    pub(crate) async fn restore_revision(&self, form: &Form) -> Page {
        let id = self.id("post").unwrap_or_default();
        let (info, post) = self.post_of(id).await?;
        let revision: i64 = form.get("revision").parse().map_err(|_| no_revision())?;
        let route = format!("{}/{id}/revisions/{revision}", info.rest_base);
        let revision = self.get(route).query("context", "edit").send().await?.data;
        let mut body = Map::new();
        for (name, pointer) in save::TEXTS {
            let old = text(&revision, pointer);
            if old != text(&post.data, pointer) {
                body.insert((*name).to_owned(), old.into());
            }
        }
        let restored =
            self.post(format!("{}/{id}", info.rest_base), body.into()).if_match(form.get("etag")).send().await;
        restored.map_err(|error| match error.status() {
            412 => Error::new(
                "admin_post_changed",
                "This post was changed since you opened the revisions. Look at them again.",
            )
            .with_status(412),
            _ => error,
        })?;
        let url = svc_login::with_query(&self.edit_url(id), &[("done", "restored-revision")]);
        Ok(PrivateResponse::redirect(&url))
    }
}

fn no_revision() -> Error {
    Error::new("admin_no_revision", "Select a revision.").with_status(400)
}

/// What changed between two revisions, by text. Texts that are the same are left out.
fn comparisons(before: &Value, after: &Value) -> Vec<Comparison> {
    let changed = TEXTS.iter().map(|(label, pointer)| (*label, text(before, pointer), text(after, pointer)));
    let changed = changed.filter(|(_, old, new)| old != new);
    let comparison = |(label, old, new): (&'static str, &str, &str)| {
        let (old_words, new_words) = (words(old), words(new));
        let has_markup = old_words.trim() != old.trim() || new_words.trim() != new.trim();
        Comparison {
            label,
            lines: compare(&old_words, &new_words),
            markup: if has_markup { compare(old, new) } else { Vec::new() },
        }
    };
    changed.map(comparison).collect()
}

/// The words of stored HTML, a line for each line that has some.
fn words(html: &str) -> String {
    let mut words = String::new();
    for line in plain(html).lines().filter(|line| !line.trim().is_empty()) {
        words.push_str(line);
        words.push('\n');
    }
    words
}

fn compare(old: &str, new: &str) -> Vec<Line> {
    let line = |kind, text: &str| Line { kind, text: text.trim_end_matches(['\r', '\n']).to_owned() };
    if old.len().max(new.len()) > MAX_COMPARED {
        return new.lines().map(|text| line("new", text)).collect();
    }
    let diff = TextDiff::configure().timeout(std::time::Duration::from_millis(200)).diff_lines(old, new);
    let mut lines = Vec::new();
    for (at, group) in diff.grouped_ops(CONTEXT).iter().enumerate() {
        if at > 0 {
            lines.push(line("gap", "…"));
        }
        for change in group.iter().flat_map(|op| diff.iter_changes(op)) {
            let kind = match change.tag() {
                ChangeTag::Delete => "old",
                ChangeTag::Insert => "new",
                ChangeTag::Equal => "same",
            };
            lines.push(line(kind, change.value()));
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn changed_lines_are_shown_with_their_surroundings() {
        let lines: Vec<String> = (1..=20).map(|n| n.to_string()).collect();
        let (old, new) = (lines.join("\n"), lines.join("\n").replace("10", "ten"));
        let shown: Vec<(&str, String)> = compare(&old, &new).into_iter().map(|l| (l.kind, l.text)).collect();
        let expected = [
            ("same", "7"),
            ("same", "8"),
            ("same", "9"),
            ("old", "10"),
            ("new", "ten"),
            ("same", "11"),
            ("same", "12"),
            ("same", "13"),
        ];
        assert_eq!(shown, expected.map(|(kind, text)| (kind, text.to_owned())));
    }

    #[test]
    fn texts_that_did_not_change_are_left_out() {
        let revision = |title: &str| json!({"title": {"raw": title}, "content": {"raw": "same"}});
        let changes = comparisons(&revision("a"), &revision("b"));
        assert_eq!(changes.iter().map(|c| c.label).collect::<Vec<_>>(), ["Title"]);
        // The first revision has everything.
        assert_eq!(comparisons(&Value::Null, &revision("a")).len(), 2);
    }

    #[test]
    fn words_are_compared_apart_from_markup() {
        let revision = |content: &str| json!({"content": {"raw": content}});
        let lines = |of: &[Line]| of.iter().map(|line| format!("{} {}", line.kind, line.text)).collect::<Vec<_>>();
        let old = "<!-- wp:paragraph -->\n<p>Tea &amp; <em>milk</em></p>\n<!-- /wp:paragraph -->";
        let new = old.replace("milk", "honey");
        let changes = comparisons(&revision(old), &revision(&new));
        assert_eq!(lines(&changes[0].lines), ["old Tea & milk", "new Tea & honey"]);
        assert_eq!(changes[0].markup.len(), 4);
        // A change of the markup alone has no changed words.
        let changes = comparisons(&revision(old), &revision(&old.replace("em>", "strong>")));
        assert!(changes[0].lines.is_empty() && !changes[0].markup.is_empty());
        assert!(comparisons(&revision("a"), &revision("b"))[0].markup.is_empty());
    }
}
