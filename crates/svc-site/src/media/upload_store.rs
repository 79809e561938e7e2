//! Stores uploaded files, and generates the sizes of images.

use std::{collections::HashMap, sync::Arc};

use serde_json::{Map, Value, json};
use svc_content::kses;
use svc_media::{
    Blob, Cover, DecodedImage, FileType, Fit, Format, ImageMeta, Naming, PendingUpload, RegisteredSize, constrain, fit,
};
use svc_schema::Error;
use svc_store::StoredText;
use svc_versions::Context;

use crate::{
    Settings, Site,
    blocking::run_blocking,
    errors::media as errors,
    media::{attached::AttachmentFiles, av_metadata, sizes},
};

/// The stored file of a new attachment.
#[derive(Clone, Debug)]
pub struct NewFile {
    /// The file's media type.
    pub mime_type: String,
    /// The file's URL when it was stored.
    pub url: String,
    /// The file's path relative to the uploads folder.
    pub path: String,
    /// The file's metadata in its stored form.
    pub details: StoredText,
}

/// A stored file.
pub struct StoredUpload {
    /// Data for the attachment's post.
    pub file: NewFile,
    /// Metadata embedded in the file.
    pub embedded: ImageMeta,
    /// Alt text from the image's metadata.
    pub alt: String,
    /// Cover image embedded in an audio file.
    pub cover: Option<Cover>,
    /// The files that were written.
    pub written: WrittenFiles,
}

/// Files of an upload that no row references yet.
#[derive(Default)]
pub struct WrittenFiles {
    /// Paths of all files.
    pub paths: Vec<String>,
    /// A record to find the files again if the server is killed.
    pending: PendingUpload,
}

impl WrittenFiles {
    /// A file whose name was reserved.
    pub(crate) fn of(path: String, pending: PendingUpload) -> Self {
        WrittenFiles { paths: vec![path], pending }
    }

    /// Records a file before it is written.
    fn add(&mut self, path: &str) -> Result<(), Error> {
        self.pending.own(path).map_err(|e| errors::storage(&e))?;
        self.paths.push(path.to_owned());
        Ok(())
    }

    /// Marks the files as referenced by a row.
    pub fn commit(self) {
        self.pending.done();
    }

    /// Deletes the files, because no row will reference them.
    pub async fn delete(self, site: &Site) {
        site.services.uploads.delete(self.paths).await;
        self.pending.done();
    }
}

/// Data about a stored file.
struct FileDetails {
    /// The path to store as the attachment's file.
    attached_path: String,
    details: Map<String, Value>,
    embedded: ImageMeta,
    alt: String,
    cover: Option<Cover>,
}

/// Where an image's metadata comes from.
pub enum ImageMetaSource {
    /// The file itself.
    Unknown,
    /// `image_meta` and `parent_image` of the original, for an edited copy.
    Copied(Map<String, Value>),
}

/// The processing of an image that is stored.
#[derive(Clone, Copy, Debug)]
pub struct Processing {
    /// Rotates it upright, scales it down if needed, and generates its sizes.
    pub sizes: bool,
    /// Whether images may be converted to other formats, which affects the names that are free.
    pub converts: bool,
}

impl Default for Processing {
    fn default() -> Self {
        Processing { sizes: true, converts: true }
    }
}

/// Stores files for one site with its current options.
pub struct UploadStore<'a> {
    /// The context of the upload.
    pub cx: &'a Context,
    /// The site.
    pub site: &'a Arc<Site>,
    /// Its settings.
    pub settings: &'a Arc<Settings>,
}

/// The field `image_meta` as stored: numbers are strings.
fn image_meta(meta: &ImageMeta, alt: &str) -> Value {
    let number = svc_php::float::to_text;
    json!({
        "aperture": number(meta.aperture),
        "credit": meta.credit,
        "camera": meta.camera,
        "caption": meta.caption,
        "created_timestamp": meta.created_timestamp.to_string(),
        "copyright": meta.copyright,
        "focal_length": number(meta.focal_length),
        "iso": meta.iso.to_string(),
        "shutter_speed": number(meta.shutter_speed),
        "title": meta.title,
        "orientation": meta.orientation.to_string(),
        "keywords": meta.keywords,
        "alt": alt,
    })
}

/// Sanitizes an image's metadata as HTML.
fn sanitized(meta: ImageMeta) -> ImageMeta {
    let filtered = |text: &str| kses::post(text).into_string();
    ImageMeta {
        credit: filtered(&meta.credit),
        camera: filtered(&meta.camera),
        caption: filtered(&meta.caption),
        copyright: filtered(&meta.copyright),
        title: filtered(&meta.title),
        keywords: meta.keywords.iter().map(|word| filtered(word)).collect(),
        ..meta
    }
}

/// The alt text in the site's language, or the default one.
fn alt_in(texts: &[(String, String)], locale: &str) -> String {
    let language = locale.split(['_', '-']).next().filter(|language| !language.is_empty()).unwrap_or("en");
    let of = |wanted: &str| texts.iter().find(|(language, _)| language == wanted);
    of(language).or_else(|| of("x-default")).map(|(_, text)| kses::post(text).into_string()).unwrap_or_default()
}

/// The name of a derived file: `photo-300x188.jpg` for `photo.jpg`.
fn sibling_name(path: &str, mark: &str) -> String {
    let (folder, name) = path.rsplit_once('/').map_or(("", path), |(folder, name)| (folder, name));
    let (stem, ending) = svc_media::split_extension(name);
    if folder.is_empty() { format!("{stem}-{mark}{ending}") } else { format!("{folder}/{stem}-{mark}{ending}") }
}

/// Metadata in its stored form.
pub fn stored_details(details: Map<String, Value>) -> StoredText {
    StoredText::of(Value::Object(details))
}

impl UploadStore<'_> {
    /// Stores a file under a free name in a folder, and processes an image. On failure, all files written so far are deleted.
    ///
    /// # Errors
    /// Errors of the storage.
    pub async fn store(
        &self,
        folder: &str,
        kind: FileType,
        blob: &Blob,
        source: ImageMetaSource,
        processing: Processing,
    ) -> Result<StoredUpload, Error> {
        let uploads = &self.site.services.uploads;
        let mut pending = uploads.begin().map_err(|e| errors::storage(&e))?;
        let naming = Naming { derived_from: None, converts: processing.converts };
        let path = uploads.reserve(folder, &kind.name, naming, &mut pending).await.map_err(|e| errors::storage(&e))?;
        let mut written = WrittenFiles::of(path.clone(), pending);
        let done = async {
            uploads.write(&path, blob).await.map_err(|e| errors::storage(&e))?;
            self.describe(&path, &kind.mime, blob, source, processing.sizes, &mut written).await
        };
        match done.await {
            Ok(FileDetails { attached_path, details, embedded, alt, cover }) => {
                let url = format!("{}/{path}", self.settings.stored_uploads_url());
                let file = NewFile { mime_type: kind.mime, url, path: attached_path, details: stored_details(details) };
                Ok(StoredUpload { file, embedded, alt, cover, written })
            }
            Err(error) => {
                written.delete(self.site).await;
                Err(error)
            }
        }
    }

    /// Reads the metadata of a stored file and generates sizes.
    async fn describe(
        &self,
        path: &str,
        mime: &str,
        blob: &Blob,
        source: ImageMetaSource,
        all_sizes: bool,
        written: &mut WrittenFiles,
    ) -> Result<FileDetails, Error> {
        let (file, kind) = (blob.clone(), mime.to_owned());
        let (size, dimensions, found, alts, av_metadata) = run_blocking(move || {
            let is_image = kind.starts_with("image/");
            let dimensions = is_image.then(|| svc_media::dimensions(&file)).flatten();
            let alts = if dimensions.is_some() { svc_media::alt_texts(&file) } else { Vec::new() };
            (file.size(), dimensions, svc_media::image_meta(&file, &kind), alts, svc_media::av_metadata(&file, &kind))
        })
        .await
        .map_err(|e| errors::storage(&e))?;
        let size = size.map_err(|e| errors::storage(&e))?;
        let (found, alt) = (sanitized(found), alt_in(&alts, self.settings.option("WPLANG")));
        let mut details = Map::new();
        let Some((width, height)) = dimensions else {
            match &av_metadata {
                Some(av) => details = av_metadata::details(av, mime, size),
                None => drop(details.insert("filesize".to_owned(), size.into())),
            }
            let cover = av_metadata.and_then(|av| av.cover);
            return Ok(FileDetails { attached_path: path.to_owned(), details, embedded: found, alt, cover });
        };
        for (name, value) in [
            ("width", width.into()),
            ("height", height.into()),
            ("file", path.into()),
            ("filesize", size.into()),
            ("sizes", json!({})),
        ] {
            details.insert(name.to_owned(), value);
        }
        match source {
            ImageMetaSource::Unknown => {
                details.insert("image_meta".to_owned(), image_meta(&found, &alt));
            }
            ImageMetaSource::Copied(more) => details.extend(more),
        }
        let mut attached_path = path.to_owned();
        if all_sizes && let Some(format) = Format::of_mime(mime) {
            let image_sizes = ImageSizes { store: self, path, mime, format };
            if let Some(image) = image_sizes.open(blob, found.orientation).await? {
                let wanted = sizes::all(self.site, self.settings);
                if let Some(scaled_path) =
                    image_sizes.write_scaled(&image, found.orientation, &mut details, written).await?
                {
                    attached_path = scaled_path;
                }
                image_sizes.write_sizes(&image, wanted, &mut details, written).await?;
            }
        }
        Ok(FileDetails { attached_path, details, embedded: found, alt, cover: None })
    }

    /// Generates the missing sizes of an attachment. Returns their entries in `sizes`, by name.
    ///
    /// # Errors
    /// Errors of the storage.
    pub async fn generate_missing_sizes(
        &self,
        attached: &AttachmentFiles,
        mime: &str,
    ) -> Result<Map<String, Value>, Error> {
        let names = attached.missing_sizes(&sizes::all(self.site, self.settings), mime);
        let mut details = Map::new();
        let Some(format) = Format::of_mime(mime).filter(|_| !names.is_empty()) else { return Ok(details) };
        let path = attached.original();
        let blob = match self.site.services.uploads.fetch(&path).await {
            Ok(blob) => blob,
            Err(error) if error.is_missing() => return Ok(details),
            Err(error) => return Err(errors::storage(&error)),
        };
        let image_sizes = ImageSizes { store: self, path: &path, mime, format };
        let (file, kind) = (blob.clone(), mime.to_owned());
        let orientation = run_blocking(move || svc_media::image_meta(&file, &kind).orientation)
            .await
            .map_err(|e| errors::storage(&e))?;
        if let Some(image) = image_sizes.open(&blob, orientation).await? {
            let wanted = sizes::all(self.site, self.settings).into_iter().filter(|s| names.contains(&s.name)).collect();
            // The names derive from the attachment's file: if the metadata is not stored, the files are overwritten
            // next time.
            image_sizes.write_sizes(&image, wanted, &mut details, &mut WrittenFiles::default()).await?;
        }
        match details.shift_remove("sizes") {
            Some(Value::Object(sizes)) => Ok(sizes),
            _ => Ok(Map::new()),
        }
    }
}

/// Generates the files of one image.
struct ImageSizes<'a> {
    store: &'a UploadStore<'a>,
    /// Path of the original image.
    path: &'a str,
    mime: &'a str,
    format: Format,
}

/// A decoded image with its permit.
struct OpenImage {
    image: Arc<DecodedImage>,
    _permit: tokio::sync::OwnedSemaphorePermit,
}

impl ImageSizes<'_> {
    /// Decodes the image and rotates it upright. `None` if it is too large or damaged: this is logged, and the file is
    /// stored without sizes.
    async fn open(&self, blob: &Blob, orientation: u32) -> Result<Option<OpenImage>, Error> {
        let permit = Arc::clone(&self.store.site.image_work).acquire_owned().await.map_err(|e| errors::storage(&e))?;
        let (file, format) = (blob.clone(), self.format);
        // Decoding continues after the client disconnects, so it owns the permit.
        let decode = move || (DecodedImage::decode(&file, format).map(|p| p.oriented(orientation)), permit);
        let (image, permit) = run_blocking(decode).await.map_err(|e| errors::storage(&e))?;
        match image {
            Ok(image) => Ok(Some(OpenImage { image: Arc::new(image), _permit: permit })),
            Err(error) => {
                tracing::info!(%error, file = self.path, "no sizes generated for an image");
                Ok(None)
            }
        }
    }

    /// Writes the resized image to a path and returns its size in bytes; `None` if it cannot be encoded.
    async fn write(&self, image: &OpenImage, fit: Fit, path: &str) -> Result<Option<u64>, Error> {
        let (image, format, quality) = (Arc::clone(&image.image), self.format, sizes::quality(self.mime));
        let bytes = run_blocking(move || {
            if (fit.width, fit.height) == image.size() {
                return image.encode(format, quality);
            }
            image.scaled(&fit)?.encode(format, quality)
        })
        .await
        .map_err(|e| errors::storage(&e))?;
        match bytes {
            Ok(bytes) => {
                let size = bytes.len() as u64;
                let uploads = &self.store.site.services.uploads;
                uploads.write(path, &Blob::Memory(bytes.into())).await.map_err(|e| errors::storage(&e))?;
                Ok(Some(size))
            }
            Err(error) => {
                tracing::info!(%error, file = self.path, "failed to generate an image size");
                Ok(None)
            }
        }
    }

    /// Writes a scaled or rotated copy if the image is too large or not upright. Returns the copy's path.
    async fn write_scaled(
        &self,
        image: &OpenImage,
        orientation: u32,
        details: &mut Map<String, Value>,
        written: &mut WrittenFiles,
    ) -> Result<Option<String>, Error> {
        let (width, height) = image.image.size();
        let mark = match orientation {
            _ if width.max(height) > sizes::MAX_DIMENSION => "scaled",
            2..=8 => "rotated",
            _ => return Ok(None),
        };
        let (w, h) = constrain((width, height), (sizes::MAX_DIMENSION, sizes::MAX_DIMENSION));
        let scaled_path = sibling_name(self.path, mark);
        let fit = Fit { x: 0, y: 0, part_width: width, part_height: height, width: w, height: h };
        written.add(&scaled_path)?;
        let Some(size) = self.write(image, fit, &scaled_path).await? else { return Ok(None) };
        for (name, value) in [
            ("width", w.into()),
            ("height", h.into()),
            ("file", scaled_path.as_str().into()),
            ("filesize", size.into()),
            ("original_image", Value::from(svc_text::basename(self.path, ""))),
        ] {
            details.insert(name.to_owned(), value);
        }
        if orientation > 1
            && let Some(Value::Object(meta)) = details.get_mut("image_meta")
        {
            meta.insert("orientation".to_owned(), 1.into());
        }
        Ok(Some(scaled_path))
    }

    /// Generates the sizes that are smaller than the image and adds them to the metadata.
    async fn write_sizes(
        &self,
        image: &OpenImage,
        wanted: Vec<RegisteredSize>,
        details: &mut Map<String, Value>,
        written: &mut WrittenFiles,
    ) -> Result<(), Error> {
        let mut made: HashMap<String, (Fit, u64)> = HashMap::new();
        let mut sizes = Map::new();
        for size in sizes::in_generation_order(wanted) {
            let Some(fit) = fit(image.image.size(), &size) else { continue };
            let path = sibling_name(self.path, &format!("{}x{}", fit.width, fit.height));
            // Two sizes may result in the same file.
            let bytes = match made.get(&path).filter(|(known, _)| *known == fit) {
                Some((_, bytes)) => *bytes,
                None => {
                    written.add(&path)?;
                    let Some(bytes) = self.write(image, fit, &path).await? else { continue };
                    bytes
                }
            };
            let name = svc_text::basename(&path, "").to_owned();
            made.insert(path, (fit, bytes));
            sizes.insert(
                size.name,
                json!({"file": name, "width": fit.width, "height": fit.height, "mime-type": self.mime, "filesize": bytes}),
            );
        }
        details.insert("sizes".to_owned(), Value::Object(sizes));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sibling_names_keep_folder_and_extension() {
        assert_eq!(sibling_name("2024/03/a.b.png", "scaled"), "2024/03/a.b-scaled.png");
        assert_eq!(sibling_name("a.png", "1x2"), "a-1x2.png");
    }
}
