//! HTTP responses of the log-in pages: never cached, never framed, without scripts.

use axum::{
    body::Body,
    response::{IntoResponse, Response},
};
use http::{HeaderName, HeaderValue, StatusCode, header};

/// A response of a log-in page.
pub(crate) struct LoginResponse {
    status: StatusCode,
    body: String,
    /// Policy sources of other sites to which forms may lead.
    form_targets: Vec<String>,
    headers: Vec<(HeaderName, String)>,
}

impl LoginResponse {
    fn new(status: StatusCode, body: String) -> Self {
        LoginResponse { status, body, form_targets: Vec::new(), headers: Vec::new() }
    }

    /// An HTML page.
    pub(crate) fn html(status: StatusCode, template: &impl askama::Template) -> Self {
        match template.render() {
            Ok(body) => Self::new(status, body),
            Err(error) => {
                tracing::error!("cannot render a page: {error}");
                Self::new(StatusCode::INTERNAL_SERVER_ERROR, "This page is not available.\n".to_owned())
            }
        }
    }

    /// A short text for scripts.
    pub(crate) fn plain(status: StatusCode, text: String) -> Self {
        Self::new(status, text).header(HeaderName::from_static("x-robots-tag"), "noindex")
    }

    /// A redirect.
    pub(crate) fn redirect(to: &str) -> Self {
        Self::new(StatusCode::FOUND, String::new()).header(header::LOCATION, svc_text::sanitize_redirect(to))
    }

    /// Adds a header.
    pub(crate) fn header(mut self, name: HeaderName, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    /// Adds `Set-Cookie` headers.
    pub(crate) fn cookies(mut self, cookies: Vec<String>) -> Self {
        self.headers.extend(cookies.into_iter().map(|c| (header::SET_COOKIE, c)));
        self
    }

    /// Allows forms to lead to this policy source. Browsers apply the policy to the redirect after a form as well.
    pub(crate) fn allow_form_target(mut self, source: String) -> Self {
        if !source.is_empty() {
            self.form_targets.push(source);
        }
        self
    }

    pub(crate) fn into_response(self) -> Response {
        let mut response = Response::new(Body::from(self.body));
        *response.status_mut() = self.status;
        let headers = response.headers_mut();
        let targets = self.form_targets.join(" ");
        let policy = format!(
            "default-src 'none'; style-src 'unsafe-inline'; img-src 'self'; form-action 'self' {targets}; \
             base-uri 'none'; frame-ancestors 'none'"
        );
        let fixed = [
            (header::CONTENT_TYPE, "text/html; charset=UTF-8"),
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
