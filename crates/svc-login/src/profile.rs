//! The page on which a user sees what has access to the account, and ends it.

use std::sync::Arc;

use askama::Template;
use axum::{
    extract::{Request, State},
    response::Response,
};
use chrono::DateTime;
use http::{Method, StatusCode, header};
use serde_json::Value;

use crate::{
    LoginPages, LoginRequest, Page, SESSIONS, SignedIn,
    form::{self, Form},
    log_in_out::change_sessions,
    redirect, respond,
    response::LoginResponse,
    view::{self, Frame},
};
use svc_auth::session::{Session, Sessions};
use svc_store::{MetaKind, meta};

/// What nonces of the forms are made for.
const ACTION: &str = "account-access";

const PASSWORDS: &str = "users/me/application-passwords";

/// What was done, by the word in the address, and how it is told.
const DONE: &[(&str, &str)] = &[
    ("revoked", "The application password no longer works."),
    ("all-revoked", "None of your application passwords works any more."),
    ("ended", "The session has ended."),
    ("others-ended", "All other sessions have ended."),
];

/// An application password as the page shows it.
struct PasswordRow {
    uuid: String,
    name: String,
    created: String,
    used: String,
}

/// A session as the page shows it.
struct SessionRow {
    verifier: String,
    /// The one that shows the page.
    current: bool,
    browser: String,
    address: String,
    since: String,
    until: String,
}

#[derive(Template)]
#[template(path = "account/profile.html")]
struct ProfilePage {
    page: Frame,
    notice: &'static str,
    name: String,
    login: String,
    email: String,
    /// Application passwords can be used.
    available: bool,
    passwords: Vec<PasswordRow>,
    sessions: Vec<SessionRow>,
    action: String,
    authorize: String,
    nonce_field: String,
    nonce: String,
}

pub(crate) async fn answer(State(pages): State<Arc<LoginPages>>, request: Request) -> Response {
    let asked = LoginRequest::of(&request, &pages);
    let page = pages.profile(&asked, request).await;
    respond(&pages, page)
}

impl LoginPages {
    async fn profile(&self, asked: &LoginRequest, request: Request) -> Page {
        let settings = self.identities.site.settings()?;
        let Some(who) = self.signed_in(asked, asked.admin_scheme())? else {
            return Ok(self.to_login(asked, &settings));
        };
        match *request.method() {
            Method::GET | Method::HEAD => self.show_profile(asked, &who).await,
            Method::POST => match form::read(request).await {
                Ok(form) if self.has_nonce(&form, ACTION, &who) && !asked.comes_from_elsewhere(&settings) => {
                    self.change(asked, &who, &form).await
                }
                Ok(_) => {
                    let text = "This form is out of date. Go back, reload the page, and try again.";
                    Ok(view::message(self, StatusCode::FORBIDDEN, "This did not work", text))
                }
                Err(status) => Ok(view::message(self, status, "This did not work", "The form is too large.")),
            },
            _ => Ok(view::message(self, StatusCode::METHOD_NOT_ALLOWED, "This did not work", "Use the forms.")
                .header(header::ALLOW, "GET, HEAD, POST")),
        }
    }

    async fn show_profile(&self, asked: &LoginRequest, who: &SignedIn) -> Page {
        let done = asked.query.get("done");
        let passwords = if self.passwords_available {
            let list = self.call(who, asked.client, Method::GET, PASSWORDS, None).await?;
            list.as_array().into_iter().flatten().map(password_row).collect()
        } else {
            Vec::new()
        };
        let mut page = Frame::new(&who.settings, "Your account");
        page.account = Some((who.user.display_name.clone(), self.log_out_url(who)));
        let template = ProfilePage {
            page,
            notice: DONE.iter().find(|(word, _)| *word == done).map_or("", |(_, text)| text),
            name: who.user.display_name.clone(),
            login: who.user.login.clone(),
            email: who.user.email.clone(),
            available: self.passwords_available,
            passwords,
            sessions: self.sessions(who)?,
            action: self.admin_url(&who.settings, "profile.php"),
            authorize: self.admin_url(&who.settings, "authorize-application.php"),
            nonce_field: self.nonce_field(),
            nonce: self.identities.nonce(ACTION, who.bearer()),
        };
        Ok(LoginResponse::html(StatusCode::OK, &template))
    }

    fn sessions(&self, who: &SignedIn) -> Result<Vec<SessionRow>, svc_schema::Error> {
        let stored = self
            .identities
            .site
            .read(|db| Ok(meta::get(db, MetaKind::User, who.user.id.0, SESSIONS)?))?
            .map(|s| Sessions::from_value(&s.json()))
            .unwrap_or_default();
        let own = svc_auth::session::verifier(&who.token);
        let row = |(verifier, session): (&str, &Session)| SessionRow {
            current: verifier == own,
            browser: session.ua.as_deref().filter(|ua| !ua.is_empty()).unwrap_or("an unknown browser").to_owned(),
            address: session.ip.clone().unwrap_or_default(),
            since: session.login.map(day).unwrap_or_default(),
            until: day(session.expiration),
            verifier: verifier.to_owned(),
        };
        Ok(stored.live(self.identities.now()).map(row).collect())
    }

    async fn change(&self, asked: &LoginRequest, who: &SignedIn, form: &Form) -> Page {
        let done = match form.get("action") {
            "revoke" => {
                // What the route takes for a name is all that a UUID can be.
                let uuid: String = form.get("uuid").chars().filter(|c| c.is_ascii_hexdigit() || *c == '-').collect();
                self.call(who, asked.client, Method::DELETE, &format!("{PASSWORDS}/{uuid}"), None).await?;
                "revoked"
            }
            "revoke-all" => {
                self.call(who, asked.client, Method::DELETE, PASSWORDS, None).await?;
                "all-revoked"
            }
            "end-session" => {
                let (id, verifier) = (who.user.id, form.get("session").to_owned());
                let end = move |tx: &mut svc_store::Tx| {
                    Ok(change_sessions(tx, id, |sessions| {
                        sessions.remove_verifier(&verifier);
                    })?)
                };
                self.identities.site.write(end).await?;
                "ended"
            }
            "end-others" => {
                let (id, token, now) = (who.user.id, who.token.clone(), self.identities.now());
                let end = move |tx: &mut svc_store::Tx| {
                    Ok(change_sessions(tx, id, |sessions| sessions.remove_others(&token, now))?)
                };
                self.identities.site.write(end).await?;
                "others-ended"
            }
            _ => {
                return Ok(view::message(
                    self,
                    StatusCode::BAD_REQUEST,
                    "This did not work",
                    "There is no such change.",
                ));
            }
        };
        let profile = self.admin_url(&who.settings, "profile.php");
        Ok(LoginResponse::redirect(&redirect::with_query(&profile, &[("done", done)])))
    }
}

fn password_row(record: &Value) -> PasswordRow {
    let text = |name: &str| record[name].as_str().unwrap_or_default();
    let date = |name: &str| text(name).split('T').next().unwrap_or_default().to_owned();
    let used = match (date("last_used"), text("last_ip")) {
        (day, _) if day.is_empty() => "never used".to_owned(),
        (day, "") => format!("last used on {day}"),
        (day, ip) => format!("last used on {day} from {ip}"),
    };
    PasswordRow { uuid: text("uuid").to_owned(), name: text("name").to_owned(), created: date("created"), used }
}

/// A day, in UTC.
fn day(seconds: i64) -> String {
    DateTime::from_timestamp(seconds, 0).map(|d| d.format("%Y-%m-%d").to_string()).unwrap_or_default()
}
