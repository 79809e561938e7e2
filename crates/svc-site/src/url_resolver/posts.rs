//! Finds the single posts that URLs lead to, among those that the viewer may see.

use svc_auth::{Caller, caps::PostCap};
use svc_model::{Post, PostId, PostType};
use svc_permalinks::{AttachmentKey, DateKey, Lookup, LookupTarget, PageKey, PostKey};
use svc_store::{Db, posts, users};

use crate::{Access, Settings, Site, SiteResult};

/// Looks up single posts in one snapshot.
pub struct UrlResolver<'a> {
    /// The site.
    pub site: &'a Site,
    /// The site's settings.
    pub settings: &'a Settings,
    /// The snapshot.
    pub db: &'a mut Db,
    /// The viewer of the page. In addition to public posts, they see private posts that they may read, and draft,
    /// pending and scheduled posts that they may edit.
    pub viewer: &'a Caller,
    /// The post that a preview link shows to the viewer.
    pub previewed: Option<PostId>,
}

impl UrlResolver<'_> {
    /// The post for a lookup; `None` for lookups of other objects, and for posts that the viewer may not see.
    ///
    /// # Errors
    /// Errors of the store.
    pub fn find(&mut self, lookup: &Lookup) -> SiteResult<Option<Post>> {
        match &lookup.target {
            LookupTarget::Post(key) => self.post(key),
            LookupTarget::Page(PageKey::Id(id)) | LookupTarget::Attachment(AttachmentKey::Id(id)) => self.by_id(*id),
            LookupTarget::Page(PageKey::Path(path)) => {
                let found = posts::by_path(self.db, path, "page")?;
                self.if_visible(found)
            }
            LookupTarget::Attachment(AttachmentKey::Slug(slug)) => {
                let found = posts::by_slug(self.db, slug, &["attachment"])?.into_iter().next();
                self.if_visible(found)
            }
            _ => Ok(None),
        }
    }

    /// The static front page; `None` if the front page lists posts.
    ///
    /// # Errors
    /// Errors of the store.
    pub fn front(&mut self) -> SiteResult<Option<Post>> {
        let page = self.settings.number("page_on_front");
        if self.settings.option("show_on_front") != "page" || page <= 0 {
            return Ok(None);
        }
        let post = posts::get(self.db, PostId(page))?;
        self.if_visible(post)
    }

    /// The post, if the viewer may see it: its type is viewable, and its status (or its parent's) is public, or private
    /// and readable by the viewer, or unpublished and the viewer may edit it.
    pub(super) fn if_visible(&mut self, post: Option<Post>) -> SiteResult<Option<Post>> {
        let Some(post) = post else { return Ok(None) };
        let has_pages = self.site.registries.types.get(&post.post_type).is_some_and(PostType::is_viewable);
        if !has_pages {
            return Ok(None);
        }
        let access = Access::of_posts(self.site, self.settings, self.db, std::slice::from_ref(&post))?;
        let status = self.site.registries.statuses.get(&post.status);
        let may = if self.previewed == Some(post.id) || access.can_read(&Caller::anonymous(), &post) {
            true
        } else if !self.viewer.is_logged_in() {
            false
        } else if status.is_some_and(|s| s.protected) {
            self.viewer.can_post(PostCap::Edit, &post, &access)
        } else if status.is_some_and(|s| s.private) || post.status == "inherit" {
            access.can_read(self.viewer, &post)
        } else {
            false
        };
        drop(access);
        Ok(may.then_some(post))
    }

    /// The post with this id, of any type.
    ///
    /// # Errors
    /// Errors of the store.
    pub fn by_id(&mut self, id: u64) -> SiteResult<Option<Post>> {
        let Ok(id) = i64::try_from(id) else { return Ok(None) };
        let post = posts::get(self.db, PostId(id))?;
        self.if_visible(post)
    }

    fn post(&mut self, key: &PostKey) -> SiteResult<Option<Post>> {
        let candidates = match (&key.slug, key.id) {
            (Some(slug), _) => {
                let post_type = key.post_type.as_deref().unwrap_or("post");
                if slug.contains('/') {
                    posts::by_path(self.db, slug, post_type)?.into_iter().collect()
                } else {
                    posts::by_slug(self.db, slug, &[post_type])?
                }
            }
            (None, Some(id)) => self.by_id(id)?.into_iter().collect(),
            (None, None) => Vec::new(),
        };
        for post in candidates {
            let fits = key.id.is_none_or(|id| i64::try_from(id) == Ok(post.id.0))
                && key.post_type.as_ref().is_none_or(|t| *t == post.post_type)
                && fits_date(&post, key.date)
                && self.is_by(&post, key.author.as_deref())?;
            if fits && let Some(post) = self.if_visible(Some(post))? {
                return Ok(Some(post));
            }
        }
        Ok(None)
    }

    fn is_by(&mut self, post: &Post, author: Option<&str>) -> SiteResult<bool> {
        let Some(author) = author else { return Ok(true) };
        Ok(users::by_slug(self.db, author)?.is_some_and(|u| u.id == post.author))
    }
}

/// Whether the post's date matches the parts of the key.
pub(super) fn fits_date(post: &Post, key: DateKey) -> bool {
    use chrono::{Datelike, Timelike};
    if key.is_empty() {
        return true;
    }
    let Some(date) = post.date else { return false };
    let fits = |part: Option<u32>, is: u32| part.is_none_or(|p| p == is);
    fits(key.year, date.year().unsigned_abs())
        && fits(key.month, date.month())
        && fits(key.day, date.day())
        && fits(key.hour, date.hour())
        && fits(key.minute, date.minute())
        && fits(key.second, date.second())
}
