//! The document: paths, operations, and what they share.

use std::collections::{HashMap, HashSet};

use indexmap::IndexMap;
use serde_json::{Map, Value, json};
use svc_routing::{BoundEndpoint, Method, RouteEntry, Server, Transport};

use crate::components::{Components, pascal};
use crate::names::Names;
use crate::operation::{Context, OperationNames, operation};
use crate::paths::{PathTemplate, templates};
use crate::shape::collections;

/// The version of the OpenAPI specification.
const OPENAPI: &str = "3.1.0";

/// The parts of a document that do not follow from routes.
#[derive(Clone, Debug, Default)]
pub struct About {
    /// The title of the API.
    pub title: String,
    /// The version of the API.
    pub version: String,
    /// The name of the cookie that identifies a session, if sessions exist.
    pub session_cookie: Option<String>,
    /// Describes only the routes that exist for requests over this transport. `None` describes all routes.
    pub transport: Option<Transport>,
}

/// The OpenAPI 3.1 document of a server's routes, or of those of a namespace.
///
/// Item schemas are read with `cx`: that of the request for the document, or [`svc_routing::Context::background`].
/// Hidden endpoints are left out. Patterns that cannot be written as a path template are listed with a reason in
/// `x-routes-without-template`.
pub fn document(cx: &svc_routing::Context, server: &Server, about: &About, namespace: Option<&str>) -> Value {
    let (collections, names) = (collections(cx, server), Names::new(cx, server));
    let brand = &server.site().brand;
    let core = brand.namespace();
    let total_headers = [brand.header("Total"), brand.header("TotalPages")];
    let mut components = Components::default();
    let mut paths = Paths::default();
    let described = |route: &&RouteEntry| {
        namespace.is_none_or(|wanted| route.namespace() == wanted)
            && about.transport.is_none_or(|transport| route.exists_over(transport))
            && !route.endpoints().all(BoundEndpoint::is_hidden)
    };
    let items = items(cx, server.routes().filter(described), &mut components);
    for route in server.routes().filter(described) {
        match templates(route.pattern()) {
            Ok(all) => {
                for template in &all {
                    let context = Context {
                        template,
                        route,
                        item: items.get(route.pattern()).map(String::as_str),
                        is_collection: collections.contains(route.pattern()),
                        names: &names,
                        core: &core,
                        total_headers: &total_headers,
                    };
                    paths.add(&context, &mut components);
                }
            }
            Err(reason) => paths.leave_out(route, reason),
        }
    }
    paths.finish(server, about, components)
}

/// The namespaces of a server's routes, without duplicates. Unlike those of the index, they include those of unlisted routes.
pub fn namespaces(server: &Server) -> Vec<String> {
    let mut found: Vec<String> = server.namespaces().to_vec();
    for route in server.routes().filter(|route| !route.namespace().is_empty()) {
        if !found.iter().any(|known| known == route.namespace()) {
            found.push(route.namespace().to_owned());
        }
    }
    found
}

/// Adds the item schemas of routes, and returns their names by pattern. The route with the shortest path names a schema.
fn items<'s>(
    cx: &svc_routing::Context,
    routes: impl Iterator<Item = &'s RouteEntry>,
    components: &mut Components,
) -> HashMap<&'s str, String> {
    let path = |route: &RouteEntry| templates(route.pattern()).ok()?.into_iter().next().map(|template| template.path);
    let mut routes: Vec<(String, &RouteEntry)> = routes.filter_map(|route| Some((path(route)?, route))).collect();
    routes.sort_by_key(|(path, _)| path.split('/').count());
    let named =
        routes.iter().filter_map(|(path, route)| Some((route.pattern(), components.item(&route.schema(cx)?, path))));
    named.collect()
}

/// The paths under construction.
#[derive(Default)]
struct Paths {
    items: IndexMap<String, Map<String, Value>>,
    /// Templates without the names of their parameters.
    forms: IndexMap<String, String>,
    operation_ids: HashSet<String>,
    /// The groups and names of operations.
    summaries: HashSet<(String, String)>,
    tags: IndexMap<String, String>,
    left_out: Vec<Value>,
}

impl Paths {
    fn leave_out(&mut self, route: &RouteEntry, reason: String) {
        self.left_out.push(json!({ "route": route.pattern(), "reason": reason }));
    }

    /// Adds the operations of a route at one of its templates.
    fn add(&mut self, context: &Context<'_>, components: &mut Components) {
        let path = &context.template.path;
        let known = self.forms.entry(form(context.template)).or_insert_with(|| path.clone());
        if known != path {
            let reason = format!("`{path}` and `{known}` are the same path template");
            return self.leave_out(context.route, reason);
        }
        let item = self.items.entry(path.clone()).or_default();
        item.entry("x-route").or_insert_with(|| context.route.pattern().into());
        let tag = tag(context);
        for endpoint in context.route.endpoints().filter(|endpoint| !endpoint.is_hidden()) {
            for method in endpoint.methods() {
                let key = method.as_str().to_ascii_lowercase();
                // The first endpoint of a method handles it.
                if item.contains_key(&key) || *method == Method::CONNECT {
                    continue;
                }
                let id = unique(&mut self.operation_ids, operation_id(context, method));
                let mut summary = context.summary(method);
                if !self.summaries.insert((tag.clone(), summary.clone())) {
                    summary = format!("{summary} (`{path}`)");
                }
                let names = OperationNames { id, summary, tag: tag.clone() };
                let described = operation(context, endpoint, method, names, components);
                item.insert(key, described);
            }
        }
        let about = if context.route.namespace().is_empty() {
            "The API.".to_owned()
        } else {
            format!("Routes of `{}`.", context.route.namespace())
        };
        self.tags.entry(tag).or_insert(about);
    }

    fn finish(self, server: &Server, about: &About, components: Components) -> Value {
        let tags: Vec<Value> =
            self.tags.iter().map(|(name, text)| json!({ "name": name, "description": text })).collect();
        let paths: Map<String, Value> = self.items.into_iter().map(|(path, item)| (path, item.into())).collect();
        let mut document = json!({
            "openapi": OPENAPI,
            "info": {
                "title": about.title,
                "version": about.version,
                "description": description(server),
            },
            "servers": [{ "url": server_url(server) }],
            "security": security(about),
            "tags": tags,
            "paths": paths,
            "components": components.finish(server, about),
        });
        if !self.left_out.is_empty() {
            document["x-routes-without-template"] = self.left_out.into();
        }
        document
    }
}

/// The template with unnamed parameters.
fn form(template: &PathTemplate) -> String {
    let segments = template.path.split('/').map(|segment| {
        let name = segment.strip_prefix('{').and_then(|rest| rest.strip_suffix('}'));
        if name.is_some_and(|name| !name.contains(['{', '}'])) { "{}" } else { segment }
    });
    segments.collect::<Vec<_>>().join("/")
}

/// The URL below which the paths are. Sites whose links name routes in the query serve paths as well.
fn server_url(server: &Server) -> String {
    let root = server.root_url();
    if root.contains('?') {
        format!("{}/{}", server.site_path(), server.url_prefix())
    } else {
        root.trim_end_matches('/').to_owned()
    }
}

fn description(server: &Server) -> String {
    let brand = &server.site().brand;
    format!(
        "Lists return their totals in the headers `{}` and `{}`, and the URLs of other pages in `Link`.\n\n\
         `_fields` selects fields, `_embed` adds linked resources as `_embedded`, `context` selects the fields for a use. \
         `_envelope` returns an object with `body`, `status` and `headers`, with status 200.\n\n\
         Clients that cannot send a method use `POST` with the header `X-HTTP-Method-Override` or the parameter `_method`. \
         `HEAD` returns the headers of `GET`. `OPTIONS` returns the arguments and the schema of a route, and `Allow` its \
         methods. `POST /batch/v1` runs several requests at once.\n\n\
         Dates are in the site's time zone, fields whose name ends in `_gmt` in UTC. Empty objects may be returned as empty \
         arrays.",
        brand.header("Total"),
        brand.header("TotalPages"),
    )
}

fn security(about: &About) -> Value {
    let mut all = vec![json!({}), json!({ "applicationPassword": [] })];
    if about.session_cookie.is_some() {
        all.push(json!({ "session": [], "nonce": [] }));
    }
    all.into()
}

/// The group of an operation: the first segment after the core namespace, otherwise the namespace.
fn tag(context: &Context<'_>) -> String {
    let namespace = context.route.namespace();
    if namespace.is_empty() {
        return "index".to_owned();
    }
    let inner = context.inner_path();
    match inner.split('/').next() {
        Some(first) if namespace == context.core && !first.is_empty() => first.to_owned(),
        _ if namespace == context.core => "index".to_owned(),
        _ => namespace.to_owned(),
    }
}

/// `listPosts`, `getPostsById`: the action and the path.
fn operation_id(context: &Context<'_>, method: &Method) -> String {
    let mut words = String::new();
    let namespace = context.route.namespace();
    if namespace != context.core || context.inner_path().is_empty() {
        words.push_str(&pascal(namespace));
    }
    for segment in context.inner_path().split('/') {
        if let Some(name) = segment.strip_prefix('{') {
            words.push_str("By");
            words.push_str(&pascal(name));
        } else {
            words.push_str(&pascal(segment));
        }
    }
    if words.is_empty() {
        words.push_str("Index");
    }
    format!("{}{words}", context.action(method).word(method))
}

fn unique(taken: &mut HashSet<String>, name: String) -> String {
    let numbered = (2..).map(|n| format!("{name}{n}"));
    let free = std::iter::once(name.clone()).chain(numbered).find(|name| !taken.contains(name)).unwrap_or(name);
    taken.insert(free.clone());
    free
}
