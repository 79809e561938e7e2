//! The posts that the site has, by what they are recognized by.

use std::collections::HashMap;

use svc_model::{PostId, Stamp};
use svc_schema::Error;
use svc_store::{
    posts::{self, PostIdentity},
    stamp,
};
use svc_versions::Context;
use svc_wxr::Item;

use crate::{Site, transfer::stored_guid};

/// Number of posts that are read at a time.
const PAGE: u64 = 5_000;

/// The posts that the site has.
#[derive(Default)]
pub(super) struct Known {
    /// By GUID, date and type.
    by_guid: HashMap<(String, Stamp, String), PostId>,
    /// By title, date and type. Without a title, only the GUID counts.
    by_title: HashMap<(String, Stamp, String), PostId>,
}

/// Reads the identities of all posts.
pub(super) fn load(site: &Site, cx: &Context) -> Result<Known, Error> {
    let mut known = Known::default();
    let mut after = PostId(0);
    loop {
        let page = site.read(cx, |db| Ok(posts::identities(db, after, PAGE)?))?;
        let Some(last) = page.last() else { return Ok(known) };
        after = last.id;
        page.into_iter().for_each(|post| known.add(post));
    }
}

impl Known {
    pub(super) fn add(&mut self, post: PostIdentity) {
        let PostIdentity { id, post_type, date, title, guid } = post;
        if !title.is_empty() {
            self.by_title.entry((title, date, post_type.clone())).or_insert(id);
        }
        if !guid.is_empty() {
            self.by_guid.entry((stored_guid(&guid), date, post_type)).or_insert(id);
        }
    }

    /// The post of an item with a stored GUID.
    pub(super) fn find(&self, item: &Item) -> Option<PostId> {
        let date = stamp::parse(&item.date);
        let key = |text: &str| (text.to_owned(), date, item.post_type.clone());
        self.by_guid.get(&key(&item.guid)).or_else(|| self.by_title.get(&key(&item.title))).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn posts_are_recognized_by_guid_or_title_and_by_date() {
        let mut known = Known::default();
        let date = "2024-01-02 03:04:05";
        let post = |id: i64, title: &str, guid: &str| PostIdentity {
            id: PostId(id),
            post_type: "post".to_owned(),
            date: stamp::parse(date),
            title: title.to_owned(),
            guid: guid.to_owned(),
        };
        known.add(post(1, "A", "g1"));
        known.add(post(2, "", "g2"));
        let find = |title: &str, guid: &str, date: &str, post_type: &str| {
            let [title, guid, date, post_type] = [title, guid, date, post_type].map(str::to_owned);
            known.find(&Item { title, guid, date, post_type, ..Item::default() }).map(|id| id.0)
        };
        assert_eq!(find("A", "other", date, "post"), Some(1));
        assert_eq!(find("renamed", "g1", date, "post"), Some(1));
        assert_eq!(find("", "g2", date, "post"), Some(2));
        // Posts without a title are many.
        assert_eq!(find("", "g3", date, "post"), None);
        assert_eq!(find("A", "g1", "2024-01-02 03:04:06", "post"), None);
        assert_eq!(find("A", "g1", date, "page"), None);
    }
}
