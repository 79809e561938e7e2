//! Webhooks: list, create, fetch, update, delete, a new secret, deliveries, replays and tests. Requires `manage_options`.
//!
//! Secrets are returned once, in the response to their creation.

use std::sync::Arc;

use chrono::{DateTime, SecondsFormat};
use serde_json::{Value, json};
use svc_events::webhooks::{self, Delivery, Draft, Webhook};
use svc_outbox::State;
use svc_resource::{Fields, View};
use svc_routing::{
    CREATABLE, Controller, DELETABLE, EDITABLE, Request, Response, Result, Returns, Route, forbidden, get, on,
};
use svc_schema::{
    Args, Error, MethodKind, Schema,
    build::{array, boolean, integer, object, string, types},
};
use svc_site::{Access, Site};

use crate::{caller, contexts::VIEW_EDIT, respond};

/// Maximum number of deliveries in a response.
const MAX_DELIVERIES: u32 = 100;

/// A webhook, with a secret that was just created.
struct WebhookItem {
    hook: Webhook,
    secret: Option<String>,
}

/// The family of webhooks.
pub struct WebhookRoutes {
    site: Arc<Site>,
    fields: Fields<WebhookItem, Draft>,
}

/// The time of seconds since the epoch, in UTC.
fn utc(seconds: i64) -> String {
    DateTime::from_timestamp(seconds, 0).unwrap_or_default().to_rfc3339_opts(SecondsFormat::Secs, true)
}

fn utc_millis(time: svc_outbox::Time) -> String {
    DateTime::from_timestamp_millis(time.0).unwrap_or_default().to_rfc3339_opts(SecondsFormat::Millis, true)
}

#[rustfmt::skip]
fn fields() -> Fields<WebhookItem, Draft> {
    let mut f = Fields::<WebhookItem, Draft>::new("webhook");
    let texts = || array(string().max_length(100)).max_items(50);
    let nullable = || types(["string", "null"]);
    f.add("id", string().describe("Unique identifier for the webhook.").context(VIEW_EDIT).readonly()).get(|w| w.hook.id.clone());
    f.add("name", string().max_length(200).describe("What administrators call it.").context(VIEW_EDIT)).get(|w| w.hook.name.clone()).set(|d, v| d.name = Some(v));
    f.add("url", string().format("uri").describe("Where deliveries are sent.").required().context(VIEW_EDIT)).get(|w| w.hook.url.clone()).set(|d, v| d.url = Some(v));
    f.add("events", texts().describe("Events that are sent: an object and a kind, such as `post.published`, `post.*` or `*.deleted`; `*` is all of them. The default is all.").context(VIEW_EDIT))
        .get(|w| w.hook.events.clone()).set(|d, v| d.events = Some(v));
    f.add("types", texts().describe("Only events of objects of these post types, taxonomies or types of comments. Empty for all.").context(VIEW_EDIT))
        .get(|w| w.hook.types.clone()).set(|d, v| d.types = Some(v));
    f.add("statuses", texts().describe("Only events of objects that have one of these statuses, before or after. Empty for all.").context(VIEW_EDIT))
        .get(|w| w.hook.statuses.clone()).set(|d, v| d.statuses = Some(v));
    f.add("active", boolean().describe("Whether deliveries are sent.").context(VIEW_EDIT)).get(|w| w.hook.active).set(|d, v| d.active = Some(v));
    f.add("switched_off", string().describe("Why the server has switched it off. Empty if it has not.").context(VIEW_EDIT).readonly()).get(|w| w.hook.switched_off.clone());
    f.add("failing_since", nullable().format("date-time").describe("Since when all deliveries have failed.").context(VIEW_EDIT).readonly()).get(|w| w.hook.failing_since.map(utc));
    f.add("created", string().format("date-time").describe("When it was created, in UTC.").context(VIEW_EDIT).readonly()).get(|w| utc(w.hook.created));
    f.add("n_secrets", integer().describe("Number of secrets that deliveries are signed with.").context(VIEW_EDIT).readonly()).get(|w| w.hook.secrets.len());
    f.add("secret", string().describe("The secret, only in the response to its creation.").context(&["edit"]).readonly()).get(|w| w.secret.clone());
    f
}

/// The schema of a delivery.
fn delivery_schema() -> Schema {
    let text = |description: &str| string().describe(description).readonly();
    object([
        ("id", integer().describe("Number of the delivery.").readonly()),
        ("message", text("ID that the receiver gets as `webhook-id`, the same for all attempts.")),
        ("event", text("ID of the event, the same for all deliveries of it.")),
        ("state", text("What has become of it.").one_of(State::ALL.map(State::name))),
        ("attempts", integer().describe("Number of attempts.").readonly()),
        ("created", text("When it was queued, in UTC.").format("date-time")),
        ("due", text("When the next attempt is due, in UTC.").format("date-time")),
        (
            "finished",
            types(["string", "null"]).format("date-time").describe("When it was accepted or given up.").readonly(),
        ),
        ("request", text("Body of the request.")),
        ("response", text("Status and beginning of the response to the last attempt, or why there is none.")),
    ])
    .title("webhook-delivery")
    .compile()
}

impl WebhookRoutes {
    /// The family on this site.
    pub fn new(site: &Arc<Site>) -> Self {
        WebhookRoutes { site: Arc::clone(site), fields: fields() }
    }
}

impl Controller for WebhookRoutes {
    fn routes(&self) -> Vec<Route<Self>> {
        const BASE: &str = "/webhooks";
        const ONE: &str = r"/webhooks/(?P<id>wh_[\w]+)";
        let schema = Schema::compile(self.fields.item_schema());
        let args = |kind| self.fields.args(kind);
        let state = string().one_of(State::ALL.map(State::name)).describe("Only deliveries in this state.");
        let listed = Args::from([
            ("state", state),
            ("before", integer().minimum(1).describe("Only deliveries with a smaller number.")),
            (
                "per_page",
                integer().range(1..=i64::from(MAX_DELIVERIES)).default(20).describe("Maximum number of deliveries."),
            ),
        ]);
        let only_new = boolean()
            .default(false)
            .describe("Whether the earlier secrets are removed, instead of signing with them too.");
        let number = integer().describe("Number of the delivery.");
        vec![
            Route::new(BASE)
                .unlisted()
                .schema(schema.clone())
                .endpoint(get(Self::list, Self::can_manage).returns(Returns::List))
                .endpoint(
                    on(CREATABLE, Self::create, Self::can_manage)
                        .args(args(MethodKind::Creatable))
                        .example(json!({ "url": "https://front.example/hook", "events": ["post.*"] })),
                ),
            Route::new(ONE)
                .unlisted()
                .schema(schema.clone())
                .endpoint(get(Self::fetch, Self::can_manage))
                .endpoint(
                    on(EDITABLE, Self::update, Self::can_manage)
                        .args(args(MethodKind::Editable))
                        .example(json!({ "active": false })),
                )
                .endpoint(on(DELETABLE, Self::delete, Self::can_manage).returns(Returns::Other)),
            Route::new(format!("{ONE}/secret")).unlisted().schema(schema).endpoint(
                on(CREATABLE, Self::rotate, Self::can_manage)
                    .args(Args::from([("only_new", only_new)]))
                    .example(json!({ "only_new": false })),
            ),
            Route::new(format!("{ONE}/test"))
                .unlisted()
                .endpoint(on(CREATABLE, Self::test, Self::can_manage).returns(Returns::Other)),
            Route::new(format!("{ONE}/deliveries"))
                .unlisted()
                .schema(delivery_schema())
                .endpoint(get(Self::deliveries, Self::can_manage).args(listed).returns(Returns::List)),
            Route::new(format!(r"{ONE}/deliveries/(?P<number>[\d]+)/replay")).unlisted().endpoint(
                on(CREATABLE, Self::replay, Self::can_manage)
                    .args(Args::from([("number", number)]))
                    .returns(Returns::Other),
            ),
        ]
    }
}

impl WebhookRoutes {
    async fn can_manage(self: Arc<Self>, req: Request) -> Result<()> {
        let settings = self.site.settings(req.cx())?;
        if Access::new(&self.site, &settings).can(&caller(&req), "manage_options") {
            Ok(())
        } else {
            Err(forbidden(&req, "rest_cannot_manage_webhooks", "You are not allowed to manage webhooks."))
        }
    }

    fn show(&self, hook: Webhook, secret: Option<String>, view: &View) -> Value {
        let has_secret = secret.is_some();
        let mut fields = self.fields.plan(view).prepare(&WebhookItem { hook, secret });
        if !has_secret {
            fields.shift_remove("secret");
        }
        fields.into()
    }

    /// The webhook in the route.
    fn requested(&self, req: &Request) -> Result<Webhook> {
        let id: String = req.require("id")?;
        let hooks = self.site.read(req.cx(), webhooks::list)?;
        hooks.into_iter().find(|hook| hook.id == id).ok_or_else(not_found)
    }

    async fn list(self: Arc<Self>, req: Request) -> Result<Response> {
        let hooks = self.site.read(req.cx(), webhooks::list)?;
        let view = respond::view(&req);
        Ok(Response::new(Value::Array(hooks.into_iter().map(|hook| self.show(hook, None, &view)).collect())))
    }

    async fn create(self: Arc<Self>, req: Request) -> Result<Response> {
        let draft = self.fields.typed(&req).accepted()?;
        let now = self.site.now(req.cx()).and_utc().timestamp();
        let hook = self.site.write(req.cx(), move |tx| webhooks::create(tx, &draft, now)).await?;
        let secret = hook.secrets.first().cloned();
        Ok(Response::new(self.show(hook, secret, &respond::edit_view(&req))).status(201))
    }

    async fn fetch(self: Arc<Self>, req: Request) -> Result<Response> {
        Ok(Response::new(self.show(self.requested(&req)?, None, &respond::view(&req))))
    }

    async fn update(self: Arc<Self>, req: Request) -> Result<Response> {
        let (id, draft) = (req.require::<String>("id")?, self.fields.typed(&req).accepted()?);
        let hook = self.site.write(req.cx(), move |tx| webhooks::update(tx, &id, &draft)).await?;
        Ok(Response::new(self.show(hook.ok_or_else(not_found)?, None, &respond::edit_view(&req))))
    }

    async fn delete(self: Arc<Self>, req: Request) -> Result<Response> {
        let id: String = req.require("id")?;
        let hook = self.site.write(req.cx(), move |tx| webhooks::delete(tx, &id)).await?.ok_or_else(not_found)?;
        let previous = self.show(hook, None, &View::all_of("edit").without_links());
        Ok(respond::deleted(previous))
    }

    async fn rotate(self: Arc<Self>, req: Request) -> Result<Response> {
        let (id, only_new) = (req.require::<String>("id")?, req.arg("only_new")?.unwrap_or(false));
        let rotated = self.site.write(req.cx(), move |tx| webhooks::rotate_secret(tx, &id, only_new)).await?;
        let hook = rotated.ok_or_else(not_found)?;
        let secret = hook.secrets.first().cloned();
        Ok(Response::new(self.show(hook, secret, &respond::edit_view(&req))))
    }

    async fn test(self: Arc<Self>, req: Request) -> Result<Response> {
        let hook = self.requested(&req)?;
        let now = utc(self.site.now(req.cx()).and_utc().timestamp());
        let number = self.site.write(req.cx(), move |tx| webhooks::test(tx, &hook, &now)).await?;
        Ok(Response::new(json!({ "delivery": number })).status(202))
    }

    async fn deliveries(self: Arc<Self>, req: Request) -> Result<Response> {
        let hook = self.requested(&req)?;
        let state = req.arg::<String>("state")?.and_then(|state| State::named(&state));
        let (before, limit) = (req.arg("before")?, req.arg::<u32>("per_page")?.unwrap_or(20).min(MAX_DELIVERIES));
        let found =
            self.site.read(req.cx(), |db| webhooks::list_deliveries(db, &hook.id, state, before, limit.into()))?;
        Ok(Response::new(Value::Array(found.into_iter().map(delivery).collect())))
    }

    async fn replay(self: Arc<Self>, req: Request) -> Result<Response> {
        let (hook, number) = (self.requested(&req)?, req.require::<i64>("number")?);
        let queued = self.site.write(req.cx(), move |tx| webhooks::replay(tx, &hook, number)).await?;
        let number = queued.ok_or_else(no_delivery)?;
        Ok(Response::new(json!({ "delivery": number })).status(202))
    }
}

fn delivery(delivery: Delivery) -> Value {
    let Delivery { event, body, message } = delivery;
    json!({
        "id": message.number,
        "message": message.id,
        "event": event,
        "state": message.state.name(),
        "attempts": message.attempts,
        "created": utc_millis(message.created),
        "due": utc_millis(message.due),
        "finished": message.finished.map(utc_millis),
        "request": body,
        "response": message.result,
    })
}

fn not_found() -> Error {
    Error::new("rest_webhook_not_found", "There is no such webhook.").with_status(404)
}

fn no_delivery() -> Error {
    Error::new("rest_webhook_delivery_not_found", "The webhook has no such delivery.").with_status(404)
}
