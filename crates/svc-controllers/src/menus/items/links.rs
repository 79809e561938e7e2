//! Links of menu items in responses.

use std::sync::Arc;

use svc_auth::Caller;
use svc_model::PostType;
use svc_resource::View;
use svc_routing::{Link, Links};
use svc_site::{
    Access, Settings, Site,
    menus::{item::NavItem, target::TargetKind},
    permalinks,
};

use crate::{LINK_RELATION, links::with_query, posts::rights::PostRights};

/// Data for the links of menu items.
pub(super) struct LinkContext<'a> {
    pub(super) site: &'a Arc<Site>,
    pub(super) settings: &'a Settings,
    pub(super) post_type: &'a PostType,
    pub(super) caller: &'a Caller,
    pub(super) access: &'a Access<'a>,
    pub(super) view: &'a View,
}

impl LinkContext<'_> {
    /// The links of an item; `None` if the request does not include links.
    pub(super) fn links(&self, item: &NavItem) -> Option<Links> {
        if !self.view.wants_links() {
            return None;
        }
        let (site, urls) = (self.site, &self.settings.urls);
        let edit = self.view.context == "edit";
        let taxonomies: Vec<_> =
            site.registries.taxonomies.of_type(&self.post_type.name).filter(|t| t.show_in_rest).collect();
        let rights = PostRights::of(self.caller, self.access, &item.post, self.post_type, &taxonomies, edit);
        let own = urls.rest(&permalinks::rest_route_of(site, self.settings, self.post_type, item.post.id));
        let mut links = Links::new();
        links.add("self", Link::new(&own).allow(rights.allowed_methods()));
        links.add("collection", Link::new(urls.rest(&site.route_of_type(self.post_type))));
        links.add("about", Link::new(urls.rest(&format!("/{}/types/{}", site.brand.namespace(), self.post_type.name))));
        for taxonomy in &taxonomies {
            let menus = with_query(&urls.rest(&site.route_of_taxonomy(taxonomy)), "post", item.post.id);
            let link = Link::new(menus).attr("taxonomy", taxonomy.name.as_str()).embeddable();
            links.add(format!("{LINK_RELATION}term"), link);
        }
        let named = match item.kind() {
            TargetKind::PostType => "post_type",
            _ => "taxonomy",
        };
        if !item.target.route.is_empty() {
            let object = Link::new(urls.rest(&item.target.route)).attr(named, item.target.object.as_str());
            links.add(format!("{LINK_RELATION}menu-item-object"), object.embeddable());
        }
        if edit {
            for action in rights.actions() {
                links.add(format!("{LINK_RELATION}action-{action}"), Link::new(&own));
            }
        }
        Some(links)
    }
}
