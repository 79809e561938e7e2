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
    media::upload_store::{ImageMetaSource, Processing, UploadStore},
    posts::draft::PostDraft,
};
use svc_store::{
    meta::{self, MetaKind},
    posts,
};
use svc_text::MimeTypes;

use super::{Media, errors};

/// Number of bytes that are read to detect the type of a file.
const HEAD: usize = 64 << 10;

/// Meta key of a cover image: the MD5 hash of its file, so that the audio files of an album share one attachment.
pub(crate) const COVER_HASH: &str = "_cover_hash";

/// The MD5 hash in hexadecimal.
pub(crate) fn md5_hex(bytes: &Bytes) -> String {
    Md5::digest(bytes).iter().fold(String::new(), |mut out, byte| {
        let _ = write!(out, "{byte:02x}");
        out
    })
}

impl Media {
    /// Sets the cover image of an audio file as its featured image. Creates an attachment for it, unless another audio
    /// file has the same cover. `path` is the path of the audio file in the uploads.
    ///
    /// # Errors
    /// Errors of the upload storage and the database.
    pub(crate) async fn store_cover(
        &self,
        req: &Request,
        audio: PostId,
        path: &str,
        cover: Cover,
        settings: &Arc<Settings>,
    ) -> Result<()> {
        let hash = md5_hex(&cover.file);
        let existing = self.site.read(req.cx(), |db| {
            let id = meta::find(db, MetaKind::Post, COVER_HASH, &hash, 1)?.first().copied();
            Ok(id.map(|id| posts::get(db, PostId(id))).transpose()?.flatten().map(|post| post.id))
        })?;
        let image = match existing {
            Some(id) => id,
            None => {
                let Some(id) = self.attach_cover(req, path, cover, settings).await? else { return Ok(()) };
                let hash = hash.clone();
                self.site
                    .write(req.cx(), move |tx| {
                        Ok(meta::add(tx, MetaKind::Post, id.0, COVER_HASH, &svc_store::StoredText::of(&hash))?)
                    })
                    .await?;
                id
            }
        };
        let set = move |tx: &mut svc_store::Tx| {
            Ok(meta::update(tx, MetaKind::Post, audio.0, "_thumbnail_id", &svc_store::StoredText::of(image.0))
                .map(drop)?)
        };
        self.site.write(req.cx(), set).await
    }

    /// Stores the cover as an attachment named like `song-mp3-image.jpg`. Returns `None` if its type cannot be stored.
    async fn attach_cover(
        &self,
        req: &Request,
        path: &str,
        cover: Cover,
        settings: &Arc<Settings>,
    ) -> Result<Option<PostId>> {
        let extension = match cover.mime.as_str() {
            "image/jpeg" => "jpg",
            "image/png" => "png",
            "image/gif" => "gif",
            _ => return Ok(None),
        };
        let name = format!("{}-image.{extension}", svc_text::basename(path, "").replace('.', "-"));
        let blob = Blob::Memory(cover.file);
        let file = blob.clone();
        let head = run_blocking(move || file.head(HEAD))
            .await
            .map_err(|e| errors::storage(&e))?
            .map_err(|e| errors::storage(&e))?;
        let Some(file_type) = svc_media::check(&name, &head, &MimeTypes::allowed(false)) else { return Ok(None) };
        let file_type = FileType { name, ..file_type };
        let uploads = UploadStore { cx: req.cx(), site: &self.site, settings };
        let stored = uploads
            .store(
                &self.folder(req.cx(), None, settings)?,
                file_type,
                &blob,
                ImageMetaSource::Unknown,
                Processing::default(),
            )
            .await?;
        let draft = PostDraft { title: Some(String::new()), file: Some(stored.file), ..PostDraft::default() };
        self.attach(req, draft, stored.written, Arc::clone(settings)).await.map(Some)
    }
}
