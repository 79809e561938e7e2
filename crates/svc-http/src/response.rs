//! From what the server answers to an HTTP response.

use bytes::Bytes;
use http::header::{CACHE_CONTROL, CONTENT_TYPE, EXPIRES, LAST_MODIFIED, LINK};
use http::{HeaderMap, HeaderName, HeaderValue, Response, StatusCode};
use http_body_util::Full;
use svc_php::json::Style;
use svc_routing::response::{Body, Served};
use svc_routing::{Error, SiteInfo};
use svc_schema::{Notice, NoticeKind};

/// Notices that are sent with one answer, at most.
const MAX_NOTICES: usize = 20;
/// Longest notice header in bytes.
const MAX_NOTICE: usize = 1000;

/// How the answer is printed.
pub(crate) struct Form {
    /// The function that JSON is wrapped in.
    pub(crate) jsonp: Option<String>,
    /// Whether JSON is printed on lines.
    pub(crate) pretty: bool,
}

/// The headers that every answer has.
pub(crate) fn common(site: &SiteInfo, is_jsonp: bool) -> HeaderMap {
    let mut out = HeaderMap::with_capacity(16);
    let kind = if is_jsonp { "application/javascript; charset=UTF-8" } else { "application/json; charset=UTF-8" };
    out.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    out.insert("x-robots-tag", HeaderValue::from_static("noindex"));
    set(&mut out, LINK.as_str(), &format!("<{}>; rel=\"{}\"", site.rest_url, site.link_relation));
    out.insert("x-content-type-options", HeaderValue::from_static("nosniff"));
    out
}

/// The headers that tell pages of other origins what they may read and send.
pub(crate) fn exposed(out: &mut HeaderMap, site: &SiteInfo) {
    let header = |name| site.brand.header(name);
    let expose = format!("{}, {}, Link", header("Total"), header("TotalPages"));
    let allow = format!("Authorization, {}, Content-Disposition, Content-MD5, Content-Type", header("Nonce"));
    set(out, "access-control-expose-headers", &expose);
    set(out, "access-control-allow-headers", &allow);
}

/// Says that the answer is for this caller alone.
pub(crate) fn forbid_caching(out: &mut HeaderMap) {
    out.insert(EXPIRES, HeaderValue::from_static("Wed, 11 Jan 1984 05:00:00 GMT"));
    let cache = "no-cache, must-revalidate, max-age=0, no-store, private";
    out.insert(CACHE_CONTROL, HeaderValue::from_static(cache));
    out.remove(LAST_MODIFIED);
}

/// Sets a header; a name or value that no header can have is left out.
pub(crate) fn set(out: &mut HeaderMap, name: &str, value: &str) {
    if let (Ok(name), Ok(value)) = (HeaderName::from_bytes(name.as_bytes()), HeaderValue::from_bytes(value.as_bytes()))
    {
        out.insert(name, value);
    }
}

/// The notices of debug mode (specification, section Errors).
pub(crate) fn notices(out: &mut HeaderMap, site: &SiteInfo, notices: &[Notice]) {
    for notice in notices.iter().take(MAX_NOTICES) {
        let name = match notice.kind {
            NoticeKind::DoingItWrong => "DoingItWrong",
            NoticeKind::DeprecatedFunction => "DeprecatedFunction",
            NoticeKind::DeprecatedParam => "DeprecatedParam",
        };
        let text: String = notice_text(notice).chars().map(|c| if c.is_ascii_control() { ' ' } else { c }).collect();
        let end = (0..=MAX_NOTICE.min(text.len())).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
        let name = HeaderName::from_bytes(site.brand.header(name).as_bytes());
        if let (Ok(name), Ok(value)) = (name, HeaderValue::from_bytes(&text.as_bytes()[..end])) {
            out.append(name, value);
        }
    }
}

fn notice_text(notice: &Notice) -> String {
    let Notice { kind, function, message, version } = notice;
    match kind {
        NoticeKind::DoingItWrong if version.is_empty() => format!("{function} ({message})"),
        NoticeKind::DoingItWrong => format!("{function} (since {version}; {message})"),
        _ if message.is_empty() => format!("{function} (since {version}; no alternative available)"),
        NoticeKind::DeprecatedFunction => format!("{function} (since {version}; use {message} instead)"),
        NoticeKind::DeprecatedParam => format!("{function} (since {version}; {message})"),
    }
}

/// Status, headers and body. `out` holds the headers so far; those of the handler win over them.
pub(crate) fn content(mut out: HeaderMap, served: Served, form: &Form) -> (StatusCode, HeaderMap, Bytes) {
    let mut status = served.status;
    for (name, value) in served.headers.iter() {
        set(&mut out, name, value);
    }
    let body = match served.body {
        Body::Empty => Bytes::new(),
        Body::Raw(raw) => {
            set(&mut out, CONTENT_TYPE.as_str(), &raw.content_type);
            raw.bytes
        }
        Body::Json(data) => match print(&data, form) {
            Ok(text) => text.into(),
            Err(error) => {
                tracing::error!(%error, "an answer cannot be printed");
                status = StatusCode::INTERNAL_SERVER_ERROR;
                let error = Error::new("rest_encode_error", "The answer cannot be printed.").with_status(500);
                error.to_body().to_string().into()
            }
        },
    };
    (status, out, body)
}

/// Puts status, headers and body together.
pub(crate) fn finish(status: StatusCode, headers: HeaderMap, body: Bytes) -> Response<Full<Bytes>> {
    let mut res = Response::new(Full::new(body));
    *res.status_mut() = status;
    *res.headers_mut() = headers;
    res
}

fn print(data: &serde_json::Value, form: &Form) -> std::io::Result<Vec<u8>> {
    let mut out = Vec::with_capacity(1024);
    if let Some(function) = &form.jsonp {
        // The comment keeps the bytes from being taken for another format.
        out.extend_from_slice(format!("/**/{function}(").as_bytes());
    }
    let style = match (&form.jsonp, form.pretty) {
        (_, true) => Style::Pretty,
        // A script holds nothing but ASCII, whatever encoding it is read in.
        (Some(_), false) => Style::Escaped,
        (None, false) => Style::Compact,
    };
    svc_php::json::write(&mut out, data, style)?;
    if form.jsonp.is_some() {
        out.push(b')');
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_of_notices() {
        let notice = |kind, message: &str, version: &str| {
            let text = |s: &str| s.to_owned();
            notice_text(&Notice { kind, function: text("f"), message: text(message), version: text(version) })
        };
        use NoticeKind::{DeprecatedFunction, DeprecatedParam, DoingItWrong};
        assert_eq!(notice(DeprecatedFunction, "g", "1"), "f (since 1; use g instead)");
        assert_eq!(notice(DeprecatedFunction, "", "1"), "f (since 1; no alternative available)");
        assert_eq!(notice(DeprecatedParam, "why", "1"), "f (since 1; why)");
        assert_eq!(notice(DeprecatedParam, "", "1"), "f (since 1; no alternative available)");
        assert_eq!(notice(DoingItWrong, "why", "1"), "f (since 1; why)");
        assert_eq!(notice(DoingItWrong, "why", ""), "f (why)");
    }
}
