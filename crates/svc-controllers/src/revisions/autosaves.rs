//! Autosaves: unsaved changes of editors, one per post and editor.

use std::sync::Arc;

use svc_model::{Post, PostType, RouteFamily};
use svc_resource::View;
use svc_routing::{CREATABLE, Controller, ExtraFields, Links, Map, Request, Response, Result, Route, get, on};
use svc_schema::{
    Args, MethodKind, Schema,
    build::{integer, string},
};
use svc_store::{Db, posts};

use super::{RevisionParent, RevisionTable, parent, parent_arg, parent_or_previewed, protected};
use crate::{
    RestSite,
    args::context_arg,
    caller, errors, menus,
    posts::{Authorized, AuthorizedChange, Posts, fields, validators},
    request::nonce,
    respond,
};
use svc_site::Site;

/// Field with the URL of the preview.
const PREVIEW: &str = "preview_link";

/// The autosaves of one post type.
pub struct Autosaves {
    site: Arc<Site>,
    post_type: Arc<PostType>,
    /// The posts, whose permissions also apply to their autosaves.
    posts: Arc<Posts>,
    /// The arguments of an update of the post.
    args: Args,
    table: RevisionTable,
}

impl Autosaves {
    /// The autosaves of this type.
    pub fn new(rest: &Arc<RestSite>, post_type: &PostType, extra: &ExtraFields) -> Self {
        let posts = Arc::new(Posts::new(rest, post_type, extra));
        let args = match post_type.route_family {
            RouteFamily::MenuItems => menus::edit_args(&rest.site, post_type, extra),
            _ => posts.args(MethodKind::Editable),
        };
        let post_type = Arc::new(post_type.clone());
        let preview = string().describe("URL of the autosave's preview.").format("uri").context(&["edit"]).readonly();
        let table = RevisionTable::new(&rest.renderer, &post_type, extra).with(|f| {
            f.add(PREVIEW, preview);
        });
        Autosaves { site: Arc::clone(&rest.site), post_type, posts, args, table }
    }

    /// The fields and links of autosaves of a post. One of them may be the post itself.
    async fn show(
        &self,
        req: &Request,
        parent: &RevisionParent,
        autosaves: Vec<Post>,
        view: &View,
    ) -> Result<Vec<(Map, Option<Links>)>> {
        let plan = self.table.plan(view);
        let is_revision = autosaves.iter().any(|a| a.post_type == "revision");
        let wants_preview = view.context == "edit" && view.includes(PREVIEW) && !autosaves.is_empty();
        let preview = if wants_preview { Some(self.preview(req, parent, is_revision)?) } else { None };
        let items = self.site.read(req.cx(), |db| self.table.load(db, &parent.settings, autosaves, &plan))?;
        let mut shown = Vec::with_capacity(items.len());
        for item in &items {
            let (mut data, links) = self.table.show(item, req, view, &plan).await?;
            if let Some(preview) = &preview {
                data.insert(PREVIEW.to_owned(), preview.as_str().into());
            }
            shown.push((data, links));
        }
        Ok(shown)
    }

    /// A response with one autosave.
    async fn show_one(&self, req: &Request, parent: &RevisionParent, autosave: Post, view: &View) -> Result<Response> {
        let shown = self.show(req, parent, vec![autosave], view).await?.pop();
        let (data, links) = shown.unwrap_or_default();
        Ok(respond::single(data, links))
    }

    /// The URL that previews the post with its autosave; empty for types without pages. For an autosave that is a
    /// revision, it contains the post's id and a nonce.
    fn preview(
        &self,
        req: &Request,
        RevisionParent { post, settings }: &RevisionParent,
        is_revision: bool,
    ) -> Result<String> {
        if !self.post_type.is_viewable() {
            return Ok(String::new());
        }
        let url = self.posts.permalink(req.cx(), settings, &caller(req), post.clone())?;
        let separator = if url.contains('?') { '&' } else { '?' };
        if !is_revision {
            return Ok(format!("{url}{separator}preview=true"));
        }
        let nonce = nonce(req.cx(), &self.site, req, &format!("post_preview_{}", post.id));
        Ok(format!("{url}{separator}preview_id={}&preview_nonce={nonce}&preview=true", post.id))
    }
}

impl Controller for Autosaves {
    fn routes(&self) -> Vec<Route<Self>> {
        let base = &self.post_type.rest_base;
        let schema = Schema::compile(self.table.item_schema());
        let context = || Args::from([("context", context_arg())]);
        let id = ("id", integer().describe("ID of an autosave. The response always contains the latest one."));
        vec![
            Route::new(format!(r"/{base}/(?P<id>[\d]+)/autosaves"))
                .schema(schema.clone())
                .args(Args::from([parent_arg()]))
                .endpoint(get(Self::list, Self::can_list).args(context()))
                .endpoint(
                    on(CREATABLE, Self::create, Self::can_create)
                        .args(self.args.clone())
                        .example(fields::example(&self.args, fields::CHANGED))
                        .validate_arg("status", validators::status(&self.site, &self.post_type))
                        .validate_arg("template", validators::template(&self.site, &self.post_type)),
                ),
            Route::new(format!(r"/{base}/(?P<parent>[\d]+)/autosaves/(?P<id>[\d]+)"))
                .schema(schema)
                .args(Args::from([parent_arg(), id]))
                .endpoint(get(Self::fetch, Self::can_fetch).args(context())),
        ]
    }
}

impl Autosaves {
    // List

    async fn can_list(self: Arc<Self>, req: Request) -> Result<RevisionParent> {
        parent(&self.site, &self.post_type, &req, "id")
    }

    async fn list(self: Arc<Self>, req: Request, parent: RevisionParent) -> Result<Response> {
        let view = respond::view(&req);
        let autosaves = self.site.read(req.cx(), |db| Ok(posts::autosaves(db, parent.post.id)?))?;
        let shown = self.show(&req, &parent, autosaves, &view).await?.into_iter();
        Ok(respond::list(shown.map(|(data, links)| (data, links.filter(|_| view.wants_links()))), &req))
    }

    // Fetch

    async fn can_fetch(self: Arc<Self>, req: Request) -> Result<RevisionParent> {
        // The latest one is what `fetch` returns.
        let latest = |db: &mut Db, post| Ok(posts::latest_autosave(db, post, None)?.map(|autosave| autosave.id));
        parent_or_previewed(&self.site, &self.post_type, &req, latest)
    }

    /// As in WordPress, returns the latest autosave of the post and ignores the id.
    async fn fetch(self: Arc<Self>, req: Request, parent: RevisionParent) -> Result<Response> {
        let latest = self.site.read(req.cx(), |db| Ok(posts::latest_autosave(db, parent.post.id, None)?))?;
        let autosave = latest.ok_or_else(errors::no_autosave)?;
        let response = self.show_one(&req, &parent, autosave, &respond::view(&req)).await?;
        Ok(protected(&req, response))
    }

    // Create

    /// Requires permission to update the post with these fields.
    async fn can_create(self: Arc<Self>, req: Request) -> Result<AuthorizedChange> {
        Arc::clone(&self.posts).can_update(req).await
    }

    async fn create(self: Arc<Self>, req: Request, change: AuthorizedChange) -> Result<Response> {
        let Authorized { post, settings, .. } = &change.authorized;
        let parent = RevisionParent { settings: Arc::clone(settings), post: post.clone() };
        let id = self.posts.autosave(&req, change).await?;
        let autosave = self.posts.saved(req.cx(), id)?;
        let parent = if id == parent.post.id { RevisionParent { post: autosave.clone(), ..parent } } else { parent };
        self.show_one(&req, &parent, autosave, &respond::edit_view(&req)).await
    }
}
