//! What visitors may read of menus and settings: those that the configuration names.
//!
//! WordPress shows menus and settings to users who may edit only, so front ends would need the credentials of one.

use std::{collections::HashMap, sync::Arc};

use serde_json::{Map, Value, json};
use svc_auth::Caller;
use svc_model::{Post, PostId};
use svc_render::content as render;
use svc_routing::{Controller, Request, Response, Result, Returns, Route, get, public};
use svc_schema::{
    Args, Error, Schema,
    build::{array, integer, object, string},
};
use svc_site::{
    Access, Settings, Site, SiteResult,
    menus::{
        item::{self, MENU, NavItem},
        target::TargetKind,
    },
};
use svc_store::{Db, options, posts, terms};

use crate::{RestSite, caller};

/// Maximum nesting depth of a menu.
const MAX_DEPTH: usize = 20;

/// There is no menu that visitors may read: none has this location, or the configuration does not name it.
fn no_menu() -> Error {
    Error::new("rest_menu_not_public", "There is no public menu with this location.").with_status(404)
}

/// The menus of the locations that are public.
pub struct PublicMenus(Arc<Site>);

impl PublicMenus {
    /// The controller for this site.
    pub fn new(site: &Arc<Site>) -> Self {
        PublicMenus(Arc::clone(site))
    }

    async fn fetch(self: Arc<Self>, req: Request) -> Result<Response> {
        let location: String = req.require("location")?;
        let is_public = self.0.policies.public_menus.contains(&location);
        if !is_public || !self.0.registries.menu_locations.contains_key(&location) {
            return Err(no_menu());
        }
        let caller = caller(&req);
        let (name, items) = self.0.read(req.cx(), |db| {
            let settings = self.0.settings_in(db)?;
            let id = settings.menu_assignments().menu_at(&location);
            let Some(menu) = terms::get(db, id, Some(MENU))? else { return Ok((String::new(), Vec::new())) };
            let items = item::published(db, &self.0, &settings, &caller, menu.id)?;
            Ok((menu.name, shown(db, &self.0, &settings, &caller, items)?))
        })?;
        let mut children: HashMap<i64, Vec<&NavItem>> = HashMap::new();
        for item in &items {
            let parent = item.parent();
            let has_parent = items.iter().any(|other| other.post.id.0 == parent);
            children.entry(if has_parent { parent } else { 0 }).or_default().push(item);
        }
        let items = level(0, &children, MAX_DEPTH);
        Ok(Response::new(json!({ "location": location, "name": name, "items": items })))
    }
}

/// The items that this caller may see: those of posts that they may read, and of public taxonomies and types.
fn shown(
    db: &mut Db,
    site: &Site,
    settings: &Settings,
    caller: &Caller,
    items: Vec<NavItem>,
) -> SiteResult<Vec<NavItem>> {
    let of_posts = items.iter().filter(|item| item.kind() == TargetKind::PostType);
    let ids: Vec<PostId> = of_posts.map(|item| PostId(item.object_id())).collect();
    let targets = posts::get_many(db, &ids)?;
    let access = Access::of_posts(site, settings, db, &targets)?;
    let is_shown = |item: &NavItem| {
        let kind = item.kind();
        let object = item.target.object.as_str();
        !item.target.invalid
            && match kind {
                TargetKind::PostType => {
                    let may_read = |post: &&Post| post.id.0 == item.object_id() && access.can_read(caller, post);
                    targets.iter().any(|post| may_read(&post))
                }
                TargetKind::Taxonomy => site.registries.taxonomies.get(object).is_some_and(|taxonomy| taxonomy.public),
                _ => true,
            }
    };
    Ok(items.into_iter().filter(is_shown).collect())
}

/// The items below a parent.
fn level(parent: i64, children: &HashMap<i64, Vec<&NavItem>>, depth: usize) -> Vec<Value> {
    let Some(depth) = depth.checked_sub(1) else { return Vec::new() };
    let item = |item: &&NavItem| {
        let mut classes = item.classes();
        classes.retain(|class| !class.is_empty());
        json!({
            "id": item.post.id.0,
            "title": render::title(item.title()).as_str(),
            "url": item.target.url.as_deref().unwrap_or_default(),
            "target": item.text("_menu_item_target"),
            "attr_title": render::menu_item_text(&item.post.excerpt),
            "description": render::menu_item_text(&item.post.content),
            "classes": classes,
            "type": item.kind().name(),
            "object": item.target.object,
            "object_id": item.object_id(),
            "children": level(item.post.id.0, children, depth),
        })
    };
    children.get(&parent).into_iter().flatten().map(item).collect()
}

impl Controller for PublicMenus {
    fn routes(&self) -> Vec<Route<Self>> {
        let item = object([
            ("id", integer().describe("ID of the menu item.")),
            ("title", string().describe("The title as HTML.")),
            ("url", string().describe("URL that the item links to.")),
            ("target", string().describe("The link's target attribute.")),
            ("attr_title", string().describe("The link's title attribute.")),
            ("description", string().describe("Description of the item.")),
            ("classes", array(string()).describe("Class names of the link.")),
            ("type", string().describe("Kind of object that the item links to.")),
            ("object", string().describe("Post type or taxonomy of the linked object.")),
            ("object_id", integer().describe("ID of the linked object.")),
            ("children", array(object::<&str, Value>([])).describe("The items below this one, with the same fields.")),
        ]);
        let schema = object([
            ("location", string().describe("The menu location's ID.").readonly()),
            ("name", string().describe("Name of the menu; empty if the location has none.").readonly()),
            ("items", array(item).describe("The top items, in order.").readonly()),
        ]);
        let args = Args::from([("location", string().describe("The menu location's ID."))]);
        let fetch = get(Self::fetch, public).cacheable().returns(Returns::Item);
        vec![
            Route::new(r"/public-menus/(?P<location>[\w-]+)")
                .unlisted()
                .schema(schema.title("public-menu").compile())
                .args(args)
                .endpoint(fetch),
        ]
    }
}

/// The settings that are public.
pub struct PublicSettings(Arc<RestSite>);

impl PublicSettings {
    /// The controller for this site.
    pub fn new(rest: &Arc<RestSite>) -> Self {
        for name in &rest.site.policies.public_settings {
            match rest.registered_settings.iter().find(|setting| setting.name == *name) {
                None => tracing::warn!("`public_settings`: there is no setting `{name}`"),
                Some(setting) if setting.is_secret() => {
                    tracing::warn!("`public_settings`: the setting `{name}` is secret, and is not shown");
                }
                Some(_) => {}
            }
        }
        PublicSettings(Arc::clone(rest))
    }

    async fn fetch(self: Arc<Self>, req: Request) -> Result<Response> {
        let named = &self.0.site.policies.public_settings;
        let shown: Vec<_> =
            self.0.registered_settings.iter().filter(|s| named.contains(&s.name) && !s.is_secret()).collect();
        let names: Vec<&str> = shown.iter().map(|setting| setting.option.as_str()).collect();
        let stored = self.0.site.read(req.cx(), |db| Ok(options::get_many(db, &names)?))?;
        let value = |setting: &&crate::site_settings::RegisteredSetting| {
            (setting.name.clone(), setting.masked(setting.value_of(stored.get(&setting.option))))
        };
        Ok(Response::new(Value::Object(shown.iter().map(value).collect::<Map<_, _>>())))
    }
}

impl Controller for PublicSettings {
    fn routes(&self) -> Vec<Route<Self>> {
        let named = &self.0.site.policies.public_settings;
        let properties: Map<String, Value> = self
            .0
            .registered_settings
            .iter()
            .filter(|setting| named.contains(&setting.name) && !setting.is_secret())
            .map(|setting| (setting.name.clone(), setting.source.clone()))
            .collect();
        let schema = Schema::compile(json!({"title": "public-settings", "type": "object", "properties": properties}));
        let fetch = get(Self::fetch, public).cacheable().returns(Returns::Item);
        vec![Route::new("/public-settings").unlisted().schema(schema).endpoint(fetch)]
    }
}
