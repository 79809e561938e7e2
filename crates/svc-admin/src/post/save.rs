//! Saves the form of a post, for browsers with and without the editor's script.

use http::StatusCode;
use serde_json::{Map, Value, json};
use svc_login::{Form, Page, PrivateResponse};
use svc_model::PostId;
use svc_schema::Error;
use svc_site::posts::edit_lock;
use svc_text::{Quotes, specialchars_decode};

use super::{PanelSection, Shown, opened_with, preview_link};
use crate::{
    form, json_response,
    layout::TypeInfo,
    notices,
    posts::{allows, title_of, unknown_action},
    request::{AdminRequest, Reply, text},
};

/// The texts of a post: names of the fields, and where the object has them.
pub(super) const TEXTS: &[(&str, &str)] =
    &[("title", "/title/raw"), ("content", "/content/raw"), ("excerpt", "/excerpt/raw")];

/// Key of the notice after an autosave, which stores the texts only.
const AUTOSAVED: &str = "autosaved";

/// State that no object has: a save that expects it is a conflict.
const UNKNOWN_STATE: &str = "unknown";

/// What happened to a post.
struct Saved {
    reply: Reply,
    /// The state that the next save expects.
    state: String,
    /// Key of the notice.
    done: &'static str,
}

impl AdminRequest<'_> {
    /// Saves a post or file, or moves it to the trash.
    pub(crate) async fn save_post(&self, form: &Form) -> Page {
        let wants_json = crate::wants_json(&self.parts);
        let sent_id = || form.get("post").parse().ok().filter(|id| *id > 0);
        let id = self.id("post").or_else(sent_id).or_else(|| self.created_by(form));
        let (info, stored) = match id {
            Some(id) => match self.post_of(id).await {
                Ok(found) => found,
                Err(error) if error.status() == 404 && wants_json => return Err(deleted()),
                Err(error) if error.status() == 404 => return self.save_file(id, form).await,
                Err(error) => return Err(error),
            },
            None => {
                let empty = Reply::default();
                (self.post_type(self.param("post_type")).await?, empty)
            }
        };
        if form.get("action") == "trash" {
            let id = stored.data["id"].as_i64().unwrap_or_default();
            self.call(http::Method::DELETE, format!("{}/{id}", info.rest_base))
                .if_match(form.get("etag"))
                .send()
                .await?;
            let done = [("done", "trashed"), ("undo", &id.to_string())];
            return Ok(PrivateResponse::redirect(&svc_login::with_query(&self.list_url(&info.name), &done)));
        }
        if form.get("action") == preview_link::ACTION {
            return self.create_preview_link(&info, &stored.data).await;
        }
        if let Some(id) = id.filter(|_| form.get("action") == "lock" && allows(&stored.data, "PUT")) {
            return self.lock(id).await;
        }
        if text(&stored.data, "/status") == "trash" {
            let message = "This post is in the trash. Restore it there, then save again.";
            let error = Error::new("admin_post_in_trash", message).with_status(400);
            return if wants_json { Ok(error_for_script(&error)) } else { Err(error) };
        }
        match self.store(&info, &stored, form, wants_json).await {
            Ok(saved) if wants_json => self.saved_for_script(&info, &saved).await,
            Ok(saved) => {
                let id = saved.reply.data["id"].as_i64().unwrap_or_default();
                let url = svc_login::with_query(&self.edit_url(id), &[("done", saved.done)]);
                Ok(PrivateResponse::redirect(&url))
            }
            Err(error) if wants_json => self.refused_for_script(&info, id, &error).await,
            Err(error) if error.status() < 500 => {
                let status = StatusCode::from_u16(error.status()).unwrap_or(StatusCode::BAD_REQUEST);
                // The next save replaces the version that is shown as a conflict.
                let state = if error.status() == 412 { stored.state } else { form.get("etag").to_owned() };
                let shown = Shown { info: &info, item: &stored.data, state, rejected: Some((form, &error)) };
                self.editor(shown, status).await
            }
            Err(error) => Err(error),
        }
    }

    /// The post that an earlier request of this form has created, if its response was lost.
    fn created_by(&self, form: &Form) -> Option<i64> {
        self.admin.created.get(&(self.session.user.id.0, form.get("form").to_owned()))
    }

    /// The user who saved the post last, as its latest revision says. Empty if it has none.
    async fn last_author(&self, info: &TypeInfo, id: i64) -> Result<Vec<i64>, Error> {
        let call = self.get(format!("{}/{id}/revisions", info.rest_base)).query("context", "edit");
        match call.query("per_page", "1").query("_fields", "author").send().await {
            Ok(reply) => Ok(reply.data[0]["author"].as_i64().into_iter().collect()),
            Err(error) if error.status() < 500 => Ok(Vec::new()),
            Err(error) => Err(error),
        }
    }

    /// Tells other editors that the user has the post open. The response names the one who has it open already.
    async fn lock(&self, id: i64) -> Page {
        let site = &self.admin.pages.identities.site;
        let (caller, now) = (self.session.user.id, self.admin.pages.identities.now(&self.parts.cx));
        let other = site.write(&self.parts.cx, move |tx| edit_lock::lock(tx, PostId(id), caller, now)).await?;
        let name = other.map(|user| specialchars_decode(&user.display_name, Quotes::Both));
        Ok(json_response(200, &json!({ "holder": name })))
    }

    /// Stores what the form changes.
    async fn store(&self, info: &TypeInfo, stored: &Reply, form: &Form, by_script: bool) -> Result<Saved, Error> {
        let item = &stored.data;
        let action = form.get("action");
        if !matches!(action, "save" | "publish" | "submit" | "autosave") {
            return Err(unknown_action());
        }
        let mut changes = Map::new();
        for (name, pointer) in TEXTS {
            // Browsers send line breaks of a form as CRLF, the editor's script as they are. What differs by that only stays as it is.
            let sent = form.get(name);
            let plain = sent.replace("\r\n", "\n");
            if form.has(name) && plain != text(item, pointer).replace("\r\n", "\n") {
                let sent = if by_script { sent.to_owned() } else { plain };
                changes.insert((*name).to_owned(), sent.into());
            }
        }
        if action == "autosave" {
            return self.autosave(info, stored, form, changes).await;
        }
        let schema = self.schema_of(info).await?;
        let fields: Vec<_> = self.panel_fields(info, item, &schema).await?.into_iter().flat_map(|(.., f)| f).collect();
        let fields: Vec<_> = fields.into_iter().filter(|field| field.name != "excerpt").collect();
        let mut others = form::changes(&fields, form);
        if let Some(date) = others.get("date").and_then(Value::as_str) {
            // Browsers leave out seconds that are 0.
            let date = if date.len() == "2026-11-26T09:30".len() { format!("{date}:00") } else { date.to_owned() };
            let opened = form::opened_of(form);
            if date.is_empty() || opened.get("date").and_then(Value::as_str) == Some(&*date) {
                others.shift_remove("date");
            } else {
                others.insert("date".to_owned(), date.into());
            }
        }
        changes.append(&mut others);
        self.add_terms(info, item, form, &mut changes).await?;
        if action == "publish" && !matches!(changes.get("status").and_then(Value::as_str), Some("private")) {
            changes.insert("status".to_owned(), "publish".into());
        }
        if action == "submit" {
            changes.insert("status".to_owned(), "pending".into());
        }
        let reply = self.write(info, item, changes, form).await?;
        let done = match (text(item, "/status"), text(&reply.data, "/status")) {
            ("publish" | "private" | "future", "publish" | "private" | "future") => "saved",
            (_, "publish" | "private") => "published",
            (_, "future") => "scheduled",
            _ => "draft",
        };
        self.after_write(info, reply, done).await
    }

    /// Stores the texts as the user's autosave. The autosave of an own draft is the draft, as in WordPress.
    async fn autosave(
        &self,
        info: &TypeInfo,
        stored: &Reply,
        form: &Form,
        changes: Map<String, Value>,
    ) -> Result<Saved, Error> {
        let (item, etag) = (&stored.data, form.get("etag"));
        let Some(id) = item["id"].as_i64() else {
            let reply = self.write(info, item, changes, form).await?;
            return self.after_write(info, reply, AUTOSAVED).await;
        };
        // The route has no preconditions. What is replaced in the moment between has a revision.
        if !etag.is_empty() && etag != stored.state {
            return Err(changed_elsewhere());
        }
        if changes.is_empty() {
            return Ok(Saved { reply: stored.clone(), state: stored.state.clone(), done: AUTOSAVED });
        }
        let call = self.post(format!("{}/{id}/autosaves", info.rest_base), Value::Object(changes));
        let autosave = call.query("context", "edit").send().await?;
        if autosave.data["id"] == id {
            // The draft itself: the response has the fields of an autosave only.
            let now = self.get(format!("{}/{id}", info.rest_base)).query("context", "edit").send().await?;
            let is_same =
                now.data["modified_gmt"] == autosave.data["modified_gmt"] && has_texts_of(&now.data, &autosave.data);
            let state = if is_same { now.state.clone() } else { UNKNOWN_STATE.to_owned() };
            return Ok(Saved { reply: now, state, done: AUTOSAVED });
        }
        // The post is unchanged: the next save expects the state that this form has.
        Ok(Saved { reply: stored.clone(), state: stored.state.clone(), done: AUTOSAVED })
    }

    async fn write(
        &self,
        info: &TypeInfo,
        item: &Value,
        changes: Map<String, Value>,
        form: &Form,
    ) -> Result<Reply, Error> {
        let route = match item["id"].as_i64() {
            Some(id) => format!("{}/{id}", info.rest_base),
            None => info.rest_base.clone(),
        };
        let reply = self.post(route, changes.into()).query("context", "edit").if_match(form.get("etag")).send().await?;
        if let (Some(id), true) = (reply.data["id"].as_i64(), item.is_null() && !form.get("form").is_empty()) {
            self.admin.created.insert((self.session.user.id.0, form.get("form").to_owned()), id);
        }
        Ok(reply)
    }

    /// The state after a write. If the post has changed again since, the next save is a conflict.
    async fn after_write(&self, info: &TypeInfo, reply: Reply, done: &'static str) -> Result<Saved, Error> {
        let id = reply.data["id"].as_i64().unwrap_or_default();
        let now = self.get(format!("{}/{id}", info.rest_base)).query("context", "edit").send().await?;
        let is_same = has_texts_of(&now.data, &reply.data)
            && ["status", "slug", "date", "modified_gmt", "author", "password"]
                .iter()
                .all(|f| now.data[f] == reply.data[f]);
        let state = if is_same { now.state } else { UNKNOWN_STATE.to_owned() };
        Ok(Saved { reply, state, done })
    }

    /// The values with which the form of a stored post is opened.
    async fn opened_now(&self, info: &TypeInfo, item: &Value) -> Result<String, Error> {
        let schema = self.schema_of(info).await?;
        let fields = self.panel_fields(info, item, &schema).await?;
        let section = |(title, open, fields)| PanelSection { title, open, fields: form::values_of(fields, item) };
        let panel: Vec<PanelSection> = fields.into_iter().map(section).collect();
        Ok(opened_with(&panel, &self.terms_views(info, item, None).await?))
    }

    async fn saved_for_script(&self, info: &TypeInfo, saved: &Saved) -> Page {
        let item = &saved.reply.data;
        // An autosave stores the texts only, so the other fields are compared with the same values as before.
        let opened = if saved.done == AUTOSAVED { Value::Null } else { self.opened_now(info, item).await?.into() };
        let id = item["id"].as_i64().unwrap_or_default();
        Ok(json_response(
            200,
            &json!({
                "id": id,
                "key": self.copies_key(id),
                "opened": opened,
                "status": item["status"],
                "title": title_of(item),
                "etag": saved.state,
                "modified": item["modified"],
                "date": item["date"],
                "slug": item["slug"],
                "nonce": self.nonce(),
                "link": item["link"],
                "preview": self.preview_url(id, text(item, "/link")),
                "edit": self.edit_url(id),
                "message": notices::text_of(saved.done),
            }),
        ))
    }

    /// The response for a script whose save was refused; after a conflict with the stored version.
    async fn refused_for_script(&self, info: &TypeInfo, id: Option<i64>, error: &Error) -> Page {
        let (412, Some(id)) = (error.status(), id) else { return Ok(error_for_script(error)) };
        let now = self.get(format!("{}/{id}", info.rest_base)).query("context", "edit").send().await?;
        let author = self.last_author(info, id).await?;
        let names = self.names_of(&author).await?;
        Ok(json_response(
            412,
            &json!({
                "message": changed_elsewhere().message(),
                "current": {
                    "title": text(&now.data, "/title/raw"),
                    "content": text(&now.data, "/content/raw"),
                    "excerpt": text(&now.data, "/excerpt/raw"),
                    "etag": now.state,
                    "modified": now.data["modified"],
                    "author": author.first().and_then(|id| names.get(id)),
                },
            }),
        ))
    }
}

/// Whether a post has the texts of another object, as far as that has them.
pub(super) fn has_texts_of(post: &Value, other: &Value) -> bool {
    TEXTS.iter().all(|(_, pointer)| other.pointer(pointer).is_none_or(|text| post.pointer(pointer) == Some(text)))
}

/// The post does not exist any more.
fn deleted() -> Error {
    let message = "This post was deleted elsewhere. Copy your text from here into a new post.";
    Error::new("admin_post_deleted", message).with_status(404)
}

/// The post has changed since the form was made.
fn changed_elsewhere() -> Error {
    Error::new("admin_post_changed", "This post was changed elsewhere since you opened it.").with_status(412)
}

/// An error for the editor's script: the message, and the field that it is about.
pub(crate) fn error_for_script(error: &Error) -> PrivateResponse {
    json_response(error.status(), &json!({"message": form::message_of(error), "field": form::field_of(error)}))
}
