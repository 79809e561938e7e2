//! The index of the API and of its namespaces.

use serde_json::{Value, json};
use svc_schema::build::untyped;
use svc_schema::{Arg, Args};

use super::Server;
use super::cached::CachedKind;
use crate::messages::error::{invalid_namespace, no_route};
use crate::{Encoded, EncodedItem, Link, Map, Request, Response, Result, Route, get, public};

/// URL of WordPress's REST API handbook.
const HELP: &str = "https://developer.wordpress.org/rest-api/";

fn context() -> Arg {
    untyped().default("view").into()
}

/// The root route.
pub(super) fn root_route() -> Route {
    let args = Args::new().with("context", context());
    Route::new("/").endpoint(get(root, public).args(args))
}

/// The index of a namespace.
pub(super) fn namespace_route(namespace: &str) -> Route {
    let args = Args::new().with("namespace", untyped().default(namespace)).with("context", context());
    Route::new(format!("/{namespace}")).endpoint(get(namespace_index, public).args(args))
}

fn server(req: &Request) -> Result<Server> {
    req.server().ok_or_else(no_route)
}

/// `GET /`: site information, namespaces, routes. The `index` hook fills the field `authentication`.
async fn root(req: Request) -> Result {
    let server = server(&req)?;
    let key = format!("{:?} {} {}", req.transport(), req.context() == "help", req.has_param("_embed"));
    let make = |req: Request| {
        let server = &server;
        async move { site_index(server, &req).await }
    };
    cached(&server, &req, &key, make).await
}

/// The index that `make` builds, cached by caller and this key if all fields are requested.
async fn cached<F>(server: &Server, req: &Request, key: &str, make: impl FnOnce(Request) -> F) -> Result
where
    F: Future<Output = Response>,
{
    if !(req.fields().is_none() && req.takes_encoded() && server.frozen().cacheable) {
        return Ok(make(req.clone()).await);
    }
    let encode = |part| async {
        let req = req.clone().with_cx(part);
        let data = server.to_data(make(req.clone()).await, None, &req).await;
        (Some(EncodedItem::new(&data)), true)
    };
    let item = server.cached(req.cx(), CachedKind::Index, req.caller_key(), key, encode).await;
    Ok(item.map_or_else(Response::default, |item| Response::encoded(Encoded::Item(item))))
}

async fn site_index(server: &Server, req: &Request) -> Response {
    let mut data = server.site().compute_index_fields(req.clone()).await;
    data.retain(|name, _| req.wants(name));
    let members: [(&str, &dyn Fn() -> Value); 3] = [
        ("namespaces", &|| server.namespaces().into()),
        ("authentication", &|| json!([])),
        ("routes", &|| routes(server, req, None).into()),
    ];
    for (name, make) in members {
        if req.wants(name) {
            data.insert(name.to_owned(), make());
        }
    }
    let mut res = Response::new(data);
    if req.wants_index_links() {
        res.links.add("help", Link::new(HELP));
    }
    let mut res = server.hooks().run_index(res, req).await;
    if res.data.as_object().is_some_and(Map::is_empty) {
        // PHP encodes an empty map as a list.
        res.data = json!([]);
    }
    res
}

/// `GET /namespace`: the namespace's routes.
async fn namespace_index(req: Request) -> Result {
    let server = server(&req)?;
    let namespace: String = req.require("namespace")?;
    if !server.namespaces().contains(&namespace) {
        return Err(invalid_namespace());
    }
    let key = format!("{:?} {namespace} {}", req.transport(), req.context() == "help");
    let make = |req: Request| {
        let mut data = Map::new();
        if req.wants("routes") {
            data.insert("routes".to_owned(), routes(&server, &req, Some(&namespace)).into());
        }
        data.shift_insert(0, "namespace".to_owned(), namespace.as_str().into());
        std::future::ready(Response::new(data).link("up", Link::new(server.rest_url("/"))))
    };
    cached(&server, &req, &key, make).await
}

/// Descriptions of the listed routes that exist for the request, by pattern.
fn routes(server: &Server, req: &Request, namespace: Option<&str>) -> Map {
    let help = req.context() == "help";
    server
        .routes()
        .filter(|route| route.is_listed() && route.exists_over(req.transport()))
        .filter(|route| namespace.is_none_or(|ns| route.namespace() == ns))
        .filter_map(|route| {
            let description = route.describe(req.cx(), help, |path| server.rest_url(path))?;
            Some((route.pattern().to_owned(), description))
        })
        .collect()
}
