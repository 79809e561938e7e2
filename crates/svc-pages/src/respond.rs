//! HTTP responses of pages: headers, conditional requests, redirects.

use std::hash::{DefaultHasher, Hash, Hasher};

use askama::Template;
use axum::{
    body::{Body, Bytes},
    response::{IntoResponse, Response},
};
use http::{HeaderMap, HeaderValue, StatusCode, header};
use svc_site::Settings;
use svc_traces::TARGET;

/// Pages run no script. Images, media and frames may come from any origin, since authors embed them.
const POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'self'; script-src 'none'; style-src 'self' 'unsafe-inline'; img-src * data:; media-src * data:; \
     frame-src *; object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'self'",
);

/// `Cache-Control` of pages that depend on the visitor, as WordPress sends it.
const UNCACHED: HeaderValue = HeaderValue::from_static("no-cache, must-revalidate, max-age=0, no-store, private");

const HTML: &str = "text/html; charset=UTF-8";

/// A response, before conditional headers of the request are applied.
pub(crate) struct Page {
    status: StatusCode,
    content_type: &'static str,
    body: String,
    headers: Vec<(header::HeaderName, String)>,
    /// Content security policy, if it is not the default one.
    policy: Option<String>,
    /// Whether the page depends on the visitor and must not be cached.
    private: bool,
    /// Whether a preview link shows the page.
    preview: bool,
}

impl Page {
    fn new(status: StatusCode, content_type: &'static str, body: String) -> Self {
        Page { status, content_type, body, headers: Vec::new(), policy: None, private: false, preview: false }
    }

    /// Marks the page as private to the visitor: it is never cached.
    pub(crate) fn private(mut self) -> Self {
        self.private = true;
        self
    }

    /// Marks the page as that of a preview link: nothing stores it, indexes it, or passes its URL on.
    pub(crate) fn preview(self) -> Self {
        Page { preview: true, ..self.private() }
    }

    /// Sets the content security policy.
    pub(crate) fn with_policy(mut self, policy: String) -> Self {
        self.policy = Some(policy);
        self
    }

    /// Renders an HTML page with these `Link` headers.
    pub(crate) fn html(status: StatusCode, template: &impl Template, links: Vec<String>) -> Self {
        Self::template(status, HTML, template, links)
    }

    /// Renders an RSS feed with these `Link` headers.
    pub(crate) fn feed(template: &impl Template, links: Vec<String>) -> Self {
        Self::template(StatusCode::OK, "application/rss+xml; charset=UTF-8", template, links)
    }

    /// Renders an XML document.
    pub(crate) fn xml(template: &impl Template) -> Self {
        Self::template(StatusCode::OK, "application/xml; charset=UTF-8", template, Vec::new())
    }

    fn template(status: StatusCode, content_type: &'static str, template: &impl Template, links: Vec<String>) -> Self {
        let span = tracing::info_span!(target: TARGET, "rendering");
        match span.in_scope(|| template.render()) {
            Ok(body) => {
                let headers = links.into_iter().map(|l| (header::LINK, l)).collect();
                Page { headers, ..Self::new(status, content_type, body) }
            }
            Err(error) => {
                tracing::error!("cannot render a page: {error}");
                Self::failure(StatusCode::INTERNAL_SERVER_ERROR)
            }
        }
    }

    /// A plain error page that needs no data of the site.
    pub(crate) fn failure(status: StatusCode) -> Self {
        let text = "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>Not available</title></head>\
                    <body><h1>Not available</h1><p>This page is not available.</p></body></html>\n";
        Self::new(status, HTML, text.to_owned())
    }

    pub(crate) fn redirect(to: &str) -> Self {
        Self::moved(StatusCode::MOVED_PERMANENTLY, to)
    }

    fn moved(status: StatusCode, to: &str) -> Self {
        let mut page = Self::new(status, HTML, String::new());
        page.headers.push((header::LOCATION, svc_text::sanitize_redirect(to)));
        page
    }

    pub(crate) fn empty() -> Self {
        Self::new(StatusCode::NO_CONTENT, HTML, String::new())
    }

    /// `robots.txt`. Sites that discourage search engines have no sitemap.
    pub(crate) fn robots(sitemap: Option<&str>) -> Self {
        let rules = match sitemap {
            Some(url) => format!("User-agent: *\nDisallow: /wp-admin/\n\nSitemap: {url}\n"),
            None => "User-agent: *\nDisallow: /\n".to_owned(),
        };
        Self::new(StatusCode::OK, "text/plain; charset=UTF-8", rules)
    }

    /// The discovery document (RSD). XML-RPC itself is not supported.
    pub(crate) fn rsd(settings: &Settings, is_rsd: bool) -> Self {
        if !is_rsd {
            let text = "XML-RPC is not supported.\n".to_owned();
            return Self::new(StatusCode::FORBIDDEN, "text/plain; charset=UTF-8", text);
        }
        let document = svc_discovery::rsd_document(&settings.urls.site, ENGINE, ENGINE_URL);
        Self::new(StatusCode::OK, "text/xml; charset=UTF-8", document)
    }

    /// The response to a request with these headers.
    pub(crate) fn into_response(self, request: &HeaderMap) -> Response {
        self.ready().respond(request)
    }

    /// The page with its final headers.
    pub(crate) fn ready(self) -> ReadyPage {
        let tag = self.etag();
        let mut all = HeaderMap::new();
        let headers = &mut all;
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(self.content_type));
        add_security_headers(headers);
        if self.private {
            headers.insert(header::CACHE_CONTROL, UNCACHED);
            headers.insert(header::EXPIRES, HeaderValue::from_static("Wed, 11 Jan 1984 05:00:00 GMT"));
        }
        if self.preview {
            headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("private, no-store"));
            headers.insert("x-robots-tag", HeaderValue::from_static("noindex"));
            headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
        }
        if self.content_type == HTML {
            let own = self.policy.and_then(|policy| HeaderValue::from_str(&policy).ok());
            headers.insert(header::CONTENT_SECURITY_POLICY, own.unwrap_or(POLICY));
        }
        let sent_tag = tag.clone().map(|t| (header::ETAG, t));
        for (name, value) in self.headers.into_iter().chain(sent_tag) {
            // URLs are escaped already. Invalid header values are left out.
            if let Ok(value) = HeaderValue::from_str(&value) {
                headers.append(name, value);
            }
        }
        ReadyPage { status: self.status, headers: all, body: self.body.into(), tag, private: self.private }
    }

    /// The `ETag`: a hash of the body.
    fn etag(&self) -> Option<String> {
        if self.status != StatusCode::OK || self.private {
            return None;
        }
        let mut hasher = DefaultHasher::new();
        self.body.hash(&mut hasher);
        Some(format!("W/\"{:016x}\"", hasher.finish()))
    }
}

/// A page with its final headers.
#[derive(Debug)]
pub(crate) struct ReadyPage {
    status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
    /// Its `ETag`, if it has one.
    tag: Option<String>,
    private: bool,
}

impl ReadyPage {
    /// Whether other visitors get the same page. Errors are left out: there are as many as URLs that do not exist.
    pub(crate) fn is_for_everybody(&self) -> bool {
        !self.private && matches!(self.status, StatusCode::OK | StatusCode::MOVED_PERMANENTLY)
    }

    /// The response to a request with these headers.
    pub(crate) fn respond(&self, request: &HeaderMap) -> Response {
        let is_unchanged = self.tag.as_deref().is_some_and(|tag| has_tag(request, tag));
        let (status, body) =
            if is_unchanged { (StatusCode::NOT_MODIFIED, Bytes::new()) } else { (self.status, self.body.clone()) };
        let mut response = Response::new(Body::from(body));
        *response.status_mut() = status;
        *response.headers_mut() = self.headers.clone();
        response
    }
}

/// Name of the program in the discovery document.
const ENGINE: &str = "svc-server";
const ENGINE_URL: &str = "";

fn has_tag(request: &HeaderMap, tag: &str) -> bool {
    let strong = |t: &str| t.trim().trim_start_matches("W/").to_owned();
    let values = request.get_all(header::IF_NONE_MATCH).iter().filter_map(|v| v.to_str().ok());
    values.flat_map(|v| v.split(',')).any(|t| t.trim() == "*" || strong(t) == strong(tag))
}

pub(crate) fn not_allowed() -> Response {
    let allow = [(header::ALLOW, "GET, HEAD")];
    let mut response = (StatusCode::METHOD_NOT_ALLOWED, allow, "Method not allowed.\n").into_response();
    add_security_headers(response.headers_mut());
    response
}

/// The headers that every response outside of the API carries: browsers take the content type as given, and other sites
/// receive only the origin of a link.
pub(crate) fn add_security_headers(headers: &mut HeaderMap) {
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("strict-origin-when-cross-origin"));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unchanged_pages_get_304() {
        let page = || Page::new(StatusCode::OK, HTML, "text".to_owned());
        let mut request = HeaderMap::new();
        let first = page().into_response(&request);
        let tag = first.headers()[header::ETAG].clone();
        assert_eq!(first.status(), 200);
        request.insert(header::IF_NONE_MATCH, tag);
        assert_eq!(page().into_response(&request).status(), 304);
        let other = Page::new(StatusCode::OK, HTML, "other".to_owned());
        assert_eq!(other.into_response(&request).status(), 200);
        let missing = Page::new(StatusCode::NOT_FOUND, HTML, "text".to_owned());
        assert_eq!(missing.into_response(&request).status(), 404);
    }

    #[test]
    fn sets_security_headers_and_never_caches_private_pages() {
        let page = || Page::new(StatusCode::OK, HTML, "text".to_owned());
        let robots = Page::robots(None);
        for (page, is_private) in [(page(), false), (page().private(), true), (robots, false)] {
            let response = page.into_response(&HeaderMap::new());
            let header = |name: &str| response.headers().get(name).and_then(|v| v.to_str().ok()).unwrap_or_default();
            assert_eq!(header("x-content-type-options"), "nosniff");
            assert_eq!(header("referrer-policy"), "strict-origin-when-cross-origin");
            assert_eq!(header("cache-control").contains("no-store, private"), is_private);
            assert_eq!(response.headers().contains_key(header::ETAG), !is_private);
        }
        assert_eq!(not_allowed().headers()["x-content-type-options"], "nosniff");
    }

    #[test]
    fn redirects_cannot_split_headers() {
        let response = Page::redirect("http://a.b/\r\nX-Evil: 1").into_response(&HeaderMap::new());
        assert!(!response.headers().contains_key("x-evil"));
        assert_eq!(response.status(), 301);
    }
}
