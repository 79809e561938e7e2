//! Where the part of a request runs that reads or writes data.

use std::pin::Pin;
use std::time::Instant;

use http::header::{CACHE_CONTROL, CONTENT_TYPE, PRAGMA};
use http::{Extensions, Method, request::Parts};
use svc_routing::Cost;
use svc_versions::{Context, Freshness};
use tokio::sync::oneshot;

use crate::transport_of;

/// The part of a request that reads or writes data. Its result goes elsewhere.
pub type Work = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Too many requests are waiting, or one has waited for too long. A retry after some seconds may succeed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Overloaded;

/// Runs requests, so that those that read data cannot delay connections, files and cached responses.
pub trait Runner: Send + Sync {
    /// Runs `work` to its end, for a request with this cost. Dropping the future cancels the work.
    ///
    /// # Errors
    /// [`Overloaded`] if the work was not started.
    fn run(&self, cost: Cost, work: Work) -> Pin<Box<dyn Future<Output = Result<(), Overloaded>> + Send>>;

    /// Whether its threads run nothing else, so that reads may block them.
    fn may_block(&self) -> bool {
        false
    }
}

impl dyn Runner + '_ {
    /// The context of a request that this runs and that came at this time: a [`Context`] in its extensions, or a new one.
    pub fn context(&self, request: &Parts, arrived: Instant) -> Context {
        if let Some(cx) = request.extensions.get::<Context>() {
            return cx.clone();
        }
        let transport = transport_of(request);
        let cx = if self.may_block() { Context::blocking_request(transport) } else { Context::request(transport) };
        freshness(request, arrived).map_or_else(|| cx.clone(), |freshness| cx.with(freshness))
    }
}

/// Headers that say nothing about who the caller is. Extensions may authenticate callers by others.
#[rustfmt::skip]
const ANONYMOUS_HEADERS: [&str; 37] = [
    "accept", "accept-charset", "accept-encoding", "accept-language", "cache-control", "connection", "dnt", "forwarded", "host",
    "if-modified-since", "if-none-match", "keep-alive", "origin", "pragma", "priority", "purpose", "range", "referer", "save-data", "te",
    "traceparent", "tracestate", "upgrade-insecure-requests", "user-agent", "via", "x-forwarded-for", "x-forwarded-host",
    "x-forwarded-port", "x-forwarded-proto", "x-real-ip", "x-request-id", "x-requested-with",
    // Of caches in front of the server.
    "cdn-loop", "cf-connecting-ip", "cf-ray", "x-amzn-trace-id", "x-varnish",
];

/// Parameters that allow the caller nothing. Others may be a password, a key or a signature.
#[rustfmt::skip]
const ANONYMOUS_PARAMETERS: [&str; 40] = [
    "", "_embed", "_envelope", "_fields", "_jsonp", "_locale", "after", "author", "author_exclude", "author_name", "before", "cat",
    "categories", "categories_exclude", "context", "day", "exclude", "feed", "hide_empty", "include", "m", "modified_after",
    "modified_before", "monthnum", "offset", "order", "orderby", "p", "page", "page_id", "paged", "parent", "parent_exclude", "per_page",
    "post", "rest_route", "slug", "tag", "tags", "year",
];

/// Parameters by which posts are searched, or which change the method.
const PRIMARY_PARAMETERS: [&str; 4] = ["search", "s", "q", "_method"];

/// What the path or the parameter `rest_route` of a search contains.
const SEARCH_ROUTES: [&str; 3] = ["/search", "%2Fsearch", "%2fsearch"];

/// How new the data must be for a request: current, unless nothing in the request can be a credential or asks for current data
/// (`Cache-Control: no-cache`). `None` if it must be read where it is written: for writes, and for searches, because the index follows
/// the database that is written.
fn freshness(request: &Parts, arrived: Instant) -> Option<Freshness> {
    let (headers, query) = (&request.headers, request.uri.query().unwrap_or_default());
    // A parameter can be in a body, too.
    let is_read = matches!(request.method, Method::GET | Method::HEAD)
        && !headers.contains_key("x-http-method-override")
        && !headers.contains_key(CONTENT_TYPE);
    let names = || query.split('&').map(|pair| pair.split(['=', '[']).next().unwrap_or_default());
    let may_search = SEARCH_ROUTES.iter().any(|part| request.uri.path().contains(part) || query.contains(part));
    if !is_read || may_search || names().any(|name| PRIMARY_PARAMETERS.contains(&name) || name.contains(['%', '+'])) {
        return None;
    }
    let is_anonymous =
        headers.keys().all(|name| ANONYMOUS_HEADERS.contains(&name.as_str()) || name.as_str().starts_with("sec-"))
            && names().all(|name| ANONYMOUS_PARAMETERS.contains(&name));
    let mut directives = headers.get_all(CACHE_CONTROL).iter().chain(headers.get_all(PRAGMA));
    let is_reload = directives.any(|value| value.to_str().is_ok_and(|value| value.contains("no-cache")));
    Some(if is_anonymous && !is_reload { Freshness::Recent } else { Freshness::Current(arrived) })
}

/// The context that middleware has added to the extensions of a request; without one, that of work without a request.
pub fn context_of(extensions: &Extensions) -> Context {
    extensions.get::<Context>().cloned().unwrap_or_else(Context::background)
}

/// Runs everything where the connection is served.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Inline;

impl Runner for Inline {
    fn run(&self, _: Cost, work: Work) -> Pin<Box<dyn Future<Output = Result<(), Overloaded>> + Send>> {
        Box::pin(async move {
            work.await;
            Ok(())
        })
    }
}

/// Runs `work` and returns its result.
///
/// # Errors
/// [`Overloaded`] if it was not started, or ended early because the server stops.
pub async fn run<T: Send + 'static>(
    runner: &dyn Runner,
    cost: Cost,
    work: impl Future<Output = T> + Send + 'static,
) -> Result<T, Overloaded> {
    let (sender, receiver) = oneshot::channel();
    let work = async move {
        // The receiver is gone if the client is.
        let _sent = sender.send(work.await);
    };
    runner.run(cost, Box::pin(work)).await?;
    receiver.await.map_err(|_| Overloaded)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_anonymous_readers_may_get_older_data() {
        use Freshness::Recent;
        let arrived = Instant::now();
        let current = Freshness::Current(arrived);
        for (method, query, header, expected) in [
            ("GET", "", None, Some(Recent)),
            ("HEAD", "page=2", None, Some(Recent)),
            ("POST", "", None, None),
            ("GET", "_method=DELETE", None, None),
            ("GET", "", Some(("x-http-method-override", "POST")), None),
            ("GET", "search=sea", None, None),
            ("GET", "se%61rch=sea", None, None),
            ("GET", "rest_route=/svc/v2/search/facets", None, None),
            ("GET", "rest_route=%2Fsvc%2Fv2%2Fsearch", None, None),
            ("GET", "", Some(("content-type", "application/json")), None),
            (
                "GET",
                "per_page=5&categories[]=2&rest_route=/svc/v2/posts",
                Some(("sec-fetch-mode", "cors")),
                Some(Recent),
            ),
            ("GET", "", Some(("x-api-key", "1")), Some(current)),
            ("GET", "consumer_secret=1", None, Some(current)),
            ("GET", "", Some(("authorization", "Basic eA==")), Some(current)),
            ("GET", "", Some(("cookie", "a=b")), Some(current)),
            ("GET", "", Some(("x-svc-nonce", "1")), Some(current)),
            ("GET", "", Some(("cache-control", "max-age=0, no-cache")), Some(current)),
            ("GET", "", Some(("pragma", "no-cache")), Some(current)),
            ("GET", "a=1&password=b", None, Some(current)),
            ("GET", "preview_key=1", None, Some(current)),
            ("GET", "_svcnonce=1", None, Some(current)),
        ] {
            let mut request = http::Request::builder().method(method).uri(format!("/posts?{query}"));
            if let Some((name, value)) = header {
                request = request.header(name, value);
            }
            let (parts, ()) = request.body(()).unwrap().into_parts();
            assert_eq!(freshness(&parts, arrived), expected, "{method} {query} {header:?}");
        }
    }
}
