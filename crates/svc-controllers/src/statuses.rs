//! Post statuses: list and fetch.
//!
//! Public statuses are visible to everyone. Other statuses, including `trash`, require permission to edit posts of some
//! type in the REST API. Internal statuses are not served.

use std::sync::Arc;

use svc_model::PostStatus;
use svc_resource::{Fields, View};
use svc_routing::{Link, Links, Request, Result, Route, forbidden};
use svc_schema::{
    Args, Error,
    build::{boolean, string},
};
use svc_site::{Access, Site};

use crate::{
    RestSite,
    args::context_args,
    caller,
    contexts::{EDIT, EMBED_VIEW_EDIT, VIEW_EDIT},
    links::with_query,
    registry_family::{ListForm, Listed, RegistryEntries, RegistryFamily},
};

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

/// The post statuses of the REST API.
pub struct Statuses;

/// Whether the caller may edit posts of some type in the REST API.
fn is_writer(site: &Arc<Site>, req: &Request) -> Result<bool> {
    let (settings, caller) = (site.settings(req.cx())?, caller(req));
    let access = Access::new(site, &settings);
    Ok(site.registries.types.iter().any(|t| t.show_in_rest && access.can(&caller, &t.caps.edit_posts)))
}

/// Whether a status is visible to a caller, who may or may not edit posts.
fn is_visible(status: &PostStatus, is_writer: bool) -> bool {
    status.public || (is_writer && (!status.internal || status.name == "trash"))
}

impl RegistryEntries for Statuses {
    type Entry = PostStatus;
    const OBJECT: &'static str = "status";
    const CACHEABLE: bool = true;
    const LIST: ListForm<PostStatus> = ListForm::ObjectUnlessEmpty(|status| &status.name);

    #[rustfmt::skip]
    fn fields() -> Fields<PostStatus, ()> {
        let mut f = Fields::<PostStatus, ()>::new(Self::OBJECT);
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

    fn check_list(rest: &Arc<RestSite>, req: &Request) -> Result<()> {
        if req.context() == "edit" && !is_writer(&rest.site, req)? { Err(cannot_view(req)) } else { Ok(()) }
    }

    async fn entries(rest: &Arc<RestSite>, req: &Request) -> Result<Listed<PostStatus>> {
        let is_writer = is_writer(&rest.site, req)?;
        let statuses = rest.site.registries.statuses.iter().filter(|s| !s.internal && s.name != "trash");
        let statuses = statuses.chain(rest.site.registries.statuses.get("trash"));
        Ok(statuses.filter(|s| is_visible(s, is_writer)).cloned().collect::<Vec<_>>().into())
    }

    /// As in WordPress, the links do not depend on `_fields`.
    fn wants_links(_: &View) -> bool {
        true
    }

    fn links(rest: &Arc<RestSite>, status: &PostStatus, req: &Request) -> Result<Links> {
        let mut links = Links::new();
        if let Some(posts) = rest.site.registries.types.get("post") {
            let posts = rest.site.settings(req.cx())?.urls.rest(&rest.site.route_of_type(posts));
            let posts = if status.name == "publish" { posts } else { with_query(&posts, "status", &status.name) };
            links.add("archives", Link::new(posts));
        }
        Ok(links)
    }

    fn check_fetch(rest: &Arc<RestSite>, req: &Request) -> Result<Option<PostStatus>> {
        let name: String = req.require("status")?;
        let status = rest.site.registries.statuses.get(&name).ok_or_else(not_found)?;
        if is_visible(status, is_writer(&rest.site, req)?) { Ok(Some(status.clone())) } else { Err(cannot_read(req)) }
    }

    fn routes(family: &RegistryFamily<Self>) -> Vec<Route<RegistryFamily<Self>>> {
        let name = Args::from([("status", string().describe("Name of the status."))]);
        vec![
            family.list_route("/statuses", context_args()),
            family.fetch_route(r"/statuses/(?P<status>[\w-]+)", context_args()).args(name),
        ]
    }
}
