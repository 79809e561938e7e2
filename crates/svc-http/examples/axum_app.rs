//! An axum application with pages of its own and a REST API at `/api`.
//!
//! ```text
//! cargo run -p svc-http --example axum_app
//! curl http://127.0.0.1:3000/api/notes/v1/notes
//! curl -H 'Authorization: Bearer secret' -d text=Milk http://127.0.0.1:3000/api/notes/v1/notes
//! curl -X OPTIONS http://127.0.0.1:3000/api/notes/v1/notes
//! ```

use std::sync::{Arc, PoisonError, RwLock};

use axum::{Router, extract::State, response::Html, routing};
use serde_json::{Value, json};
use svc_http::{AuthOutcome, Authenticator, Credentials, RequestLimits, RestService};
use svc_routing::{
    BoxFuture, Controller, Error, Link, Links, Registry, Request, Response, Result, Route, allow_if, get, on, public,
};
use svc_schema::{
    Args,
    build::{integer, object, string},
};

/// The token of the only user who may write.
const TOKEN: &str = "Bearer secret";

/// What the pages and the API share.
#[derive(Clone, Default)]
struct Notes(Arc<RwLock<Vec<String>>>);

impl Notes {
    fn all(&self) -> Vec<String> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn add(&self, text: String) -> usize {
        let mut notes = self.0.write().unwrap_or_else(PoisonError::into_inner);
        notes.push(text);
        notes.len()
    }
}

impl Controller for Notes {
    fn routes(&self) -> Vec<Route<Self>> {
        let schema = object([
            ("id", integer().describe("The note's ID.").readonly()),
            ("text", string().describe("The note's text.").required().max_length(200)),
        ]);
        let text = Args::from([("text", string().describe("The note's text.").required().max_length(200))]);
        let id = Args::from([("id", integer().describe("The note's ID.").minimum(1))]);
        vec![
            Route::new("/notes")
                .schema(schema.compile())
                .endpoint(get(list, public))
                .endpoint(on("POST", create, allow_if(Request::is_authenticated)).args(text)),
            Route::new(r"/notes/(?P<id>\d+)").endpoint(get(item, public).args(id)),
        ]
    }
}

/// A note and its links. `Server::rest_url` builds URLs below `/api` of the host that the client uses.
fn prepare(req: &Request, id: usize, text: &str) -> (Value, Links) {
    let mut links = Links::new();
    if let Some(server) = req.server() {
        links.add("self", Link::new(server.rest_url(&format!("/notes/v1/notes/{id}"))));
        links.add("collection", Link::new(server.rest_url("/notes/v1/notes")));
    }
    (json!({"id": id, "text": text}), links)
}

async fn list(notes: Arc<Notes>, _: Request) -> Result {
    let all = notes.all();
    let items: Vec<Value> = all.iter().enumerate().map(|(i, text)| json!({"id": i + 1, "text": text})).collect();
    Ok(Response::new(items).header("X-Total", all.len().to_string()))
}

async fn item(notes: Arc<Notes>, req: Request) -> Result {
    let id: usize = req.require("id")?;
    let all = notes.all();
    let text = id.checked_sub(1).and_then(|i| all.get(i));
    let text = text.ok_or_else(|| Error::new("notes_not_found", "There is no such note.").with_status(404))?;
    let (data, links) = prepare(&req, id, text);
    let mut res = Response::new(data);
    res.links = links;
    Ok(res)
}

async fn create(notes: Arc<Notes>, req: Request) -> Result {
    let text: String = req.require("text")?;
    let id = notes.add(text.clone());
    let (data, links) = prepare(&req, id, &text);
    let mut res = Response::new(data).status(201);
    res.links = links;
    Ok(res)
}

/// Accepts one token.
struct Token;

impl Authenticator for Token {
    fn authenticate(&self, credentials: Credentials) -> BoxFuture<AuthOutcome> {
        let sent = credentials.headers.get("authorization").and_then(|value| value.to_str().ok());
        let outcome = match sent {
            None => AuthOutcome::anonymous(),
            Some(TOKEN) => AuthOutcome::caller("owner"),
            Some(_) => AuthOutcome::rejected(Error::new("notes_bad_token", "Invalid token.").with_status(401), false),
        };
        Box::pin(std::future::ready(outcome))
    }
}

/// A page of the application.
async fn front_page(State(notes): State<Notes>) -> Html<String> {
    Html(format!("<h1>{} notes</h1><a href=\"/api/\">API</a>", notes.all().len()))
}

/// The application: its own routes, and the API at `/api`.
fn app(notes: Notes, origins: &[String]) -> Router {
    let mut registry = Registry::new();
    let controller = notes.clone();
    registry.mount("notes/v1", move |_| controller);
    let api = RestService::builder()
        .authenticator(Arc::new(Token))
        .limits(RequestLimits { text_body: 16 << 10, ..RequestLimits::default() })
        .root_from_host("/api", origins.iter().cloned())
        .build(registry.build());
    Router::new().route("/", routing::get(front_page)).with_state(notes).nest_service("/api", api)
}

#[tokio::main]
async fn main() -> std::io::Result<()> {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:3000").await?;
    let origins = ["http://127.0.0.1:3000", "http://localhost:3000"].map(str::to_owned);
    eprintln!("Listening on {0}/, API: {0}/api/", origins[0]);
    axum::serve(listener, app(Notes(Arc::new(RwLock::new(vec!["Bread".to_owned()]))), &origins)).await
}
