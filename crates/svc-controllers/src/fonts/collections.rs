//! Font collections: list and fetch.
//!
//! Code registers a collection with its fonts. The built-in collection is a reference only: its fonts are hosted
//! elsewhere, so it has a slug and no contents here.

use std::sync::Arc;

use svc_resource::{Fields, Paging, Plan};
use svc_routing::{Links, Map, Request, Result, Route};
use svc_schema::build::{string, untyped};

use super::errors;
use crate::{
    RestSite,
    args::{context_args, page_args},
    collection,
    contexts::VIEW_EDIT_EMBED,
    registries::font_collections::FontCollection,
    registry_family::{Listed, RegistryEntries, RegistryFamily, entry_links, route_url},
    request::can,
};

/// The collections that every site has.
pub(crate) fn core() -> Vec<FontCollection> {
    vec![FontCollection::external("google-fonts")]
}

/// The font collections.
pub struct FontCollections;

impl RegistryEntries for FontCollections {
    type Entry = FontCollection;
    const OBJECT: &'static str = "font-collection";
    /// External collections are left out of the list.
    const OMITS_FAILED: bool = true;

    #[rustfmt::skip]
    fn fields() -> Fields<FontCollection, ()> {
        let mut f = Fields::<FontCollection, ()>::new(Self::OBJECT);
        let list = || untyped().keyword("type", "array");
        f.add("slug", string().describe("The collection's slug.").context(VIEW_EDIT_EMBED).readonly()).get(|c| c.slug.clone());
        f.add("name", string().describe("Display name of the collection.").context(VIEW_EDIT_EMBED)).get(|c| c.contents_field(|c| c.name.clone().into()));
        f.add("description", string().describe("Description of the collection.").context(VIEW_EDIT_EMBED)).get(|c| c.contents_field(|c| c.description.clone().into()));
        f.add("font_families", list().describe("Font families in the collection.").context(VIEW_EDIT_EMBED)).get(|c| c.contents_field(|c| c.font_families.clone()));
        f.add("categories", list().describe("Categories of the font families.").context(VIEW_EDIT_EMBED)).get(|c| c.contents_field(|c| c.categories.clone()));
        f
    }

    fn check_list(rest: &Arc<RestSite>, req: &Request) -> Result<()> {
        if can(&rest.site, req, "edit_theme_options")? { Ok(()) } else { Err(errors::cannot_read(req)) }
    }

    async fn entries(rest: &Arc<RestSite>, req: &Request) -> Result<Listed<FontCollection>> {
        let (page, per_page): (u64, u64) = (req.require("page")?, req.require("per_page")?);
        let all = &rest.font_collections;
        let paging = Paging { total: all.len() as u64, per_page, page };
        paging.check("rest_post_invalid_page_number")?;
        let url = route_url(req.cx(), &rest.site, "font-collections")?;
        let response = collection::respond(&rest.site, Vec::new(), &paging, &url, req);
        Ok(Listed { entries: paging.items(all.iter()).cloned().collect(), response })
    }

    /// Fails for external collections, unless the slug is the only field.
    fn prepare(plan: &Plan<'_, FontCollection, ()>, collection: &FontCollection) -> Result<Map> {
        if collection.contents.is_none() && plan.wants_any(&["name", "description", "font_families", "categories"]) {
            return Err(errors::collection_missing());
        }
        Ok(plan.prepare(collection))
    }

    fn links(rest: &Arc<RestSite>, collection: &FontCollection, req: &Request) -> Result<Links> {
        let own = route_url(req.cx(), &rest.site, &format!("font-collections/{}", collection.slug))?;
        Ok(entry_links(own, route_url(req.cx(), &rest.site, "font-collections")?))
    }

    async fn find(rest: &Arc<RestSite>, req: &Request) -> Result<FontCollection> {
        let slug: String = req.require("slug")?;
        let collection = rest.font_collections.iter().find(|c| c.slug == slug);
        collection.cloned().ok_or_else(errors::collection_not_found)
    }

    fn routes(family: &RegistryFamily<Self>) -> Vec<Route<RegistryFamily<Self>>> {
        vec![
            family.list_route("/font-collections", page_args()),
            family.fetch_route(r"/font-collections/(?P<slug>[\/\w-]+)", context_args()),
        ]
    }
}
