//! The page behind a link to set a new password.
//!
//! As in WordPress, the key of the link moves to a cookie first, so that it is neither in the browser's history nor in the log of a
//! proxy for the page with the form.

use std::sync::Arc;

use askama::Template;
use http::{StatusCode, header};
use svc_auth::{
    Secret,
    cookie::site_hash,
    reset_key::{self, ResetKeyError},
};
use svc_site::{Settings, hashing::HashFailure, mail};
use svc_store::{Tx, users};

use crate::{
    LoginPages, Page, PrivateRequest,
    account::password_fault,
    cookies,
    form::Form,
    identity::cookie_value,
    rate_limit::seconds,
    redirect,
    response::PrivateResponse,
    view::{Frame, Hidden, hidden},
};

/// Maximum length of the user name and the key in a link, in bytes.
const MAX_LINK: usize = 500;

/// Query parameter of the log-in page after a password was set.
pub(crate) const PASSWORD_SET: &str = "passwordset";

/// The form.
#[derive(Template)]
#[template(path = "account/reset_password.html")]
struct ResetPasswordPage {
    page: Frame,
    /// Error message; may be empty.
    error: String,
    login: String,
    action: String,
    hidden: Vec<Hidden>,
}

impl LoginPages {
    /// The name of the cookie with the key.
    fn reset_cookie_name(&self, settings: &Settings) -> String {
        self.identities.site.brand.reset_password_cookie() + &site_hash(settings.option("siteurl"))
    }

    fn reset_cookie(&self, parts: &PrivateRequest, settings: &Settings, value: Option<&str>) -> Vec<String> {
        vec![cookies::page_cookie(&self.reset_cookie_name(settings), value, &self.login_url(settings), parts.tls)]
    }

    /// The page with the form; from a link, a redirect to it.
    pub(crate) async fn show_reset(&self, parts: &PrivateRequest) -> Page {
        let settings = self.identities.site.settings(&parts.cx)?;
        let query = &parts.query;
        if query.has("key") && query.has("login") {
            let value = format!("{}:{}", query.get("login"), query.get("key"));
            if value.len() > MAX_LINK {
                return Ok(self.refuse_reset(parts, &settings, ResetKeyError::Invalid));
            }
            let to = redirect::with_query(&self.login_url(&settings), &[("action", "rp")]);
            return Ok(PrivateResponse::redirect(&to).cookies(self.reset_cookie(parts, &settings, Some(&value))));
        }
        match self.opened(parts, &settings)? {
            Ok((login, key)) => Ok(self.reset_form(StatusCode::OK, &settings, &login, &key, "")),
            Err(refusal) => Ok(refusal),
        }
    }

    /// The user name and the key in the cookie if they are valid, or the response if they are not.
    fn opened(
        &self,
        parts: &PrivateRequest,
        settings: &Settings,
    ) -> Result<Result<(String, String), PrivateResponse>, svc_schema::Error> {
        let value = cookie_value(&parts.headers, &self.reset_cookie_name(settings)).unwrap_or_default();
        // A name may contain no colon.
        let Some((login, key)) = value.split_once(':').filter(|(login, _)| !login.is_empty()) else {
            return Ok(Err(self.refuse_reset(parts, settings, ResetKeyError::Invalid)));
        };
        let user = self.identities.site.read(&parts.cx, |db| Ok(users::by_login(db, login)?))?;
        let stored = user.map(|user| user.activation_key).unwrap_or_default();
        match reset_key::check(&stored, key, self.identities.now(&parts.cx)) {
            Ok(()) => Ok(Ok((login.to_owned(), key.to_owned()))),
            Err(error) => {
                let refusal = self.count_wrong_key(parts);
                Ok(Err(refusal.unwrap_or_else(|| self.refuse_reset(parts, settings, error))))
            }
        }
    }

    /// Counts a key that is not valid. Returns the response if there were too many from the network. Keys are too long to be guessed:
    /// this only saves work.
    pub(crate) fn count_wrong_key(&self, parts: &PrivateRequest) -> Option<PrivateResponse> {
        let wait = self.attempts.at_reset(parts.client).err()?;
        let text = format!("Too many attempts. Try again in {} s.", seconds(wait));
        let page = self.message(parts, StatusCode::TOO_MANY_REQUESTS, "Error", &text);
        Some(page.header(header::RETRY_AFTER, seconds(wait)))
    }

    /// A redirect to the page on which links are requested.
    fn refuse_reset(&self, parts: &PrivateRequest, settings: &Settings, error: ResetKeyError) -> PrivateResponse {
        let error = match error {
            ResetKeyError::Invalid => "invalidkey",
            ResetKeyError::Expired => "expiredkey",
        };
        let query = [("action", "lostpassword"), ("error", error)];
        let to = redirect::with_query(&self.login_url(settings), &query);
        PrivateResponse::redirect(&to).cookies(self.reset_cookie(parts, settings, None))
    }

    fn reset_form(
        &self,
        status: StatusCode,
        settings: &Settings,
        login: &str,
        key: &str,
        error: &str,
    ) -> PrivateResponse {
        let template = ResetPasswordPage {
            page: Frame::new(settings, "Set a New Password"),
            error: error.to_owned(),
            login: login.to_owned(),
            action: redirect::with_query(&self.login_url(settings), &[("action", "resetpass")]),
            hidden: hidden(&[("rp_key", key)]),
        };
        PrivateResponse::html(status, &template)
    }

    /// Handles the form: sets the password.
    pub(crate) async fn reset_password(&self, parts: &PrivateRequest, form: &Form, settings: &Arc<Settings>) -> Page {
        let (login, key) = match self.opened(parts, settings)? {
            Ok(opened) => opened,
            Err(refusal) => return Ok(refusal),
        };
        if form.get("rp_key") != key {
            return Ok(self.refuse_reset(parts, settings, ResetKeyError::Invalid));
        }
        let (new, again) = (form.get("pass1"), form.get("pass2"));
        if let Some(fault) = password_fault(new, again) {
            return Ok(self.reset_form(StatusCode::BAD_REQUEST, settings, &login, &key, &fault));
        }
        let hash = match self.identities.site.password_hashing.hash(Secret::new(new)).await {
            Ok(hash) => hash,
            Err(HashFailure::TooLong) => {
                let text = "The new password is too long.";
                return Ok(self.reset_form(StatusCode::BAD_REQUEST, settings, &login, &key, text));
            }
            Err(HashFailure::Busy | HashFailure::Unavailable) => {
                let text = "The site is busy. Try again in a few seconds.";
                let page = self.reset_form(StatusCode::SERVICE_UNAVAILABLE, settings, &login, &key, text);
                return Ok(page.header(header::RETRY_AFTER, "5"));
            }
        };
        let (site, own) = (Arc::clone(&self.identities.site), Arc::clone(settings));
        let user = login.clone();
        let reset = move |tx: &mut Tx| mail::accounts::reset(tx, &site, &own, &user, &key, &hash);
        if let Err(error) = self.identities.site.write(&parts.cx, reset).await? {
            return Ok(self.refuse_reset(parts, settings, error));
        }
        tracing::info!(client = %parts.client, user = login, "a user has set a new password with a link");
        let to = redirect::with_query(&self.login_url(settings), &[(PASSWORD_SET, "1")]);
        Ok(PrivateResponse::redirect(&to).cookies(self.reset_cookie(parts, settings, None)))
    }
}
