//! Posts of each type: list, create, fetch, update, delete.
//!
//! The model for other families: `fields` and `params` define the fields and parameters, `load` loads the data of a
//! page in a fixed number of queries, `write` stores changes. This module contains the routes and, for each operation,
//! its permission check and handler.

pub(crate) mod attachment;
mod autosave;
mod blocks;
pub(crate) mod fields;
pub(crate) mod item;
mod links;
mod list;
mod load;
mod markdown;
mod meta_filter;
pub(crate) mod params;
mod restricted;
pub(crate) mod rights;
pub(crate) mod validators;
pub(crate) mod write;

use std::sync::Arc;

use serde_json::{Value, json};
use svc_auth::{Caller, caps::PostCap};
use svc_model::{Post, PostId, PostType, RouteFamily};
use svc_render::blocks::EXCERPT_WORDS;
use svc_render::feeds::{MissingFeeds, with_cached_feeds, with_feeds};
use svc_resource::{Fields, LazyTyped, Params, Typed, View};
use svc_routing::{CREATABLE, Controller, DELETABLE, EDITABLE, ExtraFields, Request, Response, Result, Route, get, on};
use svc_schema::{
    Arg, Args, MethodKind, Schema,
    build::{integer, string},
};
use svc_site::{
    Access, Settings, Site,
    access::CapabilityData,
    languages::Languages,
    permalinks,
    posts::{delete, draft::PostDraft},
    preview_links::Preview,
};
use svc_store::{get_or_load, posts};
use svc_versions::Context;

use self::{fields::PostFields, load::PostLoader, params::PostList};
use crate::{
    RestSite,
    args::context_arg,
    caller, cost, errors,
    item_cache::FamilyId,
    preconditions, preview,
    request::{is_read, only_reads},
    respond,
};

pub(crate) use item::LoadedPost;
pub(crate) use rights::PostRights;

/// Maximum length of generated excerpts, in words.
const MAX_EXCERPT_WORDS: i64 = 1_000;

/// The family of one post type.
pub struct Posts {
    site: Arc<Site>,
    rest: Arc<RestSite>,
    post_type: Arc<PostType>,
    fields: PostFields,
    params: Params<PostList>,
    extra: ExtraFields,
    family: FamilyId,
}

impl Posts {
    /// The family of this type.
    pub fn new(rest: &Arc<RestSite>, post_type: &PostType, extra: &ExtraFields) -> Self {
        Posts {
            site: Arc::clone(&rest.site),
            rest: Arc::clone(rest),
            fields: fields::fields(&rest.site, post_type).with_extra(extra, &post_type.name),
            params: params::params(&rest.site, post_type),
            post_type: Arc::new(post_type.clone()),
            extra: extra.clone(),
            family: rest.item_cache.new_family(),
        }
    }

    /// Replaces the parameters of the list.
    pub(crate) fn with_params(self, params: Params<PostList>) -> Self {
        Posts { params, ..self }
    }

    /// Replaces the fields and the parameters of the list.
    pub(crate) fn with_tables(self, fields: PostFields, params: Params<PostList>) -> Self {
        Posts { fields: fields.with_extra(&self.extra, &self.post_type.name), params, ..self }
    }

    /// Adds the fields and the parameter of a type whose posts have these languages.
    pub(crate) fn with_languages(mut self, languages: Option<&Arc<Languages>>) -> Self {
        if let Some(languages) = languages {
            fields::add_languages(&mut self.fields, languages);
            params::add_languages(&mut self.params, languages);
        }
        self
    }

    /// The fields of the type.
    pub(crate) fn fields(&self) -> &PostFields {
        &self.fields
    }

    /// The arguments of the list.
    pub(crate) fn query_args(&self) -> Args {
        self.params.query_args()
    }

    /// The arguments of the list, with those of blocks as data.
    fn list_args(&self) -> Args {
        let args = self.query_args();
        if self.fields.has("content") { args.with(blocks::PARAM, blocks::list_arg()) } else { args }
    }

    /// The arguments of a request that writes, with the blocks.
    fn write_args(&self, kind: MethodKind) -> Args {
        let args = self.fields.args(kind);
        if self.fields.has("content") { args.with(blocks::FIELD, blocks::write_arg()) } else { args }
    }

    /// The parameters of a request for a list.
    pub(crate) fn list_params(self: &Arc<Self>, req: &Request) -> LazyTyped<PostList> {
        let (posts, req) = (Arc::clone(self), req.clone());
        LazyTyped::new(move || posts.params.typed(&req))
    }

    /// Arguments of a request for one post.
    fn item_args(&self) -> Args {
        let password = ("password", Arg::from(string().describe("Password of the post, if it is protected.")));
        let length = ("excerpt_length", Arg::from(integer().describe("Length of a generated excerpt, in words.")));
        let length = self.fields.has("excerpt").then_some(length);
        let blocks = self.fields.has("content").then(|| (blocks::PARAM, blocks::arg()));
        [("context", context_arg())].into_iter().chain(length).chain([password]).chain(blocks).collect()
    }
}

impl Controller for Posts {
    fn routes(&self) -> Vec<Route<Self>> {
        let base = &self.post_type.rest_base;
        let schema = Schema::compile(self.fields.item_schema());
        let id = Args::from([("id", integer().describe("The post's ID."))]);
        let force = crate::args::force("Whether to delete permanently instead of moving to the trash.");
        vec![
            Route::new(format!("/{base}"))
                .schema(schema.clone())
                .allow_batch()
                .endpoint(
                    get(Self::list, Self::can_list)
                        .cacheable()
                        .cost(cost::of_list)
                        .args(self.list_args())
                        .sanitize_arg("status", validators::statuses(&self.site, &self.post_type)),
                )
                .endpoint(
                    on(CREATABLE, Self::create, Self::can_create)
                        .args(self.write_args(MethodKind::Creatable))
                        .example(fields::example(&self.fields.args(MethodKind::Creatable), fields::NEW))
                        .validate_arg("status", validators::status(&self.site, &self.post_type))
                        .validate_arg("template", validators::template(&self.site, &self.post_type)),
                ),
            Route::new(format!(r"/{base}/(?P<id>[\d]+)"))
                .conditional(preconditions::on_post(&self.site))
                .schema(schema)
                .args(id)
                .allow_batch()
                .endpoint(get(Self::fetch, Self::can_fetch).cacheable().markdown().args(self.item_args()))
                .endpoint(
                    on(EDITABLE, Self::update, Self::can_update)
                        .args(self.write_args(MethodKind::Editable))
                        .example(fields::example(&self.fields.args(MethodKind::Editable), fields::CHANGED))
                        .validate_arg("status", validators::status(&self.site, &self.post_type))
                        .validate_arg("template", validators::template(&self.site, &self.post_type)),
                )
                .endpoint(on(DELETABLE, Self::delete, Self::can_delete).args(Args::from([("force", force)]))),
        ]
    }
}

/// A post, the site's options in the same snapshot, and the data for its permission checks.
struct PostAccess {
    post: Post,
    settings: Arc<Settings>,
    capability_data: CapabilityData,
}

/// A post that passed its permission check, with the options that the check used.
pub(crate) struct Authorized {
    /// The post.
    pub(crate) post: Post,
    /// The site's options.
    pub(crate) settings: Arc<Settings>,
    /// Whether a preview link shows the post, which may have the texts of a revision.
    pub(crate) is_preview: bool,
}

/// A post that the caller may change, and what the request changes.
pub(crate) struct AuthorizedChange<D = PostDraft> {
    /// The post.
    pub(crate) authorized: Authorized,
    /// The changes.
    pub(crate) draft: Typed<D>,
}

impl Posts {
    /// A post of this type, or 404. Cached for the request, because the permission checks of all methods run for
    /// `Allow`.
    fn find(&self, req: &Request) -> Result<Arc<PostAccess>> {
        // Autosave routes do not declare the argument `id`, so it may be text.
        let id = req.param("id").map_or(0, svc_php::cast::to_int);
        let found = get_or_load(req.cx(), id, || {
            self.site.read(req.cx(), |db| {
                let found = if id > 0 { posts::get(db, PostId(id))? } else { None };
                let post = found.ok_or_else(errors::post_not_found)?;
                let settings = self.site.settings_in(db)?;
                let capability_data = CapabilityData::load(db, std::slice::from_ref(&post))?;
                Ok(Arc::new(PostAccess { post, settings, capability_data }))
            })
        })?;
        if found.post.post_type == self.post_type.name { Ok(found) } else { Err(errors::post_not_found()) }
    }

    /// The post of the request, if `authorize` accepts it.
    pub(crate) fn authorized(
        &self,
        req: &Request,
        authorize: impl FnOnce(&Caller, &Access<'_>, &Post) -> Result<()>,
    ) -> Result<Authorized> {
        let found = self.find(req)?;
        let PostAccess { post, settings, capability_data } = &*found;
        authorize(&caller(req), &Access::with_data(&self.site, settings, capability_data.clone()), post)?;
        Ok(Authorized { post: post.clone(), settings: Arc::clone(settings), is_preview: false })
    }

    /// Whether a caller has a capability of the type, which may be mapped to another one.
    fn has_cap(&self, cx: &Context, caller: &Caller, cap: &str) -> Result<bool> {
        Ok(Access::new(&self.site, &*self.site.settings(cx)?).can(caller, cap))
    }

    fn loader<'a>(&'a self, settings: &'a Arc<Settings>, caller: &'a Caller, view: &'a View) -> PostLoader<'a> {
        PostLoader {
            site: &self.site,
            renderer: &self.rest.renderer,
            settings,
            post_type: &self.post_type,
            caller,
            view,
            password: String::new(),
            excerpt_length: EXCERPT_WORDS,
            req: None,
            missing: MissingFeeds::default(),
            records_items: true,
        }
    }

    /// Arguments of a request that creates or updates a post.
    pub(crate) fn args(&self, kind: MethodKind) -> Args {
        self.fields.args(kind)
    }

    /// Adds additional fields to a prepared post.
    async fn finish(
        &self,
        id: PostId,
        mut item: svc_routing::Map,
        req: &Request,
        view: &View,
    ) -> Result<svc_routing::Map> {
        if self.post_type.route_family == RouteFamily::Blocks {
            move_sync_status(&mut item, view);
        }
        respond::finish(&self.extra, &self.post_type.name, id.0, item, req, view).await
    }

    /// A response with one post, as the caller may read it.
    pub(crate) async fn show(&self, req: &Request, post: Post, view: View) -> Result<Response> {
        self.show_with_password(req, post, view, query_password(req)).await
    }

    /// A response with one post, as a caller with this password may read it.
    async fn show_with_password(&self, req: &Request, post: Post, view: View, password: String) -> Result<Response> {
        let caller = caller(req);
        let plan = self.fields.plan(&view);
        let excerpt: Option<i64> = req.arg("excerpt_length")?;
        let load = |missing: &MissingFeeds| {
            self.site.read(req.cx(), |db| {
                let settings = self.site.settings_in(db)?;
                let access = Access::of_posts(&self.site, &settings, db, std::slice::from_ref(&post))?;
                let mut loader = self.loader(&settings, &caller, &view);
                loader.password.clone_from(&password);
                loader.req = Some(req);
                loader.missing = missing.clone();
                if let Some(words) = excerpt {
                    loader.excerpt_length = usize::try_from(words.clamp(0, MAX_EXCERPT_WORDS)).unwrap_or(EXCERPT_WORDS);
                }
                loader.load(db, &access, vec![post.clone()], &plan)
            })
        };
        // Responses to writes do not wait for feeds of other sites.
        let mut loaded = if is_read(req) {
            with_feeds(req.cx(), &self.rest.renderer, load).await?
        } else {
            with_cached_feeds(req.cx(), &self.rest.renderer, load)?
        };
        attachment::measure(req.cx(), &self.site, &mut loaded, &plan).await?;
        let Some(LoadedPost { item, links }) = loaded.pop() else { return Err(errors::post_not_found()) };
        let mut data = plan.prepare(&item);
        self.add_blocks(&mut data, &item, req, &view)?;
        Ok(respond::single(self.finish(item.post.id, data, req, &view).await?, links))
    }

    // List

    pub(crate) async fn can_list(self: Arc<Self>, req: Request) -> Result<LazyTyped<PostList>> {
        let list = self.list_params(&req);
        if self.site.policies.users.hides_from(&caller(&req))
            && let Some(name) = params::param_about_users(list.get())
        {
            return Err(errors::hidden_users(&req, name));
        }
        if req.context() == "edit" && !self.has_cap(req.cx(), &caller(&req), &self.post_type.caps.edit_posts)? {
            return Err(errors::forbidden_context(&req));
        }
        Ok(list)
    }

    // Fetch

    pub(crate) async fn can_fetch(self: Arc<Self>, req: Request) -> Result<Authorized> {
        if let Some(Preview { post, .. }) = preview::of_request(&self.site, &self.post_type, &req)? {
            if post.id.0 != respond::number(&req, "id") {
                return Err(preview::invalid_token());
            }
            let settings = self.site.settings(req.cx())?;
            return Ok(Authorized { post, settings, is_preview: true });
        }
        let password = query_password(&req);
        self.authorized(&req, |caller, access, post| {
            if req.context() == "edit" && !caller.can_post(PostCap::Edit, post, access) {
                return Err(errors::forbidden_context(&req));
            }
            if !password.is_empty() && !same_secret(&password, &post.password) {
                return Err(errors::incorrect_password());
            }
            if access.can_read(caller, post) { Ok(()) } else { Err(errors::forbidden(&req)) }
        })
    }

    pub(crate) async fn fetch(self: Arc<Self>, req: Request, authorized: Authorized) -> Result<Response> {
        let view = respond::view(&req);
        if authorized.is_preview {
            let password = authorized.post.password.clone();
            let response = self.show_with_password(&req, authorized.post, view, password).await?;
            return Ok(preview::protect(response));
        }
        if markdown::is_wanted(&req) && self.fields.has("content") {
            return self.fetch_markdown(&req, authorized.post).await;
        }
        let alternate = authorized.post.clone();
        let items = self.reader(&req);
        let prepare = async |req: Request, ids: &[i64]| self.prepare(&req, items.view(), ids).await;
        // Excerpts of another length are not in the cached items.
        let cached = match req.has_param("excerpt_length") {
            true => None,
            false => items.cached_item(authorized.post.id.0, prepare).await?,
        };
        let response = match cached {
            Some(response) => response,
            None => self.show(&req, authorized.post, view).await?,
        };
        if self.post_type.is_viewable() {
            let href = self.permalink(req.cx(), &authorized.settings, &caller(&req), alternate)?;
            return Ok(response.link_header("alternate", &href, &[("type", "text/html")]));
        }
        Ok(response)
    }

    /// The URL of a post for this caller.
    pub(crate) fn permalink(
        &self,
        cx: &Context,
        settings: &Arc<Settings>,
        caller: &Caller,
        post: Post,
    ) -> Result<String> {
        let view = View::all_of("view").only(&["link"]);
        let plan = self.fields.plan(&view);
        let loader = self.loader(settings, caller, &view);
        let access = Access::new(&self.site, settings);
        let loaded = self.site.read(cx, |db| loader.load(db, &access, vec![post], &plan))?;
        Ok(loaded.first().map(|l| l.item.link()).unwrap_or_default())
    }

    // Create

    pub(crate) async fn can_create(self: Arc<Self>, req: Request) -> Result<Typed<PostDraft>> {
        self.authorize_create(&req, &self.fields)
    }

    /// Checks that the caller may create the post of the request, converted with this table.
    pub(crate) fn authorize_create<I, D: AsRef<PostDraft> + Default>(
        &self,
        req: &Request,
        fields: &Fields<I, D>,
    ) -> Result<Typed<D>> {
        if only_reads(req) {
            return Err(errors::cannot_create(req));
        }
        if req.param("id").is_some_and(svc_php::cast::truthy) {
            return Err(errors::post_exists());
        }
        let draft = fields.typed(req);
        self.check_restricted(req, &draft, |caller| {
            let may = self.has_cap(req.cx(), caller, &self.post_type.caps.create_posts)?;
            if may { Ok(()) } else { Err(errors::cannot_create(req)) }
        })?;
        Ok(draft)
    }

    async fn create(self: Arc<Self>, req: Request, draft: Typed<PostDraft>) -> Result<Response> {
        // Ids of existing posts were rejected by the permission check. An empty id matches no post.
        if req.param("id").is_some() {
            return Err(errors::post_not_found());
        }
        let id = self.save(&req, draft, None).await?;
        let post = self.saved(req.cx(), id)?;
        let settings = self.site.settings(req.cx())?;
        let location = settings.urls.rest(&permalinks::rest_route_of(&self.site, &settings, &self.post_type, id));
        let response = self.show(&req, post, respond::edit_view(&req)).await?.in_context("edit");
        Ok(response.status(201).header("Location", location))
    }

    // Update

    pub(crate) async fn can_update(self: Arc<Self>, req: Request) -> Result<AuthorizedChange> {
        self.authorize_update(&req, &self.fields)
    }

    /// Checks that the caller may change the post as the request does, converted with this table.
    pub(crate) fn authorize_update<I, D: AsRef<PostDraft> + Default>(
        &self,
        req: &Request,
        fields: &Fields<I, D>,
    ) -> Result<AuthorizedChange<D>> {
        if only_reads(req) {
            return Err(errors::cannot_edit(req));
        }
        let authorized = self.authorized(req, |caller, access, post| {
            if caller.can_post(PostCap::Edit, post, access) { Ok(()) } else { Err(errors::cannot_edit(req)) }
        })?;
        let draft = fields.typed(req);
        self.check_restricted(req, &draft, |_| Ok(()))?;
        Ok(AuthorizedChange { authorized, draft })
    }

    pub(crate) async fn update(self: Arc<Self>, req: Request, change: AuthorizedChange) -> Result<Response> {
        let id = self.save(&req, change.draft, Some(change.authorized.post)).await?;
        let post = self.saved(req.cx(), id)?;
        self.show(&req, post, respond::edit_view(&req)).await
    }

    // Delete

    pub(crate) async fn can_delete(self: Arc<Self>, req: Request) -> Result<Authorized> {
        if only_reads(&req) {
            return Err(errors::cannot_delete(&req));
        }
        self.authorized(&req, |caller, access, post| {
            if caller.can_post(PostCap::Delete, post, access) { Ok(()) } else { Err(errors::cannot_delete(&req)) }
        })
    }

    async fn delete(self: Arc<Self>, req: Request, authorized: Authorized) -> Result<Response> {
        let force = respond::is_forced(&req)?;
        let post = authorized.post;
        if force {
            let previous = self.show(&req, post.clone(), respond::previous_view(&req, "edit")).await?;
            let id = post.id;
            // If several requests delete the post concurrently, one succeeds and the others return 404.
            self.site
                .write(req.cx(), move |tx| Ok(delete::delete_permanently(tx, id)?.ok_or_else(errors::post_not_found)?))
                .await?;
            return Ok(respond::deleted(previous.data));
        }
        if post.status == "trash" {
            return Err(errors::already_trashed());
        }
        let id = post.id;
        self.trash(&req, id).await?;
        let post = self.saved(req.cx(), id)?;
        self.show(&req, post, respond::edit_view(&req)).await
    }
}

/// Moves the sync status of a pattern from its meta to a field of the item.
fn move_sync_status(item: &mut svc_routing::Map, view: &View) {
    const STATUS: &str = "wp_pattern_sync_status";
    let status = item.get_mut("meta").and_then(Value::as_object_mut).and_then(|meta| meta.shift_remove(STATUS));
    // The field requires only `meta`. If it was not requested, the response filter removes it.
    if view.includes(STATUS) || status.is_some() {
        item.insert(STATUS.to_owned(), status.filter(|status| !status.is_null()).unwrap_or_else(|| json!("")));
    }
}

/// The password in the query string. (`password` in the body is the new password of the post.)
fn query_password(req: &Request) -> String {
    let password = req.params().query.get("password").map(|p| svc_php::cast::to_text(p).into_owned());
    // `0` is no password in WordPress.
    password.filter(|password| password != "0").unwrap_or_default()
}

/// Compares in constant time.
fn same_secret(sent: &str, expected: &str) -> bool {
    use subtle::ConstantTimeEq;
    sent.as_bytes().ct_eq(expected.as_bytes()).into()
}
