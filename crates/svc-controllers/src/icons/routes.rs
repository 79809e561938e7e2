//! Icons and icon collections: list and fetch. Requires the capability to edit posts of any type.

use std::sync::Arc;

use svc_render::icons::{Icon, IconCollection};
use svc_resource::Fields;
use svc_routing::{Request, Result, Route, forbidden};
use svc_schema::{Arg, Args, Error, build::string};

use crate::{
    RestSite,
    args::{context_args, one_line, page_args},
    contexts::VIEW_EDIT_EMBED,
    registry_family::{Listed, RegistryEntries, RegistryFamily},
    theme_access,
};
use svc_site::Site;

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
pub struct NamedIcon {
    collection: String,
    name: String,
    icon: Icon,
}

impl NamedIcon {
    fn new(collection: &str, name: &str, icon: &Icon) -> Self {
        NamedIcon { collection: collection.to_owned(), name: name.to_owned(), icon: icon.clone() }
    }
}

/// Fails unless the caller may edit posts of any type.
fn check_read(site: &Site, req: &Request) -> Result<()> {
    if theme_access::is_writer(site, req)? { Ok(()) } else { Err(cannot_view(req)) }
}

/// Pattern of the slugs of collections and of the names of icons in routes.
const SLUG: &str = "[a-z0-9](?:[a-z0-9_-]*[a-z0-9])?";

/// The arguments of a list. As in WordPress, `page` and `per_page` have no effect.
fn list_args() -> Args {
    let search = string().describe("Only return items whose name or label contains this text.");
    page_args().with("search", Arg::by_schema(search).sanitize_with(one_line))
}

/// The icons of all collections.
pub struct IconFamily;

impl RegistryEntries for IconFamily {
    type Entry = NamedIcon;
    const OBJECT: &'static str = "icon";

    #[rustfmt::skip]
    fn fields() -> Fields<NamedIcon, ()> {
        let mut f = Fields::<NamedIcon, ()>::new(Self::OBJECT);
        f.add("name", string().describe("Name of the icon, with the slug of its collection.").readonly().context(VIEW_EDIT_EMBED)).get(|i| format!("{}/{}", i.collection, i.name));
        f.add("label", string().describe("Display name of the icon.").readonly().context(VIEW_EDIT_EMBED)).get(|i| i.icon.label.clone());
        f.add("content", string().describe("SVG markup of the icon.").readonly().context(VIEW_EDIT_EMBED)).get(|i| i.icon.svg.as_str().to_owned());
        f.add("collection", string().describe("Slug of the icon's collection.").readonly().context(VIEW_EDIT_EMBED)).get(|i| i.collection.clone());
        f
    }

    fn check_list(rest: &Arc<RestSite>, req: &Request) -> Result<()> {
        check_read(&rest.site, req)
    }

    /// The icons that match the search, of one collection or of all.
    async fn entries(rest: &Arc<RestSite>, req: &Request) -> Result<Listed<NamedIcon>> {
        let slug: Option<String> = req.arg("collection")?;
        let all = &rest.renderer.icons.0;
        if slug.as_ref().is_some_and(|slug| !all.contains_key(slug)) {
            return Err(collection_not_found());
        }
        // In PHP the string `0` is falsy.
        let search = req.arg::<String>("search")?.filter(|text| text != "0").unwrap_or_default().to_lowercase();
        let mut entries = Vec::new();
        for collection in all.values().filter(|c| slug.as_ref().is_none_or(|slug| *slug == c.slug)) {
            let matches = |name: &str, icon: &Icon| {
                format!("{}/{name}", collection.slug).contains(&search) || icon.label.to_lowercase().contains(&search)
            };
            let matching = collection.icons.iter().filter(|(name, icon)| matches(name, icon));
            entries.extend(matching.map(|(name, icon)| NamedIcon::new(&collection.slug, name, icon)));
        }
        Ok(entries.into())
    }

    async fn find(rest: &Arc<RestSite>, req: &Request) -> Result<NamedIcon> {
        let full: String = req.require("name")?;
        let (collection, name) = full.split_once('/').ok_or_else(not_found)?;
        let icon = rest.renderer.icons.0.get(collection).and_then(|c| c.icons.get(name)).ok_or_else(not_found)?;
        Ok(NamedIcon::new(collection, name, icon))
    }

    #[rustfmt::skip]
    fn routes(family: &RegistryFamily<Self>) -> Vec<Route<RegistryFamily<Self>>> {
        let collection = || {
            let schema = string().describe("Only return icons of this collection.").pattern("^[a-z0-9]([a-z0-9_-]*[a-z0-9])?$");
            Arg::new(schema.compile())
        };
        let name = string().describe("Name of the icon, with the slug of its collection.");
        vec![
            family.list_route("/icons", list_args().with("collection", collection())),
            family.list_route(format!("/icons/(?P<collection>{SLUG})"), list_args())
                .args(Args::from([("collection", collection())])),
            family.fetch_route(format!("/icons/(?P<name>{SLUG}/{SLUG})"), context_args())
                .args(Args::from([("name", name)])),
        ]
    }
}

/// The icon collections.
pub struct IconCollectionFamily;

impl RegistryEntries for IconCollectionFamily {
    type Entry = IconCollection;
    const OBJECT: &'static str = "icon-collection";

    #[rustfmt::skip]
    fn fields() -> Fields<IconCollection, ()> {
        let mut f = Fields::<IconCollection, ()>::new(Self::OBJECT);
        f.add("slug", string().describe("The collection's slug.").readonly().context(VIEW_EDIT_EMBED)).get(|c| c.slug.clone());
        f.add("label", string().describe("Display name of the collection.").readonly().context(VIEW_EDIT_EMBED)).get(|c| c.label.clone());
        f.add("description", string().describe("Description of the collection.").readonly().context(VIEW_EDIT_EMBED)).get(|c| c.description.clone());
        f
    }

    fn check_list(rest: &Arc<RestSite>, req: &Request) -> Result<()> {
        check_read(&rest.site, req)
    }

    async fn entries(rest: &Arc<RestSite>, _: &Request) -> Result<Listed<IconCollection>> {
        Ok(rest.renderer.icons.0.values().cloned().collect::<Vec<_>>().into())
    }

    async fn find(rest: &Arc<RestSite>, req: &Request) -> Result<IconCollection> {
        let slug: String = req.require("slug")?;
        rest.renderer.icons.0.get(&slug).cloned().ok_or_else(collection_not_found)
    }

    fn routes(family: &RegistryFamily<Self>) -> Vec<Route<RegistryFamily<Self>>> {
        let slug = Args::from([("slug", string().describe("The collection's slug."))]);
        vec![
            family.list_route("/icon-collections", list_args()),
            family.fetch_route(format!("/icon-collections/(?P<slug>{SLUG})"), context_args()).args(slug),
        ]
    }
}
