//! The log-in page, and log-out.

use std::{sync::Arc, time::Duration};

use askama::Template;
use axum::{
    extract::{Request, State},
    response::Response,
};
use http::{Method, StatusCode, header};
use svc_auth::{
    Scheme, Secret, password,
    session::{LIFETIME, REMEMBERED_LIFETIME, Session, Sessions, new_token},
};
use svc_model::User;
use svc_site::{
    Settings,
    hashing::{self, HashFailure},
};
use svc_store::{MetaKind, StoredText, Tx, meta, users};

use crate::{
    LoginPages, LoginRequest, Page, SESSIONS,
    cookies::{self, Begun},
    form::{self, Form},
    identity::cookie_value,
    redirect, respond,
    response::LoginResponse,
    view::{self, Frame, Hidden, hidden},
};

/// What nonces of the log-out link are made for.
const LOG_OUT: &str = "log-out";

/// Longest browser name that is stored with a session, in bytes.
const AGENT_LENGTH: usize = 300;

/// The log-in form.
#[derive(Template)]
#[template(path = "account/login.html")]
struct LogInPage {
    page: Frame,
    /// What went wrong.
    error: &'static str,
    /// What went well.
    notice: &'static str,
    login: String,
    remember: bool,
    action: String,
    hidden: Vec<Hidden>,
}

/// Asks whether to log out.
#[derive(Template)]
#[template(path = "account/confirm.html")]
struct LogOutPage {
    page: Frame,
    action: String,
    hidden: Vec<Hidden>,
}

pub(crate) async fn answer(State(pages): State<Arc<LoginPages>>, request: Request) -> Response {
    let asked = LoginRequest::of(&request, &pages);
    let page = match *request.method() {
        Method::GET | Method::HEAD => pages.log_in_or_out(&asked, &asked.query).await,
        Method::POST => match form::read(request).await {
            Ok(form) => pages.posted(&asked, &form).await,
            Err(status) => Ok(view::message(&pages, status, "This did not work", "The form is too large.")),
        },
        _ => Ok(view::message(&pages, StatusCode::METHOD_NOT_ALLOWED, "This did not work", "Use the form.")
            .header(header::ALLOW, "GET, HEAD, POST")),
    };
    respond(&pages, page)
}

impl LoginPages {
    async fn log_in_or_out(&self, asked: &LoginRequest, given: &Form) -> Page {
        if given.get("action") == "logout" { self.log_out(asked, given).await } else { self.show_form(asked) }
    }

    async fn posted(&self, asked: &LoginRequest, form: &Form) -> Page {
        let settings = self.identities.site.settings()?;
        if asked.comes_from_elsewhere(&settings) {
            let text = "Another site sent this form. Sign in on this site's own page.";
            return Ok(view::message(self, StatusCode::FORBIDDEN, "Not from this site", text));
        }
        let action = [form.get("action"), asked.query.get("action")].into_iter().find(|a| !a.is_empty());
        match action {
            Some("logout") => self.log_out(asked, form).await,
            Some("postpass") => self.open_post(asked, form, &settings).await,
            _ => self.log_in(asked, form, &settings).await,
        }
    }

    fn show_form(&self, asked: &LoginRequest) -> Page {
        let settings = self.identities.site.settings()?;
        let notice = if asked.query.has("loggedout") { "You are logged out." } else { "" };
        Ok(self.form(StatusCode::OK, &settings, asked, &asked.query, "", notice))
    }

    fn form(
        &self,
        status: StatusCode,
        settings: &Settings,
        asked: &LoginRequest,
        given: &Form,
        error: &'static str,
        notice: &'static str,
    ) -> LoginResponse {
        let brand = &self.identities.site.brand;
        let title = if error.is_empty() { "Log in" } else { "Log in: it did not work" };
        let back = [given.get("redirect_to"), asked.query.get("redirect_to")].into_iter().find(|b| !b.is_empty());
        let back = back.map_or_else(|| self.admin_url(settings, ""), str::to_owned);
        let template = LogInPage {
            page: Frame::new(settings, title),
            error,
            notice,
            login: given.get("log").to_owned(),
            remember: !given.get("rememberme").is_empty(),
            action: self.login_url(settings),
            hidden: hidden(&[("redirect_to", &back), ("testcookie", "1")]),
        };
        LoginResponse::html(status, &template).cookies(vec![cookies::test(&brand.test_cookie(), settings, asked.tls)])
    }

    async fn log_in(&self, asked: &LoginRequest, form: &Form, settings: &Settings) -> Page {
        let refused = |status, error| Ok(self.form(status, settings, asked, form, error, ""));
        let (name, typed) = (form.get("log"), form.get("pwd"));
        // Programs that post the form at once have no cookie yet, and say nothing of a test.
        if form.has("testcookie") && cookie_value(&asked.headers, &self.identities.site.brand.test_cookie()).is_none() {
            return refused(StatusCode::OK, "Your browser refuses cookies. Allow them for this site, and try again.");
        }
        if name.trim().is_empty() || typed.is_empty() {
            return refused(StatusCode::OK, "Type both your name and your password.");
        }
        let name = svc_text::sanitize_user(name, false);
        if let Err(wait) = self.attempts.at_form(asked.client, &name) {
            let page = "Too many attempts. Wait a minute, and try again.";
            return refused(StatusCode::TOO_MANY_REQUESTS, page)
                .map(|p: LoginResponse| p.header(header::RETRY_AFTER, seconds(wait)));
        }
        let found = self.identities.site.read(|db| Ok(self.identities.by_name(db, &name)?))?;
        let stored = found.as_ref().map(|s| s.user.pass.clone());
        match hashing::verify(stored, Secret::new(typed)).await {
            Ok(true) => self.attempts.form_succeeded(asked.client, &name),
            Ok(false) => return refused(StatusCode::OK, "This name and this password do not belong together."),
            Err(HashFailure::Busy | HashFailure::TooLong | HashFailure::Unavailable) => {
                return refused(StatusCode::SERVICE_UNAVAILABLE, "The site is busy. Try again in some seconds.")
                    .map(|p: LoginResponse| p.header(header::RETRY_AFTER, "5"));
            }
        }
        let Some(user) = found.map(|s| s.user.clone()) else {
            return refused(StatusCode::OK, "There is no such user.");
        };
        let remembered = !form.get("rememberme").is_empty();
        let cookies = self.begin(asked, user, typed, remembered).await?;
        let sites = [settings.option("siteurl"), settings.option("home")];
        let back = redirect::on_site(form.get("redirect_to"), &sites);
        let to = back.unwrap_or_else(|| self.admin_url(settings, ""));
        Ok(LoginResponse::redirect(&to).cookies(cookies))
    }

    /// Begins a session; its cookies. A password hash that is out of date is made anew on this occasion.
    async fn begin(
        &self,
        asked: &LoginRequest,
        user: User,
        typed: &str,
        remembered: bool,
    ) -> Result<Vec<String>, svc_schema::Error> {
        let failed = |_| svc_schema::Error::new("log_in_failed", "The session could not be begun.").with_status(500);
        let token = new_token().map_err(failed)?;
        let now = self.identities.now();
        let expiration = now + if remembered { REMEMBERED_LIFETIME } else { LIFETIME };
        let agent = asked.headers.get(header::USER_AGENT).and_then(|v| v.to_str().ok()).unwrap_or_default();
        let session = Session {
            expiration,
            ip: Some(asked.client.to_string()),
            ua: Some(agent[..agent.floor_char_boundary(AGENT_LENGTH)].to_owned()),
            login: Some(now),
            ..Session::default()
        };
        let renewed = if password::needs_rehash(&user.pass) {
            // Without a new hash the old one serves on.
            hashing::hash(Secret::new(typed)).await.ok()
        } else {
            None
        };
        let (id, old, kept) = (user.id, user.pass.clone(), token.clone());
        let pass = self
            .identities
            .site
            .write(move |tx| {
                change_sessions(tx, id, |sessions| sessions.insert(kept.expose(), session.clone(), now))?;
                let Some(new) = &renewed else { return Ok(old.clone()) };
                match users::get(tx, id)? {
                    // Only if it is still the one that was checked.
                    Some(mut user) if user.pass == old => {
                        user.pass.clone_from(new);
                        users::update(tx, &user)?;
                        Ok(new.clone())
                    }
                    _ => Ok(old.clone()),
                }
            })
            .await?;
        let begun = Begun {
            login: &user.login,
            pass: &pass,
            token: token.expose(),
            now,
            expiration,
            remembered,
            tls: asked.tls,
        };
        let known = self.identities.site.read(|db| self.identities.known(db))?;
        Ok(cookies::begin(&self.identities.keys, &known, self.identities.site.brand.admin_path(), &begun))
    }

    async fn log_out(&self, asked: &LoginRequest, given: &Form) -> Page {
        let settings = self.identities.site.settings()?;
        let sites = [settings.option("siteurl"), settings.option("home")];
        let ended = redirect::with_query(&self.login_url(&settings), &[("loggedout", "true")]);
        let to = redirect::on_site(given.get("redirect_to"), &sites).unwrap_or(ended);
        let known = self.identities.site.read(|db| self.identities.known(db))?;
        let gone = cookies::end(&known, self.identities.site.brand.admin_path());
        let Some(who) = self.signed_in(asked, Scheme::LoggedIn)? else {
            return Ok(LoginResponse::redirect(&to).cookies(gone));
        };
        if !self.has_nonce(given, LOG_OUT, &who) {
            let nonce = self.identities.nonce(LOG_OUT, who.bearer());
            let field = self.nonce_field();
            let fields = [("action", "logout"), (&field, &nonce), ("redirect_to", given.get("redirect_to"))];
            let page = Frame::new(&settings, "Log out");
            let template = LogOutPage { page, action: self.login_url(&settings), hidden: hidden(&fields) };
            return Ok(LoginResponse::html(StatusCode::FORBIDDEN, &template));
        }
        let now = self.identities.now();
        let (id, token) = (who.user.id, who.token);
        let end = move |tx: &mut Tx| Ok(change_sessions(tx, id, |sessions| sessions.remove(&token, now))?);
        self.identities.site.write(end).await?;
        Ok(LoginResponse::redirect(&to).cookies(gone))
    }

    /// The address that logs this user out without asking again.
    pub(crate) fn log_out_url(&self, who: &crate::SignedIn) -> String {
        let nonce = self.identities.nonce(LOG_OUT, who.bearer());
        let field = self.nonce_field();
        redirect::with_query(&self.login_url(&who.settings), &[("action", "logout"), (&field, &nonce)])
    }
}

fn seconds(wait: Duration) -> String {
    wait.as_secs().saturating_add(1).to_string()
}

/// Changes a user's stored sessions.
pub(crate) fn change_sessions(
    tx: &mut Tx,
    user: svc_model::UserId,
    change: impl FnOnce(&mut Sessions),
) -> Result<(), svc_store::StoreError> {
    let stored = meta::get(tx, MetaKind::User, user.0, SESSIONS)?;
    let mut sessions = stored.map(|s| Sessions::from_value(&s.json())).unwrap_or_default();
    change(&mut sessions);
    match sessions.to_value() {
        Some(value) => meta::update(tx, MetaKind::User, user.0, SESSIONS, &StoredText::of(value)).map(drop),
        None => meta::delete(tx, MetaKind::User, user.0, SESSIONS, None).map(drop),
    }
}
