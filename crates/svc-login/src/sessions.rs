//! Starts and changes sessions.

use http::header;
use svc_auth::{
    Secret, password,
    session::{LIFETIME, REMEMBERED_LIFETIME, Session, Sessions, new_token},
    two_factor,
};
use svc_model::User;
use svc_store::{MetaKind, StoredText, Tx, meta, users};

use crate::{
    LoginPages, PrivateRequest, SESSIONS,
    cookies::{self, NewSession},
};

/// Maximum length of the user agent that is stored with a session, in bytes.
const AGENT_LENGTH: usize = 300;

/// What has been checked of a user who gets a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Factors {
    /// The password.
    Password,
    /// All that the account requires.
    All,
}

impl LoginPages {
    /// Replaces the hash of a password if it is outdated. Returns the stored hash.
    pub(crate) async fn rehash(
        &self,
        parts: &PrivateRequest,
        user: &User,
        password_typed: &str,
    ) -> Result<String, svc_schema::Error> {
        let old = user.pass.clone();
        if !password::needs_rehash(&old) {
            return Ok(old);
        }
        // If hashing fails, the old hash stays.
        let hashing = &self.identities.site.password_hashing;
        let Ok(new) = hashing.hash(Secret::new(password_typed)).await else { return Ok(old) };
        let id = user.id;
        let replace = move |tx: &mut Tx| match users::get(tx, id)? {
            // Only if the hash is still the one that was checked.
            Some(mut user) if user.pass == old => {
                user.pass.clone_from(&new);
                users::update(tx, &user)?;
                Ok(new.clone())
            }
            _ => Ok(old.clone()),
        };
        self.identities.site.write(&parts.cx, replace).await
    }

    /// Starts a session and returns its cookies. Replaces the hash of the password, if it is known, if it is outdated.
    ///
    /// # Errors
    /// If `factors` are not all that the account requires by now, or the store fails.
    pub(crate) async fn start_session(
        &self,
        parts: &PrivateRequest,
        user: User,
        password_typed: Option<&str>,
        remembered: bool,
        factors: Factors,
    ) -> Result<Vec<String>, svc_schema::Error> {
        let failed = |_| svc_schema::Error::new("log_in_failed", "The session could not be created.").with_status(500);
        let token = new_token().map_err(failed)?;
        let now = self.identities.now(&parts.cx);
        let expiration = now + if remembered { REMEMBERED_LIFETIME } else { LIFETIME };
        let agent = parts.headers.get(header::USER_AGENT).and_then(|v| v.to_str().ok()).unwrap_or_default();
        let session = Session {
            expiration,
            ip: Some(parts.client.to_string()),
            ua: Some(agent[..agent.floor_char_boundary(AGENT_LENGTH)].to_owned()),
            login: Some(now),
            ..Session::default()
        };
        let pass = match password_typed {
            Some(typed) => self.rehash(parts, &user, typed).await?,
            None => user.pass.clone(),
        };
        let is_first = self.identities.site.settings(&parts.cx)?.stored(svc_new_site::setup::OPTION).is_some();
        let (id, token_copy) = (user.id, token.clone());
        self.identities
            .site
            .write(&parts.cx, move |tx| {
                // It may have been turned on since the password was checked.
                if factors == Factors::Password && meta::get(tx, MetaKind::User, id.0, two_factor::META_KEY)?.is_some()
                {
                    let text = "Two-factor log-in was turned on in the meantime. Log in again.";
                    return Err(svc_schema::Error::new("log_in_failed", text).with_status(409).into());
                }
                if is_first {
                    svc_new_site::setup::close(tx)?;
                }
                Ok(change_sessions(tx, id, |sessions| sessions.insert(token_copy.expose(), session.clone(), now))?)
            })
            .await?;
        let new_session = NewSession {
            login: &user.login,
            pass: &pass,
            token: token.expose(),
            now,
            expiration,
            remembered,
            tls: parts.tls,
        };
        let config = self.identities.login_settings(&parts.cx)?;
        Ok(cookies::session_cookies(
            &self.identities.keys,
            &config,
            self.identities.site.brand.admin_path(),
            &new_session,
        ))
    }
}

/// Changes a user's stored sessions.
pub(crate) fn change_sessions(
    tx: &mut Tx,
    user: svc_model::UserId,
    change: impl FnOnce(&mut Sessions),
) -> Result<(), svc_store::StoreError> {
    let stored = meta::get(tx, MetaKind::User, user.0, SESSIONS)?;
    let mut sessions = stored.map(|s| Sessions::from_value(&s.json())).unwrap_or_default();
    change(&mut sessions);
    match sessions.to_value() {
        Some(value) => meta::update(tx, MetaKind::User, user.0, SESSIONS, &StoredText::of(value)).map(drop),
        None => meta::delete(tx, MetaKind::User, user.0, SESSIONS, None).map(drop),
    }
}
