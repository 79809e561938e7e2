//! Route, parameter names and credentials of a request for the REST API.

use std::sync::Arc;

use base64::{Engine as _, prelude::BASE64_STANDARD};
use http::{HeaderMap, Method, header::COOKIE, request::Parts};
use serde_json::{Map, Value};
use svc_http::RouteUrls;
use svc_routing::{BoundEndpoint, Server};

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
        let mut query = svc_php::query::parse(parts.uri.query().unwrap_or_default().as_bytes());
        let route = RouteUrls::of(&server).route(parts.uri.path(), &query)?;
        // The language that the user has chosen, which visitors do not have. The block editor sends it with every request.
        if query.get("_locale").is_some_and(|value| value == "user") {
            query.shift_remove("_locale");
        }
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

/// Parts of names of headers with which a plugin or a proxy may identify the caller.
const IDENTIFYING: [&str; 9] = ["auth", "token", "nonce", "session", "secret", "signature", "password", "jwt", "cert"];

/// Ends of names of headers with which a plugin or a proxy may identify the caller: `X-API-Key`, `Remote-User`.
const IDENTIFYING_ENDS: [&str; 3] = ["key", "-user", "-email"];

/// Starts of the names of cookies that scripts of widespread analytics set and no server reads.
const ANALYTICS_COOKIES: [&str; 12] =
    ["_ga", "_gid", "_gat", "_gcl_", "__utm", "_fbp", "_fbc", "_pk_", "_hj", "_clck", "_clsk", "__gads"];

/// Whether a request may have an identity in WordPress or one of its plugins, valid or not: a header, a nonce or a cookie that is not
/// known to be harmless. Which user that is, and what they may see, only WordPress decides.
pub(super) fn has_credentials(headers: &HeaderMap, query: &Map<String, Value>, nonce_header: &str) -> bool {
    let identifies = |name: &str| {
        // Browsers send `Sec-Fetch-User`.
        !name.starts_with("sec-")
            && (IDENTIFYING.iter().any(|part| name.contains(part))
                || IDENTIFYING_ENDS.iter().any(|end| name.ends_with(end)))
    };
    query.contains_key("_wpnonce")
        || headers.contains_key(nonce_header)
        || headers.keys().any(|name| identifies(name.as_str()))
        || headers.get_all(COOKIE).iter().any(|value| !has_analytics_only(value.as_bytes()))
}

/// Whether all cookies in the value of a header are those of analytics.
fn has_analytics_only(cookies: &[u8]) -> bool {
    let mut names = cookies.split(|byte| *byte == b';').map(<[u8]>::trim_ascii).filter(|pair| !pair.is_empty());
    names.all(|pair| ANALYTICS_COOKIES.iter().any(|start| pair.starts_with(start.as_bytes())))
}

/// Whether a method only reads.
pub(super) fn is_read(method: &Method) -> bool {
    matches!(*method, Method::GET | Method::HEAD)
}

/// The value of an `Authorization` header.
pub(super) fn basic(user: &str, password: &str) -> String {
    format!("Basic {}", BASE64_STANDARD.encode(format!("{user}:{password}")))
}

/// A parameter of the query that the endpoint does not know.
pub(super) fn unknown_name(endpoint: &BoundEndpoint, query: &Map<String, Value>) -> Option<String> {
    query.keys().find(|name| endpoint.args().get(name).is_none() && !COMMON.contains(&name.as_str())).cloned()
}

/// Whether this server is known to respond to some such reads differently from WordPress although both succeed:
/// WordPress removes backslashes from searches, searches hidden taxonomies for the subtypes of another type, and changes the typography
/// of menu items.
pub(super) fn differs_on_purpose(route: &str, query: &Map<String, Value>) -> bool {
    let route = route.to_ascii_lowercase();
    let is_of_hidden = || {
        route.ends_with("/search")
            && query.contains_key("subtype")
            && query.get("type").is_some_and(|kind| kind != "post")
    };
    let has_backslash = || query.get("search").is_some_and(|text| text.to_string().contains('\\'));
    route.starts_with("/wp/v2/menu-items") || has_backslash() || is_of_hidden()
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use svc_routing::{Registry, Request, Response, Result, Route, on, public};
    use svc_schema::{Args, build::integer};

    use super::*;

    async fn nothing(_: Request) -> Result {
        Ok(Response::new(()))
    }

    fn map(value: Value) -> Map<String, Value> {
        value.as_object().unwrap().clone()
    }

    #[test]
    fn names_that_an_endpoint_does_not_know() {
        let args = Args::new().with("id", integer());
        let mut registry = Registry::new();
        registry.route("a/v1", Route::new("/b").endpoint(on(Method::GET, nothing, public).args(args))).unwrap();
        let server = registry.build();
        let (_, endpoint) = server.endpoint_for(&Method::GET, "/a/v1/b").unwrap();
        for (query, unknown) in [
            (json!({"id": 1}), None),
            (json!({"lang": "de"}), Some("lang")),
            (json!({"_fields": "id", "_embed": "", "rest_route": "/a"}), None),
            (json!({"_envelope": ""}), Some("_envelope")),
        ] {
            assert_eq!(unknown_name(endpoint, &map(query)).as_deref(), unknown);
        }
        assert!(is_index(&server, "/") && is_index(&server, "/a/v1") && !is_index(&server, "/a/v1/b"));
    }

    #[test]
    fn reads_with_known_differences_are_forwarded() {
        for (route, query, differs) in [
            ("/wp/v2/search", json!({"type": "term", "subtype": "page"}), true),
            ("/wp/v2/Search", json!({"type": "term", "subtype": ["x"]}), true),
            ("/wp/v2/search", json!({"type": "post", "subtype": "page"}), false),
            ("/wp/v2/search", json!({"type": "term"}), false),
            ("/wp/v2/posts", json!({"type": "term", "subtype": "page"}), false),
            ("/wp/v2/posts", json!({"search": "a\\b"}), true),
            ("/wp/v2/posts", json!({"search": ["\\"]}), true),
            ("/wp/v2/posts", json!({"search": "a"}), false),
            ("/wp/v2/menu-items/7", json!({}), true),
            ("/wp/v2/menus", json!({}), false),
        ] {
            assert_eq!(differs_on_purpose(route, &map(query.clone())), differs, "{route} {query}");
        }
    }

    #[test]
    fn credentials_of_any_kind_are_recognized() {
        let check = |pairs: &[(&'static str, &str)], query: Value, expected: bool| {
            let headers = pairs.iter().map(|(n, v)| (http::HeaderName::from_static(n), v.parse().unwrap()));
            assert_eq!(has_credentials(&headers.collect(), &map(query), "x-wp-nonce"), expected, "{pairs:?}");
        };
        for (name, value) in [
            ("authorization", "Basic eA=="),
            ("authorization", ""),
            ("authorization", "Bearer x"),
            ("cookie", "a=1"),
            ("cookie", "_ga=1; wordpress_logged_in_0f=x"),
            ("cookie", "_ga=1;plugin_session"),
            ("x-wp-nonce", "1"),
            ("x-api-key", "1"),
            ("x-auth-token", "1"),
            ("remote-user", "ada"),
            ("x-forwarded-email", "ada@example.org"),
            ("proxy-authorization", "x"),
        ] {
            check(&[(name, value)], json!({}), true);
        }
        check(&[], json!({"_wpnonce": ""}), true);
        for pairs in [
            &[][..],
            &[("cookie", "")],
            &[("cookie", "_ga=GA1.1; _ga_X1=2;_gid=3")],
            &[("user-agent", "x"), ("accept", "application/json"), ("sec-fetch-user", "?1")],
            &[("origin", "https://a.example"), ("x-requested-with", "x"), ("traceparent", "00-1-2-00")],
        ] {
            check(pairs, json!({"search": "x"}), false);
        }
        assert_eq!(basic("a", "b"), "Basic YTpi");
    }
}
