//! Webhooks: a list with a form for a new one, and a page for each with its secret and its deliveries.

use askama::Template;
use http::{Method, StatusCode};
use serde_json::{Map, Value, json};
use svc_brand::OWN_NAMESPACE;
use svc_login::{Form, Page, PrivateResponse, ShownOnce};
use svc_schema::Error;

use crate::{
    form::{self, Control, Field, FieldView, FormView},
    layout::{self, Layout, Link, WEBHOOK, WEBHOOKS},
    list::{Cell, List, Row, column, date_cell},
    posts::unknown_action,
    request::{AdminRequest, items, text},
};

/// What the list shows without webhooks.
const EMPTY: &str =
    "No webhooks yet. A webhook tells another program, such as the build of a front end, what has changed.";

/// Number of deliveries on a page.
const DELIVERIES: usize = 20;

/// States of deliveries: names in the REST API, and labels of their views.
const STATES: [(&str, &str); 4] =
    [("", "All"), ("waiting", "Waiting"), ("delivered", "Delivered"), ("dead", "Given up")];

/// A delivery as the template shows it.
struct DeliveryView {
    number: i64,
    event: String,
    created: String,
    state: &'static str,
    attempts: i64,
    /// When the next attempt is due; empty if there is none.
    due: String,
    response: String,
    request: String,
}

#[derive(Template)]
#[template(path = "webhook.html")]
struct WebhookPage {
    page: Layout,
    list: String,
    form: FormView,
    action: String,
    /// The secret that was just created; empty otherwise.
    secret: String,
    n_secrets: i64,
    /// Since when all deliveries have failed; empty if they have not.
    failing_since: String,
    /// The views of the deliveries, and whether each is shown.
    views: Vec<(Link, bool)>,
    deliveries: Vec<DeliveryView>,
    /// URL of older deliveries; empty if there are none.
    older: String,
}

fn route(rest: &str) -> String {
    format!("/{OWN_NAMESPACE}/webhooks{rest}")
}

/// The fields of a webhook.
fn fields() -> Vec<Field> {
    let list = |name: &str, label: &str, help: &str| Field::new(name, label, Control::List).help(help);
    vec![
        Field::new("url", "URL", Control::Line("url")).required().help("Deliveries are sent there, as POST requests."),
        Field::new("name", "Name", Control::Line("text")).help("What administrators call it."),
        list("events", "Events", "One per line: post.published, post.*, *.deleted; * is all of them."),
        list("types", "Types", "Only these post types, taxonomies or types of comments, one per line. All, if empty."),
        list("statuses", "Statuses", "Only objects that have one of these before or after the event. All, if empty."),
        Field::new("active", "Active", Control::Check),
    ]
}

/// What the page of a webhook shows once.
fn secret_of(id: &str) -> String {
    format!("secret of {id}")
}

fn name_of(hook: &Value) -> String {
    let name = text(hook, "/name");
    if name.is_empty() { text(hook, "/url").to_owned() } else { name.to_owned() }
}

/// A time for people: `2026-11-26 09:30:05`, in UTC.
fn utc(time: &str) -> String {
    time.get(..19).unwrap_or(time).replace('T', " ")
}

fn delivery_view(delivery: &Value) -> DeliveryView {
    let request: Value = serde_json::from_str(text(delivery, "/request")).unwrap_or_default();
    let state = text(delivery, "/state");
    DeliveryView {
        number: delivery["id"].as_i64().unwrap_or_default(),
        event: text(&request, "/type").to_owned(),
        created: utc(text(delivery, "/created")),
        state: STATES.iter().find(|(name, _)| *name == state).map_or("", |(_, label)| label),
        attempts: delivery["attempts"].as_i64().unwrap_or_default(),
        due: if state == "waiting" { utc(text(delivery, "/due")) } else { String::new() },
        response: text(delivery, "/response").to_owned(),
        request: serde_json::to_string_pretty(&request).unwrap_or_default(),
    }
}

impl AdminRequest<'_> {
    /// The list of webhooks.
    pub(crate) async fn list_webhooks(&self) -> Page {
        let fields = form::values_of(fields(), &json!({ "active": true }));
        self.webhooks_page(fields, None).await
    }

    async fn webhooks_page(&self, fields: Vec<FieldView>, error: Option<&Error>) -> Page {
        let hooks = self.get(route("")).send().await?.data;
        let mut page = self.layout("Webhooks", &self.url(WEBHOOKS, &[])).await?;
        page.problem = error.map(form::message_of).unwrap_or_default();
        let list = List {
            columns: ["Name", "Events", "Created"].map(column).into(),
            rows: items(&hooks).iter().map(|hook| self.webhook_row(hook)).collect(),
            empty: EMPTY.to_owned(),
            ..List::default()
        };
        let view = FormView {
            title: "New webhook".to_owned(),
            action: self.url(WEBHOOKS, &[]),
            fields,
            submit: "Create",
            hidden: Vec::new(),
            delete: None,
            confirm: "",
        };
        let status = error.map_or(200, Error::status);
        let shown = self.show_list(page, list, Some(&view));
        Ok(shown.with_status(StatusCode::from_u16(status).unwrap_or(StatusCode::BAD_REQUEST)))
    }

    fn webhook_row(&self, hook: &Value) -> Row {
        let mut notes = Vec::new();
        if hook["active"] != true {
            notes.push("off".to_owned());
        }
        if hook["failing_since"].is_string() {
            notes.push("failing".to_owned());
        }
        let events: Vec<&str> = items(&hook["events"]).iter().filter_map(Value::as_str).collect();
        let name = name_of(hook);
        Row {
            cells: vec![
                Cell::Link(Link::new(&name, self.url(WEBHOOK, &[("id", text(hook, "/id"))])), notes),
                Cell::Text(if events.is_empty() { "all".to_owned() } else { events.join(", ") }),
                date_cell(text(hook, "/created"), ""),
            ],
            name,
            ..Row::default()
        }
    }

    /// Creates a webhook, and leads to its page.
    pub(crate) async fn create_webhook(&self, form: &Form) -> Page {
        let fields = fields();
        let mut body = form::changes(&fields, form);
        body.retain(|_, value| *value != "");
        match self.post(route(""), body.into()).send().await {
            Ok(created) => self.to_secret(&created.data, "created"),
            // 501: the database has no log of changes, and the message says how to get one.
            Err(error) if matches!(error.status(), 400 | 501) => {
                self.webhooks_page(form::rejected(fields, form, &error), Some(&error)).await
            }
            Err(error) => Err(error),
        }
    }

    /// The ID of the webhook in the page's URL.
    fn webhook_id(&self) -> Result<&str, Error> {
        let id = self.param("id");
        let is_id = id.starts_with("wh_") && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        if is_id { Ok(id) } else { Err(crate::not_found()) }
    }

    /// The page of a webhook.
    pub(crate) async fn show_webhook(&self) -> Page {
        let id = self.webhook_id()?;
        let hook = self.get(route(&format!("/{id}"))).send().await?.data;
        match self.admin.pages.shown_once(&self.parts, &self.session, &secret_of(id)) {
            Some(ShownOnce { value, cookie }) => {
                let page = self.webhook_page(&hook, value.as_str().unwrap_or_default(), None).await?;
                Ok(page.cookies(vec![cookie]))
            }
            None => self.webhook_page(&hook, "", None).await,
        }
    }

    /// A redirect to the page of a webhook, which shows its new secret once.
    fn to_secret(&self, hook: &Value, done: &str) -> Page {
        let id = text(hook, "/id");
        let page = self.url(WEBHOOK, &[("id", id), ("done", done)]);
        self.admin.pages.show_once(&self.parts, &self.session, &secret_of(id), &hook["secret"], &page)
    }

    /// The page of a webhook. `secret` was just created, or is empty. `rejected` is the form that was refused, with the reason.
    async fn webhook_page(&self, hook: &Value, secret: &str, rejected: Option<(&Form, &Error)>) -> Page {
        let id = text(hook, "/id");
        let url = |query: &[(&str, &str)]| self.url(WEBHOOK, &[&[("id", id)], query].concat());
        let mut page = self.layout(&name_of(hook), &self.url(WEBHOOKS, &[])).await?;
        page.problem = text(hook, "/switched_off").to_owned();
        let (mut status, mut views) = (StatusCode::OK, form::values_of(fields(), hook));
        if let Some((form, error)) = rejected {
            page.problem = form::message_of(error);
            status = StatusCode::from_u16(error.status()).unwrap_or(StatusCode::BAD_REQUEST);
            views = form::rejected(fields(), form, error);
        }
        let state = self.param("state");
        let found = self
            .get(route(&format!("/{id}/deliveries")))
            .query("state", state)
            .query("before", self.param("before"))
            .query("per_page", DELIVERIES.to_string())
            .send()
            .await?;
        let deliveries: Vec<DeliveryView> = items(&found.data).iter().map(delivery_view).collect();
        let last = deliveries.last().filter(|_| deliveries.len() == DELIVERIES);
        let older = last.map(|last| last.number.to_string());
        let template = WebhookPage {
            list: self.url(WEBHOOKS, &[]),
            form: FormView {
                title: String::new(),
                action: url(&[]),
                fields: views,
                submit: "Save",
                hidden: Vec::new(),
                delete: Some("Delete"),
                confirm: "Delete this webhook and its deliveries?",
            },
            action: url(&[]),
            secret: secret.to_owned(),
            n_secrets: hook["n_secrets"].as_i64().unwrap_or_default(),
            failing_since: utc(text(hook, "/failing_since")),
            views: STATES
                .map(|(name, label)| {
                    let query: &[(&str, &str)] = if name.is_empty() { &[] } else { &[("state", name)] };
                    (Link::new(label, url(query)), name == state)
                })
                .into(),
            deliveries,
            older: older.map(|older| self.with(&[("before", &older)])).unwrap_or_default(),
            page,
        };
        Ok(layout::html(status, &template))
    }

    /// Saves or deletes a webhook, makes a new secret, or sends a test or a delivery again.
    pub(crate) async fn change_webhook(&self, form: &Form) -> Page {
        let id = self.webhook_id()?;
        let one = route(&format!("/{id}"));
        let done = |key: &str| PrivateResponse::redirect(&self.url(WEBHOOK, &[("id", id), ("done", key)]));
        if form.has("replay") {
            let number: i64 = form.get("replay").parse().map_err(|_| unknown_action())?;
            self.post(format!("{one}/deliveries/{number}/replay"), json!({})).send().await?;
            return Ok(done("queued"));
        }
        match form.get("action") {
            "save" => {
                let body: Map<String, Value> = form::changes(&fields(), form);
                match self.post(&*one, body.into()).send().await {
                    Ok(_) => Ok(done("saved")),
                    Err(error) if error.status() == 400 => {
                        let hook = self.get(one).send().await?.data;
                        self.webhook_page(&hook, "", Some((form, &error))).await
                    }
                    Err(error) => Err(error),
                }
            }
            "delete" => {
                self.call(Method::DELETE, one).send().await?;
                Ok(PrivateResponse::redirect(&self.url(WEBHOOKS, &[("done", "deleted")])))
            }
            secret @ ("add-secret" | "replace-secret") => {
                let body = json!({ "only_new": secret == "replace-secret" });
                let hook = self.post(format!("{one}/secret"), body).send().await?.data;
                self.to_secret(&hook, if secret == "add-secret" { "secret-added" } else { "secrets-replaced" })
            }
            "test" => {
                self.post(format!("{one}/test"), json!({})).send().await?;
                Ok(done("queued"))
            }
            _ => Err(unknown_action()),
        }
    }
}
