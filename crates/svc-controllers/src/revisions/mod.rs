//! Revisions of each post type that supports them: list, fetch, delete. Autosaves are in `autosaves`.
//!
//! `table` defines the fields of a revision: its own, and the texts of its post's type. `find` is shared with the
//! families of templates and global styles. Revisions are created by `svc_site::revisions` when posts change.

mod autosaves;
pub(crate) mod find;
mod params;
mod table;

use std::sync::Arc;

use svc_auth::caps::PostCap;
use svc_model::{Post, PostId, PostType};
use svc_render::SiteRenderer;
use svc_resource::Params;
use svc_routing::{Controller, DELETABLE, ExtraFields, Request, Response, Result, Route, get, on};
use svc_schema::{
    Args, Schema,
    build::{SchemaBuilder, integer},
};
use svc_site::{Access, Settings, Site, SiteResult, preview_links::TOKEN_PARAM};
use svc_store::{Db, posts};

use self::table::RevisionTable;
use crate::preconditions;
use crate::{args::context_arg, caller, collection, cost, errors, preview, request::only_reads, respond};

pub use autosaves::Autosaves;
pub(crate) use params::{RevisionList, params};

/// The revisions of one post type.
pub struct Revisions {
    site: Arc<Site>,
    post_type: Arc<PostType>,
    table: RevisionTable,
    params: Params<RevisionList>,
}

/// A post whose revisions the caller may read.
pub(crate) struct RevisionParent {
    post: Post,
    settings: Arc<Settings>,
}

/// The argument with the id of the post.
fn parent_arg() -> (&'static str, SchemaBuilder) {
    ("parent", integer().describe("ID of the post."))
}

/// The id in a parameter, 0 if it is absent. The value may be text.
fn id_param(req: &Request, name: &str) -> PostId {
    PostId(req.param(name).map_or(0, svc_php::cast::to_int))
}

/// The post of a request. Requires permission to edit it.
fn parent(site: &Site, post_type: &PostType, req: &Request, name: &str) -> Result<RevisionParent> {
    site.read(req.cx(), |db| {
        let post = find::parent(db, post_type, id_param(req, name))?;
        let settings = site.settings_in(db)?;
        let access = Access::of_posts(site, &settings, db, std::slice::from_ref(&post))?;
        if !caller(req).can_post(PostCap::Edit, &post, &access) {
            return Err(errors::cannot_read_revisions(req).into());
        }
        drop(access);
        Ok(RevisionParent { post, settings })
    })
}

/// As [`parent`], or the post whose revision or autosave the request's preview link shows.
fn parent_or_previewed(
    site: &Site,
    post_type: &PostType,
    req: &Request,
    revision: impl FnOnce(&mut Db, PostId) -> SiteResult<Option<PostId>>,
) -> Result<RevisionParent> {
    let id = id_param(req, "parent");
    if !req.params().query.contains_key(TOKEN_PARAM) {
        return parent(site, post_type, req, "parent");
    }
    let revision = site.read(req.cx(), |db| revision(db, id))?;
    if !preview::grants(site, post_type, req, id, revision)? {
        return parent(site, post_type, req, "parent");
    }
    site.read(req.cx(), |db| {
        Ok(RevisionParent { post: find::parent(db, post_type, id)?, settings: site.settings_in(db)? })
    })
}

/// The response, with the headers of a preview if the request has a preview link.
fn protected(req: &Request, response: Response) -> Response {
    if req.params().query.contains_key(TOKEN_PARAM) { preview::protect(response) } else { response }
}

impl Revisions {
    /// The revisions of this type.
    pub fn new(renderer: &Arc<SiteRenderer>, post_type: &PostType, extra: &ExtraFields) -> Self {
        let post_type = Arc::new(post_type.clone());
        let table = RevisionTable::new(renderer, &post_type, extra);
        Revisions { site: Arc::clone(&renderer.site), post_type, table, params: params() }
    }
}

impl Controller for Revisions {
    fn routes(&self) -> Vec<Route<Self>> {
        let base = &self.post_type.rest_base;
        let schema = Schema::compile(self.table.item_schema());
        let id = ("id", integer().describe("The revision's ID."));
        let context = || Args::from([("context", context_arg())]);
        let force = crate::args::force("Must be true: revisions cannot be moved to the trash.");
        vec![
            Route::new(format!(r"/{base}/(?P<parent>[\d]+)/revisions"))
                .schema(schema.clone())
                .args(Args::from([parent_arg()]))
                .endpoint(get(Self::list, Self::can_list).cost(cost::of_list).args(self.params.query_args())),
            Route::new(format!(r"/{base}/(?P<parent>[\d]+)/revisions/(?P<id>[\d]+)"))
                .conditional(preconditions::on_post(&self.site))
                .schema(schema)
                .args(Args::from([parent_arg(), id]))
                .endpoint(get(Self::fetch, Self::can_fetch).args(context()))
                .endpoint(on(DELETABLE, Self::delete, Self::can_delete).args(Args::from([("force", force)]))),
        ]
    }
}

impl Revisions {
    // List

    async fn can_list(self: Arc<Self>, req: Request) -> Result<RevisionParent> {
        parent(&self.site, &self.post_type, &req, "parent")
    }

    async fn list(self: Arc<Self>, req: Request, parent: RevisionParent) -> Result<Response> {
        let list = self.params.typed(&req).accepted()?;
        let view = respond::view(&req);
        let plan = self.table.plan(&view);
        let (paging, items) = self.site.read(req.cx(), |db| {
            let (paging, rows) = list.run(db, &self.site, &self.post_type, parent.post.id)?;
            Ok((paging, self.table.load(db, &parent.settings, rows, &plan)?))
        })?;
        let mut values = Vec::with_capacity(items.len());
        for item in items {
            let (data, links) = self.table.show(&item, &req, &view, &plan).await?;
            values.push(respond::with_links(data, links.filter(|_| view.wants_links()), &req));
        }
        let route = format!("{}/{}/revisions", self.site.route_of_type(&self.post_type), parent.post.id);
        Ok(collection::respond(&self.site, values, &paging, &parent.settings.urls.rest(&route), &req))
    }

    // Fetch

    async fn can_fetch(self: Arc<Self>, req: Request) -> Result<RevisionParent> {
        parent_or_previewed(&self.site, &self.post_type, &req, |_, _| Ok(Some(id_param(&req, "id"))))
    }

    async fn fetch(self: Arc<Self>, req: Request, parent: RevisionParent) -> Result<Response> {
        let post = self.site.read(req.cx(), |db| find::revision(db, parent.post.id, id_param(&req, "id")))?;
        let response = self.table.respond(&req, &parent.settings, post, &respond::view(&req)).await?;
        Ok(protected(&req, response))
    }

    // Delete

    /// Requires permission to delete the post and the revision. With the default capabilities, nobody has the latter:
    /// revisions are deleted together with their post.
    async fn can_delete(self: Arc<Self>, req: Request) -> Result<(RevisionParent, Post)> {
        if only_reads(&req) {
            return Err(errors::cannot_delete_revision(&req));
        }
        self.site.read(req.cx(), |db| {
            let post = find::parent(db, &self.post_type, id_param(&req, "parent"))?;
            let settings = self.site.settings_in(db)?;
            let caller = caller(&req);
            let access = Access::of_posts(&self.site, &settings, db, std::slice::from_ref(&post))?;
            if !caller.can_post(PostCap::Delete, &post, &access) {
                return Err(errors::cannot_delete_revision(&req).into());
            }
            let revision = find::any_revision(db, id_param(&req, "id"))?;
            let access = Access::of_posts(&self.site, &settings, db, std::slice::from_ref(&revision))?;
            if !caller.can_post(PostCap::Delete, &revision, &access) {
                return Err(errors::cannot_delete_revision(&req).into());
            }
            drop(access);
            Ok((RevisionParent { post, settings }, revision))
        })
    }

    async fn delete(self: Arc<Self>, req: Request, (parent, revision): (RevisionParent, Post)) -> Result<Response> {
        if revision.parent != parent.post.id {
            return Err(errors::not_a_revision_of());
        }
        if !respond::is_forced(&req)? {
            return Err(errors::trash_not_supported());
        }
        let id = revision.id;
        let view = respond::previous_view(&req, "view");
        let previous = self.table.respond(&req, &parent.settings, revision, &view).await?;
        self.site.write(req.cx(), move |tx| Ok(posts::delete(tx, id)?.ok_or_else(errors::post_not_found)?)).await?;
        Ok(respond::deleted(previous.data))
    }
}
