//! Cookie authentication over REST: the eight rules of the specification's "Session cookie plus nonce".
//!
//! A cookie alone is not sufficient, because browsers also send it with requests that other sites trigger. The nonce
//! proves that the request comes from a page of this site.

use svc_brand::Brand;
use svc_model::UserId;

use crate::{
    AuthError, Keys, Secret,
    cookie::{self, CookieFailure},
    nonce::{self, NonceSubject},
};

/// The nonce is invalid.
pub const INVALID_NONCE: AuthError =
    AuthError { code: "rest_cookie_invalid_nonce", message: "Cookie nonce is invalid", status: Some(403) };

/// Status of the request's login cookie (rule 8).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CookieStatus {
    /// Not checked: the request has no cookie, or another mechanism authenticated it first.
    #[default]
    Absent,
    /// The cookie is valid.
    Valid,
    /// The cookie was rejected.
    Failed(CookieFailure),
}

impl CookieStatus {
    /// Reason of a failure: the name of its event without `auth_cookie_`.
    pub fn reason(self) -> Option<&'static str> {
        const PREFIX: usize = cookie::VALID_EVENT.len() - "valid".len();
        match self {
            CookieStatus::Failed(failure) => Some(&failure.event()[PREFIX..]),
            _ => None,
        }
    }
}

/// Input of [`check`].
#[derive(Clone, Copy)]
pub struct NonceCheck<'a> {
    /// Whether another authentication mechanism has succeeded or failed already.
    pub authenticated_otherwise: bool,
    /// Status of the login cookie.
    pub cookie: CookieStatus,
    /// The current user, with their session token if they were authenticated by a cookie.
    pub nonce_subject: NonceSubject<'a>,
    /// The request parameter [`Brand::nonce_param`].
    pub param: Option<&'a str>,
    /// The request header [`Brand::header`]`("Nonce")`.
    pub header: Option<&'a str>,
    /// The current tick; see [`nonce::tick`].
    pub tick: i64,
}

/// How to continue with the request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Keep the earlier result and the current user (rules 2 and 3).
    Unchanged,
    /// Continue as an anonymous request (rule 5).
    Anonymous,
    /// Continue as the current user and send this nonce in the response header [`Brand::header`]`("Nonce")` (rule 7).
    Verified(Secret),
    /// Reject the request (rule 6).
    Refused(AuthError),
}

/// Applies rules 1 to 7.
pub fn check(keys: &Keys, brand: &Brand, request: &NonceCheck<'_>) -> Decision {
    let NonceCheck { authenticated_otherwise, cookie, nonce_subject, param, header, tick } = *request;
    if authenticated_otherwise || (cookie != CookieStatus::Valid && nonce_subject.user != UserId(0)) {
        return Decision::Unchanged;
    }
    let Some(sent) = param.or(header) else { return Decision::Anonymous };
    let action = brand.nonce_action();
    match nonce::verify(keys, tick, sent, &action, nonce_subject) {
        Some(_) => Decision::Verified(nonce::create(keys, tick, &action, nonce_subject)),
        None => Decision::Refused(INVALID_NONCE),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_eight_rules() {
        let keys = Keys::new([("k", "s"); 4]);
        let brand = Brand::default();
        let me = NonceSubject { user: UserId(3), token: "tok" };
        let anonymous = NonceSubject { user: UserId(0), token: "" };
        let nonce = |tick, nonce_subject| nonce::create(&keys, tick, "svc_rest", nonce_subject).expose().to_owned();
        let (current, old, older, other_nonce) = (nonce(9, me), nonce(8, me), nonce(7, me), nonce(9, anonymous));
        let verified = || Decision::Verified(Secret::new(current.clone()));
        let rejected = || Decision::Refused(INVALID_NONCE);
        use CookieStatus::{Absent, Failed, Valid};
        let failed = Failed(CookieFailure::Expired);
        #[rustfmt::skip]
        let rows = [
            // answered, cookie, bearer, parameter, header, decision
            (false, Valid, me, None, None, Decision::Anonymous),
            (false, Valid, me, Some(&*current), None, verified()),
            (false, Valid, me, None, Some(&*current), verified()),
            (false, Valid, me, None, Some(&*old), verified()),
            (false, Valid, me, None, Some(&*older), rejected()),
            (false, Valid, me, Some("bad"), Some(&*current), rejected()),
            (false, Valid, me, Some(""), Some(&*current), rejected()),
            (false, Valid, me, None, Some(""), rejected()),
            (false, Valid, me, None, Some(&*other_nonce), rejected()),
            (true, Valid, me, Some("bad"), None, Decision::Unchanged),
            (true, Absent, anonymous, Some("bad"), None, Decision::Unchanged),
            (false, Absent, me, Some("bad"), None, Decision::Unchanged),
            (false, failed, me, None, None, Decision::Unchanged),
            (false, Absent, anonymous, None, None, Decision::Anonymous),
            (false, failed, anonymous, None, None, Decision::Anonymous),
            (false, failed, anonymous, None, Some(&*current), rejected()),
            (false, Absent, anonymous, Some(&*other_nonce), None, Decision::Verified(Secret::new(other_nonce.clone()))),
        ];
        for (i, (authenticated_otherwise, cookie, nonce_subject, param, header, expected)) in
            rows.into_iter().enumerate()
        {
            let request = NonceCheck { authenticated_otherwise, cookie, nonce_subject, param, header, tick: 9 };
            assert_eq!(check(&keys, &brand, &request), expected, "row {i}");
        }
    }

    #[test]
    fn nonces_of_another_brand_are_rejected() {
        let keys = Keys::new([("k", "s"); 4]);
        let nonce_subject = NonceSubject { user: UserId(3), token: "tok" };
        let sent = nonce::create(&keys, 9, "wp_rest", nonce_subject);
        let cookie = CookieStatus::Valid;
        let request = NonceCheck {
            authenticated_otherwise: false,
            cookie,
            nonce_subject,
            param: None,
            header: Some(sent.expose()),
            tick: 9,
        };
        assert_eq!(check(&keys, &Brand::default(), &request), Decision::Refused(INVALID_NONCE));
        assert!(matches!(check(&keys, &Brand::new("wp").unwrap(), &request), Decision::Verified(_)));
    }

    #[test]
    fn reasons_are_event_names_without_prefix() {
        for (status, expected) in [
            (CookieStatus::Absent, None),
            (CookieStatus::Valid, None),
            (CookieStatus::Failed(CookieFailure::Malformed), Some("malformed")),
            (CookieStatus::Failed(CookieFailure::Expired), Some("expired")),
            (CookieStatus::Failed(CookieFailure::BadUsername), Some("bad_username")),
            (CookieStatus::Failed(CookieFailure::BadHash), Some("bad_hash")),
            (CookieStatus::Failed(CookieFailure::BadSessionToken), Some("bad_session_token")),
        ] {
            assert_eq!(status.reason(), expected);
        }
    }
}
