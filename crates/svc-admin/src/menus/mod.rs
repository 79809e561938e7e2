//! The menus: their entries, in order, with those below them. Block themes store a menu as blocks; classic themes show menus of items
//! at their menu locations (`classic.rs`).

mod classic;
mod classic_items;
mod entries;
mod moves;

use askama::Template;
use http::{Method, StatusCode};
use serde_json::{Value, json};
use svc_login::{Form, Page, PrivateResponse};
use svc_schema::Error;

use self::{
    entries::{Entry, MAX_ENTRIES},
    moves::Move,
};
use crate::{
    form::message_of,
    layout::{self, Layout, Link, plain},
    posts::{title_of, unknown_action},
    request::{AdminRequest, items, text},
};

/// Name of the page.
const PAGE: &str = "nav-menus.php";

/// Objects that can be entries of a menu, besides pages.
struct ObjectKind {
    label: &'static str,
    rest_base: &'static str,
    /// The attributes of the block: what the object is.
    kind: &'static str,
    name: &'static str,
}

const OBJECTS: [ObjectKind; 3] = [
    ObjectKind { label: "Posts", rest_base: "posts", kind: "post-type", name: "post" },
    ObjectKind { label: "Categories", rest_base: "categories", kind: "taxonomy", name: "category" },
    ObjectKind { label: "Tags", rest_base: "tags", kind: "taxonomy", name: "tag" },
];

/// The name of a term, or the title of a post.
fn object_label(item: &Value) -> String {
    match text(item, "/name") {
        "" => title_of(item),
        name => plain(name),
    }
}

/// The kind and the ID of an object that a form names.
fn object_of(chosen: &str) -> Result<(&'static ObjectKind, u64), Error> {
    let (name, id) = chosen.split_once(' ').ok_or_else(no_object)?;
    let object = OBJECTS.iter().find(|object| object.name == name).ok_or_else(no_object)?;
    Ok((object, id.parse().map_err(|_| no_object())?))
}

fn no_object() -> Error {
    bad_request("admin_no_object", "This does not exist any more.")
}

/// An entry as the template shows it.
struct EntryView {
    depth: usize,
    label: String,
    /// The URL of a link. `None` for a block that is not a link.
    url: Option<String>,
    /// Buttons: values, labels, and whether they do something.
    moves: Vec<(&'static str, &'static str, bool)>,
}

/// What can be added to a menu.
struct AddView {
    /// Pages: IDs and titles.
    pages: Vec<(i64, String)>,
    /// Other objects, in groups: values and names.
    objects: Vec<(&'static str, Vec<(String, String)>)>,
    /// What was typed for a new link, if it was refused.
    new_link: (String, String),
}

/// A form that was refused, and why.
type Refused<'f> = (&'f Error, &'f Form);

#[derive(Template)]
#[template(path = "menus.html")]
struct MenusPage {
    page: Layout,
    /// The menus, if there are several: links, and whether each is the shown one.
    menus: Vec<(Link, bool)>,
    /// Where the forms are sent.
    action: String,
    /// What was typed for another version of the menu, to copy.
    typed: String,
    menu: Option<MenuView>,
}

struct MenuView {
    title: String,
    /// The state of the menu, which the form must still find.
    state: String,
    entries: Vec<EntryView>,
    add: AddView,
    /// Whether the theme shows this menu where it names none.
    is_shown: bool,
}

/// A menu that the user edits.
struct Menu {
    id: i64,
    title: String,
    state: String,
    content: String,
}

impl AdminRequest<'_> {
    /// The page with the menu of the parameter `menu`, or the one that the theme shows.
    pub(crate) async fn show_menus(&self) -> Page {
        if let Some(locations) = self.classic_locations().await? {
            return self.show_classic_menus(&locations, None).await;
        }
        let menus = self.menus().await?;
        let menu = self.menu(self.id("menu").or_else(|| newest(&menus))).await?;
        self.menus_page(&menus, menu, None).await
    }

    /// The published menus, the newest first.
    async fn menus(&self) -> Result<Vec<Value>, Error> {
        if !self.can("edit_theme_options") {
            return Err(Error::new("admin_no_menus", "You may not edit menus.").with_status(403));
        }
        let call = self.get("navigation").query("context", "edit").query("per_page", "100");
        Ok(items(&call.query("_fields", "id,title").send().await?.data).to_vec())
    }

    /// A published menu.
    async fn menu(&self, id: Option<i64>) -> Result<Option<Menu>, Error> {
        let Some(id) = id else { return Ok(None) };
        let reply = self.get(format!("navigation/{id}")).query("context", "edit").send().await?;
        if reply.data["status"] != "publish" {
            return Err(crate::not_found());
        }
        let content = text(&reply.data, "/content/raw").to_owned();
        Ok(Some(Menu { id, title: entries::title_of(&reply.data), state: reply.state, content }))
    }

    async fn menus_page(&self, menus: &[Value], menu: Option<Menu>, refused: Option<Refused<'_>>) -> Page {
        let mut page = self.layout("Menus", &self.url(PAGE, &[])).await?;
        page.problem = refused.map(|(error, _)| message_of(error)).unwrap_or_default();
        let shown = menu.as_ref().map(|menu| menu.id);
        let link = |menu: &Value| {
            let id = menu["id"].as_i64().unwrap_or_default();
            (Link::new(entries::title_of(menu), self.blocks_url(&[("menu", &id.to_string())])), Some(id) == shown)
        };
        let state = menu.as_ref().map_or("", |menu| &menu.state);
        let template = MenusPage {
            page,
            menus: if menus.len() > 1 { menus.iter().map(link).collect() } else { Vec::new() },
            action: match shown {
                Some(id) => self.blocks_url(&[("menu", &id.to_string())]),
                None => self.blocks_url(&[]),
            },
            typed: refused.and_then(|(_, form)| typed_elsewhere(form, state)).unwrap_or_default(),
            menu: match menu {
                Some(menu) => Some(self.menu_view(menu, menus, refused.map(|(_, form)| form)).await?),
                None => None,
            },
        };
        Ok(layout::html(status_of(refused), &template))
    }

    async fn menu_view(&self, menu: Menu, menus: &[Value], form: Option<&Form>) -> Result<MenuView, Error> {
        let mut stored = entries::read(&menu.content);
        let mut title = menu.title;
        // The numbers of the form's entries are those of the version with which it was opened.
        if let Some(form) = form.filter(|form| is_of(form, &menu.state)) {
            set_texts(&mut stored, form);
            if form.has("title") {
                form.get("title").clone_into(&mut title);
            }
        }
        let view = |(at, entry): (usize, &Entry)| EntryView {
            depth: entry.depth.min(4),
            label: entry.label(),
            url: entry.is_link().then(|| entry.url().to_owned()),
            moves: Move::ALL
                .iter()
                .map(|(action, name, label)| (*name, *label, moves::can(&stored, at, *action)))
                .collect(),
        };
        Ok(MenuView {
            title,
            state: menu.state,
            entries: stored.iter().enumerate().map(view).collect(),
            add: self.add_view(form).await?,
            is_shown: newest(menus) == Some(menu.id),
        })
    }

    /// What can be added, with the link that a refused form has.
    async fn add_view(&self, form: Option<&Form>) -> Result<AddView, Error> {
        let pages = self.pages_to_add().await?;
        let typed = |name: &str| form.map(|form| form.get(name).to_owned()).unwrap_or_default();
        Ok(AddView {
            pages: pages.iter().map(|page| (page["id"].as_i64().unwrap_or_default(), title_of(page))).collect(),
            objects: self.objects_to_add().await?,
            new_link: (typed("new-label"), typed("new-url")),
        })
    }

    /// The first hundred published pages, by title.
    async fn pages_to_add(&self) -> Result<Vec<Value>, Error> {
        let call = self.get("pages").query("per_page", "100").query("orderby", "title").query("order", "asc");
        Ok(items(&call.query("_fields", "id,title,link,parent").send().await?.data).to_vec())
    }

    /// The latest posts, and the first hundred terms of the taxonomies of posts.
    async fn objects_to_add(&self) -> Result<Vec<(&'static str, Vec<(String, String)>)>, Error> {
        let mut groups = Vec::new();
        for object in &OBJECTS {
            let found =
                self.get(object.rest_base).query("per_page", "100").query("_fields", "id,title,name").send().await?;
            let value = |item: &Value| (format!("{} {}", object.name, item["id"]), object_label(item));
            let values: Vec<(String, String)> = items(&found.data).iter().map(value).collect();
            if !values.is_empty() {
                groups.push((object.label, values));
            }
        }
        Ok(groups)
    }

    /// The entry of the object that a form names.
    async fn object_entry(&self, chosen: &str) -> Result<Entry, Error> {
        let (object, id) = object_of(chosen)?;
        let route = format!("{}/{id}", object.rest_base);
        let item = self.get(route).query("_fields", "id,title,name,link").send().await.map_err(|_| no_object())?.data;
        let id = item["id"].as_i64().unwrap_or_default();
        Ok(Entry::link(&object_label(&item), text(&item, "/link"), Some((id, object.kind, object.name))))
    }

    /// Creates a menu, or changes the shown one.
    pub(crate) async fn change_menu(&self, form: &Form) -> Page {
        if let Some(locations) = self.classic_locations().await? {
            return self.change_classic_menu(&locations, form).await;
        }
        let menus = self.menus().await?;
        let action = form.get("action");
        if action == "create" {
            let pages = self.pages_to_add().await?;
            let top = pages.iter().filter(|page| page["parent"] == 0).map(page_entry).collect::<Vec<_>>();
            let body = json!({"title": "Menu", "status": "publish", "content": entries::write(&top)});
            let created = self.post("navigation", body).send().await?.data;
            return Ok(self.to_menu(created["id"].as_i64().unwrap_or_default(), "created"));
        }
        let menu = match self.menu(self.id("menu").or_else(|| newest(&menus))).await {
            Ok(Some(menu)) => menu,
            Ok(None) => return Err(unknown_action()),
            Err(error) if error.status() == 404 => {
                let newest = self.menu(newest(&menus)).await?;
                return self.menus_page(&menus, newest, Some((&deleted_elsewhere(), form))).await;
            }
            Err(error) => return Err(error),
        };
        let stored = match is_of(form, &menu.state) {
            true => self.store_menu(&menu, form).await,
            false => Err(changed_elsewhere()),
        };
        match stored {
            Err(error) if error.status() < 500 => {
                let stored = self.menu(Some(menu.id)).await?;
                self.menus_page(&menus, stored, Some((&error, form))).await
            }
            stored => stored,
        }
    }

    /// Stores the form of a menu, or moves the menu to the trash, if it is still in its state.
    async fn store_menu(&self, menu: &Menu, form: &Form) -> Page {
        let route = format!("navigation/{}", menu.id);
        let elsewhere = |error: Error| if error.status() == 412 { changed_elsewhere() } else { error };
        if form.get("action") == "trash" {
            self.call(Method::DELETE, route).if_match(&menu.state).send().await.map_err(elsewhere)?;
            return Ok(PrivateResponse::redirect(&self.blocks_url(&[("done", "trashed")])));
        }
        let mut body = json!({"content": entries::write(&self.changed_entries(menu, form).await?)});
        if form.has("title") && form.get("title") != menu.title {
            body["title"] = form.get("title").into();
        }
        self.post(route, body).if_match(&menu.state).send().await.map_err(elsewhere)?;
        Ok(self.to_menu(menu.id, "saved"))
    }

    /// A URL of the page that stays with menus of blocks, if the user has chosen them.
    fn blocks_url(&self, query: &[(&str, &str)]) -> String {
        let kind = self.param("kind");
        match kind {
            classic::BLOCKS => self.url(PAGE, &[&[("kind", kind)], query].concat()),
            _ => self.url(PAGE, query),
        }
    }

    fn to_menu(&self, id: i64, done: &str) -> PrivateResponse {
        PrivateResponse::redirect(&self.blocks_url(&[("menu", &id.to_string()), ("done", done)]))
    }

    /// The entries as the form changes them: texts first, then one move, or one new entry at the end.
    async fn changed_entries(&self, menu: &Menu, form: &Form) -> Result<Vec<Entry>, Error> {
        let mut changed = entries::read(&menu.content);
        let before = changed.clone();
        set_texts(&mut changed, form);
        let mut edited = changed.iter().zip(&before).filter(|(entry, before)| entry != before).map(|(entry, _)| entry);
        edited.try_for_each(|entry| check_link(&entry.label(), entry.url()))?;
        if let Some((action, at)) = form.get("move").split_once(' ') {
            let at = at.parse().unwrap_or(usize::MAX);
            let moved = Move::named(action).is_some_and(|action| moves::apply(&mut changed, at, action));
            if !moved {
                return Err(bad_request("admin_no_move", "The entry cannot be moved there."));
            }
            return Ok(changed);
        }
        let added = match form.get("action") {
            "add-page" => {
                let id = form.get("page").parse::<u64>().unwrap_or_default();
                let page = self.get(format!("pages/{id}")).query("_fields", "id,title,link").send().await;
                let missing = |_| bad_request("admin_no_page", "This page does not exist any more.");
                Some(page_entry(&page.map_err(missing)?.data))
            }
            "add-object" => Some(self.object_entry(form.get("object")).await?),
            "add-link" => {
                let (label, url) = (form.get("new-label").trim(), form.get("new-url").trim());
                check_link(label, url)?;
                Some(Entry::link(label, url, None))
            }
            "save" => None,
            _ => return Err(unknown_action()),
        };
        changed.extend(added);
        if changed.len() > MAX_ENTRIES {
            return Err(bad_request("admin_menu_full", &format!("A menu has at most {MAX_ENTRIES} entries.")));
        }
        Ok(changed)
    }
}

/// Sets the labels and URLs that the form has.
fn set_texts(entries: &mut [Entry], form: &Form) {
    for (at, entry) in entries.iter_mut().enumerate().filter(|(_, entry)| entry.is_link()) {
        let (label, url) = (format!("label-{at}"), format!("url-{at}"));
        if form.has(&label) && form.has(&url) {
            entry.set(form.get(&label).trim(), form.get(&url).trim());
        }
    }
}

/// The ID of the newest menu, which the theme shows where it names none.
fn newest(menus: &[Value]) -> Option<i64> {
    menus.first().and_then(|menu| menu["id"].as_i64())
}

/// Whether a form was made from a menu in this state.
fn is_of(form: &Form, state: &str) -> bool {
    form.get("etag") == state
}

/// The texts of a form that was made from another version of the menu than that in this state: the name, and a line for each entry.
/// `None` if it was not, or has none.
fn typed_elsewhere(form: &Form, state: &str) -> Option<String> {
    let line = |(name, value): (&str, &str)| match name {
        "title" | "name" => Some(value.to_owned()),
        name => {
            let entry = name.strip_prefix("label-")?;
            let url = format!("url-{entry}");
            Some(if form.has(&url) { format!("{value}: {}", form.get(&url)) } else { value.to_owned() })
        }
    };
    let lines: Vec<String> = form.fields().filter_map(line).collect();
    (!is_of(form, state) && !lines.is_empty()).then(|| lines.join("\n"))
}

/// The status of the page.
fn status_of(refused: Option<Refused<'_>>) -> StatusCode {
    let status = refused.map_or(Ok(StatusCode::OK), |(error, _)| StatusCode::from_u16(error.status()));
    status.unwrap_or(StatusCode::BAD_REQUEST)
}

/// Rejects a link that pages would not show.
fn check_link(label: &str, url: &str) -> Result<(), Error> {
    if label.is_empty() || url.is_empty() {
        return Err(bad_request("admin_no_link", "A link needs a label and a URL."));
    }
    if svc_text::esc_url(url).is_empty() {
        return Err(bad_request("admin_bad_url", &format!("“{url}” is no URL for a link.")));
    }
    Ok(())
}

fn bad_request(code: &str, message: &str) -> Error {
    Error::new(code, message).with_status(400)
}

/// The form was made from another version of the menu.
fn changed_elsewhere() -> Error {
    let message = "This menu was changed elsewhere since you opened the page. Below is what is stored now.";
    Error::new("admin_menu_changed", message).with_status(412)
}

/// The menu of the form does not exist.
fn deleted_elsewhere() -> Error {
    let message = "This menu was deleted elsewhere since you opened the page.";
    Error::new("admin_menu_deleted", message).with_status(412)
}

/// The entry of a page.
fn page_entry(page: &Value) -> Entry {
    let id = page["id"].as_i64().unwrap_or_default();
    Entry::link(&plain(text(page, "/title/rendered")), text(page, "/link"), Some((id, "post-type", "page")))
}
