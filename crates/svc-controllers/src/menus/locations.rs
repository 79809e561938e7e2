//! Menu locations of the theme: list and fetch. Requires `edit_theme_options`.

use std::sync::Arc;

use serde_json::Value;
use svc_resource::Fields;
use svc_routing::{Controller, ExtraFields, Link, Links, Map, Request, Response, Result, Route, get};
use svc_schema::{
    Args, Schema,
    build::{integer, string},
};
use svc_site::{Access, Settings};

use super::errors;
use crate::{LINK_RELATION, RestSite, args::context_arg, caller, contexts::EMBED_VIEW_EDIT, respond};

/// Object type of additional fields.
const OBJECT: &str = "menu-location";

/// A menu location with its assigned menu.
struct Location {
    name: String,
    description: String,
    menu: i64,
}

#[rustfmt::skip]
fn fields() -> Fields<Location, ()> {
    let mut f = Fields::<Location, ()>::new(OBJECT);
    f.add("name", string().describe("The menu location's ID.").context(EMBED_VIEW_EDIT).readonly()).get(|l| l.name.clone());
    f.add("description", string().describe("Display name of the menu location.").context(EMBED_VIEW_EDIT).readonly()).get(|l| l.description.clone());
    f.add("menu", integer().describe("ID of the assigned menu, or 0.").context(EMBED_VIEW_EDIT).readonly()).get(|l| l.menu);
    f
}

/// The menu location routes.
pub struct MenuLocations {
    site: Arc<RestSite>,
    fields: Fields<Location, ()>,
    extra: ExtraFields,
}

impl MenuLocations {
    /// The menu location routes of this site.
    pub fn new(site: &Arc<RestSite>, extra: &ExtraFields) -> Self {
        MenuLocations { site: Arc::clone(site), fields: fields().with_extra(extra, OBJECT), extra: extra.clone() }
    }

    async fn show(&self, name: &str, settings: &Settings, req: &Request) -> Result<(Map, Option<Links>)> {
        let description = self.site.menu_locations.get(name).cloned().unwrap_or_default();
        let location =
            Location { name: name.to_owned(), description, menu: settings.menu_assignments().menu_at(name).0 };
        let view = respond::view(req);
        let mut data = self.fields.plan(&view).prepare(&location);
        respond::add_extra(&self.extra, OBJECT, &mut data, req, &view).await?;
        if !view.wants_links() {
            return Ok((data, None));
        }
        let at = |path: &str| settings.urls.rest(&format!("/{}/{path}", self.site.brand.namespace()));
        let mut links = Links::new();
        links.add("self", Link::new(at(&format!("menu-locations/{name}"))).allow(["GET"]));
        links.add("collection", Link::new(at("menu-locations")));
        if location.menu != 0 {
            let menu = Link::new(at(&format!("menus/{}", location.menu))).embeddable();
            links.add(format!("{LINK_RELATION}menu"), menu);
        }
        Ok((data, Some(links)))
    }

    async fn can_read(self: Arc<Self>, req: Request) -> Result<()> {
        let settings = self.site.settings()?;
        if Access::new(&self.site, &settings).can(&caller(&req), "edit_theme_options") {
            Ok(())
        } else {
            Err(errors::cannot_view_locations(&req))
        }
    }

    async fn list(self: Arc<Self>, req: Request) -> Result<Response> {
        if req.is_head() {
            return Ok(Response::new(Value::Null));
        }
        let settings = self.site.settings()?;
        let mut items = Vec::new();
        for name in self.site.menu_locations.keys() {
            let (item, links) = self.show(name, &settings, &req).await?;
            items.push((name.clone(), item, links));
        }
        Ok(Response::new(respond::keyed(items, &req)))
    }

    async fn fetch(self: Arc<Self>, req: Request) -> Result<Response> {
        let name: String = req.require("location")?;
        if !self.site.menu_locations.contains_key(&name) {
            return Err(errors::location_not_found());
        }
        let settings = self.site.settings()?;
        let (data, links) = self.show(&name, &settings, &req).await?;
        Ok(respond::single(data, links))
    }
}

impl Controller for MenuLocations {
    fn routes(&self) -> Vec<Route<Self>> {
        let schema = Schema::compile(self.fields.item_schema());
        let context = || Args::from([("context", context_arg())]);
        let name = Args::from([("location", string().describe("The menu location's ID."))]);
        vec![
            Route::new("/menu-locations")
                .schema(schema.clone())
                .endpoint(get(Self::list, Self::can_read).args(context())),
            Route::new(r"/menu-locations/(?P<location>[\w-]+)")
                .schema(schema)
                .args(name)
                .endpoint(get(Self::fetch, Self::can_read).args(context())),
        ]
    }
}
