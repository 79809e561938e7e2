//! Deliveries: what is sent to the receiver of a webhook, and what has become of it.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use svc_outbox::{Message, NewMessage, Page, State, Time};
use svc_site::{SiteError, SiteResult};
use svc_store::{Db, StoreError, Tx};

use super::Webhook;
use crate::{audience::Viewer, event::Event};

/// The queue of the outbox.
pub const QUEUE: &str = "webhook";

/// The payload of a message in the outbox.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Payload {
    pub(super) webhook: String,
    pub(super) event: String,
    /// What is signed and sent, byte for byte.
    pub(super) body: String,
}

/// A delivery.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// The id of the event, the same in all deliveries of it.
    pub event: String,
    /// The body of the request.
    pub body: String,
    /// The message in the outbox.
    pub message: Message,
}

/// The body of a request about an event. It says what happened and where the object is, not what it contains: the receiver reads the
/// object with rights of its own, and as it is by then.
fn body(name: &str, time: &str, data: Value) -> String {
    json!({ "type": name, "timestamp": time, "data": data }).to_string()
}

/// Queues the delivery of an event.
pub(super) fn put(tx: &mut Tx, hook: &Webhook, viewer: &Viewer<'_>, event: &Event, now: Time) -> SiteResult<()> {
    let data = viewer.whole(event);
    let name = event
        .object
        .as_ref()
        .map_or_else(|| event.kind.name().to_owned(), |object| format!("{}.{}", object.kind.name(), event.kind.name()));
    let event_id = data["id"].as_str().unwrap_or_default().to_owned();
    let body = body(&name, &event.time_text(), data);
    // The id follows from the event, so that an event is queued once, whatever happens.
    let id = format!("msg_{}_{}", hook.id.trim_start_matches("wh_"), event_id.trim_start_matches("evt_"));
    let key = event
        .object
        .as_ref()
        .map_or_else(|| format!("{}:*", hook.id), |object| format!("{}:{}", hook.id, object.key()));
    put_message(tx, &hook.id, &id, &key, event_id, body, now).map(drop)
}

fn put_message(
    tx: &mut Tx,
    hook: &str,
    id: &str,
    key: &str,
    event: String,
    body: String,
    now: Time,
) -> SiteResult<Option<i64>> {
    let payload = Payload { webhook: hook.to_owned(), event, body };
    let payload = serde_json::to_string(&payload).map_err(|error| StoreError::Other(error.to_string()))?;
    // A long name of a setting would make a key that is too long.
    let key: String = key.chars().take(100).collect();
    Ok(svc_outbox::put(tx, &NewMessage { queue: QUEUE, id, lane: hook, key: &key, payload: &payload }, now)?)
}

fn random(length: usize) -> SiteResult<String> {
    let text = svc_auth::random_text(length).map_err(|error| SiteError::from(StoreError::Other(error.to_string())))?;
    Ok(text.expose().to_owned())
}

/// Queues a delivery of no event, for trying a receiver. Returns the number of its message.
///
/// # Errors
/// Errors of the store.
pub fn test(tx: &mut Tx, hook: &Webhook, time: &str) -> SiteResult<Option<i64>> {
    let event = format!("evt_test{}", random(16)?);
    let data = json!({ "id": event, "webhook": hook.id });
    let id = format!("msg_{}", random(24)?);
    put_message(tx, &hook.id, &id, "", event, body("test", time, data), Time::now())
}

/// Queues a delivery once more: as a new delivery of the same event, with the same body. Returns the number of its message; `None` if
/// the webhook has no delivery with this number.
///
/// # Errors
/// Errors of the store.
pub fn replay(tx: &mut Tx, hook: &Webhook, number: i64) -> SiteResult<Option<i64>> {
    let Some(message) = svc_outbox::find(tx, QUEUE, number)?.filter(|message| message.lane == hook.id) else {
        return Ok(None);
    };
    let Some(payload) = payload(&message) else { return Ok(None) };
    let id = format!("msg_{}", random(24)?);
    put_message(tx, &hook.id, &id, &message.key, payload.event, payload.body, Time::now())
}

/// The deliveries of a webhook, the newest first.
///
/// # Errors
/// Errors of the store.
pub fn list_deliveries(
    db: &mut Db,
    hook: &str,
    state: Option<State>,
    before: Option<i64>,
    limit: u64,
) -> SiteResult<Vec<Delivery>> {
    let page = Page { lane: Some(hook), state, before, limit };
    let messages = svc_outbox::list(db, QUEUE, &page)?;
    let delivery = |message: Message| {
        let Payload { event, body, .. } = payload(&message)?;
        Some(Delivery { event, body, message })
    };
    Ok(messages.into_iter().filter_map(delivery).collect())
}

/// What a message says; `None` if another version has stored it.
pub(super) fn payload(message: &Message) -> Option<Payload> {
    serde_json::from_str(&message.payload).ok()
}
