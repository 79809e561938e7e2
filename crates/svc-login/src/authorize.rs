//! The page on which a user approves an application password.

use std::sync::Arc;

use askama::Template;
use axum::{
    extract::{Request, State},
    response::Response,
};
use http::{Method, StatusCode, header};
use serde_json::json;
use validator::{Validate, ValidateArgs as _, ValidationError};

use crate::{
    LoginPages, Page, PrivateRequest, UserSession,
    form::{self, Form},
    redirect::{self, Unsafe},
    respond,
    response::{NO_NONCE, PrivateResponse},
    view::{self, Frame, Hidden, hidden},
};

/// Nonce action of the form, and the value of its field `action`.
const ACTION: &str = "authorize_application_password";

/// Query parameter of the page that shows a new password.
const CREATED: &str = "created";

/// What the page shows once.
const PASSWORD: &str = "application password";

/// Maximum length of an application's name on the page with its password, in characters.
const MAX_SHOWN_NAME: usize = 100;

/// The request of an application for a password.
#[derive(Validate)]
#[validate(context = bool)]
struct AuthorizeRequest {
    name: String,
    /// A UUID; may be empty.
    #[validate(custom(function = "check_id"))]
    id: String,
    /// URL for the password after approval; empty to show the password.
    #[validate(custom(function = "check_url", use_context))]
    success: String,
    /// URL after rejection; may be empty.
    #[validate(custom(function = "check_url", use_context))]
    reject: String,
}

fn check_id(id: &str) -> Result<(), ValidationError> {
    // The rule of the REST API for `app_id`.
    if id.is_empty() || svc_schema::values::is_uuid(id, None) {
        return Ok(());
    }
    Err(ValidationError::new("id").with_message("The ID of the application is not a UUID.".into()))
}

/// Checks a URL of the application. `local` allows URLs without TLS.
fn check_url(url: &str, local: &bool) -> Result<(), ValidationError> {
    redirect::check_application(url, *local).map_err(|error| {
        let message = match error {
            Unsafe::Format => "The application requests a redirect to an unsafe URL.",
            Unsafe::Unencrypted => "The application requests a redirect without TLS, which would expose the password.",
        };
        ValidationError::new("url").with_message(message.into())
    })
}

impl AuthorizeRequest {
    fn from_form(form: &Form) -> Self {
        let success = form.get("success_url").to_owned();
        let reject = match form.get("reject_url") {
            "" if success.is_empty() => String::new(),
            "" => redirect::with_query(&success, &[("success", "false")]),
            url => url.to_owned(),
        };
        AuthorizeRequest {
            name: svc_text::sanitize_text_field(form.get("app_name")),
            id: form.get("app_id").to_owned(),
            success,
            reject,
        }
    }

    /// Why the request is invalid. `local` allows URLs without TLS.
    fn fault(&self, local: bool) -> Option<String> {
        let errors = self.validate_with_args(&local).err()?;
        form::first_message(&errors, &["id", "success", "reject"])
    }
}

/// The approval form.
#[derive(Template)]
#[template(path = "account/authorize.html")]
struct AuthorizePage {
    page: Frame,
    error: String,
    /// Whether users create a password themselves, without the request of an application.
    is_own: bool,
    name: String,
    user: String,
    /// URL for the password after approval; empty to show the password.
    success: String,
    reject: String,
    action: String,
    hidden: Vec<Hidden>,
}

/// Shows the new password.
#[derive(Template)]
#[template(path = "account/approved.html")]
struct ApprovedPage {
    page: Frame,
    name: String,
    user: String,
    password: String,
    profile: String,
}

pub(crate) async fn handle(State(pages): State<Arc<LoginPages>>, request: Request) -> Response {
    let parts = PrivateRequest::of(&request, &pages);
    let page = pages.authorize(&parts, request).await;
    respond(&parts.cx, &pages, page)
}

impl LoginPages {
    async fn authorize(&self, parts: &PrivateRequest, request: Request) -> Page {
        let method = request.method().clone();
        let settings = self.identities.site.settings(&parts.cx)?;
        let Some(session) = self.session(parts, parts.admin_scheme())? else {
            return Ok(self.to_login(parts, &settings));
        };
        let refuse = |status, text| Ok(view::message(&parts.cx, self, status, "Error", text));
        if !self.has_passwords(parts) {
            return refuse(
                StatusCode::NOT_IMPLEMENTED,
                "Application passwords require TLS on this site. Open this page with a URL that begins with https://.",
            );
        }
        let form = match method {
            Method::GET | Method::HEAD => parts.query.clone(),
            Method::POST => match form::read(request).await {
                Ok(form) => form,
                Err(status) => return refuse(status, "The form is too large."),
            },
            _ => {
                return Ok(refuse(StatusCode::METHOD_NOT_ALLOWED, "This method is not allowed. Submit the form.")?
                    .header(header::ALLOW, "GET, HEAD, POST"));
            }
        };
        if method != Method::POST && form.has(CREATED) {
            return Ok(self.created_password(parts, &session));
        }
        let app = AuthorizeRequest::from_form(&form);
        if let Some(fault) = app.fault(self.local) {
            return refuse(StatusCode::BAD_REQUEST, &fault);
        }
        if method != Method::POST {
            return Ok(self.approval_form(parts, StatusCode::OK, &session, app, String::new()));
        }
        if parts.is_cross_site(&settings) || !self.has_nonce(parts, &form, ACTION, &session) {
            let text = "This form has expired. Return to the application and try again.";
            return refuse(StatusCode::FORBIDDEN, text).map(|page| page.because(NO_NONCE));
        }
        if form.has("approve") { self.approve(parts, &session, app).await } else { Ok(self.reject(&session, &app)) }
    }

    fn approval_form(
        &self,
        parts: &PrivateRequest,
        status: StatusCode,
        session: &UserSession,
        app: AuthorizeRequest,
        error: String,
    ) -> PrivateResponse {
        let nonce = self.identities.nonce(&parts.cx, ACTION, session.nonce_subject());
        let field = self.nonce_field();
        let fields = [
            (field.as_str(), nonce.as_str()),
            ("action", ACTION),
            ("app_id", &app.id),
            ("success_url", &app.success),
            ("reject_url", &app.reject),
        ];
        let is_own = app.name.is_empty() && app.success.is_empty();
        let title = if is_own { "New Application Password" } else { "Authorize Application" };
        let mut page = Frame::new(&session.settings, title);
        page.account = Some((session.user.display_name.clone(), self.log_out_url(parts, session)));
        let template = AuthorizePage {
            page,
            error,
            is_own,
            user: session.user.login.clone(),
            action: self.admin_url(&session.settings, "authorize-application.php"),
            hidden: hidden(&fields),
            name: app.name.clone(),
            success: without_query(&app.success),
            reject: without_query(&app.reject),
        };
        PrivateResponse::html(status, &template)
            .allow_form_target(redirect::policy_source(&app.success))
            .allow_form_target(redirect::policy_source(&app.reject))
    }

    async fn approve(&self, parts: &PrivateRequest, session: &UserSession, app: AuthorizeRequest) -> Page {
        let body = json!({"name": app.name, "app_id": app.id});
        let created = self.call(session, parts, Method::POST, "users/me/application-passwords", Some(&body)).await;
        let created = match created {
            Ok(created) => created,
            Err(error) => {
                let status = StatusCode::from_u16(error.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
                let why = if app.name.is_empty() { "A name for the application is required." } else { error.message() }
                    .to_owned();
                return Ok(self.approval_form(parts, status, session, app, why));
            }
        };
        let password = created["password"].as_str().unwrap_or_default();
        if app.success.is_empty() {
            let name: String = app.name.chars().take(MAX_SHOWN_NAME).collect();
            let shown = json!({"name": name, "password": password});
            let page = self.admin_url(&session.settings, "authorize-application.php");
            let page = redirect::with_query(&page, &[(CREATED, "1")]);
            return self.show_once(parts, session, PASSWORD, &shown, &page);
        }
        let site = session.settings.urls.site.site_url("");
        let plain = password.replace(' ', "");
        let values = [("site_url", site.as_str()), ("user_login", &session.user.login), ("password", &plain)];
        Ok(PrivateResponse::redirect(&redirect::with_query(&app.success, &values))
            .allow_form_target(redirect::policy_source(&app.success)))
    }

    /// The page with a new password, which is shown once; then the profile, which lists it.
    fn created_password(&self, parts: &PrivateRequest, session: &UserSession) -> PrivateResponse {
        let profile = self.admin_url(&session.settings, "profile.php");
        let Some(shown) = self.shown_once(parts, session, PASSWORD) else {
            return PrivateResponse::redirect(&profile);
        };
        let mut page = Frame::new(&session.settings, "Application Password");
        page.account = Some((session.user.display_name.clone(), self.log_out_url(parts, session)));
        let text = |name: &str| shown.value[name].as_str().unwrap_or_default().to_owned();
        let template = ApprovedPage {
            page,
            name: text("name"),
            user: session.user.login.clone(),
            password: text("password"),
            profile,
        };
        PrivateResponse::html(StatusCode::OK, &template).cookies(vec![shown.cookie])
    }

    fn reject(&self, session: &UserSession, app: &AuthorizeRequest) -> PrivateResponse {
        match app.reject.as_str() {
            "" => PrivateResponse::redirect(&self.admin_url(&session.settings, "profile.php")),
            url => PrivateResponse::redirect(url),
        }
    }
}

/// A URL for display, without query and fragment.
fn without_query(url: &str) -> String {
    url.split(['?', '#']).next().unwrap_or_default().to_owned()
}
