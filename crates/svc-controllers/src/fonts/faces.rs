//! Font faces: child posts of a font family. The content stores the settings as JSON; uploaded files are optional.

use std::sync::Arc;

use serde_json::{Map, Value, json};
use svc_model::{Post, PostId, PostType};
use svc_resource::{Fields, LazyTyped, View};
use svc_routing::{
    CREATABLE, Controller, DELETABLE, ExtraFields, File, Link, Links, Request, Response, Result, Route, get, on,
};
use svc_schema::{
    Arg, Args, Error, Schema,
    build::{integer, string},
};
use svc_site::{Access, Settings, Site, SiteResult, permalinks, posts::draft::PostDraft};
use svc_store::{
    StoredText, Tx,
    meta::{self, MetaKind},
    posts::{self as stored_posts, PostQuery},
};

use super::{errors, files, settings, theme_json_version};
use crate::encoded_items::{ItemReader, PreparedItem};
use crate::preconditions;
use crate::{
    RestSite,
    args::context_arg,
    caller,
    contexts::VIEW_EDIT_EMBED,
    errors::{post_not_found, trash_not_supported},
    posts::{
        Authorized, Posts,
        params::{self, PostList},
        rights::PostRights,
    },
    respond,
};

/// Post types of font faces and of their parents.
pub(super) const TYPE: &str = "wp_font_face";
const FAMILY: &str = "wp_font_family";

/// Meta key of the names of a face's uploaded files.
const FILE: &str = "_wp_font_face_file";

/// A font face with its decoded settings.
struct Face {
    post: Post,
    settings: Value,
}

#[rustfmt::skip]
fn fields(post_type: &PostType) -> Fields<Face, ()> {
    let mut f = Fields::<Face, ()>::new(&post_type.name);
    f.add("id", integer().describe("The font face's ID.").context(VIEW_EDIT_EMBED).readonly()).get(|f| f.post.id);
    f.add("theme_json_version", theme_json_version().context(VIEW_EDIT_EMBED)).get(|_| super::THEME_JSON_VERSION);
    f.add("parent", integer().describe("ID of the font family that the font face belongs to.").context(VIEW_EDIT_EMBED)).get(|f| f.post.parent);
    f.add("font_face_settings", settings::face_schema().describe("Settings of the font face, as in an `@font-face` rule.").context(VIEW_EDIT_EMBED).last(&["properties", "required", "additionalProperties"])).get(|f| f.settings.clone());
    f
}

/// The controller for font faces.
pub struct FontFaces {
    site: Arc<Site>,
    post_type: Arc<PostType>,
    posts: Arc<Posts>,
    fields: Fields<Face, ()>,
    /// Schemas of the known settings, by name.
    setting_schemas: Value,
    extra: ExtraFields,
}

impl FontFaces {
    /// The controller for this post type.
    pub fn new(rest: &Arc<RestSite>, post_type: &PostType, extra: &ExtraFields) -> Self {
        let listed = super::listed(params::params(&rest.site, post_type), &["slug"]);
        FontFaces {
            site: Arc::clone(&rest.site),
            posts: Arc::new(Posts::new(rest, post_type, extra).with_params(listed)),
            fields: fields(post_type).with_extra(extra, &post_type.name),
            post_type: Arc::new(post_type.clone()),
            setting_schemas: Value::from(settings::face_schema())["properties"].clone(),
            extra: extra.clone(),
        }
    }

    /// The collection route of a family's faces.
    fn route(&self, family: PostId) -> String {
        format!("/{}/font-families/{family}/font-faces", self.site.brand.namespace())
    }

    /// The ID of the request's font family.
    ///
    /// # Errors
    /// `errors::invalid_parent` when there is no such family.
    fn family(&self, req: &Request) -> Result<PostId> {
        let id = PostId(req.require("font_family_id")?);
        let found = self.site.read(req.cx(), |db| Ok(stored_posts::get(db, id)?))?;
        match found {
            Some(post) if post.post_type == FAMILY => Ok(id),
            _ => Err(errors::invalid_parent()),
        }
    }

    fn links(&self, post: &Post, settings: &Settings, access: &Access<'_>, req: &Request) -> Links {
        let rights = PostRights::of(&caller(req), access, post, &self.post_type, &[], false);
        let items = self.route(post.parent);
        let family = items.trim_end_matches("/font-faces");
        let collection = settings.urls.rest(&items);
        // A face cannot be updated, only deleted and created again.
        let methods = rights.allowed_methods().filter(|method| matches!(*method, "GET" | "DELETE"));
        let mut links = Links::new();
        links.add("self", Link::new(settings.urls.rest(&format!("{items}/{}", post.id))).allow(methods));
        links.add("collection", Link::new(&collection));
        links.add("parent", Link::new(settings.urls.rest(family)));
        links
    }

    async fn finish(&self, post: Post, req: &Request, view: &View) -> Result<Map<String, Value>> {
        let (id, settings) = (post.id, settings::stored_face(&post.content, &self.setting_schemas));
        let data = self.fields.plan(view).prepare(&Face { post, settings });
        respond::finish(&self.extra, &self.post_type.name, id.0, data, req, view).await
    }

    async fn show(&self, req: &Request, post: Post, view: View) -> Result<Response> {
        let links = if view.wants_links() {
            self.site.read(req.cx(), |db| {
                let settings = self.site.settings_in(db)?;
                let access = Access::of_posts(&self.site, &settings, db, std::slice::from_ref(&post))?;
                Ok(Some(self.links(&post, &settings, &access, req)))
            })?
        } else {
            None
        };
        Ok(respond::single(self.finish(post, req, &view).await?, links))
    }

    // List

    async fn can_list(self: Arc<Self>, req: Request) -> Result<LazyTyped<PostList>> {
        super::check_read(&self.site, &self.post_type, &req)?;
        Ok(self.posts.list_params(&req))
    }

    /// Lists the faces of all families, as WordPress does: the family in the path must exist but does not filter.
    async fn list(self: Arc<Self>, req: Request, list: LazyTyped<PostList>) -> Result<Response> {
        let family = self.family(&req)?;
        let items = ItemReader::uncached(&req);
        let prepare = async |req: Request, ids: &[i64]| self.prepare(&req, items.view(), ids).await;
        self.posts.list_of(&req, list, &items, &self.route(family), prepare).await
    }

    async fn prepare(&self, req: &Request, view: &View, ids: &[i64]) -> Result<Vec<PreparedItem>> {
        let rows: Vec<(Option<Links>, Post)> = self.posts.load_visible(req, ids, |_, settings, access, rows| {
            let links = |post: &Post| view.wants_links().then(|| self.links(post, settings, access, req));
            Ok(rows.into_iter().map(|post| (links(&post), post)).collect())
        })?;
        let mut prepared = Vec::with_capacity(rows.len());
        for (links, post) in rows {
            prepared.push(PreparedItem::new(post.id.0, self.finish(post, req, view).await?, links));
        }
        Ok(prepared)
    }

    // Fetch

    async fn can_fetch(self: Arc<Self>, req: Request) -> Result<Post> {
        super::readable(&self.site, &self.post_type, &req)
    }

    /// Fails unless the face belongs to the family in the path.
    fn check_family(&self, req: &Request, face: &Post) -> Result<()> {
        let family = self.family(req)?;
        if face.parent == family { Ok(()) } else { Err(errors::parent_mismatch()) }
    }

    async fn fetch(self: Arc<Self>, req: Request, post: Post) -> Result<Response> {
        self.check_family(&req, &post)?;
        self.show(&req, post, respond::view(&req)).await
    }

    // Create

    async fn can_create(self: Arc<Self>, req: Request) -> Result<()> {
        Arc::clone(&self.posts).can_create(req).await.map(drop)
    }

    async fn create(self: Arc<Self>, req: Request) -> Result<Response> {
        let family = self.family(&req)?;
        let text: String = req.require(settings::FACE)?;
        let input: Map<String, Value> = serde_json::from_str(&text).unwrap_or_default();
        let mut cleaned: Map<String, Value> =
            input.iter().map(|(name, value)| (name.clone(), settings::clean(name, value))).collect();
        let identity = settings::identity(&cleaned);
        let same = PostQuery::default()
            .post_types(vec![self.post_type.name.clone()])
            .title(Some(identity.clone()))
            .limit(Some(1));
        if !self.site.read(req.cx(), |db| Ok(stored_posts::query(db, &same)?))?.ids.is_empty() {
            return Err(errors::duplicate_face());
        }
        let names = self.store_files(&req, &input, &mut cleaned).await?;
        // A list of one source is stored as a string.
        if let Some(Value::Array(sources)) = cleaned.get_mut("src")
            && sources.len() == 1
            && let Some(only) = sources.pop()
        {
            cleaned.insert("src".to_owned(), only);
        }
        let draft = PostDraft {
            title: Some(identity),
            status: Some("publish".to_owned()),
            parent: Some(family.0),
            content: Some(svc_php::json::encode(&Value::Object(cleaned))),
            ..PostDraft::default()
        };
        let job = self.posts.job(caller(&req), draft, None, self.site.settings(req.cx())?);
        let stored = names.clone();
        let written = self
            .site
            .write(req.cx(), move |tx| {
                if !stored_posts::query(tx, &same)?.ids.is_empty() {
                    return Err(errors::duplicate_face().into());
                }
                let id = job.run(tx)?;
                let names: Vec<StoredText> = stored.iter().map(StoredText::of).collect();
                let rows: Vec<(&str, &StoredText)> = names.iter().map(|name| (FILE, name)).collect();
                if !rows.is_empty() {
                    meta::add_many(tx, MetaKind::Post, id.0, &rows)?;
                }
                Ok(id)
            })
            .await;
        let id = match written {
            Ok(id) => id,
            Err(error) => {
                super::remove_files(&self.site, names).await;
                return Err(error);
            }
        };
        self.posts.update_extra(id, &req).await?;
        // WordPress puts the route's pattern, not the family's ID, into this URL.
        let settings = self.site.settings(req.cx())?;
        let location = settings.urls.rest(&permalinks::rest_route_of(&self.site, &settings, &self.post_type, id));
        let response = self.show(&req, self.posts.saved(req.cx(), id)?, respond::edit_view(&req)).await?;
        Ok(response.status(201).header("Location", location))
    }

    /// Stores the uploaded files that `src` names and replaces their field names in `cleaned` by URLs. Returns the stored
    /// file names. On an error no file remains.
    async fn store_files(
        &self,
        req: &Request,
        input: &Map<String, Value>,
        cleaned: &mut Map<String, Value>,
    ) -> Result<Vec<String>> {
        if req.files().is_empty() {
            return Ok(Vec::new());
        }
        let base = format!("{}/fonts", self.site.settings(req.cx())?.stored_uploads_url());
        let (mut names, mut sources) = (Vec::new(), Vec::new());
        for source in settings::sources(input) {
            match req.file(&source) {
                None => sources.push(settings::clean("src", &source.into())),
                Some(file) => match self.store_file(file.clone()).await {
                    Ok(name) => {
                        sources.push(format!("{base}/{name}").into());
                        names.push(name);
                    }
                    Err(error) => {
                        super::remove_files(&self.site, names).await;
                        return Err(error);
                    }
                },
            }
        }
        cleaned.insert("src".to_owned(), Value::Array(sources));
        Ok(names)
    }

    async fn store_file(&self, file: File) -> Result<String> {
        let folder = files::folder(&self.site.content_dir);
        let upload_failed =
            || Error::new("rest_font_upload_unknown_error", "The font could not be stored.").with_status(500);
        tokio::task::spawn_blocking(move || files::store(&file, &folder)).await.map_err(|_| upload_failed())?
    }

    // Delete

    async fn can_delete(self: Arc<Self>, req: Request) -> Result<Authorized> {
        Arc::clone(&self.posts).can_delete(req).await
    }

    async fn delete(self: Arc<Self>, req: Request, authorized: Authorized) -> Result<Response> {
        self.check_family(&req, &authorized.post)?;
        if !respond::is_forced(&req)? {
            return Err(trash_not_supported());
        }
        let id = authorized.post.id;
        let previous = self.show(&req, authorized.post, respond::previous_view(&req, "view")).await?;
        let files = self.site.write(req.cx(), move |tx| remove(tx, &[id])).await?;
        super::remove_files(&self.site, files).await;
        Ok(respond::deleted(previous.data))
    }
}

impl Controller for FontFaces {
    #[rustfmt::skip]
    fn routes(&self) -> Vec<Route<Self>> {
        let base = &self.post_type.rest_base;
        let schema = Schema::compile(self.fields.item_schema());
        let shape = Schema::compile(settings::face_schema().into());
        let family = || ("font_family_id", integer().describe("ID of the font family that the font face belongs to.").required());
        let id = ("id", integer().describe("The font face's ID.").required());
        let text = string().describe("Settings of the font face, as a JSON string.").required();
        let force = crate::args::force("Must be true, because fonts cannot be moved to the trash.");
        let site = Arc::clone(&self.site);
        vec![
            Route::new(format!("/{base}"))
                .schema(schema.clone())
                .args(Args::from([family()]))
                .endpoint(get(Self::list, Self::can_list).args(self.posts.query_args()))
                .endpoint(on(CREATABLE, Self::create, Self::can_create)
                    .args(Args::new().with("theme_json_version", Arg::new(theme_json_version())).with(settings::FACE, Arg::new(text)))
                    .example(json!({settings::FACE: json!({"fontFamily": "Open Sans", "src": "https://example.org/open-sans.woff2"}).to_string()}))
                    .validate_arg(settings::FACE, move |req, text| check(&site, req, text, &shape))),
            Route::new(format!(r"/{base}/(?P<id>[\d]+)"))
                .conditional(preconditions::on_post(&self.site))
                .schema(schema)
                .args(Args::from([family(), id]))
                .endpoint(get(Self::fetch, Self::can_fetch).args(Args::from([("context", context_arg())])))
                .endpoint(on(DELETABLE, Self::delete, Self::can_delete).args(Args::from([("force", force)]))),
        ]
    }
}

/// Validates the settings of a create request.
fn check(site: &Site, req: &Request, text: &Value, shape: &Schema) -> Result<bool> {
    let input = settings::parse(text, shape, settings::FACE)?;
    let files: Vec<&str> = req.files().iter().map(|file| file.field.as_str()).collect();
    settings::check_face(&input, &files, site.settings(req.cx())?.option("home"))?;
    Ok(true)
}

/// Deletes the posts of these faces. Returns the names of their files, to be removed after the transaction is committed.
///
/// # Errors
/// Database errors.
pub(super) fn remove(tx: &mut Tx, faces: &[PostId]) -> SiteResult<Vec<String>> {
    let ids: Vec<i64> = faces.iter().map(|id| id.0).collect();
    let metas = meta::load(tx, MetaKind::Post, &ids)?;
    for face in faces {
        stored_posts::delete(tx, *face)?.ok_or_else(post_not_found)?;
    }
    Ok(metas.values().flat_map(|meta| meta.all(FILE).iter().map(|name| name.text().to_owned())).collect())
}
