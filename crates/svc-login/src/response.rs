//! LoginPages of sign-in as HTTP answers: never cached, never framed, nothing runs.

use axum::{
    body::Body,
    response::{IntoResponse, Response},
};
use http::{HeaderName, HeaderValue, StatusCode, header};

/// An answer in the making.
pub(crate) struct LoginResponse {
    status: StatusCode,
    body: String,
    /// Where forms may lead, beside this site.
    form_targets: Vec<String>,
    headers: Vec<(HeaderName, String)>,
}

impl LoginResponse {
    fn new(status: StatusCode, body: String) -> Self {
        LoginResponse { status, body, form_targets: Vec::new(), headers: Vec::new() }
    }

    /// A page.
    pub(crate) fn html(status: StatusCode, template: &impl askama::Template) -> Self {
        match template.render() {
            Ok(body) => Self::new(status, body),
            Err(error) => {
                tracing::error!("a page could not be rendered: {error}");
                Self::new(StatusCode::INTERNAL_SERVER_ERROR, "This page cannot be shown at the moment.\n".to_owned())
            }
        }
    }

    /// A short text for programs.
    pub(crate) fn plain(status: StatusCode, text: String) -> Self {
        Self::new(status, text).header(HeaderName::from_static("x-robots-tag"), "noindex")
    }

    /// On to another address, by GET.
    pub(crate) fn redirect(to: &str) -> Self {
        Self::new(StatusCode::FOUND, String::new()).header(header::LOCATION, svc_text::sanitize_redirect(to))
    }

    /// With one more header.
    pub(crate) fn header(mut self, name: HeaderName, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    /// With a cookie set, changed or ended.
    pub(crate) fn cookies(mut self, cookies: Vec<String>) -> Self {
        self.headers.extend(cookies.into_iter().map(|c| (header::SET_COOKIE, c)));
        self
    }

    /// With forms that may lead to this source too: browsers check the redirect that answers a form.
    pub(crate) fn leads_to(mut self, source: String) -> Self {
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
            // With less, browsers would not tell the origin of a form, by which foreign ones are known.
            (header::REFERRER_POLICY, "same-origin"),
            (header::CACHE_CONTROL, "no-cache, must-revalidate, max-age=0, no-store, private"),
            (header::EXPIRES, "Wed, 11 Jan 1984 05:00:00 GMT"),
        ];
        let own = self.headers.iter().map(|(name, value)| (name.clone(), value.as_str()));
        for (name, value) in fixed.into_iter().chain(own) {
            // What is no header value is left out.
            if let Ok(value) = HeaderValue::from_str(value) {
                headers.append(name, value);
            }
        }
        response.into_response()
    }
}
