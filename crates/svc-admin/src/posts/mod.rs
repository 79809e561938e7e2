//! The lists of posts, pages and other post types.

mod columns;
pub(crate) mod filters;

use http::Method;
use serde_json::{Value, json};
use svc_login::{Form, Page, PrivateResponse};
use svc_schema::Error;

use crate::{
    layout::{self, Link, TypeInfo, plain},
    list::{Cell, List, PER_PAGE, Row, View, date_cell, requested},
    request::{AdminRequest, items, text},
};
use columns::ExtraColumn;

/// The views of a list: values of the parameter `status`, and their labels. The first one has all but the trash.
const VIEWS: &[(&str, &str)] = &[
    ("any", "All"),
    ("publish", "Published"),
    ("future", "Scheduled"),
    ("draft", "Drafts"),
    ("pending", "Pending"),
    ("private", "Private"),
    ("trash", "Trash"),
];

/// What the list shows of a post.
const FIELDS: &str = "id,title,status,date,link,author,sticky,_links";

/// The label of a status that a row shows; empty for published posts.
pub(crate) fn status_label(status: &str) -> String {
    match status {
        "publish" => String::new(),
        "future" => "Scheduled".to_owned(),
        "auto-draft" => "Draft".to_owned(),
        "pending" => "Pending review".to_owned(),
        "inherit" => String::new(),
        other => capitalized(other),
    }
}

/// The text with a capital first letter.
pub(crate) fn capitalized(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// Whether the caller may change the object, by the methods that its link to itself allows.
pub(crate) fn allows(item: &Value, method: &str) -> bool {
    items(&item["_links"]["self"][0]["targetHints"]["allow"]).iter().any(|allowed| allowed == method)
}

/// The title of a post for people.
pub(crate) fn title_of(post: &Value) -> String {
    match plain(text(post, "/title/rendered")).trim() {
        "" => "(no title)".to_owned(),
        title => title.to_owned(),
    }
}

impl AdminRequest<'_> {
    /// The post type of this name.
    pub(crate) async fn post_type(&self, name: &str) -> Result<TypeInfo, Error> {
        let name = if name.is_empty() { "post" } else { name };
        let known = self.types().await?.into_iter().find(|info| info.name == name);
        known.ok_or_else(|| Error::new("admin_no_type", "You may not edit content of this type.").with_status(403))
    }

    /// A list of posts.
    pub(crate) async fn list_posts(&self) -> Page {
        let info = self.post_type(self.param("post_type")).await?;
        let page = self.layout(&info.plural, &self.list_url(&info.name)).await?;
        let status = VIEWS.iter().map(|(status, _)| *status).find(|s| *s == self.param("post_status")).unwrap_or("any");
        let mut taxonomies = self.taxonomies().await?;
        taxonomies.retain(|taxonomy| info.taxonomies.contains(&taxonomy.name));
        let meta = self.indexed_meta(&info.rest_base).await?;
        let filters = self.post_filters(&taxonomies, &meta).await?;
        let extra = ExtraColumn::all(taxonomies, &meta);
        let is_chosen = self.chosen_columns(&info, &extra);
        let chosen: Vec<&ExtraColumn> =
            extra.iter().zip(&is_chosen).filter_map(|(column, chosen)| chosen.then_some(column)).collect();
        let fields = chosen.iter().fold(FIELDS.to_owned(), |fields, column| format!("{fields},{}", column.field()));
        let call = self.get(&info.rest_base).query("context", "edit").query("status", status);
        let mut call = filters.restrict(call.query("search", self.param("s")).query("_fields", fields));
        let by = self.param("orderby");
        if matches!(by, "title" | "date" | "author" | "modified")
            || meta.iter().any(|field| by.strip_prefix("meta.") == Some(field))
        {
            call = call.query("orderby", by).query("order", if self.param("order") == "desc" { "desc" } else { "asc" });
        }
        let Some(reply) = self.read_page(call, PER_PAGE).await? else { return Ok(self.to_first_page()) };
        let posts = items(&reply.data);
        let mut authors: Vec<i64> = posts.iter().filter_map(|post| post["author"].as_i64()).collect();
        authors.sort_unstable();
        authors.dedup();
        let names = self.names_of(&authors).await?;
        let block_editor = self.has_block_editor(&info);
        let term_names = self.term_names(&chosen, posts).await?;
        let row = |post: &Value| {
            let mut row = self.post_row(post, &info, block_editor, &names);
            row.cells.extend(chosen.iter().map(|column| self.extra_cell(column, post, &term_names)));
            row
        };
        let has_trash = status == "trash";
        let list = List {
            new: info
                .can_create
                .then(|| Link::new(&info.add_new, self.url("post-new.php", &[("post_type", &info.name)]))),
            new_in_block_editor: if block_editor && info.can_create {
                self.url(layout::BLOCK_EDITOR, &[("post_type", &info.name)])
            } else {
                String::new()
            },
            views: self.views(&info, status).await?,
            search_label: "Search",
            search: self.param("s").to_owned(),
            filters: filters.shown,
            more_filters: filters.more,
            kept: self.kept(&["post_type", "post_status", "orderby", "order"]),
            columns: [
                self.sortable("Title", "title", None),
                self.sortable("Author", "author", None),
                self.sortable("Date", "date", Some("descending")),
            ]
            .into_iter()
            .chain(chosen.iter().map(|column| self.extra_column(column)))
            .collect(),
            choices: extra
                .iter()
                .zip(is_chosen)
                .map(|(column, chosen)| (column.key(), column.label().to_owned(), chosen))
                .collect(),
            rows: posts.iter().map(row).collect(),
            field: "post",
            actions: if has_trash {
                vec![("restore", "Restore"), ("delete", "Delete permanently")]
            } else {
                vec![("publish", "Publish"), ("draft", "Switch to draft"), ("trash", "Move to trash")]
            },
            undo: self.undo(),
            empty: if self.param("s").is_empty() {
                format!("There are no {} here yet.", info.plural.to_lowercase())
            } else {
                format!("Nothing found for “{}”.", self.param("s"))
            },
            pager: self.pager(&reply),
            ..List::default()
        };
        Ok(self.show_list(page, list, None))
    }

    fn post_row(
        &self,
        post: &Value,
        info: &TypeInfo,
        block_editor: bool,
        names: &std::collections::HashMap<i64, String>,
    ) -> Row {
        let id = post["id"].as_i64().unwrap_or_default();
        let (title, status) = (title_of(post), text(post, "/status"));
        let may_edit = allows(post, "PUT") && status != "trash";
        let link = text(post, "/link");
        let mut notes: Vec<String> = [status_label(status)].into_iter().filter(|label| !label.is_empty()).collect();
        if post["sticky"] == true {
            notes.push("Sticky".to_owned());
        }
        let url = if may_edit { self.edit_url(id) } else { link.to_owned() };
        let author = post["author"].as_i64().unwrap_or_default();
        let name = names.get(&author).cloned().unwrap_or_default();
        let by = Link::new(name, self.with(&[("author", &author.to_string())]));
        let mut links = Vec::new();
        if may_edit && block_editor {
            links.push(Link::new("Block editor", self.block_editor_url(id)));
        }
        if info.viewable && status == "publish" {
            links.push(Link::new("View", link));
        }
        let mut actions = Vec::new();
        if allows(post, "DELETE") {
            if status == "trash" {
                actions.extend([("restore", "Restore"), ("delete", "Delete permanently")]);
            } else {
                actions.push(("trash", "Trash"));
            }
        }
        Row {
            id,
            selectable: allows(post, "PUT") || allows(post, "DELETE"),
            cells: vec![
                if status == "trash" { Cell::Text(title.clone()) } else { Cell::Link(Link::new(&title, url), notes) },
                Cell::Links(if author > 0 { vec![by] } else { Vec::new() }),
                date_cell(text(post, "/date"), if status == "future" { "scheduled" } else { "" }),
            ],
            name: title,
            links,
            actions,
        }
    }

    /// The views of the list with the number of posts of each; those without posts are left out.
    async fn views(&self, info: &TypeInfo, current: &str) -> Result<Vec<View>, Error> {
        let mut views = Vec::new();
        for (status, label) in VIEWS {
            let call = self.get(&info.rest_base).query("context", "edit").query("status", *status);
            let count = match call.query("_fields", "id").count().await {
                Ok(count) => count,
                // Statuses that the user may not list.
                Err(error) if error.status() < 500 => 0,
                Err(error) => return Err(error),
            };
            if count > 0 || *status == "any" || *status == current {
                let value = if *status == "any" { "" } else { status };
                let query = [("post_type", &*info.name), ("post_status", value)];
                let query: Vec<_> = query.into_iter().filter(|(_, v)| !v.is_empty() && *v != "post").collect();
                let link = Link::new(*label, self.url("edit.php", &query));
                views.push(View { link, count, current: *status == current });
            }
        }
        Ok(views)
    }

    /// The parameters of the page's URL that its search form sends as well.
    pub(crate) fn kept(&self, names: &[&'static str]) -> Vec<(&'static str, String)> {
        let value = |name: &&'static str| (*name, self.param(name).to_owned());
        names.iter().map(value).filter(|(_, value)| !value.is_empty()).collect()
    }

    /// The IDs of the posts that the action before moved to the trash.
    pub(crate) fn undo(&self) -> Vec<i64> {
        self.param("undo").split(',').filter_map(|id| id.parse().ok()).take(100).collect()
    }

    async fn is_in_trash(&self, route: &str) -> Result<bool, Error> {
        let post = self.get(route).query("context", "edit").query("_fields", "status").send().await?.data;
        Ok(text(&post, "/status") == "trash")
    }

    /// Changes the selected posts or files of a list.
    pub(crate) async fn change_posts(&self, form: &Form) -> Page {
        if form.get("action") == "columns" {
            return self.choose_columns(form).await;
        }
        let base = if self.parts.url.contains("upload.php") {
            "media".to_owned()
        } else {
            self.post_type(self.param("post_type")).await?.rest_base
        };
        let known = ["trash", "restore", "delete", "publish", "draft"];
        let Some((action, ids)) = requested(form, "post", &known) else { return Err(unknown_action()) };
        for id in &ids {
            let route = format!("{base}/{id}");
            let call = match action {
                "trash" => self.call(Method::DELETE, route),
                "delete" => self.call(Method::DELETE, route).query("force", "true"),
                "publish" => self.post(route, json!({"status": "publish"})),
                // Undone twice, or by somebody else.
                "restore" if !self.is_in_trash(&route).await? => continue,
                _ => self.post(route, json!({"status": "draft"})),
            };
            call.send().await?;
        }
        let (done, undo) = match action {
            "trash" => ("trashed", &*ids),
            "restore" => ("restored", &[][..]),
            "delete" => ("deleted", &[][..]),
            "publish" => ("published", &[][..]),
            _ => ("draft", &[][..]),
        };
        Ok(PrivateResponse::redirect(&self.after(done, undo)))
    }
}

/// The form contains an action that the page does not have.
pub(crate) fn unknown_action() -> Error {
    Error::new("admin_unknown_action", "Select what to do with the selected items.").with_status(400)
}
