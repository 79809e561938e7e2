//! The page on which a post or file is edited.

mod panel;
mod preview_link;
mod revisions;
pub(crate) mod save;
mod terms;

use askama::Template;
use http::StatusCode;
use serde_json::{Map, Value, json};
use svc_login::{Form, Page, PrivateResponse};
use svc_model::PostId;
use svc_schema::Error;
use svc_site::posts::edit_lock;

use crate::{
    form::{self, Control, Field, FieldView, FormView},
    layout::{self, Layout, Link, TypeInfo, plain},
    posts::{status_label, title_of},
    request::{AdminRequest, Reply, items, text},
};
use terms::TermsView;

/// A part of the side panel.
struct PanelSection {
    title: &'static str,
    open: bool,
    fields: Vec<FieldView>,
}

/// The version of a post that somebody else has stored in the meantime.
struct Conflict {
    modified: String,
    title: String,
    content: String,
}

#[derive(Template)]
#[template(path = "editor.html")]
struct EditorPage {
    page: Layout,
    id: i64,
    action: String,
    title: String,
    /// The content, escaped for a `textarea`.
    content_html: String,
    state: String,
    /// Identifies the form of a new post.
    form_id: String,
    /// The values that the form was opened with, as JSON.
    opened: String,
    modified: String,
    /// Label of the status.
    status: String,
    /// The status itself.
    stored_status: String,
    is_public: bool,
    /// The button that publishes the post or asks for it: its value and label.
    submit: Option<(&'static str, &'static str)>,
    panel: Vec<PanelSection>,
    terms: Vec<TermsView>,
    conflict: Option<Conflict>,
    /// ID of the user, to whom copies in the browser belong.
    user: i64,
    /// Key of these copies.
    key: String,
    /// The user's autosave that is newer than the post: its date, and the URL of its texts.
    autosave: Option<Link>,
    /// Name of another user who has the post open; may be empty.
    holder: String,
    list: Link,
    view: Option<Link>,
    block_editor: Option<Link>,
    /// Whether posts of the type have pages.
    viewable: bool,
    preview: String,
    revisions: String,
    trash: bool,
    rest: String,
    nonce_header: String,
    rest_nonce: String,
    nonce_url: String,
    max_upload: u64,
    has_title: bool,
    has_content: bool,
}

/// A post on its way to the page.
struct Shown<'a> {
    info: &'a TypeInfo,
    /// The stored post; null for a new one.
    item: &'a Value,
    state: String,
    /// The form that was rejected, with the error.
    rejected: Option<(&'a Form, &'a Error)>,
}

/// The values that the form of a post is opened with, for the field [`form::OPENED`].
fn opened_with(panel: &[PanelSection], terms: &[TermsView]) -> String {
    let mut opened = Map::new();
    for section in panel {
        opened.append(&mut form::opened(&section.fields));
    }
    opened.extend(terms.iter().map(|view| (view.field.clone(), view.sent().into())));
    Value::Object(opened).to_string()
}

/// A text as the content of a `textarea`. Browsers turn carriage returns into line breaks unless they are references.
fn for_textarea(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('\r', "&#13;")
}

impl AdminRequest<'_> {
    /// The post of this ID, of any type that the admin lists, with its type.
    pub(crate) async fn post_of(&self, id: i64) -> Result<(TypeInfo, Reply), Error> {
        let mut refused = Error::new("rest_post_invalid_id", "There is no such post.").with_status(404);
        for info in self.types().await? {
            match self.get(format!("{}/{id}", info.rest_base)).query("context", "edit").send().await {
                Ok(reply) => return Ok((info, reply)),
                Err(error) if error.status() == 404 => {}
                Err(error) if error.status() < 500 => refused = error,
                Err(error) => return Err(error),
            }
        }
        Err(refused)
    }

    /// The page of a post or file.
    pub(crate) async fn edit_post(&self) -> Page {
        let id = self.id("post").unwrap_or_default();
        match self.post_of(id).await {
            Ok((info, reply)) if self.param("action") == preview_link::ACTION => {
                self.show_preview_link(&info, &reply.data).await
            }
            Ok((info, reply)) => {
                let shown = Shown { info: &info, item: &reply.data, state: reply.state, rejected: None };
                self.editor(shown, StatusCode::OK).await
            }
            Err(error) if error.status() == 404 => self.edit_file(id).await,
            Err(error) => Err(error),
        }
    }

    /// The page of a post that does not exist yet.
    pub(crate) async fn new_post(&self) -> Page {
        let info = self.post_type(self.param("post_type")).await?;
        if !info.can_create {
            return Err(Error::new("admin_cannot_create", "You may not create content of this type.").with_status(403));
        }
        let shown = Shown { info: &info, item: &Value::Null, state: String::new(), rejected: None };
        self.editor(shown, StatusCode::OK).await
    }

    async fn editor(&self, shown: Shown<'_>, status: StatusCode) -> Page {
        let Shown { info, item, state, rejected } = shown;
        let is_new = item.is_null();
        let schema = self.schema_of(info).await?;
        let id = item["id"].as_i64().unwrap_or_default();
        let list = self.list_url(&info.name);
        let heading = if is_new { info.add_new.clone() } else { title_of(item) };
        let mut page = self.layout(&heading, &list).await?;
        let fields = self.panel_fields(info, item, &schema).await?;
        let defaults = self.defaults();
        let view = |fields: Vec<Field>| match rejected {
            Some((form, error)) => form::rejected(fields, form, error),
            None => form::values_of(fields, if is_new { &defaults } else { item }),
        };
        let sections =
            fields.into_iter().map(|(title, open, fields)| PanelSection { title, open, fields: view(fields) });
        let panel: Vec<PanelSection> = sections.filter(|section| !section.fields.is_empty()).collect();
        let terms = self.terms_views(info, item, rejected.map(|(form, _)| form)).await?;
        let opened = match rejected {
            Some((form, _)) => form.get(form::OPENED).to_owned(),
            None => opened_with(&panel, &terms),
        };
        let typed = |name: &str, stored: &str| match rejected {
            Some((form, _)) => form.get(name).replace("\r\n", "\n"),
            None => stored.to_owned(),
        };
        if let Some((_, error)) = rejected {
            page.problem = form::message_of(error);
        }
        let conflict = rejected.filter(|(_, error)| error.status() == 412).map(|_| Conflict {
            modified: text(item, "/modified").replace('T', " "),
            title: text(item, "/title/raw").to_owned(),
            content: text(item, "/content/raw").to_owned(),
        });
        let post_status = if is_new { "draft" } else { text(item, "/status") };
        let is_public = matches!(post_status, "publish" | "private" | "future");
        let template = EditorPage {
            id,
            action: if is_new { self.url("post.php", &[("post_type", &info.name)]) } else { self.edit_url(id) },
            title: typed("title", text(item, "/title/raw")),
            content_html: for_textarea(&typed("content", text(item, "/content/raw"))),
            state,
            form_id: svc_auth::session::new_token().map(|token| token.expose().to_owned()).unwrap_or_default(),
            opened,
            modified: text(item, "/modified").to_owned(),
            status: status_label(post_status),
            stored_status: post_status.to_owned(),
            is_public,
            submit: match (is_public, info.can_publish) {
                (true, _) => None,
                (false, true) => Some(("publish", "Publish")),
                (false, false) if post_status == "pending" => None,
                (false, false) => Some(("submit", "Submit for review")),
            },
            panel,
            terms,
            conflict,
            user: self.session.user.id.0,
            key: if is_new {
                format!("user-{}-new-{}", self.session.user.id.0, info.name)
            } else {
                self.copies_key(id)
            },
            holder: self.holder_of(id)?,
            autosave: if is_new { None } else { self.newer_autosave(info, item).await? },
            list: Link::new(&info.plural, list),
            view: (info.viewable && post_status == "publish").then(|| Link::new("View", text(item, "/link"))),
            block_editor: (!is_new && self.has_block_editor(info))
                .then(|| Link::new("Open in the block editor", self.block_editor_url(id))),
            viewable: info.viewable,
            preview: if info.viewable && !is_new { self.preview_url(id, text(item, "/link")) } else { String::new() },
            revisions: if item["_links"]["version-history"].is_array() && !is_new {
                self.url("revision.php", &[("post", &id.to_string())])
            } else {
                String::new()
            },
            trash: !is_new,
            rest: self.admin.rest.clone(),
            nonce_header: self.admin.pages.identities.site.brand.header("Nonce"),
            rest_nonce: self.rest_nonce(),
            nonce_url: self.url("admin-ajax.php", &[("action", "rest-nonce")]),
            max_upload: self.admin.max_upload,
            has_title: schema["title"].is_object(),
            has_content: schema["content"].is_object(),
            page,
        };
        Ok(layout::html(status, &template))
    }

    /// The user's autosave, if it is newer than the post: its date, and the URL of its texts.
    pub(crate) async fn newer_autosave(&self, info: &TypeInfo, item: &Value) -> Result<Option<Link>, Error> {
        let autosave = self.autosave_after(info, item).await?;
        Ok(autosave.map(|autosave| {
            let query = [("post", item["id"].to_string()), ("revision", autosave["id"].to_string())];
            let url = self.url("revision.php", &query.each_ref().map(|(name, value)| (*name, &**value)));
            Link::new(text(&autosave, "/modified").replace('T', " "), url)
        }))
    }

    /// The user's autosave, if it is newer than the post.
    async fn autosave_after(&self, info: &TypeInfo, item: &Value) -> Result<Option<Value>, Error> {
        let id = item["id"].as_i64().unwrap_or_default();
        let call = self.get(format!("{}/{id}/autosaves", info.rest_base)).query("context", "edit");
        let autosaves =
            match call.query("_fields", "id,author,modified,modified_gmt,title,content,excerpt").send().await {
                Ok(reply) => reply.data,
                Err(error) if error.status() < 500 => return Ok(None),
                Err(error) => return Err(error),
            };
        let is_newer = |autosave: &&Value| {
            autosave["author"] == self.session.user.id.0
                && text(autosave, "/modified_gmt") >= text(item, "/modified_gmt")
                && !save::has_texts_of(item, autosave)
        };
        Ok(items(&autosaves).iter().find(is_newer).cloned())
    }

    /// Key of the browser's copies of a post.
    fn copies_key(&self, id: i64) -> String {
        format!("user-{}-post-{id}", self.session.user.id.0)
    }

    /// The name of another user who has the post open; empty if nobody has.
    fn holder_of(&self, id: i64) -> Result<String, Error> {
        let (cx, identities) = (&self.parts.cx, &self.admin.pages.identities);
        let (caller, now) = (self.session.user.id, identities.now(cx));
        let holder = identities.site.read(cx, |db| edit_lock::holder(db, PostId(id), caller, now))?;
        Ok(holder.map_or_else(String::new, |user| plain(&user.display_name)))
    }

    /// What a new post has if the form does not change it.
    fn defaults(&self) -> Value {
        let settings = &self.session.settings;
        let format = match settings.option("default_post_format") {
            "" | "0" => "standard",
            format => format,
        };
        json!({
            "status": "draft",
            "author": self.session.user.id.0,
            "format": format,
            "comment_status": settings.option("default_comment_status"),
            "ping_status": settings.option("default_ping_status"),
            "parent": 0,
            "featured_media": 0,
            "menu_order": 0,
        })
    }

    /// The fields of the type, by name.
    async fn schema_of(&self, info: &TypeInfo) -> Result<Value, Error> {
        let described = self.call(http::Method::OPTIONS, &*info.rest_base).send().await?.data;
        Ok(described["schema"]["properties"].clone())
    }

    /// The URL of a post as it would look on the site, with the user's autosave.
    fn preview_url(&self, id: i64, link: &str) -> String {
        let action = format!("post_preview_{id}");
        let nonce = self.admin.pages.identities.nonce(&self.parts.cx, &action, self.session.nonce_subject());
        svc_login::with_query(
            &plain(link),
            &[("preview", "true"), ("preview_id", &id.to_string()), ("preview_nonce", &nonce)],
        )
    }

    fn file_fields() -> Vec<Field> {
        vec![
            Field::new("title", "Title", Control::Line("text")).at("/title/raw"),
            Field::new("alt_text", "Alternative text", Control::Lines).help(
                "Describes the picture to people who do not see it. Leave it empty if the picture is decoration.",
            ),
            Field::new("caption", "Caption", Control::Lines).at("/caption/raw"),
            Field::new("description", "Description", Control::Lines).at("/description/raw"),
        ]
    }

    /// The page of a file.
    async fn edit_file(&self, id: i64) -> Page {
        let file = self.get(format!("media/{id}")).query("context", "edit").send().await?;
        let views = form::values_of(Self::file_fields(), &file.data);
        self.file_page(&file.data, views, file.state, None).await
    }

    async fn file_page(&self, file: &Value, fields: Vec<FieldView>, state: String, error: Option<&Error>) -> Page {
        let mut page = self.layout(&title_of(file), &self.url("upload.php", &[])).await?;
        page.problem = error.map(form::message_of).unwrap_or_default();
        let form = FormView {
            title: String::new(),
            action: self.edit_url(file["id"].as_i64().unwrap_or_default()),
            fields,
            submit: "Save",
            hidden: vec![("etag", state)],
            delete: Some("Delete permanently"),
            confirm: "Delete this file? Posts that show it will have a gap.",
        };
        let source = text(file, "/source_url");
        let image = if text(file, "/media_type") == "image" { source } else { "" };
        let links = vec![Link::new("Media", self.url("upload.php", &[])), Link::new("Open file", source)];
        let status = if error.is_some() { StatusCode::BAD_REQUEST } else { StatusCode::OK };
        Ok(form::page(status, page, form, image.to_owned(), links))
    }

    /// Saves or deletes a file.
    async fn save_file(&self, id: i64, form: &Form) -> Page {
        let route = format!("media/{id}");
        if form.get("action") == "delete" {
            self.call(http::Method::DELETE, route).query("force", "true").send().await?;
            return Ok(PrivateResponse::redirect(&self.url("upload.php", &[("done", "deleted")])));
        }
        let file = self.get(&*route).query("context", "edit").send().await?;
        let fields = Self::file_fields();
        let body = form::changes(&fields, form);
        match self.post(route, json!(body)).if_match(form.get("etag")).send().await {
            Ok(_) => Ok(PrivateResponse::redirect(&self.after("saved", &[]))),
            Err(error) if error.status() < 500 => {
                self.file_page(&file.data, form::rejected(fields, form, &error), file.state, Some(&error)).await
            }
            Err(error) => Err(error),
        }
    }
}
