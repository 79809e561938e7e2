//! The set-up of a new site in the browser, with a link that works once.
//!
//! A new site has one account, with a generated name and password. Until somebody uses it, whoever has the link may replace both:
//! the option [`OPTION`] has a hash of the link's token. The first log-in, another user, another password or an application password
//! end that, as does the set-up itself.

use chrono::{DateTime, Utc};
use serde_json::{Value, json};
use svc_auth::{RandomSourceError, Secret, application_password::META_KEY, random_text, session::verifier};
use svc_model::{User, UserId};
use svc_store::{Db, MetaKind, Order, Store, StoreError, StoredText, Tx, meta, options, users};

use crate::error::{Error, Result};

/// The option of a site whose first account nobody has used.
pub const OPTION: &str = "svc_setup";

/// Time for which a link is valid, in seconds.
pub const LIFETIME: i64 = 3_600;

/// Length of the token: with 62 characters, 190 bits.
const TOKEN_LENGTH: usize = 32;

/// The answers of the set-up. All texts are as they are stored.
#[derive(Clone, Debug)]
pub struct Answers {
    /// Title of the site.
    pub title: String,
    /// Name of the time zone.
    pub time_zone: String,
    /// Login name of the administrator.
    pub login: String,
    /// Slug of the administrator.
    pub slug: String,
    /// E-mail address of the administrator and the site.
    pub email: String,
    /// Hash of the administrator's password.
    pub hash: String,
}

/// Records the first account of a new site.
pub(crate) fn open(tx: &mut Tx, user: UserId, pass: &str) -> std::result::Result<(), StoreError> {
    options::set(tx, OPTION, &StoredText::of(json!({"user": user.0, "pass": pass})), true)
}

/// Ends the possibility of a set-up.
///
/// # Errors
/// If the database cannot be written.
pub fn close(tx: &mut Tx) -> std::result::Result<(), StoreError> {
    options::delete(tx, OPTION).map(drop)
}

/// A token for a new link, if the site can still be set up. Earlier links do not work any more.
///
/// # Errors
/// If the database cannot be read or written, or the system has no random bytes.
pub fn offer(store: &Store, now: DateTime<Utc>) -> Result<Option<Secret>> {
    let failed = || Error::store("cannot offer the set-up of the site");
    if store.read_blocking(account).map_err(failed())?.is_none() {
        return Ok(None);
    }
    let token = random_text(TOKEN_LENGTH).map_err(|error: RandomSourceError| Error::Refused(error.to_string()))?;
    let (hash, expires) = (verifier(token.expose()), now.timestamp() + LIFETIME);
    let offered = store.write_blocking(move |tx| {
        let Some((_, mut stored)) = account(tx)? else { return Ok(false) };
        (stored["token"], stored["expires"]) = (hash.clone().into(), expires.into());
        options::set(tx, OPTION, &StoredText::of(stored), true).map(|()| true)
    });
    Ok(offered.map_err(failed())?.then_some(token))
}

/// Whether the site can be set up with this token. `now` is in seconds since the epoch.
///
/// # Errors
/// If the database cannot be read.
pub fn is_open(db: &mut Db, token: &str, now: i64) -> std::result::Result<bool, StoreError> {
    Ok(account_for(db, token, now)?.is_some())
}

/// Sets the site up: its title and time zone, and the name, the address and the password of the administrator, whom it returns. `None`
/// if the token is not valid, or not any more.
///
/// # Errors
/// If the database cannot be written.
pub fn complete(
    tx: &mut Tx,
    token: &str,
    answers: &Answers,
    now: i64,
) -> std::result::Result<Option<User>, StoreError> {
    let Some(mut user) = account_for(tx, token, now)? else { return Ok(None) };
    user.login.clone_from(&answers.login);
    user.nicename.clone_from(&answers.slug);
    user.display_name.clone_from(&answers.login);
    user.email.clone_from(&answers.email);
    user.pass.clone_from(&answers.hash);
    users::update(tx, &user)?;
    meta::update(tx, MetaKind::User, user.id.0, "nickname", &StoredText::of(&answers.login))?;
    let texts =
        [("blogname", &answers.title), ("timezone_string", &answers.time_zone), ("admin_email", &answers.email)];
    for (name, value) in texts {
        options::set(tx, name, &StoredText::of(value), true)?;
    }
    close(tx)?;
    Ok(Some(user))
}

/// The first account if the token is valid.
fn account_for(db: &mut Db, token: &str, now: i64) -> std::result::Result<Option<User>, StoreError> {
    let Some((user, stored)) = account(db)? else { return Ok(None) };
    // Hashes of random texts need no comparison in constant time.
    let is_token = stored["token"].as_str().is_some_and(|hash| !token.is_empty() && hash == verifier(token));
    let is_in_time = stored["expires"].as_i64().is_some_and(|expires| now < expires);
    Ok((is_token && is_in_time).then_some(user))
}

/// The first account and the value of the option, if nobody has used the account.
fn account(db: &mut Db) -> std::result::Result<Option<(User, Value)>, StoreError> {
    let Some(stored) = options::get(db, OPTION)? else { return Ok(None) };
    let stored = stored.json();
    let all = users::query(db, &users::UserQuery::default().order(Order::Asc).limit(Some(2)))?.ids;
    let [only] = all[..] else { return Ok(None) };
    let Some(user) = users::get(db, only)? else { return Ok(None) };
    let is_same = stored["user"] == user.id.0 && stored["pass"] == user.pass.as_str();
    if !is_same || meta::get(db, MetaKind::User, user.id.0, META_KEY)?.is_some_and(|stored| !stored.is_empty()) {
        return Ok(None);
    }
    Ok(Some((user, stored)))
}
