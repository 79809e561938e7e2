//! Comments: list, create, fetch, update, delete.
//!
//! `fields` and `params` define the fields and parameters, `rights` contains the access rules, `load` loads the data of
//! a page, `write` stores changes. This module contains the routes and, for each operation, its permission check and
//! handler.

mod errors;
mod fields;
mod links;
mod load;
mod params;
mod restricted;
mod rights;
mod write;

use std::sync::Arc;

use serde_json::{Value, json};
use svc_model::{Comment, CommentId, Post, PostId};
use svc_resource::{Paging, Params, Typed, View};
use svc_routing::{
    CREATABLE, Controller, DELETABLE, EDITABLE, ExtraFields, Method, Request, Response, Result, Route, get, on,
};
use svc_schema::{
    Args, MethodKind, Schema,
    build::{integer, string},
};
use svc_site::{
    Access, Settings, Site, SiteError, SiteResult, avatars,
    comments::{draft::CommentDraft, notes::has_notes, status},
};
use svc_store::{Db, StoreError, comments};

use self::{
    fields::{CommentFields, OBJECT},
    links::BASE,
    load::{CommentLoader, LoadedComment},
    params::CommentList,
    rights::CommentViewer,
    write::AuthorizedComment,
};
use crate::preconditions;
use crate::{
    RestSite,
    args::context_arg,
    caller,
    collection::{self, Totals},
    cost,
    cursor::ListPage,
    encoded_items::{ItemReader, PreparedItem},
    item_cache::FamilyId,
    request::only_reads,
    respond,
};
use svc_site::object_state::ConditionalObject;

/// Maximum number of posts in one list request.
const MAX_POSTS: usize = 1_000;

/// The family of comments.
pub struct Comments {
    site: Arc<Site>,
    rest: Arc<RestSite>,
    /// The option `show_avatars`, which may change at any time, selects one of the two.
    with_avatars: CommentFields,
    without_avatars: CommentFields,
    /// The item schema, with the settings of the registration.
    schema: Schema,
    params: Params<CommentList>,
    extra: ExtraFields,
    family: FamilyId,
}

impl Comments {
    /// The family of this site with these settings.
    pub fn new(rest: &Arc<RestSite>, settings: &Settings, extra: &ExtraFields) -> Self {
        let sizes = avatars::sizes(settings);
        let table = |sizes| fields::fields(&rest.site, sizes).with_extra(extra, OBJECT);
        let (with_avatars, without_avatars) = (table(Some(&sizes)), table(None));
        let current = if avatars::are_enabled(settings) { &with_avatars } else { &without_avatars };
        Comments {
            site: Arc::clone(&rest.site),
            rest: Arc::clone(rest),
            schema: Schema::compile(current.item_schema()),
            with_avatars,
            without_avatars,
            params: params::params(),
            extra: extra.clone(),
            family: rest.item_cache.new_family(),
        }
    }

    fn fields(&self, settings: &Settings) -> &CommentFields {
        if avatars::are_enabled(settings) { &self.with_avatars } else { &self.without_avatars }
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
        let args = |kind| self.with_avatars.args(kind).ordered(&ARGUMENTS);
        let id = integer().describe("The comment's ID.");
        let password = || string().describe("Password of the post, if it is protected.");
        let force = crate::args::force("Whether to delete permanently instead of moving to the trash.");
        vec![
            Route::new(format!("/{BASE}"))
                .schema(self.schema.clone())
                .endpoint(get(Self::list, Self::can_list).cacheable().cost(cost::of_list).args(self.params.query_args()))
                .endpoint(on(CREATABLE, Self::create, Self::can_create).args(args(MethodKind::Creatable)).example(json!({"post": 1, "content": "A comment."}))),
            Route::new(format!(r"/{BASE}/(?P<id>[\d]+)"))
                .conditional(preconditions::on_id(&self.site, |id| ConditionalObject::Comment(CommentId(id))))
                .schema(self.schema.clone())
                .args(Args::from([("id", id)]))
                .endpoint(get(Self::fetch, Self::can_fetch).cacheable().args(Args::from([("context", context_arg()), ("password", password().into())])))
                .endpoint(on(EDITABLE, Self::update, Self::can_update).args(args(MethodKind::Editable)).example(json!({"content": "A better comment."})))
                .endpoint(on(DELETABLE, Self::delete, Self::can_delete).args(Args::from([("force", force), ("password", password())]))),
        ]
    }
}

/// The password in a request. It is ignored unless the request has exactly one post or comment id: a list of several
/// posts must not try one password on all of them.
fn password(req: &Request) -> Option<String> {
    let names_a_post = match req.param("post") {
        Some(Value::Array(posts)) => posts.len() == 1,
        Some(post) => svc_php::cast::truthy(post),
        None => false,
    };
    if !names_a_post && !req.param("id").is_some_and(svc_php::cast::truthy) {
        return None;
    }
    let password = req.param("password").filter(|password| svc_php::cast::truthy(password))?;
    Some(svc_php::cast::to_text(password).into_owned())
}

fn rows(db: &mut Db, ids: &[i64]) -> SiteResult<Vec<Comment>> {
    let ids: Vec<CommentId> = ids.iter().copied().map(CommentId).collect();
    Ok(comments::get_many(db, &ids)?)
}

fn is_visible(viewer: &CommentViewer<'_>, comment: &Comment) -> bool {
    viewer.can_read(comment)
}

impl Comments {
    /// The comment of the request, if `authorize` accepts it, or 404. The viewer has loaded its post and the post
    /// `other`.
    fn authorized(
        &self,
        req: &Request,
        other: Option<PostId>,
        authorize: impl FnOnce(&CommentViewer<'_>, &Comment) -> Result<()>,
    ) -> Result<Comment> {
        let (caller, password) = (caller(req), password(req));
        self.site.read(req.cx(), |db| {
            let id = respond::number(req, "id");
            let found = if id > 0 { comments::get(db, CommentId(id))? } else { None };
            let comment = found.ok_or_else(errors::not_found)?;
            let settings = self.site.settings_in(db)?;
            let posts = [Some(comment.post), other].into_iter().flatten();
            let viewer = CommentViewer::new(db, &self.site, &settings, &caller, posts, password.as_deref())?;
            if !comment.post.is_none() && viewer.post(comment.post).is_none() {
                return Err(errors::post_is_gone().into());
            }
            authorize(&viewer, &comment)?;
            drop(viewer);
            Ok(comment)
        })
    }

    /// A response with one comment, as the caller may read it.
    async fn show(&self, req: &Request, comment: Comment, view: View) -> Result<Response> {
        let prepared = self.prepare(req, &view, |_, _| true, |_| Ok(vec![comment])).await?.pop();
        prepared.and_then(PreparedItem::into_response).ok_or_else(errors::not_found)
    }

    /// Prepares those of the loaded comments that are visible. They are loaded in the same snapshot as their posts.
    async fn prepare(
        &self,
        req: &Request,
        view: &View,
        is_visible: impl Fn(&CommentViewer<'_>, &Comment) -> bool,
        load: impl FnOnce(&mut Db) -> SiteResult<Vec<Comment>>,
    ) -> Result<Vec<PreparedItem>> {
        let (caller, password) = (caller(req), password(req));
        let settings = self.site.settings(req.cx())?;
        let plan = self.fields(&settings).plan(view);
        let loaded = self.site.read(req.cx(), |db| {
            let rows = load(db)?;
            let posts = rows.iter().map(|c| c.post);
            let viewer = CommentViewer::new(db, &self.site, &settings, &caller, posts, password.as_deref())?;
            let rows = rows.into_iter().filter(|comment| is_visible(&viewer, comment)).collect();
            CommentLoader { site: &self.site, settings: &settings, view }.load(db, &viewer, rows, &plan)
        })?;
        let mut prepared = Vec::with_capacity(loaded.len());
        for LoadedComment { item, links } in loaded {
            let mut data = plan.prepare(&item);
            respond::add_extra(&self.extra, OBJECT, &mut data, req, view).await?;
            prepared.push(PreparedItem::new(item.comment.id.0, data, links));
        }
        Ok(prepared)
    }

    /// Reads comments as the request selects them. With a password, more of them are visible.
    fn reader<'r>(&'r self, req: &'r Request) -> ItemReader<'r> {
        let cache = if password(req).is_none() { self.rest.item_cache(req.cx(), &self.extra, OBJECT) } else { None };
        ItemReader::new(req, self.family, cache)
    }

    // List

    async fn can_list(self: Arc<Self>, req: Request) -> Result<Typed<CommentList>> {
        let (caller, password) = (caller(&req), password(&req));
        // In writes, which ask for `Allow`, WordPress has no defaults of the list.
        let list = if is_read(&req) { self.params.typed(&req) } else { self.params.typed_as_sent(&req) };
        let notes = list.values().lists_notes();
        let edit = req.context() == "edit";
        let mut posts = list.values().posts.clone();
        if !is_read(&req) {
            // In writes, id 0 is not a post.
            posts.retain(|id| !id.is_none());
        }
        if posts.len() > MAX_POSTS {
            return Err(SiteError::Store(StoreError::TooMany).into());
        }
        // The search finds names and addresses of authors.
        if self.site.policies.users.hides_from(&caller) && params::searches(&list) {
            return Err(crate::errors::hidden_users(&req, "search"));
        }
        self.site.read(req.cx(), |db| {
            let settings = self.site.settings_in(db)?;
            let ids = posts.iter().copied();
            let viewer = CommentViewer::new(db, &self.site, &settings, &caller, ids, password.as_deref())?;
            for id in &posts {
                match viewer.post(*id) {
                    Some(post) if !viewer.can_read_post(post) => return Err(errors::cannot_read_post(&req).into()),
                    Some(post) if notes => self.check_notes(&req, &viewer, post, edit)?,
                    None if id.is_none() && !viewer.moderates() => {
                        return Err(errors::cannot_read_without_post(&req).into());
                    }
                    // Nobody may edit notes of a missing post.
                    None if notes && edit => return Err(errors::forbidden_context(&req).into()),
                    _ => {}
                }
            }
            let edits_notes = notes && !posts.is_empty();
            if edit && !edits_notes && !viewer.moderates() {
                return Err(errors::forbidden_context(&req).into());
            }
            if !caller.has("edit_posts") {
                let forbidden = params::forbidden_params(&list);
                if !forbidden.is_empty() {
                    return Err(errors::forbidden_param(&req, &forbidden).into());
                }
            }
            Ok(())
        })?;
        Ok(list)
    }

    /// Whether the caller may list the notes of a post.
    fn check_notes(&self, req: &Request, viewer: &CommentViewer<'_>, post: &Post, edit: bool) -> Result<()> {
        let may_edit = viewer.can_edit_post(post);
        if !self.site.registries.types.get(&post.post_type).is_some_and(has_notes) {
            return Err(if may_edit { errors::notes_not_supported() } else { errors::forbidden_param(req, &["type"]) });
        }
        if edit && !may_edit { Err(errors::forbidden_context(req)) } else { Ok(()) }
    }

    async fn list(self: Arc<Self>, req: Request, list: Typed<CommentList>) -> Result<Response> {
        let items = self.reader(&req);
        let page = items
            .page(async |req: Request| {
                let list = list.accepted()?;
                let (page, per_page, lacks_include) = (list.page, list.per_page, list.lacks_include());
                let settings = self.site.settings(req.cx())?;
                let requested = ListPage::read(&self.site, &req)?;
                let query = requested.select(list.into_query(&settings));
                let mut found = self.site.read(req.cx(), |db| Ok(comments::query(db, &query)?))?;
                if lacks_include {
                    (found.ids, found.next) = (Vec::new(), None);
                }
                // Unlike in lists of posts, a page beyond the last one is empty and no error.
                let paging = Paging { total: found.total.unwrap_or_default(), per_page, page };
                requested.found(&self.site, &found, paging)
            })
            .await?;
        // As in WordPress, comments that the caller may not read are counted and then omitted.
        let prepare =
            async |req: Request, ids: &[i64]| self.prepare(&req, items.view(), is_visible, |db| rows(db, ids)).await;
        let response = items.list(&page.ids, prepare).await?;
        let url = self.site.settings(req.cx())?.urls.rest(&links::route(&self.site));
        Ok(collection::with_page(&self.site, response, &page, &url, &req, Totals::Texts))
    }

    // Fetch

    async fn can_fetch(self: Arc<Self>, req: Request) -> Result<Comment> {
        self.authorized(&req, None, |viewer, comment| {
            if req.context() == "edit" && !viewer.sees_raw(comment) {
                return Err(errors::forbidden_context(&req));
            }
            if !viewer.can_read(comment) {
                return Err(errors::cannot_read(&req));
            }
            match viewer.post(comment.post) {
                Some(post) if !viewer.can_read_post(post) => Err(errors::cannot_read_post(&req)),
                _ => Ok(()),
            }
        })
    }

    async fn fetch(self: Arc<Self>, req: Request, comment: Comment) -> Result<Response> {
        let items = self.reader(&req);
        let prepare =
            async |req: Request, ids: &[i64]| self.prepare(&req, items.view(), is_visible, |db| rows(db, ids)).await;
        items.item(comment.id.0, prepare).await?.ok_or_else(errors::not_found)
    }

    // Create

    async fn can_create(self: Arc<Self>, req: Request) -> Result<AuthorizedComment> {
        self.check_create(&req)
    }

    async fn create(self: Arc<Self>, req: Request, authorized: AuthorizedComment) -> Result<Response> {
        let comment = self.insert(&req, authorized).await?;
        let location = self.site.settings(req.cx())?.urls.rest(&format!("{}/{}", links::route(&self.site), comment.id));
        // The author receives context `view`; moderators receive context `edit`.
        let settings = self.site.settings(req.cx())?;
        let moderates = Access::new(&self.site, &settings).can(&caller(&req), "moderate_comments");
        let context = if moderates { "edit" } else { "view" };
        let view = View { context: context.to_owned(), ..respond::view(&req) };
        Ok(self.show(&req, comment, view).await?.in_context(context).status(201).header("Location", location))
    }

    // Update

    async fn can_update(self: Arc<Self>, req: Request) -> Result<(Comment, Typed<CommentDraft>)> {
        if only_reads(&req) {
            return Err(errors::cannot_edit(&req));
        }
        let draft = self.draft(&req);
        let to = draft.values().post.map(PostId);
        let comment = self.authorized(&req, to, |viewer, comment| {
            if !viewer.can_edit(comment) {
                return Err(errors::cannot_edit(&req));
            }
            to.map_or(Ok(()), |to| self.check_move(&req, viewer, comment, to))
        })?;
        Ok((comment, draft))
    }

    /// Checks that the caller may move a comment to this post. Requires permission to edit that post or to moderate.
    fn check_move(&self, req: &Request, viewer: &CommentViewer<'_>, comment: &Comment, to: PostId) -> Result<()> {
        let Some(post) = viewer.post(to) else {
            let may_know = to.is_none() || viewer.moderates();
            return Err(if may_know { errors::invalid_post() } else { errors::cannot_edit(req) });
        };
        let is_note = comment.comment_type == "note";
        match () {
            () if post.id == comment.post => Ok(()),
            () if is_note && !viewer.can_edit_post(post) => Err(errors::cannot_create_note(req)),
            () if is_note && !self.site.registries.types.get(&post.post_type).is_some_and(has_notes) => {
                Err(errors::notes_not_supported())
            }
            () if viewer.can_edit_post(post) || viewer.moderates() => Ok(()),
            () => Err(errors::cannot_edit(req)),
        }
    }

    async fn update(
        self: Arc<Self>,
        req: Request,
        (comment, draft): (Comment, Typed<CommentDraft>),
    ) -> Result<Response> {
        let comment = self.change(&req, comment, draft).await?;
        Ok(self.show(&req, comment, respond::edit_view(&req)).await?.in_context("edit"))
    }

    // Delete

    async fn can_delete(self: Arc<Self>, req: Request) -> Result<Comment> {
        if only_reads(&req) {
            return Err(errors::cannot_delete(&req));
        }
        self.authorized(
            &req,
            None,
            |viewer, comment| {
                if viewer.can_edit(comment) { Ok(()) } else { Err(errors::cannot_delete(&req)) }
            },
        )
    }

    async fn delete(self: Arc<Self>, req: Request, comment: Comment) -> Result<Response> {
        let id = comment.id;
        if req.arg::<bool>("force")?.unwrap_or(false) {
            let view = respond::previous_view(&req, "edit");
            let previous = self.show(&req, comment, view).await?.data;
            self.site.write(req.cx(), move |tx| Ok(comments::delete(tx, id)?.ok_or_else(errors::not_found)?)).await?;
            return Ok(respond::deleted(previous));
        }
        if comment.approved == "trash" {
            return Ok(Response::from(errors::already_trashed()).in_context("edit"));
        }
        let now = self.site.now(req.cx()).and_utc().timestamp();
        let trash = move |tx: &mut svc_store::Tx| {
            if comments::get(tx, id)?.is_some_and(|comment| comment.approved == "trash") {
                return Err(errors::already_trashed().into());
            }
            Ok(status::trash(tx, id, now)?.ok_or_else(errors::not_found)?)
        };
        let comment = self.site.write(req.cx(), trash).await?;
        Ok(self.show(&req, comment, respond::edit_view(&req)).await?.in_context("edit"))
    }
}

fn is_read(req: &Request) -> bool {
    matches!(*req.method(), Method::GET | Method::HEAD)
}
