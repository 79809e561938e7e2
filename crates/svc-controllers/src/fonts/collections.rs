//! Font collections: list and fetch.
//!
//! Code registers a collection with its fonts. The built-in collection is a reference only: its fonts are hosted
//! elsewhere, so it has a slug and no contents here.

use std::sync::Arc;

use serde_json::Value;
use svc_resource::{Fields, Paging, total_headers};
use svc_routing::{Controller, ExtraFields, Link, Links, Map, Request, Response, Result, Route, get};
use svc_schema::{
    Arg, Args, Schema,
    build::{integer, string, untyped},
};
use svc_site::{Access, Settings};

use super::errors;
use crate::{
    RestSite, args::context_arg, caller, contexts::VIEW_EDIT_EMBED, registries::font_collections::FontCollection,
    respond,
};

/// The object type that additional fields name.
const OBJECT: &str = "font-collection";

/// The collections that every site has.
pub(crate) fn core() -> Vec<FontCollection> {
    vec![FontCollection::external("google-fonts")]
}

#[rustfmt::skip]
fn fields() -> Fields<FontCollection, ()> {
    let mut f = Fields::<FontCollection, ()>::new(OBJECT);
    let list = || untyped().keyword("type", "array");
    f.add("slug", string().describe("The collection's slug.").context(VIEW_EDIT_EMBED).readonly()).get(|c| c.slug.clone());
    f.add("name", string().describe("Display name of the collection.").context(VIEW_EDIT_EMBED)).get(|c| c.contents_field(|c| c.name.clone().into()));
    f.add("description", string().describe("Description of the collection.").context(VIEW_EDIT_EMBED)).get(|c| c.contents_field(|c| c.description.clone().into()));
    f.add("font_families", list().describe("Font families in the collection.").context(VIEW_EDIT_EMBED)).get(|c| c.contents_field(|c| c.font_families.clone()));
    f.add("categories", list().describe("Categories of the font families.").context(VIEW_EDIT_EMBED)).get(|c| c.contents_field(|c| c.categories.clone()));
    f
}

/// The controller for font collections.
pub struct FontCollections {
    site: Arc<RestSite>,
    fields: Fields<FontCollection, ()>,
    extra: ExtraFields,
}

impl FontCollections {
    /// The controller for this site.
    pub fn new(site: &Arc<RestSite>, extra: &ExtraFields) -> Self {
        FontCollections { site: Arc::clone(site), fields: fields().with_extra(extra, OBJECT), extra: extra.clone() }
    }

    async fn show(
        &self,
        collection: &FontCollection,
        settings: &Settings,
        req: &Request,
    ) -> Result<(Map, Option<Links>)> {
        let view = respond::view(req);
        let plan = self.fields.plan(&view);
        if collection.contents.is_none() && plan.wants_any(&["name", "description", "font_families", "categories"]) {
            return Err(errors::collection_missing());
        }
        let mut data = plan.prepare(collection);
        respond::add_extra(&self.extra, OBJECT, &mut data, req, &view).await?;
        let links = view.wants_links().then(|| {
            let collection_url = self.collection_url(settings);
            let mut links = Links::new();
            links.add("self", Link::new(format!("{collection_url}/{}", collection.slug)).allow(["GET"]));
            links.add("collection", Link::new(collection_url));
            links
        });
        Ok((data, links))
    }

    fn collection_url(&self, settings: &Settings) -> String {
        settings.urls.rest(&format!("/{}/font-collections", self.site.brand.namespace()))
    }

    async fn can_read(self: Arc<Self>, req: Request) -> Result<()> {
        let settings = self.site.settings()?;
        if Access::new(&self.site, &settings).can(&caller(&req), "edit_theme_options") {
            Ok(())
        } else {
            Err(errors::cannot_read(&req))
        }
    }

    async fn list(self: Arc<Self>, req: Request) -> Result<Response> {
        let (page, per_page): (u64, u64) = (req.require("page")?, req.require("per_page")?);
        let paging = Paging { total: self.site.font_collections.len() as u64, per_page, page };
        paging.check("rest_post_invalid_page_number")?;
        let settings = self.site.settings()?;
        let skipped = usize::try_from(page.saturating_sub(1).saturating_mul(per_page)).unwrap_or(usize::MAX);
        let taken = usize::try_from(per_page).unwrap_or(usize::MAX);
        let mut items = Vec::new();
        for collection in self.site.font_collections.iter().skip(skipped).take(taken) {
            // External collections are left out of the list.
            if let Ok((data, links)) = self.show(collection, &settings, &req).await {
                items.push(respond::with_links(data, links, &req));
            }
        }
        let mut response = Response::new(Value::Array(items));
        for (name, value) in total_headers(paging.total, paging.pages()) {
            response = response.header(&self.site.brand.header(name), value);
        }
        for (relation, href) in paging.links(&self.collection_url(&settings), &req.params().query) {
            response = response.link_header(relation, &href, &[]);
        }
        Ok(response)
    }

    async fn fetch(self: Arc<Self>, req: Request) -> Result<Response> {
        let slug: String = req.require("slug")?;
        let collection = self.site.font_collections.iter().find(|c| c.slug == slug);
        let settings = self.site.settings()?;
        let (data, links) = self.show(collection.ok_or_else(errors::collection_not_found)?, &settings, &req).await?;
        Ok(respond::single(data, links))
    }
}

impl Controller for FontCollections {
    #[rustfmt::skip]
    fn routes(&self) -> Vec<Route<Self>> {
        let schema = Schema::compile(self.fields.item_schema());
        let list = Args::from([
            ("context", context_arg()),
            ("page", Arg::by_schema(integer().describe("Page number of the list.").default(1).minimum(1))),
            ("per_page", Arg::by_schema(integer().describe("Maximum number of items per page.").default(10).range(1..=100))),
        ]);
        vec![
            Route::new("/font-collections").schema(schema.clone()).endpoint(get(Self::list, Self::can_read).args(list)),
            Route::new(r"/font-collections/(?P<slug>[\/\w-]+)")
                .schema(schema)
                .endpoint(get(Self::fetch, Self::can_read).args(Args::from([("context", context_arg())]))),
        ]
    }
}
