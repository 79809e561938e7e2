//! The page on which users turn two-factor log-in on and off, and how codes are used.

use std::sync::Arc;

use askama::Template;
use axum::{
    extract::{Request, State},
    response::Response,
};
use chrono::DateTime;
use http::{Method, StatusCode, header};
use svc_auth::{
    RandomSourceError, Secret,
    two_factor::{Accepted, AppSecret, META_KEY, TwoFactor, read_set_up, set_up_text},
};
use svc_model::User;
use svc_schema::Error;
use svc_site::{
    Settings, Site, SiteResult,
    mail::accounts::{TwoFactorEvent, two_factor as tell},
};
use svc_store::{MetaKind, StoredText, Tx, meta};

use crate::{
    LoginPages, Page, PrivateRequest, UserSession,
    account::Refusal,
    form::{self, Form},
    profile::done,
    qr,
    rate_limit::{LoginFailure, seconds},
    redirect, respond,
    response::PrivateResponse,
    sessions::change_sessions,
    view::{self, Frame},
};

/// Name of the page in the administration area.
pub(crate) const PAGE: &str = "two-factor.php";

/// Nonce action of the forms.
const ACTION: &str = "two-factor";

/// Message after a wrong code on the page.
const WRONG: &str = "The code is wrong, or was used before.";

/// A secret that is offered to the user.
struct Offer {
    /// The QR code; `None` if the names are too long for one.
    svg: Option<String>,
    /// The secret in groups of four characters.
    secret: String,
    /// The secret for the form, encrypted.
    sealed: String,
}

#[derive(Template)]
#[template(path = "account/two_factor.html")]
struct TwoFactorPage {
    page: Frame,
    /// Error message; may be empty.
    error: String,
    /// Whether the user can do nothing else before it is on.
    required: bool,
    /// What is offered to set it up; `None` if it is on.
    offer: Option<Offer>,
    /// Since when it is on.
    since: String,
    n_codes: usize,
    action: String,
    redirect_to: String,
    profile: String,
    nonce_field: String,
    nonce: String,
}

/// The page with new recovery codes.
#[derive(Template)]
#[template(path = "account/recovery_codes.html")]
struct RecoveryCodesPage {
    page: Frame,
    codes: Vec<String>,
    /// Whether two-factor log-in has just been turned on.
    is_on: bool,
    next: String,
}

pub(crate) async fn handle(State(pages): State<Arc<LoginPages>>, request: Request) -> Response {
    let parts = PrivateRequest::of(&request, &pages);
    let page = pages.two_factor(&parts, request).await;
    respond(&parts.cx, &pages, page)
}

fn no_random(_: RandomSourceError) -> Error {
    Error::new("two_factor_failed", "The server has no random numbers at the moment. Try again.").with_status(503)
}

/// Reads the second factor of a user.
fn stored(tx: &mut Tx, user: &User) -> SiteResult<Option<TwoFactor>> {
    let stored = meta::get(tx, MetaKind::User, user.id.0, META_KEY)?;
    Ok(stored.map(|stored| TwoFactor::from_value(&stored.json())))
}

fn store(tx: &mut Tx, user: &User, two_factor: &TwoFactor) -> SiteResult<()> {
    meta::update(tx, MetaKind::User, user.id.0, META_KEY, &StoredText::of(two_factor.to_value()))?;
    Ok(())
}

/// Turns two-factor log-in off without a code, and tells the user. Returns whether it was on.
///
/// # Errors
/// Errors of the store.
pub fn turn_off(tx: &mut Tx, site: &Site, settings: &Settings, user: &User) -> SiteResult<bool> {
    let was_on = meta::delete(tx, MetaKind::User, user.id.0, META_KEY, None)? > 0;
    if was_on {
        tell(tx, site, settings, user, TwoFactorEvent::Off)?;
    }
    Ok(was_on)
}

/// Uses a code of a user for the log-in. `None` if it is wrong. The user is told about a recovery code.
pub(crate) async fn accept(
    pages: &LoginPages,
    parts: &PrivateRequest,
    settings: &Arc<Settings>,
    user: &User,
    code: Secret,
) -> Result<Option<Accepted>, Error> {
    let (site, settings, user) = (Arc::clone(&pages.identities.site), Arc::clone(settings), user.clone());
    let (keys, now) = (pages.identities.keys.clone(), pages.identities.now(&parts.cx));
    let accept = move |tx: &mut Tx| {
        let Some(mut two_factor) = stored(tx, &user)? else { return Ok(None) };
        let accepted = two_factor.accept(&keys, user.id, code.expose(), now);
        if accepted.is_some() {
            store(tx, &user, &two_factor)?;
        }
        if accepted == Some(Accepted::Recovery) {
            tell(tx, &site, &settings, &user, TwoFactorEvent::RecoveryCode(two_factor.n_recovery_codes()))?;
        }
        Ok(accepted)
    };
    pages.identities.site.write(&parts.cx, accept).await
}

impl LoginPages {
    /// URL of the page, which then leads to `redirect_to`.
    pub(crate) fn two_factor_url(&self, settings: &Settings, redirect_to: &str) -> String {
        let url = self.admin_url(settings, PAGE);
        if redirect_to.is_empty() { url } else { redirect::with_query(&url, &[("redirect_to", redirect_to)]) }
    }

    async fn two_factor(&self, parts: &PrivateRequest, request: Request) -> Page {
        let settings = self.identities.site.settings(&parts.cx)?;
        let Some(session) = self.any_session(parts, parts.admin_scheme())? else {
            return Ok(self.to_login(parts, &settings));
        };
        parts.cx.set_caller(session.user.id.0);
        if matches!(*request.method(), Method::GET | Method::HEAD) {
            let back = parts.query.get("redirect_to");
            return self.two_factor_page(parts, &session, StatusCode::OK, back, None, String::new());
        }
        let form = match self.submitted(parts, request, &session, ACTION, form::MAX_SIZE).await {
            Ok(form) => form,
            Err(page) => return Ok(page),
        };
        match form.get("action") {
            "turn-on" => self.turn_two_factor_on(parts, &session, &form).await,
            "new-codes" => self.renew_recovery_codes(parts, &session, &form).await,
            "turn-off" => self.turn_two_factor_off(parts, &session, &form).await,
            _ => Ok(view::message(&parts.cx, self, StatusCode::BAD_REQUEST, "Error", "The action is unknown.")),
        }
    }

    /// The page. `offered` is the encrypted secret of a form that was rejected: the app has it already.
    fn two_factor_page(
        &self,
        parts: &PrivateRequest,
        session: &UserSession,
        status: StatusCode,
        redirect_to: &str,
        offered: Option<&str>,
        error: String,
    ) -> Page {
        let settings = &session.settings;
        let mut page = Frame::new(settings, "Two-Factor Log-In");
        page.account = Some((session.display_name(), self.log_out_url(parts, session)));
        let since = session.two_factor.as_ref().and_then(|state| DateTime::from_timestamp(state.since, 0));
        let template = TwoFactorPage {
            page,
            error,
            required: session.must_set_up,
            offer: if session.two_factor.is_none() { Some(self.offer(parts, session, offered)?) } else { None },
            since: since.map(|at| at.format("%Y-%m-%d").to_string()).unwrap_or_default(),
            n_codes: session.two_factor.as_ref().map_or(0, TwoFactor::n_recovery_codes),
            action: self.admin_url(settings, PAGE),
            redirect_to: redirect::on_site(redirect_to, settings).unwrap_or_default(),
            profile: self.admin_url(settings, "profile.php"),
            nonce_field: self.nonce_field(),
            nonce: self.identities.nonce(&parts.cx, ACTION, session.nonce_subject()),
        };
        Ok(PrivateResponse::html(status, &template))
    }

    fn offer(&self, parts: &PrivateRequest, session: &UserSession, offered: Option<&str>) -> Result<Offer, Error> {
        let (keys, now) = (&self.identities.keys, self.identities.now(&parts.cx));
        let (id, token) = (session.user.id, session.token.as_str());
        let again = offered.and_then(|text| Some((read_set_up(keys, id, token, text, now)?, text.to_owned())));
        let (secret, sealed) = match again {
            Some(again) => again,
            None => {
                let secret = AppSecret::generate().map_err(no_random)?;
                let sealed = set_up_text(keys, id, token, &secret, now).map_err(no_random)?;
                (secret, sealed)
            }
        };
        let text = secret.text();
        let groups: Vec<&str> =
            text.expose().as_bytes().chunks(4).filter_map(|g| std::str::from_utf8(g).ok()).collect();
        let svg = qr::svg(&app_uri(session, text.expose()));
        Ok(Offer { svg, secret: groups.join(" "), sealed })
    }

    /// Checks the password of a form, and counts its code as an attempt.
    async fn check_two_factor_form(
        &self,
        parts: &PrivateRequest,
        session: &UserSession,
        form: &Form,
    ) -> Result<(), Refusal> {
        self.check_current_password(parts, session, form.get("current_password")).await?;
        self.attempts.at_code(parts.client, &session.user.login).map_err(|wait| {
            self.attempts.report_failed(parts.client, &session.user.login, LoginFailure::TooManyAttempts);
            Refusal::wait(StatusCode::TOO_MANY_REQUESTS, "Too many attempts.", seconds(wait))
        })
    }

    /// The page after a form was rejected.
    fn refuse_two_factor(&self, parts: &PrivateRequest, session: &UserSession, form: &Form, refusal: Refusal) -> Page {
        let (back, offered) = (form.get("redirect_to"), form.get("offer"));
        let page = self.two_factor_page(parts, session, refusal.status, back, Some(offered), refusal.text)?;
        Ok(match refusal.retry_after {
            Some(seconds) => page.header(header::RETRY_AFTER, seconds),
            None => page,
        })
    }

    fn wrong_code(&self, parts: &PrivateRequest, session: &UserSession, form: &Form) -> Page {
        self.attempts.report_failed(parts.client, &session.user.login, LoginFailure::WrongCode);
        self.refuse_two_factor(parts, session, form, Refusal::new(StatusCode::BAD_REQUEST, WRONG))
    }

    async fn turn_two_factor_on(&self, parts: &PrivateRequest, session: &UserSession, form: &Form) -> Page {
        if let Err(refusal) = self.check_two_factor_form(parts, session, form).await {
            return self.refuse_two_factor(parts, session, form, refusal);
        }
        let (keys, now, user) = (&self.identities.keys, self.identities.now(&parts.cx), session.user.clone());
        let Some(secret) = read_set_up(keys, user.id, &session.token, form.get("offer"), now) else {
            let text = "This form has expired. Scan the new code with the app.";
            return self.refuse_two_factor(parts, session, form, Refusal::new(StatusCode::BAD_REQUEST, text));
        };
        let on = TwoFactor::turn_on(keys, user.id, &secret, form.get("code"), now).map_err(no_random)?;
        let Some((two_factor, codes)) = on else { return self.wrong_code(parts, session, form) };
        let (site, settings) = (Arc::clone(&self.identities.site), Arc::clone(&session.settings));
        let (token, login) = (session.token.clone(), user.login.clone());
        let turn_on = move |tx: &mut Tx| {
            if stored(tx, &user)?.is_some() {
                return Ok(false);
            }
            store(tx, &user, &two_factor)?;
            change_sessions(tx, user.id, |sessions| sessions.remove_others(&token, now))?;
            tell(tx, &site, &settings, &user, TwoFactorEvent::On)?;
            Ok(true)
        };
        if !self.identities.site.write(&parts.cx, turn_on).await? {
            let text = "Two-factor log-in has been turned on in the meantime.";
            return Ok(self.message(parts, StatusCode::CONFLICT, "Two-Factor Log-In", text));
        }
        tracing::info!(client = %parts.client, user = login, "a user has turned two-factor log-in on");
        Ok(self.recovery_codes_page(parts, session, form, codes, true))
    }

    fn recovery_codes_page(
        &self,
        parts: &PrivateRequest,
        session: &UserSession,
        form: &Form,
        codes: Vec<Secret>,
        is_on: bool,
    ) -> PrivateResponse {
        let mut page = Frame::new(&session.settings, "Recovery Codes");
        page.account = Some((session.display_name(), self.log_out_url(parts, session)));
        let back = redirect::on_site(form.get("redirect_to"), &session.settings);
        let template = RecoveryCodesPage {
            page,
            codes: codes.iter().map(|code| code.expose().to_owned()).collect(),
            is_on,
            next: back.unwrap_or_else(|| self.admin_url(&session.settings, "profile.php")),
        };
        PrivateResponse::html(StatusCode::OK, &template)
    }

    async fn renew_recovery_codes(&self, parts: &PrivateRequest, session: &UserSession, form: &Form) -> Page {
        if let Err(refusal) = self.check_two_factor_form(parts, session, form).await {
            return self.refuse_two_factor(parts, session, form, refusal);
        }
        let (site, settings) = (Arc::clone(&self.identities.site), Arc::clone(&session.settings));
        let (user, code) = (session.user.clone(), Secret::new(form.get("code")));
        let (keys, now) = (self.identities.keys.clone(), self.identities.now(&parts.cx));
        let renew = move |tx: &mut Tx| {
            let Some(mut two_factor) = stored(tx, &user)? else { return Ok(None) };
            if two_factor.accept(&keys, user.id, code.expose(), now).is_none() {
                return Ok(None);
            }
            let codes = two_factor.renew_recovery_codes(user.id).map_err(no_random)?;
            store(tx, &user, &two_factor)?;
            tell(tx, &site, &settings, &user, TwoFactorEvent::NewCodes)?;
            Ok(Some(codes))
        };
        match self.identities.site.write(&parts.cx, renew).await? {
            Some(codes) => Ok(self.recovery_codes_page(parts, session, form, codes, false)),
            None => self.wrong_code(parts, session, form),
        }
    }

    async fn turn_two_factor_off(&self, parts: &PrivateRequest, session: &UserSession, form: &Form) -> Page {
        if let Err(refusal) = self.check_two_factor_form(parts, session, form).await {
            return self.refuse_two_factor(parts, session, form, refusal);
        }
        let (site, settings) = (Arc::clone(&self.identities.site), Arc::clone(&session.settings));
        let (user, code) = (session.user.clone(), Secret::new(form.get("code")));
        let (keys, now) = (self.identities.keys.clone(), self.identities.now(&parts.cx));
        let off = move |tx: &mut Tx| {
            let Some(mut two_factor) = stored(tx, &user)? else { return Ok(false) };
            match two_factor.accept(&keys, user.id, code.expose(), now) {
                Some(_) => turn_off(tx, &site, &settings, &user),
                None => Ok(false),
            }
        };
        if !self.identities.site.write(&parts.cx, off).await? {
            return self.wrong_code(parts, session, form);
        }
        tracing::info!(client = %parts.client, user = session.user.login, "a user has turned two-factor log-in off");
        Ok(self.to_profile(session, done::TWO_FACTOR_OFF))
    }
}

/// The URI that an app reads from the QR code.
/// Source: <https://github.com/google/google-authenticator/wiki/Key-Uri-Format>.
fn app_uri(session: &UserSession, secret: &str) -> String {
    let settings = &session.settings;
    let home = settings.urls.site.home_url("");
    let host = home.split_once("://").map_or(home.as_str(), |(_, rest)| rest);
    let encode =
        |text: &str| percent_encoding::utf8_percent_encode(text, percent_encoding::NON_ALPHANUMERIC).to_string();
    // A colon separates the two names.
    let (issuer, login) = (encode(&host.replace(':', " ")), encode(&session.user.login.replace(':', " ")));
    format!("otpauth://totp/{issuer}:{login}?secret={secret}&issuer={issuer}&algorithm=SHA1&digits=6&period=30")
}
