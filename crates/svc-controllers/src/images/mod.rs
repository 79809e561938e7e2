//! Images on demand: an uploaded image in another size, crop, format or quality, as a file.
//!
//! - `GET /images/{id}?w=640` is the image. Anybody may request the sizes that the configuration lists, of images that they may read in the
//!   REST API. Everything else needs a signature: another size, a focus, a quality.
//! - `GET /images/{id}/signed-url` returns a signed URL to users who may upload files. The signature is that of the site's keys and covers
//!   the attachment and the parameters. It does not expire, and whoever has it may see the image, as with the URL of the file.
//! - A focus belongs to one use of an image, as in WordPress's blocks; it is a parameter, and not stored with the image.
//! - The route finds the attachment, its file and the name of the variant. The image itself is a [`LaterBody`]: requests that wait for it
//!   occupy no thread and no place among the requests in progress. [`ImageVariants`] makes and caches it.

mod request;

use std::sync::Arc;

use serde_json::json;
use svc_media::Format;
use svc_model::{Post, PostId};
use svc_php::cast::to_int;
use svc_routing::{Controller, LaterBody, Request, Response, Result, Returns, Route, get};
use svc_schema::{
    Args, Schema,
    build::{integer, object, string},
};
use svc_site::{
    Access, Settings, Site,
    errors::images as errors,
    image_variants::{ImageVariants, Source},
    media::attached::AttachmentFiles,
};
use svc_store::{MetaKind, meta, posts};

use self::request::Wanted;
use crate::{caller, errors as common};

/// How long caches use an image whose URL names the state of the file.
const FOREVER: &str = "max-age=31536000, immutable";

/// How long caches use an image whose URL does not: the file may be replaced.
const FOR_AN_HOUR: &str = "max-age=3600";

/// The controller for images on demand.
pub struct Images {
    site: Arc<Site>,
    variants: ImageVariants,
}

/// An image that the caller may see.
struct Found {
    wanted: Wanted,
    post: Post,
    files: AttachmentFiles,
    settings: Arc<Settings>,
    /// Whether everybody may see it, so that shared caches may store it.
    is_public: bool,
}

impl Images {
    /// The controller for this site; `None` if it makes no images on demand.
    pub fn new(site: &Arc<Site>) -> Option<Self> {
        let variants = site.services.image_variants.clone()?;
        Some(Images { site: Arc::clone(site), variants })
    }

    /// The image with this id, if the caller may read the attachment, or `is_signed`.
    fn find(&self, req: &Request, wanted: Wanted, id: i64, is_signed: bool) -> Result<Found> {
        let viewer = caller(req);
        self.site.read(req.cx(), |db| {
            let post = if id > 0 { posts::get(db, PostId(id))? } else { None };
            let post = post.filter(|post| post.post_type == "attachment" && post.status != "trash");
            let Some(post) = post.filter(|post| post.mime_type.starts_with("image/")) else {
                return Err(errors::not_found().into());
            };
            let settings = self.site.settings_in(db)?;
            let access = Access::of_posts(&self.site, &settings, db, std::slice::from_ref(&post))?;
            let is_public = access.can_read(&svc_auth::Caller::anonymous(), &post);
            if !is_public && !is_signed && !access.can_read(&viewer, &post) {
                return Err(common::forbidden(req).into());
            }
            drop(access);
            let files = AttachmentFiles::new(&meta::load_one(db, MetaKind::Post, id)?);
            if files.file.is_empty() {
                return Err(errors::not_found().into());
            }
            Ok(Found { wanted, post, files, settings, is_public })
        })
    }

    async fn source(&self, found: &Found) -> Result<Source> {
        ImageVariants::source(&self.site.services.uploads, &found.files.file, &found.post.mime_type).await
    }

    // Fetch

    async fn can_fetch(self: Arc<Self>, req: Request) -> Result<Found> {
        let (wanted, id) = (Wanted::read(&req)?, id_param(&req));
        // Nothing is read for requests that nobody may send.
        let is_signed = wanted.is_signed(&self.site, id, &req)?;
        if !is_signed && !wanted.is_listed(&self.variants) {
            return Err(errors::not_listed());
        }
        self.find(&req, wanted, id, is_signed)
    }

    async fn fetch(self: Arc<Self>, req: Request, found: Found) -> Result<Response> {
        // Nearly all of them are animated.
        if Format::of_mime(&found.post.mime_type) == Some(Format::Gif) {
            let file = found.files.url(&found.settings, &found.post.guid);
            return Ok(Response::default().status(302).header("Location", file));
        }
        let source = self.source(&found).await?;
        let variant = found.wanted.variant(&req, source.format());
        let (variants, permits) = (self.variants.clone(), Arc::clone(&self.site.image_work));
        let tag = format!("\"{}\"", source.key(&variant));
        let is_current = req.arg::<String>("v")?.is_some_and(|state| state == source.version());
        let scope = if found.is_public { "public" } else { "private" };
        let age = if is_current { FOREVER } else { FOR_AN_HOUR };
        let body = LaterBody::new(async move { variants.image(&permits, &source, variant).await });
        let response = Response::later(variant.format.mime(), body)
            .header("ETag", tag)
            .header("Cache-Control", format!("{scope}, {age}"))
            .without_allow();
        // Other responses of the API are not for search engines.
        let response = if found.is_public { response.header("X-Robots-Tag", "all") } else { response };
        Ok(if found.wanted.is_negotiated() { response.header("Vary", "Accept") } else { response })
    }

    // Sign

    async fn can_sign(self: Arc<Self>, req: Request) -> Result<Found> {
        if !request::may_sign(&caller(&req)) {
            return Err(request::cannot_sign(&req));
        }
        self.find(&req, Wanted::read(&req)?, id_param(&req), false)
    }

    async fn sign(self: Arc<Self>, _: Request, found: Found) -> Result<Response> {
        let (source, id) = (self.source(&found).await?, found.post.id.0);
        let route = found.settings.urls.rest(&format!("{}/{id}", route()));
        let joint = if route.contains('?') { '&' } else { '?' };
        let (query, version) = (found.wanted.query(), source.version());
        let signature = found.wanted.signature(&self.site, id)?;
        Ok(Response::new(json!({ "url": format!("{route}{joint}{query}&v={version}&sig={signature}") })))
    }
}

/// The route of the images, below which their ids are.
fn route() -> String {
    format!("/{}/images", svc_brand::OWN_NAMESPACE)
}

fn id_param(req: &Request) -> i64 {
    req.param("id").map_or(0, to_int)
}

/// The schema of a signed URL.
fn signed_schema() -> Schema {
    let url = string().format("uri").describe("URL of the image.").context(&["view"]).readonly();
    object([("url", url)]).title("signed-image-url").compile()
}

impl Controller for Images {
    fn routes(&self) -> Vec<Route<Self>> {
        let id = || Args::from([("id", integer().describe("ID of the image in the media library."))]);
        let fetch = get(Self::fetch, Self::can_fetch).args(request::url_args()).returns(Returns::File("image/*"));
        let sign = get(Self::sign, Self::can_sign).args(request::args()).returns(Returns::Item);
        vec![
            Route::new(r"/images/(?P<id>[\d]+)").unlisted().args(id()).endpoint(fetch.waits()),
            Route::new(r"/images/(?P<id>[\d]+)/signed-url")
                .unlisted()
                .schema(signed_schema())
                .args(id())
                .endpoint(sign.waits()),
        ]
    }
}
