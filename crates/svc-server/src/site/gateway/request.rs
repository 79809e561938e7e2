//! Route, parameter names and credentials of a request for the REST API.

use std::sync::Arc;

use base64::{Engine as _, prelude::BASE64_STANDARD};
use http::{
    HeaderMap, Method,
    header::{AUTHORIZATION, CONTENT_TYPE, COOKIE},
    request::Parts,
};
use serde_json::{Map, Value};
use svc_http::RouteUrls;
use svc_routing::{BoundEndpoint, Server};

use super::ownership::Viewer;

/// Parameters that every route has and that this server handles as WordPress does.
const COMMON: [&str; 5] = ["rest_route", "_fields", "_embed", "_wpnonce", "_"];

/// A request for the REST API.
pub(super) struct ApiRequest {
    pub(super) server: Arc<Server>,
    pub(super) route: String,
    pub(super) query: Map<String, Value>,
}

impl ApiRequest {
    /// Recognizes a request for the REST API.
    pub(super) fn of(server: Server, parts: &Parts) -> Option<Self> {
        let query = svc_php::query::parse(parts.uri.query().unwrap_or_default().as_bytes());
        let route = RouteUrls::of(&server).route(parts.uri.path(), &query)?;
        Some(ApiRequest { server: Arc::new(server), route, query })
    }

    /// Whether the route is an index: that of the API or of a namespace.
    pub(super) fn is_index(&self) -> bool {
        is_index(&self.server, &self.route)
    }
}

/// Whether the route is an index: that of the API or of a namespace.
pub(super) fn is_index(server: &Server, route: &str) -> bool {
    let path = route.trim_start_matches('/');
    path.is_empty() || server.namespaces().iter().any(|namespace| namespace.eq_ignore_ascii_case(path))
}

/// Whether a header or parameter replaces the method.
pub(super) fn overrides_method(headers: &HeaderMap, query: &Map<String, Value>) -> bool {
    headers.contains_key("x-http-method-override") || query.contains_key("_method")
}

/// The rights of a request; `None` if its credentials are of a kind that this server does not verify.
pub(super) fn viewer(headers: &HeaderMap, query: &Map<String, Value>, nonce_header: &str) -> Option<Viewer> {
    let has_nonce = headers.contains_key(nonce_header) || query.contains_key("_wpnonce");
    let has_session = has_nonce && headers.contains_key(COOKIE);
    match headers.get(AUTHORIZATION) {
        Some(authorization) => {
            let scheme = authorization.as_bytes().split(|b| *b == b' ').next().unwrap_or_default();
            // Of two credentials, the servers prefer different ones.
            (scheme.eq_ignore_ascii_case(b"basic") && !has_session).then_some(Viewer::LoggedIn)
        }
        None if has_session => Some(Viewer::LoggedIn),
        None => Some(Viewer::Anonymous),
    }
}

/// The value of an `Authorization` header.
pub(super) fn basic(user: &str, password: &str) -> String {
    format!("Basic {}", BASE64_STANDARD.encode(format!("{user}:{password}")))
}

/// A parameter, or a key of meta, that the endpoint does not know.
pub(super) fn unknown_name(endpoint: &BoundEndpoint, params: &Map<String, Value>, is_query: bool) -> Option<String> {
    for (name, value) in params {
        let Some(arg) = endpoint.args().get(name) else {
            if is_query && COMMON.contains(&name.as_str()) {
                continue;
            }
            return Some(name.clone());
        };
        if name == "meta"
            && let Some(keys) = value.as_object()
        {
            let known = &arg.source()["properties"];
            if let Some(key) = keys.keys().find(|key| known.get(key.as_str()).is_none()) {
                return Some(format!("meta.{key}"));
            }
        }
    }
    None
}

/// Whether this server responds to a read differently from WordPress although both succeed: WordPress searches hidden taxonomies
/// for the subtypes of another type.
pub(super) fn differs_on_purpose(route: &str, query: &Map<String, Value>) -> bool {
    route.to_ascii_lowercase().ends_with("/search")
        && query.contains_key("subtype")
        && query.get("type").is_some_and(|kind| kind != "post")
}

/// The kinds of bodies that can be inspected.
pub(super) enum BodyKind {
    /// A JSON object or an urlencoded form.
    Json,
    Form,
    /// A file; its parameters are in the query.
    File,
    /// Multipart forms and everything else.
    Other,
}

impl BodyKind {
    pub(super) fn of(headers: &HeaderMap) -> BodyKind {
        let Some(kind) = headers.get(CONTENT_TYPE) else { return BodyKind::Form };
        let kind = kind.to_str().unwrap_or_default().split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        match kind.as_str() {
            "application/json" => BodyKind::Json,
            "application/x-www-form-urlencoded" => BodyKind::Form,
            _ if ["image/", "video/", "audio/"].iter().any(|prefix| kind.starts_with(prefix)) => BodyKind::File,
            _ => BodyKind::Other,
        }
    }

    /// The parameters of a body; `None` if it has none that can be inspected.
    pub(super) fn params(&self, body: &[u8]) -> Option<Map<String, Value>> {
        match self {
            BodyKind::Json if body.is_empty() => Some(Map::new()),
            BodyKind::Json => serde_json::from_slice(body).ok(),
            BodyKind::Form => Some(svc_php::query::parse(body)),
            BodyKind::File => Some(Map::new()),
            BodyKind::Other => None,
        }
    }
}

/// The requests inside of a batch: method, route, query and body. `None` if the batch is not valid.
pub(super) fn batch_parts(
    body: &Map<String, Value>,
) -> Option<Vec<(Method, String, Map<String, Value>, Map<String, Value>)>> {
    let parts = body.get("requests")?.as_array()?;
    parts
        .iter()
        .map(|part| {
            let method = part.get("method").map_or(Some("POST"), Value::as_str)?.parse().ok()?;
            let (path, query) = part.get("path")?.as_str().map(|path| path.split_once('?').unwrap_or((path, "")))?;
            let is_plain = path.starts_with('/') && !path.starts_with("//") && !path.contains([':', '#']);
            let body = match part.get("body") {
                None => Map::new(),
                Some(body) => body.as_object()?.clone(),
            };
            // Headers may replace the method or the credentials.
            let has_headers =
                part.get("headers").is_some_and(|headers| headers.as_object().is_none_or(|map| !map.is_empty()));
            let query = svc_php::query::parse(query.as_bytes());
            (is_plain && !has_headers).then(|| (method, path.trim_end_matches('/').to_owned(), query, body))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use svc_routing::{Registry, Request, Response, Result, Route, on, public};
    use svc_schema::{
        Args,
        build::{integer, object, string},
    };

    use super::*;

    async fn nothing(_: Request) -> Result {
        Ok(Response::new(()))
    }

    fn map(value: Value) -> Map<String, Value> {
        value.as_object().unwrap().clone()
    }

    #[test]
    fn names_that_an_endpoint_does_not_know() {
        let meta = object([("color", string())]);
        let args = Args::new().with("id", integer()).with("meta", meta);
        let mut registry = Registry::new();
        registry.route("a/v1", Route::new("/b").endpoint(on(Method::POST, nothing, public).args(args))).unwrap();
        let server = registry.build();
        let (_, endpoint) = server.endpoint_for(&Method::POST, "/a/v1/b").unwrap();
        for (params, is_query, unknown) in [
            (json!({"id": 1, "meta": {"color": "red"}}), false, None),
            (json!({"id": 1, "meta": {"size": 2}}), false, Some("meta.size")),
            (json!({"lang": "de"}), true, Some("lang")),
            (json!({"_fields": "id", "_embed": "", "rest_route": "/a"}), true, None),
            (json!({"_fields": "id"}), false, Some("_fields")),
            (json!({"_envelope": ""}), true, Some("_envelope")),
        ] {
            assert_eq!(unknown_name(endpoint, &map(params), is_query).as_deref(), unknown);
        }
        assert!(is_index(&server, "/") && is_index(&server, "/a/v1") && !is_index(&server, "/a/v1/b"));
    }

    #[test]
    fn searches_of_hidden_taxonomies_are_forwarded() {
        for (route, query, differs) in [
            ("/wp/v2/search", json!({"type": "term", "subtype": "page"}), true),
            ("/wp/v2/Search", json!({"type": "term", "subtype": ["x"]}), true),
            ("/wp/v2/search", json!({"type": "post", "subtype": "page"}), false),
            ("/wp/v2/search", json!({"type": "term"}), false),
            ("/wp/v2/posts", json!({"type": "term", "subtype": "page"}), false),
        ] {
            assert_eq!(differs_on_purpose(route, &map(query.clone())), differs, "{route} {query}");
        }
    }

    #[test]
    fn credentials() {
        let headers = |pairs: &[(&'static str, &str)]| {
            pairs.iter().map(|(n, v)| (http::HeaderName::from_static(n), v.parse().unwrap())).collect::<HeaderMap>()
        };
        for (given, expected) in [
            (&[][..], Some(Viewer::Anonymous)),
            (&[("cookie", "a=1")], Some(Viewer::Anonymous)),
            (&[("cookie", "a=1"), ("x-wp-nonce", "1")], Some(Viewer::LoggedIn)),
            (&[("authorization", "Basic eA==")], Some(Viewer::LoggedIn)),
            (&[("authorization", "Bearer x")], None),
            (&[("authorization", "Basic eA=="), ("cookie", "a=1"), ("x-wp-nonce", "1")], None),
            (&[("authorization", "Bearer x"), ("cookie", "a=1"), ("x-wp-nonce", "1")], None),
        ] {
            assert_eq!(viewer(&headers(given), &Map::new(), "x-wp-nonce"), expected, "{given:?}");
        }
        assert_eq!(basic("a", "b"), "Basic YTpi");
    }

    #[test]
    fn parts_of_a_batch() {
        let parts = |requests: Value| batch_parts(&map(json!({ "requests": requests })));
        let found =
            parts(json!([{"path": "/a/v1/b/?x=1", "body": {"id": 1}}, {"method": "DELETE", "path": "/c"}])).unwrap();
        assert_eq!(
            (found[0].0.as_str(), found[0].1.as_str(), found[0].2["x"].as_str()),
            ("POST", "/a/v1/b", Some("1"))
        );
        assert_eq!(found[1].0, Method::DELETE);
        for refused in [
            json!([{"path": "http://h/a"}]),
            json!([{"path": "//h/a"}]),
            json!([{"path": "/a", "headers": {"X-HTTP-Method-Override": "PUT"}}]),
            json!([{"method": 1, "path": "/a"}]),
            json!([{"path": "/a", "body": "x"}]),
            json!("x"),
        ] {
            assert!(parts(refused.clone()).is_none(), "{refused}");
        }
    }
}
