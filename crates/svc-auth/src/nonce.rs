//! Nonces: short hashes which prove that a request originates from a page that this site served to this session.
//!
//! A nonce is valid in the tick in which it was created and in the next, which is between half and all of its lifetime.

use crate::{
    Secret, crypto,
    keys::{Algorithm, Keys, Scheme},
};
use svc_model::UserId;

/// Maximum lifetime of a nonce, in seconds.
pub const LIFETIME: i64 = 86_400;

/// The current tick: half-lifetimes since the epoch, rounded up.
///
/// `now` is in seconds since the epoch; `lifetime` is in seconds and at least 1. Source: `wp_nonce_tick`.
pub fn tick(now: i64, lifetime: i64) -> i64 {
    let (now, lifetime) = (i128::from(now) * 2, i128::from(lifetime.max(1)));
    let ticks = now.div_euclid(lifetime) + i128::from(now.rem_euclid(lifetime) != 0);
    i64::try_from(ticks).unwrap_or(i64::MAX)
}

/// The user and session that a nonce is bound to.
#[derive(Clone, Copy)]
pub struct NonceSubject<'a> {
    /// The user's id; 0 is anonymous.
    pub user: UserId,
    /// Session token from the `logged_in` cookie; empty if there is none.
    pub token: &'a str,
}

impl std::fmt::Debug for NonceSubject<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("NonceSubject").field("user", &self.user).finish_non_exhaustive()
    }
}

/// Creates the nonce for an action in a tick: ten hexadecimal digits.
pub fn create(keys: &Keys, tick: i64, action: &str, subject: NonceSubject<'_>) -> Secret {
    let data = format!("{tick}|{action}|{}|{}", subject.user, subject.token);
    let hash = keys.hash(data.as_bytes(), Scheme::Nonce, Algorithm::Md5);
    Secret::new(&hash[20..30])
}

/// Verifies a nonce. Returns 1 if it was created in this tick, 2 if in the previous one, and `None` if it is invalid.
pub fn verify(keys: &Keys, tick: i64, nonce: &str, action: &str, subject: NonceSubject<'_>) -> Option<u8> {
    if nonce.is_empty() {
        return None;
    }
    [(1, tick), (2, tick.saturating_sub(1))].into_iter().find_map(|(age, tick)| {
        crypto::constant_time_eq(create(keys, tick, action, subject).expose().as_bytes(), nonce.as_bytes())
            .then_some(age)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_omits_the_token() {
        let subject = NonceSubject { user: UserId(3), token: "secret" };
        assert_eq!(format!("{subject:?}"), "NonceSubject { user: UserId(3), .. }");
    }

    #[test]
    fn ticks_are_half_lifetimes_rounded_up() {
        for (now, lifetime, expected) in [
            (0, LIFETIME, 0),
            (1, LIFETIME, 1),
            (43_200, LIFETIME, 1),
            (43_201, LIFETIME, 2),
            (1_780_000_000, LIFETIME, 41_204),
            (3, 1, 6),
            (5, 0, 10),
            (-1, LIFETIME, 0),
            (i64::MAX, 1, i64::MAX),
        ] {
            assert_eq!(tick(now, lifetime), expected, "{now} {lifetime}");
        }
    }

    #[test]
    fn matches_a_nonce_created_by_wordpress() {
        // Created by WordPress for an anonymous user.
        let keys = Keys::new([("peer-fixed-nonce_key", "peer-fixed-nonce_salt"); 4]);
        let anonymous = NonceSubject { user: UserId(0), token: "" };
        let created_tick = tick(1_795_235_927, LIFETIME);
        assert_eq!(created_tick, 41_557);
        assert_eq!(create(&keys, created_tick, "wp_rest", anonymous).expose(), "76f2afc670");
    }

    #[test]
    fn nonces_are_valid_for_two_ticks_and_one_subject() {
        let keys = Keys::new([("k", "s"); 4]);
        let me = NonceSubject { user: UserId(3), token: "t" };
        let nonce = create(&keys, 100, "a", me);
        let nonce = nonce.expose();
        assert_eq!(nonce.len(), 10);
        let other_user = NonceSubject { user: UserId(4), ..me };
        let other_session = NonceSubject { token: "u", ..me };
        let other_keys = Keys::new([("k", "t"); 4]);
        #[rustfmt::skip]
        let rows = [
            (&keys, 100, nonce, "a", me, Some(1)),
            (&keys, 101, nonce, "a", me, Some(2)),
            (&keys, 102, nonce, "a", me, None),
            (&keys, 99, nonce, "a", me, None),
            (&keys, 100, nonce, "b", me, None),
            (&keys, 100, nonce, "a", other_user, None),
            (&keys, 100, nonce, "a", other_session, None),
            (&other_keys, 100, nonce, "a", me, None),
            (&keys, 100, "", "a", me, None),
            (&keys, 100, &nonce[1..], "a", me, None),
        ];
        for (keys, tick, nonce, action, subject, expected) in rows {
            assert_eq!(verify(keys, tick, nonce, action, subject), expected, "{tick} {action} {subject:?}");
        }
    }
}
