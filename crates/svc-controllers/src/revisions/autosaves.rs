//! Autosaves: what editors have typed but not saved, one for each post and editor.

use std::sync::Arc;

use serde_json::Value;
use svc_model::{Post, PostType, RestController};
use svc_resource::View;
use svc_routing::{CREATABLE, Controller, ExtraFields, Request, Response, Result, Route, get, on};
use svc_schema::{
    Args, MethodKind, Schema,
    build::{integer, string},
};
use svc_store::posts;

use super::{Parent, RevisionTable, parent, parent_arg};
use crate::{
    RestSite,
    args::context_arg,
    errors, menus,
    posts::{Authorized, Posts, validators},
    request::nonce,
    respond,
};

/// The address at which an editor looks at what he has not published.
const PREVIEW: &str = "preview_link";

/// The autosaves of one post type.
pub struct Autosaves {
    site: Arc<RestSite>,
    post_type: Arc<PostType>,
    /// The posts themselves, whose rights are those of autosaves.
    posts: Arc<Posts>,
    /// What can be said of a post when it is changed.
    args: Args,
    table: RevisionTable,
}

impl Autosaves {
    /// The autosaves of this type.
    pub fn new(site: &Arc<RestSite>, post_type: &PostType, extra: &ExtraFields) -> Self {
        let posts = Arc::new(Posts::new(site, post_type, extra));
        let args = match post_type.rest_controller {
            RestController::MenuItems => menus::edit_args(site, post_type, extra),
            _ => posts.args(MethodKind::Editable),
        };
        let post_type = Arc::new(post_type.clone());
        let preview = string().describe("Address that shows the autosave.").format("uri").context(&["edit"]).readonly();
        let table = RevisionTable::new(site, &post_type, extra).with(|f| {
            f.add(PREVIEW, preview);
        });
        Autosaves { site: Arc::clone(site), post_type, posts, args, table }
    }

    /// The wire forms of autosaves of a post, of which one may be the post's own row.
    async fn show(&self, req: &Request, parent: &Parent, autosaves: Vec<Post>, view: &View) -> Result<Vec<Value>> {
        let plan = self.table.plan(view);
        let beside = autosaves.iter().any(|a| a.post_type == "revision");
        let wants_preview = view.context == "edit" && view.includes(PREVIEW) && !autosaves.is_empty();
        let preview = if wants_preview { Some(self.preview(req, parent, beside)?) } else { None };
        let items = self.site.read(|db| self.table.load(db, &parent.settings, autosaves, &plan))?;
        let mut shown = Vec::with_capacity(items.len());
        for item in &items {
            let (mut data, links) = self.table.show(item, req, view, &plan).await?;
            if let Some(preview) = &preview {
                data.insert(PREVIEW.to_owned(), preview.as_str().into());
            }
            shown.push(respond::with_links(data, links, req));
        }
        Ok(shown)
    }

    /// A response that shows one autosave.
    async fn show_one(&self, req: &Request, parent: &Parent, autosave: Post, view: &View) -> Result<Response> {
        let mut shown = self.show(req, parent, vec![autosave], view).await?;
        Ok(Response::new(shown.pop().unwrap_or_default()))
    }

    /// The address that shows the post as it was autosaved; empty for types without pages. An autosave beside the post is
    /// named, with a nonce for it.
    fn preview(&self, req: &Request, Parent { post, settings }: &Parent, beside: bool) -> Result<String> {
        if !self.post_type.is_viewable() {
            return Ok(String::new());
        }
        let address = self.posts.address_of(settings, post.clone())?;
        let joint = if address.contains('?') { '&' } else { '?' };
        if !beside {
            return Ok(format!("{address}{joint}preview=true"));
        }
        let nonce = nonce(&self.site, req, &format!("post_preview_{}", post.id));
        Ok(format!("{address}{joint}preview_id={}&preview_nonce={nonce}&preview=true", post.id))
    }
}

impl Controller for Autosaves {
    fn routes(&self) -> Vec<Route<Self>> {
        let base = &self.post_type.rest_base;
        let schema = Schema::compile(self.table.item_schema());
        let context = || Args::from([("context", context_arg())]);
        let id = ("id", integer().describe("Number of the autosave; the latest one is shown."));
        vec![
            Route::new(format!(r"/{base}/(?P<id>[\d]+)/autosaves"))
                .schema(schema.clone())
                .args(Args::from([parent_arg()]))
                .endpoint(get(Self::list, Self::can_list).args(context()))
                .endpoint(
                    on(CREATABLE, Self::create, Self::can_create)
                        .args(self.args.clone())
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

    async fn can_list(self: Arc<Self>, req: Request) -> Result<Parent> {
        parent(&self.site, &self.post_type, &req, "id")
    }

    async fn list(self: Arc<Self>, req: Request, parent: Parent) -> Result<Response> {
        if req.is_head() {
            return Ok(Response::new(Value::Null));
        }
        let view = respond::view(&req);
        let autosaves = self.site.read(|db| Ok(posts::autosaves(db, parent.post.id)?))?;
        Ok(Response::new(Value::Array(self.show(&req, &parent, autosaves, &view).await?)))
    }

    // Fetch

    async fn can_fetch(self: Arc<Self>, req: Request) -> Result<Parent> {
        parent(&self.site, &self.post_type, &req, "parent")
    }

    /// The latest autosave of the post, whichever one the address names: so the peer.
    async fn fetch(self: Arc<Self>, req: Request, parent: Parent) -> Result<Response> {
        let latest = self.site.read(|db| Ok(posts::latest_autosave(db, parent.post.id, None)?))?;
        let autosave = latest.ok_or_else(errors::no_autosave)?;
        if req.is_head() {
            return Ok(Response::new(Value::Null));
        }
        self.show_one(&req, &parent, autosave, &respond::view(&req)).await
    }

    // Create

    /// Whoever may change the post, in the ways that the request names.
    async fn can_create(self: Arc<Self>, req: Request) -> Result<Authorized> {
        Arc::clone(&self.posts).can_update(req).await
    }

    async fn create(self: Arc<Self>, req: Request, granted: Authorized) -> Result<Response> {
        let parent = Parent { settings: Arc::clone(&granted.settings), post: granted.post.clone() };
        let id = self.posts.autosave(&req, granted).await?;
        let autosave = self.posts.saved(id)?;
        let parent = if id == parent.post.id { Parent { post: autosave.clone(), ..parent } } else { parent };
        self.show_one(&req, &parent, autosave, &respond::edit_view(&req)).await
    }
}
