//! Attachments of the images in texts. They are loaded for all posts of a page at once.

use std::{collections::HashMap, sync::Arc};

use svc_content::{
    Shortcodes,
    images::{Images, attachment_ids},
    srcset::Image,
};
use svc_model::Post;
use svc_site::{Settings, Site, SiteResult, media::attached::AttachmentFiles};
use svc_store::{
    Db,
    meta::{self, MetaKind},
};
use svc_versions::Context;

use crate::gallery::Galleries;

/// Images by attachment id, and galleries.
#[derive(Clone, Default)]
pub struct SiteImages {
    images: HashMap<u64, Image>,
    galleries: Option<Arc<Galleries>>,
}

impl SiteImages {
    /// Loads the images and galleries in the contents and excerpts of these posts.
    ///
    /// Takes one query for images and at most five for galleries; none if there are neither.
    ///
    /// # Errors
    /// Errors of the store.
    pub fn of_posts(db: &mut Db, site: &Site, settings: &Arc<Settings>, rows: &[&Post]) -> SiteResult<Self> {
        let texts = rows.iter().flat_map(|post| [post.content.as_str(), post.excerpt.as_str()]);
        let mut ids: Vec<i64> = texts.flat_map(attachment_ids).filter_map(|id| i64::try_from(id).ok()).collect();
        ids.sort_unstable();
        ids.dedup();
        let found = if ids.is_empty() { HashMap::new() } else { meta::load(db, MetaKind::Post, &ids)? };
        let images = found.into_iter().filter_map(|(id, meta)| {
            let attached = AttachmentFiles::new(&meta);
            attached.details.as_ref()?;
            Some((u64::try_from(id).ok()?, attached.image(settings)))
        });
        Ok(SiteImages { images: images.collect(), galleries: Galleries::of_posts(db, site, settings, rows)? })
    }

    /// The image with this attachment id.
    pub fn get(&self, id: u64) -> Option<&Image> {
        self.images.get(&id)
    }

    /// Shortcodes that render the galleries; `None` if there are no galleries.
    pub fn shortcodes(&self) -> Option<Shortcodes> {
        self.galleries.as_ref().map(Galleries::shortcodes)
    }
}

/// The images in the texts of one post. Empty if the store fails.
pub fn images_of(cx: &Context, site: &Site, settings: &Arc<Settings>, post: &Post) -> SiteImages {
    site.read(cx, |db| SiteImages::of_posts(db, site, settings, &[post])).unwrap_or_default()
}

#[cfg(test)]
impl FromIterator<(u64, Image)> for SiteImages {
    fn from_iter<I: IntoIterator<Item = (u64, Image)>>(images: I) -> Self {
        SiteImages { images: images.into_iter().collect(), galleries: None }
    }
}

impl Images for SiteImages {
    fn image(&self, id: u64) -> Option<Image> {
        self.get(id).cloned()
    }
}
