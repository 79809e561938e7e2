//! The account page: changes name, email address and password, lists application passwords and sessions, and revokes them.

use std::sync::Arc;

use askama::Template;
use axum::{
    extract::{Request, State},
    response::Response,
};
use chrono::DateTime;
use http::{Method, StatusCode};
use serde_json::Value;

use crate::{
    LoginPages, Page, PrivateRequest, SESSIONS, UserSession, browser,
    details::{Control, Details},
    form::{self, Form},
    redirect, respond,
    response::PrivateResponse,
    sessions::change_sessions,
    view::{self, Frame},
};
use svc_auth::session::{Session, Sessions};
use svc_site::{Site, mail, users::locales};
use svc_store::{MetaKind, meta};
use svc_versions::Context;

/// Nonce action of the forms.
const ACTION: &str = "account-access";

const PASSWORDS: &str = "users/me/application-passwords";

/// Values of the query parameter `done` after changes of the account.
pub(crate) mod done {
    pub(crate) const DETAILS: &str = "details";
    pub(crate) const PASSWORD: &str = "password";
    pub(crate) const EMAIL_WAITS: &str = "email-waits";
    pub(crate) const EMAIL: &str = "email";
    pub(crate) const TWO_FACTOR_OFF: &str = "two-factor-off";
}

/// Success messages by the value of the query parameter `done`.
const DONE: &[(&str, &str)] = &[
    (done::DETAILS, "Your account has been updated."),
    (done::PASSWORD, "Your password has been changed. All other sessions have been logged out."),
    (
        done::EMAIL_WAITS,
        "A mail with a link to confirm the new email address is on its way to it. Your account has been updated otherwise.",
    ),
    (done::EMAIL, "Your email address has been changed."),
    (done::TWO_FACTOR_OFF, "Two-factor log-in is off."),
    ("email-canceled", "The change of your email address has been canceled."),
    ("revoked", "The application password has been revoked."),
    ("all-revoked", "All application passwords have been revoked."),
    ("ended", "The session has been logged out."),
    ("others-ended", "All other sessions have been logged out."),
];

/// Why a form of the page was rejected, with what the user typed.
pub(crate) struct Problem {
    /// `details` or `password`; empty if nothing was rejected.
    pub(crate) form: &'static str,
    pub(crate) text: String,
    pub(crate) details: Details,
}

/// An application password in the list.
struct PasswordRow {
    uuid: String,
    name: String,
    created: String,
    /// The day of its last use, and the IP address; `None` if it was never used.
    used: Option<(String, String)>,
}

/// A session in the list.
struct SessionRow {
    verifier: String,
    /// Whether it is the session of this request.
    current: bool,
    browser: String,
    address: String,
    since: String,
    until: String,
}

/// An e-mail address that is not confirmed yet.
struct WaitingEmail {
    address: String,
    /// The text that confirms it, if the user has opened the link; otherwise empty.
    confirmation: String,
}

#[derive(Template)]
#[template(path = "account/profile.html")]
struct ProfilePage {
    page: Frame,
    notice: &'static str,
    login: String,
    problem: Problem,
    waiting_email: Option<WaitingEmail>,
    /// Languages that the user may choose: locales and their names.
    languages: Vec<(String, String)>,
    /// URL of the page for two-factor log-in, and whether it is on.
    two_factor: (String, bool),
    /// Whether application passwords are available.
    available: bool,
    passwords: Vec<PasswordRow>,
    sessions: Vec<SessionRow>,
    action: String,
    authorize: String,
    explorer: Option<String>,
    /// URL of the dashboard; empty if the site has no administration area.
    dashboard: String,
    nonce_field: String,
    nonce: String,
}

pub(crate) async fn handle(State(pages): State<Arc<LoginPages>>, request: Request) -> Response {
    let parts = PrivateRequest::of(&request, &pages);
    let page = pages.profile(&parts, request).await;
    respond(&parts.cx, &pages, page)
}

impl LoginPages {
    async fn profile(&self, parts: &PrivateRequest, request: Request) -> Page {
        let settings = self.identities.site.settings(&parts.cx)?;
        let Some(session) = self.session(parts, parts.admin_scheme())? else {
            return Ok(self.to_login(parts, &settings));
        };
        if matches!(*request.method(), Method::GET | Method::HEAD) {
            let problem = self.problem(parts, &session, "", "")?;
            return self.show_problem(parts, &session, StatusCode::OK, problem).await;
        }
        match self.submitted(parts, request, &session, ACTION, form::MAX_SIZE).await {
            Ok(form) => self.change(parts, &session, &form).await,
            Err(page) => Ok(page),
        }
    }

    /// A problem of a form that has the stored values.
    pub(crate) fn problem(
        &self,
        parts: &PrivateRequest,
        session: &UserSession,
        form: &'static str,
        text: &str,
    ) -> Result<Problem, svc_schema::Error> {
        Ok(Problem { form, text: text.to_owned(), details: self.details(parts, session)? })
    }

    /// The page, with the rejected form if there is one.
    pub(crate) async fn show_problem(
        &self,
        parts: &PrivateRequest,
        session: &UserSession,
        status: StatusCode,
        problem: Problem,
    ) -> Page {
        let done = if problem.form.is_empty() { parts.query.get("done") } else { "" };
        let passwords = if self.has_passwords(parts) {
            let list = self.call(session, parts, Method::GET, PASSWORDS, None).await?;
            list.as_array().into_iter().flatten().map(password_row).collect()
        } else {
            Vec::new()
        };
        let sent = parts.query.get("newuseremail");
        let waiting = self.identities.site.read(&parts.cx, |db| mail::accounts::waiting_email(db, session.user.id))?;
        let waiting_email = waiting.map(|(address, confirmation)| WaitingEmail {
            address,
            confirmation: if confirmation == sent { confirmation } else { String::new() },
        });
        let mut page = Frame::new(&session.settings, "Profile");
        page.account = Some((session.display_name(), self.log_out_url(parts, session)));
        let template = ProfilePage {
            page,
            notice: DONE.iter().find(|(value, _)| *value == done).map_or("", |(_, text)| text),
            login: session.user.login.clone(),
            languages: languages_with(problem.details.language(), &parts.cx, &self.identities.site),
            problem,
            waiting_email,
            two_factor: (self.two_factor_url(&session.settings, ""), session.two_factor.is_some()),
            available: self.has_passwords(parts),
            passwords,
            sessions: self.sessions(parts, session)?,
            action: self.admin_url(&session.settings, "profile.php"),
            explorer: self.explorer.clone(),
            dashboard: if self.admin { self.admin_url(&session.settings, "") } else { String::new() },
            authorize: self.admin_url(&session.settings, "authorize-application.php"),
            nonce_field: self.nonce_field(),
            nonce: self.identities.nonce(&parts.cx, ACTION, session.nonce_subject()),
        };
        Ok(PrivateResponse::html(status, &template))
    }

    /// A redirect to the page, which then shows a message of [`DONE`].
    pub(crate) fn to_profile(&self, session: &UserSession, done: &str) -> PrivateResponse {
        let profile = self.admin_url(&session.settings, "profile.php");
        PrivateResponse::redirect(&redirect::with_query(&profile, &[("done", done)]))
    }

    fn sessions(&self, parts: &PrivateRequest, session: &UserSession) -> Result<Vec<SessionRow>, svc_schema::Error> {
        let stored = self
            .identities
            .site
            .read(&parts.cx, |db| Ok(meta::load_one(db, MetaKind::User, session.user.id.0)?))?
            .first(SESSIONS)
            .map(|s| Sessions::from_value(&s.json()))
            .unwrap_or_default();
        let own = svc_auth::session::verifier(&session.token);
        let row = |(verifier, session): (&str, &Session)| SessionRow {
            current: verifier == own,
            browser: browser::name(session.ua.as_deref().unwrap_or_default()),
            address: session.ip.clone().unwrap_or_default(),
            since: session.login.map(day).unwrap_or_default(),
            until: day(session.expiration),
            verifier: verifier.to_owned(),
        };
        Ok(stored.active(self.identities.now(&parts.cx)).map(row).collect())
    }

    async fn change(&self, parts: &PrivateRequest, session: &UserSession, form: &Form) -> Page {
        let done = match form.get("action") {
            "details" => return self.change_details(parts, session, form).await,
            "password" => return self.change_password(parts, session, form).await,
            "confirm-email" => return self.confirm_email(parts, session, form).await,
            "cancel-email" => {
                self.forget_email(parts, session).await?;
                "email-canceled"
            }
            "revoke" => {
                // The UUID becomes part of a route.
                let uuid: String = form.get("uuid").chars().filter(|c| c.is_ascii_hexdigit() || *c == '-').collect();
                self.call(session, parts, Method::DELETE, &format!("{PASSWORDS}/{uuid}"), None).await?;
                "revoked"
            }
            "revoke-all" => {
                self.call(session, parts, Method::DELETE, PASSWORDS, None).await?;
                "all-revoked"
            }
            "end-session" => {
                let (id, verifier) = (session.user.id, form.get("session").to_owned());
                let end = move |tx: &mut svc_store::Tx| {
                    Ok(change_sessions(tx, id, |sessions| {
                        sessions.remove_verifier(&verifier);
                    })?)
                };
                self.identities.site.write(&parts.cx, end).await?;
                "ended"
            }
            "end-others" => {
                let (id, token, now) = (session.user.id, session.token.clone(), self.identities.now(&parts.cx));
                let end = move |tx: &mut svc_store::Tx| {
                    Ok(change_sessions(tx, id, |sessions| sessions.remove_others(&token, now))?)
                };
                self.identities.site.write(&parts.cx, end).await?;
                "others-ended"
            }
            _ => {
                return Ok(view::message(&parts.cx, self, StatusCode::BAD_REQUEST, "Error", "The action is unknown."));
            }
        };
        Ok(self.to_profile(session, done))
    }
}

fn password_row(record: &Value) -> PasswordRow {
    let text = |name: &str| record[name].as_str().unwrap_or_default();
    let date = |name: &str| text(name).split('T').next().unwrap_or_default().to_owned();
    let used = Some((date("last_used"), text("last_ip").to_owned())).filter(|(day, _)| !day.is_empty());
    PasswordRow { uuid: text("uuid").to_owned(), name: text("name").to_owned(), created: date("created"), used }
}

/// A date in UTC.
fn day(seconds: i64) -> String {
    DateTime::from_timestamp(seconds, 0).map(|d| d.format("%Y-%m-%d").to_string()).unwrap_or_default()
}

/// The languages that a user may choose, and the stored one, which a WordPress with its translation may have set.
fn languages_with(stored: &str, cx: &Context, site: &Site) -> Vec<(String, String)> {
    let mut languages = locales::choices(cx, site);
    if !languages.iter().any(|(locale, _)| locale == stored) {
        languages.push((stored.to_owned(), stored.to_owned()));
    }
    languages
}
