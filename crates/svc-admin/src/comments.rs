//! The list of comments, where they are approved and answered.

use http::Method;
use serde_json::{Value, json};
use svc_login::{Form, Page, PrivateResponse};

use crate::{
    layout::{Link, plain},
    list::{Cell, List, PER_PAGE, Row, View, column, date_cell, requested},
    posts::{allows, title_of, unknown_action},
    request::{AdminRequest, items, text},
};

/// The views of the list: values of the parameter `comment_status`, those of the REST API, and labels.
const VIEWS: &[(&str, &str, &str)] = &[
    ("", "all", "All"),
    ("moderated", "hold", "Pending"),
    ("approved", "approve", "Approved"),
    ("spam", "spam", "Spam"),
    ("trash", "trash", "Trash"),
];

/// Length of a comment's text in the list, in characters.
const EXCERPT: usize = 400;

impl AdminRequest<'_> {
    /// The list of comments.
    pub(crate) async fn list_comments(&self) -> Page {
        let page = self.layout("Comments", &self.url("edit-comments.php", &[])).await?;
        let view = self.param("comment_status");
        let (_, status, _) = VIEWS.iter().find(|(value, ..)| *value == view).unwrap_or(&VIEWS[0]);
        let call = self
            .get("comments")
            .query("context", "edit")
            .query("status", *status)
            .query("search", self.param("s"))
            .query("post", self.param("p"))
            .query("_fields", "id,post,author_name,author_email,date,content,link,status,_links");
        let Some(reply) = self.read_page(call, PER_PAGE).await? else { return Ok(self.to_first_page()) };
        let comments = items(&reply.data);
        let titles = self.titles_of(comments.iter().filter_map(|comment| comment["post"].as_i64()).collect()).await?;
        let mut views = Vec::new();
        for (value, status, label) in VIEWS {
            let count = self.get("comments").query("context", "edit").query("status", *status).count().await?;
            if count > 0 || value.is_empty() || *value == view {
                let query: &[(&str, &str)] = if value.is_empty() { &[] } else { &[("comment_status", value)] };
                let link = Link::new(*label, self.url("edit-comments.php", query));
                views.push(View { link, count, current: *value == view });
            }
        }
        let list = List {
            views,
            search_label: "Search",
            search: self.param("s").to_owned(),
            kept: self.kept(&["comment_status", "p"]),
            columns: ["Comment", "Author", "Post", "Date"].map(column).into(),
            rows: comments.iter().map(|comment| self.comment_row(comment, &titles)).collect(),
            field: "comment",
            undo: self.undo(),
            actions: match *status {
                "trash" | "spam" => vec![("restore", "Restore"), ("delete", "Delete permanently")],
                _ => vec![("approve", "Approve"), ("hold", "Unapprove"), ("spam", "Spam"), ("trash", "Trash")],
            },
            empty: if view == "moderated" { "No comments wait for you." } else { "There are no comments here." }
                .to_owned(),
            pager: self.pager(&reply),
            replies: true,
            ..List::default()
        };
        Ok(self.show_list(page, list, None))
    }

    fn comment_row(&self, comment: &Value, titles: &[(i64, String)]) -> Row {
        let id = comment["id"].as_i64().unwrap_or_default();
        let post = comment["post"].as_i64().unwrap_or_default();
        let words = match text(comment, "/content/raw") {
            "" => plain(text(comment, "/content/rendered")),
            raw => raw.to_owned(),
        };
        let short: String = words.chars().take(EXCERPT).collect();
        let title = titles.iter().find(|(id, _)| *id == post).map_or("", |(_, title)| title);
        let author = match text(comment, "/author_name") {
            "" => "Anonymous",
            name => name,
        };
        let status = text(comment, "/status");
        let mut actions = Vec::new();
        if allows(comment, "PUT") {
            match status {
                "hold" => actions.extend([("approve", "Approve"), ("spam", "Spam"), ("trash", "Trash")]),
                "spam" | "trash" => actions.extend([("restore", "Restore"), ("delete", "Delete permanently")]),
                _ => actions.extend([("hold", "Unapprove"), ("spam", "Spam"), ("trash", "Trash")]),
            }
        }
        let email = text(comment, "/author_email");
        Row {
            id,
            name: format!("comment by {author}"),
            selectable: !actions.is_empty(),
            cells: vec![
                Cell::Prose(if short.len() < words.len() { format!("{short}…") } else { short }),
                Cell::Text(if email.is_empty() { author.to_owned() } else { format!("{author} ({email})") }),
                Cell::Links(vec![Link::new(title, self.with(&[("p", &post.to_string())]))]),
                date_cell(text(comment, "/date"), if status == "hold" { "pending" } else { "" }),
            ],
            links: if status == "approved" { vec![Link::new("View", text(comment, "/link"))] } else { Vec::new() },
            actions,
        }
    }

    /// The titles of these posts, of any type.
    async fn titles_of(&self, mut ids: Vec<i64>) -> Result<Vec<(i64, String)>, svc_schema::Error> {
        ids.sort_unstable();
        ids.dedup();
        let mut titles = Vec::new();
        if ids.is_empty() {
            return Ok(titles);
        }
        let include = ids.iter().map(i64::to_string).collect::<Vec<_>>().join(",");
        for info in self.types().await? {
            let call =
                self.get(&info.rest_base).query("context", "edit").query("status", "any").query("include", &*include);
            let posts = call.query("per_page", "100").query("_fields", "id,title").send().await?.data;
            titles.extend(items(&posts).iter().map(|post| (post["id"].as_i64().unwrap_or_default(), title_of(post))));
        }
        Ok(titles)
    }

    /// Changes the selected comments, or publishes a reply.
    pub(crate) async fn change_comments(&self, form: &Form) -> Page {
        if let Ok(parent) = form.get("reply_to").parse::<i64>() {
            let comment = self.get(format!("comments/{parent}")).query("context", "edit").send().await?.data;
            if text(&comment, "/status") == "hold" {
                self.post(format!("comments/{parent}"), json!({"status": "approve"})).send().await?;
            }
            let body = json!({"post": comment["post"], "parent": parent, "content": form.get("reply")});
            self.post("comments", body).send().await?;
            return Ok(PrivateResponse::redirect(&self.after("replied", &[])));
        }
        let known = ["approve", "hold", "spam", "trash", "restore", "delete"];
        let Some((action, ids)) = requested(form, "comment", &known) else { return Err(unknown_action()) };
        for id in &ids {
            let route = format!("comments/{id}");
            let call = match action {
                "delete" => self.call(Method::DELETE, route).query("force", "true"),
                "trash" => self.call(Method::DELETE, route),
                "restore" => {
                    let comment = self.get(&*route).query("context", "edit").send().await?.data;
                    let status = match text(&comment, "/status") {
                        "spam" => "unspam",
                        "trash" => "untrash",
                        // Undone twice, or by somebody else.
                        _ => continue,
                    };
                    self.post(route, json!({ "status": status }))
                }
                status => self.post(route, json!({ "status": status })),
            };
            call.send().await?;
        }
        let (done, undo) = match action {
            "approve" => ("approved", &[][..]),
            "hold" => ("held", &[][..]),
            "spam" => ("spam", &*ids),
            "trash" => ("trashed", &*ids),
            "delete" => ("deleted", &[][..]),
            _ => ("saved", &[][..]),
        };
        Ok(PrivateResponse::redirect(&self.after(done, undo)))
    }
}
