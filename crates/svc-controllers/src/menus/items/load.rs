//! Loads, for a whole page of items at once, what their members read, and makes their links.

use std::sync::Arc;

use svc_auth::Caller;
use svc_model::{Post, PostId, PostType};
use svc_resource::View;
use svc_routing::{Link, Links};
use svc_store::{
    Db,
    meta::{self, MetaKind},
    terms,
};

use super::{
    fields::{Kind, NavItem},
    target::{self, Pointer},
};
use crate::{
    Access, LINK_RELATION, Settings, Site, SiteResult,
    menus::MENU,
    posts::{rights::PostRights, with_query},
};

impl Pointer {
    /// Where an item leads by its stored meta.
    fn of(item: &NavItem) -> Self {
        Pointer {
            kind: item.kind(),
            object: item.text("_menu_item_object").to_owned(),
            object_id: item.object_id(),
            url: item.text("_menu_item_url").to_owned(),
        }
    }
}

/// These rows as items: four kinds of data, each loaded in a fixed number of queries.
pub(super) fn items(db: &mut Db, site: &Site, settings: &Settings, rows: Vec<Post>) -> SiteResult<Vec<NavItem>> {
    let ids: Vec<PostId> = rows.iter().map(|p| p.id).collect();
    let numbers: Vec<i64> = ids.iter().map(|id| id.0).collect();
    let mut meta = meta::load(db, MetaKind::Post, &numbers)?;
    let menus = terms::of_objects(db, &ids)?;
    let mut items: Vec<NavItem> = rows
        .into_iter()
        .map(|post| NavItem {
            meta: meta.remove(&post.id.0).unwrap_or_default(),
            menu: menus
                .get(&post.id)
                .and_then(|all| all.iter().find(|t| t.taxonomy == MENU))
                .map(|t| t.id)
                .unwrap_or_default(),
            post,
            target: target::Target::default(),
        })
        .collect();
    let pointers: Vec<Pointer> = items.iter().map(Pointer::of).collect();
    for (item, target) in items.iter_mut().zip(target::load(db, site, settings, &pointers)?) {
        item.target = target;
    }
    Ok(items)
}

/// What links of items are made of.
pub(super) struct Linking<'a> {
    pub(super) site: &'a Arc<Site>,
    pub(super) settings: &'a Settings,
    pub(super) kind: &'a PostType,
    pub(super) caller: &'a Caller,
    pub(super) access: &'a Access<'a>,
    pub(super) view: &'a View,
}

impl Linking<'_> {
    /// The relations of an item; none when they are not asked for.
    pub(super) fn links(&self, item: &NavItem) -> Option<Links> {
        if !self.view.wants_links() {
            return None;
        }
        let (site, urls) = (self.site, &self.settings.urls);
        let edit = self.view.context == "edit";
        let taxonomies: Vec<_> = site.taxonomies.of_type(&self.kind.name).filter(|t| t.show_in_rest).collect();
        let rights = PostRights::of(self.caller, self.access, &item.post, self.kind, &taxonomies, edit);
        let collection = urls.rest(&site.route_of_type(self.kind));
        let own = format!("{collection}/{}", item.post.id);
        let mut links = Links::new();
        links.add("self", Link::new(&own).allow(rights.allowed_methods()));
        links.add("collection", Link::new(&collection));
        links.add("about", Link::new(urls.rest(&format!("/{}/types/{}", site.brand.namespace(), self.kind.name))));
        for taxonomy in &taxonomies {
            let menus = with_query(&urls.rest(&site.route_of_taxonomy(taxonomy)), "post", item.post.id);
            let link = Link::new(menus).attr("taxonomy", taxonomy.name.as_str()).embeddable();
            links.add(format!("{LINK_RELATION}term"), link);
        }
        if edit {
            for action in rights.actions() {
                links.add(format!("{LINK_RELATION}action-{action}"), Link::new(&own));
            }
        }
        let named = match item.kind() {
            Kind::PostType => "post_type",
            _ => "taxonomy",
        };
        if !item.target.route.is_empty() {
            let object = Link::new(urls.rest(&item.target.route)).attr(named, item.target.object.as_str());
            links.add(format!("{LINK_RELATION}menu-item-object"), object.embeddable());
        }
        Some(links)
    }
}
