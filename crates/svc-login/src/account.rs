//! Changes of a user's e-mail address and password.

use std::sync::Arc;

use http::{StatusCode, header};
use serde_json::{Map, Value};
use svc_auth::{
    Secret,
    session::{LIFETIME, Sessions},
};
use svc_site::mail;
use svc_store::{MetaKind, Tx, meta, users};

use crate::{
    LoginPages, Page, PrivateRequest, SESSIONS, UserSession,
    form::Form,
    profile::done,
    rate_limit::{LoginFailure, seconds},
    sessions::{Factors, change_sessions},
};

/// Minimum length of a new password, in characters.
const MIN_PASSWORD: usize = 8;

/// Why a new password that was typed twice is rejected.
pub(crate) fn password_fault(new: &str, again: &str) -> Option<String> {
    if new != again {
        return Some("The two new passwords are different.".to_owned());
    }
    if new.chars().count() < MIN_PASSWORD {
        return Some(format!("The new password needs {MIN_PASSWORD} characters or more."));
    }
    // Verification ignores white space at the ends, as in WordPress.
    (new != new.trim()).then(|| "The new password must not begin or end with a space.".to_owned())
}

/// Why a form with the current password is rejected.
pub(crate) struct Refusal {
    pub(crate) status: StatusCode,
    pub(crate) text: String,
    /// Seconds to wait.
    pub(crate) retry_after: Option<String>,
}

impl Refusal {
    pub(crate) fn new(status: StatusCode, text: &str) -> Self {
        Refusal { status, text: text.to_owned(), retry_after: None }
    }

    pub(crate) fn wait(status: StatusCode, text: &str, seconds: String) -> Self {
        Refusal { status, text: format!("{text} Try again in {seconds} s."), retry_after: Some(seconds) }
    }
}

/// Route of the user's own account.
const ME: &str = "users/me";

impl LoginPages {
    /// Stores a mail that asks the owner of a new address to confirm it. Returns why the address is rejected.
    pub(crate) async fn request_email(
        &self,
        parts: &PrivateRequest,
        session: &UserSession,
        email: &str,
    ) -> Result<Option<String>, svc_schema::Error> {
        let site = Arc::clone(&self.identities.site);
        if site.read(&parts.cx, |db| Ok(users::by_email(db, email)?))?.is_some() {
            return Ok(Some("Another account has this email address.".to_owned()));
        }
        if self.attempts.at_confirmation_mail(&session.user.login).is_err() {
            return Ok(Some("Too many changes of the email address. Try again later.".to_owned()));
        }
        let (settings, user, email) = (Arc::clone(&session.settings), session.user.clone(), email.to_owned());
        let request = move |tx: &mut Tx| mail::accounts::request_email(tx, &site, &settings, &user, &email);
        self.identities.site.write(&parts.cx, request).await?;
        Ok(None)
    }

    /// Changes the e-mail address to the one that was confirmed with a link.
    pub(crate) async fn confirm_email(&self, parts: &PrivateRequest, session: &UserSession, form: &Form) -> Page {
        let site = &self.identities.site;
        let waiting = site.read(&parts.cx, |db| mail::accounts::waiting_email(db, session.user.id))?;
        let Some((email, _)) = waiting.filter(|(_, hash)| hash == form.get("newuseremail")) else {
            let text = "This link is not valid any more. Change the email address again.";
            let problem = self.problem(parts, session, "details", text)?;
            return self.show_problem(parts, session, StatusCode::BAD_REQUEST, problem).await;
        };
        let changes = Map::from_iter([("email".to_owned(), Value::from(email))]);
        if let Err(error) = self.change_me(parts, session, changes).await {
            if error.status() >= 500 {
                return Err(error);
            }
            let problem = self.problem(parts, session, "details", error.message())?;
            return self.show_problem(parts, session, StatusCode::BAD_REQUEST, problem).await;
        }
        self.forget_email(parts, session).await?;
        Ok(self.to_profile(session, done::EMAIL))
    }

    /// Forgets an address that was not confirmed.
    pub(crate) async fn forget_email(
        &self,
        parts: &PrivateRequest,
        session: &UserSession,
    ) -> Result<(), svc_schema::Error> {
        let id = session.user.id;
        self.identities.site.write(&parts.cx, move |tx| mail::accounts::forget_email(tx, id)).await
    }

    /// Changes the password. All other sessions end, since cookies depend on the password; this browser gets new cookies.
    pub(crate) async fn change_password(&self, parts: &PrivateRequest, session: &UserSession, form: &Form) -> Page {
        let new = form.get("new_password");
        let refused = async |status: StatusCode, text: &str| {
            let problem = self.problem(parts, session, "password", text)?;
            self.show_problem(parts, session, status, problem).await
        };
        if let Some(fault) = password_fault(new, form.get("new_password_again")) {
            return refused(StatusCode::BAD_REQUEST, &fault).await;
        }
        if let Err(refusal) = self.check_current_password(parts, session, form.get("current_password")).await {
            let page = refused(refusal.status, &refusal.text).await?;
            return Ok(match refusal.retry_after {
                Some(seconds) => page.header(header::RETRY_AFTER, seconds),
                None => page,
            });
        }
        let changes = Map::from_iter([("password".to_owned(), Value::from(new))]);
        if let Err(error) = self.change_me(parts, session, changes).await {
            return if error.status() < 500 {
                refused(StatusCode::BAD_REQUEST, error.message()).await
            } else {
                Err(error)
            };
        }
        let cookies = self.restart_session(parts, session, new).await?;
        Ok(self.to_profile(session, done::PASSWORD).cookies(cookies))
    }

    /// Checks the password of a user who is logged in.
    pub(crate) async fn check_current_password(
        &self,
        parts: &PrivateRequest,
        session: &UserSession,
        typed: &str,
    ) -> Result<(), Refusal> {
        let user = &session.user;
        if let Err(wait) = self.attempts.at_form(parts.client, &user.login) {
            self.attempts.report_failed(parts.client, &user.login, LoginFailure::TooManyAttempts);
            return Err(Refusal::wait(StatusCode::TOO_MANY_REQUESTS, "Too many attempts.", seconds(wait)));
        }
        let hashing = &self.identities.site.password_hashing;
        match hashing.verify(Some(user.pass.clone()), Secret::new(typed)).await {
            Ok(true) => {
                // With a second factor, the password alone says nothing about who is at this network.
                if session.two_factor.is_none() {
                    self.attempts.form_succeeded(parts.client, &user.login);
                }
                Ok(())
            }
            Ok(false) => {
                self.attempts.report_failed(parts.client, &user.login, LoginFailure::WrongCurrentPassword);
                Err(Refusal::new(StatusCode::BAD_REQUEST, "The current password is wrong."))
            }
            Err(_) => Err(Refusal::wait(StatusCode::SERVICE_UNAVAILABLE, "The site is busy.", "5".to_owned())),
        }
    }

    pub(crate) async fn change_me(
        &self,
        parts: &PrivateRequest,
        session: &UserSession,
        changes: Map<String, Value>,
    ) -> crate::Data {
        self.call(session, parts, http::Method::POST, ME, Some(&Value::Object(changes))).await
    }

    /// Ends all sessions of the user and starts one with the new password, which is remembered like the current one.
    async fn restart_session(
        &self,
        parts: &PrivateRequest,
        session: &UserSession,
        password: &str,
    ) -> Result<Vec<String>, svc_schema::Error> {
        let (id, now) = (session.user.id, self.identities.now(&parts.cx));
        let (user, stored) = self
            .identities
            .site
            .read(&parts.cx, |db| Ok((users::get(db, id)?, meta::get(db, MetaKind::User, id.0, SESSIONS)?)))?;
        let user = user.ok_or_else(svc_site::errors::users::not_found)?;
        let sessions = stored.map(|value| Sessions::from_value(&value.json())).unwrap_or_default();
        let current = sessions.get(&session.token, now);
        let remembered = current.is_some_and(|s| s.login.is_some_and(|login| s.expiration - login > LIFETIME));
        let end = move |tx: &mut Tx| Ok(change_sessions(tx, id, Sessions::clear)?);
        self.identities.site.write(&parts.cx, end).await?;
        self.start_session(parts, user, Some(password), remembered, Factors::All).await
    }
}
