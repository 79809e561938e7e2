//! The second page of the log-in, which asks for a code.
//!
//! Between the two pages, a signed cookie for the log-in page only says that the password was right. There is no session before the
//! code is right.

use std::sync::Arc;

use askama::Template;
use http::{StatusCode, header};
use svc_auth::{
    Secret,
    cookie::site_hash,
    two_factor::{LOG_IN_LIFETIME, PendingLogIn, TwoFactor},
};
use svc_model::User;
use svc_site::Settings;
use svc_store::{MetaKind, meta, users};

use crate::{
    LoginPages, Page, PrivateRequest, cookies,
    form::Form,
    identity::cookie_value,
    rate_limit::{LoginFailure, seconds},
    redirect,
    response::PrivateResponse,
    sessions::Factors,
    two_factor,
    view::{Frame, Hidden, hidden},
};

/// Value of the parameter `action` of the page.
pub(crate) const ACTION: &str = "two-factor";

/// The message to users whose log-in has taken too long, or whose password was changed.
const EXPIRED: &str = "This log-in has expired. Log in again.";

/// The message after a wrong code.
const WRONG: &str = "The code is wrong, or was used before. Wait for the next code of the app.";

/// The page.
#[derive(Template)]
#[template(path = "account/second_factor.html")]
struct SecondFactorPage {
    page: Frame,
    /// Error message; may be empty.
    error: String,
    /// Whether the page asks for a recovery code.
    recovery: bool,
    /// URL of the page that asks for the other kind of code.
    other: String,
    action: String,
    hidden: Vec<Hidden>,
}

impl LoginPages {
    fn pending_cookie_name(&self, settings: &Settings) -> String {
        self.identities.site.brand.two_factor_cookie() + &site_hash(settings.option("siteurl"))
    }

    fn pending_cookie(&self, parts: &PrivateRequest, settings: &Settings, value: Option<&str>) -> Vec<String> {
        let (name, page) = (self.pending_cookie_name(settings), self.login_url(settings));
        vec![cookies::login_page_cookie(&name, value, &page, parts.tls)]
    }

    /// Begins to wait for the code of a user whose password was right: a redirect to the page.
    pub(crate) async fn ask_second_factor(
        &self,
        parts: &PrivateRequest,
        form: &Form,
        user: &User,
        two_factor: &TwoFactor,
        remembered: bool,
        password: &str,
    ) -> Page {
        let settings = self.identities.site.settings(&parts.cx)?;
        let pass = self.rehash(parts, user, password).await?;
        let expires = self.identities.now(&parts.cx) + LOG_IN_LIFETIME;
        let pending = PendingLogIn { user: user.id, expires, remembered };
        let value = pending.to_cookie(&self.identities.keys, &pass, two_factor);
        let back = redirect::on_site(form.get("redirect_to"), &settings).unwrap_or_default();
        let to = self.second_factor_url(&settings, &back, false);
        Ok(PrivateResponse::redirect(&to).cookies(self.pending_cookie(parts, &settings, Some(value.expose()))))
    }

    fn second_factor_url(&self, settings: &Settings, redirect_to: &str, recovery: bool) -> String {
        let mut query = vec![("action", ACTION)];
        if recovery {
            query.push(("recovery", "1"));
        }
        if !redirect_to.is_empty() {
            query.push(("redirect_to", redirect_to));
        }
        redirect::with_query(&self.login_url(settings), &query)
    }

    /// The user whose log-in waits for a code, by the cookie.
    fn pending(
        &self,
        parts: &PrivateRequest,
        settings: &Settings,
    ) -> Result<Option<(PendingLogIn, User)>, svc_schema::Error> {
        let Some(value) = cookie_value(&parts.headers, &self.pending_cookie_name(settings)) else { return Ok(None) };
        let Some((pending, signature)) = PendingLogIn::read(&value) else { return Ok(None) };
        let (id, now) = (pending.user, self.identities.now(&parts.cx));
        let key = svc_auth::two_factor::META_KEY;
        let (user, stored) = self
            .identities
            .site
            .read(&parts.cx, |db| Ok((users::get(db, id)?, meta::get(db, MetaKind::User, id.0, key)?)))?;
        let (Some(user), Some(stored)) = (user, stored) else { return Ok(None) };
        let two_factor = TwoFactor::from_value(&stored.json());
        let is_valid = pending.is_valid(&self.identities.keys, signature, &user.pass, &two_factor, now);
        Ok(is_valid.then_some((pending, user)))
    }

    /// The page, if a log-in waits.
    pub(crate) fn show_second_factor(&self, parts: &PrivateRequest) -> Page {
        let settings = self.identities.site.settings(&parts.cx)?;
        if self.pending(parts, &settings)?.is_none() {
            return Ok(self.second_factor_expired(parts, &parts.query, &settings));
        }
        Ok(self.second_factor_form(StatusCode::OK, &settings, &parts.query, String::new()))
    }

    /// The first page of the log-in, with a message.
    fn second_factor_expired(&self, parts: &PrivateRequest, form: &Form, settings: &Settings) -> PrivateResponse {
        let page = self.form(StatusCode::OK, settings, parts, form, EXPIRED, "");
        page.cookies(self.pending_cookie(parts, settings, None))
    }

    fn second_factor_form(
        &self,
        status: StatusCode,
        settings: &Settings,
        form: &Form,
        error: String,
    ) -> PrivateResponse {
        let (recovery, back) = (form.has("recovery"), form.get("redirect_to"));
        let mut fields = vec![("action", ACTION), ("redirect_to", back)];
        if recovery {
            fields.push(("recovery", "1"));
        }
        let template = SecondFactorPage {
            page: Frame::new(settings, if error.is_empty() { "Log In" } else { "Login Failed" }),
            error,
            recovery,
            other: self.second_factor_url(settings, back, !recovery),
            action: self.login_url(settings),
            hidden: hidden(&fields),
        };
        PrivateResponse::html(status, &template)
    }

    /// Handles the form: starts the session if the code is right.
    pub(crate) async fn check_second_factor(
        &self,
        parts: &PrivateRequest,
        form: &Form,
        settings: &Arc<Settings>,
    ) -> Page {
        let Some((pending, user)) = self.pending(parts, settings)? else {
            return Ok(self.second_factor_expired(parts, form, settings));
        };
        if form.get("code").trim().is_empty() {
            return Ok(self.second_factor_form(StatusCode::OK, settings, form, "The code is required.".to_owned()));
        }
        if let Err(wait) = self.attempts.at_code(parts.client, &user.login) {
            self.attempts.report_failed(parts.client, &user.login, LoginFailure::TooManyAttempts);
            let text = format!("Too many attempts. Try again in {} s.", seconds(wait));
            let page = self.second_factor_form(StatusCode::TOO_MANY_REQUESTS, settings, form, text);
            return Ok(page.header(header::RETRY_AFTER, seconds(wait)));
        }
        let code = Secret::new(form.get("code"));
        if two_factor::accept(self, parts, settings, &user, code).await?.is_none() {
            self.attempts.report_failed(parts.client, &user.login, LoginFailure::WrongCode);
            return Ok(self.second_factor_form(StatusCode::OK, settings, form, WRONG.to_owned()));
        }
        self.attempts.form_succeeded(parts.client, &user.login);
        // The password was replaced by a better hash on the first page, if it had to be.
        let cookies = self.start_session(parts, user, None, pending.remembered, Factors::All).await?;
        let to = self.after_log_in(form, settings, false);
        let response = PrivateResponse::redirect(&to).cookies(cookies);
        Ok(response.cookies(self.pending_cookie(parts, settings, None)))
    }
}
