//! HTTP responses of the log-in pages and of pages of users who are logged in: never cached, never framed, without scripts unless a policy allows them.

use axum::{
    body::Body,
    response::{IntoResponse, Response},
};
use http::{HeaderName, HeaderValue, StatusCode, header};
use svc_listen::DenialReason;

/// What pages without scripts may load.
const WITHOUT_SCRIPTS: &str = "style-src 'unsafe-inline'; img-src 'self'";

/// A response that only the user who requested it may see: never cached and never framed.
pub struct PrivateResponse {
    status: StatusCode,
    content_type: &'static str,
    body: String,
    /// Policy sources of other sites to which forms may lead.
    form_targets: Vec<String>,
    /// What the page may load.
    sources: &'static str,
    headers: Vec<(HeaderName, String)>,
    /// Why the request was denied, for the log.
    denial: Option<&'static str>,
}

/// A form that another site made the browser submit.
pub(crate) const CROSS_SITE: &str = "form of another site";

/// A form without a valid nonce, which is too old or of another site.
pub(crate) const NO_NONCE: &str = "no valid nonce";

impl PrivateResponse {
    fn new(status: StatusCode, body: String) -> Self {
        PrivateResponse {
            status,
            content_type: "text/html; charset=UTF-8",
            body,
            form_targets: Vec::new(),
            sources: WITHOUT_SCRIPTS,
            headers: Vec::new(),
            denial: None,
        }
    }

    /// An HTML page.
    pub fn html(status: StatusCode, template: &impl askama::Template) -> Self {
        match template.render() {
            Ok(body) => Self::new(status, body),
            Err(error) => {
                tracing::error!("cannot render a page: {error}");
                Self::new(StatusCode::INTERNAL_SERVER_ERROR, "This page is not available.\n".to_owned())
            }
        }
    }

    /// JSON for the script of a page.
    pub fn json(status: StatusCode, data: &serde_json::Value) -> Self {
        PrivateResponse { content_type: "application/json", ..Self::new(status, data.to_string()) }
    }

    /// Sets the status.
    pub fn with_status(mut self, status: StatusCode) -> Self {
        self.status = status;
        self
    }

    /// The status.
    pub fn status(&self) -> StatusCode {
        self.status
    }

    /// A short text for scripts.
    pub fn plain(status: StatusCode, text: String) -> Self {
        Self::new(status, text).header(HeaderName::from_static("x-robots-tag"), "noindex")
    }

    /// A redirect.
    pub fn redirect(to: &str) -> Self {
        Self::new(StatusCode::FOUND, String::new()).header(header::LOCATION, svc_text::sanitize_redirect(to))
    }

    /// Sets why the request was denied, for the log.
    pub(crate) fn because(mut self, reason: &'static str) -> Self {
        self.denial = Some(reason);
        self
    }

    /// Adds a header.
    pub fn header(mut self, name: HeaderName, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    /// Adds `Set-Cookie` headers.
    pub fn cookies(mut self, cookies: Vec<String>) -> Self {
        self.headers.extend(cookies.into_iter().map(|c| (header::SET_COOKIE, c)));
        self
    }

    /// Sets what the page may load, as directives of a content security policy. By default: images of the site and styles. Without a
    /// directive `base-uri`, the page may have no base URL.
    pub fn sources(mut self, sources: &'static str) -> Self {
        self.sources = sources;
        self
    }

    /// Allows forms to lead to this policy source. Browsers apply the policy to the redirect after a form as well.
    pub(crate) fn allow_form_target(mut self, source: String) -> Self {
        if !source.is_empty() {
            self.form_targets.push(source);
        }
        self
    }

    /// The HTTP response.
    pub fn into_response(self) -> Response {
        let mut response = Response::new(Body::from(self.body));
        *response.status_mut() = self.status;
        if let Some(reason) = self.denial {
            response.extensions_mut().insert(DenialReason(reason.into()));
        }
        let headers = response.headers_mut();
        let targets = self.form_targets.join(" ");
        let base = if self.sources.contains("base-uri ") { "" } else { "base-uri 'none'; " };
        let policy =
            format!("default-src 'none'; {}; form-action 'self' {targets}; {base}frame-ancestors 'none'", self.sources);
        let fixed = [
            (header::CONTENT_TYPE, self.content_type),
            (header::CONTENT_SECURITY_POLICY, &policy),
            (header::X_FRAME_OPTIONS, "DENY"),
            (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
            // A stricter policy would omit the origin of forms, which is needed to detect forms of other sites.
            (header::REFERRER_POLICY, "same-origin"),
            (header::CACHE_CONTROL, "no-cache, must-revalidate, max-age=0, no-store, private"),
            (header::EXPIRES, "Wed, 11 Jan 1984 05:00:00 GMT"),
        ];
        let own = self.headers.iter().map(|(name, value)| (name.clone(), value.as_str()));
        for (name, value) in fixed.into_iter().chain(own) {
            // Invalid header values are left out.
            if let Ok(value) = HeaderValue::from_str(value) {
                headers.append(name, value);
            }
        }
        response.into_response()
    }
}
