//! `POST /media/ID/finalize`: adds the files that the client has sideloaded to the attachment's metadata.

use std::sync::Arc;

use serde_json::{Value, json};
use svc_routing::{Request, Response, Result};
use svc_schema::{
    Arg, Args,
    build::{SchemaBuilder, array, integer, object, string},
};
use svc_site::media::{
    finalize::{SubSize, finalize},
    sideload::check_names,
};

use super::{Media, sideload::file_use};
use crate::{posts::Authorized, respond};

/// Maximum number of files in a request.
const MAX_FILES: usize = 100;

/// The schema of a file, as it was described when it was stored.
fn sub_size() -> SchemaBuilder {
    let number = || integer().minimum(1);
    object([
        ("image_size", file_use("Name of the image size, or a list of names for a file that several sizes share.")),
        ("width", number()),
        ("height", number()),
        ("file", string().min_length(1)),
        ("mime_type", string().pattern("^image/.*")),
        ("filesize", number()),
        ("original_image", string().min_length(1)),
    ])
}

/// Files of a request.
fn sub_sizes() -> SchemaBuilder {
    array(sub_size())
        .describe("The files, as the responses of the sideload requests describe them.")
        .default(json!([]))
        .max_items(MAX_FILES)
}

impl Media {
    /// The arguments of a request that adds files to the metadata.
    pub(super) fn finalize_args(&self) -> Args {
        let schema = sub_sizes().compile();
        Args::new().with("sub_sizes", Arg::new(schema).validate_with(|_, _| Ok(true)))
    }

    /// Validates `sub_sizes`: the image sizes exist.
    pub(super) fn valid_sub_sizes(&self) -> impl Fn(&Request, &Value) -> Result<bool> + use<> {
        let (site, schema) = (Arc::clone(&self.site), sub_sizes().compile());
        move |req, value| {
            let name = "sub_sizes";
            schema.validate(value, name)?;
            let settings = site.settings(req.cx())?;
            for (position, sub_size) in value.as_array().into_iter().flatten().enumerate() {
                check_names(&site, &settings, sub_size.get("image_size"), &format!("{name}[{position}][image_size]"))?;
            }
            Ok(true)
        }
    }

    pub(super) async fn finalize(self: Arc<Self>, req: Request, authorized: Authorized) -> Result<Response> {
        let id = authorized.post.id;
        let sub_sizes: Vec<SubSize> = req.arg("sub_sizes")?.unwrap_or_default();
        self.site.write(req.cx(), move |tx| finalize(tx, id, &sub_sizes)).await?;
        let post = self.posts.saved(req.cx(), id)?;
        self.posts.show(&req, post, respond::edit_view(&req)).await
    }
}
