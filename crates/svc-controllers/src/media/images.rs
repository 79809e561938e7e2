//! The attachments behind the images in texts, loaded for a whole page of posts at once.

use std::collections::HashMap;

use svc_content::{
    images::{Images, attachment_ids},
    srcset::Image,
};
use svc_model::Post;
use svc_store::{
    Db,
    meta::{self, MetaKind},
};

use super::Attached;
use crate::{Settings, Site, Stored};

/// Images by the number of their attachment.
#[derive(Clone, Debug, Default)]
pub struct SiteImages(HashMap<u64, Image>);

impl SiteImages {
    /// Those that these texts name: at most one query, none when they name none.
    ///
    /// # Errors
    /// Those of the store.
    pub(crate) fn of_texts<'t>(
        db: &mut Db,
        settings: &Settings,
        texts: impl IntoIterator<Item = &'t str>,
    ) -> Stored<Self> {
        let mut ids: Vec<i64> =
            texts.into_iter().flat_map(attachment_ids).filter_map(|id| i64::try_from(id).ok()).collect();
        ids.sort_unstable();
        ids.dedup();
        if ids.is_empty() {
            return Ok(Self::default());
        }
        let found = meta::load(db, MetaKind::Post, &ids)?.into_iter().filter_map(|(id, meta)| {
            let attached = Attached::new(&meta);
            attached.details.as_ref()?;
            Some((u64::try_from(id).ok()?, attached.image(settings)))
        });
        Ok(SiteImages(found.collect()))
    }
}

/// The images that the texts of one post name, for a page that shows it alone; none when the store cannot be read.
pub fn images_of(site: &Site, settings: &Settings, post: &Post) -> SiteImages {
    let texts = [post.content.as_str(), post.excerpt.as_str()];
    site.read(|db| SiteImages::of_texts(db, settings, texts)).unwrap_or_default()
}

impl Images for SiteImages {
    fn image(&self, id: u64) -> Option<Image> {
        self.0.get(&id).cloned()
    }
}
