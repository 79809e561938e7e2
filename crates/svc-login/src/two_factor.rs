//! The page on which users turn two-factor log-in on and off, with an app or passkeys, and how codes are used.

use std::sync::Arc;

use askama::Template;
use axum::{
    extract::{Request, State},
    response::Response,
};
use chrono::DateTime;
use http::{Method, StatusCode, header};
use serde_json::{Value, json};
use svc_auth::{
    RandomSourceError, Secret,
    passkey::{MAX_NAME, NewPasskey, Passkey, PasskeyFault, Passkeys, Purpose},
    two_factor::{Accepted, AppSecret, META_KEY, TwoFactor, read_set_up, set_up_text},
};
use svc_model::User;
use svc_schema::Error;
use svc_site::{
    Settings, Site, SiteResult,
    mail::accounts::{TwoFactorEvent, two_factor as tell},
};
use svc_store::{Db, MetaKind, StoredText, Tx, meta};

use crate::{
    LoginPages, Page, PrivateRequest, UserSession,
    account::Refusal,
    factor_changes::{Change, Changed, ChangedBy, add_passkey, adding_browser, change},
    form::{self, Form},
    passkeys,
    profile::done,
    proof::Proof,
    qr,
    rate_limit::{LoginFailure, seconds},
    redirect, respond,
    response::PrivateResponse,
    view::{self, Frame},
};

/// Name of the page in the administration area.
pub(crate) const PAGE: &str = "two-factor.php";

/// Nonce action of the forms.
const ACTION: &str = "two-factor";

/// Values of the query parameter `done` after changes.
const CHANGED: &str = "changed";
const PASSKEY_ADDED: &str = "passkey-added";

/// Success messages by the value of the query parameter `done`.
const DONE: &[(&str, &str)] =
    &[(CHANGED, "Your two-factor log-in has been changed."), (PASSKEY_ADDED, "The passkey has been added.")];

/// What the page shows once after some changes.
const RECOVERY_CODES: &str = "recovery codes";

/// What the page shows once after a form for a new passkey had the right password, and the right second factor of those that the user
/// had then.
fn new_passkey(session: &UserSession) -> String {
    format!("new passkey {}", adding_browser(&session.token, session.two_factor.as_ref()))
}

/// Maximum length of a URL to which these pages lead, in bytes.
const MAX_BACK: usize = 1_000;

/// Message on sites on which browsers allow no passkeys.
const NOT_HERE: &str = "Passkeys require TLS and a host name on this site.";

/// A secret that is offered to the user.
struct Offer {
    /// The QR code; `None` if the names are too long for one.
    svg: Option<String>,
    /// The secret in groups of four characters.
    secret: String,
    /// The secret for the form, encrypted.
    sealed: String,
}

/// A passkey in the list.
struct PasskeyRow {
    id: String,
    name: String,
    created: String,
    /// When it was used last; empty if it never was.
    used: String,
}

#[derive(Template)]
#[template(path = "account/two_factor.html")]
struct TwoFactorPage {
    page: Frame,
    /// Error message; may be empty.
    error: String,
    notice: &'static str,
    /// Whether the user can do nothing else before it is on.
    required: bool,
    is_on: bool,
    /// What is offered to set up an app; `None` if there is one.
    offer: Option<Offer>,
    /// Since when it is on.
    since: String,
    n_codes: usize,
    passkeys: Vec<PasskeyRow>,
    max_name: usize,
    /// Whether browsers allow passkeys on this site.
    has_passkeys: bool,
    /// The JSON for the script that confirms a change with a passkey; empty if the user has none.
    confirm: String,
    action: String,
    redirect_to: String,
    profile: String,
    nonce_field: String,
    nonce: String,
}

/// The page on which the browser makes a passkey.
#[derive(Template)]
#[template(path = "account/add_passkey.html")]
struct AddPasskeyPage {
    page: Frame,
    name: String,
    /// The JSON for the script.
    options: String,
    action: String,
    /// URL of the page with the list.
    back: String,
    redirect_to: String,
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

pub(crate) fn no_random(_: RandomSourceError) -> Error {
    Error::new("two_factor_failed", "The server has no random numbers at the moment. Try again.").with_status(503)
}

/// Reads the second factor of a user.
pub(crate) fn stored(db: &mut Db, user: &User) -> SiteResult<Option<TwoFactor>> {
    let stored = meta::get(db, MetaKind::User, user.id.0, META_KEY)?;
    Ok(stored.map(|stored| TwoFactor::from_value(&stored.json())))
}

pub(crate) fn store(tx: &mut Tx, user: &User, two_factor: &TwoFactor) -> SiteResult<()> {
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

/// Uses a code of a user for the log-in. Returns whether it is right. The user is told about a recovery code.
pub(crate) async fn accept(
    pages: &LoginPages,
    parts: &PrivateRequest,
    settings: &Arc<Settings>,
    user: &User,
    code: Secret,
) -> Result<bool, Error> {
    let (site, settings, user) = (Arc::clone(&pages.identities.site), Arc::clone(settings), user.clone());
    let (keys, now) = (pages.identities.keys.clone(), pages.identities.now(&parts.cx));
    let accept = move |tx: &mut Tx| {
        let Some(mut two_factor) = stored(tx, &user)? else { return Ok(false) };
        let Some(accepted) = two_factor.accept(&keys, user.id, code.expose(), now) else { return Ok(false) };
        store(tx, &user, &two_factor)?;
        if accepted == Accepted::Recovery {
            tell(tx, &site, &settings, &user, TwoFactorEvent::RecoveryCode(two_factor.n_recovery_codes()))?;
        }
        Ok(true)
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
            if let Some(shown) = self.shown_once(parts, &session, RECOVERY_CODES) {
                return Ok(self.recovery_codes_page(parts, &session, &shown.value).cookies(vec![shown.cookie]));
            }
            if let Some(shown) = self.shown_once(parts, &session, &new_passkey(&session)) {
                return Ok(self.add_passkey_page(parts, &session, &shown.value)?.cookies(vec![shown.cookie]));
            }
            let back = parts.query.get("redirect_to");
            return self.two_factor_page(parts, &session, StatusCode::OK, back, None, String::new());
        }
        let form = match self.submitted(parts, request, &session, ACTION, form::MAX_SIZE).await {
            Ok(form) => form,
            Err(page) => return Ok(page),
        };
        match form.get("action") {
            "save-passkey" => self.save_passkey(parts, &session, &form).await,
            action => self.change_two_factor(parts, &session, &form, action).await,
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
        let state = session.two_factor.as_ref();
        let ceremony = self.ceremony(parts, settings, Purpose::Confirm, &session.token);
        let known = state.map(|state| &state.passkeys).filter(|passkeys| !passkeys.list().is_empty());
        let confirm = match (&ceremony, known) {
            (Some(ceremony), Some(_)) => passkeys::request_options(ceremony, known)?,
            _ => String::new(),
        };
        let row = |passkey: &Passkey| PasskeyRow {
            id: passkey.id.clone(),
            name: passkey.name.clone(),
            created: day(passkey.created),
            used: if passkey.used == 0 { String::new() } else { day(passkey.used) },
        };
        let template = TwoFactorPage {
            page: self.scripted(page, settings, !confirm.is_empty()),
            notice: DONE.iter().find(|(value, _)| *value == parts.query.get("done")).map_or("", |(_, text)| text),
            error,
            required: session.must_set_up,
            is_on: state.is_some(),
            offer: if state.is_some_and(TwoFactor::has_app) {
                None
            } else {
                Some(self.offer(parts, session, offered)?)
            },
            since: state.map(|state| day(state.since)).unwrap_or_default(),
            n_codes: state.map_or(0, TwoFactor::n_recovery_codes),
            passkeys: known.map_or(&[][..], Passkeys::list).iter().map(row).collect(),
            max_name: MAX_NAME,
            has_passkeys: ceremony.is_some(),
            confirm,
            action: self.admin_url(settings, PAGE),
            redirect_to: redirect::on_site(redirect_to, settings).unwrap_or_default(),
            profile: self.admin_url(settings, "profile.php"),
            nonce_field: self.nonce_field(),
            nonce: self.identities.nonce(&parts.cx, ACTION, session.nonce_subject()),
        };
        Ok(passkeys::with_script(PrivateResponse::html(status, &template), !template.page.script.is_empty()))
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

    /// Checks the password of a form, and counts its code as an attempt, if it has one.
    async fn check_two_factor_form(
        &self,
        parts: &PrivateRequest,
        session: &UserSession,
        form: &Form,
    ) -> Result<(), Refusal> {
        self.check_current_password(parts, session, form.get("current_password")).await?;
        if !form.get("passkey").is_empty() {
            return Ok(());
        }
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

    /// Handles the forms of the page that need the password, and the second factor if there is one.
    async fn change_two_factor(
        &self,
        parts: &PrivateRequest,
        session: &UserSession,
        form: &Form,
        action: &str,
    ) -> Page {
        let (keys, now) = (&self.identities.keys, self.identities.now(&parts.cx));
        let refused =
            |text: &str| self.refuse_two_factor(parts, session, form, Refusal::new(StatusCode::BAD_REQUEST, text));
        let wanted = match action {
            "turn-on" | "add-app" => {
                let field = if action == "turn-on" { "code" } else { "app_code" };
                match read_set_up(keys, session.user.id, &session.token, form.get("offer"), now) {
                    Some(secret) => Change::AddApp(secret, Secret::new(form.get(field))),
                    None => return refused("This form has expired. Scan the new code with the app."),
                }
            }
            "new-codes" => Change::NewCodes,
            "turn-off" => Change::TurnOff,
            "remove-app" => Change::RemoveApp,
            "add-passkey" => Change::AddPasskey,
            _ => match action.strip_prefix("remove-passkey ") {
                Some(id) => Change::RemovePasskey(id.to_owned()),
                None => {
                    let text = "The action is unknown.";
                    return Ok(view::message(&parts.cx, self, StatusCode::BAD_REQUEST, "Error", text));
                }
            },
        };
        if let Err(refusal) = self.check_two_factor_form(parts, session, form).await {
            return self.refuse_two_factor(parts, session, form, refusal);
        }
        let settings = &session.settings;
        let proof = Proof::of(form, self.ceremony(parts, settings, Purpose::Confirm, &session.token));
        let by = self.changed_by(parts, session);
        let site = Arc::clone(&self.identities.site);
        let (is_first, is_off) = (session.two_factor.is_none(), matches!(wanted, Change::TurnOff));
        let adds_passkey = matches!(wanted, Change::AddPasskey);
        let changed = move |tx: &mut Tx| change(tx, &site, &by, &proof, &wanted);
        let login = &session.user.login;
        let codes = match self.identities.site.write(&parts.cx, changed).await? {
            Changed::Done(codes) => codes,
            Changed::Refused(text) => return refused(text),
            Changed::Wrong(wrong) => {
                self.attempts.report_failed(parts.client, login, wrong.failure());
                return refused(&wrong.text());
            }
        };
        if adds_passkey {
            return self.to_add_passkey(parts, session, form);
        }
        tracing::info!(client = %parts.client, user = login, action, "a user has changed their two-factor log-in");
        Ok(match codes {
            Some(codes) => self.to_recovery_codes(parts, session, form, &codes, is_first)?,
            None if is_off => self.to_profile(session, done::TWO_FACTOR_OFF),
            None => self.to_two_factor(session, CHANGED),
        })
    }

    fn changed_by(&self, parts: &PrivateRequest, session: &UserSession) -> ChangedBy {
        ChangedBy {
            settings: Arc::clone(&session.settings),
            user: session.user.clone(),
            token: session.token.clone(),
            keys: self.identities.keys.clone(),
            now: self.identities.now(&parts.cx),
        }
    }

    /// A redirect to the page, which then shows a message of [`DONE`].
    fn to_two_factor(&self, session: &UserSession, done: &str) -> PrivateResponse {
        let page = self.admin_url(&session.settings, PAGE);
        PrivateResponse::redirect(&redirect::with_query(&page, &[("done", done)]))
    }

    /// A redirect to the page on which the browser makes a passkey, after a form with the right password and second factor.
    fn to_add_passkey(&self, parts: &PrivateRequest, session: &UserSession, form: &Form) -> Page {
        let settings = &session.settings;
        if self.ceremony(parts, settings, Purpose::Add, &session.token).is_none() {
            let refusal = Refusal::new(StatusCode::BAD_REQUEST, NOT_HERE);
            return self.refuse_two_factor(parts, session, form, refusal);
        }
        let name: String = form.get("passkey_name").chars().take(MAX_NAME).collect();
        let back = redirect::on_site(form.get("redirect_to"), settings).filter(|url| url.len() <= MAX_BACK);
        let back = back.unwrap_or_default();
        let shown = json!({ "name": name, "redirect_to": back });
        self.show_once(parts, session, &new_passkey(session), &shown, &self.two_factor_url(settings, &back))
    }

    /// The page on which the browser makes a passkey. Only this page has challenges for new passkeys, so that they prove that the
    /// password, and the second factor if there is one, were right.
    fn add_passkey_page(&self, parts: &PrivateRequest, session: &UserSession, shown: &Value) -> Page {
        let settings = &session.settings;
        let browser = adding_browser(&session.token, session.two_factor.as_ref());
        let Some(ceremony) = self.ceremony(parts, settings, Purpose::Add, &browser) else {
            return self.two_factor_page(parts, session, StatusCode::OK, "", None, NOT_HERE.to_owned());
        };
        let back = shown["redirect_to"].as_str().unwrap_or_default();
        let mut page = Frame::new(settings, "New Passkey");
        page.account = Some((session.display_name(), self.log_out_url(parts, session)));
        let known = session.two_factor.as_ref().map(|state| &state.passkeys);
        let template = AddPasskeyPage {
            page: self.scripted(page, settings, true),
            name: shown["name"].as_str().unwrap_or_default().to_owned(),
            options: self.creation_options(&ceremony, session, known)?,
            action: self.admin_url(settings, PAGE),
            back: self.two_factor_url(settings, back),
            redirect_to: back.to_owned(),
            nonce_field: self.nonce_field(),
            nonce: self.identities.nonce(&parts.cx, ACTION, session.nonce_subject()),
        };
        Ok(passkeys::with_script(PrivateResponse::html(StatusCode::OK, &template), true))
    }

    /// Stores the passkey that the browser has made; the first second factor turns two-factor log-in on.
    async fn save_passkey(&self, parts: &PrivateRequest, session: &UserSession, form: &Form) -> Page {
        let refused =
            |text: String| self.refuse_two_factor(parts, session, form, Refusal::new(StatusCode::BAD_REQUEST, &text));
        let browser = adding_browser(&session.token, session.two_factor.as_ref());
        let ceremony = self.ceremony(parts, &session.settings, Purpose::Add, &browser);
        let (Some(ceremony), Some(new)) = (ceremony, NewPasskey::read(form.get("passkey"))) else {
            return refused(PasskeyFault::Unreadable.to_string());
        };
        let by = self.changed_by(parts, session);
        let (site, name) = (Arc::clone(&self.identities.site), form.get("passkey_name").to_owned());
        let add = move |tx: &mut Tx| add_passkey(tx, &site, &by, &ceremony, &new, &name);
        let codes = match self.identities.site.write(&parts.cx, add).await? {
            Ok(codes) => codes,
            Err(fault) => return refused(fault.to_string()),
        };
        tracing::info!(client = %parts.client, user = session.user.login, "a user has added a passkey");
        Ok(match codes {
            Some(codes) => self.to_recovery_codes(parts, session, form, &codes, true)?,
            None => self.to_two_factor(session, PASSKEY_ADDED),
        })
    }

    /// A redirect to the page with the new recovery codes. `is_first` if two-factor log-in has just been turned on.
    fn to_recovery_codes(
        &self,
        parts: &PrivateRequest,
        session: &UserSession,
        form: &Form,
        codes: &[Secret],
        is_first: bool,
    ) -> Page {
        let back = redirect::on_site(form.get("redirect_to"), &session.settings).filter(|url| url.len() <= MAX_BACK);
        let shown = json!({
            "codes": codes.iter().map(Secret::expose).collect::<Vec<_>>(),
            "is_first": is_first,
            "next": back.unwrap_or_else(|| self.admin_url(&session.settings, "profile.php")),
        });
        let page = redirect::with_query(&self.admin_url(&session.settings, PAGE), &[("done", CHANGED)]);
        self.show_once(parts, session, RECOVERY_CODES, &shown, &page)
    }

    fn recovery_codes_page(&self, parts: &PrivateRequest, session: &UserSession, shown: &Value) -> PrivateResponse {
        let mut page = Frame::new(&session.settings, "Recovery Codes");
        page.account = Some((session.display_name(), self.log_out_url(parts, session)));
        let codes = shown["codes"].as_array().into_iter().flatten().filter_map(Value::as_str);
        let template = RecoveryCodesPage {
            page,
            codes: codes.map(str::to_owned).collect(),
            is_on: shown["is_first"] == true,
            next: shown["next"].as_str().unwrap_or_default().to_owned(),
        };
        PrivateResponse::html(StatusCode::OK, &template)
    }
}

/// A date in UTC.
fn day(seconds: i64) -> String {
    DateTime::from_timestamp(seconds, 0).map(|at| at.format("%Y-%m-%d").to_string()).unwrap_or_default()
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
