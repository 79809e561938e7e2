//! Log-in and log-out.

use std::sync::Arc;

use askama::Template;
use axum::{
    extract::{Request, State},
    response::Response,
};
use http::{Method, StatusCode, header};
use svc_auth::{Scheme, Secret};
use svc_site::{Settings, hashing::HashFailure};
use svc_store::Tx;
use validator::Validate;

use crate::{
    LoginPages, Page, PrivateRequest, cookies,
    form::{self, Form},
    identity::cookie_value,
    lost_password::REQUESTED,
    passkeys,
    rate_limit::{LoginFailure, seconds},
    redirect,
    reset_password::PASSWORD_SET,
    respond,
    response::{CROSS_SITE, NO_NONCE, PrivateResponse},
    second_factor,
    sessions::{Factors, change_sessions},
    view::{self, Frame, Hidden, hidden},
};

/// Nonce action of the log-out link.
const LOG_OUT: &str = "log-out";

/// Error message that does not reveal whether the user exists.
const WRONG: &str = "The user name or password is wrong.";

/// The fields of the log-in form.
#[derive(Validate)]
struct LogInForm {
    /// Login name or email address, trimmed.
    #[validate(length(min = 1))]
    login: String,
    #[validate(length(min = 1))]
    password: String,
}

/// The log-in form.
#[derive(Template)]
#[template(path = "account/login.html")]
struct LogInPage {
    page: Frame,
    /// Error message; may be empty.
    error: String,
    /// Other message; may be empty.
    notice: &'static str,
    /// URL of the page that describes how to get a new password.
    lost_password: String,
    login: String,
    remember: bool,
    action: String,
    hidden: Vec<Hidden>,
    /// The JSON for the script that uses a passkey; empty if browsers allow none on this site.
    passkey: String,
}

/// The confirmation of a log-out without a valid nonce.
#[derive(Template)]
#[template(path = "account/confirm.html")]
struct LogOutPage {
    page: Frame,
    action: String,
    hidden: Vec<Hidden>,
}

pub(crate) async fn handle(State(pages): State<Arc<LoginPages>>, request: Request) -> Response {
    let parts = PrivateRequest::of(&request, &pages);
    let page = match *request.method() {
        Method::GET | Method::HEAD => pages.log_in_or_out(&parts, &parts.query).await,
        Method::POST => match form::read(request).await {
            Ok(form) => pages.posted(&parts, &form).await,
            Err(status) => Ok(view::message(&parts.cx, &pages, status, "Error", "The form is too large.")),
        },
        _ => Ok(view::message(
            &parts.cx,
            &pages,
            StatusCode::METHOD_NOT_ALLOWED,
            "Error",
            "This method is not allowed. Submit the form.",
        )
        .header(header::ALLOW, "GET, HEAD, POST")),
    };
    respond(&parts.cx, &pages, page)
}

impl LoginPages {
    async fn log_in_or_out(&self, parts: &PrivateRequest, form: &Form) -> Page {
        match form.get("action") {
            "logout" => self.log_out(parts, form).await,
            "lostpassword" | "retrievepassword" => self.show_lost_password(parts),
            "rp" | "resetpass" => self.show_reset(parts).await,
            second_factor::ACTION => self.show_second_factor(parts),
            _ => self.show_form(parts),
        }
    }

    async fn posted(&self, parts: &PrivateRequest, form: &Form) -> Page {
        let settings = self.identities.site.settings(&parts.cx)?;
        if parts.is_cross_site(&settings) {
            let text = "This form was submitted from another site. Log in on this site's own page.";
            return Ok(view::message(&parts.cx, self, StatusCode::FORBIDDEN, "Error", text).because(CROSS_SITE));
        }
        let action = [form.get("action"), parts.query.get("action")].into_iter().find(|a| !a.is_empty());
        match action {
            Some("logout") => self.log_out(parts, form).await,
            Some("postpass") => self.open_post(parts, form, &settings).await,
            Some("lostpassword" | "retrievepassword") => self.request_reset(parts, form, &settings).await,
            Some("rp" | "resetpass") => self.reset_password(parts, form, &settings).await,
            Some(second_factor::ACTION) => self.check_second_factor(parts, form, &settings).await,
            Some(passkeys::ACTION) => self.log_in_with_passkey(parts, form, &settings).await,
            _ => self.log_in(parts, form, &settings).await,
        }
    }

    fn show_form(&self, parts: &PrivateRequest) -> Page {
        let settings = self.identities.site.settings(&parts.cx)?;
        let notice = match parts.query.get("checkemail") {
            "confirm" => REQUESTED,
            _ if parts.query.has("loggedout") => "You are logged out.",
            _ if parts.query.has(PASSWORD_SET) => {
                "Your new password has been set. All sessions with the old one have been logged out."
            }
            _ => "",
        };
        self.form(StatusCode::OK, &settings, parts, &parts.query, "", notice)
    }

    pub(crate) fn form(
        &self,
        status: StatusCode,
        settings: &Settings,
        parts: &PrivateRequest,
        form: &Form,
        error: impl Into<String>,
        notice: &'static str,
    ) -> Page {
        let error = error.into();
        let brand = &self.identities.site.brand;
        let title = if error.is_empty() || form.has("error") { "Log In" } else { "Login Failed" };
        let redirect_to = [form.get("redirect_to"), parts.query.get("redirect_to")].into_iter().find(|b| !b.is_empty());
        let redirect_to = redirect_to.map_or_else(|| self.admin_url(settings, ""), str::to_owned);
        let (passkey, mut set) = self.log_in_options(parts, settings)?.unwrap_or_default();
        set.push(cookies::test_cookie(&brand.test_cookie(), settings, parts.tls));
        let template = LogInPage {
            page: self.scripted(Frame::new(settings, title), settings, !passkey.is_empty()),
            passkey,
            error,
            notice,
            lost_password: redirect::with_query(&self.login_url(settings), &[("action", "lostpassword")]),
            login: form.get("log").to_owned(),
            remember: !form.get("rememberme").is_empty(),
            action: self.login_url(settings),
            hidden: hidden(&[("redirect_to", &redirect_to), ("testcookie", "1")]),
        };
        Ok(passkeys::with_script(PrivateResponse::html(status, &template), !template.page.script.is_empty())
            .cookies(set))
    }

    async fn log_in(&self, parts: &PrivateRequest, form: &Form, settings: &Settings) -> Page {
        let refused = |status, error: &str| self.form(status, settings, parts, form, error, "");
        let typed = LogInForm { login: form.get("log").trim().to_owned(), password: form.get("pwd").to_owned() };
        // Clients other than browsers post the form without a cookie, and without this field.
        if form.has("testcookie") && cookie_value(&parts.headers, &self.identities.site.brand.test_cookie()).is_none() {
            return refused(
                StatusCode::OK,
                "Your browser does not accept cookies. Allow cookies for this site and try again.",
            );
        }
        if typed.validate().is_err() {
            return refused(StatusCode::OK, "Both the user name and the password are required.");
        }
        let name = svc_text::sanitize_user(&typed.login, false);
        if let Err(wait) = self.attempts.at_form(parts.client, &name) {
            self.attempts.report_failed(parts.client, &name, LoginFailure::TooManyAttempts);
            let text = format!("Too many failed login attempts. Try again in {} s.", seconds(wait));
            return refused(StatusCode::TOO_MANY_REQUESTS, &text)
                .map(|p: PrivateResponse| p.header(header::RETRY_AFTER, seconds(wait)));
        }
        let found = self.identities.by_name(&parts.cx, &name)?;
        let stored = found.as_ref().map(|s| s.user.pass.clone());
        match self.identities.site.password_hashing.verify(stored, Secret::new(&typed.password)).await {
            Ok(true) => {}
            Ok(false) => {
                let why = if found.is_some() { LoginFailure::WrongPassword } else { LoginFailure::UnknownUser };
                self.attempts.report_failed(parts.client, &name, why);
                return refused(StatusCode::OK, WRONG);
            }
            Err(HashFailure::Busy | HashFailure::TooLong | HashFailure::Unavailable) => {
                return refused(StatusCode::SERVICE_UNAVAILABLE, "The site is busy. Try again in a few seconds.")
                    .map(|p: PrivateResponse| p.header(header::RETRY_AFTER, "5"));
            }
        }
        let Some(found) = found else {
            return refused(StatusCode::OK, WRONG);
        };
        let remembered = !form.get("rememberme").is_empty();
        if let Some(two_factor) = &found.two_factor {
            // Codes are counted by the login, so an email address may be remembered before the code is right.
            if !name.eq_ignore_ascii_case(&found.user.login) {
                self.attempts.form_succeeded(parts.client, &name);
            }
            return self.ask_second_factor(parts, form, &found.user, two_factor, remembered, &typed.password).await;
        }
        self.attempts.form_succeeded(parts.client, &name);
        let user = found.user.clone();
        let cookies = self.start_session(parts, user, Some(&typed.password), remembered, Factors::Password).await?;
        let must_set_up = self.identities.must_set_up_two_factor(&*self.identities.login_settings(&parts.cx)?, &found);
        Ok(PrivateResponse::redirect(&self.after_log_in(form, settings, must_set_up)).cookies(cookies))
    }

    /// Where a form of the log-in leads.
    pub(crate) fn after_log_in(&self, form: &Form, settings: &Settings, must_set_up: bool) -> String {
        let redirect_to = redirect::on_site(form.get("redirect_to"), settings);
        if must_set_up {
            return self.two_factor_url(settings, &redirect_to.unwrap_or_default());
        }
        redirect_to.unwrap_or_else(|| self.admin_url(settings, ""))
    }

    async fn log_out(&self, parts: &PrivateRequest, form: &Form) -> Page {
        let settings = self.identities.site.settings(&parts.cx)?;
        let logged_out_url = redirect::with_query(&self.login_url(&settings), &[("loggedout", "true")]);
        let to = redirect::on_site(form.get("redirect_to"), &settings).unwrap_or(logged_out_url);
        let config = self.identities.login_settings(&parts.cx)?;
        let expired = cookies::expired_cookies(&config, self.identities.site.brand.admin_path());
        let Some(session) = self.any_session(parts, Scheme::LoggedIn)? else {
            return Ok(PrivateResponse::redirect(&to).cookies(expired));
        };
        if !self.has_nonce(parts, form, LOG_OUT, &session) {
            let nonce = self.identities.nonce(&parts.cx, LOG_OUT, session.nonce_subject());
            let field = self.nonce_field();
            let fields = [("action", "logout"), (&field, &nonce), ("redirect_to", form.get("redirect_to"))];
            let page = Frame::new(&settings, "Log Out");
            let template = LogOutPage { page, action: self.login_url(&settings), hidden: hidden(&fields) };
            return Ok(PrivateResponse::html(StatusCode::FORBIDDEN, &template).because(NO_NONCE));
        }
        let now = self.identities.now(&parts.cx);
        let (id, token) = (session.user.id, session.token);
        let end = move |tx: &mut Tx| Ok(change_sessions(tx, id, |sessions| sessions.remove(&token, now))?);
        self.identities.site.write(&parts.cx, end).await?;
        Ok(PrivateResponse::redirect(&to).cookies(expired))
    }

    /// A URL that logs the user out without confirmation.
    pub fn log_out_url(&self, parts: &PrivateRequest, session: &crate::UserSession) -> String {
        let nonce = self.identities.nonce(&parts.cx, LOG_OUT, session.nonce_subject());
        let field = self.nonce_field();
        redirect::with_query(&self.login_url(&session.settings), &[("action", "logout"), (&field, &nonce)])
    }
}
