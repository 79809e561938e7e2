//! Finds the user of a log-in cookie, with the stored values that authentication needs.
//!
//! Users and settings are cached until they change, so that most requests are authenticated without a connection to the database.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, OnceLock, PoisonError},
};

use arc_swap::ArcSwapOption;
use http::{HeaderMap, header};
use svc_auth::{
    Caller, Keys, Scheme,
    application_password::{self, ApplicationPassword, IN_USE_OPTION, META_KEY},
    cookie::{self, AuthCookie, CookieNames},
    nonce::{self, NonceSubject},
    nonce_check::CookieStatus,
    session::Sessions,
    two_factor::{self, TwoFactor},
};
use svc_model::{User, UserId};
use svc_routing::CallerKey;
use svc_schema::Error;
use svc_site::Settings;
use svc_site::{
    Site,
    caller::{caller_key, capabilities_key},
};
use svc_store::{Db, MetaKind, StoreError, StoredText, meta, options, users};
use svc_versions::{ByTls, Context, VersionedCache};

/// Key of the user meta with the sessions.
pub const SESSIONS: &str = "session_tokens";

/// Capacity of the cache of users, in bytes.
const SUBJECTS_CAPACITY: u64 = 4 << 20;
/// Estimated memory of a cached user, in bytes.
const SUBJECT_SIZE: usize = 4_096;

/// Maximum number of cached capability sets. Most users have the set of a role.
const MAX_CAPABILITY_SETS: usize = 64;

/// Finds the users of a site for authentication.
pub struct Identities {
    /// The site.
    pub site: Arc<Site>,
    /// The keys that sign cookies and nonces.
    pub keys: Keys,
    /// Derived from the latest options.
    current: ByTls<ArcSwapOption<LoginSettings>>,
    /// Roles whose users must set up two-factor log-in.
    two_factor_roles: Vec<String>,
    /// Cached users.
    subjects: VersionedCache<(LookupBy, String), Arc<UserCredentials>>,
}

/// The kind of a lookup.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum LookupBy {
    /// By login name.
    Login,
    /// By login name or email address.
    LoginOrEmail,
}

/// Values for authentication that depend on the site's options. Derived again when an option changes.
pub struct LoginSettings {
    /// The settings that the rest follows from.
    pub settings: Arc<Settings>,
    /// Names of the cookies.
    pub cookies: CookieNames,
    /// Capabilities by their stored form, with their key.
    granted: Mutex<HashMap<StoredText, (Caller, CallerKey)>>,
    /// Whether an application password was ever created. If not, none is looked up.
    passwords_in_use: OnceLock<bool>,
}

/// A user with the stored values that authentication needs.
pub struct UserCredentials {
    /// The user.
    pub user: User,
    /// The stored capabilities.
    capabilities: StoredText,
    /// Prefix of the site's tables, which the names of options and meta may begin with.
    prefix: Box<str>,
    /// The user's sessions, including expired ones.
    pub sessions: Sessions,
    /// The user's application passwords.
    pub passwords: Vec<ApplicationPassword>,
    /// The value of the meta with the application passwords.
    pub(crate) stored_passwords: Option<StoredText>,
    /// The second factor, if two-factor log-in is on.
    pub two_factor: Option<TwoFactor>,
}

impl LoginSettings {
    /// Whether an application password was ever created on this site.
    ///
    /// # Errors
    /// Errors of the store.
    pub fn passwords_in_use(&self, cx: &Context, site: &Site) -> Result<bool, Error> {
        if let Some(known) = self.passwords_in_use.get() {
            return Ok(*known);
        }
        let stored = site.read(cx, |db| Ok(options::get(db, IN_USE_OPTION)?))?;
        let in_use = stored.is_some_and(|v| !matches!(v.text(), "" | "0"));
        Ok(*self.passwords_in_use.get_or_init(|| in_use))
    }

    /// The user as a caller of the REST API.
    pub fn caller(&self, subject: &UserCredentials) -> Caller {
        self.caller_with_key(subject).0
    }

    /// The user as a caller of the REST API, with the key under which data is cached for them.
    pub fn caller_with_key(&self, subject: &UserCredentials) -> (Caller, CallerKey) {
        let (caller, key) = self.granted(subject);
        let id = subject.user.id;
        // In the log lines of the request.
        tracing::Span::current().record("user", id.0);
        (Caller { id, ..caller }, caller_key(id, key))
    }

    /// A caller with the subject's capabilities, and the key of these.
    fn granted(&self, subject: &UserCredentials) -> (Caller, CallerKey) {
        let mut granted = self.granted.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = granted.get(&subject.capabilities) {
            return known.clone();
        }
        let caps = self.settings.roles(&subject.prefix).caps_of(&subject.capabilities.json());
        let caller = Caller::new(subject.user.id, caps);
        let key = capabilities_key(&caller);
        if granted.len() >= MAX_CAPABILITY_SETS {
            granted.clear();
        }
        granted.insert(subject.capabilities.clone(), (caller.clone(), key));
        (caller, key)
    }
}

impl Identities {
    /// The users of this site, with the keys that sign its cookies and nonces.
    pub fn new(site: Arc<Site>, keys: Keys) -> Self {
        let subjects = VersionedCache::new(SUBJECTS_CAPACITY);
        Identities { site, keys, current: ByTls::default(), two_factor_roles: Vec::new(), subjects }
    }

    /// Requires two-factor log-in of users with one of these roles.
    #[must_use]
    pub fn with_two_factor_roles(mut self, roles: Vec<String>) -> Self {
        self.two_factor_roles = roles;
        self
    }

    /// Whether a user must set up two-factor log-in before their cookies authenticate them anywhere else.
    pub fn must_set_up_two_factor(&self, config: &LoginSettings, subject: &UserCredentials) -> bool {
        let is_required = || config.caller(subject).roles.iter().any(|role| self.two_factor_roles.contains(role));
        subject.two_factor.is_none() && !self.two_factor_roles.is_empty() && is_required()
    }

    /// The site's time, in seconds since the epoch.
    pub fn now(&self, cx: &Context) -> i64 {
        self.site.now(cx).and_utc().timestamp()
    }

    /// The values that depend on the site's options.
    ///
    /// # Errors
    /// Errors of the store.
    pub fn login_settings(&self, cx: &Context) -> Result<Arc<LoginSettings>, Error> {
        let settings = self.site.settings(cx)?;
        let slot = self.current.of(cx.transport());
        if let Some(known) = &*slot.load()
            && Arc::ptr_eq(&known.settings, &settings)
        {
            return Ok(Arc::clone(known));
        }
        let known = Arc::new(LoginSettings {
            cookies: CookieNames::new(&self.site.brand, settings.option("siteurl")),
            granted: Mutex::default(),
            passwords_in_use: OnceLock::new(),
            settings,
        });
        slot.store(Some(Arc::clone(&known)));
        Ok(known)
    }

    /// Validates a cookie's value. Returns the user if it is valid. `grace` as in [`AuthCookie::current`].
    ///
    /// The caller must check [`Self::must_set_up_two_factor`].
    ///
    /// # Errors
    /// Errors of the store.
    pub fn by_cookie_value(
        &self,
        cx: &Context,
        value: &str,
        scheme: Scheme,
        grace: bool,
    ) -> Result<(CookieStatus, Option<Arc<UserCredentials>>), Error> {
        let now = self.now(cx);
        let Ok(parsed) = AuthCookie::parse(value) else { return Ok((CookieStatus::Absent, None)) };
        let subject = if parsed.current(now, grace).is_ok() { self.by_login(cx, parsed.login)? } else { None };
        let account = subject.as_ref().map(|s| cookie::Account { password: &s.user.pass, sessions: &s.sessions });
        Ok(match parsed.validate(&self.keys, scheme, account, now, grace) {
            Ok(_) => (CookieStatus::Valid, subject),
            Err(failure) => (CookieStatus::Failed(failure), None),
        })
    }

    /// The user with this login name.
    fn by_login(&self, cx: &Context, login: &str) -> Result<Option<Arc<UserCredentials>>, Error> {
        self.cached(cx, (LookupBy::Login, login), |db| find(db, login))
    }

    /// The user with this login name or email address.
    ///
    /// # Errors
    /// Errors of the store.
    pub fn by_name(&self, cx: &Context, name: &str) -> Result<Option<Arc<UserCredentials>>, Error> {
        self.cached(cx, (LookupBy::LoginOrEmail, name), |db| match find(db, &svc_text::sanitize_user(name, false))? {
            None if svc_text::is_email(name) => users::by_email(db, name)?.map(|user| with_meta(db, user)).transpose(),
            found => Ok(found),
        })
    }

    /// Looks up a user, or returns the cached one if no user has changed since. Names without a user are not cached, since
    /// clients can send any number of them.
    fn cached(
        &self,
        cx: &Context,
        (by, name): (LookupBy, &str),
        look_up: impl FnOnce(&mut Db) -> Result<Option<UserCredentials>, StoreError>,
    ) -> Result<Option<Arc<UserCredentials>>, Error> {
        let (key, store) = ((by, name.to_owned()), &self.site.store);
        let stamp = store.stamp(cx);
        if let Some(subject) = stamp.and_then(|stamp| self.subjects.get(cx, store.versions(), &key, stamp)) {
            return Ok(Some(subject));
        }
        let (found, dependencies) = cx.capture(|| self.site.read(cx, |db| Ok(look_up(db)?)));
        let found = found?.map(Arc::new);
        if let (Some(stamp), Some(subject)) = (stamp, &found) {
            self.subjects.insert(cx.transport(), key, Arc::clone(subject), SUBJECT_SIZE, dependencies, stamp);
        }
        Ok(found)
    }

    /// The current nonce of an action for this user and session.
    pub fn nonce(&self, cx: &Context, action: &str, subject: NonceSubject<'_>) -> String {
        let tick = nonce::tick(self.now(cx), nonce::LIFETIME);
        nonce::create(&self.keys, tick, action, subject).expose().to_owned()
    }

    /// Whether a nonce is valid for this action, user and session.
    pub fn is_nonce(&self, cx: &Context, nonce: &str, action: &str, subject: NonceSubject<'_>) -> bool {
        let tick = nonce::tick(self.now(cx), nonce::LIFETIME);
        nonce::verify(&self.keys, tick, nonce, action, subject).is_some()
    }
}

/// The session token in a cookie's value, valid or not.
pub fn token_of(value: &str) -> &str {
    AuthCookie::parse(value).map_or("", |cookie| cookie.token)
}

/// The stored user with this login name.
fn find(db: &mut Db, login: &str) -> Result<Option<UserCredentials>, StoreError> {
    users::by_login(db, login)?.map(|user| with_meta(db, user)).transpose()
}

fn with_meta(db: &mut Db, user: User) -> Result<UserCredentials, StoreError> {
    let meta = meta::load_one(db, MetaKind::User, user.id.0)?;
    let prefix = db.prefix();
    let stored_passwords = meta.first(META_KEY).cloned();
    Ok(UserCredentials {
        capabilities: meta.first(&format!("{prefix}capabilities")).cloned().unwrap_or_default(),
        prefix: prefix.into(),
        sessions: meta.first(SESSIONS).map(|stored| Sessions::from_value(&stored.json())).unwrap_or_default(),
        two_factor: meta.first(two_factor::META_KEY).map(|stored| TwoFactor::from_value(&stored.json())),
        passwords: stored_passwords
            .as_ref()
            .map(|s| application_password::list_from_value(&s.json()))
            .unwrap_or_default(),
        stored_passwords,
        user,
    })
}

/// The nonce subject of anonymous visitors.
pub const ANONYMOUS: NonceSubject<'static> = NonceSubject { user: UserId(0), token: "" };

/// The decoded value of a cookie. The first of several with the same name is used.
pub fn cookie_value(headers: &HeaderMap, name: &str) -> Option<String> {
    let pairs = headers.get_all(header::COOKIE).iter().filter_map(|v| v.to_str().ok()).flat_map(|v| v.split(';'));
    let mut values = pairs.filter_map(|pair| pair.trim().split_once('=')).filter(|(n, _)| *n == name).map(|(_, v)| v);
    // PHP writes a space as `+`.
    let value = values.next()?.replace('+', " ");
    Some(percent_encoding::percent_decode_str(&value).decode_utf8_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_cookies_by_name() {
        let mut headers = HeaderMap::new();
        headers.append(header::COOKIE, "a=1; logged=x+y%7Cy; logged=z".parse().unwrap());
        headers.append(header::COOKIE, "other = 2".parse().unwrap());
        assert_eq!(cookie_value(&headers, "logged").as_deref(), Some("x y|y"));
        assert_eq!(cookie_value(&headers, "a").as_deref(), Some("1"));
        assert_eq!(cookie_value(&headers, "ogged"), None);
    }
}
