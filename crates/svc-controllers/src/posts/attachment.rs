//! Data of attachments in addition to those of posts.

use std::collections::HashMap;

use svc_auth::Caller;
use svc_model::{Post, PostId, PostType};
use svc_resource::Plan;
use svc_routing::Result;
use svc_site::{
    Settings, Site, SiteResult,
    errors::media as errors,
    media::{
        attached::{AttachedTo, AttachmentFiles},
        sizes,
    },
    permalinks,
    posts::draft::PostDraft,
};
use svc_store::{Db, Meta, posts};
use svc_text::{Html, esc_html, esc_url, html};
use svc_versions::Context;

use crate::posts::item::{LoadedPost, PostItem};

/// The files of these attachments, and the permalinks of the posts to which they are attached, as the caller sees them:
/// two queries and those for permalinks, regardless of the number of attachments.
pub(crate) fn attached(
    db: &mut Db,
    site: &Site,
    settings: &Settings,
    caller: &Caller,
    rows: &[Post],
    meta: &HashMap<i64, Meta>,
) -> SiteResult<HashMap<PostId, (AttachmentFiles, Option<String>)>> {
    let mut ids: Vec<PostId> = rows.iter().map(|p| p.parent).filter(|id| !id.is_none()).collect();
    ids.sort_unstable();
    ids.dedup();
    let found = if ids.is_empty() { Vec::new() } else { posts::get_many(db, &ids)? };
    let mut pages = permalinks::for_reader(db, site, settings, caller, &found)?;
    pages.retain(|id, _| {
        found.iter().any(|p| p.id == *id && site.registries.types.get(&p.post_type).is_some_and(PostType::is_viewable))
    });
    let parent = |post: &Post| AttachedTo {
        id: post.id,
        post_type: post.post_type.clone(),
        href: settings.urls.rest(&permalinks::rest_route(site, settings, post)),
    };
    let parents: HashMap<PostId, AttachedTo> = found.iter().map(|p| (p.id, parent(p))).collect();
    let none = Meta::default();
    let attach = |post: &Post| {
        let mut attached = AttachmentFiles::new(meta.get(&post.id.0).unwrap_or(&none));
        attached.parent = parents.get(&post.parent).cloned();
        (post.id, (attached, pages.get(&post.parent).cloned()))
    };
    Ok(rows.iter().map(attach).collect())
}

/// Reads missing file sizes from the storage, if the plan contains them.
pub(crate) async fn measure(
    cx: &Context,
    site: &Site,
    loaded: &mut [LoadedPost],
    plan: &Plan<'_, PostItem, PostDraft>,
) -> Result<()> {
    if !plan.wants("filesize") {
        return Ok(());
    }
    for item in loaded {
        if let Some(attached) = &mut item.item.attached
            && attached.file_size().is_none()
            && !attached.file.is_empty()
        {
            // Files may be replaced at any time.
            cx.recheck_after(std::time::Duration::from_secs(1));
            attached.measured = site.services.uploads.size(&attached.file).await.map_err(|e| errors::storage(&e))?;
        }
    }
    Ok(())
}

impl PostItem {
    /// The files of an attachment; none for other post types.
    pub(crate) fn files(&self) -> &AttachmentFiles {
        static NONE: AttachmentFiles = AttachmentFiles::NONE;
        self.attached.as_ref().unwrap_or(&NONE)
    }

    pub(crate) fn is_image(&self) -> bool {
        self.post.mime_type.starts_with("image/")
    }

    pub(crate) fn source_url(&self) -> String {
        self.files().url(&self.settings, &self.post.guid)
    }

    /// The HTML or shortcode of an attachment's file, which precedes its description.
    ///
    /// Source: `prepend_attachment`.
    pub(crate) fn file_element(&self) -> Option<Html> {
        let files = self.attached.as_ref()?;
        let url = esc_url(&self.source_url());
        let media_type = self.post.mime_type.split('/').next().unwrap_or_default();
        if media_type == "audio" {
            return Some(html!("[audio src=\"{}\"]", url));
        }
        if media_type == "video" {
            let size = match files.dimensions() {
                (0, _) | (_, 0) => Html::new(),
                (width, height) => html!(" width=\"{}\" height=\"{}\"", width, height),
            };
            return Some(html!("[video src=\"{}\"{}]", url, size));
        }
        let medium =
            sizes::named(&self.site, &self.settings, "medium").filter(|_| self.is_image() || files.has_sizes());
        let inner = match medium {
            Some(size) => files.img_element(&self.settings, &self.source_url(), &size, None),
            None if self.post.title.is_empty() => {
                esc_html(svc_media::split_extension(svc_text::basename(&files.file, "")).0)
            }
            None => Html::trusted(self.post.title.as_str(), "stored as HTML: filtered when it was saved"),
        };
        Some(html!("<p class=\"attachment\"><a href='{}'>{}</a></p>", url, inner))
    }
}

/// Statuses that media can have.
pub(crate) const STATUSES: [&str; 3] = ["inherit", "private", "trash"];
