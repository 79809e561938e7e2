//! Changes of a user's second factor, in one transaction each.

use std::sync::Arc;

use svc_auth::{
    Keys, Secret,
    passkey::{Ceremony, NewPasskey, PasskeyFault},
    two_factor::{AppSecret, TwoFactor},
};
use svc_model::User;
use svc_site::{
    Settings, Site, SiteResult,
    mail::accounts::{TwoFactorEvent, two_factor as tell},
};
use svc_store::Tx;

use crate::{
    proof::{Proof, WrongProof},
    sessions::change_sessions,
    two_factor::{no_random, store, stored, turn_off},
};

/// Who changes their second factor.
pub(crate) struct ChangedBy {
    pub(crate) settings: Arc<Settings>,
    pub(crate) user: User,
    /// Token of the session.
    pub(crate) token: String,
    pub(crate) keys: Keys,
    pub(crate) now: i64,
}

/// A change of a user's second factor that a form asks for.
pub(crate) enum Change {
    NewCodes,
    TurnOff,
    /// Adds the app with this secret, if this is a code of it.
    AddApp(AppSecret, Secret),
    RemoveApp,
    /// Removes the passkey with this ID.
    RemovePasskey(String),
    /// Confirms only that the user may add a passkey.
    AddPasskey,
}

/// What became of a change.
pub(crate) enum Changed {
    /// It is done; the new recovery codes, if there are any.
    Done(Option<Vec<Secret>>),
    /// The proof is wrong.
    Wrong(WrongProof),
    /// It is not possible.
    Refused(&'static str),
}

/// Changes the second factor of a user, if the proof is right. A user without a second factor needs no proof.
pub(crate) fn change(tx: &mut Tx, site: &Site, by: &ChangedBy, proof: &Proof, change: &Change) -> SiteResult<Changed> {
    let ChangedBy { settings, user, token, keys, now } = by;
    let found = stored(tx, user)?;
    let is_first = found.is_none();
    let mut two_factor = found.unwrap_or_else(|| TwoFactor::since(*now));
    if !is_first && let Err(wrong) = proof.accept(&mut two_factor, keys, user.id, *now) {
        return Ok(Changed::Wrong(wrong));
    }
    let mut event = None;
    match change {
        Change::TurnOff => {
            turn_off(tx, site, settings, user)?;
            return Ok(Changed::Done(None));
        }
        Change::AddPasskey if is_first => return Ok(Changed::Done(None)),
        Change::AddPasskey => {}
        Change::AddApp(secret, code) => {
            if two_factor.has_app() {
                return Ok(Changed::Refused("An app has been added in the meantime."));
            }
            if !two_factor.set_app(keys, user.id, secret, code.expose(), *now).map_err(no_random)? {
                return Ok(Changed::Wrong(WrongProof::Code));
            }
            event = Some(if is_first { TwoFactorEvent::On } else { TwoFactorEvent::AppAdded });
        }
        _ if is_first => return Ok(Changed::Refused("Two-factor log-in is off.")),
        Change::NewCodes => event = Some(TwoFactorEvent::NewCodes),
        Change::RemoveApp => {
            two_factor.remove_app();
            event = Some(TwoFactorEvent::AppRemoved);
        }
        Change::RemovePasskey(id) => match two_factor.passkeys.remove(id) {
            Some(name) => event = Some(TwoFactorEvent::PasskeyRemoved(name)),
            None => return Ok(Changed::Refused("This passkey has been removed already.")),
        },
    }
    if !two_factor.is_complete() {
        return Ok(Changed::Refused(
            "This is your only second factor. Add another one first, or turn two-factor log-in off.",
        ));
    }
    let codes = match is_first || matches!(change, Change::NewCodes) {
        true => Some(two_factor.renew_recovery_codes(user.id).map_err(no_random)?),
        false => None,
    };
    store(tx, user, &two_factor)?;
    if is_first {
        change_sessions(tx, user.id, |sessions| sessions.remove_others(token, *now))?;
    }
    if let Some(event) = event {
        tell(tx, site, settings, user, event)?;
    }
    Ok(Changed::Done(codes))
}

/// Adds a passkey. The first second factor turns two-factor log-in on: it ends other sessions, and returns recovery codes.
///
/// # Errors
/// A challenge that was made before another change of the factors has expired: that change may be what requires a proof.
pub(crate) fn add_passkey(
    tx: &mut Tx,
    site: &Site,
    by: &ChangedBy,
    ceremony: &Ceremony,
    new: &NewPasskey,
    name: &str,
) -> SiteResult<Result<Option<Vec<Secret>>, PasskeyFault>> {
    let ChangedBy { settings, user, token, now, .. } = by;
    let found = stored(tx, user)?;
    let is_first = found.is_none();
    if ceremony.browser != adding_browser(token, found.as_ref()) {
        return Ok(Err(PasskeyFault::Expired));
    }
    let mut two_factor = found.unwrap_or_else(|| TwoFactor::since(*now));
    if let Err(fault) = two_factor.passkeys.add(ceremony, new, name) {
        return Ok(Err(fault));
    }
    let codes = match is_first {
        true => Some(two_factor.renew_recovery_codes(user.id).map_err(no_random)?),
        false => None,
    };
    store(tx, user, &two_factor)?;
    let added = two_factor.passkeys.list().last().map(|passkey| passkey.name.clone()).unwrap_or_default();
    let event = if is_first { TwoFactorEvent::On } else { TwoFactorEvent::PasskeyAdded(added) };
    if is_first {
        change_sessions(tx, user.id, |sessions| sessions.remove_others(token, *now))?;
    }
    tell(tx, site, settings, user, event)?;
    Ok(Ok(codes))
}

/// What the challenge for a new passkey is tied to: the session, and the factors that the user has.
pub(crate) fn adding_browser(token: &str, two_factor: Option<&TwoFactor>) -> String {
    format!("{token}|{}", two_factor.map(TwoFactor::factors).unwrap_or_default())
}
