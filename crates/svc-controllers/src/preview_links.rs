//! Preview links: a user who may edit a post creates links with which anyone may read it for a while.

use std::sync::Arc;

use serde_json::{Map, json};
use svc_auth::caps::PostCap;
use svc_model::{Post, PostId, PostType};
use svc_php::cast::to_int;
use svc_resource::Fields;
use svc_routing::{CREATABLE, Controller, DELETABLE, Request, Response, Result, Returns, Route, get, on};
use svc_schema::{
    Args, Schema,
    build::{SchemaBuilder, integer, string, types},
};
use svc_site::{
    Access, Settings, Site,
    errors::preview_links as link_errors,
    permalinks,
    preview_links::{self, DEFAULT_LIFETIME, LIFETIMES, PreviewLink, TOKEN_PARAM},
};
use svc_store::posts;

use crate::{caller, errors, preview, request::only_reads, respond};

/// Maximum length of the URL to share, in bytes: mail programs, proxies and browsers cut longer ones.
const MAX_URL: usize = 2_000;

/// A link as it is shown. Only the response to its creation has the token and what contains it.
struct ShownLink {
    link: PreviewLink,
    post: i64,
    with_token: Option<WithToken>,
}

struct WithToken {
    token: String,
    url: String,
    page_url: Option<String>,
    rest_url: String,
}

/// The controller for preview links.
pub struct PreviewLinks {
    site: Arc<Site>,
    fields: Fields<ShownLink, ()>,
}

#[rustfmt::skip]
fn fields() -> Fields<ShownLink, ()> {
    let mut f = Fields::<ShownLink, ()>::new("preview-link");
    let date = |about: &str| field(string().describe(about).format("date-time"));
    let secret = |about: &str| field(string().describe(about));
    f.add("id", field(string().describe("ID of the link."))).get(|l| l.link.id.clone());
    f.add("post", field(integer().describe("ID of the post that the link shows."))).get(|l| l.post);
    f.add("revision", field(types(["integer", "null"]).describe("ID of the revision or autosave that the link shows instead of the stored texts."))).get(|l| (l.link.revision > 0).then_some(l.link.revision));
    f.add("author", field(integer().describe("ID of the user who created the link."))).get(|l| l.link.creator);
    f.add("created_gmt", date("When the link was created, in UTC.")).get(|l| time(l.link.created));
    f.add("expires_gmt", date("When the link ends, in UTC.")).get(|l| time(l.link.expires));
    f.add("token", secret("Token for the parameter `preview_token`. Only in the response to the creation of the link.")).get(|l| l.with_token.as_ref().map(|t| t.token.clone())).when(|l| l.with_token.is_some());
    f.add("url", secret("URL to share: of the front end if the setting `preview_url` names one, and of the site's page otherwise.")).get(|l| l.with_token.as_ref().map(|t| t.url.clone())).when(|l| l.with_token.is_some());
    f.add("page_url", field(types(["string", "null"]).describe("URL of the post's page on the site, with the token."))).get(|l| l.with_token.as_ref().and_then(|t| t.page_url.clone())).when(|l| l.with_token.is_some());
    f.add("rest_url", secret("URL of the post in the REST API, with the token.")).get(|l| l.with_token.as_ref().map(|t| t.rest_url.clone())).when(|l| l.with_token.is_some());
    f
}

fn field(schema: SchemaBuilder) -> SchemaBuilder {
    schema.context(&["view"]).readonly()
}

/// Seconds since the epoch as a date in UTC.
fn time(seconds: i64) -> String {
    let date = chrono::DateTime::from_timestamp(seconds, 0).unwrap_or_default();
    date.format("%Y-%m-%dT%H:%M:%S").to_string()
}

/// A post whose links the caller may manage.
struct OwnPost {
    post: Post,
    post_type: PostType,
    settings: Arc<Settings>,
}

impl PreviewLinks {
    /// The controller for this site.
    pub fn new(site: &Arc<Site>) -> Self {
        PreviewLinks { site: Arc::clone(site), fields: fields() }
    }

    /// The post, which the caller may edit. Only types with routes for single posts have links.
    fn own_post(&self, req: &Request, id: PostId) -> Result<OwnPost> {
        // Nothing is read for callers who may edit nothing.
        if !caller(req).is_logged_in() {
            return Err(errors::cannot_edit(req));
        }
        self.site.read(req.cx(), |db| {
            let post = if id.0 > 0 { posts::get(db, id)? } else { None };
            let types = &self.site.registries.types;
            let post_type = post.as_ref().and_then(|post| types.get(&post.post_type)).filter(|t| preview::has_links(t));
            let (Some(post), Some(post_type)) = (post, post_type.cloned()) else {
                return Err(errors::post_not_found().into());
            };
            let settings = self.site.settings_in(db)?;
            let access = Access::of_posts(&self.site, &settings, db, std::slice::from_ref(&post))?;
            if !caller(req).can_post(PostCap::Edit, &post, &access) {
                return Err(errors::cannot_edit(req).into());
            }
            drop(access);
            Ok(OwnPost { post, post_type, settings })
        })
    }

    fn show(&self, link: PreviewLink, req: &Request, with_token: Option<WithToken>) -> Map<String, serde_json::Value> {
        let post = link.post().unwrap_or(PostId(0)).0;
        self.fields.plan(&respond::view(req)).prepare(&ShownLink { link, post, with_token })
    }

    fn with_token(&self, link: &PreviewLink, own: &OwnPost) -> Result<WithToken> {
        let OwnPost { post, post_type, settings } = own;
        let token = link.token(&self.site).ok_or_else(link_errors::no_keys)?;
        let urls = &settings.urls.site;
        let home = urls.home_url("/");
        let page_url =
            post_type.is_viewable().then(|| format!("{home}?p={}&preview=true&{TOKEN_PARAM}={token}", post.id.0));
        let rest = settings.urls.rest(&permalinks::rest_route_of(&self.site, settings, post_type, post.id));
        let joint = if rest.contains('?') { '&' } else { '?' };
        let rest_url = format!("{rest}{joint}{TOKEN_PARAM}={token}");
        let url = match (&self.site.services.preview_url, &page_url) {
            (Some(template), _) => template
                .replace("{id}", &post.id.0.to_string())
                .replace("{type}", &post_type.name)
                .replace("{token}", &token),
            (None, Some(page)) => page.clone(),
            (None, None) => rest_url.clone(),
        };
        if url.len() > MAX_URL {
            return Err(link_errors::url_too_long());
        }
        Ok(WithToken { token, url, page_url, rest_url })
    }

    // List

    async fn can_list(self: Arc<Self>, req: Request) -> Result<OwnPost> {
        self.own_post(&req, post_param(&req))
    }

    async fn list(self: Arc<Self>, req: Request, own: OwnPost) -> Result<Response> {
        let now = self.site.now(req.cx()).and_utc().timestamp();
        let links = self.site.read(req.cx(), |db| preview_links::list(db, own.post.id, now))?;
        let shown: Vec<_> = links.into_iter().map(|link| self.show(link, &req, None)).collect();
        Ok(Response::new(json!(shown)))
    }

    // Create

    async fn can_create(self: Arc<Self>, req: Request) -> Result<OwnPost> {
        if only_reads(&req) {
            return Err(errors::cannot_edit(&req));
        }
        self.own_post(&req, post_param(&req))
    }

    async fn create(self: Arc<Self>, req: Request, own: OwnPost) -> Result<Response> {
        if own.post.status == "trash" {
            return Err(link_errors::in_trash());
        }
        let revision: Option<i64> = req.arg("revision")?;
        let lifetime: i64 = req.require("expires_in")?;
        let (post, creator) = (own.post.id, caller(&req).id);
        let now = self.site.clock().and_utc().timestamp();
        let revision = revision.map(PostId);
        let this = Arc::clone(&self);
        let created = self.site.write(req.cx(), move |tx| {
            if let Some(id) = revision
                && preview_links::revision_of(tx, post, id)?.is_none()
            {
                return Err(link_errors::invalid_revision().into());
            }
            let link = preview_links::create(tx, post, revision, creator, now, lifetime)?;
            // A link that cannot be shown is not stored.
            let with_token = this.with_token(&link, &own)?;
            Ok((link, with_token))
        });
        let (link, with_token) = created.await?;
        let data = self.show(link, &req, Some(with_token));
        Ok(preview::protect(respond::single(data, None).status(201)))
    }

    // Delete

    async fn can_delete(self: Arc<Self>, req: Request) -> Result<String> {
        if only_reads(&req) {
            return Err(errors::cannot_edit(&req));
        }
        let id: String = req.require("id")?;
        let post = preview_links::post_of(&id).ok_or_else(link_errors::not_found)?;
        self.own_post(&req, post).map(|_| id)
    }

    async fn delete(self: Arc<Self>, req: Request, id: String) -> Result<Response> {
        let link = self
            .site
            .write(req.cx(), move |tx| preview_links::delete(tx, &id)?.ok_or_else(|| link_errors::not_found().into()));
        let previous = self.show(link.await?, &req, None);
        Ok(respond::deleted(previous))
    }
}

fn post_param(req: &Request) -> PostId {
    PostId(req.param("post").map_or(0, to_int))
}

impl Controller for PreviewLinks {
    fn routes(&self) -> Vec<Route<Self>> {
        let schema = Schema::compile(self.fields.item_schema());
        let post = || integer().describe("ID of the post. Requires permission to edit it.").minimum(1).required();
        let revision = integer().describe("ID of a revision or autosave of the post, to show its texts.").minimum(1);
        let lifetime = integer().describe("Lifetime of the link, in seconds.").default(DEFAULT_LIFETIME);
        let create = Args::from([("post", post()), ("revision", revision), ("expires_in", lifetime.range(LIFETIMES))]);
        let id = string().describe("ID of the link.");
        vec![
            Route::new("/preview-links")
                .unlisted()
                .schema(schema.clone())
                .endpoint(get(Self::list, Self::can_list).args(Args::from([("post", post())])).returns(Returns::List))
                .endpoint(on(CREATABLE, Self::create, Self::can_create).args(create).example(json!({ "post": 1 }))),
            Route::new(r"/preview-links/(?P<id>[\d]+-[A-Za-z0-9]+)")
                .unlisted()
                .schema(schema)
                .args(Args::from([("id", id)]))
                .endpoint(on(DELETABLE, Self::delete, Self::can_delete)),
        ]
    }
}
