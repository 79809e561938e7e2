//! Posts at their former URLs: those whose slug or date has changed.

use svc_model::{Post, PostId};
use svc_permalinks::{DateKey, PostKey};
use svc_store::{MetaKind, meta, posts};

use super::{UrlResolver, posts::fits_date};
use crate::SiteResult;

/// Maximum number of posts that are compared for one former slug.
const MAX_CANDIDATES: u64 = 20;

impl UrlResolver<'_> {
    /// The post that had this slug, or this slug on this date, before it was changed.
    /// Types with parents have no former URLs.
    ///
    /// Source: `wp_old_slug_redirect`.
    ///
    /// # Errors
    /// Errors of the store.
    pub(super) fn at_old_url(&mut self, key: &PostKey) -> SiteResult<Option<Post>> {
        let name = key.post_type.as_deref().unwrap_or("post");
        let has_old_urls = self.site.registries.types.get(name).is_some_and(|t| !t.hierarchical);
        let Some(slug) = key.slug.as_deref().filter(|slug| has_old_urls && !slug.contains('/')) else {
            return Ok(None);
        };
        let ids = meta::find(self.db, MetaKind::Post, "_wp_old_slug", slug, MAX_CANDIDATES)?;
        let ids: Vec<PostId> = ids.into_iter().map(PostId).collect();
        let renamed = posts::get_many(self.db, &ids)?;
        let now_there = renamed.iter().find(|post| post.post_type == name && fits_date(post, key.date));
        if let Some(post) = now_there {
            return self.if_visible(Some(post.clone()));
        }
        if key.date.is_empty() {
            return Ok(None);
        }
        let mut candidates = posts::by_slug(self.db, slug, &[name])?;
        candidates.truncate(MAX_CANDIDATES as usize);
        candidates.extend(renamed);
        let ids: Vec<i64> = candidates.iter().map(|post| post.id.0).collect();
        let meta = meta::load(self.db, MetaKind::Post, &ids)?;
        let had_date = |post: &Post| meta.get(&post.id.0).is_some_and(|meta| had_date(meta, key.date));
        let found = candidates.into_iter().find(|post| post.post_type == name && had_date(post));
        self.if_visible(found)
    }
}

/// Whether a former date of a post has these parts. The time of day is not stored.
fn had_date(meta: &meta::Meta, key: DateKey) -> bool {
    let key = DateKey { hour: None, minute: None, second: None, ..key };
    meta.all("_wp_old_date").iter().any(|day| {
        let date = chrono::NaiveDate::parse_from_str(day.text(), "%Y-%m-%d").ok();
        let date = date.and_then(|date| date.and_hms_opt(0, 0, 0));
        date.is_some() && fits_date(&Post { date, ..Post::default() }, key)
    })
}
