//! Font families: posts of type `wp_font_family`. The content stores the settings as JSON.

use std::{collections::HashMap, sync::Arc};

use serde_json::{Map, Value, json};
use svc_model::{Post, PostId, PostType};
use svc_resource::{Fields, LazyTyped, View};
use svc_routing::{
    CREATABLE, Controller, DELETABLE, EDITABLE, ExtraFields, Link, Links, Method, Request, Response, Result, Route,
    get, on,
};
use svc_schema::{
    Arg, Args, Sanitizer, Schema,
    build::{array, integer, object, string},
};
use svc_site::{Access, Settings, Site, SiteResult, permalinks, posts::draft::PostDraft};
use svc_store::{Db, Tx, posts as stored_posts};

use super::{errors, faces, settings, theme_json_version};
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

/// A font family with everything that its fields read.
struct Family {
    post: Post,
    /// Settings from the post's content.
    settings: Map<String, Value>,
    faces: Vec<PostId>,
}

impl Family {
    fn text(&self, name: &str) -> String {
        self.settings.get(name).map(|text| svc_php::cast::to_text(text).into_owned()).unwrap_or_default()
    }
}

#[rustfmt::skip]
fn fields(post_type: &PostType) -> Fields<Family, ()> {
    let mut f = Fields::<Family, ()>::new(&post_type.name);
    let settings_schema = |about: &str| {
        object([("", Value::Null); 0]).describe(about).context(VIEW_EDIT_EMBED).keyword("properties", json!({})).keyword("required", json!(["name", "slug", "fontFamily"])).additional_properties(false)
    };
    f.add("id", integer().describe("The font family's ID.").context(VIEW_EDIT_EMBED).readonly()).get(|f| f.post.id);
    f.add("theme_json_version", theme_json_version().context(VIEW_EDIT_EMBED)).get(|_| super::THEME_JSON_VERSION);
    f.add("font_faces", array(integer()).describe("IDs of the family's font faces.").context(VIEW_EDIT_EMBED).last(&["items"])).get(|f| f.faces.iter().map(|id| Value::from(*id)).collect::<Value>());
    let settings = f.add("font_family_settings", settings_schema("Settings of the font family."));
    settings.subfield("name", string().describe("Display name of the font family.")).get(|f| f.post.title.clone());
    settings.subfield("slug", string().describe("The font family's slug.")).get(|f| f.post.slug.clone());
    settings.subfield("fontFamily", string().describe("Value of the CSS `font-family` property.")).get(|f| f.text("fontFamily"));
    settings.subfield("preview", string().describe("URL of a preview image of the font family.").format("uri").default("")).get(|f| f.text("preview"));
    f
}

/// The controller for font families.
pub struct FontFamilies {
    site: Arc<Site>,
    post_type: Arc<PostType>,
    posts: Arc<Posts>,
    fields: Fields<Family, ()>,
    extra: ExtraFields,
}

impl FontFamilies {
    /// The controller for this post type.
    pub fn new(rest: &Arc<RestSite>, post_type: &PostType, extra: &ExtraFields) -> Self {
        let listed = super::listed(params::params(&rest.site, post_type), &[]);
        FontFamilies {
            site: Arc::clone(&rest.site),
            posts: Arc::new(Posts::new(rest, post_type, extra).with_params(listed)),
            fields: fields(post_type).with_extra(extra, &post_type.name),
            post_type: Arc::new(post_type.clone()),
            extra: extra.clone(),
        }
    }

    /// Loads the faces of these families with one query, and builds the links if they are requested.
    fn load(
        &self,
        db: &mut Db,
        settings: &Settings,
        access: &Access<'_>,
        rows: Vec<Post>,
        req: &Request,
        view: &View,
    ) -> SiteResult<Vec<(Family, Option<Links>)>> {
        let caller = caller(req);
        let ids: Vec<PostId> = rows.iter().map(|p| p.id).collect();
        let mut faces: HashMap<PostId, Vec<PostId>> = HashMap::new();
        for (family, face) in stored_posts::children(db, &ids, faces::TYPE)? {
            faces.entry(family).or_default().push(face);
        }
        let urls = &settings.urls;
        let items = self.site.route_of_type(&self.post_type);
        let collection = urls.rest(&items);
        let item = |post: Post| {
            let faces = faces.remove(&post.id).unwrap_or_default();
            let links = view.wants_links().then(|| {
                let rights = PostRights::of(&caller, access, &post, &self.post_type, &[], false);
                let own = permalinks::rest_route_of(&self.site, settings, &self.post_type, post.id);
                let mut links = Links::new();
                links.add("self", Link::new(urls.rest(&own)).allow(rights.allowed_methods()));
                links.add("collection", Link::new(&collection));
                for face in &faces {
                    let route = format!("{items}/{}/font-faces/{face}", post.id);
                    links.add("font_faces", Link::new(urls.rest(&route)).embeddable());
                }
                links
            });
            (Family { settings: super::stored(&post), faces, post }, links)
        };
        Ok(rows.into_iter().map(item).collect())
    }

    async fn finish(&self, family: &Family, req: &Request, view: &View) -> Result<Map<String, Value>> {
        let data = self.fields.plan(view).prepare(family);
        respond::finish(&self.extra, &self.post_type.name, family.post.id.0, data, req, view).await
    }

    async fn show(&self, req: &Request, post: Post, view: View) -> Result<Response> {
        let loaded = self.site.read(req.cx(), |db| {
            let settings = self.site.settings_in(db)?;
            let access = Access::of_posts(&self.site, &settings, db, std::slice::from_ref(&post))?;
            Ok(self.load(db, &settings, &access, vec![post], req, &view)?.pop())
        })?;
        let Some((family, links)) = loaded else { return Err(post_not_found()) };
        Ok(respond::single(self.finish(&family, req, &view).await?, links))
    }

    // List

    async fn can_list(self: Arc<Self>, req: Request) -> Result<LazyTyped<PostList>> {
        super::check_read(&self.site, &self.post_type, &req)?;
        Ok(self.posts.list_params(&req))
    }

    async fn list(self: Arc<Self>, req: Request, list: LazyTyped<PostList>) -> Result<Response> {
        let items = ItemReader::uncached(&req);
        let prepare = async |req: Request, ids: &[i64]| self.prepare(&req, items.view(), ids).await;
        self.posts.list_of(&req, list, &items, &self.site.route_of_type(&self.post_type), prepare).await
    }

    async fn prepare(&self, req: &Request, view: &View, ids: &[i64]) -> Result<Vec<PreparedItem>> {
        let load = |db: &mut Db, settings: &Arc<Settings>, access: &Access<'_>, rows| {
            self.load(db, settings, access, rows, req, view)
        };
        let families = self.posts.load_visible(req, ids, load)?;
        let mut prepared = Vec::with_capacity(families.len());
        for (family, links) in families {
            prepared.push(PreparedItem::new(family.post.id.0, self.finish(&family, req, view).await?, links));
        }
        Ok(prepared)
    }

    // Fetch

    async fn can_fetch(self: Arc<Self>, req: Request) -> Result<Post> {
        super::readable(&self.site, &self.post_type, &req)
    }

    async fn fetch(self: Arc<Self>, req: Request, post: Post) -> Result<Response> {
        self.show(&req, post, respond::view(&req)).await
    }

    // Create

    async fn can_create(self: Arc<Self>, req: Request) -> Result<()> {
        Arc::clone(&self.posts).can_create(req).await.map(drop)
    }

    async fn create(self: Arc<Self>, req: Request) -> Result<Response> {
        let input: Map<String, Value> = read_settings(&req);
        let slug = svc_text::sanitize_title(&svc_php::cast::to_text(&input["slug"]));
        let (post_type, new_slug) = (self.post_type.name.clone(), slug.clone());
        let draft = draft(&input, Some(slug), Map::new());
        let job = self.posts.job(caller(&req), draft, None, self.site.settings(req.cx())?);
        let id = self
            .site
            .write(req.cx(), move |tx| {
                if !stored_posts::by_slug(tx, &new_slug, &[&post_type])?.is_empty() {
                    return Err(errors::duplicate_family(&new_slug).into());
                }
                job.run(tx)
            })
            .await?;
        self.posts.update_extra(id, &req).await?;
        let settings = self.site.settings(req.cx())?;
        let location = settings.urls.rest(&permalinks::rest_route_of(&self.site, &settings, &self.post_type, id));
        let response = self.show(&req, self.posts.saved(req.cx(), id)?, respond::edit_view(&req)).await?;
        Ok(response.status(201).header("Location", location))
    }

    // Update

    async fn can_update(self: Arc<Self>, req: Request) -> Result<Authorized> {
        Ok(Arc::clone(&self.posts).can_update(req).await?.authorized)
    }

    async fn update(self: Arc<Self>, req: Request, authorized: Authorized) -> Result<Response> {
        let input: Map<String, Value> = read_settings(&req);
        let id = authorized.post.id;
        let (posts, caller, settings) = (Arc::clone(&self.posts), caller(&req), self.site.settings(req.cx())?);
        let update = move |tx: &mut Tx| {
            let post = stored_posts::get(tx, id)?.ok_or_else(post_not_found)?;
            let stored = super::stored(&post);
            let text = |name: &str| stored.get(name).filter(|text| svc_php::cast::truthy(text)).cloned();
            let previous =
                ["fontFamily", "preview"].map(|name| (name.to_owned(), text(name).unwrap_or_else(|| json!(""))));
            let previous = previous.into_iter().collect();
            posts.job(caller.clone(), draft(&input, None, previous), Some(id), Arc::clone(&settings)).run(tx)
        };
        self.site.write(req.cx(), update).await?;
        self.posts.update_extra(id, &req).await?;
        self.show(&req, self.posts.saved(req.cx(), id)?, respond::edit_view(&req)).await
    }

    // Delete

    async fn can_delete(self: Arc<Self>, req: Request) -> Result<Authorized> {
        Arc::clone(&self.posts).can_delete(req).await
    }

    /// Deletes a family, its faces and their files.
    async fn delete(self: Arc<Self>, req: Request, authorized: Authorized) -> Result<Response> {
        if !respond::is_forced(&req)? {
            return Err(trash_not_supported());
        }
        let id = authorized.post.id;
        let previous = self.show(&req, authorized.post, respond::previous_view(&req, "view")).await?;
        let files = self
            .site
            .write(req.cx(), move |tx| {
                let faces: Vec<PostId> =
                    stored_posts::children(tx, &[id], faces::TYPE)?.into_iter().map(|(_, face)| face).collect();
                let files = faces::remove(tx, &faces)?;
                stored_posts::delete(tx, id)?.ok_or_else(post_not_found)?;
                Ok(files)
            })
            .await?;
        super::remove_files(&self.site, files).await;
        Ok(respond::deleted(previous.data))
    }
}

impl Controller for FontFamilies {
    #[rustfmt::skip]
    fn routes(&self) -> Vec<Route<Self>> {
        let base = &self.post_type.rest_base;
        let schema = Schema::compile(self.fields.item_schema());
        let shape = Schema::compile(settings::family_schema().into());
        let text = || string().describe("Settings of the font family, as a JSON string.").required();
        let version = || Arg::new(theme_json_version());
        let id = integer().describe("The font family's ID.");
        let force = crate::args::force("Must be true, because fonts cannot be moved to the trash.");
        let (creates, part) = (shape.clone(), Schema::compile(settings::family_part_schema().into()));
        // Valid values depend on the method: see `check_change`.
        let changed = Arg { sanitize: Sanitizer::None, ..Arg::new(text()) };
        let whole = json!({"name": "Open Sans", "slug": "open-sans", "fontFamily": "'Open Sans', serif"});
        vec![
            Route::new(format!("/{base}"))
                .schema(schema.clone())
                .endpoint(get(Self::list, Self::can_list).args(self.posts.query_args()))
                .endpoint(on(CREATABLE, Self::create, Self::can_create)
                    .args(Args::new().with("theme_json_version", version()).with(settings::FAMILY, Arg::new(text())))
                    .example(json!({settings::FAMILY: json!({"name": "Open Sans", "slug": "open-sans", "fontFamily": "'Open Sans', sans-serif"}).to_string()}))
                    .validate_arg(settings::FAMILY, move |_, text| check(text, &creates))),
            Route::new(format!(r"/{base}/(?P<id>[\d]+)"))
                .conditional(preconditions::on_post(&self.site))
                .schema(schema)
                .args(Args::from([("id", id)]))
                .endpoint(get(Self::fetch, Self::can_fetch).args(Args::from([("context", context_arg())])))
                .endpoint(on(EDITABLE, Self::update, Self::can_update)
                    .args(Args::new().with("theme_json_version", version()).with(settings::FAMILY, changed))
                    .example(json!({settings::FAMILY: json!({"name": "Open Sans Display"}).to_string()}))
                    .example_for(Method::PUT, json!({settings::FAMILY: whole.clone()}))
                    .example_for(Method::PATCH, json!({settings::FAMILY: whole}))
                    .validate_arg(settings::FAMILY, move |req, value| check_change(req, value, &shape, &part)))
                .endpoint(on(DELETABLE, Self::delete, Self::can_delete).args(Args::from([("force", force)]))),
        ]
    }
}

/// Validates the settings of a create request.
fn check(text: &Value, shape: &Schema) -> Result<bool> {
    settings::check_family(&settings::parse(text, shape, settings::FAMILY)?)?;
    Ok(true)
}

/// Validates the settings of an update request. With POST they are a JSON string of the changed settings; with PUT and
/// PATCH they are an object with all settings, because WordPress rejects strings there.
fn check_change(req: &Request, value: &Value, whole: &Schema, part: &Schema) -> Result<bool> {
    // The empty text passes as an object, but it is not JSON.
    if req.method() != Method::POST && value.as_str() != Some("") {
        return whole.validate(value, settings::FAMILY).map(|()| true);
    }
    settings::check_family_change(&settings::parse(value, part, settings::FAMILY)?)?;
    Ok(true)
}

/// The validated settings of a request, which are a JSON string or an object.
fn read_settings(req: &Request) -> Map<String, Value> {
    match req.param(settings::FAMILY) {
        Some(Value::String(text)) => serde_json::from_str(text).unwrap_or_default(),
        Some(Value::Object(settings)) => settings.clone(),
        _ => Map::new(),
    }
}

/// The draft that merges these settings into `previous`, the stored ones.
fn draft(input: &Map<String, Value>, slug: Option<String>, previous: Map<String, Value>) -> PostDraft {
    let mut content = previous;
    for (name, value) in input.iter().filter(|(name, _)| ["fontFamily", "preview"].contains(&name.as_str())) {
        content.insert(name.clone(), settings::clean(name, value));
    }
    PostDraft {
        title: input.get("name").map(|name| svc_text::sanitize_text_field(&svc_php::cast::to_text(name))),
        slug,
        status: Some("publish".to_owned()),
        content: Some(svc_php::json::encode(&Value::Object(content))),
        ..PostDraft::default()
    }
}
