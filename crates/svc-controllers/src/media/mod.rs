//! Media: attachments, which are posts with a file.
//!
//! Most operations delegate to the family of posts. `receive` reads the file of a request, `edit` edits images,
//! `covers` stores cover images of audio files, `sideload` and `finalize` take files that clients generate.
//! `svc_site::media` stores files and generates image sizes.

mod covers;
mod edit;
mod errors;
mod fields;
mod finalize;
mod params;
mod receive;
mod sideload;

use std::sync::Arc;

use chrono::Datelike;
use serde_json::{Map, Value, json};
use svc_auth::caps::PostCap;
use svc_fetch::Get;
use svc_media::{Blob, DecodedImage, FileType, Format};
use svc_model::{Post, PostId, PostType};
use svc_resource::{LazyTyped, Typed, View};
use svc_routing::{
    CREATABLE, Controller, DELETABLE, EDITABLE, ExtraFields, Request, Response, Result, Returns, Route, Transport, get,
    on,
};
use svc_schema::{
    Arg, Args, MethodKind, Sanitizer, Schema,
    build::{SchemaBuilder, boolean, integer, string},
};
use svc_site::{
    Access, Settings, Site,
    blocking::{run_blocking, run_to_completion},
    http_client::own_origins,
    media::{
        attached::DETAILS,
        delete::delete_attachment,
        sizes,
        upload_store::{self, ImageMetaSource, Processing, StoredUpload, UploadStore, WrittenFiles},
    },
    permalinks,
    posts::draft::PostDraft,
};
use svc_store::{
    MetaKind, Tx,
    meta::{self, Meta},
    posts,
};
use svc_text::MimeTypes;
use svc_versions::Context;

use crate::preconditions;
use crate::{
    RestSite,
    args::context_arg,
    caller, cost, errors as common,
    posts::{Authorized, AuthorizedChange, Posts, fields::PostFields, params::PostList, validators},
    request::only_reads,
    respond,
};

use self::receive::ReceivedFile;

pub use svc_render::images::SiteImages;
pub use svc_render::images::images_of;
pub(crate) use svc_site::media::attached::AttachmentFiles;

/// Number of bytes that are read to detect the type of a file.
const HEAD: usize = 64 * 1024;

/// Fields that a request can set in an edited copy, in WordPress's order.
const COPY_FIELDS: [&str; 5] = ["caption", "description", "title", "post", "alt_text"];

/// The family of attachments.
pub struct Media {
    site: Arc<Site>,
    posts: Arc<Posts>,
    /// The fields of an edited copy.
    copies: PostFields,
    post_type: Arc<PostType>,
    route: String,
}

/// URL of an image to fetch.
fn fetched_url() -> SchemaBuilder {
    string().format("uri").describe("URL from which to fetch the file.").last(&["description"])
}

impl Media {
    /// The family on this site with these settings; `post_type` is that of attachments.
    pub fn new(rest: &Arc<RestSite>, settings: &Settings, post_type: &PostType, extra: &ExtraFields) -> Self {
        let fields = || fields::fields(&rest.site, settings, post_type);
        Media {
            posts: Arc::new(
                Posts::new(rest, post_type, extra)
                    .with_tables(fields(), params::params(&rest.site, post_type))
                    .with_languages(settings.languages_of_type(&post_type.name)),
            ),
            copies: fields().supporting(&COPY_FIELDS),
            route: rest.site.route_of_type(post_type),
            post_type: Arc::new(post_type.clone()),
            site: Arc::clone(&rest.site),
        }
    }

    /// The arguments of an upload.
    #[rustfmt::skip]
    fn upload_args(&self) -> Args {
        let mut args = self.item_args(MethodKind::Creatable);
        args.0.extend(Args::from([
            ("generate_sub_sizes", boolean().default(true).describe("Whether to generate image sizes.").last(&["description"])),
            ("convert_format", boolean().default(true).describe("Whether to convert the image to another format.").last(&["description"])),
        ]).0);
        args.with("url", Self::url_arg())
    }

    /// The argument `url`, an image to fetch. URLs that are not permitted fail validation; null is ignored.
    fn url_arg() -> Arg {
        Arg { sanitize: Sanitizer::BySchema, ..Arg::new(fetched_url().compile()).validate_with(|_, _| Ok(true)) }
    }

    /// Validates `url`: the site may fetch it.
    fn valid_url(&self) -> impl Fn(&Request, &Value) -> Result<bool> + use<> {
        let (site, schema) = (Arc::clone(&self.site), fetched_url().compile());
        move |req, value| {
            schema.validate(value, "url")?;
            let own = own_origins(&*site.settings(req.cx())?);
            let get = Get::new(value.as_str().unwrap_or_default()).allow(own);
            if site.services.http_client.is_permitted_url(&get) { Ok(true) } else { Err(errors::refused_url()) }
        }
    }

    /// Arguments of the attachment's fields, in WordPress's order.
    fn item_args(&self, kind: MethodKind) -> Args {
        self.posts.fields().args(kind).ordered(&["alt_text", "caption", "description"])
    }

    fn copy_args(&self) -> Args {
        let mut args = edit::args();
        args.0.extend(self.copies.args(MethodKind::Editable).0);
        args.ordered(&COPY_FIELDS)
    }
}

impl Controller for Media {
    fn routes(&self) -> Vec<Route<Self>> {
        let base = &self.route[self.route.rfind('/').unwrap_or_default()..];
        let item = format!(r"{base}/(?P<id>[\d]+)");
        let schema = Schema::compile(self.posts.fields().item_schema());
        let id = || Args::from([("id", integer().describe("The attachment's ID."))]);
        let force = crate::args::force("Must be true: media cannot be moved to the trash.");
        let action = string().one_of(["create-image-subsizes"]).required();
        vec![
            Route::new(base)
                .schema(schema.clone())
                .endpoint(
                    get(Self::list, Self::can_list)
                        .cacheable()
                        .cost(cost::of_list)
                        .args(self.posts.query_args())
                        .sanitize_arg("status", validators::statuses(&self.site, &self.post_type)),
                )
                .endpoint(
                    on(CREATABLE, Self::create, Self::can_create)
                        .accepts_file()
                        .example(json!({"title": "A bicycle", "alt_text": "A red bicycle at a wall"}))
                        .args(self.upload_args())
                        .validate_arg("url", self.valid_url())
                        .validate_arg("status", validators::status(&self.site, &self.post_type))
                        .validate_arg("template", validators::template(&self.site, &self.post_type)),
                ),
            Route::new(&item)
                .conditional(preconditions::on_post(&self.site))
                .schema(schema.clone())
                .args(id())
                .endpoint(get(Self::fetch, Self::can_fetch).cacheable().args(Args::from([("context", context_arg())])))
                .endpoint(
                    on(EDITABLE, Self::update, Self::can_update)
                        .args(self.item_args(MethodKind::Editable))
                        .example(json!({"alt_text": "A red bicycle at a wall"}))
                        .validate_arg("status", validators::status(&self.site, &self.post_type))
                        .validate_arg("template", validators::template(&self.site, &self.post_type)),
                )
                .endpoint(on(DELETABLE, Self::delete, Self::can_delete).args(Args::from([("force", force)]))),
            Route::new(format!("{item}/post-process")).args(id()).endpoint(
                on(CREATABLE, Self::post_process, Self::can_post_process)
                    .args(Args::from([("action", action)]))
                    .example(json!({"action": "create-image-subsizes"})),
            ),
            Route::new(format!("{item}/edit"))
                .endpoint(on(CREATABLE, Self::edit, Self::can_edit).args(self.copy_args())),
            // Clients process images in secure contexts only.
            Route::new(format!("{item}/sideload"))
                .only_over(Transport::is_secure)
                .schema(schema.clone())
                .args(id())
                .endpoint(
                    on(CREATABLE, Self::sideload, Self::can_add_file)
                        .accepts_file()
                        .returns(Returns::Other)
                        .args(self.sideload_args())
                        .validate_arg("image_size", self.valid_image_size()),
                ),
            Route::new(format!("{item}/finalize")).only_over(Transport::is_secure).schema(schema).args(id()).endpoint(
                on(CREATABLE, Self::finalize, Self::can_add_file)
                    .args(self.finalize_args())
                    .validate_arg("sub_sizes", self.valid_sub_sizes()),
            ),
        ]
    }
}

impl Media {
    /// The stored metadata of an attachment's files.
    fn attached(&self, cx: &Context, id: PostId) -> Result<AttachmentFiles> {
        self.site.read(cx, |db| Ok(AttachmentFiles::new(&meta::load_one(db, MetaKind::Post, id.0)?)))
    }

    /// The response to a request that created an attachment.
    async fn created(&self, req: &Request, id: PostId, view: View) -> Result<Response> {
        let post = self.posts.saved(req.cx(), id)?;
        let settings = self.site.settings(req.cx())?;
        let location = settings.urls.rest(&permalinks::rest_route(&self.site, &settings, &post));
        let response = self.posts.show(req, post, view).await?.in_context("edit");
        Ok(response.status(201).header("Location", location))
    }

    /// [`Self::created`], with a header that contains the attachment's id.
    async fn created_with_header(&self, req: &Request, id: PostId, view: View) -> Result<Response> {
        let header = self.site.brand.header("Upload-Attachment-ID");
        Ok(self.created(req, id, view).await?.header(&header, id.to_string()))
    }

    /// Checks that the file is not attached to an attachment or a revision.
    fn check_parent_type(&self, cx: &Context, draft: &PostDraft) -> Result<()> {
        let Some(parent) = draft.unchecked_parent.filter(|id| *id > 0) else { return Ok(()) };
        let parent = self.site.read(cx, |db| Ok(posts::get(db, PostId(parent))?))?;
        match parent.is_some_and(|p| matches!(p.post_type.as_str(), "attachment" | "revision")) {
            true => Err(errors::invalid_parent_type()),
            false => Ok(()),
        }
    }

    /// Creates an attachment for a stored file. Deletes the file if that fails.
    async fn attach(
        &self,
        req: &Request,
        draft: PostDraft,
        written: WrittenFiles,
        settings: Arc<Settings>,
    ) -> Result<PostId> {
        let saved = self.posts.save_draft(req, draft, None, settings).await;
        match saved {
            Ok(_) => written.commit(),
            Err(_) => written.delete(&self.site).await,
        }
        saved
    }

    // List and fetch

    async fn can_list(self: Arc<Self>, req: Request) -> Result<LazyTyped<PostList>> {
        Arc::clone(&self.posts).can_list(req).await
    }

    async fn list(self: Arc<Self>, req: Request, list: LazyTyped<PostList>) -> Result<Response> {
        Arc::clone(&self.posts).list(req, list).await
    }

    async fn can_fetch(self: Arc<Self>, req: Request) -> Result<Authorized> {
        Arc::clone(&self.posts).can_fetch(req).await
    }

    async fn fetch(self: Arc<Self>, req: Request, authorized: Authorized) -> Result<Response> {
        Arc::clone(&self.posts).fetch(req, authorized).await
    }

    // Upload

    async fn can_create(self: Arc<Self>, req: Request) -> Result<Typed<PostDraft>> {
        let draft = Arc::clone(&self.posts).can_create(req.clone()).await?;
        // A value that is not a number is a post that does not exist.
        let is_named = |id: &i64| *id != 0 || draft.has_mismatch("post");
        if let Some(parent) = draft.values().unchecked_parent.filter(is_named) {
            let caller = caller(&req);
            let may = self.site.read(req.cx(), |db| {
                let Some(post) = posts::get(db, PostId(parent))? else { return Ok(false) };
                let settings = self.site.settings_in(db)?;
                let access = Access::of_posts(&self.site, &settings, db, std::slice::from_ref(&post))?;
                Ok(caller.can_post(PostCap::Edit, &post, &access))
            })?;
            if !may {
                return Err(common::cannot_edit(&req));
            }
        }
        let sized: bool = req.arg("generate_sub_sizes")?.unwrap_or(true);
        // Only where clients generate sizes themselves, images that the server cannot process are of use.
        if (sized || !req.is_secure_origin())
            && req.file("file").is_some_and(|file| cannot_be_sized(&file.content_type))
        {
            return Err(errors::unsupported_image());
        }
        Ok(draft)
    }

    async fn create(self: Arc<Self>, req: Request, draft: Typed<PostDraft>) -> Result<Response> {
        run_to_completion(&req.cx().clone(), |cx| self.upload(req.with_cx(cx), draft)).await
    }

    async fn upload(self: Arc<Self>, req: Request, draft: Typed<PostDraft>) -> Result<Response> {
        self.check_parent_type(req.cx(), draft.values())?;
        let settings = self.site.settings(req.cx())?;
        let mut draft = draft.accepted()?;
        let source_url: Option<String> = req.arg("url")?.filter(|url: &String| !url.is_empty());
        let received = match &source_url {
            Some(source_url) => receive::fetched(&self.site, &settings, source_url).await?,
            None => receive::received(&req).await?,
        };
        if source_url.is_some() {
            // As in WordPress, fetched files take only `post` from the request.
            draft = PostDraft { unchecked_parent: draft.unchecked_parent, ..PostDraft::default() };
        }
        let file_type = self.file_type(&req, &settings, &received).await?;
        self.check_featured(req.cx(), draft.featured_media, &file_type.mime)?;
        let folder = self.folder(req.cx(), draft.unchecked_parent, &settings)?;
        let upload_store = UploadStore { cx: req.cx(), site: &self.site, settings: &settings };
        let processing = Processing {
            sizes: req.arg("generate_sub_sizes")?.unwrap_or(true),
            converts: req.arg("convert_format")?.unwrap_or(true),
        };
        let StoredUpload { file, embedded: metadata, alt, cover, written } =
            upload_store.store(&folder, file_type, &received.blob, ImageMetaSource::Unknown, processing).await?;

        let is_name = |title: &str| svc_php::numeric::is_numeric(&svc_text::sanitize_title(title).into());
        let own_title = Some(metadata.title).filter(|t| !svc_text::trim(t).is_empty() && !is_name(t));
        // The title derives from the name in a form as sent, or from the stored name for other uploads.
        let name = if received.is_form { &received.name } else { svc_text::basename(&file.url, "") };
        draft.title = draft.title.filter(|t| !t.is_empty()).or(own_title);
        draft.title.get_or_insert_with(|| svc_media::split_extension(svc_text::trim(name)).0.trim_end().to_owned());
        let own_caption = Some(metadata.caption).filter(|t| !svc_text::trim(t).is_empty());
        draft.excerpt = draft.excerpt.filter(|t| !t.is_empty()).or(own_caption);
        draft.alt_text = draft.alt_text.filter(|t| !t.is_empty()).or(Some(alt).filter(|t| !t.is_empty()));
        draft.file = Some(file);
        let stored = written.paths.first().cloned().unwrap_or_default();
        let id = self.attach(&req, draft, written, Arc::clone(&settings)).await?;
        if let Some(cover) = cover
            && let Err(error) = self.store_cover(&req, id, &stored, cover, &settings).await
        {
            tracing::warn!(%error, file = stored, "cover image was not stored");
        }
        let view = respond::edit_view(&req);
        if source_url.is_some() {
            self.created(&req, id, view).await
        } else {
            self.created_with_header(&req, id, view).await
        }
    }

    /// The name and type to store a received file under.
    async fn file_type(&self, req: &Request, settings: &Settings, received: &ReceivedFile) -> Result<FileType> {
        let allowed = MimeTypes::allowed(Access::new(&self.site, settings).can(&caller(req), "unfiltered_html"));
        let name = svc_text::sanitize_file_name(&received.name, &allowed);
        let file = received.blob.clone();
        let head = run_blocking(move || file.head(HEAD))
            .await
            .map_err(|e| errors::storage(&e))?
            .map_err(|e| errors::storage(&e))?;
        svc_media::check(&name, &head, &allowed).ok_or_else(|| received.type_error())
    }

    /// Only audio and video files have a featured image, and only an image can be one.
    fn check_featured(&self, cx: &Context, featured: Option<i64>, mime: &str) -> Result<()> {
        let Some(id) = featured else { return Ok(()) };
        if !["audio/", "video/"].iter().any(|kind| mime.starts_with(kind)) {
            return Err(errors::no_featured_media(mime));
        }
        let image = if id == 0 { None } else { self.site.read(cx, |db| Ok(posts::get(db, PostId(id))?))? };
        let is_image = image.is_some_and(|post| post.post_type == "attachment" && post.mime_type.starts_with("image/"));
        if id == 0 || is_image { Ok(()) } else { Err(errors::invalid_featured_media()) }
    }

    /// The folder of a new file: that of the current month, or of the month of the post to which it is attached.
    fn folder(&self, cx: &Context, parent: Option<i64>, settings: &Settings) -> Result<String> {
        if settings.number("uploads_use_yearmonth_folders") == 0 {
            return Ok(String::new());
        }
        let parent = parent.filter(|id| *id > 0);
        let parent = parent.map(|id| self.site.read(cx, |db| Ok(posts::get(db, PostId(id))?))).transpose()?.flatten();
        // The date of a page is ignored.
        let parent_date = parent.filter(|p| p.post_type != "page").and_then(|p| p.date);
        let date = parent_date.unwrap_or_else(|| settings.zone.to_local(self.site.now(cx)));
        Ok(format!("{:04}/{:02}", date.year(), date.month()))
    }

    // Update

    async fn can_update(self: Arc<Self>, req: Request) -> Result<AuthorizedChange> {
        Arc::clone(&self.posts).can_update(req).await
    }

    async fn update(self: Arc<Self>, req: Request, change: AuthorizedChange) -> Result<Response> {
        self.check_parent_type(req.cx(), change.draft.values())?;
        Arc::clone(&self.posts).update(req, change).await
    }

    // Delete

    async fn can_delete(self: Arc<Self>, req: Request) -> Result<Authorized> {
        Arc::clone(&self.posts).can_delete(req).await
    }

    async fn delete(self: Arc<Self>, req: Request, authorized: Authorized) -> Result<Response> {
        if !respond::is_forced(&req)? {
            return Err(errors::no_trash());
        }
        let id = authorized.post.id;
        let view = respond::previous_view(&req, "edit");
        let previous = self.posts.show(&req, authorized.post, view).await?;
        let delete = move |tx: &mut Tx| {
            posts::get(tx, id)?.ok_or_else(common::post_not_found)?;
            delete_attachment(tx, id)
        };
        let files = self.site.write(req.cx(), delete).await?;
        self.site.services.uploads.delete(files).await;
        Ok(respond::deleted(previous.data))
    }

    // Sizes

    async fn can_post_process(self: Arc<Self>, req: Request) -> Result<Authorized> {
        Ok(Arc::clone(&self.posts).can_update(req).await?.authorized)
    }

    async fn post_process(self: Arc<Self>, req: Request, authorized: Authorized) -> Result<Response> {
        run_to_completion(&req.cx().clone(), |cx| self.complete(req.with_cx(cx), authorized)).await
    }

    async fn complete(self: Arc<Self>, req: Request, authorized: Authorized) -> Result<Response> {
        let Authorized { post, settings, .. } = authorized;
        let attached = self.attached(req.cx(), post.id)?;
        let upload_store = UploadStore { cx: req.cx(), site: &self.site, settings: &settings };
        let generated = upload_store.generate_missing_sizes(&attached, &post.mime_type).await?;
        if !generated.is_empty() {
            let id = post.id;
            self.site.write(req.cx(), move |tx| Ok(add_sizes(tx, id, &generated)?)).await?;
        }
        self.posts.show(&req, post, respond::edit_view(&req)).await
    }

    // Edit

    async fn can_edit(self: Arc<Self>, req: Request) -> Result<AuthorizedChange> {
        if only_reads(&req) || !caller(&req).has("upload_files") {
            return Err(errors::cannot_edit_image(&req));
        }
        self.posts.authorize_update(&req, &self.copies)
    }

    async fn can_add_file(self: Arc<Self>, req: Request) -> Result<Authorized> {
        Ok(self.can_edit(req).await?.authorized)
    }

    async fn edit(self: Arc<Self>, req: Request, change: AuthorizedChange) -> Result<Response> {
        run_to_completion(&req.cx().clone(), |cx| self.apply_edits(req.with_cx(cx), change)).await
    }

    async fn apply_edits(self: Arc<Self>, req: Request, change: AuthorizedChange) -> Result<Response> {
        let AuthorizedChange { authorized: Authorized { post, settings, .. }, draft } = change;
        let sent = draft.accepted()?;
        let attached = self.attached(req.cx(), post.id)?;
        let source: String = req.require("src")?;
        if attached.details.as_ref().is_none_or(Map::is_empty) || !attached.has_url(&source) {
            return Err(errors::unknown_attachment());
        }
        let format = Format::of_mime(&post.mime_type).ok_or_else(|| match post.mime_type.starts_with("image/") {
            true => errors::cannot_edit_type(),
            false => errors::unknown_attachment(),
        })?;
        let edits = edit::edits(&req)?;
        let original =
            self.site.services.uploads.fetch(&attached.original()).await.map_err(|error| {
                if error.is_missing() { errors::unknown_attachment() } else { errors::storage(&error) }
            })?;
        let permit = Arc::clone(&self.site.image_work).acquire_owned().await.map_err(|e| errors::storage(&e))?;
        let mime = post.mime_type.clone();
        let edited = run_blocking(move || -> Result<Vec<u8>> {
            // The permit is released when the work ends, even if the client disconnects earlier.
            let _permit = permit;
            let orientation = svc_media::image_meta(&original, &mime).orientation;
            let image = DecodedImage::decode(&original, format).map_err(|_| errors::unreadable_image())?;
            let image = edit::apply(image.oriented(orientation), &edits)?;
            image.encode(format, sizes::quality(&mime)).map_err(|_| errors::unreadable_image())
        });
        let edited = edited.await.map_err(|e| errors::storage(&e))??;

        let alt = || Some(attached.alt.clone()).filter(|alt| !alt.is_empty());
        let mut draft = PostDraft {
            title: sent.title.or_else(|| Some(post.title.clone())),
            excerpt: sent.excerpt.or_else(|| Some(post.excerpt.clone())),
            content: sent.content.or_else(|| Some(post.content.clone())),
            alt_text: sent.alt_text.or_else(alt),
            ..sent
        };
        let file_type =
            FileType { name: svc_media::edited_name(attached.original_name()), mime: post.mime_type.clone() };
        let folder = self.folder(req.cx(), None, &settings)?;
        let upload_store = UploadStore { cx: req.cx(), site: &self.site, settings: &settings };
        let metadata = ImageMetaSource::Copied(original_metadata(&attached, &post));
        let stored = upload_store
            .store(&folder, file_type, &Blob::Memory(edited.into()), metadata, Processing::default())
            .await?;
        draft.file = Some(stored.file);
        let id = self.attach(&req, draft, stored.written, settings).await?;
        self.created_with_header(&req, id, respond::view(&req)).await
    }
}

/// Whether uploads of a MIME type are rejected because no sizes can be generated. Still HEIC images and AVIF images are
/// accepted without sizes.
fn cannot_be_sized(mime: &str) -> bool {
    let is_accepted = matches!(mime, "image/heic" | "image/heif" | "image/avif" | "image/svg+xml");
    mime.starts_with("image/") && Format::of_mime(mime).is_none() && !is_accepted
}

/// The metadata of an edited copy: that of the original, and a reference to it.
fn original_metadata(attached: &AttachmentFiles, post: &Post) -> Map<String, Value> {
    let mut metadata = Map::new();
    if let Some(meta) = attached.details.as_ref().and_then(|d| d.get("image_meta")) {
        metadata.insert("image_meta".to_owned(), meta.clone());
    }
    let parent = json!({"attachment_id": post.id.to_string(), "file": attached.original()});
    metadata.insert("parent_image".to_owned(), parent);
    metadata
}

/// Adds sizes to the current metadata.
fn add_sizes(
    tx: &mut Tx,
    id: PostId,
    generated: &Map<String, Value>,
) -> std::result::Result<(), svc_store::StoreError> {
    let meta: Meta = meta::load_one(tx, MetaKind::Post, id.0)?;
    let mut details = AttachmentFiles::new(&meta).details.unwrap_or_default();
    let mut sizes = match details.get("sizes") {
        Some(Value::Object(sizes)) => sizes.clone(),
        _ => Map::new(),
    };
    sizes.extend(generated.clone());
    details.insert("sizes".to_owned(), Value::Object(sizes));
    meta::update(tx, MetaKind::Post, id.0, DETAILS, &upload_store::stored_details(details))?;
    Ok(())
}
