//! The files of an attachment, read from its meta.

use serde_json::{Map, Value, json};
use svc_content::srcset::{Image, ImageSize};
use svc_media::{RegisteredSize, constrain, fit};
use svc_model::PostId;
use svc_store::{Meta, StoredText};
use svc_text::{Html, esc_attr, html};

use crate::{Settings, media::sizes};

/// Meta key: path of the file relative to the uploads folder.
pub const FILE: &str = "_wp_attached_file";
/// Meta key: dimensions, sizes and other metadata, serialized.
pub const DETAILS: &str = "_wp_attachment_metadata";
/// Meta key: alt text of the image.
pub(crate) const ALT: &str = "_wp_attachment_image_alt";
/// Meta key: a file that a client generated for the attachment and that its metadata does not contain yet. One row per
/// file: its name, or the path of a new main file.
pub(crate) const SIDELOADED: &str = "_wp_sideloaded_file";
/// Fields of the metadata: names of files that accompany the image.
pub(crate) const COMPANIONS: [&str; 3] = ["source_image", "animated_video", "animated_video_poster"];
/// Length of the shortest path in metadata that can be one of an image, in bytes.
const MIN_PATH: usize = 4;
/// Meta key: files replaced by edits of the image.
const BACKUPS: &str = "_wp_attachment_backup_sizes";

/// Path of the uploads folder; old stored paths contain it.
const UPLOADS: &str = "wp-content/uploads/";

/// The files of an attachment, and the post that it is attached to.
#[derive(Clone, Debug, Default)]
pub struct AttachmentFiles {
    /// Path of the file relative to the uploads folder; empty if no file is stored.
    pub file: String,
    /// The stored metadata.
    pub details: Option<Map<String, Value>>,
    /// Alt text.
    pub alt: String,
    /// Files replaced by edits.
    backups: Vec<String>,
    /// Names and paths of sideloaded files that the metadata does not contain yet.
    sideloaded: Vec<String>,
    /// Size of the file in bytes, measured if the metadata has none.
    pub measured: Option<u64>,
    /// The post that it is attached to.
    pub parent: Option<AttachedTo>,
}

/// The post that an attachment is attached to.
#[derive(Clone, Debug)]
pub struct AttachedTo {
    /// The post's id.
    pub id: PostId,
    /// The post's type.
    pub post_type: String,
    /// The post's URL in the REST API.
    pub href: String,
}

impl AttachmentFiles {
    /// An attachment without a file.
    pub const NONE: AttachmentFiles = AttachmentFiles {
        file: String::new(),
        details: None,
        alt: String::new(),
        backups: Vec::new(),
        sideloaded: Vec::new(),
        measured: None,
        parent: None,
    };

    /// Parses an attachment's meta.
    pub fn new(meta: &Meta) -> Self {
        let read = |name: &str| meta.first(name).map(StoredText::json);
        let file = meta.text(FILE);
        let file = file.rfind(UPLOADS).map_or(file, |at| &file[at + UPLOADS.len()..]);
        AttachmentFiles {
            file: file.to_owned(),
            details: read(DETAILS).and_then(|v| if let Value::Object(map) = v { Some(map) } else { None }),
            alt: meta.text(ALT).to_owned(),
            backups: read(BACKUPS).map(|v| file_names(&v)).unwrap_or_default(),
            sideloaded: meta.all(SIDELOADED).iter().map(|name| name.text().to_owned()).collect(),
            measured: None,
            parent: None,
        }
    }

    /// URL of the file; `guid` for old attachments without stored file.
    pub fn url(&self, settings: &Settings, guid: &str) -> String {
        match self.file.as_str() {
            "" => settings.urls.site.with_scheme(guid),
            file => format!("{}/{file}", settings.uploads_url()),
        }
    }

    /// Folder of the files with a trailing slash; empty for the uploads folder itself.
    pub fn folder(&self) -> &str {
        self.file.rfind('/').map_or("", |at| &self.file[..=at])
    }

    fn detail(&self, name: &str) -> &Value {
        self.details.as_ref().and_then(|d| d.get(name)).unwrap_or(&Value::Null)
    }

    /// A numeric metadata field.
    fn number(&self, name: &str) -> u64 {
        u64::try_from(svc_php::cast::to_int(self.detail(name))).unwrap_or_default()
    }

    /// Width and height of the image in pixels; zeros if unknown.
    pub fn dimensions(&self) -> (u32, u32) {
        let length = |name| u32::try_from(self.number(name)).unwrap_or_default();
        (length("width"), length("height"))
    }

    /// [`Self::dimensions`]; `None` if the metadata does not have both.
    pub(crate) fn stored_dimensions(&self) -> Option<(u32, u32)> {
        let has = |name| !self.detail(name).is_null();
        (has("width") && has("height")).then(|| self.dimensions())
    }

    /// Name of the uploaded file; `None` if no file is stored.
    pub fn file_name(&self) -> Option<&str> {
        Some(self.original_name()).filter(|_| !self.file.is_empty())
    }

    /// Name of the uploaded file; empty if no file is stored.
    pub fn original_name(&self) -> &str {
        match self.detail("original_image") {
            Value::String(name) if !name.is_empty() => name,
            _ => svc_text::basename(&self.file, ""),
        }
    }

    /// Path of the uploaded file.
    pub fn original(&self) -> String {
        format!("{}{}", self.folder(), self.original_name())
    }

    /// Size of the file in bytes, if known.
    pub fn file_size(&self) -> Option<u64> {
        Some(self.number("filesize")).filter(|n| *n > 0).or(self.measured)
    }

    /// EXIF orientation.
    pub fn orientation(&self) -> i64 {
        let stored = self.detail("image_meta").get("orientation").map_or(0, svc_php::cast::to_int);
        if stored > 0 { stored } else { 1 }
    }

    fn sizes(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.detail("sizes").as_object().into_iter().flatten().map(|(name, size)| (name.as_str(), size))
    }

    /// Whether the image has generated sizes.
    pub fn has_sizes(&self) -> bool {
        self.sizes().next().is_some()
    }

    /// Names of the sizes that should exist and do not: all of them if the image has no metadata, none if it has no
    /// file. Source: `wp_get_missing_image_subsizes`.
    pub fn missing_sizes(&self, sizes: &[RegisteredSize], mime: &str) -> Vec<String> {
        let has = |name: &str| self.sizes().any(|(n, _)| n == name);
        let missing = sizes.iter().filter(|size| !has(&size.name));
        if mime == "application/pdf" {
            // Documents have previews of the first page.
            return missing
                .filter(|s| sizes::OF_DOCUMENTS.contains(&s.name.as_str()))
                .map(|s| s.name.clone())
                .collect();
        }
        if !mime.starts_with("image/") || self.file.is_empty() {
            return Vec::new();
        }
        let is_unknown = self.details.as_ref().is_none_or(Map::is_empty);
        let fits = |size: &&RegisteredSize| is_unknown || fit(self.dimensions(), size).is_some();
        missing.filter(fits).map(|size| size.name.clone()).collect()
    }

    /// The full-size image: the file of an image, or the stored image of a document. Source: `image_downsize`.
    fn full_size(&self, settings: &Settings, url: &str, mime: &str) -> Option<Value> {
        let (file, url, width, height) = if mime.starts_with("image/") {
            let (width, height) = self.dimensions();
            (svc_text::basename(url, "").to_owned(), url.to_owned(), width.into(), height.into())
        } else {
            let (_, size) = self.sizes().find(|(name, _)| *name == "full")?;
            let file = size.get("file")?.as_str()?.to_owned();
            let url = format!("{}/{}{file}", settings.uploads_url(), self.folder());
            (file, url, size["width"].clone(), size["height"].clone())
        };
        Some(json!({"file": file, "width": width, "height": height, "mime_type": mime, "source_url": url}))
    }

    /// The field `media_details`.
    pub fn media_details(&self, settings: &Settings, url: &str, mime: &str) -> Value {
        let Some(mut details) = self.details.clone().filter(|d| !d.is_empty()) else { return json!({}) };
        let mut sizes = Map::new();
        let full = self.full_size(settings, url, mime);
        for (name, size) in self.sizes() {
            let mut size = size.as_object().cloned().unwrap_or_default();
            if let Some(mime) = size.shift_remove("mime-type") {
                size.insert("mime_type".to_owned(), mime);
            }
            // The other sizes of a document can only be found through its full-size image.
            if let Some(file) = size.get("file").and_then(Value::as_str).filter(|_| full.is_some()) {
                let url = format!("{}/{}{file}", settings.uploads_url(), self.folder());
                size.insert("source_url".to_owned(), url.into());
            }
            sizes.insert(name.to_owned(), Value::Object(size));
        }
        if let Some(full) = full.filter(|_| !sizes.is_empty()) {
            sizes.insert("full".to_owned(), full);
        }
        details.insert("sizes".to_owned(), Value::Object(sizes));
        Value::Object(details)
    }

    /// The image with its sizes, for `srcset`. Documents have no file there.
    pub fn image(&self, settings: &Settings) -> Image {
        let (width, height) = self.dimensions();
        let text = |size: &Value, name: &str| size.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        let number = |size: &Value, name: &str| {
            size.get(name).map_or(0, |n| u64::try_from(svc_php::cast::to_int(n)).unwrap_or_default())
        };
        let size = |size: &Value| ImageSize {
            file: text(size, "file"),
            width: number(size, "width"),
            height: number(size, "height"),
            mime_type: text(size, "mime-type"),
        };
        Image {
            uploads_url: settings.uploads_url(),
            file: self.detail("file").as_str().filter(|file| file.len() >= MIN_PATH).unwrap_or_default().to_owned(),
            width: width.into(),
            height: height.into(),
            sizes: self.sizes().map(|(_, s)| size(s)).collect(),
        }
    }

    /// URL of the file for a size, or of the full-size file if the size was not generated, and its dimensions scaled to the
    /// size. Source: `image_downsize`.
    fn sized_file(&self, settings: &Settings, url: &str, size: &RegisteredSize) -> (String, u64, u64) {
        let image = self.image(settings);
        let index = self.sizes().position(|(name, _)| name == size.name);
        match index.map(|at| &image.sizes[at]) {
            Some(made) => {
                let length = |n: u64| u32::try_from(n).unwrap_or(u32::MAX);
                // The size may have become smaller since.
                let (width, height) = constrain((length(made.width), length(made.height)), (size.width, size.height));
                (format!("{}/{}{}", settings.uploads_url(), self.folder(), made.file), width.into(), height.into())
            }
            None => {
                let (width, height) = constrain(self.dimensions(), (size.width, size.height));
                (url.to_owned(), width.into(), height.into())
            }
        }
    }

    /// Renders the `img` element for a size, with `srcset`. Source: `wp_get_attachment_image`.
    ///
    /// `described_by` is the id of the element for `aria-describedby`.
    pub fn img_element(
        &self,
        settings: &Settings,
        url: &str,
        size: &RegisteredSize,
        described_by: Option<&Html>,
    ) -> Html {
        let (src, width, height) = self.sized_file(settings, url, size);
        let srcset = self.image(settings).srcset(&src, (width, height)).map_or_else(Html::new, |set| {
            let sizes = svc_content::srcset::sizes(width);
            html!(" srcset=\"{}\" sizes=\"{}\"", esc_attr(&set), esc_attr(&sizes))
        });
        let alt = esc_attr(svc_text::trim(&svc_text::strip_all_tags(&self.alt, false)));
        let (name, src) = (esc_attr(&size.name), esc_attr(&src));
        let described = described_by.map(|id| html!(" aria-describedby=\"{}\"", id));
        html!(
            "<img width=\"{}\" height=\"{}\" src=\"{}\" class=\"attachment-{name} size-{name}\" alt=\"{}\"{}{} />",
            width,
            height,
            src,
            alt,
            described,
            srcset,
            name = name
        )
    }

    /// Whether a URL names one of the files.
    pub fn has_url(&self, url: &str) -> bool {
        let mut files = vec![self.file.clone(), self.original()];
        let sizes = self.sizes().filter_map(|(_, size)| size.get("file")?.as_str());
        files.extend(sizes.map(|file| format!("{}{file}", self.folder())));
        let path = url.split(['?', '#']).next().unwrap_or_default();
        files.iter().any(|file| {
            !file.is_empty() && path.strip_suffix(file.as_str()).is_some_and(|b| b.is_empty() || b.ends_with('/'))
        })
    }

    /// Paths of all files.
    pub fn files(&self) -> Vec<String> {
        let mut files = Vec::new();
        if self.file.is_empty() {
            return files;
        }
        let mut add = |path: String| {
            if !files.contains(&path) {
                files.push(path);
            }
        };
        add(self.file.clone());
        add(self.original());
        let sizes = self.sizes().filter_map(|(_, size)| size.get("file")?.as_str());
        let companions = COMPANIONS.iter().filter_map(|name| self.detail(name).as_str());
        let others = self.backups.iter().map(String::as_str).chain(companions);
        // New main files are stored with their folder.
        let sideloaded = self.sideloaded.iter().map(|name| name.strip_prefix(self.folder()).unwrap_or(name));
        // Names in metadata must not contain folders.
        for name in sizes.chain(others).chain(sideloaded).filter(|name| !name.is_empty() && !name.contains('/')) {
            add(format!("{}{name}", self.folder()));
        }
        files
    }
}

/// File names in a stored list of sizes.
fn file_names(sizes: &Value) -> Vec<String> {
    let of = |size: &Value| size.get("file").and_then(Value::as_str).map(str::to_owned);
    sizes.as_object().into_iter().flatten().filter_map(|(_, size)| of(size)).collect()
}

#[cfg(test)]
mod tests {
    use indexmap::IndexMap;

    use super::*;

    fn attached() -> AttachmentFiles {
        let details = json!({"width": 400, "height": 260, "file": "2024/03/a-scaled.png", "original_image": "a.png",
            "source_image": "a.heic", "animated_video": "../b.mp4", "animated_video_poster": "a-poster.jpg",
            "sizes": {"thumbnail": {"file": "a-150x150.png", "width": 150, "height": 150, "mime-type": "image/png"},
                      "x": {"file": "../../secret"}}});
        let stored = StoredText::of(details);
        let meta = [(FILE, StoredText::of("/srv/wp-content/uploads/2024/03/a-scaled.png")), (DETAILS, stored)];
        let mut meta: IndexMap<_, _> = meta.into_iter().map(|(k, v)| (k.to_owned(), vec![v])).collect();
        let sideloaded = ["a-300x200.png", "2024/03/a-scaled-1.png", "2024/04/b.png", "../c.png", ""];
        meta.insert(SIDELOADED.to_owned(), sideloaded.into_iter().map(StoredText::of).collect());
        AttachmentFiles::new(&Meta(meta))
    }

    #[test]
    fn files() {
        let attached = attached();
        let names =
            ["a-scaled.png", "a.png", "a-150x150.png", "a.heic", "a-poster.jpg", "a-300x200.png", "a-scaled-1.png"];
        assert_eq!(attached.files(), names.map(|name| format!("2024/03/{name}")));
        for (url, expected) in [
            ("http://a.b/wp-content/uploads/2024/03/a.png", true),
            ("http://other/wp-content/uploads/2024/03/a-150x150.png?x=1", true),
            ("2024/03/a-scaled.png", true),
            ("http://a.b/wp-content/uploads/2024/03/b.png", false),
            ("http://a.b/x2024/03/a.png", false),
            ("", false),
        ] {
            assert_eq!(attached.has_url(url), expected, "{url}");
        }
    }

    #[test]
    fn missing_sizes_are_listed() {
        let size = |name: &str, width, height| RegisteredSize { name: name.to_owned(), width, height, crop: false };
        let sizes = [size("thumbnail", 150, 150), size("medium", 300, 300), size("large", 1024, 1024)];
        assert_eq!(attached().missing_sizes(&sizes, "image/png"), ["medium"]);
        assert_eq!(
            AttachmentFiles::default().missing_sizes(&sizes, "application/pdf"),
            ["thumbnail", "medium", "large"]
        );
        assert!(AttachmentFiles::default().missing_sizes(&sizes, "text/plain").is_empty());
        assert!(AttachmentFiles::default().missing_sizes(&sizes, "image/png").is_empty());
        let unknown = AttachmentFiles { file: "a.png".to_owned(), ..AttachmentFiles::default() };
        assert_eq!(unknown.missing_sizes(&sizes, "image/png"), ["thumbnail", "medium", "large"]);
    }
}
