//! The page on which a new site is set up, with the link that the server prints at its start.

use std::sync::Arc;

use askama::Template;
use axum::{
    extract::{Request, State},
    response::Response,
};
use http::{Method, StatusCode, header};
use svc_auth::Secret;
use svc_new_site::setup::{self, Answers};
use svc_site::{Settings, hashing::HashFailure};
use svc_store::Tx;

use crate::{
    LoginPages, Page, PrivateRequest,
    account::password_fault,
    form::{self, Form},
    respond,
    response::{CROSS_SITE, PrivateResponse},
    sessions::Factors,
    view::{self, Frame},
};

/// Maximum length of a user name, in characters.
const MAX_LOGIN: usize = 60;

/// Maximum length of a slug, in characters.
const MAX_SLUG: usize = 50;

/// Maximum length of a title and of an e-mail address, in characters.
const MAX_TEXT: usize = 100;

/// Beginnings of the names of time zones that the page offers.
const REGIONS: [&str; 10] = [
    "Africa/",
    "America/",
    "Antarctica/",
    "Arctic/",
    "Asia/",
    "Atlantic/",
    "Australia/",
    "Europe/",
    "Indian/",
    "Pacific/",
];

/// The form.
#[derive(Template)]
#[template(path = "account/set_up.html")]
struct SetUpPage {
    page: Frame,
    /// Error message; may be empty.
    error: String,
    action: String,
    key: String,
    title: String,
    zones: Vec<&'static str>,
    zone: String,
    login: String,
    email: String,
}

pub(crate) async fn handle(State(pages): State<Arc<LoginPages>>, request: Request) -> Response {
    let parts = PrivateRequest::of(&request, &pages);
    let page = match *request.method() {
        Method::GET | Method::HEAD => pages.show_set_up(&parts),
        Method::POST => match form::read(request).await {
            Ok(form) => pages.set_up(&parts, &form).await,
            Err(status) => Ok(view::message(&parts.cx, &pages, status, "Error", "The form is too large.")),
        },
        _ => {
            let text = "This method is not allowed. Submit the form.";
            let page = view::message(&parts.cx, &pages, StatusCode::METHOD_NOT_ALLOWED, "Error", text);
            Ok(page.header(header::ALLOW, "GET, HEAD, POST"))
        }
    };
    respond(&parts.cx, &pages, page)
}

impl LoginPages {
    fn show_set_up(&self, parts: &PrivateRequest) -> Page {
        let settings = self.identities.site.settings(&parts.cx)?;
        let key = parts.query.get("key");
        if let Some(refusal) = self.refuse_set_up(parts, &settings, key)? {
            return Ok(refusal);
        }
        let template = SetUpPage { zone: "UTC".to_owned(), ..self.set_up_page(&settings, &Form::default(), key, "") };
        Ok(PrivateResponse::html(StatusCode::OK, &template))
    }

    fn set_up_page(&self, settings: &Settings, form: &Form, key: &str, error: &str) -> SetUpPage {
        let named = chrono_tz::TZ_VARIANTS.iter().map(|zone| zone.name());
        let offered = named.filter(|name| REGIONS.iter().any(|region| name.starts_with(region)));
        SetUpPage {
            page: Frame::new(settings, "Set Up Your Site"),
            error: error.to_owned(),
            action: self.admin_url(settings, "install.php"),
            key: key.to_owned(),
            title: form.get("weblog_title").to_owned(),
            zones: std::iter::once("UTC").chain(offered).collect(),
            zone: form.get("timezone_string").to_owned(),
            login: form.get("user_name").to_owned(),
            email: form.get("admin_email").to_owned(),
        }
    }

    /// The page for a key that does not work.
    fn refuse_set_up(
        &self,
        parts: &PrivateRequest,
        settings: &Settings,
        key: &str,
    ) -> Result<Option<PrivateResponse>, svc_schema::Error> {
        let site = &self.identities.site;
        // The option is there as long as the set-up is possible: otherwise no request is worth a query.
        if settings.stored(setup::OPTION).is_some() {
            let now = self.identities.now(&parts.cx);
            if site.read(&parts.cx, |db| Ok(setup::is_open(db, key, now)?))? {
                return Ok(None);
            }
            // Whoever has no key tries none, and takes no attempt from those who ask for a new password.
            if !key.is_empty()
                && let Some(refusal) = self.count_wrong_key(parts)
            {
                return Ok(Some(refusal));
            }
        }
        let text = "This link does not work: the site is set up already, its first account is in use (log in with the password that the \
                    first start printed), or the link is older than an hour. While the site is new, each start of the server \
                    prints a new link.";
        Ok(Some(self.message(parts, StatusCode::FORBIDDEN, "Set Up Your Site", text)))
    }

    async fn set_up(&self, parts: &PrivateRequest, form: &Form) -> Page {
        let settings = self.identities.site.settings(&parts.cx)?;
        if parts.is_cross_site(&settings) {
            let text = "This form was submitted from another site.";
            return Ok(self.message(parts, StatusCode::FORBIDDEN, "Error", text).because(CROSS_SITE));
        }
        let key = form.get("key");
        if let Some(refusal) = self.refuse_set_up(parts, &settings, key)? {
            return Ok(refusal);
        }
        let rejected =
            |status, text: &str| Ok(PrivateResponse::html(status, &self.set_up_page(&settings, form, key, text)));
        let (mut answers, password) = match read_answers(form) {
            Ok(answers) => (answers, form.get("admin_password")),
            Err(text) => return rejected(StatusCode::BAD_REQUEST, &text),
        };
        answers.hash = match self.identities.site.password_hashing.hash(Secret::new(password)).await {
            Ok(hash) => hash,
            Err(HashFailure::TooLong) => {
                return rejected(StatusCode::BAD_REQUEST, "The password is too long.");
            }
            Err(_) => {
                return rejected(StatusCode::SERVICE_UNAVAILABLE, "The site is busy. Try again in a few seconds.");
            }
        };
        let (token, now) = (key.to_owned(), self.identities.now(&parts.cx));
        let complete = move |tx: &mut Tx| Ok(setup::complete(tx, &token, &answers, now)?);
        let Some(user) = self.identities.site.write(&parts.cx, complete).await? else {
            let text = "The site has been set up with another request in the meantime.";
            return Ok(self.message(parts, StatusCode::FORBIDDEN, "Set Up Your Site", text));
        };
        tracing::info!(client = %parts.client, user = user.login, "the site was set up");
        let cookies = self.start_session(parts, user, Some(password), false, Factors::Password).await?;
        Ok(PrivateResponse::redirect(&self.admin_url(&settings, "")).cookies(cookies))
    }
}

/// The answers in the form, without the hash of the password, or why they are rejected.
fn read_answers(form: &Form) -> Result<Answers, String> {
    let too_long = |text: &str, most: usize| text.chars().count() > most;
    let title = svc_text::trim(form.get("weblog_title"));
    if title.is_empty() || too_long(title, MAX_TEXT) {
        return Err(format!("The title is required, and has at most {MAX_TEXT} characters."));
    }
    let zone = form.get("timezone_string");
    if zone.parse::<chrono_tz::Tz>().is_err() {
        return Err("The time zone is not known.".to_owned());
    }
    let login = form.get("user_name").trim();
    if login.is_empty() || too_long(login, MAX_LOGIN) || login != svc_text::sanitize_user(login, true) {
        return Err("The user name is not valid: use the letters a to z, digits, spaces and _ . - @".to_owned());
    }
    let slug: String = svc_text::sanitize_title(login).chars().take(MAX_SLUG).collect();
    if slug.is_empty() {
        return Err("The user name needs a letter or a digit.".to_owned());
    }
    let email = form.get("admin_email").trim();
    if !svc_text::is_email(email) || too_long(email, MAX_TEXT) {
        return Err("The email address is not valid.".to_owned());
    }
    if let Some(fault) = password_fault(form.get("admin_password"), form.get("admin_password2")) {
        return Err(fault);
    }
    Ok(Answers {
        title: svc_text::esc_html(title).into_string(),
        time_zone: zone.to_owned(),
        login: login.to_owned(),
        slug,
        email: email.to_owned(),
        hash: String::new(),
    })
}
