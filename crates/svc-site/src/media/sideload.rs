//! Files that a client generates for an attachment. Each is stored next to the attachment's file (sideload); later their
//! names and dimensions are added to the metadata together ([`super::finalize`]).
//!
//! Between the two, a row of meta per file records that the file was stored for this attachment.

use serde::Deserialize;
use serde_json::Value;
use svc_media::{Blob, FileType, Naming};
use svc_model::PostId;
use svc_schema::Error;
use svc_store::{
    MetaKind, StoredText, Tx,
    meta::{self, Meta},
    posts,
};

use crate::{
    Settings, Site, SiteResult,
    blocking::run_blocking,
    errors::{media as errors, posts as post_errors},
    media::{
        attached::{AttachmentFiles, FILE, SIDELOADED},
        sizes,
        upload_store::{UploadStore, WrittenFiles},
    },
};

/// Maximum number of sideloaded files of an attachment that its metadata does not contain yet. A finalizing request names
/// at most half of them.
pub const MAX_PENDING: usize = 200;

/// Pixels by which an image may be larger than its size, because clients round differently.
const TOLERANCE: u32 = 1;

/// The size of documents that is not a registered one: the image of the first page.
const FULL: &str = "full";

/// The purpose of a file: one or several image sizes, or one of the [special names](SpecialFile).
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub enum FileUse {
    /// A size or a special name.
    One(String),
    /// Sizes that share the file.
    Many(Vec<String>),
}

/// A file that is not an image size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpecialFile {
    /// The main file with its EXIF orientation applied.
    Original,
    /// The main file scaled down.
    Scaled,
    /// A file that accompanies the attachment, in this field of the metadata.
    Companion(&'static str),
}

impl SpecialFile {
    /// The file with this name.
    pub fn named(name: &str) -> Option<Self> {
        Some(match name {
            "original" => SpecialFile::Original,
            "scaled" => SpecialFile::Scaled,
            "source_original" => SpecialFile::Companion("source_image"),
            "animated_video" => SpecialFile::Companion("animated_video"),
            "animated_video_poster" => SpecialFile::Companion("animated_video_poster"),
            _ => return None,
        })
    }

    /// Whether the file must be an image: a video and a source format need not be.
    fn is_image(self) -> bool {
        !matches!(self, SpecialFile::Companion("source_image" | "animated_video"))
    }

    /// Whether the file replaces the main file.
    pub fn is_main(self) -> bool {
        matches!(self, SpecialFile::Original | SpecialFile::Scaled)
    }
}

impl FileUse {
    /// All names.
    pub fn names(&self) -> &[String] {
        match self {
            FileUse::One(name) => std::slice::from_ref(name),
            FileUse::Many(names) => names,
        }
    }

    /// The special file that this is.
    pub fn special(&self) -> Option<SpecialFile> {
        match self {
            FileUse::One(name) => SpecialFile::named(name),
            FileUse::Many(_) => None,
        }
    }

    /// Whether the file must be an image.
    fn is_image(&self) -> bool {
        self.special().is_none_or(SpecialFile::is_image)
    }
}

/// Checks the names of image sizes in a parameter. A list may contain image sizes only, a single name may be special.
///
/// # Errors
/// `rest_invalid_type` if the value is neither a text nor a list, `rest_not_in_enum` for an unknown name.
pub fn check_names(site: &Site, settings: &Settings, value: Option<&Value>, param: &str) -> Result<(), Error> {
    let sizes = sizes::all(site, settings);
    let is_size =
        |name: &str| SpecialFile::named(name).is_none() && (name == FULL || sizes.iter().any(|size| size.name == name));
    let is_valid = match value {
        Some(Value::String(name)) => is_size(name) || SpecialFile::named(name).is_some(),
        Some(Value::Array(names)) => names.iter().all(|name| name.as_str().is_some_and(is_size)),
        _ => return Err(errors::no_size_name(param)),
    };
    if is_valid { Ok(()) } else { Err(errors::unknown_size_name(param)) }
}

/// A stored file.
#[derive(Clone, Debug)]
pub struct Sideloaded {
    /// The file's name; for a new main file, its path relative to the uploads folder.
    pub file: String,
    /// The name of the main file that this one replaces.
    pub replaces: Option<String>,
    /// MIME type.
    pub mime_type: String,
    /// Size in bytes.
    pub bytes: u64,
    /// Width and height in pixels; `None` if the file need not be an image.
    pub dimensions: Option<(u32, u32)>,
}

/// Whether files can be sideloaded for an attachment with these files and this MIME type: it is an image or a PDF
/// document, and has a file.
pub fn accepts_files(attached: &AttachmentFiles, mime: &str) -> bool {
    let is_document = || attached.file.rsplit_once('.').is_some_and(|(_, ending)| ending.eq_ignore_ascii_case("pdf"));
    !attached.file.is_empty() && (mime.starts_with("image/") || is_document())
}

impl UploadStore<'_> {
    /// Stores a file next to the file of an attachment and records it. On failure, the file is deleted.
    ///
    /// # Errors
    /// If the attachment is not in the uploads folder or does not exist any more, the file is not an image that fits the
    /// sizes, too many files are recorded, or the storage fails.
    pub async fn sideload(
        &self,
        id: PostId,
        attached: &AttachmentFiles,
        kind: FileType,
        blob: &Blob,
        file_use: &FileUse,
        converts: bool,
    ) -> Result<Sideloaded, Error> {
        let folder = attached.folder().trim_end_matches('/');
        let file = blob.clone();
        let read = run_blocking(move || (file.size(), svc_media::dimensions(&file)));
        let (bytes, dimensions) = read.await.map_err(|e| errors::storage(&e))?;
        let bytes = bytes.map_err(|e| errors::storage(&e))?;
        let dimensions = match file_use.is_image() {
            true => Some(self.fitting(dimensions, attached, file_use)?),
            false => None,
        };
        let uploads = &self.site.services.uploads;
        let mut pending = uploads.begin().map_err(|e| errors::storage(&e))?;
        let naming = Naming { derived_from: Some(svc_text::basename(&attached.file, "")), converts };
        let path = uploads.reserve(folder, &kind.name, naming, &mut pending).await.map_err(|e| errors::storage(&e))?;
        let written = WrittenFiles::of(path.clone(), pending);
        let stored = async {
            uploads.write(&path, blob).await.map_err(|e| errors::storage(&e))?;
            let is_main = file_use.special().is_some_and(SpecialFile::is_main);
            self.site.write(self.cx, move |tx| record(tx, id, &path, is_main)).await
        };
        match stored.await {
            Ok(Recorded { file, replaces }) => {
                written.commit();
                Ok(Sideloaded { file, replaces, mime_type: kind.mime, bytes, dimensions })
            }
            Err(error) => {
                written.delete(self.site).await;
                Err(error)
            }
        }
    }

    /// The dimensions, if they fit all sizes that the image is for. Source: `validate_image_dimensions`.
    fn fitting(
        &self,
        dimensions: Option<(u32, u32)>,
        attached: &AttachmentFiles,
        file_use: &FileUse,
    ) -> Result<(u32, u32), Error> {
        let (width, height) = dimensions.ok_or_else(errors::no_dimensions)?;
        if width == 0 || height == 0 {
            return Err(errors::empty_image());
        }
        let sizes = sizes::all(self.site, self.settings);
        for name in file_use.names() {
            match SpecialFile::named(name) {
                Some(SpecialFile::Original) => {
                    let main = attached.stored_dimensions().unwrap_or((width, height));
                    if main != (width, height) && main != (height, width) {
                        return Err(errors::other_dimensions((width, height), main));
                    }
                }
                Some(_) => {}
                None if name == FULL => {}
                None => {
                    let size = sizes.iter().find(|size| size.name == *name).ok_or_else(errors::unknown_size)?;
                    for (length, most) in [(width, size.width), (height, size.height)] {
                        if most > 0 && length > most.saturating_add(TOLERANCE) {
                            return Err(errors::exceeds_size((width, height), name, (size.width, size.height)));
                        }
                    }
                }
            }
        }
        Ok((width, height))
    }
}

/// The record of a file.
struct Recorded {
    file: String,
    replaces: Option<String>,
}

/// Records a stored file of an attachment. A new main file becomes the attachment's file at once.
fn record(tx: &mut Tx, id: PostId, path: &str, is_main: bool) -> SiteResult<Recorded> {
    posts::get(tx, id)?.filter(|post| post.post_type == "attachment").ok_or_else(post_errors::post_not_found)?;
    let meta: Meta = meta::load_one(tx, MetaKind::Post, id.0)?;
    let recorded = if is_main {
        let replaced = AttachmentFiles::new(&meta).file;
        meta::update(tx, MetaKind::Post, id.0, FILE, &StoredText::of(path))?;
        Recorded { file: path.to_owned(), replaces: Some(svc_text::basename(&replaced, "").to_owned()) }
    } else {
        Recorded { file: svc_text::basename(path, "").to_owned(), replaces: None }
    };
    let names: Vec<StoredText> =
        std::iter::once(&recorded.file).chain(&recorded.replaces).map(StoredText::of).collect();
    if meta.all(SIDELOADED).len() + names.len() > MAX_PENDING {
        return Err(errors::too_many_sideloaded(MAX_PENDING).into());
    }
    let rows: Vec<_> = names.iter().map(|name| (SIDELOADED, name)).collect();
    meta::add_many(tx, MetaKind::Post, id.0, &rows)?;
    Ok(recorded)
}
