//! The menus of a theme with menu locations: terms with items, as classic themes show them.

use askama::Template;
use http::Method;
use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};
use svc_login::{Form, Page, PrivateResponse};
use svc_schema::Error;

use super::{
    AddView, PAGE, Refused, bad_request, changed_elsewhere, check_link,
    classic_items::{Item, changed_places, changed_texts, in_order, item, moved},
    deleted_elsewhere,
    entries::MAX_ENTRIES,
    is_of,
    moves::{self, Move},
    status_of, typed_elsewhere,
};
use crate::{
    form::message_of,
    layout::{self, Layout, Link, plain},
    posts::unknown_action,
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
    /// A digest of what the form shows, which it must still find.
    state: String,
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
    state: String,
    auto_add: bool,
    items: Vec<ItemView>,
    locations: Vec<LocationView>,
    add: AddView,
}

#[derive(Template)]
#[template(path = "menus_classic.html")]
struct MenusPage {
    page: Layout,
    /// The menus: links, and whether each is the shown one.
    menus: Vec<(Link, bool)>,
    action: String,
    /// What was typed for another version of the menu, to copy.
    typed: String,
    menu: Option<MenuView>,
    /// What was typed as the name of a new menu, if it was refused.
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

    /// A menu with its items.
    async fn classic_menu(&self, menu: &Value, locations: &[Location]) -> Result<Menu, Error> {
        let id = menu["id"].as_i64().unwrap_or_default();
        let names = items(&menu["locations"]).iter().filter_map(Value::as_str);
        let menu = Menu {
            id,
            name: plain(text(menu, "/name")),
            description: text(menu, "/description").to_owned(),
            locations: names.map(str::to_owned).collect(),
            auto_add: menu["auto_add"] == true,
            items: self.classic_items(id).await?,
            state: String::new(),
        };
        Ok(Menu { state: state_of(&menu, locations), ..menu })
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

    /// The page with the menu of the parameter `menu`, or the first one.
    pub(super) async fn show_classic_menus(&self, locations: &[Location], refused: Option<Refused<'_>>) -> Page {
        let menus = self.classic_menus().await?;
        let menu = match found(&menus, self.id("menu")) {
            // The menu of a form may have been deleted.
            None if refused.is_none() && self.id("menu").is_some() => return Err(crate::not_found()),
            found => found.or_else(|| menus.first()),
        };
        let menu = match menu {
            Some(menu) => Some(self.classic_menu(menu, locations).await?),
            None => None,
        };
        let mut page = self.layout("Menus", &self.url(PAGE, &[])).await?;
        page.problem = refused.map(|(error, _)| message_of(error)).unwrap_or_default();
        let shown = menu.as_ref().map(|menu| menu.id);
        let link = |menu: &Value| {
            let id = menu["id"].as_i64().unwrap_or_default();
            (Link::new(plain(text(menu, "/name")), self.url(PAGE, &[("menu", &id.to_string())])), Some(id) == shown)
        };
        let form = refused.map(|(_, form)| form);
        let state = menu.as_ref().map_or("", |menu| &menu.state);
        let template = MenusPage {
            page,
            menus: if menus.len() > 1 { menus.iter().map(link).collect() } else { Vec::new() },
            action: match shown {
                Some(id) => self.url(PAGE, &[("menu", &id.to_string())]),
                None => self.url(PAGE, &[]),
            },
            typed: form.and_then(|form| typed_with_locations(form, state, locations)).unwrap_or_default(),
            menu: match menu {
                Some(menu) => Some(self.classic_view(menu, &menus, locations, form).await?),
                None => None,
            },
            new_name: form.map(|form| form.get("new-name").to_owned()).unwrap_or_default(),
            blocks: self.url(PAGE, &[("kind", BLOCKS)]),
        };
        Ok(layout::html(status_of(refused), &template))
    }

    async fn classic_view(
        &self,
        menu: Menu,
        menus: &[Value],
        locations: &[Location],
        form: Option<&Form>,
    ) -> Result<MenuView, Error> {
        let add = self.add_view(form).await?;
        // A form for a new menu has no texts of this one.
        let typed = form.filter(|form| form.has("name") && is_of(form, &menu.state));
        let name_of = |id: i64| {
            let other = menus.iter().find(|other| other["id"] == id && id != menu.id);
            other.map(|other| plain(text(other, "/name"))).unwrap_or_default()
        };
        let location = |location: &Location| LocationView {
            name: location.name.clone(),
            description: location.description.clone(),
            is_here: match typed {
                Some(form) => form.all("location").any(|name| name == location.name),
                None => menu.locations.contains(&location.name),
            },
            other: name_of(location.menu),
        };
        let stored = &menu.items;
        let view = |(at, item): (usize, &Item)| {
            let mut item = Item { depth: item.depth.min(4), ..item.clone() };
            let (label, url) = (format!("label-{}", item.id), format!("url-{}", item.id));
            if let Some(form) = typed.filter(|form| form.has(&label)) {
                form.get(&label).clone_into(&mut item.label);
                if item.is_custom {
                    form.get(&url).clone_into(&mut item.url);
                }
            }
            let moves = Move::ALL.iter().map(|(action, name, label)| (*name, *label, moves::can(stored, at, *action)));
            ItemView { moves: moves.collect(), item }
        };
        Ok(MenuView {
            name: typed.map_or_else(|| menu.name.clone(), |form| form.get("name").to_owned()),
            auto_add: typed.map_or(menu.auto_add, |form| form.has("auto_add")),
            items: stored.iter().enumerate().map(view).collect(),
            locations: locations.iter().map(location).collect(),
            add,
            state: menu.state.clone(),
        })
    }

    /// Creates, changes or deletes a menu.
    pub(super) async fn change_classic_menu(&self, locations: &[Location], form: &Form) -> Page {
        let site = &self.admin.pages.identities.site;
        let changed = match form.get("action") {
            "create" => self.create_classic_menu(form).await,
            // What is compared with the form is what is changed.
            _ => site.in_transaction(&self.parts.cx, self.store_classic_menu(form)).await,
        };
        match changed {
            Err(error) if error.status() < 500 => self.show_classic_menus(locations, Some((&error, form))).await,
            changed => changed,
        }
    }

    async fn create_classic_menu(&self, form: &Form) -> Page {
        let created = self.post("menus", json!({"name": form.get("new-name").trim()})).send().await;
        Ok(self.to_menu(created.map_err(of_form)?.data["id"].as_i64().unwrap_or_default(), "created"))
    }

    /// Stores the form of a menu, or deletes the menu, if it is still as the form was made.
    async fn store_classic_menu(&self, form: &Form) -> Page {
        let locations = self.classic_locations().await?.unwrap_or_default();
        let menus = self.classic_menus().await?;
        let wanted = self.id("menu").or_else(|| menus.first()?["id"].as_i64());
        let menu = match found(&menus, wanted) {
            Some(menu) => self.classic_menu(menu, &locations).await?,
            None if wanted.is_some() => return Err(deleted_elsewhere()),
            None => return Err(unknown_action()),
        };
        if !is_of(form, &menu.state) {
            return Err(changed_elsewhere());
        }
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

/// The menu with this ID.
fn found(menus: &[Value], id: Option<i64>) -> Option<&Value> {
    menus.iter().find(|menu| Some(&menu["id"]) == id.map(Value::from).as_ref())
}

/// A digest of everything that a form of the menu shows and changes.
fn state_of(menu: &Menu, locations: &[Location]) -> String {
    let items = menu.items.iter().map(|item| {
        let url = item.is_custom.then_some(&item.url);
        json!([item.id, item.parent, item.order, item.label, url])
    });
    let locations = locations.iter().map(|location| json!([location.name, location.menu]));
    let shown = json!([
        menu.id,
        menu.name,
        menu.description,
        menu.auto_add,
        locations.collect::<Vec<_>>(),
        items.collect::<Vec<_>>()
    ]);
    Sha256::digest(shown.to_string()).iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}

/// The texts of a form that was made from another version of the menu, and the locations that it chooses.
fn typed_with_locations(form: &Form, state: &str, locations: &[Location]) -> Option<String> {
    let typed = typed_elsewhere(form, state)?;
    let chosen = locations.iter().filter(|location| form.all("location").any(|name| name == location.name));
    let chosen: Vec<&str> = chosen.map(|location| &*location.description).collect();
    Some(if chosen.is_empty() { typed } else { format!("{typed}\nShown at: {}", chosen.join(", ")) })
}

/// The REST API has status 500 for a menu without a name, as WordPress has. In a form it is a mistake of the user.
fn of_form(error: Error) -> Error {
    if error.code() == "empty_term_name" { error.with_status(400) } else { error }
}
