//! Who a log-in cookie names: users are looked up with the stored values that sign-in asks for, in the caller's snapshot.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, OnceLock, PoisonError},
};

use arc_swap::ArcSwapOption;
use http::{HeaderMap, header};
use quick_cache::sync::Cache;
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
use svc_store::{Db, Family, Meta, MetaKind, StoreError, StoredText, meta, options, users};

/// User meta that holds the sessions.
pub const SESSIONS: &str = "session_tokens";

/// Users that are kept in memory.
const MOST_SUBJECTS: usize = 1_000;

/// Kinds of stored capabilities whose meaning is kept: sites have hardly more of them than roles.
const MOST_KINDS: usize = 64;

/// The users of a site, as sign-in knows them.
pub struct Identities {
    /// The site.
    pub site: Arc<RestSite>,
    /// The keys that sign cookies and nonces.
    pub keys: Keys,
    /// What was last understood of the options.
    known: ArcSwapOption<AuthenticatedUser>,
    /// Users that were found, with the state of all users ([`Family::Users`]) that they are of.
    subjects: Cache<(By, String), (i64, Arc<Subject>)>,
}

/// What a user is looked for by.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum By {
    /// The login alone.
    Login,
    /// The login, or else the address of e-mail.
    Name,
}

/// What the options say, understood once per change of them.
pub struct AuthenticatedUser {
    /// The settings that the rest follows from.
    pub settings: Arc<Settings>,
    /// Names of the cookies.
    pub cookies: CookieNames,
    /// Users by their stored capabilities; most have those of a role.
    granted: Mutex<HashMap<StoredText, Caller>>,
    /// Whether anybody ever made an application password: without it none is looked for.
    passwords_in_use: OnceLock<bool>,
}

/// A user with the stored values that authentication asks for.
pub struct Subject {
    /// The user.
    pub user: User,
    /// All meta of the user.
    pub meta: Meta,
}

impl Subject {
    /// The log-ins of the user, ended ones among them.
    pub fn sessions(&self) -> Sessions {
        self.meta.first(SESSIONS).map(|stored| Sessions::from_value(&stored.json())).unwrap_or_default()
    }
}

impl AuthenticatedUser {
    /// Whether anybody ever made an application password.
    pub fn passwords_in_use(&self, db: &mut Db) -> Result<bool, StoreError> {
        if let Some(known) = self.passwords_in_use.get() {
            return Ok(*known);
        }
        let in_use = options::get(db, IN_USE_OPTION)?.is_some_and(|v| !matches!(v.text(), "" | "0"));
        Ok(*self.passwords_in_use.get_or_init(|| in_use))
    }

    /// The user as the interface's permissions ask for him. What stored capabilities come to is worked out once.
    pub fn caller(&self, subject: &Subject, prefix: &str) -> Caller {
        let stored = subject.meta.first(&format!("{prefix}capabilities")).cloned().unwrap_or_default();
        let mut granted = self.granted.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = granted.get(&stored) {
            return Caller { id: subject.user.id, ..known.clone() };
        }
        let caps = self.settings.roles(prefix).caps_of(&stored.json());
        let caller = Caller::new(subject.user.id, caps);
        if granted.len() >= MOST_KINDS {
            granted.clear();
        }
        granted.insert(stored, caller.clone());
        caller
    }
}

impl Identities {
    /// The users of this site, with the keys that sign its cookies and nonces.
    pub fn new(site: Arc<RestSite>, keys: Keys) -> Self {
        Identities { site, keys, known: ArcSwapOption::empty(), subjects: Cache::new(MOST_SUBJECTS) }
    }

    /// The site's time, in seconds since the epoch.
    pub fn now(&self) -> i64 {
        self.site.now().and_utc().timestamp()
    }

    /// What the options say, as of this snapshot.
    pub fn known(&self, db: &mut Db) -> SiteResult<Arc<AuthenticatedUser>> {
        let settings = self.site.settings_in(db)?;
        if let Some(known) = &*self.known.load()
            && Arc::ptr_eq(&known.settings, &settings)
        {
            return Ok(Arc::clone(known));
        }
        let known = Arc::new(AuthenticatedUser {
            cookies: CookieNames::new(&self.site.brand, settings.option("siteurl")),
            granted: Mutex::default(),
            passwords_in_use: OnceLock::new(),
            settings,
        });
        self.known.store(Some(Arc::clone(&known)));
        Ok(known)
    }

    /// Checks a cookie's value: what is to be said of it, and whose it is when it is good. `grace` as in
    /// [`AuthCookie::current`].
    pub fn of_cookie(
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

    /// The user of this login.
    fn by_login(&self, db: &mut Db, login: &str) -> Result<Option<Arc<Subject>>, StoreError> {
        self.kept(db, (By::Login, login), |db| find(db, login))
    }

    /// The user of this login, or of this address of e-mail.
    pub fn by_name(&self, db: &mut Db, name: &str) -> Result<Option<Arc<Subject>>, StoreError> {
        self.kept(db, (By::Name, name), |db| match find(db, &svc_text::sanitize_user(name, false))? {
            None if svc_text::is_email(name) => users::by_email(db, name)?.map(|user| with_meta(db, user)).transpose(),
            found => Ok(found),
        })
    }

    /// Looks somebody up unless no user has changed since that was done before. Who is not found is not kept: strangers
    /// can ask for any number of names.
    fn kept(
        &self,
        db: &mut Db,
        (by, name): (By, &str),
        look_up: impl FnOnce(&mut Db) -> Result<Option<Subject>, StoreError>,
    ) -> Result<Option<Arc<Subject>>, StoreError> {
        let version = db.version(Family::Users);
        let key = (by, name.to_owned());
        if let (Some(version), Some((of, subject))) = (version, self.subjects.get(&key))
            && of == version
        {
            return Ok(Some(subject));
        }
        let found = look_up(db)?.map(Arc::new);
        if let (Some(version), Some(subject)) = (version, &found) {
            self.subjects.insert(key, (version, Arc::clone(subject)));
        }
        Ok(found)
    }

    /// The nonce of an action for this bearer, at this moment.
    pub fn nonce(&self, action: &str, bearer: NonceSubject<'_>) -> String {
        let tick = nonce::tick(self.now(), nonce::LIFETIME);
        nonce::create(&self.keys, tick, action, bearer).expose().to_owned()
    }

    /// Whether this is a nonce of the action for this bearer.
    pub fn is_nonce(&self, given: &str, action: &str, bearer: NonceSubject<'_>) -> bool {
        let tick = nonce::tick(self.now(), nonce::LIFETIME);
        nonce::verify(&self.keys, tick, given, action, bearer).is_some()
    }
}

/// The session that a cookie's value names, good or not.
pub fn token_of(value: &str) -> &str {
    AuthCookie::parse(value).map_or("", |cookie| cookie.token)
}

/// The user of this login, as stored.
fn find(db: &mut Db, login: &str) -> Result<Option<Subject>, StoreError> {
    users::by_login(db, login)?.map(|user| with_meta(db, user)).transpose()
}

fn with_meta(db: &mut Db, user: User) -> Result<Subject, StoreError> {
    let meta = meta::load_one(db, MetaKind::User, user.id.0)?;
    Ok(Subject { user, meta })
}

/// Nobody, who may have nonces too.
pub const NOBODY: NonceSubject<'static> = NonceSubject { user: UserId(0), token: "" };

/// The value of a cookie, decoded; of several with this name the first counts.
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
    fn cookies_are_found_by_name() {
        let mut headers = HeaderMap::new();
        headers.append(header::COOKIE, "a=1; logged=x+y%7Cy; logged=z".parse().unwrap());
        headers.append(header::COOKIE, "other = 2".parse().unwrap());
        assert_eq!(cookie_value(&headers, "logged").as_deref(), Some("x y|y"));
        assert_eq!(cookie_value(&headers, "a").as_deref(), Some("1"));
        assert_eq!(cookie_value(&headers, "ogged"), None);
    }
}
