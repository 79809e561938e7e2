//! The page on which a user gives an application a password of its own.

use std::sync::Arc;

use askama::Template;
use axum::{
    extract::{Request, State},
    response::Response,
};
use http::{Method, StatusCode, header};
use serde_json::json;

use crate::{
    LoginPages, LoginRequest, Page, SignedIn,
    form::{self, Form},
    redirect::{self, Unsafe},
    respond,
    response::LoginResponse,
    view::{self, Frame, Hidden, hidden},
};

/// What nonces of the form are made for; also the form's `action` field.
const ACTION: &str = "authorize_application_password";

/// What an application asks for.
struct AuthorizeRequest {
    name: String,
    id: String,
    success: String,
    /// Where to go when the user does not approve; empty without one.
    reject: String,
}

impl AuthorizeRequest {
    fn of(given: &Form) -> Self {
        let success = given.get("success_url").to_owned();
        let reject = match given.get("reject_url") {
            "" if success.is_empty() => String::new(),
            "" => redirect::with_query(&success, &[("success", "false")]),
            url => url.to_owned(),
        };
        AuthorizeRequest {
            name: svc_text::sanitize_text_field(given.get("app_name")),
            id: given.get("app_id").to_owned(),
            success,
            reject,
        }
    }

    /// Why the wish cannot be shown to anybody.
    fn fault(&self, local: bool) -> Option<&'static str> {
        if !self.id.is_empty() && uuid::Uuid::parse_str(&self.id).is_err() {
            return Some("The application says it has an id that is no UUID.");
        }
        let fault = |url: &str| redirect::check_application(url, local).err();
        match fault(&self.success).or_else(|| fault(&self.reject))? {
            Unsafe::Format => Some("The application wants you to be sent to an address that is not safe."),
            Unsafe::Unencrypted => Some("The application wants your password sent to an address without encryption."),
        }
    }
}

/// Asks whether to approve.
#[derive(Template)]
#[template(path = "account/authorize.html")]
struct AuthorizePage {
    page: Frame,
    error: String,
    name: String,
    user: String,
    /// Where the password is sent; empty when it is shown.
    success: String,
    reject: String,
    action: String,
    hidden: Vec<Hidden>,
}

/// Shows the password.
#[derive(Template)]
#[template(path = "account/approved.html")]
struct ApprovedPage {
    page: Frame,
    name: String,
    user: String,
    password: String,
    profile: String,
}

pub(crate) async fn answer(State(pages): State<Arc<LoginPages>>, request: Request) -> Response {
    let asked = LoginRequest::of(&request, &pages);
    let page = pages.authorize(&asked, request).await;
    respond(&pages, page)
}

impl LoginPages {
    async fn authorize(&self, asked: &LoginRequest, request: Request) -> Page {
        let method = request.method().clone();
        let settings = self.identities.site.settings()?;
        let Some(who) = self.signed_in(asked, asked.admin_scheme())? else {
            return Ok(self.to_login(asked, &settings));
        };
        let refuse = |status, text| Ok(view::message(self, status, "This cannot be approved", text));
        if !self.passwords_available {
            return refuse(
                StatusCode::NOT_IMPLEMENTED,
                "Application passwords cannot be used on this site without TLS.",
            );
        }
        let form = match method {
            Method::GET | Method::HEAD => asked.query.clone(),
            Method::POST => match form::read(request).await {
                Ok(form) => form,
                Err(status) => return refuse(status, "The form is too large."),
            },
            _ => {
                return Ok(
                    refuse(StatusCode::METHOD_NOT_ALLOWED, "Use the form.")?.header(header::ALLOW, "GET, HEAD, POST")
                );
            }
        };
        let wish = AuthorizeRequest::of(&form);
        if let Some(fault) = wish.fault(self.local) {
            return refuse(StatusCode::BAD_REQUEST, fault);
        }
        if method != Method::POST {
            return Ok(self.ask(StatusCode::OK, &who, wish, String::new()));
        }
        if asked.comes_from_elsewhere(&settings) || !self.has_nonce(&form, ACTION, &who) {
            return refuse(
                StatusCode::FORBIDDEN,
                "This form is out of date. Go back to the application, and begin again.",
            );
        }
        if form.has("approve") { self.approve(asked, &who, wish).await } else { Ok(self.reject(&who, &wish)) }
    }

    fn ask(&self, status: StatusCode, who: &SignedIn, wish: AuthorizeRequest, error: String) -> LoginResponse {
        let nonce = self.identities.nonce(ACTION, who.bearer());
        let field = self.nonce_field();
        let fields = [
            (field.as_str(), nonce.as_str()),
            ("action", ACTION),
            ("app_id", &wish.id),
            ("success_url", &wish.success),
            ("reject_url", &wish.reject),
        ];
        let mut page = Frame::new(&who.settings, "Approve an application");
        page.account = Some((who.user.display_name.clone(), self.log_out_url(who)));
        let template = AuthorizePage {
            page,
            error,
            user: who.user.login.clone(),
            action: self.admin_url(&who.settings, "authorize-application.php"),
            hidden: hidden(&fields),
            name: wish.name.clone(),
            success: shown(&wish.success),
            reject: shown(&wish.reject),
        };
        LoginResponse::html(status, &template)
            .leads_to(redirect::policy_source(&wish.success))
            .leads_to(redirect::policy_source(&wish.reject))
    }

    async fn approve(&self, asked: &LoginRequest, who: &SignedIn, wish: AuthorizeRequest) -> Page {
        let body = json!({"name": wish.name, "app_id": wish.id});
        let made = self.call(who, asked.client, Method::POST, "users/me/application-passwords", Some(&body)).await;
        let made = match made {
            Ok(made) => made,
            Err(error) => {
                let status = StatusCode::from_u16(error.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
                let why =
                    if wish.name.is_empty() { "Give the application a name." } else { error.message() }.to_owned();
                return Ok(self.ask(status, who, wish, why));
            }
        };
        let password = made["password"].as_str().unwrap_or_default();
        if wish.success.is_empty() {
            let mut page = Frame::new(&who.settings, "Approved");
            page.account = Some((who.user.display_name.clone(), self.log_out_url(who)));
            let template = ApprovedPage {
                page,
                name: wish.name,
                user: who.user.login.clone(),
                password: password.to_owned(),
                profile: self.admin_url(&who.settings, "profile.php"),
            };
            return Ok(LoginResponse::html(StatusCode::OK, &template));
        }
        let site = who.settings.urls.site.site_url("");
        let plain = password.replace(' ', "");
        let values = [("site_url", site.as_str()), ("user_login", &who.user.login), ("password", &plain)];
        Ok(LoginResponse::redirect(&redirect::with_query(&wish.success, &values))
            .leads_to(redirect::policy_source(&wish.success)))
    }

    fn reject(&self, who: &SignedIn, wish: &AuthorizeRequest) -> LoginResponse {
        match wish.reject.as_str() {
            "" => LoginResponse::redirect(&self.admin_url(&who.settings, "profile.php")),
            url => LoginResponse::redirect(url),
        }
    }
}

/// An address as people are told it: scheme and host say where they will be.
fn shown(url: &str) -> String {
    url.split(['?', '#']).next().unwrap_or_default().to_owned()
}
