//! Sends one read to both servers and compares the responses.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use http::{HeaderMap, HeaderName, Method, Request, StatusCode, header};
use http_body_util::{BodyExt as _, Full};
use serde_json::Value;
use svc_controllers::RestSite;
use svc_gateway::{Failure, Origin, Proxy, compare::differences};
use svc_http::RestService;

/// Maximum size of a response that is compared, in bytes.
const MAX_BODY: usize = 32 << 20;

/// Headers that are compared, besides the totals.
const COMPARED: [HeaderName; 3] = [header::ALLOW, header::LINK, header::CONTENT_TYPE];

/// Headers of a request that select another representation.
const CONDITIONS: [HeaderName; 7] = [
    header::ACCEPT_ENCODING,
    header::RANGE,
    header::IF_RANGE,
    header::IF_MATCH,
    header::IF_NONE_MATCH,
    header::IF_MODIFIED_SINCE,
    header::IF_UNMODIFIED_SINCE,
];

/// Pauses before further requests for responses that differ while data changes.
const PAUSES: [Duration; 4] =
    [Duration::ZERO, Duration::from_millis(200), Duration::from_millis(500), Duration::from_secs(1)];

/// Both servers. Cheap to clone.
#[derive(Clone)]
pub(super) struct Sides {
    pub(super) site: Arc<RestSite>,
    pub(super) service: RestService,
    pub(super) proxy: Proxy,
    pub(super) origin: Origin,
}

/// A response that can be compared.
pub(super) struct Compared {
    pub(super) status: StatusCode,
    pub(super) headers: HeaderMap,
    pub(super) body: Bytes,
}

impl Compared {
    /// The body as JSON; null if it is none.
    pub(super) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }
}

impl Sides {
    /// WordPress's response to a `GET` request.
    pub(super) async fn wordpress(&self, target: &str, headers: &HeaderMap) -> Result<Compared, Failure> {
        let response = self.proxy.forward(read(target, headers).map(svc_gateway::boxed), self.origin).await?;
        let (parts, body) = response.into_parts();
        let body =
            axum::body::to_bytes(axum::body::Body::new(body), MAX_BODY).await.map_err(|_| Failure::Unreachable)?;
        Ok(Compared { status: parts.status, headers: parts.headers, body })
    }

    /// This server's response to the same request.
    pub(super) async fn own(&self, route: &str, target: &str, headers: &HeaderMap) -> Compared {
        let (parts, body) = self.service.respond(route.to_owned(), read(target, headers)).await.into_parts();
        let body = body.collect().await.map(http_body_util::Collected::to_bytes).unwrap_or_default();
        Compared { status: parts.status, headers: parts.headers, body }
    }

    /// WordPress's response to a request, and how that of this server compares to it.
    ///
    /// If they differ, the requests are repeated, since the data may have changed between the two. A difference counts if it was found
    /// twice, or a second time while nothing was written.
    ///
    /// # Errors
    /// If WordPress did not respond.
    pub(super) async fn compare(
        &self,
        route: &str,
        target: &str,
        headers: &HeaderMap,
    ) -> Result<(Compared, Comparison), Failure> {
        let mut wordpress = self.wordpress(target, headers).await?;
        let mut found = compare(&wordpress, &self.own(route, target, headers).await);
        for pause in PAUSES {
            let Comparison::Different(before) = found else { return Ok((wordpress, found)) };
            tokio::time::sleep(pause).await;
            let stamp = self.site.store.watched_stamp().await;
            wordpress = self.wordpress(target, headers).await?;
            found = compare(&wordpress, &self.own(route, target, headers).await);
            if let Comparison::Different(now) = &found {
                let is_unchanged = stamp.is_some() && stamp == self.site.store.watched_stamp().await;
                if is_unchanged || *now == before {
                    return Ok((wordpress, found));
                }
            }
        }
        match found {
            Comparison::Different(_) => Ok((wordpress, Comparison::Unclear)),
            found => Ok((wordpress, found)),
        }
    }
}

/// How the response of this server compares to that of WordPress.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Comparison {
    Equal,
    /// This server has no response, since it does not have the texts of WordPress. The gateway forwards such requests.
    Forwarded,
    /// The first difference.
    Different(String),
    /// The responses differed each time, each time in another way, while data was written.
    Unclear,
}

fn compare(wordpress: &Compared, own: &Compared) -> Comparison {
    match difference(wordpress, own) {
        _ if own.status == StatusCode::BAD_GATEWAY => Comparison::Forwarded,
        Some(difference) => Comparison::Different(difference),
        None => Comparison::Equal,
    }
}

/// A request without conditions.
fn read(target: &str, headers: &HeaderMap) -> Request<Full<Bytes>> {
    let mut request = Request::new(Full::default());
    *request.method_mut() = Method::GET;
    *request.uri_mut() = target.parse().unwrap_or_default();
    request.headers_mut().clone_from(headers);
    for name in &CONDITIONS {
        request.headers_mut().remove(name);
    }
    request
}

/// The first difference between two responses.
fn difference(wordpress: &Compared, own: &Compared) -> Option<String> {
    if wordpress.status != own.status {
        return Some(format!("status {} in WordPress, {} here", wordpress.status.as_u16(), own.status.as_u16()));
    }
    if !wordpress.status.is_success() {
        return None;
    }
    if let Some(first) = differences(&wordpress.json(), &own.json(), 1).first() {
        return Some(first.to_string());
    }
    let totals = ["x-wp-total", "x-wp-totalpages"].map(HeaderName::from_static);
    for name in COMPARED.iter().chain(&totals) {
        let text = |headers: &HeaderMap| {
            headers
                .get_all(name)
                .iter()
                .map(|v| String::from_utf8_lossy(v.as_bytes()).into_owned())
                .collect::<Vec<_>>()
                .join(", ")
        };
        let (theirs, ours) = (text(&wordpress.headers), text(&own.headers));
        if !theirs.eq_ignore_ascii_case(&ours) {
            return Some(format!("header {name}: `{theirs}` in WordPress, `{ours}` here"));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_response_without_texts_is_not_a_difference() {
        let wordpress = response(200, "1", "1");
        assert_eq!(compare(&wordpress, &response(502, "1", "2")), Comparison::Forwarded);
        assert_eq!(compare(&wordpress, &response(200, "1", "1")), Comparison::Equal);
        assert!(matches!(compare(&wordpress, &response(500, "1", "1")), Comparison::Different(_)));
    }

    fn response(status: u16, total: &str, body: &'static str) -> Compared {
        let mut headers = HeaderMap::new();
        headers.insert("x-wp-total", total.parse().unwrap());
        Compared { status: StatusCode::from_u16(status).unwrap(), headers, body: Bytes::from_static(body.as_bytes()) }
    }

    #[test]
    fn the_first_difference_is_reported() {
        for (wordpress, own, expected) in [
            (response(200, "1", r#"{"a":1}"#), response(200, "1", r#"{"a":1}"#), None),
            (response(401, "1", "1"), response(401, "2", "2"), None),
            (response(401, "1", "1"), response(200, "1", "1"), Some("status 401 in WordPress, 200 here")),
            (response(200, "1", r#"{"a":1}"#), response(200, "1", r#"{"a":2}"#), Some("a: 1 in WordPress, 2 here")),
            (response(200, "1", "[]"), response(200, "2", "[]"), Some("header x-wp-total: `1` in WordPress, `2` here")),
        ] {
            assert_eq!(difference(&wordpress, &own).as_deref(), expected);
        }
    }
}
