//! Comments: list, create, fetch, update, delete.
//!
//! `rights` says who sees and changes what, `moderation` what becomes of a new comment, `status` what a change of status
//! keeps, `write` stores. Here are the routes, and each operation beside its permission.

mod errors;
mod fields;
mod links;
mod load;
mod params;
mod rights;
mod write;

use std::sync::Arc;

use serde_json::{Value, json};
use svc_model::{Comment, CommentId, Post, PostId};
use svc_resource::{Paging, Params, View, total_headers};
use svc_routing::{
    CREATABLE, Controller, DELETABLE, EDITABLE, ExtraFields, Method, Request, Response, Result, Route, get, on,
};
use svc_schema::{
    Args, MethodKind, Schema,
    build::{boolean, integer, string},
};
use svc_site::{
    Access, Settings, SiteError, avatars,
    comments::{notes::has_notes, status},
};
use svc_store::{StoreError, comments};

use self::{
    fields::{CommentFields, OBJECT},
    links::BASE,
    load::{CommentLoader, LoadedComment},
    params::CommentList,
    rights::CommentViewer,
};
use crate::{RestSite, args::context_arg, caller, request::only_reads, respond};

/// Most posts whose comments are listed at once.
const MAX_POSTS: usize = 1_000;

/// The family of comments.
pub struct Comments {
    site: Arc<RestSite>,
    /// A setting chooses between the tables, which may change at any time.
    with_avatars: CommentFields,
    without_avatars: CommentFields,
    params: Params<CommentList>,
    extra: ExtraFields,
}

impl Comments {
    /// The family of this site.
    pub fn new(site: &Arc<RestSite>, extra: &ExtraFields) -> Self {
        let table = |with_avatars| fields::fields(site, with_avatars).with_extra(extra, OBJECT);
        Comments {
            site: Arc::clone(site),
            with_avatars: table(true),
            without_avatars: table(false),
            params: params::params(),
            extra: extra.clone(),
        }
    }

    fn fields(&self, settings: &Settings) -> &CommentFields {
        if avatars::are_shown(settings) { &self.with_avatars } else { &self.without_avatars }
    }
}

/// The arguments of a request that creates or changes a comment, in WordPress's order.
const ARGUMENTS: [&str; 13] = [
    "author",
    "author_email",
    "author_ip",
    "author_name",
    "author_url",
    "author_user_agent",
    "content",
    "date",
    "date_gmt",
    "parent",
    "post",
    "status",
    "meta",
];

impl Controller for Comments {
    #[rustfmt::skip]
    fn routes(&self) -> Vec<Route<Self>> {
        let shown = self.site.settings().map_or(&self.without_avatars, |settings| self.fields(&settings));
        let schema = Schema::compile(shown.item_schema());
        let args = |kind| self.with_avatars.args(kind).ordered(&ARGUMENTS);
        let id = integer().describe("Number that identifies the comment.");
        let password = || string().describe("Password of the post, where one guards it.");
        let force = boolean().describe("Whether to delete for good instead of moving to the trash.").default(false);
        vec![
            Route::new(format!("/{BASE}"))
                .schema(schema.clone())
                .endpoint(get(Self::list, Self::can_list).cacheable().args(self.params.query_args()))
                .endpoint(on(CREATABLE, Self::create, Self::can_create).args(args(MethodKind::Creatable))),
            Route::new(format!(r"/{BASE}/(?P<id>[\d]+)"))
                .schema(schema)
                .args(Args::from([("id", id)]))
                .endpoint(get(Self::fetch, Self::can_fetch).cacheable().args(Args::from([("context", context_arg()), ("password", password().into())])))
                .endpoint(on(EDITABLE, Self::update, Self::can_update).args(args(MethodKind::Editable)))
                .endpoint(on(DELETABLE, Self::delete, Self::can_delete).args(Args::from([("force", force), ("password", password())]))),
        ]
    }
}

/// The password that a request gives for a post. It is valid only when the request names exactly one post or comment; a
/// list of several posts must not try one password on all of them.
fn password(req: &Request) -> Option<String> {
    let names_a_post = match req.param("post") {
        Some(Value::Array(posts)) => posts.len() == 1,
        Some(post) => svc_php::cast::truthy(post),
        None => false,
    };
    if !names_a_post && !req.param("id").is_some_and(svc_php::cast::truthy) {
        return None;
    }
    let given = req.param("password").filter(|password| svc_php::cast::truthy(password))?;
    Some(svc_php::cast::to_text(given).into_owned())
}

/// The ids that a parameter names, be it a list (of one who reads) or a number (of one who writes). Text that was refused
/// names no post, not even none.
fn numbers(req: &Request, name: &str) -> Vec<i64> {
    let number = |value: &Value| match value {
        Value::Number(_) => Some(svc_php::cast::to_int(value)),
        other => Some(svc_php::cast::to_int(other)).filter(|id| *id != 0),
    };
    match req.param(name).filter(|value| svc_php::cast::truthy(value)) {
        Some(Value::Array(ids)) => ids.iter().filter_map(number).collect(),
        Some(id) => number(id).into_iter().collect(),
        None => Vec::new(),
    }
}

impl Comments {
    /// A comment that `authorize` lets through, or 404. The reader knows its post, and that of the number `other`.
    fn granted(
        &self,
        req: &Request,
        other: Option<i64>,
        authorize: impl FnOnce(&CommentViewer<'_>, &Comment) -> Result<()>,
    ) -> Result<Comment> {
        let (caller, password) = (caller(req), password(req));
        self.site.read(|db| {
            let id = respond::number(req, "id");
            let found = if id > 0 { comments::get(db, CommentId(id))? } else { None };
            let comment = found.ok_or_else(errors::not_found)?;
            let settings = self.site.settings_in(db)?;
            let posts = [Some(comment.post), other.map(PostId)].into_iter().flatten();
            let reader = CommentViewer::new(db, &self.site, &settings, &caller, posts, password.as_deref())?;
            if !comment.post.is_none() && reader.post(comment.post).is_none() {
                return Err(errors::post_is_gone().into());
            }
            authorize(&reader, &comment)?;
            drop(reader);
            Ok(comment)
        })
    }

    /// A response that shows one comment as this request may see it.
    async fn show(&self, req: &Request, comment: Comment, view: View) -> Result<Response> {
        let (caller, password) = (caller(req), password(req));
        let settings = self.site.settings()?;
        let plan = self.fields(&settings).plan(&view);
        let loaded = self.site.read(|db| {
            let reader = CommentViewer::new(db, &self.site, &settings, &caller, [comment.post], password.as_deref())?;
            let loading = CommentLoader { site: &self.site, settings: &settings, view: &view };
            Ok(loading.load(db, &reader, vec![comment], &plan)?.pop())
        })?;
        let Some(LoadedComment { item, links }) = loaded else { return Err(errors::not_found()) };
        let mut data = plan.prepare(&item);
        respond::add_extra(&self.extra, OBJECT, &mut data, req, &view).await?;
        Ok(respond::single(data, links))
    }

    // List

    async fn can_list(self: Arc<Self>, req: Request) -> Result<()> {
        let (caller, password) = (caller(&req), password(&req));
        let notes = req.param("type").is_some_and(|t| t == "note");
        let edit = req.context() == "edit";
        let mut posts = numbers(&req, "post");
        if !is_read(&req) {
            // One who writes names no post by a zero.
            posts.retain(|id| *id != 0);
        }
        if posts.len() > MAX_POSTS {
            return Err(SiteError::Store(StoreError::TooMany).into());
        }
        self.site.read(|db| {
            let settings = self.site.settings_in(db)?;
            let ids = posts.iter().map(|id| PostId(*id));
            let reader = CommentViewer::new(db, &self.site, &settings, &caller, ids, password.as_deref())?;
            for id in &posts {
                match reader.post(PostId(*id)) {
                    Some(post) if !reader.can_read_post(post) => return Err(errors::cannot_read_post(&req).into()),
                    Some(post) if notes => self.check_notes(&req, &reader, post, edit)?,
                    None if *id == 0 && !reader.moderates() => {
                        return Err(errors::cannot_read_without_post(&req).into());
                    }
                    // Nobody may edit what is not there.
                    None if notes && edit => return Err(errors::forbidden_context(&req).into()),
                    _ => {}
                }
            }
            let edits_notes = notes && !posts.is_empty();
            if edit && !edits_notes && !reader.moderates() {
                return Err(errors::forbidden_context(&req).into());
            }
            if !caller.has("edit_posts") {
                let refused = refused_params(&req);
                if !refused.is_empty() {
                    return Err(errors::forbidden_param(&req, &refused).into());
                }
            }
            Ok(())
        })
    }

    /// Whether the caller may list the notes of a post.
    fn check_notes(&self, req: &Request, reader: &CommentViewer<'_>, post: &Post, edit: bool) -> Result<()> {
        let may_edit = reader.can_edit_post(post);
        if !self.site.types.get(&post.post_type).is_some_and(has_notes) {
            return Err(if may_edit { errors::notes_not_supported() } else { errors::forbidden_param(req, &["type"]) });
        }
        if edit && !may_edit { Err(errors::forbidden_context(req)) } else { Ok(()) }
    }

    async fn list(self: Arc<Self>, req: Request) -> Result<Response> {
        let list = self.params.read(|name| req.param(name).cloned())?;
        let (page, per_page, is_without_order) = (list.page, list.per_page, list.is_without_order());
        let view = respond::view(&req);
        let (caller, password) = (caller(&req), password(&req));
        let settings = self.site.settings()?;
        let plan = self.fields(&settings).plan(&view);
        let (total, loaded) = self.site.read(|db| {
            let found = comments::query(db, &list.into_query(&settings))?;
            let total = found.total.unwrap_or_default();
            if req.is_head() || is_without_order {
                return Ok((total, Vec::new()));
            }
            let rows = comments::get_many(db, &found.ids)?;
            let posts = rows.iter().map(|c| c.post);
            let reader = CommentViewer::new(db, &self.site, &settings, &caller, posts, password.as_deref())?;
            // What the caller may not see is counted and then left out, as the peer does.
            let rows = rows.into_iter().filter(|comment| reader.can_read(comment)).collect();
            let loading = CommentLoader { site: &self.site, settings: &settings, view: &view };
            Ok((total, loading.load(db, &reader, rows, &plan)?))
        })?;
        let mut items = Vec::with_capacity(loaded.len());
        for LoadedComment { item, links } in loaded {
            let mut data = plan.prepare(&item);
            respond::add_extra(&self.extra, OBJECT, &mut data, &req, &view).await?;
            items.push(respond::with_links(data, links, &req));
        }
        // A page beyond the last one is empty, and no error, unlike those of posts.
        let paging = Paging { total, per_page, page };
        let mut response = Response::new(Value::Array(items));
        for (name, value) in total_headers(total, paging.pages()) {
            // The peer's counts of comments are texts, which an envelope shows.
            response = response.header(&self.site.brand.header(name), value.to_string());
        }
        let collection = settings.urls.rest(&links::route(&self.site));
        for (relation, href) in paging.links(&collection, &req.params().query) {
            response = response.link_header(relation, &href, &[]);
        }
        Ok(response)
    }

    // Fetch

    async fn can_fetch(self: Arc<Self>, req: Request) -> Result<Comment> {
        self.granted(&req, None, |reader, comment| {
            if req.context() == "edit" && !reader.sees_raw(comment) {
                return Err(errors::forbidden_context(&req));
            }
            if !reader.can_read(comment) {
                return Err(errors::cannot_read(&req));
            }
            match reader.post(comment.post) {
                Some(post) if !reader.can_read_post(post) => Err(errors::cannot_read_post(&req)),
                _ => Ok(()),
            }
        })
    }

    async fn fetch(self: Arc<Self>, req: Request, comment: Comment) -> Result<Response> {
        if req.is_head() {
            return Ok(Response::new(Value::Null));
        }
        let view = respond::view(&req);
        self.show(&req, comment, view).await
    }

    // Create

    async fn can_create(self: Arc<Self>, req: Request) -> Result<Post> {
        self.check_create(&req)
    }

    async fn create(self: Arc<Self>, req: Request, post: Post) -> Result<Response> {
        let comment = self.insert(&req, post).await?;
        let location = self.site.settings()?.urls.rest(&format!("{}/{}", links::route(&self.site), comment.id));
        // Writers see what readers see; only those who look after comments see all of it.
        let settings = self.site.settings()?;
        let moderates = Access::new(&self.site, &settings).can(&caller(&req), "moderate_comments");
        let context = if moderates { "edit" } else { "view" };
        let view = View { context: context.to_owned(), ..respond::view(&req) };
        Ok(self.show(&req, comment, view).await?.in_context(context).status(201).header("Location", location))
    }

    // Update

    async fn can_update(self: Arc<Self>, req: Request) -> Result<Comment> {
        if only_reads(&req) {
            return Err(errors::cannot_edit(&req));
        }
        let to = write::number(&req, "post");
        self.granted(&req, to, |reader, comment| {
            if !reader.can_edit(comment) {
                return Err(errors::cannot_edit(&req));
            }
            to.map_or(Ok(()), |to| self.check_move(&req, reader, comment, PostId(to)))
        })
    }

    /// Whether the caller may put a comment on this post, where it is not already: whoever may edit that post.
    fn check_move(&self, req: &Request, reader: &CommentViewer<'_>, comment: &Comment, to: PostId) -> Result<()> {
        let Some(post) = reader.post(to) else {
            let may_know = to.is_none() || reader.moderates();
            return Err(if may_know { errors::invalid_post() } else { errors::cannot_edit(req) });
        };
        let is_note = comment.comment_type == "note";
        match () {
            () if post.id == comment.post => Ok(()),
            () if is_note && !reader.can_edit_post(post) => Err(errors::cannot_create_note(req)),
            () if is_note && !self.site.types.get(&post.post_type).is_some_and(has_notes) => {
                Err(errors::notes_not_supported())
            }
            () if reader.can_edit_post(post) || reader.moderates() => Ok(()),
            () => Err(errors::cannot_edit(req)),
        }
    }

    async fn update(self: Arc<Self>, req: Request, comment: Comment) -> Result<Response> {
        let comment = self.change(&req, comment).await?;
        Ok(self.show(&req, comment, respond::edit_view(&req)).await?.in_context("edit"))
    }

    // Delete

    async fn can_delete(self: Arc<Self>, req: Request) -> Result<Comment> {
        if only_reads(&req) {
            return Err(errors::cannot_delete(&req));
        }
        self.granted(
            &req,
            None,
            |reader, comment| {
                if reader.can_edit(comment) { Ok(()) } else { Err(errors::cannot_delete(&req)) }
            },
        )
    }

    async fn delete(self: Arc<Self>, req: Request, comment: Comment) -> Result<Response> {
        let id = comment.id;
        if req.arg::<bool>("force")?.unwrap_or(false) {
            let view = respond::previous_view(&req, "edit");
            let previous = self.show(&req, comment, view).await?.data;
            self.site.write(move |tx| Ok(comments::delete(tx, id)?.ok_or_else(errors::not_found)?)).await?;
            return Ok(Response::new(json!({"deleted": true, "previous": previous})));
        }
        if comment.approved == "trash" {
            return Ok(Response::from(errors::already_trashed()).in_context("edit"));
        }
        let now = self.site.now().and_utc().timestamp();
        let trash = move |tx: &mut svc_store::Tx| {
            if comments::get(tx, id)?.is_some_and(|comment| comment.approved == "trash") {
                return Err(errors::already_trashed().into());
            }
            Ok(status::trash(tx, id, now)?.ok_or_else(errors::not_found)?)
        };
        let comment = self.site.write(trash).await?;
        Ok(self.show(&req, comment, respond::edit_view(&req)).await?.in_context("edit"))
    }
}

/// The parameters of a list that only those who write posts may use.
fn refused_params(req: &Request) -> Vec<&'static str> {
    let is_given = |name: &str| listed(req, name).is_some_and(svc_php::cast::truthy);
    let is_other = |name: &str, harmless: &str| listed(req, name).is_none_or(|value| value != harmless);
    let rows = [
        ("author", is_given("author")),
        ("author_exclude", is_given("author_exclude")),
        ("author_email", is_given("author_email")),
        ("type", is_other("type", "comment")),
        ("status", is_other("status", "approve")),
    ];
    rows.into_iter().filter(|(_, refused)| *refused).map(|(name, _)| name).collect()
}

fn is_read(req: &Request) -> bool {
    matches!(*req.method(), Method::GET | Method::HEAD)
}

/// A parameter as the list would have it. A request for another method is asked about the list only so that `Allow` is
/// complete; it has none of the list's defaults, and those who may not choose are refused, as the peer refuses them.
fn listed<'r>(req: &'r Request, name: &str) -> Option<&'r Value> {
    if is_read(req) {
        return req.param(name);
    }
    let params = req.params();
    params.json.get(name).or_else(|| params.body.get(name)).or_else(|| params.query.get(name))
}
