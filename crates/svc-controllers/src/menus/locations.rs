//! Menu locations of the theme: list and fetch. Requires `edit_theme_options`.

use std::sync::Arc;

use svc_model::TermId;
use svc_resource::Fields;
use svc_routing::{Link, Links, Request, Result, Route};
use svc_schema::{
    Args,
    build::{integer, string},
};
use svc_versions::Context;

use svc_site::{Site, menus::item::MENU, permalinks};

use super::errors;
use crate::{
    LINK_RELATION, RestSite,
    args::context_args,
    contexts::EMBED_VIEW_EDIT,
    registry_family::{ListForm, Listed, RegistryEntries, RegistryFamily, entry_links, route_url},
    request::can,
};

/// A menu location with its assigned menu.
pub struct Location {
    name: String,
    description: String,
    menu: i64,
}

/// The menu locations of the theme.
pub struct MenuLocations;

fn location(cx: &Context, site: &Arc<Site>, name: &str, description: &str) -> Result<Location> {
    let menu = site.settings(cx)?.menu_assignments().menu_at(name).0;
    Ok(Location { name: name.to_owned(), description: description.to_owned(), menu })
}

impl RegistryEntries for MenuLocations {
    type Entry = Location;
    const OBJECT: &'static str = "menu-location";
    const LIST: ListForm<Location> = ListForm::ObjectUnlessEmpty(|location| &location.name);

    #[rustfmt::skip]
    fn fields() -> Fields<Location, ()> {
        let mut f = Fields::<Location, ()>::new(Self::OBJECT);
        f.add("name", string().describe("The menu location's ID.").context(EMBED_VIEW_EDIT).readonly()).get(|l| l.name.clone());
        f.add("description", string().describe("Display name of the menu location.").context(EMBED_VIEW_EDIT).readonly()).get(|l| l.description.clone());
        f.add("menu", integer().describe("ID of the assigned menu, or 0.").context(EMBED_VIEW_EDIT).readonly()).get(|l| l.menu);
        f
    }

    fn check_list(rest: &Arc<RestSite>, req: &Request) -> Result<()> {
        if can(&rest.site, req, "edit_theme_options")? { Ok(()) } else { Err(errors::cannot_view_locations(req)) }
    }

    async fn entries(rest: &Arc<RestSite>, req: &Request) -> Result<Listed<Location>> {
        let all = rest
            .site
            .registries
            .menu_locations
            .iter()
            .map(|(name, description)| location(req.cx(), &rest.site, name, description));
        Ok(all.collect::<Result<Vec<_>>>()?.into())
    }

    fn links(rest: &Arc<RestSite>, location: &Location, req: &Request) -> Result<Links> {
        let own = route_url(req.cx(), &rest.site, &format!("menu-locations/{}", location.name))?;
        let mut links = entry_links(own, route_url(req.cx(), &rest.site, "menu-locations")?);
        if location.menu != 0 {
            let settings = rest.site.settings(req.cx())?;
            let route = rest
                .site
                .registries
                .taxonomies
                .get(MENU)
                .map(|menus| permalinks::rest_route_of_term(&rest.site, &settings, menus, TermId(location.menu)));
            let menu = settings.urls.rest(&route.unwrap_or_default());
            links.add(format!("{LINK_RELATION}menu"), Link::new(menu).embeddable());
        }
        Ok(links)
    }

    async fn find(rest: &Arc<RestSite>, req: &Request) -> Result<Location> {
        let name: String = req.require("location")?;
        let description = rest.site.registries.menu_locations.get(&name).ok_or_else(errors::location_not_found)?;
        location(req.cx(), &rest.site, &name, description)
    }

    fn routes(family: &RegistryFamily<Self>) -> Vec<Route<RegistryFamily<Self>>> {
        let name = Args::from([("location", string().describe("The menu location's ID."))]);
        vec![
            family.list_route("/menu-locations", context_args()),
            family.fetch_route(r"/menu-locations/(?P<location>[\w-]+)", context_args()).args(name),
        ]
    }
}
