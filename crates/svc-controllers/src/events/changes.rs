//! The change feed: what has changed since a position, as far as the caller may know.

use serde_json::{Value, json};
use svc_events::{EventSource, source::From};
use svc_routing::{Controller, Request, Response, Result, Returns, Route, get, public};
use svc_schema::{
    Args, Error, Schema,
    build::{array, boolean, integer, object, string, types},
};

use crate::caller;

/// Default number of entries of the log that a request looks at.
const DEFAULT_LIMIT: u32 = 100;

/// Maximum number of entries of the log that a request looks at.
const MAX_LIMIT: u32 = 1_000;

/// The change feed of a site.
pub struct ChangeFeed(pub EventSource);

/// The schema of a response.
fn schema() -> Schema {
    let state = || {
        let status = string().describe("The status. Objects without a status, such as terms, have none.");
        types(["object", "null"]).keyword("properties", object([("status", status)]).source()["properties"].clone())
    };
    let kinds = ["created", "updated", "published", "unpublished", "trashed", "deleted", "gone", "reset"];
    let about = object([
        (
            "kind",
            string()
                .describe("What it is: `post`, `media`, `menu_item`, `term`, `menu`, `comment`, `user` or `setting`."),
        ),
        ("id", integer().describe("The ID. Settings have a name instead.")),
        ("name", string().describe("The name of a setting.")),
        ("type", string().describe("The post type, the taxonomy or the type of the comment.")),
        ("post", integer().describe("ID of the post of a comment.")),
        ("href", string().format("uri").describe("URL of the object in the REST API.")),
    ])
    .describe("The object. Absent if the kind is `reset`.");
    let event = object([
        ("id", string().describe("ID of the event, the same whenever it is read.")),
        ("seq", integer().describe("Position in the feed.")),
        ("time", string().format("date-time").describe("When it happened, in UTC.")),
        (
            "kind",
            string().one_of(kinds).describe(
                "What happened. `gone`: the caller cannot read the object any more. `reset`: anything may have changed.",
            ),
        ),
        ("object", about),
        ("before", state().describe("The state before, if the caller could read it.")),
        ("after", state().describe("The state after.")),
        ("user", integer().describe("ID of the user who made the change, for callers who may list users.")),
    ]);
    object([
        ("events", array(event).describe("The events that the caller may know of, in order.").readonly()),
        ("last", integer().describe("The last position that was looked at. Continue with it as `since`.").readonly()),
        ("more", boolean().describe("Whether there are more changes.").readonly()),
    ])
    .title("changes")
    .compile()
}

impl Controller for ChangeFeed {
    fn routes(&self) -> Vec<Route<Self>> {
        let args = Args::from([
            (
                "since",
                integer().minimum(0).describe(
                    "Position after which to begin. Without it, there are no events, and `last` is the current position.",
                ),
            ),
            (
                "limit",
                integer()
                    .range(1..=i64::from(MAX_LIMIT))
                    .default(DEFAULT_LIMIT)
                    .describe("Maximum number of changes to look at. Some of them may be no events for the caller."),
            ),
        ]);
        let list = get(Self::list, public).args(args).returns(Returns::Item);
        vec![Route::new(super::CHANGES).unlisted().schema(schema()).endpoint(list)]
    }
}

impl ChangeFeed {
    async fn list(self: std::sync::Arc<Self>, req: Request) -> Result<Response> {
        let limit = req.arg::<u32>("limit")?.unwrap_or(DEFAULT_LIMIT).min(MAX_LIMIT);
        let from = req.arg::<i64>("since")?.map_or(From::Now, From::After);
        let Some(batch) = self.0.read(req.cx(), from, limit)? else { return Err(no_log()) };
        let (viewer, caller) = (batch.viewer(), caller(&req));
        let events: Vec<Value> = batch.events.iter().filter_map(|event| viewer.json(&caller, event)).collect();
        Ok(Response::new(json!({ "events": events, "last": batch.last, "more": batch.more })))
    }
}

fn no_log() -> Error {
    let text = "This site keeps no log of changes. The setting `change_log` adds one.";
    Error::new("rest_no_change_log", text).with_status(501)
}
