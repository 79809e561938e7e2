//! The second page of the log-in, which asks for a code or a passkey.
//!
//! Between the two pages, a signed cookie for the log-in page only says that the password was right. There is no session before the
//! second factor is right.

use std::sync::Arc;

use askama::Template;
use http::{StatusCode, header};
use svc_auth::{
    Secret,
    cookie::site_hash,
    passkey::{Assertion, PasskeyFault, Purpose},
    two_factor::{LOG_IN_LIFETIME, PendingLogIn, TwoFactor},
};
use svc_model::User;
use svc_site::Settings;
use svc_store::{MetaKind, meta, users};

use crate::{
    LoginPages, Page, PrivateRequest, cookies,
    form::Form,
    identity::cookie_value,
    passkeys,
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
    /// Whether the user has an app.
    has_app: bool,
    /// URL of the page that asks for the other kind of code.
    other: String,
    action: String,
    hidden: Vec<Hidden>,
    /// The JSON for the script that uses a passkey; empty without passkeys.
    passkey: String,
}

/// A log-in that waits for its second factor, by the cookie.
struct Waiting {
    pending: PendingLogIn,
    user: User,
    two_factor: TwoFactor,
    /// The value of the cookie.
    cookie: String,
}

impl LoginPages {
    fn pending_cookie_name(&self, settings: &Settings) -> String {
        self.identities.site.brand.two_factor_cookie() + &site_hash(settings.option("siteurl"))
    }

    fn pending_cookie(&self, parts: &PrivateRequest, settings: &Settings, value: Option<&str>) -> Vec<String> {
        let (name, page) = (self.pending_cookie_name(settings), self.login_url(settings));
        vec![cookies::page_cookie(&name, value, &page, parts.tls)]
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

    /// The log-in that waits for its second factor, by the cookie.
    fn waiting(&self, parts: &PrivateRequest, settings: &Settings) -> Result<Option<Waiting>, svc_schema::Error> {
        let name = self.pending_cookie_name(settings);
        let Some(cookie) = cookie_value(&parts.headers, &name) else { return Ok(None) };
        let Some((pending, signature)) = PendingLogIn::read(&cookie) else { return Ok(None) };
        let (id, now) = (pending.user, self.identities.now(&parts.cx));
        let key = svc_auth::two_factor::META_KEY;
        let (user, stored) = self
            .identities
            .site
            .read(&parts.cx, |db| Ok((users::get(db, id)?, meta::get(db, MetaKind::User, id.0, key)?)))?;
        let (Some(user), Some(stored)) = (user, stored) else { return Ok(None) };
        let two_factor = TwoFactor::from_value(&stored.json());
        let is_valid = pending.is_valid(&self.identities.keys, signature, &user.pass, &two_factor, now);
        Ok(is_valid.then_some(Waiting { pending, user, two_factor, cookie }))
    }

    /// The page, if a log-in waits.
    pub(crate) fn show_second_factor(&self, parts: &PrivateRequest) -> Page {
        let settings = self.identities.site.settings(&parts.cx)?;
        match self.waiting(parts, &settings)? {
            Some(waiting) => {
                self.second_factor_form(parts, &waiting, StatusCode::OK, &settings, &parts.query, String::new())
            }
            None => self.second_factor_expired(parts, &parts.query, &settings),
        }
    }

    /// The first page of the log-in, with a message.
    fn second_factor_expired(&self, parts: &PrivateRequest, form: &Form, settings: &Settings) -> Page {
        let page = self.form(StatusCode::OK, settings, parts, form, EXPIRED, "")?;
        Ok(page.cookies(self.pending_cookie(parts, settings, None)))
    }

    fn second_factor_form(
        &self,
        parts: &PrivateRequest,
        waiting: &Waiting,
        status: StatusCode,
        settings: &Settings,
        form: &Form,
        error: String,
    ) -> Page {
        let (recovery, back) = (form.has("recovery"), form.get("redirect_to"));
        let mut fields = vec![("action", ACTION), ("redirect_to", back)];
        if recovery {
            fields.push(("recovery", "1"));
        }
        let known = &waiting.two_factor.passkeys;
        let passkey = match self.ceremony(parts, settings, Purpose::SecondFactor, &waiting.cookie) {
            Some(ceremony) if !known.list().is_empty() => passkeys::request_options(&ceremony, Some(known))?,
            _ => String::new(),
        };
        let page = Frame::new(settings, if error.is_empty() { "Log In" } else { "Login Failed" });
        let template = SecondFactorPage {
            page: self.scripted(page, settings, !passkey.is_empty()),
            error,
            recovery,
            has_app: waiting.two_factor.has_app(),
            other: self.second_factor_url(settings, back, !recovery),
            action: self.login_url(settings),
            hidden: hidden(&fields),
            passkey,
        };
        Ok(passkeys::with_script(PrivateResponse::html(status, &template), !template.page.script.is_empty()))
    }

    /// Handles the form: starts the session if the code or the passkey is right.
    pub(crate) async fn check_second_factor(
        &self,
        parts: &PrivateRequest,
        form: &Form,
        settings: &Arc<Settings>,
    ) -> Page {
        let Some(waiting) = self.waiting(parts, settings)? else {
            return self.second_factor_expired(parts, form, settings);
        };
        let refused = |status, text: String| self.second_factor_form(parts, &waiting, status, settings, form, text);
        let (user, passkey) = (&waiting.user, form.get("passkey"));
        if form.get("code").trim().is_empty() && passkey.is_empty() {
            return refused(StatusCode::OK, "The code is required.".to_owned());
        }
        let counted = match passkey {
            "" => self.attempts.at_code(parts.client, &user.login),
            _ => self.attempts.at_form(parts.client, &user.login),
        };
        if let Err(wait) = counted {
            self.attempts.report_failed(parts.client, &user.login, LoginFailure::TooManyAttempts);
            let text = format!("Too many attempts. Try again in {} s.", seconds(wait));
            let page = refused(StatusCode::TOO_MANY_REQUESTS, text)?;
            return Ok(page.header(header::RETRY_AFTER, seconds(wait)));
        }
        let (why, text) = if passkey.is_empty() {
            let code = Secret::new(form.get("code"));
            let accepted = two_factor::accept(self, parts, settings, user, code).await?;
            (LoginFailure::WrongCode, if accepted { None } else { Some(WRONG.to_owned()) })
        } else {
            let ceremony = self.ceremony(parts, settings, Purpose::SecondFactor, &waiting.cookie);
            let accepted = match (ceremony, Assertion::read(passkey)) {
                (Some(ceremony), Some(assertion)) => self.accept_passkey(parts, user, ceremony, assertion).await?,
                _ => Err(PasskeyFault::Unreadable),
            };
            (LoginFailure::WrongPasskey, accepted.err().map(|fault| fault.to_string()))
        };
        if let Some(text) = text {
            self.attempts.report_failed(parts.client, &user.login, why);
            return refused(StatusCode::OK, text);
        }
        self.attempts.form_succeeded(parts.client, &user.login);
        let Waiting { pending, user, .. } = waiting;
        // The password was replaced by a better hash on the first page, if it had to be.
        let cookies = self.start_session(parts, user, None, pending.remembered, Factors::All).await?;
        let to = self.after_log_in(form, settings, false);
        let response = PrivateResponse::redirect(&to).cookies(cookies);
        Ok(response.cookies(self.pending_cookie(parts, settings, None)))
    }
}
