//! Who makes a request: log-in cookies with nonces, and application passwords, against the site's users.
//!
//! Pure of HTTP: the credentials come in as texts. The caller is known after one read of the database.

use std::sync::Arc;

use serde_json::Value;
use svc_auth::{
    AuthError, Caller, Keys, Scheme, Secret,
    application_password::{self, AppPasswordOutcome},
    basic,
    cookie::{self, AuthCookie, CookieNames},
    nonce::{self, Bearer},
    nonce_check::{self, CookieStatus, Decision, NonceCheck},
    session::Sessions,
};
use svc_model::{User, UserId};
use svc_schema::Error;
use svc_store::{Db, Meta, MetaKind, meta, users};

use crate::{Settings, Site, Stored};

/// Seconds that a nonce lives.
const NONCE_LIFETIME: i64 = 86_400;

/// What a request brings along to say who it is from.
#[derive(Clone, Copy, Debug, Default)]
pub struct Credentials<'a> {
    /// The `Authorization` header.
    pub authorization: Option<&'a str>,
    /// The `Cookie` header.
    pub cookies: Option<&'a str>,
    /// The parameter that carries the nonce.
    pub nonce_param: Option<&'a str>,
    /// The header that carries the nonce.
    pub nonce_header: Option<&'a str>,
    /// The request writes: a cookie then lives an hour longer, so that no work is lost.
    pub writes: bool,
    /// The client's address, to be recorded with an application password.
    pub address: &'a str,
    /// The request came over TLS.
    pub tls: bool,
}

/// Who a request is from.
#[derive(Clone, Debug, Default)]
pub struct Identity {
    /// The caller; nobody when no credentials were accepted.
    pub caller: Caller,
    /// UUID of the application password used.
    pub app_password: Option<AppPassword>,
    /// A fresh nonce for the answer's header.
    pub nonce: Option<Secret>,
}

/// UUID of the application password that a request used: an extension of the request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AppPassword(pub String);

/// What the site knows of a user that signs in.
struct Account {
    user: User,
    meta: Meta,
}

impl Account {
    fn value(&self, key: &str) -> Value {
        self.meta.first(key).map_or(Value::Null, |text| svc_php::serialize::from_stored(text.as_bytes()).into())
    }
}

fn error(error: &AuthError) -> Error {
    Error::new(error.code, error.message).with_status(error.status.unwrap_or(401))
}

impl Site {
    /// Who a request with these credentials is from. `keys` sign cookies and nonces; `app_passwords` says whether
    /// application passwords are available (TLS, or a local environment).
    ///
    /// # Errors
    /// 401 for application passwords that are not accepted, 403 for a bad nonce; those of the store.
    pub fn identify(&self, credentials: &Credentials<'_>, keys: &Keys, app_passwords: bool) -> Result<Identity, Error> {
        let basic = credentials.authorization.and_then(basic::parse);
        if basic.is_none()
            && credentials.cookies.is_none()
            && credentials.nonce_param.or(credentials.nonce_header).is_none()
        {
            return Ok(Identity::default());
        }
        self.read(|db| {
            let settings = self.settings_in(db)?;
            let (mut bearer_user, mut token, mut status) = (None, String::new(), CookieStatus::Absent);
            let mut outcome = AppPasswordOutcome::None;
            let mut used = None;
            if let Some(cookies) = credentials.cookies {
                (bearer_user, token, status) = self.by_cookie(db, &settings, cookies, credentials, keys)?;
            }
            // Explicit credentials beat ambient ones.
            let available = app_passwords && settings.number("using_application_passwords") == 1;
            if let Some(given) = basic.as_ref().filter(|_| available && status != CookieStatus::Valid) {
                let by_email = svc_text::is_email(&given.login);
                let account = self.account(db, &given.login)?;
                let passwords =
                    account.as_ref().map(|a| application_password::list_from_value(&a.value("_application_passwords")));
                outcome =
                    AppPasswordOutcome::authenticate(
                        account.as_ref().zip(passwords.as_deref()).map(|(a, passwords)| {
                            application_password::Account { id: a.user.id, passwords, allowed: true }
                        }),
                        given.password.expose(),
                        by_email,
                    );
                if matches!(outcome, AppPasswordOutcome::User(..)) {
                    used = account;
                }
            }
            let answered = match outcome.check(None) {
                Some(Err(refused)) => return Err(error(&refused).into()),
                Some(Ok(())) => true,
                None => false,
            };
            let user = bearer_user.as_ref().map_or(UserId(0), |a: &Account| a.user.id);
            let decision = nonce_check::check(
                keys,
                &self.brand,
                &NonceCheck {
                    answered,
                    cookie: status,
                    bearer: Bearer { user, token: &token },
                    param: credentials.nonce_param,
                    header: credentials.nonce_header,
                    tick: nonce::tick(self.now().and_utc().timestamp(), NONCE_LIFETIME),
                },
            );
            let mut identity = Identity::default();
            match decision {
                Decision::Refused(refused) => return Err(error(&refused).into()),
                Decision::Anonymous => return Ok(identity),
                Decision::Verified(fresh) => {
                    identity.nonce = Some(fresh);
                    if let Some(account) = &bearer_user {
                        identity.caller = caller_of(db, &settings, account);
                    }
                }
                Decision::Unchanged => {
                    if let Some(account) = &used {
                        identity.caller = caller_of(db, &settings, account);
                        identity.app_password = outcome.uuid().map(|uuid| AppPassword(uuid.to_owned()));
                    }
                }
            }
            Ok(identity)
        })
    }

    /// The user of a log-in cookie, his session token, and what became of the cookie.
    fn by_cookie(
        &self,
        db: &mut Db,
        settings: &Settings,
        cookies: &str,
        credentials: &Credentials<'_>,
        keys: &Keys,
    ) -> Stored<(Option<Account>, String, CookieStatus)> {
        let names = CookieNames::new(&self.brand, settings.option("siteurl").trim_end_matches('/'));
        let Some(value) = cookie_value(cookies, &names.logged_in) else {
            return Ok((None, String::new(), CookieStatus::Absent));
        };
        let now = self.now().and_utc().timestamp();
        let failed = |failure| Ok((None, String::new(), CookieStatus::Failed(failure)));
        let parsed = match AuthCookie::parse(&value) {
            Ok(parsed) => parsed,
            Err(failure) => return failed(failure),
        };
        if let Err(failure) = parsed.current(now, credentials.writes) {
            return failed(failure);
        }
        let Some(user) = users::by_login(db, parsed.login)? else {
            return failed(cookie::CookieFailure::BadUsername);
        };
        let account = Account { meta: meta::load_one(db, MetaKind::User, user.id.0)?, user };
        let sessions = Sessions::from_value(&account.value("session_tokens"));
        let holder = cookie::Account { password: &account.user.pass, sessions: &sessions };
        match parsed.validate(keys, Scheme::LoggedIn, Some(holder), now, credentials.writes) {
            Ok(_) => {
                let token = parsed.token.to_owned();
                Ok((Some(account), token, CookieStatus::Valid))
            }
            Err(failure) => failed(failure),
        }
    }

    /// The user whom a log-in name or e-mail address names.
    fn account(&self, db: &mut Db, login: &str) -> Stored<Option<Account>> {
        let user = match users::by_login(db, login)? {
            Some(user) => Some(user),
            None if svc_text::is_email(login) => users::by_email(db, login)?,
            None => None,
        };
        let Some(user) = user else { return Ok(None) };
        Ok(Some(Account { meta: meta::load_one(db, MetaKind::User, user.id.0)?, user }))
    }

    /// Records that an application password was used: at most one write a day for each.
    ///
    /// # Errors
    /// Those of the store.
    pub async fn record_use(self: &Arc<Self>, user: UserId, used: &AppPassword, address: &str) -> Result<(), Error> {
        const KEY: &str = "_application_passwords";
        let now = self.now().and_utc().timestamp();
        let (uuid, address) = (used.0.clone(), address.to_owned());
        let update = move |stored: &str| {
            let value: Value = svc_php::serialize::from_stored(stored.as_bytes()).into();
            let mut list = application_password::list_from_value(&value);
            let item = list.iter_mut().find(|p| p.uuid == uuid)?;
            item.record_use(now, &address).then(|| application_password::list_to_value(&list))
        };
        let due = self.read(|db| {
            let stored = meta::get(db, MetaKind::User, user.0, KEY)?;
            Ok(stored.as_deref().and_then(&update).is_some())
        })?;
        if !due {
            return Ok(());
        }
        self.write(move |tx| {
            let stored = meta::get(tx, MetaKind::User, user.0, KEY)?;
            if let Some(list) = stored.as_deref().and_then(&update) {
                let text = svc_php::serialize::to_stored(list.into());
                meta::update(tx, MetaKind::User, user.0, KEY, &String::from_utf8_lossy(&text))?;
            }
            Ok(())
        })
        .await
    }
}

/// The caller that a stored user is, with the capabilities of his roles.
fn caller_of(db: &Db, settings: &Settings, account: &Account) -> Caller {
    let granted = account.value(&format!("{}capabilities", db.prefix()));
    Caller::new(account.user.id, settings.roles(db.prefix()).caps_of(&granted))
}

/// A cookie's value out of a `Cookie` header, with its escapes decoded. The first of a name counts.
fn cookie_value(header: &str, name: &str) -> Option<String> {
    header.split(';').find_map(|pair| {
        let (key, value) = pair.trim().split_once('=')?;
        (key == name).then(|| percent_encoding::percent_decode_str(value).decode_utf8_lossy().into_owned())
    })
}
