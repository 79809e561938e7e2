//! A preview link of a post, to copy.

use askama::Template;
use http::StatusCode;
use serde_json::{Value, json};
use svc_brand::OWN_NAMESPACE;
use svc_login::{Page, ShownOnce};
use svc_schema::Error;

use crate::{
    layout::{self, Layout, Link, TypeInfo},
    posts::title_of,
    request::{AdminRequest, text},
};

#[derive(Template)]
#[template(path = "preview_link.html")]
struct PreviewLinkPage {
    page: Layout,
    /// Title of the post.
    title: String,
    /// The link; empty if it was shown already.
    url: String,
    expires: String,
    editor: Link,
    /// Whether the link shows the user's autosave.
    of_autosave: bool,
}

/// Value of the parameter `action` of the page.
pub(super) const ACTION: &str = "preview-link";

/// What the page of a post shows once.
fn link_of(id: i64) -> String {
    format!("preview link of {id}")
}

impl AdminRequest<'_> {
    /// Creates a link to the post, or to the user's autosave if that is newer, and leads to the page that shows it. It is a page of its
    /// own, so that what is typed in the editor stays there.
    pub(super) async fn create_preview_link(&self, info: &TypeInfo, item: &Value) -> Page {
        let Some(id) = item["id"].as_i64() else {
            return Err(Error::new("rest_post_invalid_id", "Save the post first.").with_status(400));
        };
        let autosave = self.autosave_after(info, item).await?;
        let mut body = json!({ "post": id });
        if let Some(autosave) = autosave.as_ref().filter(|autosave| autosave["id"] != id) {
            body["revision"] = autosave["id"].clone();
        }
        let of_autosave = body.get("revision").is_some();
        let link = self.post(format!("/{OWN_NAMESPACE}/preview-links"), body).send().await?.data;
        let shown = json!({"url": link["url"], "expires": link["expires_gmt"], "of_autosave": of_autosave});
        let page = self.url("post.php", &[("post", &id.to_string()), ("action", ACTION)]);
        self.admin.pages.show_once(&self.parts, &self.session, &link_of(id), &shown, &page)
    }

    /// The page with the new link of a post.
    pub(super) async fn show_preview_link(&self, info: &TypeInfo, item: &Value) -> Page {
        let id = item["id"].as_i64().unwrap_or_default();
        let (shown, cookies) = match self.admin.pages.shown_once(&self.parts, &self.session, &link_of(id)) {
            Some(ShownOnce { value, cookie }) => (value, vec![cookie]),
            None => (Value::Null, Vec::new()),
        };
        let template = PreviewLinkPage {
            page: self.layout("Preview link", &self.list_url(&info.name)).await?,
            title: title_of(item),
            url: text(&shown, "/url").to_owned(),
            expires: text(&shown, "/expires").replace('T', " "),
            editor: Link::new("Back to the post", self.edit_url(id)),
            of_autosave: shown["of_autosave"] == true,
        };
        Ok(layout::html(StatusCode::OK, &template).cookies(cookies))
    }
}
