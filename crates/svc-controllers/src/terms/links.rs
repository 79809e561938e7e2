//! Links of a term: collection, taxonomy, parent and posts.

use svc_auth::{Caller, caps::Object};
use svc_model::Term;
use svc_routing::{Link, Links};
use svc_site::{Access, menus::item::MENU, permalinks};

use super::fields::TermItem;
use crate::{LINK_RELATION, links::with_query};

/// Permissions of a caller on one term.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TermRights {
    /// The caller may edit the term and read context `edit`.
    pub(super) edit: bool,
    /// The caller may delete the term. Always false for the default term of a taxonomy.
    pub(super) delete: bool,
}

impl TermRights {
    /// Computes the permissions. `access` must contain the term.
    pub(crate) fn of(caller: &Caller, access: &Access<'_>, term: &Term) -> Self {
        let can = |cap: &str| caller.is_logged_in() && caller.can(cap, Object::Term(term.id), access);
        TermRights { edit: can("edit_term"), delete: can("delete_term") }
    }

    /// Methods that the caller may use on the term's route. GET is always included.
    pub(crate) fn allowed_methods(self) -> impl Iterator<Item = &'static str> {
        let rows = [(true, &["GET"][..]), (self.edit, &["POST", "PUT", "PATCH"][..]), (self.delete, &["DELETE"][..])];
        rows.into_iter().filter(|(may, _)| *may).flat_map(|(_, methods)| methods.iter().copied())
    }
}

/// The links of one term.
pub(super) fn links(item: &TermItem, rights: TermRights) -> Links {
    let (site, term, taxonomy) = (&item.site, &item.term, &item.taxonomy);
    let urls = &item.settings.urls;
    let route_of = |id| urls.rest(&permalinks::rest_route_of_term(site, &item.settings, taxonomy, id));
    let mut links = Links::new();
    links.add("self", Link::new(route_of(term.id)).allow(rights.allowed_methods()));
    links.add("collection", Link::new(urls.rest(&site.route_of_taxonomy(taxonomy))));
    links.add("about", Link::new(urls.rest(&format!("/{}/taxonomies/{}", site.brand.namespace(), taxonomy.name))));
    if !term.parent.is_none() {
        links.add("up", Link::new(route_of(term.parent)).embeddable());
    }
    let types = taxonomy.object_types.iter().filter_map(|name| site.registries.types.get(name));
    for post_type in types.filter(|t| t.show_in_rest) {
        let posts = urls.rest(&site.route_of_type(post_type));
        let href = with_query(&posts, &taxonomy.rest_base, term.id);
        links.add(format!("{LINK_RELATION}post_type"), Link::new(href));
    }
    if taxonomy.name == MENU {
        for location in item.settings.menu_assignments().of_menu(term.id) {
            let href = urls.rest(&format!("/{}/menu-locations/{location}", site.brand.namespace()));
            links.add(format!("{LINK_RELATION}menu-location"), Link::new(href).embeddable());
        }
    }
    links
}
