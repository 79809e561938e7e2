//! Finds out who calls the interface: an application password over Basic authentication, or a log-in cookie with a nonce.
//!
//! The rules are `svc-auth`'s; here the stored values they ask for are looked up, in one snapshot per request, and none
//! for requests without credentials.

use std::sync::Arc;

use arc_swap::ArcSwapOption;
use chrono::Utc;
use http::{HeaderMap, Method, header};
use serde_json::Value;
use svc_auth::{
    AuthError, Caller, Keys, Scheme, Secret,
    application_password::{self, Account, AppPasswordOutcome, ApplicationPassword},
    basic,
    cookie::{self, AuthCookie, CookieNames},
    nonce::{self, Bearer},
    nonce_check::{self, CookieStatus, Decision, NonceCheck},
    roles::Roles,
    session::Sessions,
};
use svc_controllers::{AppPassword, ClientAddress, SessionToken, Settings, Site, Stored};
use svc_http::{Authenticator, Credentials, Outcome};
use svc_model::{User, UserId};
use svc_php::serialize;
use svc_routing::BoxFuture;
use svc_schema::Error;
use svc_store::{Db, Meta, MetaKind, StoreError, meta, options, users};
use tokio::task::JoinHandle;

use crate::serving::FORWARDED_FOR;

/// User meta that holds the application passwords.
pub(crate) const APPLICATION_PASSWORDS: &str = "_application_passwords";

/// User meta that holds the sessions.
const SESSIONS: &str = "session_tokens";

/// Option that says whether anybody ever made an application password: without it none is looked for.
pub(crate) const IN_USE: &str = "using_application_passwords";

/// A stored value that is not plain text.
pub(crate) fn unserialized(stored: &str) -> Value {
    serialize::from_stored(stored.as_bytes()).into()
}

/// The stage itself.
pub(super) struct SignIn {
    site: Arc<Site>,
    keys: Keys,
    /// Application passwords may be used: the site is reached over TLS, or is a local one.
    passwords_available: bool,
    /// What was last understood of the options.
    known: ArcSwapOption<Known>,
}

/// What the options say, understood once per change of them.
struct Known {
    settings: Arc<Settings>,
    roles: Roles,
    cookie: String,
}

/// A user with the stored values that authentication asks for.
struct Subject {
    user: User,
    meta: Meta,
}

impl SignIn {
    pub(super) fn new(site: Arc<Site>, keys: Keys, passwords_available: bool) -> Self {
        SignIn { site, keys, passwords_available, known: ArcSwapOption::empty() }
    }

    fn known(&self, db: &mut Db) -> Stored<Arc<Known>> {
        let settings = self.site.settings_in(db)?;
        if let Some(known) = &*self.known.load()
            && Arc::ptr_eq(&known.settings, &settings)
        {
            return Ok(Arc::clone(known));
        }
        let roles = settings.option(&format!("{}user_roles", db.prefix()));
        let known = Arc::new(Known {
            roles: Roles::from_value(&unserialized(roles)),
            cookie: CookieNames::new(&self.site.brand, settings.option("siteurl")).logged_in,
            settings,
        });
        self.known.store(Some(Arc::clone(&known)));
        Ok(known)
    }

    fn decide(&self, credentials: &Credentials, noting: &mut Option<JoinHandle<()>>) -> Result<Outcome, Error> {
        // Without either header nobody can be found, and nothing needs to be looked up.
        let has = |name| credentials.headers.contains_key(name);
        if !has(header::AUTHORIZATION) && !has(header::COOKIE) && credentials.nonce.is_none() {
            return Ok(Outcome::anonymous());
        }
        self.site.read(|db| {
            let known = self.known(db)?;
            // What a program states outright counts more than what a browser sends along. A statement that names no one
            // counts nothing: servers in front of a site have passwords of their own, which browsers send here too.
            if let Some(sent) = basic_credentials(&credentials.headers)
                && self.passwords_available
                && in_use(db)?
                && let Some(outcome) = self.by_password(db, &known, &sent, &credentials.headers, noting)?
            {
                return Ok(outcome);
            }
            match cookie_value(&credentials.headers, &known.cookie) {
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
        known: &Known,
        sent: &basic::Credentials,
        headers: &HeaderMap,
        noting: &mut Option<JoinHandle<()>>,
    ) -> Stored<Option<Outcome>> {
        let is_email = svc_text::is_email(&sent.login);
        let subject = match find(db, &sent.login)? {
            None if is_email => users::by_email(db, &sent.login)?.map(|user| with_meta(db, user)).transpose()?,
            found => found,
        };
        let passwords = subject.as_ref().map(|s| passwords_of(&s.meta)).unwrap_or_default();
        let account = subject.as_ref().map(|s| Account { id: s.user.id, passwords: &passwords, allowed: true });
        let outcome = AppPasswordOutcome::authenticate(account, sent.password.expose(), is_email);
        let (AppPasswordOutcome::User(id, uuid), Some(subject)) = (&outcome, &subject) else { return Ok(None) };
        let signed_in = Outcome::caller(caller(known, *id, &subject.meta, db.prefix()));
        Ok(Some(match uuid {
            Some(uuid) => {
                *noting = self.note_use(*id, uuid, &passwords, headers);
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
        let now = Utc::now().timestamp();
        let ip = headers.get(FORWARDED_FOR).and_then(|v| v.to_str().ok()).unwrap_or_default().to_owned();
        let is_due = |p: &ApplicationPassword| p.uuid == uuid && p.clone().record_use(now, &ip);
        if !passwords.iter().any(is_due) {
            return None;
        }
        let (store, uuid) = (self.site.store.clone(), uuid.to_owned());
        Some(tokio::spawn(async move {
            let written = store.write(move |tx| {
                let Some(stored) = meta::get(tx, MetaKind::User, user.0, APPLICATION_PASSWORDS)? else { return Ok(()) };
                let mut list = application_password::list_from_value(&unserialized(&stored));
                for item in list.iter_mut().filter(|p| p.uuid == uuid) {
                    item.record_use(now, &ip);
                }
                let value = crate::accounts::serialized(application_password::list_to_value(&list));
                meta::update(tx, MetaKind::User, user.0, APPLICATION_PASSWORDS, &value).map(drop)
            });
            if let Err(error) = written.await {
                tracing::warn!("the use of an application password was not noted: {error}");
            }
        }))
    }

    fn by_cookie(&self, db: &mut Db, known: &Known, value: &str, credentials: &Credentials) -> Stored<Outcome> {
        let now = Utc::now().timestamp();
        let grace = credentials.wire_method == Method::POST;
        let Ok(parsed) = AuthCookie::parse(value) else { return Ok(self.without_cookie(credentials)) };
        let subject = if parsed.current(now, grace).is_ok() { find(db, parsed.login)? } else { None };
        let sessions = subject
            .as_ref()
            .and_then(|s| s.meta.first(SESSIONS))
            .map(|stored| Sessions::from_value(&unserialized(stored)))
            .unwrap_or_default();
        let account = subject.as_ref().map(|s| cookie::Account { password: &s.user.pass, sessions: &sessions });
        let status = match parsed.validate(&self.keys, Scheme::LoggedIn, account, now, grace) {
            Ok(_) => CookieStatus::Valid,
            Err(failure) => CookieStatus::Failed(failure),
        };
        let user = match (status, &subject) {
            (CookieStatus::Valid, Some(subject)) => subject.user.id,
            _ => UserId(0),
        };
        let token = if user.is_none() { "" } else { parsed.token };
        let decision = self.nonce(credentials, status, Bearer { user, token }, now);
        let brought = subject.filter(|_| !user.is_none());
        let session = SessionToken(Secret::new(token));
        let outcome = self.outcome(decision, brought.map(|s| caller(known, user, &s.meta, db.prefix())));
        Ok(outcome.with_extension(session))
    }

    /// A request whose cookie is missing, or cannot be read: a nonce may still be checked, as nobody's.
    fn without_cookie(&self, credentials: &Credentials) -> Outcome {
        let nobody = Bearer { user: UserId(0), token: "" };
        self.outcome(self.nonce(credentials, CookieStatus::Absent, nobody, Utc::now().timestamp()), None)
    }

    fn nonce(&self, credentials: &Credentials, cookie: CookieStatus, bearer: Bearer<'_>, now: i64) -> Decision {
        let tick = nonce::tick(now, nonce::LIFETIME);
        // The service has put parameter and header in their order already.
        let param = credentials.nonce.as_deref();
        let check = NonceCheck { answered: false, cookie, bearer, param, header: None, tick };
        nonce_check::check(&self.keys, &self.site.brand, &check)
    }

    fn outcome(&self, decision: Decision, caller: Option<Caller>) -> Outcome {
        match (decision, caller) {
            (Decision::Refused(refusal), caller) => Outcome::refused(wire(refusal), caller.is_some()),
            (Decision::Verified(fresh), caller) => {
                let outcome = caller.map_or_else(Outcome::anonymous, Outcome::caller);
                outcome.with_header(self.site.brand.header("Nonce"), fresh.expose())
            }
            (Decision::Unchanged | Decision::Anonymous, _) => Outcome::anonymous(),
        }
    }
}

impl Authenticator for SignIn {
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

/// Where the request comes from: what is left of the header once it has been found out is the client's own address.
fn client_address(headers: &HeaderMap) -> Option<ClientAddress> {
    headers.get(FORWARDED_FOR)?.to_str().ok()?.parse().ok().map(ClientAddress)
}

fn basic_credentials(headers: &HeaderMap) -> Option<basic::Credentials> {
    basic::parse(headers.get(header::AUTHORIZATION)?.to_str().ok()?)
}

fn in_use(db: &mut Db) -> Result<bool, StoreError> {
    Ok(options::get(db, IN_USE)?.is_some_and(|v| !matches!(v.as_str(), "" | "0")))
}

fn find(db: &mut Db, login: &str) -> Result<Option<Subject>, StoreError> {
    users::by_login(db, login)?.map(|user| with_meta(db, user)).transpose()
}

fn with_meta(db: &mut Db, user: User) -> Result<Subject, StoreError> {
    let meta = meta::load_one(db, MetaKind::User, user.id.0)?;
    Ok(Subject { user, meta })
}

fn passwords_of(meta: &Meta) -> Vec<ApplicationPassword> {
    let stored = meta.first(APPLICATION_PASSWORDS);
    stored.map(|s| application_password::list_from_value(&unserialized(s))).unwrap_or_default()
}

fn caller(known: &Known, id: UserId, meta: &Meta, prefix: &str) -> Caller {
    let stored = meta.first(&format!("{prefix}capabilities")).map(unserialized).unwrap_or_default();
    Caller::new(id, known.roles.caps_of(&stored))
}

fn wire(refusal: AuthError) -> Error {
    let error = Error::new(refusal.code, refusal.message);
    match refusal.status {
        Some(status) => error.with_status(status),
        None => error,
    }
}

/// The value of a cookie, decoded; of several with this name the first counts.
fn cookie_value(headers: &HeaderMap, name: &str) -> Option<String> {
    let pairs = headers.get_all(header::COOKIE).iter().filter_map(|v| v.to_str().ok()).flat_map(|v| v.split(';'));
    let mut values = pairs.filter_map(|pair| pair.trim().split_once('=')).filter(|(n, _)| *n == name).map(|(_, v)| v);
    let value = values.next()?;
    Some(percent_encoding::percent_decode_str(value).decode_utf8_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cookies_are_found_by_name() {
        let mut headers = HeaderMap::new();
        headers.append(header::COOKIE, "a=1; logged=x%7Cy; logged=z".parse().unwrap());
        headers.append(header::COOKIE, "other = 2".parse().unwrap());
        assert_eq!(cookie_value(&headers, "logged").as_deref(), Some("x|y"));
        assert_eq!(cookie_value(&headers, "a").as_deref(), Some("1"));
        assert_eq!(cookie_value(&headers, "ogged"), None);
    }
}
