//! The posts that the site has, by what they are recognized by.

use std::collections::{HashMap, HashSet};

use svc_model::{PostId, Timestamp};
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
pub(super) struct KnownPosts {
    /// By GUID, date and type.
    by_guid: HashMap<(String, Timestamp, String), PostId>,
    /// Posts that the site had before this import, by title, date and type. Without a title, only the GUID counts.
    by_title: HashMap<(String, Timestamp, String), Vec<PostId>>,
    /// Posts that are those of an item. None is found by its title again.
    taken: HashSet<PostId>,
}

/// What a post of a file is recognized by first.
pub(super) type GuidKey = (String, Timestamp, String);

/// The GUID, the date and the type of an item with a stored GUID; `None` without a GUID.
pub(super) fn guid_key(item: &Item) -> Option<GuidKey> {
    (!item.guid.is_empty()).then(|| (item.guid.clone(), stamp::parse(&item.date), item.post_type.clone()))
}

/// Reads the identities of all posts.
pub(super) fn load(site: &Site, cx: &Context) -> Result<KnownPosts, Error> {
    let mut known = KnownPosts::default();
    let mut after = PostId(0);
    loop {
        let page = site.read(cx, |db| Ok(posts::identities(db, after, PAGE)?))?;
        let Some(last) = page.last() else { return Ok(known) };
        after = last.id;
        page.into_iter().for_each(|post| known.add_old(post));
    }
}

impl KnownPosts {
    /// Adds a post that the site had before this import.
    fn add_old(&mut self, post: PostIdentity) {
        if !post.title.is_empty() {
            let key = (post.title.clone(), post.date, post.post_type.clone());
            self.by_title.entry(key).or_default().push(post.id);
        }
        self.add(post);
    }

    /// Adds a post of this import. Only its GUID counts: other posts of the file may have the same title and date.
    pub(super) fn add(&mut self, post: PostIdentity) {
        let PostIdentity { id, post_type, date, guid, .. } = post;
        if !guid.is_empty() {
            self.by_guid.entry((stored_guid(&guid), date, post_type)).or_insert(id);
        }
    }

    /// The post of an item with a stored GUID.
    pub(super) fn find(&mut self, item: &Item) -> Option<PostId> {
        let key = guid_key(item);
        let found = key.as_ref().and_then(|key| self.by_guid.get(key)).copied();
        // Many attachments and menu items have the same title and date.
        let has_title = key.is_none() || !matches!(&*item.post_type, "attachment" | "nav_menu_item");
        let by_title = || {
            let key = (item.title.clone(), stamp::parse(&item.date), item.post_type.clone());
            self.by_title.get(&key)?.iter().find(|id| !self.taken.contains(id)).copied()
        };
        let found = found.or_else(|| if has_title { by_title() } else { None })?;
        self.taken.insert(found);
        Some(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn posts_are_recognized_by_guid_or_title_and_by_date() {
        let mut known = KnownPosts::default();
        let date = "2024-01-02 03:04:05";
        let post = |id: i64, title: &str, guid: &str| PostIdentity {
            id: PostId(id),
            post_type: "post".to_owned(),
            date: stamp::parse(date),
            title: title.to_owned(),
            guid: guid.to_owned(),
        };
        known.add_old(post(1, "A", "g1"));
        known.add_old(post(2, "", "g2"));
        let mut find = |title: &str, guid: &str, date: &str, post_type: &str| {
            let [title, guid, date, post_type] = [title, guid, date, post_type].map(str::to_owned);
            known.find(&Item { title, guid, date, post_type, ..Item::default() }).map(|id| id.0)
        };
        assert_eq!(find("A", "other", date, "post"), Some(1));
        // It is that of another item.
        assert_eq!(find("A", "other", date, "post"), None);
        assert_eq!(find("renamed", "g1", date, "post"), Some(1));
        assert_eq!(find("", "g2", date, "post"), Some(2));
        // Posts without a title are many.
        assert_eq!(find("", "g3", date, "post"), None);
        assert_eq!(find("A", "g1", "2024-01-02 03:04:06", "post"), None);
        assert_eq!(find("A", "g1", date, "page"), None);
    }
}
