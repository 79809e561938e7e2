//! The index of the API and of its namespaces.

use std::sync::Arc;

use serde_json::{Value, json};
use svc_schema::build::untyped;
use svc_schema::{Arg, Args};

use crate::registry::RouteTable;
use crate::{Link, Map, Request, Response, Result, Route, Server, get, public};

/// URL of WordPress's REST API handbook.
const HELP: &str = "https://developer.wordpress.org/rest-api/";

fn context() -> Arg {
    untyped().default("view").into()
}

/// Registers the root route.
pub(crate) fn add_root(table: &mut RouteTable) {
    let args = Args::new().with("context", context());
    let route: Route = Route::new("/").endpoint(get(root, public).args(args));
    table.insert(String::new(), "/".to_owned(), route, &Arc::new(()));
}

/// Registers the index of a namespace.
pub(crate) fn add_namespace(table: &mut RouteTable, namespace: &str) {
    let args = Args::new().with("namespace", untyped().default(namespace)).with("context", context());
    let pattern = format!("/{namespace}");
    let route: Route = Route::new(&pattern).endpoint(get(namespace_index, public).args(args));
    table.insert(namespace.to_owned(), pattern, route, &Arc::new(()));
}

fn server(req: &Request) -> Result<Server> {
    req.server().cloned().ok_or_else(crate::error::no_route)
}

/// `GET /`: site information, namespaces, routes. The `index` hook fills the field `authentication`.
async fn root(req: Request) -> Result {
    let server = server(&req)?;
    let mut data = server.site().compute_index_fields(req.clone()).await;
    data.retain(|name, _| req.wants(name));
    let members: [(&str, &dyn Fn() -> Value); 3] = [
        ("namespaces", &|| server.namespaces().into()),
        ("authentication", &|| json!([])),
        ("routes", &|| routes(&server, None, req.context() == "help").into()),
    ];
    for (name, make) in members {
        if req.wants(name) {
            data.insert(name.to_owned(), make());
        }
    }
    let mut res = Response::new(data);
    if req.wants("_links") || req.has_param("_embed") {
        res.links.add("help", Link::new(HELP));
    }
    let mut res = server.hooks().run_index(res, &req).await;
    if res.data.as_object().is_some_and(Map::is_empty) {
        // PHP encodes an empty map as a list.
        res.data = json!([]);
    }
    Ok(res)
}

/// `GET /namespace`: the namespace's routes.
async fn namespace_index(req: Request) -> Result {
    let server = server(&req)?;
    let namespace: String = req.require("namespace")?;
    if !server.namespaces().contains(&namespace) {
        return Err(crate::error::invalid_namespace());
    }
    let mut data = Map::new();
    if req.wants("routes") {
        data.insert("routes".to_owned(), routes(&server, Some(&namespace), req.context() == "help").into());
    }
    data.shift_insert(0, "namespace".to_owned(), namespace.into());
    Ok(Response::new(data).link("up", Link::new(server.rest_url("/"))))
}

/// Descriptions of the routes, by pattern.
fn routes(server: &Server, namespace: Option<&str>, help: bool) -> Map {
    server
        .routes()
        .filter(|route| namespace.is_none_or(|ns| route.namespace == ns))
        .filter_map(|route| {
            let description = crate::options::describe_route(route, help, |path| server.rest_url(path))?;
            Some((route.pattern.clone(), description))
        })
        .collect()
}
