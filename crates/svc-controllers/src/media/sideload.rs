//! `POST /media/ID/sideload`: stores a file that the client has generated for an attachment, such as an image size.

use std::sync::Arc;

use serde_json::{Map, Value};
use svc_routing::{Request, Response, Result};
use svc_schema::{
    Arg, Args,
    build::{SchemaBuilder, boolean, string, types},
};
use svc_site::{
    blocking::run_to_completion,
    media::{
        attached::AttachmentFiles,
        sideload::{FileUse, Sideloaded, SpecialFile, accepts_files, check_names},
        upload_store::UploadStore,
    },
};

use super::{Media, errors, receive};
use crate::posts::Authorized;

/// The schema of what a file is for.
pub(super) fn file_use(description: &str) -> SchemaBuilder {
    let name = string().min_length(1);
    types(["string", "array"]).describe(description).keyword("items", name).min_items(1).min_length(1).required()
}

/// The image sizes that a file is for.
fn image_size() -> SchemaBuilder {
    file_use("Name of the image size, or a list of names for a file that several sizes share.")
}

impl Media {
    /// The arguments of a request that stores a file.
    pub(super) fn sideload_args(&self) -> Args {
        let image_size = Arg::new(image_size().compile()).validate_with(|_, _| Ok(true));
        let convert = boolean().describe("Whether to convert the image to another format.").default(true);
        Args::new().with("image_size", image_size).with("convert_format", convert)
    }

    /// Validates `image_size`. Sizes may be registered later than the argument.
    pub(super) fn valid_image_size(&self) -> impl Fn(&Request, &Value) -> Result<bool> + use<> {
        let (site, schema) = (Arc::clone(&self.site), image_size().compile());
        move |req, value| {
            let name = "image_size";
            schema.validate(value, name)?;
            check_names(&site, &*site.settings(req.cx())?, Some(value), name).map(|()| true)
        }
    }

    pub(super) async fn sideload(self: Arc<Self>, req: Request, authorized: Authorized) -> Result<Response> {
        run_to_completion(&req.cx().clone(), |cx| self.store_file(req.with_cx(cx), authorized)).await
    }

    async fn store_file(self: Arc<Self>, req: Request, authorized: Authorized) -> Result<Response> {
        let Authorized { post, settings, .. } = authorized;
        let attached = self.attached(req.cx(), post.id)?;
        if !accepts_files(&attached, &post.mime_type) {
            return Err(errors::cannot_sideload());
        }
        if !is_in_uploads(&attached) {
            return Err(errors::not_in_uploads());
        }
        let received = receive::received(&req).await?;
        let file_type = self.file_type(&req, &settings, &received).await?;
        let file_use: FileUse = req.require("image_size")?;
        let converts = req.arg("convert_format")?.unwrap_or(true);
        let store = UploadStore { cx: req.cx(), site: &self.site, settings: &settings };
        let stored = store.sideload(post.id, &attached, file_type, &received.blob, &file_use, converts).await?;
        Ok(Response::new(described(req.param("image_size"), &file_use, stored)))
    }
}

/// Whether the attachment's file is below the uploads folder.
fn is_in_uploads(attached: &AttachmentFiles) -> bool {
    let path = &attached.file;
    !path.starts_with('/') && path.split('/').all(|segment| segment != "..")
}

/// The description of a stored file, which clients send back to finalize the attachment.
fn described(name: Option<&Value>, file_use: &FileUse, stored: Sideloaded) -> Map<String, Value> {
    let (width, height) = stored.dimensions.unwrap_or_default();
    let fields: Vec<(&str, Value)> = match file_use.special() {
        Some(SpecialFile::Companion(_)) => vec![("file", stored.file.into())],
        Some(SpecialFile::Original | SpecialFile::Scaled) => vec![
            ("original_image", stored.replaces.into()),
            ("width", width.into()),
            ("height", height.into()),
            ("filesize", stored.bytes.into()),
            ("file", stored.file.into()),
        ],
        None => vec![
            ("width", width.into()),
            ("height", height.into()),
            ("file", stored.file.into()),
            ("mime_type", stored.mime_type.into()),
            ("filesize", stored.bytes.into()),
        ],
    };
    let name = ("image_size".to_owned(), name.cloned().unwrap_or_default());
    std::iter::once(name).chain(fields.into_iter().map(|(name, value)| (name.to_owned(), value))).collect()
}
