//! Menu items: posts of type `nav_menu_item` that link to a post, a term, an archive or a URL.
//!
//! The link's target and attributes are stored in meta. Permissions are those of posts; reading also requires the permission
//! to view menus.

mod fields;
mod links;
mod write;

use std::sync::Arc;

use serde_json::json;
use svc_model::{Post, PostType};
use svc_resource::{LazyTyped, Typed, View};
use svc_routing::{
    CREATABLE, Controller, DELETABLE, EDITABLE, ExtraFields, Links, Map, Request, Response, Result, Route, get, on,
};
use svc_schema::{Args, MethodKind, Schema, build::integer};
use svc_site::{
    Access, Site,
    menus::item::{self, NavItem},
};
use svc_store::posts as stored_posts;

use self::{
    fields::{ItemDraft, ItemFields},
    links::LinkContext,
};
use super::check_read;
use crate::encoded_items::{ItemReader, PreparedItem};
use crate::preconditions;
use crate::{
    RestSite,
    args::context_arg,
    caller, cost,
    errors::{post_not_found, trash_not_supported},
    posts::{
        Authorized, AuthorizedChange, Posts,
        params::{self, PostList},
        validators,
    },
    respond,
};

/// The menu item routes.
pub struct MenuItems {
    site: Arc<Site>,
    post_type: Arc<PostType>,
    posts: Arc<Posts>,
    fields: ItemFields,
    extra: ExtraFields,
}

/// Parameters of updates of menu items.
pub(crate) fn edit_args(site: &Arc<Site>, post_type: &PostType, extra: &ExtraFields) -> Args {
    fields::fields(site, post_type).with_extra(extra, &post_type.name).args(MethodKind::Editable)
}

impl MenuItems {
    /// The routes of this post type.
    pub fn new(rest: &Arc<RestSite>, post_type: &PostType, extra: &ExtraFields) -> Self {
        let list_params = params::ordered(
            params::params(&rest.site, post_type),
            100,
            "asc",
            "menu_order",
            &params::orders(post_type),
        );
        MenuItems {
            site: Arc::clone(&rest.site),
            posts: Arc::new(Posts::new(rest, post_type, extra).with_params(list_params)),
            fields: fields::fields(&rest.site, post_type).with_extra(extra, &post_type.name),
            post_type: Arc::new(post_type.clone()),
            extra: extra.clone(),
        }
    }

    /// The response fields of an item, without links.
    async fn finish(&self, item: &NavItem, req: &Request, view: &View) -> Result<Map> {
        let mut data = self.fields.plan(view).prepare(item);
        if item.menu.is_none() {
            // WordPress omits this field for items without a menu.
            data.shift_remove("menus");
        }
        respond::finish(&self.extra, &self.post_type.name, item.post.id.0, data, req, view).await
    }

    /// A response with one item.
    async fn show(&self, req: &Request, post: Post, view: View) -> Result<Response> {
        let caller = caller(req);
        let loaded = self.site.read(req.cx(), |db| {
            let settings = self.site.settings_in(db)?;
            let access = Access::of_posts(&self.site, &settings, db, std::slice::from_ref(&post))?;
            let item = item::items(db, &self.site, &settings, &caller, vec![post])?.pop();
            let link_context = LinkContext {
                site: &self.site,
                settings: &settings,
                post_type: &self.post_type,
                caller: &caller,
                access: &access,
                view: &view,
            };
            Ok(item.map(|item| (link_context.links(&item), item)))
        })?;
        let Some((links, item)) = loaded else { return Err(post_not_found()) };
        Ok(respond::single(self.finish(&item, req, &view).await?, links))
    }

    // List

    async fn can_list(self: Arc<Self>, req: Request) -> Result<LazyTyped<PostList>> {
        let list = Arc::clone(&self.posts).can_list(req.clone()).await?;
        check_read(&self.site, &req)?;
        Ok(list)
    }

    async fn list(self: Arc<Self>, req: Request, list: LazyTyped<PostList>) -> Result<Response> {
        let items = ItemReader::uncached(&req);
        let prepare = async |req: Request, ids: &[i64]| self.prepare(&req, items.view(), ids).await;
        self.posts.list_of(&req, list, &items, &self.site.route_of_type(&self.post_type), prepare).await
    }

    async fn prepare(&self, req: &Request, view: &View, ids: &[i64]) -> Result<Vec<PreparedItem>> {
        let caller = caller(req);
        let loaded: Vec<(Option<Links>, NavItem)> =
            self.posts.load_visible(req, ids, |db, settings, access, rows| {
                let (site, post_type) = (&self.site, &*self.post_type);
                let link_context = LinkContext { site, settings, post_type, caller: &caller, access, view };
                let items = item::items(db, site, settings, &caller, rows)?;
                Ok(items.into_iter().map(|item| (link_context.links(&item), item)).collect())
            })?;
        let mut prepared = Vec::with_capacity(loaded.len());
        for (links, item) in loaded {
            prepared.push(PreparedItem::new(item.post.id.0, self.finish(&item, req, view).await?, links));
        }
        Ok(prepared)
    }

    // Fetch

    async fn can_fetch(self: Arc<Self>, req: Request) -> Result<Authorized> {
        let authorized = Arc::clone(&self.posts).can_fetch(req.clone()).await?;
        check_read(&self.site, &req)?;
        Ok(authorized)
    }

    async fn fetch(self: Arc<Self>, req: Request, authorized: Authorized) -> Result<Response> {
        self.show(&req, authorized.post, respond::view(&req)).await
    }

    // Create

    async fn can_create(self: Arc<Self>, req: Request) -> Result<Typed<ItemDraft>> {
        self.posts.authorize_create(&req, &self.fields)
    }

    async fn create(self: Arc<Self>, req: Request, draft: Typed<ItemDraft>) -> Result<Response> {
        let id = self.save(&req, draft, None).await?;
        let route = format!("{}/{id}", self.site.route_of_type(&self.post_type));
        let location = self.site.settings(req.cx())?.urls.rest(&route);
        let response = self.show(&req, self.posts.saved(req.cx(), id)?, respond::edit_view(&req)).await?;
        Ok(response.status(201).header("Location", location))
    }

    // Update

    async fn can_update(self: Arc<Self>, req: Request) -> Result<AuthorizedChange<ItemDraft>> {
        self.posts.authorize_update(&req, &self.fields)
    }

    async fn update(self: Arc<Self>, req: Request, change: AuthorizedChange<ItemDraft>) -> Result<Response> {
        let id = self.save(&req, change.draft, Some(change.authorized.post)).await?;
        self.show(&req, self.posts.saved(req.cx(), id)?, respond::edit_view(&req)).await
    }

    // Delete

    async fn can_delete(self: Arc<Self>, req: Request) -> Result<Authorized> {
        Arc::clone(&self.posts).can_delete(req).await
    }

    async fn delete(self: Arc<Self>, req: Request, authorized: Authorized) -> Result<Response> {
        if !respond::is_forced(&req)? {
            return Err(trash_not_supported());
        }
        let id = authorized.post.id;
        // Unlike other families, menu items are returned in the context of the request, which is not an argument here.
        let context = req.param("context").map(|value| svc_php::cast::to_text(value).into_owned());
        let context = context.filter(|name| !matches!(name.as_str(), "" | "0"));
        let view = respond::previous_view(&req, context.as_deref().unwrap_or("view"));
        let previous = self.show(&req, authorized.post, view).await?;
        self.site.write(req.cx(), move |tx| Ok(stored_posts::delete(tx, id)?.ok_or_else(post_not_found)?)).await?;
        Ok(respond::deleted(previous.data))
    }
}

impl Controller for MenuItems {
    #[rustfmt::skip]
    fn routes(&self) -> Vec<Route<Self>> {
        let base = &self.post_type.rest_base;
        let schema = Schema::compile(self.fields.item_schema());
        let args = |kind| self.fields.args(kind);
        let id = integer().describe("The menu item's ID.");
        let force = crate::args::force("Must be true: menu items cannot be trashed.");
        vec![
            Route::new(format!("/{base}"))
                .schema(schema.clone())
                .allow_batch()
                .endpoint(get(Self::list, Self::can_list).cost(cost::of_list).args(self.posts.query_args()).sanitize_arg("status", validators::statuses(&self.site, &self.post_type)))
                .endpoint(on(CREATABLE, Self::create, Self::can_create).args(args(MethodKind::Creatable)).example(json!({"title": "Example", "url": "https://example.org/"}))),
            Route::new(format!(r"/{base}/(?P<id>[\d]+)"))
                .conditional(preconditions::on_post(&self.site))
                .schema(schema)
                .args(Args::from([("id", id)]))
                .allow_batch()
                .endpoint(get(Self::fetch, Self::can_fetch).args(Args::from([("context", context_arg())])))
                .endpoint(on(EDITABLE, Self::update, Self::can_update).args(args(MethodKind::Editable)).example(json!({"title": "A better label"})))
                .endpoint(on(DELETABLE, Self::delete, Self::can_delete).args(Args::from([("force", force)]))),
        ]
    }
}
