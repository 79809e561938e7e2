//! Cover images of audio files.

use std::{fmt::Write as _, sync::Arc};

use bytes::Bytes;
use md5::{Digest, Md5};
use svc_media::{Blob, Cover, FileType};
use svc_model::PostId;
use svc_routing::{Request, Result};
use svc_site::{
    Settings,
    blocking::run_blocking,
    media::upload_store::{ImageMetaSource, UploadStore},
    posts::draft::PostDraft,
};
use svc_store::{
    meta::{self, MetaKind},
    posts,
};
use svc_text::MimeTypes;

use super::{Media, errors};

/// Meta of a picture that came with a sound: the sum of its bytes, so that an album has it once.
/// Bytes of a file that tell its type.
const HEAD: usize = 64 << 10;

pub(crate) const COVER_HASH: &str = "_cover_hash";

pub(crate) fn sum(bytes: &Bytes) -> String {
    Md5::digest(bytes).iter().fold(String::new(), |mut out, byte| {
        let _ = write!(out, "{byte:02x}");
        out
    })
}

impl Media {
    /// Makes the picture that came with a sound its image: an attachment of its own, or the one that came with another
    /// sound of the album. `path` is where the sound is stored.
    ///
    /// # Errors
    /// Those of the storage and the store.
    pub(crate) async fn keep_cover(
        &self,
        req: &Request,
        of: PostId,
        path: &str,
        cover: Cover,
        settings: &Arc<Settings>,
    ) -> Result<()> {
        let hash = sum(&cover.file);
        let known = self.site.read(|db| {
            let id = meta::find(db, MetaKind::Post, COVER_HASH, &hash, 1)?.first().copied();
            Ok(id.map(|id| posts::get(db, PostId(id))).transpose()?.flatten().map(|post| post.id))
        })?;
        let image = match known {
            Some(id) => id,
            None => {
                let Some(id) = self.attach_cover(req, path, cover, settings).await? else { return Ok(()) };
                let hash = hash.clone();
                self.site
                    .write(move |tx| {
                        Ok(meta::add(tx, MetaKind::Post, id.0, COVER_HASH, &svc_store::StoredText::of(&hash))?)
                    })
                    .await?;
                id
            }
        };
        let set = move |tx: &mut svc_store::Tx| {
            Ok(meta::update(tx, MetaKind::Post, of.0, "_thumbnail_id", &svc_store::StoredText::of(image.0))
                .map(drop)?)
        };
        self.site.write(set).await
    }

    /// The picture as an attachment: `song-mp3-image.jpg`. Nothing when it is none that may be stored.
    async fn attach_cover(
        &self,
        req: &Request,
        path: &str,
        cover: Cover,
        settings: &Arc<Settings>,
    ) -> Result<Option<PostId>> {
        let ending = match cover.mime.as_str() {
            "image/jpeg" => "jpg",
            "image/png" => "png",
            "image/gif" => "gif",
            _ => return Ok(None),
        };
        let name = format!("{}-image.{ending}", svc_text::basename(path, "").replace('.', "-"));
        let blob = Blob::Memory(cover.file);
        let file = blob.clone();
        let head = run_blocking(move || file.head(HEAD)).await?.map_err(|e| errors::storage(&e))?;
        let Some(kind) = svc_media::check(&name, &head, &MimeTypes::allowed(false)) else { return Ok(None) };
        let kind = FileType { name, ..kind };
        let uploads = UploadStore { site: &self.site.site, settings };
        let kept = uploads.store(&self.folder(None, settings)?, kind, &blob, ImageMetaSource::Unknown, true).await?;
        let draft = PostDraft { title: Some(String::new()), file: Some(kept.file), ..PostDraft::default() };
        self.attach(req, draft, kept.written, Arc::clone(settings)).await.map(Some)
    }
}
