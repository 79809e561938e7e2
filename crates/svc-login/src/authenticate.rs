//! Authenticates requests of the REST API: by an application password over Basic authentication, or a log-in cookie with a
//! nonce.
//!
//! `svc-auth` has the rules; this module supplies the stored values that they need, which are cached until they change. Requests
//! without credentials need none.

use std::{net::IpAddr, sync::Arc, time::Duration};

use http::{HeaderMap, Method, header};
use svc_auth::{
    AuthError, Caller, Scheme, Secret,
    application_password::{self, Account, AppPasswordOutcome, ApplicationPassword, META_KEY},
    basic,
    nonce::{self, NonceSubject},
    nonce_check::{self, CookieStatus, Decision, NonceCheck},
};
use svc_http::{AuthOutcome, Authenticator, Credentials};
use svc_listen::{Client, RateAdmission, RequestCost};
use svc_model::UserId;
use svc_routing::{BoxFuture, CallerKey, Cost};
use svc_schema::Error;
use svc_site::caller::{AppPassword, ClientAddress, SessionToken};
use svc_store::{MetaKind, StoredText, meta};
use svc_versions::Context;
use tokio::task::JoinHandle;

use crate::{
    identity::{ANONYMOUS, Identities, LoginSettings, UserCredentials, cookie_value, token_of},
    rate_limit::{Attempts, LoginFailure},
};

/// The response to a request with a wrong application password.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WrongPassword {
    /// An error with status 401, on every route (specification, "Application passwords" 2).
    #[default]
    Error,
    /// That of an anonymous caller. WordPress checks for authentication errors before it looks at application passwords; routes
    /// that require a user reject the request themselves.
    Anonymous,
}

/// The caller may manage the site: an extension of the response.
#[derive(Clone, Copy, Debug)]
pub struct Administrator;

/// The authenticator of a site's REST API.
pub struct SiteAuthenticator {
    identities: Arc<Identities>,
    attempts: Arc<Attempts>,
    wrong_password: WrongPassword,
}

impl SiteAuthenticator {
    /// An authenticator of this site.
    pub fn new(identities: Arc<Identities>, attempts: Arc<Attempts>, wrong_password: WrongPassword) -> Self {
        SiteAuthenticator { identities, attempts, wrong_password }
    }

    fn decide(&self, credentials: &Credentials, recording: &mut Option<JoinHandle<()>>) -> Result<AuthOutcome, Error> {
        // Requests without credentials need no query.
        let has = |name| credentials.headers.contains_key(name);
        if !has(header::AUTHORIZATION) && !has(header::COOKIE) && credentials.nonce.is_none() {
            return Ok(AuthOutcome::anonymous());
        }
        let config = self.identities.login_settings(&credentials.cx)?;
        // An application password takes precedence over a cookie.
        let mut wrong = None;
        if let Some(sent) = basic_credentials(&credentials.headers)
            && self.identities.site.has_application_passwords(credentials.cx.transport())
            && (self.wrong_password == WrongPassword::Error
                || config.passwords_in_use(&credentials.cx, &self.identities.site)?)
        {
            let address = client_address(credentials);
            if let Some(wait) = address.and_then(|a| self.attempts.refuses_check(a, &sent)) {
                return Ok(too_many(wait));
            }
            match self.by_password(&credentials.cx, &config, &sent, address, recording)? {
                Ok(outcome) => {
                    self.attempts.succeeded(&sent);
                    return Ok(outcome);
                }
                Err(error) => wrong = Some(error).filter(|_| self.wrong_password == WrongPassword::Error),
            }
            if let Some(address) = address {
                if let Some(wait) = self.attempts.failed(address) {
                    self.attempts.report_failed(address, &sent.login, LoginFailure::TooManyAttempts);
                    return Ok(too_many(wait));
                }
                self.attempts.report_failed(address, &sent.login, LoginFailure::WrongApplicationPassword);
            }
        }
        match (cookie_value(&credentials.headers, &config.cookies.logged_in), wrong) {
            (Some(value), wrong) => self.by_cookie(&config, &value, credentials, wrong),
            (None, Some(error)) => Ok(AuthOutcome::rejected(api_error(error), false)),
            (None, None) => Ok(self.without_cookie(credentials)),
        }
    }

    /// The caller with this application password, or the error if it is wrong.
    fn by_password(
        &self,
        cx: &Context,
        config: &LoginSettings,
        sent: &basic::BasicCredentials,
        address: Option<IpAddr>,
        recording: &mut Option<JoinHandle<()>>,
    ) -> Result<Result<AuthOutcome, AuthError>, Error> {
        let is_email = svc_text::is_email(&sent.login);
        let subject = self.identities.by_name(cx, &sent.login)?;
        let account = subject.as_ref().map(|s| Account { id: s.user.id, passwords: &s.passwords, allowed: true });
        let outcome = AppPasswordOutcome::authenticate(account, sent.password.expose(), is_email);
        let subject = match (outcome.check(None), &subject) {
            (Some(Ok(())), Some(subject)) => subject,
            (Some(Err(error)), _) => return Ok(Err(error)),
            _ => return Ok(Ok(AuthOutcome::anonymous())),
        };
        let authenticated = authenticated(cx, config.caller_with_key(subject));
        Ok(Ok(match outcome.uuid() {
            Some(uuid) => {
                *recording = self.record_use(cx, subject, uuid, address);
                let id = PasswordId(uuid.to_owned());
                authenticated.with_extension(AppPassword(uuid.to_owned())).with_response_extension(id)
            }
            None => authenticated,
        }))
    }

    /// Records the use of a password, at most once a day. The request waits for the write, so that a following request sees it.
    fn record_use(
        &self,
        cx: &Context,
        subject: &UserCredentials,
        uuid: &str,
        address: Option<IpAddr>,
    ) -> Option<JoinHandle<()>> {
        let now = self.identities.now(cx);
        let ip = address.map(|address| address.to_string()).unwrap_or_default();
        let is_due = |p: &ApplicationPassword| p.uuid == uuid && p.clone().record_use(now, &ip);
        if !subject.passwords.iter().any(is_due) {
            return None;
        }
        let known = subject.stored_passwords.clone()?;
        let (store, user, uuid, cx) =
            (self.identities.site.store.clone(), subject.user.id.0, uuid.to_owned(), cx.detached());
        let used = move |stored: &StoredText| {
            let mut list = application_password::list_from_value(&stored.json());
            for item in list.iter_mut().filter(|p| p.uuid == uuid) {
                item.record_use(now, &ip);
            }
            StoredText::of(application_password::list_to_value(&list))
        };
        Some(tokio::spawn(async move {
            let written = store.write(&cx, move |tx| {
                if meta::replace(tx, MetaKind::User, user, META_KEY, &known, &used(&known))? {
                    return Ok(());
                }
                // The passwords have changed since they were loaded.
                let meta = meta::load_one(tx, MetaKind::User, user)?;
                let Some(stored) = meta.first(META_KEY) else { return Ok(()) };
                meta::update(tx, MetaKind::User, user, META_KEY, &used(stored)).map(drop)
            });
            if let Err(error) = written.await {
                tracing::debug!("the use of an application password was not recorded");
                svc_site::outage::log(&error);
            }
        }))
    }

    /// The caller with this cookie. `wrong` is the error of a wrong application password. It is ignored with a valid cookie: a
    /// proxy in front of the site may have passwords of its own, which browsers also send here.
    fn by_cookie(
        &self,
        config: &LoginSettings,
        value: &str,
        credentials: &Credentials,
        wrong: Option<AuthError>,
    ) -> Result<AuthOutcome, Error> {
        let grace = credentials.wire_method == Method::POST;
        let (status, subject) = self.identities.by_cookie_value(&credentials.cx, value, Scheme::LoggedIn, grace)?;
        if let Some(reason) = status.reason() {
            tracing::debug!(reason, "rejected a log-in cookie");
        }
        if let Some(error) = wrong.filter(|_| status != CookieStatus::Valid) {
            return Ok(AuthOutcome::rejected(api_error(error), false));
        }
        let nonce_subject = match &subject {
            Some(subject) => NonceSubject { user: subject.user.id, token: token_of(value) },
            None => ANONYMOUS,
        };
        let session = SessionToken(Secret::new(nonce_subject.token));
        let decision = self.nonce(credentials, status, nonce_subject);
        if matches!(decision, Decision::Verified(_))
            && let Some(subject) = &subject
            && self.identities.must_set_up_two_factor(config, subject)
        {
            return Ok(AuthOutcome::rejected(two_factor_required(), true));
        }
        let outcome = self.outcome(&credentials.cx, decision, subject.map(|s| config.caller_with_key(&s)));
        Ok(outcome.with_extension(session))
    }

    /// A request without a readable cookie. Its nonce is checked as an anonymous one.
    fn without_cookie(&self, credentials: &Credentials) -> AuthOutcome {
        self.outcome(&credentials.cx, self.nonce(credentials, CookieStatus::Absent, ANONYMOUS), None)
    }

    fn nonce(&self, credentials: &Credentials, cookie: CookieStatus, nonce_subject: NonceSubject<'_>) -> Decision {
        let tick = nonce::tick(self.identities.now(&credentials.cx), nonce::LIFETIME);
        // `Credentials::nonce` is already the parameter or the header, in their order of precedence.
        let param = credentials.nonce.as_deref();
        let check = NonceCheck { authenticated_otherwise: false, cookie, nonce_subject, param, header: None, tick };
        nonce_check::check(&self.identities.keys, &self.identities.site.brand, &check)
    }

    fn outcome(&self, cx: &Context, decision: Decision, caller: Option<(Caller, CallerKey)>) -> AuthOutcome {
        match (decision, caller) {
            (Decision::Refused(refusal), caller) => AuthOutcome::rejected(api_error(refusal), caller.is_some()),
            (Decision::Verified(fresh), caller) => {
                let outcome = caller.map_or_else(AuthOutcome::anonymous, |caller| authenticated(cx, caller));
                outcome.with_header(self.identities.site.brand.header("Nonce"), fresh.expose())
            }
            (Decision::Unchanged | Decision::Anonymous, _) => AuthOutcome::anonymous(),
        }
    }
}

impl Authenticator for SiteAuthenticator {
    fn authenticate(&self, credentials: Credentials) -> BoxFuture<AuthOutcome> {
        // The lookup runs on this thread, as all reads of the store do. Errors of the store have been logged where they became
        // API errors.
        let mut recording = None;
        let outcome =
            self.decide(&credentials, &mut recording).unwrap_or_else(|error| AuthOutcome::rejected(error, false));
        let outcome = within_rates(&credentials, outcome);
        let outcome = match client_address(&credentials) {
            Some(address) => outcome.with_extension(ClientAddress(address)),
            None => outcome,
        };
        Box::pin(async move {
            if let Some(recording) = recording
                && let Err(error) = recording.await
            {
                tracing::warn!("the use of an application password was not recorded: {error}");
            }
            outcome
        })
    }
}

/// The response to a user who must set up two-factor log-in first.
fn two_factor_required() -> Error {
    let text = "Your role requires two-factor log-in. Set it up on your profile page.";
    Error::new("rest_two_factor_required", text).with_status(403)
}

/// The application password of a request.
#[derive(Clone)]
struct PasswordId(String);

/// Refuses the request if its user or application password has sent too many.
fn within_rates(credentials: &Credentials, outcome: AuthOutcome) -> AuthOutcome {
    let Some(admission) = credentials.extensions.get::<RateAdmission>() else { return outcome };
    let Some(user) = outcome.response_extension::<UserId>() else { return outcome };
    let cost = match credentials.cost {
        Cost::Heavy => RequestCost::Heavy,
        Cost::Light if credentials.method.is_safe() => RequestCost::Read,
        Cost::Light => RequestCost::Write,
    };
    let password = outcome.response_extension::<PasswordId>().map(|id| id.0.as_str());
    match admission.authenticated(user.0, password, cost) {
        Ok(()) => outcome,
        Err(wait) => {
            let error = Error::new("rest_too_many_requests", "Too many requests. Try again later.").with_status(429);
            let seconds = wait.as_secs().saturating_add(1).to_string();
            AuthOutcome::rejected(error, true).with_header("Retry-After", seconds)
        }
    }
}

/// The response to a client that has sent too many wrong passwords.
fn too_many(wait: Duration) -> AuthOutcome {
    let error =
        Error::new("rest_too_many_attempts", "Too many failed login attempts from this IP address. Try again later.");
    let seconds = wait.as_secs().saturating_add(1).to_string();
    AuthOutcome::rejected(error.with_status(429), false).with_header("Retry-After", seconds)
}

/// The client's IP address, as the listener has determined it. Headers are not read: without that listener, a client could
/// send any.
fn client_address(credentials: &Credentials) -> Option<IpAddr> {
    credentials.extensions.get::<Client>().map(|client| client.address)
}

fn basic_credentials(headers: &HeaderMap) -> Option<basic::BasicCredentials> {
    basic::parse(headers.get(header::AUTHORIZATION)?.to_str().ok()?)
}

fn api_error(refusal: AuthError) -> Error {
    let error = Error::new(refusal.code, refusal.message);
    match refusal.status {
        Some(status) => error.with_status(status),
        None => error,
    }
}

/// A caller with the key under which data is cached for them. What the request changes is recorded as theirs.
fn authenticated(cx: &Context, (caller, key): (Caller, CallerKey)) -> AuthOutcome {
    let id = caller.id;
    cx.set_caller(id.0);
    let is_administrator = caller.allcaps.has("manage_options");
    let outcome = AuthOutcome::caller(caller).with_extension(key).with_response_extension(id);
    if is_administrator { outcome.with_response_extension(Administrator) } else { outcome }
}
