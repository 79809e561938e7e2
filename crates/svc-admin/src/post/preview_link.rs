//! A preview link of a post, to copy.

use askama::Template;
use http::StatusCode;
use serde_json::{Value, json};
use svc_brand::OWN_NAMESPACE;
use svc_login::Page;
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
    url: String,
    expires: String,
    editor: Link,
    /// Whether the link shows the user's autosave.
    of_autosave: bool,
}

impl AdminRequest<'_> {
    /// Creates a link to the post, or to the user's autosave if that is newer, and shows it. It is a page of its own, so that what is
    /// typed in the editor stays there.
    pub(super) async fn preview_link(&self, info: &TypeInfo, item: &Value) -> Page {
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
        let template = PreviewLinkPage {
            page: self.layout("Preview link", &self.list_url(&info.name)).await?,
            title: title_of(item),
            url: text(&link, "/url").to_owned(),
            expires: text(&link, "/expires_gmt").replace('T', " "),
            editor: Link::new("Back to the post", self.edit_url(id)),
            of_autosave,
        };
        Ok(layout::html(StatusCode::OK, &template))
    }
}
