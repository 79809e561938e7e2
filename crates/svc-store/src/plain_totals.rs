//! Numbers of posts per type, status and author in memory, for servers without maintained counts: they are counted once, and then changed by
//! what the transactions of this process change.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use svc_db::{ChangeRecord, Subscriber, VersionStep};
use svc_model::UserId;

use crate::post_changes::{PostChange, PostChanges, PostClass};
use crate::rows;

/// Maximum number of lists.
const MAX_LISTS: usize = 1_000;

/// Maximum number of authors of a list.
const MAX_AUTHORS: usize = 100;

/// A list that is restricted by nothing else.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Classes {
    /// In lower case and sorted, like the statuses.
    post_types: Vec<String>,
    statuses: Vec<String>,
    /// Sorted. Empty for all authors.
    authors: Vec<i64>,
}

/// Totals of lists that are restricted by type, status and author only.
#[derive(Default)]
pub(crate) struct PlainTotals(Mutex<Versioned>);

#[derive(Default)]
struct Versioned {
    /// The version of the posts that the totals are of.
    version: Option<i64>,
    totals: HashMap<Classes, u64>,
}

/// The key of a list. `None` if the server might compare its names differently.
pub(crate) fn classes(post_types: &[String], statuses: &[String], authors: &[UserId]) -> Option<Classes> {
    let is_simple = |name: &String| name.bytes().all(|c| c.is_ascii_alphanumeric() || matches!(c, b'-' | b'_'));
    let sorted = |names: &[String]| {
        let mut names: Vec<String> = names.iter().map(|name| name.to_ascii_lowercase()).collect();
        names.sort_unstable();
        names.dedup();
        names
    };
    let are_simple = post_types.iter().chain(statuses).all(is_simple);
    let author_ids = || {
        let mut ids: Vec<i64> = authors.iter().map(|author| author.0).collect();
        ids.sort_unstable();
        ids.dedup();
        ids
    };
    let is_maintained = are_simple && !post_types.is_empty() && !statuses.is_empty() && authors.len() <= MAX_AUTHORS;
    is_maintained.then(|| Classes { post_types: sorted(post_types), statuses: sorted(statuses), authors: author_ids() })
}

impl PlainTotals {
    fn lock(&self) -> std::sync::MutexGuard<'_, Versioned> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The total of a list as of a version.
    pub(crate) fn get(&self, classes: &Classes, version: i64) -> Option<u64> {
        let state = self.lock();
        (state.version == Some(version)).then(|| state.totals.get(classes).copied()).flatten()
    }

    /// Caches a total that was counted at a version.
    pub(crate) fn insert(&self, classes: Classes, version: i64, total: u64) {
        let mut state = self.lock();
        if state.version.is_none_or(|of| of < version) {
            *state = Versioned { version: Some(version), totals: HashMap::new() };
        }
        if state.version == Some(version) && state.totals.len() < MAX_LISTS {
            state.totals.insert(classes, total);
        }
    }

    /// Applies the changes that are all there is between two versions.
    fn apply(&self, step: VersionStep, changes: &[PostChange]) {
        let mut state = self.lock();
        if state.version != Some(step.before) {
            return;
        }
        state.version = Some(step.after);
        // `None` counts the list again.
        let changed = |list: &Classes, total: u64| {
            let removed = changes.iter().filter_map(|change| Some((change.before.as_ref()?, -1)));
            let added = changes.iter().filter_map(|change| Some((change.after.as_ref()?, 1)));
            removed
                .chain(added)
                .try_fold(total, |total, (class, n)| Some(total.saturating_add_signed(list.change_by(class)? * n)))
        };
        state.totals.retain(|list, total| {
            let now = changed(list, *total);
            *total = now.unwrap_or_default();
            now.is_some()
        });
    }
}

impl Subscriber for PlainTotals {
    fn committed(&self, changes: &ChangeRecord) {
        // Only if it is known which posts were changed, all changes of their numbers are recorded.
        if let Some(step) = changes.step(rows::POSTS)
            && changes.ids(rows::POSTS).is_some()
        {
            self.apply(step, PostChanges::of(changes));
        }
    }
}

impl Classes {
    /// By how much a post of this class changes the total: 0 or 1. `None` if this depends on its author, who is not known.
    fn change_by(&self, class: &PostClass) -> Option<i64> {
        let has = |names: &[String], name: &str| names.contains(&name.to_ascii_lowercase());
        if !has(&self.post_types, &class.post_type) || !has(&self.statuses, &class.status) {
            return Some(0);
        }
        match class.author {
            _ if self.authors.is_empty() => Some(1),
            Some(author) => Some(i64::from(self.authors.contains(&author.0))),
            None => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(post_type: &str, statuses: &[&str]) -> Classes {
        let statuses: Vec<String> = statuses.iter().map(|s| (*s).to_owned()).collect();
        classes(&[post_type.to_owned()], &statuses, &[]).unwrap()
    }

    fn class(post_type: &str, status: &str, author: Option<i64>) -> Option<PostClass> {
        let (post_type, status) = (post_type.to_owned(), status.to_owned());
        Some(PostClass { post_type, status, author: author.map(UserId), parent: None })
    }

    fn change(before: Option<PostClass>, after: Option<PostClass>) -> PostChange {
        PostChange { id: svc_model::PostId(1), before, after }
    }

    #[test]
    fn totals_of_authors_follow_changes_of_known_authors() {
        let totals = PlainTotals::default();
        let of = |authors: &[i64]| {
            let authors: Vec<UserId> = authors.iter().map(|id| UserId(*id)).collect();
            classes(&["post".to_owned()], &["publish".to_owned()], &authors).unwrap()
        };
        totals.insert(of(&[7, 3]), 1, 10);
        totals.insert(of(&[4]), 1, 5);
        totals.apply(VersionStep { before: 1, after: 2 }, &[change(None, class("post", "publish", Some(7)))]);
        assert_eq!((totals.get(&of(&[3, 7]), 2), totals.get(&of(&[4]), 2)), (Some(11), Some(5)));
        totals.apply(VersionStep { before: 2, after: 3 }, &[change(None, class("post", "publish", None))]);
        assert_eq!((totals.get(&of(&[3, 7]), 3), totals.get(&of(&[4]), 3)), (None, None));
    }

    #[test]
    fn totals_follow_the_changes() {
        let totals = PlainTotals::default();
        totals.insert(list("post", &["publish"]), 1, 10);
        totals.insert(list("post", &["draft", "publish"]), 1, 15);
        totals.insert(list("page", &["publish"]), 1, 3);
        let published = change(class("post", "draft", Some(7)), class("post", "publish", Some(7)));
        totals.apply(VersionStep { before: 1, after: 2 }, &[published, change(None, class("page", "trash", Some(7)))]);
        let at = |version, list| totals.get(&list, version);
        assert_eq!(at(1, list("post", &["publish"])), None);
        assert_eq!(at(2, list("Post", &["Publish"])), Some(11));
        assert_eq!(at(2, list("post", &["publish", "draft"])), Some(15));
        assert_eq!(at(2, list("page", &["publish"])), Some(3));
        // An older count is not used, a newer one replaces all.
        totals.insert(list("page", &["draft"]), 1, 7);
        assert_eq!(at(2, list("page", &["draft"])), None);
        totals.apply(VersionStep { before: 1, after: 3 }, &[change(None, class("post", "publish", Some(7)))]);
        assert_eq!(at(2, list("post", &["publish"])), Some(11));
        totals.insert(list("page", &["draft"]), 4, 8);
        assert_eq!((at(4, list("page", &["draft"])), at(4, list("post", &["publish"]))), (Some(8), None));
    }

    #[test]
    fn unusual_names_are_counted_by_the_server() {
        let names = |name: &str| vec![name.to_owned()];
        assert_eq!(classes(&names("Café"), &names("publish"), &[]), None);
        assert_eq!(classes(&[], &names("publish"), &[]), None);
        assert_eq!(classes(&names("post"), &[], &[]), None);
    }
}
