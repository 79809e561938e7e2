//! How a user confirms a change of the own account with their second factor: by a code, or by a passkey.

use svc_auth::{
    Keys, Secret,
    passkey::{Assertion, Ceremony, PasskeyFault},
    two_factor::{Accepted, TwoFactor},
};
use svc_model::UserId;

use crate::{form::Form, rate_limit::LoginFailure};

/// What a form has of the second factor.
pub(crate) enum Proof {
    /// A code of the app, or a recovery code.
    Code(Secret),
    /// The response of a browser, and the exchange that it belongs to.
    Passkey(Box<(Ceremony, Assertion)>),
    /// A response that cannot be read, or on a site without passkeys.
    Unreadable,
}

/// Why a proof is wrong.
#[derive(Clone, Copy, Debug)]
pub(crate) enum WrongProof {
    Code,
    Passkey(PasskeyFault),
}

impl WrongProof {
    /// The message for the user.
    pub(crate) fn text(self) -> String {
        match self {
            WrongProof::Code => "The code is wrong, or was used before.".to_owned(),
            WrongProof::Passkey(fault) => fault.to_string(),
        }
    }

    /// The reason for the log.
    pub(crate) fn failure(self) -> LoginFailure {
        match self {
            WrongProof::Code => LoginFailure::WrongCode,
            WrongProof::Passkey(_) => LoginFailure::WrongPasskey,
        }
    }
}

impl Proof {
    /// The proof of a form. `ceremony` is that of the page; `None` on a site without passkeys.
    pub(crate) fn of(form: &Form, ceremony: Option<Ceremony>) -> Self {
        match (form.get("passkey"), ceremony) {
            ("", _) => Proof::Code(Secret::new(form.get("code"))),
            (text, Some(ceremony)) => Assertion::read(text)
                .map_or(Proof::Unreadable, |assertion| Proof::Passkey(Box::new((ceremony, assertion)))),
            _ => Proof::Unreadable,
        }
    }

    /// Uses the proof. The changed state must be stored, in the transaction that has read it.
    pub(crate) fn accept(
        &self,
        two_factor: &mut TwoFactor,
        keys: &Keys,
        user: UserId,
        now: i64,
    ) -> Result<Accepted, WrongProof> {
        match self {
            Proof::Code(code) => two_factor.accept(keys, user, code.expose(), now).ok_or(WrongProof::Code),
            Proof::Passkey(passkey) => {
                let (ceremony, assertion) = &**passkey;
                let accepted = two_factor.passkeys.accept(ceremony, assertion);
                accepted.map(|()| Accepted::Passkey).map_err(WrongProof::Passkey)
            }
            Proof::Unreadable => Err(WrongProof::Passkey(PasskeyFault::Unreadable)),
        }
    }
}
