//! The first page: what waits for the user, and what changed last.

use askama::Template;
use http::StatusCode;
use serde_json::Value;
use svc_login::Page;
use svc_schema::Error;

use crate::{
    health::Health,
    layout::{self, Layout, Link, STATUS},
    posts::{allows, status_label, title_of},
    request::{AdminRequest, items, text},
};

/// Number of posts of each list.
const N_POSTS: &str = "6";

/// A post of a list.
struct Entry {
    link: Link,
    date: String,
    status: String,
}

/// A list of posts.
struct Section {
    title: &'static str,
    entries: Vec<Entry>,
    /// All of them.
    all: Link,
    empty: &'static str,
}

#[derive(Template)]
#[template(path = "dashboard.html")]
struct DashboardPage {
    page: Layout,
    new: Vec<Link>,
    sections: Vec<Section>,
    /// Number of comments that wait, with the URL of their list.
    waiting: u64,
    comments: String,
    explorer: Option<String>,
    /// The URL of the status page, if it shows the user the site's health, and what was found last.
    health: Option<(String, Option<Health>)>,
}

impl AdminRequest<'_> {
    /// The first page.
    pub(crate) async fn dashboard(&self) -> Page {
        let page = self.layout("Dashboard", &self.url("", &[])).await?;
        let types = self.types().await?;
        let created = types.iter().filter(|info| info.can_create && info.viewable);
        let new = created.map(|t| Link::new(&t.add_new, self.url("post-new.php", &[("post_type", &t.name)]))).collect();
        let mut sections = Vec::new();
        if types.iter().any(|info| info.name == "post") {
            sections = vec![
                self.section("Drafts", "draft", "modified", "No drafts.").await?,
                self.section("Scheduled", "future", "date", "Nothing is scheduled.").await?,
                self.section("Recently changed", "any", "modified", "No posts yet.").await?,
            ];
        }
        let waiting = page.nav.iter().map(|item| item.waiting).sum();
        let template = DashboardPage {
            page,
            new,
            sections,
            waiting,
            comments: self.url("edit-comments.php", &[("comment_status", "moderated")]),
            health: self.sees_health().then(|| (self.url(STATUS, &[]), self.admin.health.get())),
            explorer: self.admin.pages.explorer.clone(),
        };
        Ok(layout::html(StatusCode::OK, &template))
    }

    async fn section(
        &self,
        title: &'static str,
        status: &'static str,
        order_by: &str,
        empty: &'static str,
    ) -> Result<Section, Error> {
        let reply = self
            .get("posts")
            .query("context", "edit")
            .query("status", status)
            .query("orderby", order_by)
            .query("order", if status == "future" { "asc" } else { "desc" })
            .query("per_page", N_POSTS)
            .query("_fields", "id,title,status,date,modified,link,_links")
            .send()
            .await?;
        let entry = |post: &Value| {
            let id = post["id"].as_i64().unwrap_or_default();
            let url = if allows(post, "PUT") { self.edit_url(id) } else { text(post, "/link").to_owned() };
            let date = text(post, if status == "future" { "/date" } else { "/modified" });
            Entry {
                link: Link::new(title_of(post), url),
                date: date.get(..16).unwrap_or(date).replace('T', " "),
                status: if status == "any" { status_label(text(post, "/status")) } else { String::new() },
            }
        };
        let query: &[(&str, &str)] = if status == "any" { &[] } else { &[("post_status", status)] };
        let all = Link::new("All", self.url("edit.php", query));
        Ok(Section { title, entries: items(&reply.data).iter().map(entry).collect(), all, empty })
    }
}
