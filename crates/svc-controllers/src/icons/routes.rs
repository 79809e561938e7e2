//! Icons and icon collections: list and fetch. Requires the capability to edit posts of any type.

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
    forbidden(req, "rest_cannot_view", "You are not allowed to view icons.")
}

fn not_found() -> Error {
    Error::new("rest_icon_not_found", "There is no such icon.").with_status(404)
}

fn collection_not_found() -> Error {
    Error::new("rest_icon_collection_not_found", "There is no such icon collection.").with_status(404)
}

/// An icon with its name and its collection.
struct NamedIcon {
    collection: String,
    name: String,
    icon: Icon,
}

#[rustfmt::skip]
fn icon_fields() -> Fields<NamedIcon, ()> {
    let mut f = Fields::<NamedIcon, ()>::new(ICON);
    f.add("name", string().describe("Name of the icon, with the slug of its collection.").context(VIEW_EDIT_EMBED).readonly()).get(|i| format!("{}/{}", i.collection, i.name));
    f.add("label", string().describe("Display name of the icon.").context(VIEW_EDIT_EMBED).readonly()).get(|i| i.icon.label.clone());
    f.add("content", string().describe("SVG markup of the icon.").context(VIEW_EDIT_EMBED).readonly()).get(|i| i.icon.svg.clone());
    f.add("collection", string().describe("Slug of the icon's collection.").context(VIEW_EDIT_EMBED).readonly()).get(|i| i.collection.clone());
    f
}

#[rustfmt::skip]
fn collection_fields() -> Fields<IconCollection, ()> {
    let mut f = Fields::<IconCollection, ()>::new(COLLECTION);
    f.add("slug", string().describe("The collection's slug.").context(VIEW_EDIT_EMBED).readonly()).get(|c| c.slug.clone());
    f.add("label", string().describe("Display name of the collection.").context(VIEW_EDIT_EMBED).readonly()).get(|c| c.label.clone());
    f.add("description", string().describe("Description of the collection.").context(VIEW_EDIT_EMBED).readonly()).get(|c| c.description.clone());
    f
}

/// The controller for icons and their collections.
pub struct IconRoutes {
    site: Arc<RestSite>,
    icons: Fields<NamedIcon, ()>,
    collections: Fields<IconCollection, ()>,
    extra: ExtraFields,
}

impl IconRoutes {
    /// The controller for this site.
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
        let mut types = self.site.types.iter().filter(|t| t.show_in_rest);
        if access.can(&caller, "edit_posts") || types.any(|t| access.can(&caller, &t.caps.edit_posts)) {
            Ok(())
        } else {
            Err(cannot_view(&req))
        }
    }

    /// Lists the icons that match the search, of one collection or of all. The list is not paged.
    async fn list(self: Arc<Self>, req: Request) -> Result<Response> {
        let slug: Option<String> = req.arg("collection")?;
        let all = &self.site.icons.0;
        if slug.as_ref().is_some_and(|slug| !all.contains_key(slug)) {
            return Err(collection_not_found());
        }
        // In PHP the string `0` is falsy.
        let search = req.arg::<String>("search")?.filter(|text| text != "0").unwrap_or_default().to_lowercase();
        let mut items = Vec::new();
        for collection in all.values().filter(|c| slug.as_ref().is_none_or(|slug| *slug == c.slug)) {
            let matches = |name: &str, icon: &Icon| {
                format!("{}/{name}", collection.slug).contains(&search) || icon.label.to_lowercase().contains(&search)
            };
            for (name, icon) in collection.icons.iter().filter(|(name, icon)| matches(name, icon)) {
                let item = NamedIcon { collection: collection.slug.clone(), name: name.clone(), icon: icon.clone() };
                let data = self.show(&self.icons, ICON, &item, &req).await?;
                items.push(respond::with_links(data, None, &req));
            }
        }
        Ok(Response::new(Value::Array(items)))
    }

    async fn fetch(self: Arc<Self>, req: Request) -> Result<Response> {
        let full: String = req.require("name")?;
        let (collection, name) = full.split_once('/').ok_or_else(not_found)?;
        let icon = self.site.icons.0.get(collection).and_then(|c| c.icons.get(name)).ok_or_else(not_found)?;
        let item = NamedIcon { collection: collection.to_owned(), name: name.to_owned(), icon: icon.clone() };
        Ok(respond::single(self.show(&self.icons, ICON, &item, &req).await?, None))
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
        let search = || Arg::by_schema(string().describe("Only return items whose name or label contains this text.")).sanitize_with(one_line);
        let paging = || Args::from([
            context(),
            ("page", Arg::by_schema(integer().describe("Page number of the list.").default(1).minimum(1))),
            ("per_page", Arg::by_schema(integer().describe("Maximum number of items per page.").default(10).range(1..=100))),
        ]).with("search", search());
        let collection_arg = || {
            let schema = string().describe("Only return icons of this collection.").pattern("^[a-z0-9]([a-z0-9_-]*[a-z0-9])?$");
            Arg::new(schema.compile())
        };
        vec![
            Route::new("/icons").schema(icon.clone()).endpoint(get(Self::list, Self::can_read).args(paging().with("collection", collection_arg()))),
            Route::new(format!("/icons/(?P<collection>{SLUG})"))
                .schema(icon.clone())
                .args(Args::from([("collection", collection_arg())]))
                .endpoint(get(Self::list, Self::can_read).args(paging())),
            Route::new(format!("/icons/(?P<name>{SLUG}/{SLUG})"))
                .schema(icon)
                .args(Args::from([("name", string().describe("Name of the icon, with the slug of its collection."))]))
                .endpoint(get(Self::fetch, Self::can_read).args(Args::from([context()]))),
            Route::new("/icon-collections")
                .schema(collection.clone())
                .endpoint(get(Self::list_collections, Self::can_read).args(paging())),
            Route::new(format!("/icon-collections/(?P<slug>{SLUG})"))
                .schema(collection)
                .args(Args::from([("slug", string().describe("The collection's slug."))]))
                .endpoint(get(Self::fetch_collection, Self::can_read).args(Args::from([context()]))),
        ]
    }
}
