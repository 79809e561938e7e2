//! Icons and their collections: list and fetch. For those who may write posts of some type.

use std::sync::Arc;

use serde_json::Value;
use svc_render::icons::{Icon, IconCollection};
use svc_resource::Fields;
use svc_routing::{Controller, ExtraFields, Map, Request, Response, Result, Route, forbidden, get};
use svc_schema::{
    Arg, Args, Error, Schema,
    build::{integer, string},
};
use svc_site::Access;

use crate::{
    RestSite,
    args::{context_arg, one_line},
    caller,
    contexts::VIEW_EDIT_EMBED,
    respond,
};

/// The object types that additional fields name.
const ICON: &str = "icon";
const COLLECTION: &str = "icon-collection";

fn cannot_view(req: &Request) -> Error {
    forbidden(req, "rest_cannot_view", "You are not allowed to see icons.")
}

fn not_found() -> Error {
    Error::new("rest_icon_not_found", "There is no such icon.").with_status(404)
}

fn collection_not_found() -> Error {
    Error::new("rest_icon_collection_not_found", "There is no such collection of icons.").with_status(404)
}

/// An icon with its place.
struct Placed {
    collection: String,
    name: String,
    icon: Icon,
}

#[rustfmt::skip]
fn icon_fields() -> Fields<Placed, ()> {
    let mut f = Fields::<Placed, ()>::new(ICON);
    f.add("name", string().describe("The icon's name, behind that of its collection.").context(VIEW_EDIT_EMBED).readonly()).get(|i| format!("{}/{}", i.collection, i.name));
    f.add("label", string().describe("What people call it.").context(VIEW_EDIT_EMBED).readonly()).get(|i| i.icon.label.clone());
    f.add("content", string().describe("The drawing, as SVG.").context(VIEW_EDIT_EMBED).readonly()).get(|i| i.icon.svg.clone());
    f.add("collection", string().describe("Name of its collection.").context(VIEW_EDIT_EMBED).readonly()).get(|i| i.collection.clone());
    f
}

#[rustfmt::skip]
fn collection_fields() -> Fields<IconCollection, ()> {
    let mut f = Fields::<IconCollection, ()>::new(COLLECTION);
    f.add("slug", string().describe("The collection's name for programs.").context(VIEW_EDIT_EMBED).readonly()).get(|c| c.slug.clone());
    f.add("label", string().describe("What people call it.").context(VIEW_EDIT_EMBED).readonly()).get(|c| c.label.clone());
    f.add("description", string().describe("What it is.").context(VIEW_EDIT_EMBED).readonly()).get(|c| c.description.clone());
    f
}

/// The routes of icons.
pub struct IconRoutes {
    site: Arc<RestSite>,
    icons: Fields<Placed, ()>,
    collections: Fields<IconCollection, ()>,
    extra: ExtraFields,
}

impl IconRoutes {
    /// The routes on this site.
    pub fn new(site: &Arc<RestSite>, extra: &ExtraFields) -> Self {
        IconRoutes {
            site: Arc::clone(site),
            icons: icon_fields().with_extra(extra, ICON),
            collections: collection_fields().with_extra(extra, COLLECTION),
            extra: extra.clone(),
        }
    }

    async fn show<T>(&self, fields: &Fields<T, ()>, object: &str, item: &T, req: &Request) -> Result<Map> {
        let view = respond::view(req);
        let mut data = fields.plan(&view).prepare(item);
        respond::add_extra(&self.extra, object, &mut data, req, &view).await?;
        Ok(data)
    }

    async fn can_read(self: Arc<Self>, req: Request) -> Result<()> {
        let settings = self.site.settings()?;
        let access = Access::new(&self.site, &settings);
        let caller = caller(&req);
        let mut served = self.site.types.iter().filter(|t| t.show_in_rest);
        if access.can(&caller, "edit_posts") || served.any(|t| access.can(&caller, &t.caps.edit_posts)) {
            Ok(())
        } else {
            Err(cannot_view(&req))
        }
    }

    /// All icons, or those of one collection, that match the search. There are no pages.
    async fn list(self: Arc<Self>, req: Request) -> Result<Response> {
        let wanted: Option<String> = req.arg("collection")?;
        let all = &self.site.icons.0;
        if wanted.as_ref().is_some_and(|slug| !all.contains_key(slug)) {
            return Err(collection_not_found());
        }
        // PHP takes a zero for nothing.
        let search = req.arg::<String>("search")?.filter(|text| text != "0").unwrap_or_default().to_lowercase();
        let mut items = Vec::new();
        for collection in all.values().filter(|c| wanted.as_ref().is_none_or(|slug| *slug == c.slug)) {
            let fits = |name: &str, icon: &Icon| {
                format!("{}/{name}", collection.slug).contains(&search) || icon.label.to_lowercase().contains(&search)
            };
            for (name, icon) in collection.icons.iter().filter(|(name, icon)| fits(name, icon)) {
                let placed = Placed { collection: collection.slug.clone(), name: name.clone(), icon: icon.clone() };
                let data = self.show(&self.icons, ICON, &placed, &req).await?;
                items.push(respond::with_links(data, None, &req));
            }
        }
        Ok(Response::new(Value::Array(items)))
    }

    async fn fetch(self: Arc<Self>, req: Request) -> Result<Response> {
        let full: String = req.require("name")?;
        let (collection, name) = full.split_once('/').ok_or_else(not_found)?;
        let icon = self.site.icons.0.get(collection).and_then(|c| c.icons.get(name)).ok_or_else(not_found)?;
        let placed = Placed { collection: collection.to_owned(), name: name.to_owned(), icon: icon.clone() };
        Ok(respond::single(self.show(&self.icons, ICON, &placed, &req).await?, None))
    }

    async fn list_collections(self: Arc<Self>, req: Request) -> Result<Response> {
        let mut items = Vec::new();
        for collection in self.site.icons.0.values() {
            let data = self.show(&self.collections, COLLECTION, collection, &req).await?;
            items.push(respond::with_links(data, None, &req));
        }
        Ok(Response::new(Value::Array(items)))
    }

    async fn fetch_collection(self: Arc<Self>, req: Request) -> Result<Response> {
        let slug: String = req.require("slug")?;
        let collection = self.site.icons.0.get(&slug).ok_or_else(collection_not_found)?;
        Ok(respond::single(self.show(&self.collections, COLLECTION, collection, &req).await?, None))
    }
}

impl Controller for IconRoutes {
    #[rustfmt::skip]
    fn routes(&self) -> Vec<Route<Self>> {
        const SLUG: &str = "[a-z0-9](?:[a-z0-9_-]*[a-z0-9])?";
        let icon = Schema::compile(self.icons.item_schema());
        let collection = Schema::compile(self.collections.item_schema());
        let context = || ("context", context_arg());
        let search = || Arg::by_schema(string().describe("Only what has this text in its name.")).sanitize_with(one_line);
        let paging = || Args::from([
            context(),
            ("page", Arg::by_schema(integer().describe("Page of the list.").default(1).minimum(1))),
            ("per_page", Arg::by_schema(integer().describe("Items on a page.").default(10).range(1..=100))),
        ]).with("search", search());
        let only = || {
            let only = string().describe("Only icons of this collection.").pattern("^[a-z0-9]([a-z0-9_-]*[a-z0-9])?$");
            Arg::new(only.compile())
        };
        vec![
            Route::new("/icons").schema(icon.clone()).endpoint(get(Self::list, Self::can_read).args(paging().with("collection", only()))),
            Route::new(format!("/icons/(?P<collection>{SLUG})"))
                .schema(icon.clone())
                .args(Args::from([("collection", only())]))
                .endpoint(get(Self::list, Self::can_read).args(paging())),
            Route::new(format!("/icons/(?P<name>{SLUG}/{SLUG})"))
                .schema(icon)
                .args(Args::from([("name", string().describe("The icon's name, behind that of its collection."))]))
                .endpoint(get(Self::fetch, Self::can_read).args(Args::from([context()]))),
            Route::new("/icon-collections")
                .schema(collection.clone())
                .endpoint(get(Self::list_collections, Self::can_read).args(paging())),
            Route::new(format!("/icon-collections/(?P<slug>{SLUG})"))
                .schema(collection)
                .args(Args::from([("slug", string().describe("The collection's name for programs."))]))
                .endpoint(get(Self::fetch_collection, Self::can_read).args(Args::from([context()]))),
        ]
    }
}
