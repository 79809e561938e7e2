//! Passkeys: what the script of a page gets, and the log-in without a password.

use std::sync::{Arc, LazyLock};

use axum::response::{IntoResponse as _, Response};
use http::{HeaderValue, StatusCode, header};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use svc_auth::{
    cookie::site_hash,
    passkey::{ALGORITHMS, Assertion, Ceremony, PasskeyFault, Passkeys, Purpose, RelyingParty, user_handle},
    random_text,
};
use svc_model::User;
use svc_schema::Error;
use svc_site::Settings;
use svc_store::{Tx, users};

use crate::{
    LoginPages, Page, PrivateRequest, UserSession, cookies,
    form::Form,
    identity::cookie_value,
    rate_limit::{LoginFailure, seconds},
    redirect,
    response::PrivateResponse,
    sessions::Factors,
    two_factor::{self, no_random},
    view::Frame,
};

/// Value of the parameter `action` of the log-in with a passkey alone.
pub(crate) const ACTION: &str = "passkey";

/// Name of the script in the administration area.
pub(crate) const SCRIPT_NAME: &str = "passkeys.js";

const SCRIPT: &str = include_str!("../assets/passkeys.js");

/// The version of the script in its URL: a hash.
static VERSION: LazyLock<String> = LazyLock::new(|| {
    let hash = Sha256::digest(SCRIPT);
    hash.iter().take(8).map(|byte| format!("{byte:02x}")).collect()
});

/// What pages with the script may load.
const WITH_SCRIPT: &str = "style-src 'unsafe-inline'; img-src 'self'; script-src 'self'";

/// Length of the value of the cookie that ties a challenge to a browser without a session.
const BROWSER_LENGTH: usize = 32;

/// The script. Its URL has a version, so it is cached without limit.
pub(crate) async fn script() -> Response {
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static("text/javascript; charset=UTF-8")),
        (header::CACHE_CONTROL, HeaderValue::from_static("public, max-age=31536000, immutable")),
        (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
    ];
    (headers, SCRIPT).into_response()
}

/// A page that may load the script, if it has it.
pub(crate) fn with_script(page: PrivateResponse, has_script: bool) -> PrivateResponse {
    if has_script { page.sources(WITH_SCRIPT) } else { page }
}

impl LoginPages {
    /// The frame of a page, with the script if it has passkeys.
    pub(crate) fn scripted(&self, frame: Frame, settings: &Settings, has_passkeys: bool) -> Frame {
        let script = || redirect::with_query(&self.admin_url(settings, SCRIPT_NAME), &[("v", &VERSION)]);
        if has_passkeys { Frame { script: script(), ..frame } } else { frame }
    }

    /// The exchange of a challenge with a browser. `None` if browsers allow no passkeys on this site.
    pub(crate) fn ceremony(
        &self,
        parts: &PrivateRequest,
        settings: &Settings,
        purpose: Purpose,
        browser: &str,
    ) -> Option<Ceremony> {
        Some(Ceremony {
            keys: self.identities.keys.clone(),
            party: RelyingParty::of_url(&self.login_url(settings))?,
            purpose,
            browser: browser.to_owned(),
            now: self.identities.now(&parts.cx),
        })
    }

    /// The JSON for the script that adds a passkey.
    pub(crate) fn creation_options(
        &self,
        ceremony: &Ceremony,
        session: &UserSession,
        known: Option<&Passkeys>,
    ) -> Result<String, Error> {
        let user = &session.user;
        let site_url = session.settings.urls.site.site_url("");
        let options = json!({
            "challenge": ceremony.challenge().map_err(no_random)?,
            "party": ceremony.party.id,
            "site": ceremony.party.id,
            "handle": user_handle(&site_url, user.id),
            "login": user.login,
            "name": session.display_name(),
            "algorithms": ALGORITHMS,
            "passkeys": ids(known),
        });
        Ok(options.to_string())
    }

    /// The value of the cookie that ties the log-in page to a browser, and a cookie that sets it if it is new.
    fn browser(&self, parts: &PrivateRequest, settings: &Settings) -> Result<(String, Vec<String>), Error> {
        let name = self.browser_cookie_name(settings);
        if let Some(known) = cookie_value(&parts.headers, &name).filter(|value| value.len() == BROWSER_LENGTH) {
            return Ok((known, Vec::new()));
        }
        let new = random_text(BROWSER_LENGTH).map_err(no_random)?;
        let cookie = cookies::page_cookie(&name, Some(new.expose()), &self.login_url(settings), parts.tls);
        Ok((new.expose().to_owned(), vec![cookie]))
    }

    fn browser_cookie_name(&self, settings: &Settings) -> String {
        self.identities.site.brand.passkey_cookie() + &site_hash(settings.option("siteurl"))
    }

    /// What the log-in page has for passkeys: the JSON for the script, and cookies. `None` without passkeys.
    pub(crate) fn log_in_options(
        &self,
        parts: &PrivateRequest,
        settings: &Settings,
    ) -> Result<Option<(String, Vec<String>)>, Error> {
        let (browser, cookies) = self.browser(parts, settings)?;
        let Some(ceremony) = self.ceremony(parts, settings, Purpose::LogIn, &browser) else { return Ok(None) };
        Ok(Some((request_options(&ceremony, None)?, cookies)))
    }

    /// Logs a user in with a passkey alone. The device has verified the user, so it counts as both factors.
    pub(crate) async fn log_in_with_passkey(
        &self,
        parts: &PrivateRequest,
        form: &Form,
        settings: &Arc<Settings>,
    ) -> Page {
        let refused = |status, text: String| self.form(status, settings, parts, form, text, "");
        let browser = cookie_value(&parts.headers, &self.browser_cookie_name(settings)).unwrap_or_default();
        let ceremony = self.ceremony(parts, settings, Purpose::LogIn, &browser);
        let (Some(ceremony), Some(assertion)) = (ceremony, Assertion::read(form.get("passkey"))) else {
            return refused(StatusCode::BAD_REQUEST, PasskeyFault::Unreadable.to_string());
        };
        let user = match assertion.user() {
            Some(id) => self.identities.site.read(&parts.cx, |db| Ok(users::get(db, id)?))?,
            None => None,
        };
        let login = user.as_ref().map_or("", |user| &user.login);
        if let Err(wait) = self.attempts.at_form(parts.client, login) {
            self.attempts.report_failed(parts.client, login, LoginFailure::TooManyAttempts);
            let text = format!("Too many failed login attempts. Try again in {} s.", seconds(wait));
            let page = refused(StatusCode::TOO_MANY_REQUESTS, text)?;
            return Ok(page.header(header::RETRY_AFTER, seconds(wait)));
        }
        let fault = match &user {
            Some(user) => self.accept_passkey(parts, user, ceremony, assertion).await?.err(),
            None => Some(PasskeyFault::Unknown),
        };
        let user = match (user, fault) {
            (Some(user), None) => user,
            (user, fault) => {
                let login = user.as_ref().map_or("", |user| &user.login);
                self.attempts.report_failed(parts.client, login, LoginFailure::WrongPasskey);
                return refused(StatusCode::OK, fault.unwrap_or(PasskeyFault::Unknown).to_string());
            }
        };
        self.attempts.form_succeeded(parts.client, &user.login);
        let remembered = !form.get("rememberme").is_empty();
        let cookies = self.start_session(parts, user, None, remembered, Factors::All).await?;
        Ok(PrivateResponse::redirect(&self.after_log_in(form, settings, false)).cookies(cookies))
    }

    /// Uses a passkey of a user.
    pub(crate) async fn accept_passkey(
        &self,
        parts: &PrivateRequest,
        user: &User,
        ceremony: Ceremony,
        assertion: Assertion,
    ) -> Result<Result<(), PasskeyFault>, Error> {
        // A response that is rejected anyway waits for no other change of the database.
        let found = self.identities.site.read(&parts.cx, |db| two_factor::stored(db, user))?;
        let Some(mut found) = found else { return Ok(Err(PasskeyFault::Unknown)) };
        if let Err(fault) = found.passkeys.accept(&ceremony, &assertion) {
            if fault == PasskeyFault::Counter {
                tracing::warn!(client = %parts.client, user = user.login, "a passkey was used whose counter went back: it may have been copied");
            }
            return Ok(Err(fault));
        }
        let user = user.clone();
        let accept = move |tx: &mut Tx| {
            let Some(mut two_factor) = two_factor::stored(tx, &user)? else { return Ok(Err(PasskeyFault::Unknown)) };
            let accepted = two_factor.passkeys.accept(&ceremony, &assertion);
            if accepted.is_ok() {
                two_factor::store(tx, &user, &two_factor)?;
            }
            Ok(accepted)
        };
        self.identities.site.write(&parts.cx, accept).await
    }
}

/// The IDs of passkeys.
fn ids(passkeys: Option<&Passkeys>) -> Vec<&str> {
    passkeys.map_or(&[][..], Passkeys::list).iter().map(|passkey| passkey.id.as_str()).collect()
}

/// The JSON for the script that uses a passkey: one of these, or any that the device has for this site.
pub(crate) fn request_options(ceremony: &Ceremony, known: Option<&Passkeys>) -> Result<String, Error> {
    let options: Value = json!({
        "challenge": ceremony.challenge().map_err(no_random)?,
        "party": ceremony.party.id,
        "verification": if ceremony.purpose == Purpose::LogIn { "required" } else { "preferred" },
        "passkeys": ids(known),
    });
    Ok(options.to_string())
}
