//! Finds the user of a log-in cookie, with the stored values that authentication needs, in the caller's snapshot.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, OnceLock, PoisonError},
};

use arc_swap::ArcSwapOption;
use http::{HeaderMap, header};
use svc_auth::{
    Caller, Keys, Scheme,
    application_password::IN_USE_OPTION,
    cookie::{self, AuthCookie, CookieNames},
    nonce::{self, NonceSubject},
    nonce_check::CookieStatus,
    session::Sessions,
};
use svc_controllers::RestSite;
use svc_model::{User, UserId};
use svc_site::{Settings, SiteResult};
use svc_store::{Db, Meta, MetaKind, StoreError, StoredText, meta, options, users};
use svc_versions::VersionedCache;

/// Key of the user meta with the sessions.
pub const SESSIONS: &str = "session_tokens";

/// Capacity of the cache of users, in bytes.
const SUBJECTS_CAPACITY: u64 = 4 << 20;
/// Estimated memory of a cached user with their meta, in bytes.
const SUBJECT_SIZE: usize = 4_096;

/// Maximum number of cached capability sets. Most users have the set of a role.
const MAX_CAPABILITY_SETS: usize = 64;

/// Finds the users of a site for authentication.
pub struct Identities {
    /// The site.
    pub site: Arc<RestSite>,
    /// The keys that sign cookies and nonces.
    pub keys: Keys,
    /// Derived from the latest options.
    current: ArcSwapOption<LoginSettings>,
    /// Cached users.
    subjects: VersionedCache<(LookupBy, String), Arc<Subject>>,
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
    /// Capabilities by their stored form.
    granted: Mutex<HashMap<StoredText, Caller>>,
    /// Whether an application password was ever created. If not, none is looked up.
    passwords_in_use: OnceLock<bool>,
}

/// A user with the stored values that authentication needs.
pub struct Subject {
    /// The user.
    pub user: User,
    /// All meta of the user.
    pub meta: Meta,
}

impl Subject {
    /// The user's sessions, including expired ones.
    pub fn sessions(&self) -> Sessions {
        self.meta.first(SESSIONS).map(|stored| Sessions::from_value(&stored.json())).unwrap_or_default()
    }
}

impl LoginSettings {
    /// Whether an application password was ever created on the site.
    ///
    /// # Errors
    /// Errors of the store.
    pub fn passwords_in_use(&self, db: &mut Db) -> Result<bool, StoreError> {
        if let Some(known) = self.passwords_in_use.get() {
            return Ok(*known);
        }
        let in_use = options::get(db, IN_USE_OPTION)?.is_some_and(|v| !matches!(v.text(), "" | "0"));
        Ok(*self.passwords_in_use.get_or_init(|| in_use))
    }

    /// The user as a caller of the REST API. Capabilities are cached by their stored form.
    pub fn caller(&self, subject: &Subject, prefix: &str) -> Caller {
        let stored = subject.meta.first(&format!("{prefix}capabilities")).cloned().unwrap_or_default();
        let mut granted = self.granted.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = granted.get(&stored) {
            return Caller { id: subject.user.id, ..known.clone() };
        }
        let caps = self.settings.roles(prefix).caps_of(&stored.json());
        let caller = Caller::new(subject.user.id, caps);
        if granted.len() >= MAX_CAPABILITY_SETS {
            granted.clear();
        }
        granted.insert(stored, caller.clone());
        caller
    }
}

impl Identities {
    /// The users of this site, with the keys that sign its cookies and nonces.
    pub fn new(site: Arc<RestSite>, keys: Keys) -> Self {
        Identities { site, keys, current: ArcSwapOption::empty(), subjects: VersionedCache::new(SUBJECTS_CAPACITY) }
    }

    /// The site's time, in seconds since the epoch.
    pub fn now(&self) -> i64 {
        self.site.now().and_utc().timestamp()
    }

    /// The values that depend on the options of this snapshot.
    ///
    /// # Errors
    /// Errors of the store.
    pub fn login_settings(&self, db: &mut Db) -> SiteResult<Arc<LoginSettings>> {
        let settings = self.site.settings_in(db)?;
        if let Some(known) = &*self.current.load()
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
        self.current.store(Some(Arc::clone(&known)));
        Ok(known)
    }

    /// Validates a cookie's value. Returns the user if it is valid. `grace` as in [`AuthCookie::current`].
    ///
    /// # Errors
    /// Errors of the store.
    pub fn by_cookie_value(
        &self,
        db: &mut Db,
        value: &str,
        scheme: Scheme,
        grace: bool,
    ) -> Result<(CookieStatus, Option<Arc<Subject>>), StoreError> {
        let now = self.now();
        let Ok(parsed) = AuthCookie::parse(value) else { return Ok((CookieStatus::Absent, None)) };
        let subject = if parsed.current(now, grace).is_ok() { self.by_login(db, parsed.login)? } else { None };
        let sessions = subject.as_deref().map(Subject::sessions).unwrap_or_default();
        let account = subject.as_ref().map(|s| cookie::Account { password: &s.user.pass, sessions: &sessions });
        Ok(match parsed.validate(&self.keys, scheme, account, now, grace) {
            Ok(_) => (CookieStatus::Valid, subject),
            Err(failure) => (CookieStatus::Failed(failure), None),
        })
    }

    /// The user with this login name.
    fn by_login(&self, db: &mut Db, login: &str) -> Result<Option<Arc<Subject>>, StoreError> {
        self.cached(db, (LookupBy::Login, login), |db| find(db, login))
    }

    /// The user with this login name or email address.
    ///
    /// # Errors
    /// Errors of the store.
    pub fn by_name(&self, db: &mut Db, name: &str) -> Result<Option<Arc<Subject>>, StoreError> {
        self.cached(db, (LookupBy::LoginOrEmail, name), |db| match find(db, &svc_text::sanitize_user(name, false))? {
            None if svc_text::is_email(name) => users::by_email(db, name)?.map(|user| with_meta(db, user)).transpose(),
            found => Ok(found),
        })
    }

    /// Looks up a user, or returns the cached one if no user has changed since. Names without a user are not cached, since
    /// clients can send any number of them.
    fn cached(
        &self,
        db: &mut Db,
        (by, name): (LookupBy, &str),
        look_up: impl FnOnce(&mut Db) -> Result<Option<Subject>, StoreError>,
    ) -> Result<Option<Arc<Subject>>, StoreError> {
        let (key, store) = ((by, name.to_owned()), &self.site.store);
        let stamp = store.stamp();
        if let Some(subject) = stamp.and_then(|stamp| self.subjects.get(store.versions(), &key, stamp)) {
            return Ok(Some(subject));
        }
        let (found, dependencies) = svc_versions::capture(|| look_up(db));
        let found = found?.map(Arc::new);
        if let (Some(stamp), Some(subject)) = (stamp, &found) {
            self.subjects.insert(key, Arc::clone(subject), SUBJECT_SIZE, dependencies, stamp);
        }
        Ok(found)
    }

    /// The current nonce of an action for this user and session.
    pub fn nonce(&self, action: &str, subject: NonceSubject<'_>) -> String {
        let tick = nonce::tick(self.now(), nonce::LIFETIME);
        nonce::create(&self.keys, tick, action, subject).expose().to_owned()
    }

    /// Whether a nonce is valid for this action, user and session.
    pub fn is_nonce(&self, nonce: &str, action: &str, subject: NonceSubject<'_>) -> bool {
        let tick = nonce::tick(self.now(), nonce::LIFETIME);
        nonce::verify(&self.keys, tick, nonce, action, subject).is_some()
    }
}

/// The session token in a cookie's value, valid or not.
pub fn token_of(value: &str) -> &str {
    AuthCookie::parse(value).map_or("", |cookie| cookie.token)
}

/// The stored user with this login name.
fn find(db: &mut Db, login: &str) -> Result<Option<Subject>, StoreError> {
    users::by_login(db, login)?.map(|user| with_meta(db, user)).transpose()
}

fn with_meta(db: &mut Db, user: User) -> Result<Subject, StoreError> {
    let meta = meta::load_one(db, MetaKind::User, user.id.0)?;
    Ok(Subject { user, meta })
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
