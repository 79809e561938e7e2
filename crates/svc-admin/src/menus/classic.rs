//! The menus of a theme with menu locations: terms with items, as classic themes show them.

use askama::Template;
use http::{Method, StatusCode};
use serde_json::{Map, Value, json};
use svc_login::{Form, Page, PrivateResponse};
use svc_schema::Error;

use super::{
    PAGE, bad_request, check_link,
    classic_items::{Item, changed_places, changed_texts, in_order, item, moved},
    entries::MAX_ENTRIES,
    moves::{self, Move},
};
use crate::{
    form::message_of,
    layout::{self, Layout, Link, plain},
    posts::{title_of, unknown_action},
    request::{AdminRequest, items, text},
};

/// Value of the parameter `kind` that shows the menus of blocks on a site that has menu locations as well.
pub(super) const BLOCKS: &str = "blocks";

/// A menu with its items.
struct Menu {
    id: i64,
    name: String,
    description: String,
    /// The locations to which it is assigned.
    locations: Vec<String>,
    auto_add: bool,
    items: Vec<Item>,
}

/// A menu location: its name, its description, and the ID of its menu.
pub(super) struct Location {
    name: String,
    description: String,
    menu: i64,
}

/// An item as the template shows it.
struct ItemView {
    item: Item,
    /// Buttons: values, labels, and whether they do something.
    moves: Vec<(&'static str, &'static str, bool)>,
}

/// A location as the template shows it: name, description, whether the menu is there, and the name of another menu that is.
struct LocationView {
    name: String,
    description: String,
    is_here: bool,
    other: String,
}

struct MenuView {
    name: String,
    auto_add: bool,
    items: Vec<ItemView>,
    locations: Vec<LocationView>,
    /// Pages that can be added: IDs and titles.
    pages: Vec<(i64, String)>,
    /// Other objects that can be added, in groups: values and names.
    objects: Vec<(&'static str, Vec<(String, String)>)>,
    /// What was typed for a new link, if it was rejected.
    new_link: (String, String),
}

#[derive(Template)]
#[template(path = "menus_classic.html")]
struct MenusPage {
    page: Layout,
    /// The menus: links, and whether each is the shown one.
    menus: Vec<(Link, bool)>,
    action: String,
    menu: Option<MenuView>,
    /// What was typed as the name of a new menu, if it was rejected.
    new_name: String,
    /// URL of the menus of blocks.
    blocks: String,
}

impl AdminRequest<'_> {
    /// The menu locations of the theme; `None` if it has none, or the user wants the menus of blocks.
    pub(super) async fn classic_locations(&self) -> Result<Option<Vec<Location>>, Error> {
        if self.param("kind") == BLOCKS || !self.can("edit_theme_options") {
            return Ok(None);
        }
        let found = self.get("menu-locations").send().await?.data;
        let location = |value: &Value| Location {
            name: text(value, "/name").to_owned(),
            description: plain(text(value, "/description")),
            menu: value["menu"].as_i64().unwrap_or_default(),
        };
        let locations: Vec<Location> =
            found.as_object().into_iter().flatten().map(|(_, value)| location(value)).collect();
        Ok(Some(locations).filter(|locations| !locations.is_empty()))
    }

    /// The first hundred menus, by name.
    async fn classic_menus(&self) -> Result<Vec<Value>, Error> {
        let call = self.get("menus").query("context", "edit").query("per_page", "100");
        let found = call.query("_fields", "id,name,description,locations,auto_add").send().await?;
        Ok(items(&found.data).to_vec())
    }

    /// The menu of the parameter `menu`, or the first one.
    async fn classic_menu(&self, menus: &[Value]) -> Result<Option<Menu>, Error> {
        let found = match self.id("menu") {
            Some(id) => Some(menus.iter().find(|menu| menu["id"] == id).ok_or_else(crate::not_found)?),
            None => menus.first(),
        };
        let Some(menu) = found else { return Ok(None) };
        let id = menu["id"].as_i64().unwrap_or_default();
        let names = items(&menu["locations"]).iter().filter_map(Value::as_str);
        Ok(Some(Menu {
            id,
            name: plain(text(menu, "/name")),
            description: text(menu, "/description").to_owned(),
            locations: names.map(str::to_owned).collect(),
            auto_add: menu["auto_add"] == true,
            items: self.classic_items(id).await?,
        }))
    }

    /// The items of a menu, in order.
    async fn classic_items(&self, menu: i64) -> Result<Vec<Item>, Error> {
        let mut all = Vec::new();
        for page in 1.. {
            let call = self.get("menu-items").query("context", "edit").query("menus", menu.to_string());
            let call = call.query("status", "publish,draft").query("per_page", "100").query("page", page.to_string());
            let fields = "id,title,url,type,type_label,parent,menu_order,invalid";
            let found = call.query("_fields", fields).send().await?;
            all.extend(items(&found.data).iter().map(item));
            if all.len() >= MAX_ENTRIES || page >= found.pages {
                break;
            }
        }
        Ok(in_order(all))
    }

    /// The page. `form` is one that was rejected.
    pub(super) async fn show_classic_menus(
        &self,
        locations: &[Location],
        error: Option<&Error>,
        form: Option<&Form>,
    ) -> Page {
        let menus = self.classic_menus().await?;
        let menu = self.classic_menu(&menus).await?;
        let mut page = self.layout("Menus", &self.url(PAGE, &[])).await?;
        page.problem = error.map(message_of).unwrap_or_default();
        let shown = menu.as_ref().map(|menu| menu.id);
        let link = |menu: &Value| {
            let id = menu["id"].as_i64().unwrap_or_default();
            (Link::new(plain(text(menu, "/name")), self.url(PAGE, &[("menu", &id.to_string())])), Some(id) == shown)
        };
        let typed = |name: &str| form.map(|form| form.get(name).to_owned()).unwrap_or_default();
        let template = MenusPage {
            page,
            menus: if menus.len() > 1 { menus.iter().map(link).collect() } else { Vec::new() },
            action: match shown {
                Some(id) => self.url(PAGE, &[("menu", &id.to_string())]),
                None => self.url(PAGE, &[]),
            },
            menu: match menu {
                Some(menu) => Some(self.classic_view(menu, &menus, locations, form).await?),
                None => None,
            },
            new_name: typed("new-name"),
            blocks: self.url(PAGE, &[("kind", BLOCKS)]),
        };
        let status = error.map_or(Ok(StatusCode::OK), |error| StatusCode::from_u16(error.status()));
        Ok(layout::html(status.unwrap_or(StatusCode::BAD_REQUEST), &template))
    }

    async fn classic_view(
        &self,
        menu: Menu,
        menus: &[Value],
        locations: &[Location],
        form: Option<&Form>,
    ) -> Result<MenuView, Error> {
        let (pages, objects) = (self.pages_to_add().await?, self.objects_to_add().await?);
        let name_of = |id: i64| {
            let other = menus.iter().find(|other| other["id"] == id && id != menu.id);
            other.map(|other| plain(text(other, "/name"))).unwrap_or_default()
        };
        let location = |location: &Location| LocationView {
            name: location.name.clone(),
            description: location.description.clone(),
            is_here: menu.locations.contains(&location.name),
            other: name_of(location.menu),
        };
        let stored = &menu.items;
        let view = |(at, item): (usize, &Item)| {
            let mut item = item.clone();
            let depth = item.depth.min(4);
            if let Some(form) = form.filter(|form| form.has(&format!("label-{}", item.id))) {
                form.get(&format!("label-{}", item.id)).clone_into(&mut item.label);
                if item.is_custom {
                    form.get(&format!("url-{}", item.id)).clone_into(&mut item.url);
                }
            }
            let moves = Move::ALL.iter().map(|(action, name, label)| (*name, *label, moves::can(stored, at, *action)));
            ItemView { moves: moves.collect(), item: Item { depth, ..item } }
        };
        let typed = |name: &str| form.map(|form| form.get(name).to_owned());
        Ok(MenuView {
            name: typed("name").filter(|name| !name.is_empty()).unwrap_or_else(|| menu.name.clone()),
            auto_add: menu.auto_add,
            items: stored.iter().enumerate().map(view).collect(),
            locations: locations.iter().map(location).collect(),
            pages: pages.iter().map(|page| (page["id"].as_i64().unwrap_or_default(), title_of(page))).collect(),
            objects,
            new_link: (typed("new-label").unwrap_or_default(), typed("new-url").unwrap_or_default()),
        })
    }

    /// Creates, changes or deletes a menu.
    pub(super) async fn change_classic_menu(&self, locations: &[Location], form: &Form) -> Page {
        match self.changed_classic_menu(form).await {
            Ok(response) => Ok(response),
            Err(error) if error.status() < 500 && error.status() != 404 => {
                self.show_classic_menus(locations, Some(&error), Some(form)).await
            }
            Err(error) => Err(error),
        }
    }

    async fn changed_classic_menu(&self, form: &Form) -> Page {
        if form.get("action") == "create" {
            let created = self.post("menus", json!({"name": form.get("new-name").trim()})).send().await;
            let created = created.map_err(of_form)?.data;
            return Ok(self.to_menu(created["id"].as_i64().unwrap_or_default(), "created"));
        }
        let menus = self.classic_menus().await?;
        let Some(menu) = self.classic_menu(&menus).await? else { return Err(unknown_action()) };
        if form.get("action") == "delete" {
            self.call(Method::DELETE, format!("menus/{}", menu.id)).query("force", "true").send().await?;
            return Ok(PrivateResponse::redirect(&self.url(PAGE, &[("done", "deleted")])));
        }
        // Everything is read from the form before anything is changed.
        let added = self.item_to_add(&menu, form).await?;
        let texts = changed_texts(&menu.items, form)?;
        let moved = match form.get("move").split_once(' ') {
            Some((action, id)) => Some(moved(&menu.items, action, id)?),
            None => None,
        };
        self.save_classic_settings(&menu, form).await?;
        self.change_items(texts).await?;
        if let Some((items, removed)) = moved {
            self.change_items(changed_places(&items)).await?;
            if let Some(id) = removed {
                self.call(Method::DELETE, format!("menu-items/{id}")).query("force", "true").send().await?;
            }
        }
        if let Some(added) = added {
            self.post("menu-items", added).send().await?;
        }
        Ok(self.to_menu(menu.id, "saved"))
    }

    /// Stores the name and the locations of a menu, if the form changes them.
    async fn save_classic_settings(&self, menu: &Menu, form: &Form) -> Result<(), Error> {
        if !form.has("name") {
            return Ok(());
        }
        let (name, auto_add) = (form.get("name").trim(), form.has("auto_add"));
        let mut chosen: Vec<&str> = form.all("location").collect();
        let mut stored: Vec<&str> = menu.locations.iter().map(String::as_str).collect();
        chosen.sort_unstable();
        stored.sort_unstable();
        if name == menu.name && chosen == stored && auto_add == menu.auto_add {
            return Ok(());
        }
        // Menus without a description in the request lose theirs.
        let body = json!({"name": name, "description": menu.description, "locations": chosen, "auto_add": auto_add});
        self.post(format!("menus/{}", menu.id), body).send().await.map_err(of_form)?;
        Ok(())
    }

    /// Changes items.
    async fn change_items(&self, changes: Vec<(i64, Map<String, Value>)>) -> Result<(), Error> {
        for (id, body) in changes {
            self.post(format!("menu-items/{id}"), body.into()).send().await?;
        }
        Ok(())
    }

    /// The item that a form adds at the end of the menu.
    async fn item_to_add(&self, menu: &Menu, form: &Form) -> Result<Option<Value>, Error> {
        let mut item = match form.get("action") {
            "add-page" => {
                let id = form.get("page").parse::<u64>().unwrap_or_default();
                // Without `object`, the REST API requires that it exists.
                json!({"type": "post_type", "object_id": id})
            }
            "add-object" => {
                let (object, id) = super::object_of(form.get("object"))?;
                json!({"type": object.kind.replace('-', "_"), "object_id": id})
            }
            "add-link" => {
                let (label, url) = (form.get("new-label").trim(), form.get("new-url").trim());
                check_link(label, url)?;
                json!({"type": "custom", "title": label, "url": url})
            }
            "save" => return Ok(None),
            _ if !form.get("move").is_empty() => return Ok(None),
            _ => return Err(unknown_action()),
        };
        if menu.items.len() >= MAX_ENTRIES {
            return Err(bad_request("admin_menu_full", &format!("A menu has at most {MAX_ENTRIES} entries.")));
        }
        let last = menu.items.iter().map(|item| item.order).max().unwrap_or(0);
        item["menus"] = menu.id.into();
        item["menu_order"] = last.saturating_add(1).into();
        item["status"] = "publish".into();
        Ok(Some(item))
    }
}

/// The REST API has status 500 for a menu without a name, as WordPress has. In a form it is a mistake of the user.
fn of_form(error: Error) -> Error {
    if error.code() == "empty_term_name" { error.with_status(400) } else { error }
}
