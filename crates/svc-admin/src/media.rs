//! The list of files.

use serde_json::Value;
use svc_login::Page;

use crate::{
    layout::Link,
    list::{Cell, Filter, List, PER_PAGE, Row, date_cell},
    posts::{allows, title_of},
    request::{AdminRequest, items, text},
};

/// Kinds of files: values of the parameter `media_type`, and their labels.
const KINDS: &[(&str, &str)] = &[
    ("", "All files"),
    ("image", "Images"),
    ("audio", "Audio"),
    ("video", "Video"),
    ("application", "Documents"),
    ("text", "Texts"),
];

impl AdminRequest<'_> {
    /// The list of files.
    pub(crate) async fn list_media(&self) -> Page {
        let page = self.layout("Media", &self.url("upload.php", &[])).await?;
        let kind = self.param("kind");
        let call = self
            .get("media")
            .query("context", "edit")
            .query("media_type", KINDS.iter().map(|(kind, _)| *kind).find(|known| *known == kind).unwrap_or_default())
            .query("search", self.param("s"))
            .query("_fields", "id,title,date,alt_text,media_type,mime_type,source_url,media_details,post,_links");
        let Some(reply) = self.read_page(call, PER_PAGE).await? else { return Ok(self.to_first_page()) };
        let is_grid = self.param("view") == "grid";
        let other_view = match is_grid {
            true => Link::new("Show as a list", self.with(&[("view", "")])),
            false => Link::new("Show as a grid", self.with(&[("view", "grid")])),
        };
        let option = |(value, label): &(&str, &str)| ((*value).to_owned(), (*label).to_owned(), *value == kind);
        let list = List {
            search_label: "Search",
            search: self.param("s").to_owned(),
            filters: vec![Filter::choice("kind", "Kind of file", KINDS.iter().map(option).collect())],
            kept: self.kept(&["view"]),
            other_view: Some(other_view),
            is_grid,
            columns: ["", "File", "Date"].map(crate::list::column).into(),
            rows: items(&reply.data).iter().map(|file| self.file_row(file)).collect(),
            field: "post",
            actions: vec![("delete", "Delete permanently")],
            empty: "There are no files here yet.".to_owned(),
            pager: self.pager(&reply),
            upload: Some(self.admin.max_upload),
            ..List::default()
        };
        Ok(self.show_list(page, list, None))
    }

    fn file_row(&self, file: &Value) -> Row {
        let id = file["id"].as_i64().unwrap_or_default();
        let name = title_of(file);
        let image = ["thumbnail", "medium", "full"].iter().find_map(|size| {
            let url = file.pointer(&format!("/media_details/sizes/{size}/source_url"))?;
            url.as_str()
        });
        let may_edit = allows(file, "PUT");
        let url = if may_edit { self.edit_url(id) } else { text(file, "/source_url").to_owned() };
        let mut notes = vec![text(file, "/mime_type").to_owned()];
        if text(file, "/media_type") == "image" && text(file, "/alt_text").is_empty() {
            notes.push("No alternative text".to_owned());
        }
        Row {
            id,
            selectable: allows(file, "DELETE"),
            cells: vec![
                Cell::Image { src: image.unwrap_or_default().to_owned(), url: url.clone() },
                Cell::Link(Link::new(&name, url), notes),
                date_cell(text(file, "/date"), ""),
            ],
            name,
            links: Vec::new(),
            actions: Vec::new(),
        }
    }
}
