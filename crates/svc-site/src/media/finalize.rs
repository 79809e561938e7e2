//! Adds sideloaded files to the metadata of an attachment.

use std::collections::HashSet;

use serde::Deserialize;
use serde_json::{Map, Value, json};
use svc_model::PostId;
use svc_php::cast::truthy;
use svc_store::{
    MetaKind, StoredText, Tx,
    meta::{self, Meta},
    posts,
};

use crate::{
    SiteResult,
    errors::{media as errors, posts as post_errors},
    media::{
        attached::{COMPANIONS, DETAILS, FILE, SIDELOADED},
        sideload::{FileUse, SpecialFile},
        upload_store::stored_details,
    },
};

/// A file to add, as it was described when it was sideloaded.
#[derive(Clone, Debug, Deserialize)]
pub struct SubSize {
    /// Its purpose.
    pub image_size: FileUse,
    /// Width in pixels.
    pub width: Option<i64>,
    /// Height in pixels.
    pub height: Option<i64>,
    /// Its name; for a main file, its path.
    pub file: Option<String>,
    /// MIME type.
    pub mime_type: Option<String>,
    /// Size in bytes.
    pub filesize: Option<i64>,
    /// The name of the main file that it replaces.
    pub original_image: Option<String>,
}

impl SubSize {
    fn named_files(&self) -> impl Iterator<Item = &str> {
        self.file.as_deref().into_iter().chain(self.original_image.as_deref())
    }

    fn number(value: Option<i64>) -> Value {
        value.unwrap_or_default().into()
    }

    /// Adds the file to the metadata. Entries without a file change nothing.
    fn add_to(&self, details: &mut Map<String, Value>) {
        let Some(file) = self.file.as_deref().filter(|file| truthy(&Value::from(*file))) else { return };
        match self.image_size.special() {
            Some(SpecialFile::Companion(field)) => {
                details.insert(field.to_owned(), file.into());
            }
            Some(SpecialFile::Original | SpecialFile::Scaled) => {
                if let Some(original) = self.original_image.as_deref().filter(|name| truthy(&Value::from(*name))) {
                    details.insert("original_image".to_owned(), original.into());
                }
                for (name, value) in [
                    ("width", Self::number(self.width)),
                    ("height", Self::number(self.height)),
                    ("filesize", Self::number(self.filesize)),
                    ("file", file.into()),
                ] {
                    details.insert(name.to_owned(), value);
                }
                // The client has applied the orientation.
                let orientation = details.get_mut("image_meta").and_then(|meta| meta.get_mut("orientation"));
                if let Some(orientation) = orientation.filter(|orientation| truthy(orientation)) {
                    *orientation = 1.into();
                }
            }
            None => {
                let sizes = details.entry("sizes").or_insert_with(|| json!({}));
                if !sizes.is_object() {
                    *sizes = json!({});
                }
                for name in self.image_size.names() {
                    sizes[name] = json!({
                        "width": self.width.unwrap_or_default(),
                        "height": self.height.unwrap_or_default(),
                        "file": file,
                        "mime-type": self.mime_type.as_deref().unwrap_or_default(),
                        "filesize": self.filesize.unwrap_or_default(),
                    });
                }
            }
        }
    }
}

/// Adds files to the metadata of an attachment. Only files that were sideloaded for the attachment, or that it has already,
/// can be named. Rows of files that the metadata then contains are deleted. Source: `finalize_item`.
///
/// # Errors
/// `rest_invalid_sub_size_file` for other files, a 404 if the attachment does not exist any more.
pub fn finalize(tx: &mut Tx, id: PostId, sub_sizes: &[SubSize]) -> SiteResult<()> {
    posts::get(tx, id)?.filter(|post| post.post_type == "attachment").ok_or_else(post_errors::post_not_found)?;
    let meta: Meta = meta::load_one(tx, MetaKind::Post, id.0)?;
    let mut details = match meta.first(DETAILS).map(StoredText::json) {
        Some(Value::Object(details)) => details,
        _ => Map::new(),
    };
    let known = own_names(&meta, &details);
    let sideloaded = meta.all(SIDELOADED);
    let is_known = |name: &str| known.contains(name) || sideloaded.iter().any(|known| known.text() == name);
    if !sub_sizes.iter().flat_map(SubSize::named_files).all(is_known) {
        return Err(errors::not_sideloaded().into());
    }
    for sub_size in sub_sizes {
        sub_size.add_to(&mut details);
    }
    let known = own_names(&meta, &details);
    if details.is_empty() {
        meta::delete(tx, MetaKind::Post, id.0, DETAILS, None)?;
    } else {
        meta::update(tx, MetaKind::Post, id.0, DETAILS, &stored_details(details))?;
    }
    let mut added: Vec<&str> =
        sub_sizes.iter().flat_map(SubSize::named_files).filter(|name| known.contains(*name)).collect();
    added.sort_unstable();
    added.dedup();
    let added: Vec<StoredText> = added.into_iter().map(StoredText::of).collect();
    meta::delete_values(tx, MetaKind::Post, id.0, SIDELOADED, &added)?;
    Ok(())
}

/// The names of the files that an attachment has according to its path and metadata, with and without their folder.
fn own_names(meta: &Meta, details: &Map<String, Value>) -> HashSet<String> {
    let sizes = details.get("sizes").and_then(Value::as_object).into_iter().flat_map(Map::values);
    let fields = ["file", "original_image"].into_iter().chain(COMPANIONS).filter_map(|name| details.get(name));
    let stored = fields.chain(sizes.filter_map(|size| size.get("file"))).filter_map(Value::as_str);
    let mut names = HashSet::new();
    for name in stored.chain(std::iter::once(meta.text(FILE))).filter(|name| !name.is_empty()) {
        names.insert(svc_text::basename(name, "").to_owned());
        names.insert(name.to_owned());
    }
    names
}
