//! The forms of the profile page that change the user's name, email address and password.

use http::{StatusCode, header};
use serde_json::{Map, Value};
use svc_auth::{
    Secret,
    session::{LIFETIME, Sessions},
};
use svc_site::hashing;
use svc_store::{MetaKind, Tx, meta, users};

use crate::{
    LoginPages, Page, PrivateRequest, SESSIONS, UserSession,
    form::Form,
    log_in_out::change_sessions,
    profile::{Problem, done},
    rate_limit::LoginFailure,
};

/// Minimum length of a new password, in characters.
const MIN_PASSWORD: usize = 8;

/// Route of the user's own account.
const ME: &str = "users/me";

impl LoginPages {
    /// Changes name and email address. Unchanged fields are not written.
    pub(crate) async fn change_details(&self, parts: &PrivateRequest, session: &UserSession, form: &Form) -> Page {
        let (name, email) = (form.get("display_name").trim(), form.get("email").trim());
        let refused = async |text: &str| {
            let problem =
                Problem { form: "details", text: text.to_owned(), name: name.to_owned(), email: email.to_owned() };
            self.show_problem(parts, session, StatusCode::BAD_REQUEST, problem).await
        };
        let user = &session.user;
        let mut changes = Map::new();
        if name != session.display_name() {
            if name.is_empty() {
                return refused("The display name is required.").await;
            }
            changes.insert("name".to_owned(), name.into());
        }
        if email != user.email {
            if !svc_text::is_email(email) {
                return refused("The email address is not valid.").await;
            }
            changes.insert("email".to_owned(), email.into());
        }
        if !changes.is_empty()
            && let Err(error) = self.change_me(parts, session, changes).await
        {
            return if error.status() < 500 { refused(error.message()).await } else { Err(error) };
        }
        Ok(self.to_profile(session, done::DETAILS))
    }

    /// Changes the password. All other sessions end, since cookies depend on the password; this browser gets new cookies.
    pub(crate) async fn change_password(&self, parts: &PrivateRequest, session: &UserSession, form: &Form) -> Page {
        let (user, new) = (&session.user, form.get("new_password"));
        let refused = async |status: StatusCode, text: &str| {
            let problem = Problem { form: "password", text: text.to_owned(), ..Problem::of(session) };
            self.show_problem(parts, session, status, problem).await
        };
        if new != form.get("new_password_again") {
            return refused(StatusCode::BAD_REQUEST, "The two new passwords are different.").await;
        }
        if new.chars().count() < MIN_PASSWORD {
            let text = format!("The new password needs {MIN_PASSWORD} characters or more.");
            return refused(StatusCode::BAD_REQUEST, &text).await;
        }
        if new != new.trim() {
            // Verification ignores white space at the ends, as in WordPress.
            return refused(StatusCode::BAD_REQUEST, "The new password must not begin or end with a space.").await;
        }
        if let Err(wait) = self.attempts.at_form(parts.client, &user.login) {
            self.attempts.report_failed(parts.client, &user.login, LoginFailure::TooManyAttempts);
            let seconds = wait.as_secs().saturating_add(1).to_string();
            let text = format!("Too many attempts. Try again in {seconds} s.");
            let page = refused(StatusCode::TOO_MANY_REQUESTS, &text).await?;
            return Ok(page.header(header::RETRY_AFTER, seconds));
        }
        match hashing::verify(Some(user.pass.clone()), Secret::new(form.get("current_password"))).await {
            Ok(true) => self.attempts.form_succeeded(parts.client, &user.login),
            Ok(false) => {
                self.attempts.report_failed(parts.client, &user.login, LoginFailure::WrongCurrentPassword);
                return refused(StatusCode::BAD_REQUEST, "The current password is wrong.").await;
            }
            Err(_) => {
                let text = "The site is busy. Try again in a few seconds.";
                let page = refused(StatusCode::SERVICE_UNAVAILABLE, text).await?;
                return Ok(page.header(header::RETRY_AFTER, "5"));
            }
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

    async fn change_me(
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
        self.start_session(parts, user, password, remembered).await
    }
}
