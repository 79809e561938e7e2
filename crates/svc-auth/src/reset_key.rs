//! Keys of links to set a new password, as they are stored with the user.
//!
//! The column `user_activation_key` contains the time of the request and a hash of the key: `1700000000:$generic$…`. Source:
//! `get_password_reset_key`, `check_password_reset_key`.

use crate::{RandomSourceError, Secret, password, random_text};

/// Time for which a key is valid, in seconds.
pub const LIFETIME: i64 = 86_400;

/// Length of a key: with 62 characters, 119 bits.
const LENGTH: usize = 20;

/// Why a key does not open an account.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ResetKeyError {
    /// It is not the account's key, was used, or was replaced by another one.
    #[error("the key is not valid")]
    Invalid,
    /// It is too old.
    #[error("the key has expired")]
    Expired,
}

/// A new key.
///
/// # Errors
/// If the operating system provides no random bytes.
pub fn generate() -> Result<Secret, RandomSourceError> {
    random_text(LENGTH)
}

/// What is stored for a key. `now` is in seconds since the epoch.
pub fn stored(key: &str, now: i64) -> String {
    format!("{now}:{}", password::fast_hash(key.as_bytes()))
}

/// Checks a key against what is stored with the user. `now` is in seconds since the epoch.
///
/// # Errors
/// See [`ResetKeyError`].
pub fn check(stored: &str, key: &str, now: i64) -> Result<(), ResetKeyError> {
    let key: String = key.chars().filter(char::is_ascii_alphanumeric).collect();
    let (time, hash) = stored.split_once(':').map_or((None, stored), |(time, hash)| (Some(time), hash));
    if key.is_empty() || hash.is_empty() || !password::verify_fast(hash, key.as_bytes()) {
        return Err(ResetKeyError::Invalid);
    }
    // Keys without a time are those of old versions.
    let requested: Option<i64> = time.and_then(|time| time.parse().ok());
    match requested {
        Some(requested) if now < requested.saturating_add(LIFETIME) => Ok(()),
        _ => Err(ResetKeyError::Expired),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_valid_for_a_day() {
        let (key, now) = (generate().unwrap(), 1_700_000_000);
        let stored = stored(key.expose(), now);
        assert!(stored.starts_with("1700000000:$generic$"), "{stored}");
        let old = stored.split_once(':').unwrap().1;
        for (stored, key, at, expected) in [
            (stored.as_str(), key.expose(), now, Ok(())),
            (&stored, key.expose(), now + LIFETIME - 1, Ok(())),
            (&stored, &format!("<{}>", key.expose()), now, Ok(())),
            (&stored, key.expose(), now + LIFETIME, Err(ResetKeyError::Expired)),
            (&stored, "another", now, Err(ResetKeyError::Invalid)),
            (&stored, "", now, Err(ResetKeyError::Invalid)),
            ("", key.expose(), now, Err(ResetKeyError::Invalid)),
            ("", "", now, Err(ResetKeyError::Invalid)),
            ("1700000000:", "", now, Err(ResetKeyError::Invalid)),
            (old, key.expose(), now, Err(ResetKeyError::Expired)),
            (key.expose(), key.expose(), now, Err(ResetKeyError::Invalid)),
        ] {
            assert_eq!(check(stored, key, at), expected, "{stored} {key} {at}");
        }
    }
}
