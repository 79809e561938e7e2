//! Post statuses: list and fetch.
//!
//! Public statuses are visible to everyone. Other statuses, including `trash`, require permission to edit posts of some
//! type in the REST API. Internal statuses are not served.

use std::sync::Arc;

use serde_json::Value;
use svc_model::PostStatus;
use svc_resource::Fields;
use svc_routing::{Controller, ExtraFields, Link, Links, Map, Request, Response, Result, Route, forbidden, get};
use svc_schema::{
    Args, Error, Schema,
    build::{boolean, string},
};
use svc_site::Access;

use crate::{
    RestSite,
    args::context_arg,
    caller,
    contexts::{EDIT, EMBED_VIEW_EDIT, VIEW_EDIT},
    links::with_query,
    respond,
};

/// The object type that additional fields name.
const OBJECT: &str = "status";

/// The caller may not view statuses in context `edit`.
fn cannot_view(req: &Request) -> Error {
    forbidden(req, "rest_cannot_view", "You are not allowed to edit posts of any type.")
}

/// The caller may not view this status.
fn cannot_read(req: &Request) -> Error {
    forbidden(req, "rest_cannot_read_status", "You are not allowed to view this status.")
}

/// No such status.
fn not_found() -> Error {
    Error::new("rest_status_invalid", "There is no such status.").with_status(404)
}

#[rustfmt::skip]
fn fields() -> Fields<PostStatus, ()> {
    let mut f = Fields::<PostStatus, ()>::new(OBJECT);
    f.add("name", string().describe("Display name of the status.").context(EMBED_VIEW_EDIT).readonly()).get(|s| s.label.clone());
    f.add("private", boolean().describe("Whether posts with the status are private.").context(EDIT).readonly()).get(|s| s.private);
    f.add("protected", boolean().describe("Whether posts with the status are unpublished.").context(EDIT).readonly()).get(|s| s.protected);
    f.add("public", boolean().describe("Whether posts with the status are public.").context(VIEW_EDIT).readonly()).get(|s| s.public);
    f.add("queryable", boolean().describe("Whether anyone may list posts with the status.").context(VIEW_EDIT).readonly()).get(|s| s.publicly_queryable);
    f.add("show_in_list", boolean().describe("Whether the list of all posts includes posts with the status.").context(EDIT).readonly()).get(|s| s.show_in_list);
    f.add("slug", string().describe("Identifier of the status.").context(EMBED_VIEW_EDIT).readonly()).get(|s| s.name.clone());
    f.add("date_floating", boolean().describe("Whether posts with the status get their date when they are published.").context(VIEW_EDIT).readonly()).get(|s| s.date_floating);
    f
}

/// The family of post statuses.
pub struct Statuses {
    site: Arc<RestSite>,
    fields: Fields<PostStatus, ()>,
    extra: ExtraFields,
}

impl Statuses {
    /// The family on this site.
    pub fn new(site: &Arc<RestSite>, extra: &ExtraFields) -> Self {
        Statuses { site: Arc::clone(site), fields: fields().with_extra(extra, OBJECT), extra: extra.clone() }
    }

    /// Whether the caller may edit posts of some type in the REST API.
    fn is_writer(&self, req: &Request) -> Result<bool> {
        let (settings, caller) = (self.site.settings()?, caller(req));
        let access = Access::new(&self.site, &settings);
        Ok(self.site.types.iter().any(|t| t.show_in_rest && access.can(&caller, &t.caps.edit_posts)))
    }

    /// The prepared fields of a status, and its links. As in WordPress, the links do not depend on `_fields`.
    async fn show(&self, status: &PostStatus, req: &Request) -> Result<(Map, Links)> {
        let view = respond::view(req);
        let mut data = self.fields.plan(&view).prepare(status);
        respond::add_extra(&self.extra, OBJECT, &mut data, req, &view).await?;
        let mut links = Links::new();
        if let Some(posts) = self.site.types.get("post") {
            let posts = self.site.settings()?.urls.rest(&self.site.route_of_type(posts));
            let posts = if status.name == "publish" { posts } else { with_query(&posts, "status", &status.name) };
            links.add("archives", Link::new(posts));
        }
        Ok((data, links))
    }

    async fn can_list(self: Arc<Self>, req: Request) -> Result<()> {
        if req.context() == "edit" && !self.is_writer(&req)? { Err(cannot_view(&req)) } else { Ok(()) }
    }

    async fn list(self: Arc<Self>, req: Request) -> Result<Response> {
        if req.is_head() {
            return Ok(Response::new(Value::Null));
        }
        let is_writer = self.is_writer(&req)?;
        let statuses = self.site.statuses.iter().filter(|s| !s.internal && s.name != "trash");
        let mut items = Vec::new();
        for status in statuses.chain(self.site.statuses.get("trash")).filter(|s| is_visible(s, is_writer)) {
            let (item, links) = self.show(status, &req).await?;
            items.push((status.name.clone(), item, Some(links)));
        }
        Ok(Response::new(respond::keyed(items, &req)))
    }

    async fn can_fetch(self: Arc<Self>, req: Request) -> Result<PostStatus> {
        let name: String = req.require("status")?;
        let status = self.site.statuses.get(&name).ok_or_else(not_found)?;
        if is_visible(status, self.is_writer(&req)?) { Ok(status.clone()) } else { Err(cannot_read(&req)) }
    }

    async fn fetch(self: Arc<Self>, req: Request, status: PostStatus) -> Result<Response> {
        if req.is_head() {
            return Ok(Response::new(Value::Null));
        }
        let (data, links) = self.show(&status, &req).await?;
        Ok(respond::single(data, Some(links)))
    }
}

/// Whether a status is visible to a caller, who may or may not edit posts.
fn is_visible(status: &PostStatus, is_writer: bool) -> bool {
    status.public || (is_writer && (!status.internal || status.name == "trash"))
}

impl Controller for Statuses {
    fn routes(&self) -> Vec<Route<Self>> {
        let schema = Schema::compile(self.fields.item_schema());
        let context = || Args::from([("context", context_arg())]);
        let name = Args::from([("status", string().describe("Name of the status."))]);
        vec![
            Route::new("/statuses")
                .schema(schema.clone())
                .endpoint(get(Self::list, Self::can_list).cacheable().args(context())),
            Route::new(r"/statuses/(?P<status>[\w-]+)")
                .schema(schema)
                .args(name)
                .endpoint(get(Self::fetch, Self::can_fetch).cacheable().args(context())),
        ]
    }
}
