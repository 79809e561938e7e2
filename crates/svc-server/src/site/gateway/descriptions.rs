//! The index, the indexes of namespaces and the responses to `OPTIONS`: WordPress's own, with the routes that only this server
//! handles added. Those for visitors are cached until something changes that decides what WordPress registers.

use std::{
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use axum::{
    body::{Body, Bytes},
    extract::Request,
    response::Response,
};
use http::{
    HeaderMap, HeaderName, HeaderValue, Method, StatusCode,
    header::{ACCEPT, ACCEPT_LANGUAGE, CACHE_CONTROL, CONTENT_LENGTH, DATE, HOST, ORIGIN, SET_COOKIE, VARY, VIA},
    request::Parts,
};
use serde_json::Value;
use svc_controllers::RestSite;
use svc_listen::Client;
use svc_store::options::Options;
use svc_versions::{Dependencies, VersionedCache};

use super::{
    facts,
    request::{ApiRequest, has_credentials},
};

/// Maximum size of all cached descriptions, in bytes.
const CAPACITY: u64 = 16 << 20;

/// Maximum size of one description that is merged or cached, in bytes.
pub(super) const MAX_BODY: usize = 4 << 20;

/// Time for which a description is cached. It bounds how long a registration is missing that neither files nor options decide.
const MAX_AGE: Duration = Duration::from_secs(60);

/// Number of headers in [`SELECTING`].
const N_SELECTING: usize = 13;

/// Request headers that may change a description for visitors. Those after the first four are headers of proxies that a
/// `wp-config.php` may trust for the scheme of links. Requests for descriptions that are cached have no other headers.
const SELECTING: [HeaderName; N_SELECTING] = [
    HOST,
    ORIGIN,
    ACCEPT,
    ACCEPT_LANGUAGE,
    HeaderName::from_static("x-forwarded-ssl"),
    HeaderName::from_static("x-forwarded-port"),
    HeaderName::from_static("x-forwarded-scheme"),
    HeaderName::from_static("x-forwarded-protocol"),
    HeaderName::from_static("x-url-scheme"),
    HeaderName::from_static("front-end-https"),
    HeaderName::from_static("cf-visitor"),
    HeaderName::from_static("cloudfront-forwarded-proto"),
    HeaderName::from_static("x-arr-ssl"),
];

/// Parameters of the query that descriptions for visitors may have to be cached.
const PARAMETERS: [&str; 5] = ["rest_route", "_fields", "_embed", "context", "_"];

/// A request for a description and what decides the response.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Key {
    /// Hash of the options.
    options: u64,
    /// Number of changes of the files.
    generation: u64,
    method: Method,
    target: String,
    headers: [Option<HeaderValue>; N_SELECTING],
    tls: bool,
}

/// A cached description.
#[derive(Clone)]
struct Stored {
    headers: HeaderMap,
    body: Bytes,
}

/// The cached descriptions.
pub(super) struct Descriptions {
    site: Arc<RestSite>,
    cache: VersionedCache<Key, Stored>,
    generation: AtomicU64,
    /// The options that were hashed last, and their hash.
    hashed: Mutex<Option<(Arc<Options>, u64)>>,
}

impl Descriptions {
    pub(super) fn new(site: Arc<RestSite>) -> Self {
        let cache = VersionedCache::new(CAPACITY);
        Descriptions { site, cache, generation: AtomicU64::new(0), hashed: Mutex::new(None) }
    }

    /// Invalidates all descriptions.
    pub(super) fn forget(&self) {
        self.generation.fetch_add(1, Ordering::AcqRel);
    }

    /// Hash of the options that WordPress reads at each request. `None` if the database cannot be read.
    pub(super) async fn options(self: &Arc<Self>) -> Option<u64> {
        let this = Arc::clone(self);
        tokio::task::spawn_blocking(move || this.read_options()).await.ok()?
    }

    fn read_options(&self) -> Option<u64> {
        let options = self.site.store.read(svc_store::options::autoloaded).ok()?;
        let mut hashed = self.hashed.lock().unwrap_or_else(PoisonError::into_inner);
        match &*hashed {
            Some((known, hash)) if Arc::ptr_eq(known, &options) => Some(*hash),
            _ => {
                let hash = facts::hash_options(&options);
                *hashed = Some((options, hash));
                Some(hash)
            }
        }
    }

    /// The key of a request; `None` if the response must not be cached.
    pub(super) async fn key(self: &Arc<Self>, api: &ApiRequest, parts: &Parts, nonce_header: &str) -> Option<Key> {
        let is_plain = matches!(parts.method, Method::GET | Method::OPTIONS)
            && !has_credentials(&parts.headers, &api.query, nonce_header)
            && api.query.keys().all(|name| PARAMETERS.contains(&name.as_str()));
        if !is_plain {
            return None;
        }
        Some(Key {
            generation: self.generation.load(Ordering::Acquire),
            options: self.options().await?,
            method: parts.method.clone(),
            target: parts.uri.path_and_query().map(ToString::to_string).unwrap_or_default(),
            headers: SELECTING.map(|name| parts.headers.get(name).cloned()),
            tls: parts.extensions.get::<Client>().is_some_and(|client| client.tls),
        })
    }

    /// The cached response.
    pub(super) fn get(&self, key: &Key) -> Option<Response> {
        let versions = self.site.store.versions();
        let Stored { headers, body } = self.cache.get(versions, key, versions.stamp())?;
        let mut response = Response::new(Body::from(body));
        *response.headers_mut() = headers;
        Some(response)
    }

    /// Caches a response, unless it must not be, or what decides it has changed since the request.
    pub(super) async fn insert(self: &Arc<Self>, key: Key, head: &http::response::Parts, body: &Bytes) {
        let now = (self.generation.load(Ordering::Acquire), self.options().await);
        if head.status != StatusCode::OK || !is_cacheable(&head.headers) || now != (key.generation, Some(key.options)) {
            return;
        }
        let mut headers = head.headers.clone();
        for name in [DATE, VIA, CONTENT_LENGTH] {
            headers.remove(name);
        }
        let size = body.len() + key.target.len() + 1_024;
        let mut dependencies = Dependencies::default();
        dependencies.expires_in(MAX_AGE);
        let stamp = self.site.store.versions().stamp();
        self.cache.insert(key, Stored { headers, body: body.clone() }, size, dependencies, stamp);
    }
}

/// Whether a response to a visitor is the same for all visitors.
fn is_cacheable(headers: &HeaderMap) -> bool {
    let values = |name: HeaderName| {
        let values = headers.get_all(name).iter().map(|value| value.to_str().unwrap_or("*").to_ascii_lowercase());
        values.collect::<Vec<_>>().join(",")
    };
    let control = values(CACHE_CONTROL);
    let is_private = ["no-store", "no-cache", "private", "max-age=0"].iter().any(|word| control.contains(word));
    let vary = values(VARY);
    let is_selected = |name: &str| name == "accept-encoding" || SELECTING.iter().any(|known| known.as_str() == name);
    let varies = !vary.split(',').map(str::trim).filter(|name| !name.is_empty()).all(is_selected);
    !headers.contains_key(SET_COOKIE) && !is_private && !varies
}

/// Adds routes of this server to an index of WordPress. Returns the number of added routes.
pub(super) fn merge(wordpress: &mut Value, own: &Value, is_added: impl Fn(&str) -> bool) -> usize {
    let (Some(routes), Some(ours)) = (wordpress["routes"].as_object_mut(), own["routes"].as_object()) else { return 0 };
    let added: Vec<(&String, &Value)> =
        ours.iter().filter(|(pattern, _)| !routes.contains_key(*pattern) && is_added(pattern)).collect();
    for (pattern, route) in &added {
        routes.insert((*pattern).clone(), (*route).clone());
    }
    let names: Vec<&str> = added.iter().filter_map(|(_, route)| route["namespace"].as_str()).collect();
    if let Some(namespaces) = wordpress["namespaces"].as_array_mut() {
        for name in names {
            if !namespaces.iter().any(|known| known == name) {
                namespaces.push(name.into());
            }
        }
    }
    added.len()
}

/// A request whose response may be cached: it has only the headers that the key contains, each once.
pub(super) fn selected(parts: Parts) -> Request {
    let mut request = Request::from_parts(parts, Body::empty());
    let headers = SELECTING.into_iter().filter_map(|name| Some((name.clone(), request.headers().get(name)?.clone())));
    *request.headers_mut() = headers.collect();
    request
}

/// A request for the whole description, without an encoding, so that it can be merged.
pub(super) fn without_encoding(parts: Parts) -> Request {
    let mut request = Request::from_parts(parts, Body::empty());
    request.headers_mut().remove(http::header::ACCEPT_ENCODING);
    request
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn descriptions_for_all_visitors_are_cached() {
        let check = |pairs: &[(&'static str, &str)], expected| {
            let headers = pairs.iter().map(|(n, v)| (HeaderName::from_static(n), v.parse().unwrap()));
            assert_eq!(is_cacheable(&headers.collect()), expected, "{pairs:?}");
        };
        check(&[("vary", "Origin"), ("vary", "accept-encoding")], true);
        check(&[("cache-control", "public, max-age=60")], true);
        check(&[("cache-control", "no-cache, must-revalidate, max-age=0")], false);
        check(&[("set-cookie", "a=1")], false);
        check(&[("vary", "Origin, X-Country")], false);
        check(&[("vary", "*")], false);
    }

    #[test]
    fn cached_descriptions_depend_on_their_keys_only() {
        let mut request =
            http::Request::get("/wp-json/").header("host", "a").header("cf-visitor", "{\"scheme\":\"https\"}");
        for (name, value) in [("origin", "b"), ("origin", "c"), ("x-country", "DE"), ("accept-encoding", "gzip")] {
            request = request.header(name, value);
        }
        let request = selected(request.body(()).unwrap().into_parts().0);
        let mut names: Vec<_> = request.headers().iter().map(|(n, v)| (n.as_str(), v.to_str().unwrap())).collect();
        names.sort_unstable();
        assert_eq!(names, [("cf-visitor", "{\"scheme\":\"https\"}"), ("host", "a"), ("origin", "b")]);
    }

    #[test]
    fn routes_of_this_server_are_added() {
        let mut index = json!({"namespaces": ["a/v1"], "routes": {"/a/v1": {"x": 1}}});
        let own =
            json!({"routes": {"/a/v1": {"x": 2}, "/b/v1/c": {"namespace": "b/v1"}, "/b/v1/d": {"namespace": "b/v1"}}});
        assert_eq!(merge(&mut index, &own, |pattern| pattern != "/b/v1/d"), 1);
        assert_eq!(index["namespaces"], json!(["a/v1", "b/v1"]));
        assert_eq!(index["routes"], json!({"/a/v1": {"x": 1}, "/b/v1/c": {"namespace": "b/v1"}}));
        assert_eq!(merge(&mut json!({"name": "x"}), &own, |_| true), 0);
    }
}
