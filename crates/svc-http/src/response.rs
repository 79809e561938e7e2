//! Converts API responses to HTTP responses.

use bytes::Bytes;
use http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_EXPOSE_HEADERS, CACHE_CONTROL, CONTENT_TYPE, EXPIRES, LINK,
};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Response, StatusCode};
use http_body_util::Full;
use svc_php::json::Style;
use svc_routing::{Body, Error, LaterBody, Served, Server, SiteInfo};
use svc_schema::{Notice, NoticeKind};

use crate::{conditional, cors};

/// Maximum number of notices per response.
const MAX_NOTICES: usize = 20;
/// Maximum length of a notice header, in bytes.
const MAX_NOTICE: usize = 1000;

/// How JSON is encoded.
pub(crate) struct JsonFormat {
    /// The function that the JSON is wrapped in.
    pub(crate) jsonp: Option<String>,
    /// Whether the JSON is indented.
    pub(crate) pretty: bool,
}

impl JsonFormat {
    /// Whether data is encoded compactly and without a function.
    fn is_plain(&self) -> bool {
        self.jsonp.is_none() && !self.pretty
    }
}

/// The headers of every response.
pub(crate) fn common_headers(server: &Server, is_jsonp: bool) -> HeaderMap {
    let mut out = HeaderMap::with_capacity(16);
    let kind = if is_jsonp { "application/javascript; charset=UTF-8" } else { "application/json; charset=UTF-8" };
    out.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    out.insert("x-robots-tag", HeaderValue::from_static("noindex"));
    // The root may be empty, by a filter.
    if !server.root_url().is_empty() {
        set(&mut out, LINK.as_str(), &format!("<{}>; rel=\"{}\"", server.root_url(), server.site().link_relation));
    }
    out.insert("x-content-type-options", HeaderValue::from_static("nosniff"));
    out
}

/// The headers that tell browsers which headers other origins may read and send.
pub(crate) struct CorsLists {
    expose: HeaderValue,
    allow: HeaderValue,
}

impl CorsLists {
    /// The lists for a site, with the headers of its brand.
    pub(crate) fn new(site: &SiteInfo) -> Self {
        let header = |name| site.brand.header(name);
        let expose = format!("{}, {}, Link", header("Total"), header("TotalPages"));
        let allow = format!("Authorization, {}, Content-Disposition, Content-MD5, Content-Type", header("Nonce"));
        let [expose, allow] = [expose, allow].map(|list| HeaderValue::try_from(list).expect("brands are ASCII words"));
        CorsLists { expose, allow }
    }

    /// Adds them to the response to a request with these headers.
    pub(crate) fn add(&self, out: &mut HeaderMap, request_headers: &HeaderMap) {
        let mut allow = self.allow.clone();
        for name in cors::requested_conditions(request_headers) {
            if let Ok(longer) = HeaderValue::try_from([allow.as_bytes(), b", ", name.as_bytes()].concat()) {
                allow = longer;
            }
        }
        out.insert(ACCESS_CONTROL_EXPOSE_HEADERS, self.expose.clone());
        out.insert(ACCESS_CONTROL_ALLOW_HEADERS, allow);
    }
}

/// Marks the response as private to the caller.
pub(crate) fn forbid_caching(out: &mut HeaderMap) {
    out.insert(EXPIRES, HeaderValue::from_static("Wed, 11 Jan 1984 05:00:00 GMT"));
    let cache = "no-cache, must-revalidate, max-age=0, no-store, private";
    out.insert(CACHE_CONTROL, HeaderValue::from_static(cache));
}

/// Sets a header. Invalid names and values are ignored.
pub(crate) fn set(out: &mut HeaderMap, name: &str, value: &str) {
    if let (Ok(name), Ok(value)) = (HeaderName::from_bytes(name.as_bytes()), HeaderValue::from_bytes(value.as_bytes()))
    {
        out.insert(name, value);
    }
}

/// The notices of debug mode as headers (specification, section Errors).
pub(crate) fn notices(out: &mut HeaderMap, site: &SiteInfo, notices: &[Notice]) {
    for notice in notices.iter().take(MAX_NOTICES) {
        let text: String = notice_text(notice).chars().map(|c| if c.is_ascii_control() { ' ' } else { c }).collect();
        let end = (0..=MAX_NOTICE.min(text.len())).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
        let name = HeaderName::from_bytes(site.brand.header(notice.kind.name()).as_bytes());
        if let (Ok(name), Ok(value)) = (name, HeaderValue::from_bytes(&text.as_bytes()[..end])) {
            out.append(name, value);
        }
    }
}

fn notice_text(notice: &Notice) -> String {
    let Notice { kind, function, message, version, .. } = notice;
    match kind {
        NoticeKind::DoingItWrong if version.is_empty() => format!("{function} ({message})"),
        NoticeKind::DoingItWrong => format!("{function} (since {version}; {message})"),
        _ if message.is_empty() => format!("{function} (since {version}; no alternative available)"),
        NoticeKind::DeprecatedFunction => format!("{function} (since {version}; use {message} instead)"),
        _ => format!("{function} (since {version}; {message})"),
    }
}

/// A response that is not sent yet.
pub(crate) struct Content {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    /// The body; empty if it is made later.
    pub(crate) body: Bytes,
    /// What makes the body.
    pub(crate) later: Option<LaterBody>,
}

/// Status, headers and body. The handler's headers take precedence over those in `out`. A successful response to `method`,
/// the method after overrides, has validators if that reads.
pub(crate) fn content(
    mut out: HeaderMap,
    served: Served,
    format: &JsonFormat,
    method: &Method,
    append_root_link: bool,
) -> Content {
    let mut status = served.status;
    let mut later = None;
    let root = out.get(LINK).filter(|_| append_root_link).cloned();
    for (name, value) in served.headers.iter() {
        set(&mut out, name, value);
    }
    add_root_link(&mut out, root.as_ref());
    let body = match served.body {
        Body::Empty => Bytes::new(),
        Body::Raw(raw) => {
            set(&mut out, CONTENT_TYPE.as_str(), &raw.content_type);
            later = raw.later;
            raw.bytes
        }
        Body::Encoded(json) if format.is_plain() => json,
        body @ (Body::Json(_) | Body::Encoded(_)) => match encode(&body.into_value(), format) {
            Ok(text) => text.into(),
            Err(error) => {
                tracing::error!(%error, "response cannot be encoded");
                status = StatusCode::INTERNAL_SERVER_ERROR;
                let error = Error::new("rest_encode_error", "The response cannot be encoded as JSON.").with_status(500);
                error.to_body().to_string().into()
            }
        },
    };
    if status == StatusCode::OK && matches!(*method, Method::GET | Method::HEAD) {
        let whole = (*method == Method::GET && later.is_none()).then_some(&*body);
        conditional::add_validators(&mut out, &served.headers, &served.validators, whole);
    }
    Content { status, headers: out, body, later }
}

/// Appends the link to the API root to the links of a route. All are in one line, since many clients read one line of a name.
fn add_root_link(out: &mut HeaderMap, root: Option<&HeaderValue>) {
    let (Some(root), Some(links)) = (root, out.get(LINK)) else { return };
    if links == root {
        return;
    }
    let all = [links.as_bytes(), b", ", root.as_bytes()].concat();
    if let Ok(all) = HeaderValue::from_bytes(&all) {
        out.insert(LINK, all);
    }
}

/// Builds the HTTP response.
pub(crate) fn finish(status: StatusCode, headers: HeaderMap, body: Bytes) -> Response<Full<Bytes>> {
    let mut res = Response::new(Full::new(body));
    *res.status_mut() = status;
    *res.headers_mut() = headers;
    res
}

pub(crate) fn encode(data: &serde_json::Value, format: &JsonFormat) -> std::io::Result<Vec<u8>> {
    let mut out = Vec::with_capacity(1024);
    if let Some(function) = &format.jsonp {
        // The comment prevents content sniffing from taking the script for another format.
        out.extend_from_slice(format!("/**/{function}(").as_bytes());
    }
    let style = match (&format.jsonp, format.pretty) {
        (_, true) => Style::Pretty,
        // Scripts are ASCII only, so that they do not depend on an encoding.
        (Some(_), false) => Style::Escaped,
        (None, false) => Style::Compact,
    };
    svc_php::json::write(&mut out, data, style)?;
    if format.jsonp.is_some() {
        out.push(b')');
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notice_texts() {
        let notice = |kind, message: &str, version: &str| notice_text(&Notice::new(kind, "f", message).since(version));
        use NoticeKind::{DeprecatedFunction, DeprecatedParam, DoingItWrong};
        assert_eq!(notice(DeprecatedFunction, "g", "1"), "f (since 1; use g instead)");
        assert_eq!(notice(DeprecatedFunction, "", "1"), "f (since 1; no alternative available)");
        assert_eq!(notice(DeprecatedParam, "why", "1"), "f (since 1; why)");
        assert_eq!(notice(DeprecatedParam, "", "1"), "f (since 1; no alternative available)");
        assert_eq!(notice(DoingItWrong, "why", "1"), "f (since 1; why)");
        assert_eq!(notice(DoingItWrong, "why", ""), "f (why)");
    }
}
