//! Finds out who calls the interface: an application password over Basic authentication, or a log-in cookie with a nonce.
//!
//! The rules are `svc-auth`'s; here the stored values they ask for are looked up, in one snapshot per request, and none
//! for requests without credentials.

use std::{sync::Arc, time::Duration};

use http::{HeaderMap, Method, header};
use svc_auth::{
    AuthError, Caller, Scheme, Secret,
    application_password::{self, Account, AppPasswordOutcome, ApplicationPassword, META_KEY},
    basic,
    nonce::{self, NonceSubject},
    nonce_check::{self, CookieStatus, Decision, NonceCheck},
};
use svc_controllers::{AppPassword, ClientAddress, SessionToken};
use svc_http::{Authenticator, Credentials, Outcome};
use svc_model::UserId;
use svc_routing::BoxFuture;
use svc_schema::Error;
use svc_site::SiteResult;
use svc_store::{Db, Meta, MetaKind, StoredText, meta};
use tokio::task::JoinHandle;

use crate::{
    client::FORWARDED_FOR,
    identity::{AuthenticatedUser, Identities, NOBODY, cookie_value, token_of},
    rate_limit::Attempts,
};

/// The stage itself.
pub struct SiteAuthenticator {
    identities: Arc<Identities>,
    attempts: Arc<Attempts>,
    /// Application passwords may be used: the site is reached over TLS, or is a local one.
    passwords_available: bool,
}

impl SiteAuthenticator {
    /// An authenticator of this site. `passwords_available` allows application passwords.
    pub fn new(identities: Arc<Identities>, attempts: Arc<Attempts>, passwords_available: bool) -> Self {
        SiteAuthenticator { identities, attempts, passwords_available }
    }

    fn decide(&self, credentials: &Credentials, noting: &mut Option<JoinHandle<()>>) -> Result<Outcome, Error> {
        // Without either header nobody can be found, and nothing needs to be looked up.
        let has = |name| credentials.headers.contains_key(name);
        if !has(header::AUTHORIZATION) && !has(header::COOKIE) && credentials.nonce.is_none() {
            return Ok(Outcome::anonymous());
        }
        self.identities.site.read(|db| {
            let known = self.identities.known(db)?;
            // What a program states outright counts more than what a browser sends along. A statement that names no one
            // counts nothing: servers in front of a site have passwords of their own, which browsers send here too.
            if let Some(sent) = basic_credentials(&credentials.headers)
                && self.passwords_available
                && known.passwords_in_use(db)?
            {
                let address = client_address(&credentials.headers).map(|client| client.0);
                if let Some(wait) = address.and_then(|a| self.attempts.refuses_check(a, &sent)) {
                    return Ok(too_many(wait));
                }
                if let Some(outcome) = self.by_password(db, &known, &sent, &credentials.headers, noting)? {
                    self.attempts.succeeded(&sent);
                    return Ok(outcome);
                }
                if let Some(wait) = address.and_then(|a| self.attempts.failed(a)) {
                    return Ok(too_many(wait));
                }
            }
            match cookie_value(&credentials.headers, &known.cookies.logged_in) {
                Some(value) => self.by_cookie(db, &known, &value, credentials),
                None => Ok(self.without_cookie(credentials)),
            }
        })
    }

    /// The caller whose application password was sent; `None` when it is nobody's.
    ///
    /// A wrong one is no error: the interface's check of errors runs before anything asks who calls, so on the peer the
    /// collector holds nothing yet when it is asked, and routes that want somebody say so themselves. Recorded in the
    /// scenario `auth`.
    fn by_password(
        &self,
        db: &mut Db,
        known: &AuthenticatedUser,
        sent: &basic::Credentials,
        headers: &HeaderMap,
        noting: &mut Option<JoinHandle<()>>,
    ) -> SiteResult<Option<Outcome>> {
        let is_email = svc_text::is_email(&sent.login);
        let subject = self.identities.by_name(db, &sent.login)?;
        let passwords = subject.as_ref().map(|s| passwords_of(&s.meta)).unwrap_or_default();
        let account = subject.as_ref().map(|s| Account { id: s.user.id, passwords: &passwords, allowed: true });
        let outcome = AppPasswordOutcome::authenticate(account, sent.password.expose(), is_email);
        let (AppPasswordOutcome::User(_, uuid), Some(subject)) = (&outcome, &subject) else { return Ok(None) };
        let signed_in = Outcome::caller(known.caller(subject, db.prefix()));
        Ok(Some(match uuid {
            Some(uuid) => {
                *noting = self.note_use(subject.user.id, uuid, &passwords, headers);
                signed_in.with_extension(AppPassword(uuid.clone()))
            }
            None => signed_in,
        }))
    }

    /// Notes when a password was last used, at most once a day; the request that is the first of its day waits for it, so
    /// that whoever asks next is told.
    fn note_use(
        &self,
        user: UserId,
        uuid: &str,
        passwords: &[ApplicationPassword],
        headers: &HeaderMap,
    ) -> Option<JoinHandle<()>> {
        let now = self.identities.now();
        let ip = headers.get(FORWARDED_FOR).and_then(|v| v.to_str().ok()).unwrap_or_default().to_owned();
        let is_due = |p: &ApplicationPassword| p.uuid == uuid && p.clone().record_use(now, &ip);
        if !passwords.iter().any(is_due) {
            return None;
        }
        let (store, uuid) = (self.identities.site.store.clone(), uuid.to_owned());
        Some(tokio::spawn(async move {
            let written = store.write(move |tx| {
                let Some(stored) = meta::get(tx, MetaKind::User, user.0, META_KEY)? else { return Ok(()) };
                let mut list = application_password::list_from_value(&stored.json());
                for item in list.iter_mut().filter(|p| p.uuid == uuid) {
                    item.record_use(now, &ip);
                }
                let value = StoredText::of(application_password::list_to_value(&list));
                meta::update(tx, MetaKind::User, user.0, META_KEY, &value).map(drop)
            });
            if let Err(error) = written.await {
                tracing::warn!("the use of an application password was not noted: {error}");
            }
        }))
    }

    fn by_cookie(
        &self,
        db: &mut Db,
        known: &AuthenticatedUser,
        value: &str,
        credentials: &Credentials,
    ) -> SiteResult<Outcome> {
        let grace = credentials.wire_method == Method::POST;
        let (status, subject) = self.identities.of_cookie(db, value, Scheme::LoggedIn, grace)?;
        let bearer = match &subject {
            Some(subject) => NonceSubject { user: subject.user.id, token: token_of(value) },
            None => NOBODY,
        };
        let session = SessionToken(Secret::new(bearer.token));
        let decision = self.nonce(credentials, status, bearer);
        let outcome = self.outcome(decision, subject.map(|s| known.caller(&s, db.prefix())));
        Ok(outcome.with_extension(session))
    }

    /// A request whose cookie is missing, or cannot be read: a nonce may still be checked, as nobody's.
    fn without_cookie(&self, credentials: &Credentials) -> Outcome {
        self.outcome(self.nonce(credentials, CookieStatus::Absent, NOBODY), None)
    }

    fn nonce(&self, credentials: &Credentials, cookie: CookieStatus, bearer: NonceSubject<'_>) -> Decision {
        let tick = nonce::tick(self.identities.now(), nonce::LIFETIME);
        // The service has put parameter and header in their order already.
        let param = credentials.nonce.as_deref();
        let check = NonceCheck { answered: false, cookie, bearer, param, header: None, tick };
        nonce_check::check(&self.identities.keys, &self.identities.site.brand, &check)
    }

    fn outcome(&self, decision: Decision, caller: Option<Caller>) -> Outcome {
        match (decision, caller) {
            (Decision::Refused(refusal), caller) => Outcome::refused(wire(refusal), caller.is_some()),
            (Decision::Verified(fresh), caller) => {
                let outcome = caller.map_or_else(Outcome::anonymous, Outcome::caller);
                outcome.with_header(self.identities.site.brand.header("Nonce"), fresh.expose())
            }
            (Decision::Unchanged | Decision::Anonymous, _) => Outcome::anonymous(),
        }
    }
}

impl Authenticator for SiteAuthenticator {
    fn authenticate(&self, credentials: Credentials) -> BoxFuture<Outcome> {
        // The look-up runs in place, as all reads of the store do. The cause of a failure is logged where the store's error
        // became one of the interface.
        let mut noting = None;
        let outcome = self.decide(&credentials, &mut noting).unwrap_or_else(|error| Outcome::refused(error, false));
        let outcome = match client_address(&credentials.headers) {
            Some(address) => outcome.with_extension(address),
            None => outcome,
        };
        Box::pin(async move {
            if let Some(noting) = noting
                && let Err(error) = noting.await
            {
                tracing::warn!("the use of an application password was not noted: {error}");
            }
            outcome
        })
    }
}

/// The answer to a program that has sent too many wrong passwords.
fn too_many(wait: Duration) -> Outcome {
    let error =
        Error::new("rest_too_many_attempts", "Too many wrong passwords came from this address. Try again later.");
    let seconds = wait.as_secs().saturating_add(1).to_string();
    Outcome::refused(error.with_status(429), false).with_header("Retry-After", seconds)
}

/// Where the request comes from: what is left of the header once it has been found out is the client's own address.
fn client_address(headers: &HeaderMap) -> Option<ClientAddress> {
    headers.get(FORWARDED_FOR)?.to_str().ok()?.parse().ok().map(ClientAddress)
}

fn basic_credentials(headers: &HeaderMap) -> Option<basic::Credentials> {
    basic::parse(headers.get(header::AUTHORIZATION)?.to_str().ok()?)
}

fn passwords_of(meta: &Meta) -> Vec<ApplicationPassword> {
    let stored = meta.first(META_KEY);
    stored.map(|s| application_password::list_from_value(&s.json())).unwrap_or_default()
}

fn wire(refusal: AuthError) -> Error {
    let error = Error::new(refusal.code, refusal.message);
    match refusal.status {
        Some(status) => error.with_status(status),
        None => error,
    }
}
