//! Password hashes in every format that WordPress sites store: hashing, verification and detection of outdated hashes.
//!
//! | Stored text | Format |
//! |---|---|
//! | `$wp$2y$…` | bcrypt of a SHA-384 pre-hash: the current format |
//! | `$2y$…` (also `2a`, `2b`, `2x`) | plain bcrypt, limited to 72 bytes and the first NUL byte |
//! | `$P$…`, `$H$…` | phpass: iterated MD5 |
//! | at most 32 bytes | MD5 in hexadecimal |
//! | `$generic$…` | keyed BLAKE2b, for random texts only (application passwords) |
//!
//! The prefixes are constants of the data format and do not depend on the brand. Verification is slow by design (70 ms
//! at the default cost): run it outside of the async workers and limit concurrency.

use base64::{
    Engine,
    engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD},
};
use md5::{Digest, Md5};

use crate::{
    crypto,
    secret::{RandomSourceError, random_text},
};

/// Maximum password length for slow hashes, in bytes. Longer passwords never match.
pub const MAX_LENGTH: usize = 4096;

/// bcrypt cost of new hashes: 2¹⁰ rounds.
pub const COST: u32 = 10;

/// Stored hashes with a higher cost (2¹⁸ rounds, 20 s) are not verified, because they would block a worker.
const MAX_COST: u32 = 18;

/// Maximum cost of phpass hashes (2²⁰ iterations; WordPress uses 2¹³).
const MAX_PHPASS_COST: usize = 20;

const PREHASHED: &str = "$wp";
const FAST: &str = "$generic$";

/// An error of hashing a password.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HashError {
    /// The password is longer than [`MAX_LENGTH`].
    TooLong,
    /// The operating system provided no random bytes for the salt, or the bcrypt cost is invalid.
    Unavailable,
}

impl std::fmt::Display for HashError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            HashError::TooLong => write!(f, "a password may have at most {MAX_LENGTH} bytes"),
            HashError::Unavailable => f.write_str("the password could not be hashed"),
        }
    }
}

impl std::error::Error for HashError {}

/// Trims like PHP's `trim`. (`str::trim` also removes Unicode white space such as no-break spaces.)
fn php_trim(text: &[u8]) -> &[u8] {
    let blank = |b: &u8| matches!(b, b' ' | b'\t' | b'\n' | b'\r' | 0 | 0x0b);
    let start = text.iter().position(|b| !blank(b)).unwrap_or(text.len());
    let end = text.iter().rposition(|b| !blank(b)).map_or(start, |i| i + 1);
    &text[start..end]
}

/// The 64-character input for bcrypt, so that all bytes of a long password are significant.
fn prehash(password: &[u8]) -> String {
    STANDARD.encode(crypto::hmac_sha384(b"wp-sha384", password))
}

/// Hashes a password in the current format at the default cost. White space at both ends is ignored.
///
/// # Errors
/// See [`HashError`].
pub fn hash(password: &[u8]) -> Result<String, HashError> {
    hash_with_cost(password, COST)
}

/// Like [`hash`], with a bcrypt cost of 4 to 31.
///
/// # Errors
/// See [`HashError`].
pub fn hash_with_cost(password: &[u8], cost: u32) -> Result<String, HashError> {
    if password.len() > MAX_LENGTH {
        return Err(HashError::TooLong);
    }
    let parts = bcrypt::hash_with_result(prehash(php_trim(password)), cost).map_err(|_| HashError::Unavailable)?;
    Ok(format!("{PREHASHED}{}", parts.format_for_version(bcrypt::Version::TwoY)))
}

/// Verifies a password against a stored hash of any format except `$generic$`.
///
/// The password is not trimmed; the login form trims it first, as hashing does.
pub fn verify(stored: &str, password: &[u8]) -> bool {
    if stored.len() <= 32 {
        return crypto::constant_time_eq(stored.as_bytes(), crypto::md5_hex(password).as_bytes());
    }
    if password.len() > MAX_LENGTH {
        return false;
    }
    if let Some(bcrypt) = stored.strip_prefix(PREHASHED) {
        return verify_bcrypt(bcrypt, prehash(password).as_bytes());
    }
    if is_phpass(stored) {
        return verify_phpass(stored, password);
    }
    verify_bcrypt(stored, password)
}

/// Like [`verify`] for a user who may not exist, with the timing of a wrong password.
///
/// If the stored hash is faster to verify than the current format (MD5, phpass, a low cost), a wrong password takes the
/// same time, so that timing does not reveal which users exist or have an old hash.
pub fn verify_or_dummy(stored: Option<&str>, password: &[u8]) -> bool {
    /// Hash of an unknown random text.
    const DUMMY: &str = "$wp$2y$10$cWkXxGS3yrHGRYH/vQsKvOdlOY74eRRUHXQ/rGjAq14IWFZhKX5f6";
    let matched = stored.is_some_and(|stored| verify(stored, password));
    if !matched && !stored.is_some_and(takes_full_time) {
        verify(DUMMY, password);
    }
    matched
}

/// Whether verifying a wrong password takes at least as long as with the current format.
fn takes_full_time(stored: &str) -> bool {
    bcrypt_cost(stored).is_some_and(|cost| (COST..=MAX_COST).contains(&cost))
}

/// Returns whether a stored hash should be replaced at the next login because it does not have the current format and
/// cost.
pub fn needs_rehash(stored: &str) -> bool {
    needs_rehash_at(stored, COST)
}

/// Like [`needs_rehash`], for a different cost.
pub fn needs_rehash_at(stored: &str, cost: u32) -> bool {
    let current_format = stored.strip_prefix(PREHASHED).filter(|h| h.starts_with("$2y$"));
    current_format.and_then(bcrypt_cost) != Some(cost)
}

/// Hashes a long random text, such as an application password, quickly. Do not use it for passwords that users choose.
pub fn fast_hash(text: &[u8]) -> String {
    format!("{FAST}{}", URL_SAFE_NO_PAD.encode(crypto::blake2b_30(b"wp_fast_hash_6.8+", text)))
}

/// Verifies an application password against its stored hash: `$generic$`, or the older phpass and bcrypt.
pub fn verify_fast(stored: &str, text: &[u8]) -> bool {
    if stored.starts_with(FAST) {
        return crypto::constant_time_eq(stored.as_bytes(), fast_hash(text).as_bytes());
    }
    if text.len() > MAX_LENGTH {
        return false;
    }
    if is_phpass(stored) { verify_phpass(stored, text) } else { verify_bcrypt(stored, text) }
}

/// The cost of a bcrypt hash, plain or pre-hashed. `None` if it is not one.
fn bcrypt_cost(stored: &str) -> Option<u32> {
    let bcrypt = stored.strip_prefix(PREHASHED).unwrap_or(stored).as_bytes();
    match bcrypt {
        [b'$', b'2', b'a' | b'b' | b'x' | b'y', b'$', tens @ b'0'..=b'9', ones @ b'0'..=b'9', b'$', ..]
            if bcrypt.len() == 60 =>
        {
            Some(u32::from(tens - b'0') * 10 + u32::from(ones - b'0'))
        }
        _ => None,
    }
}

fn verify_bcrypt(stored: &str, password: &[u8]) -> bool {
    // C implementations of bcrypt treat a NUL byte as the end of the password.
    let password = password.split(|b| *b == 0).next().unwrap_or_default();
    bcrypt_cost(stored).is_some_and(|cost| cost <= MAX_COST) && bcrypt::verify(password, stored).unwrap_or(false)
}

fn is_phpass(stored: &str) -> bool {
    stored.starts_with("$P$") || stored.starts_with("$H$")
}

const PHPASS_ALPHABET: &[u8; 64] = b"./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// Prefix of accepted post password cookies: portable phpass with a cost of 2¹³ iterations.
const POST_PASSWORD: &str = "$P$B";

/// Creates the cookie value that unlocks posts with this password: a portable hash with a random salt. WordPress at the
/// same URL accepts it as well.
///
/// # Errors
/// If the operating system provides no random bytes.
pub fn post_password_cookie(password: &[u8]) -> Result<String, RandomSourceError> {
    let salt = random_text(8)?;
    let head = format!("{POST_PASSWORD}{}", salt.expose());
    Ok(format!("{head}{}", phpass_digest(salt.expose().as_bytes(), password, 13)))
}

/// Returns whether a cookie value unlocks posts with this password.
pub fn unlocks_post(cookie: &str, password: &[u8]) -> bool {
    cookie.starts_with(POST_PASSWORD) && verify_phpass(cookie, password)
}

/// The last 22 characters of a portable hash.
fn phpass_digest(salt: &[u8], password: &[u8], cost: usize) -> String {
    let mut digest = Md5::new().chain_update(salt).chain_update(password).finalize();
    for _ in 0..1u32 << cost {
        digest = Md5::new().chain_update(digest).chain_update(password).finalize();
    }
    phpass_encode(&digest)
}

/// Verifies portable phpass: a prefix, one character for the cost (log₂ of the iterations), eight for the salt, 22 for
/// the hash.
fn verify_phpass(stored: &str, password: &[u8]) -> bool {
    let stored = stored.as_bytes();
    if stored.len() != 34 {
        return false;
    }
    let Some(cost) = PHPASS_ALPHABET.iter().position(|c| *c == stored[3]) else { return false };
    if !(7..=MAX_PHPASS_COST).contains(&cost) {
        return false;
    }
    crypto::constant_time_eq(&stored[12..], phpass_digest(&stored[4..12], password, cost).as_bytes())
}

/// Base64 variant of phpass: least significant bits first, without padding.
fn phpass_encode(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(22);
    for group in bytes.chunks(3) {
        let value = group.iter().rev().fold(0u32, |value, b| value << 8 | u32::from(*b));
        for i in 0..=group.len() {
            text.push(char::from(PHPASS_ALPHABET[(value >> (6 * i) & 63) as usize]));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(stored: &str, password: &str, expected: bool) {
        assert_eq!(verify(stored, password.as_bytes()), expected, "{stored} {password:?}");
    }

    #[test]
    fn post_password_cookies() {
        let cookie = post_password_cookie("größe 1".as_bytes()).unwrap();
        assert!(cookie.starts_with("$P$B") && cookie.len() == 34, "{cookie}");
        assert_ne!(cookie, post_password_cookie("größe 1".as_bytes()).unwrap(), "salts must differ");
        // The second one was created by WordPress.
        let rows = [
            (cookie.as_str(), "größe 1", true),
            ("$P$BiKrowumj17sAoiKcT5jKfNvUSbzyi.", "f5VlEf2RxmeK0JGoIETcQnXFo", true),
            (cookie.as_str(), "größe 2", false),
            (cookie.as_str(), "", false),
            ("", "größe 1", false),
            // Hashes of other formats are rejected, even if the password matches.
            ("a87ff679a2f3e71d9181a67b7542122c", "4", false),
            ("$H$Bjtx9eiKCPqIU.5JD/jShkTMycJqi71", "secret", false),
        ];
        for (cookie, password, opens) in rows {
            assert_eq!(unlocks_post(cookie, password.as_bytes()), opens, "{cookie} {password}");
        }
    }

    #[test]
    fn verifies_all_hash_formats() {
        // Recorded from WordPress or created with its functions.
        let wp = "$wp$2y$04$6uRoY0wJ.lYkZBthnNyIxeqhq2VnskuC1XqOb1beeTMfLZ.9cGbdK";
        let plain = "$2y$04$XMtr67WU5HxXYgcNc8tVNuutpiaQ85V8DPfTVM1qmBV4DTFNt7Uam";
        let phpass = "$P$BiKrowumj17sAoiKcT5jKfNvUSbzyi.";
        let rows = [
            (wp, "xZXsAYBlx", true),
            (wp, "xZXsAYBlx ", false),
            (wp, "", false),
            (plain, "9fMBb", true),
            (plain, "9fMBb\0more", true),
            ("$2a$04$XMtr67WU5HxXYgcNc8tVNuutpiaQ85V8DPfTVM1qmBV4DTFNt7Uam", "9fMBb", true),
            ("$wp$2b$04$6uRoY0wJ.lYkZBthnNyIxeqhq2VnskuC1XqOb1beeTMfLZ.9cGbdK", "xZXsAYBlx", true),
            (plain, "9fMBB", false),
            (phpass, "f5VlEf2RxmeK0JGoIETcQnXFo", true),
            (phpass, "f5VlEf2RxmeK0JGoIETcQnXF", false),
            ("$H$Bjtx9eiKCPqIU.5JD/jShkTMycJqi71", "secret", true),
            ("a87ff679a2f3e71d9181a67b7542122c", "4", true),
            ("A87FF679A2F3E71D9181A67B7542122C", "4", false),
            ("d41d8cd98f00b204e9800998ecf8427e", "", true),
        ];
        for (stored, password, expected) in rows {
            check(stored, password, expected);
        }
    }

    #[test]
    fn rejects_malformed_hashes_quickly() {
        for stored in [
            "",
            "*",
            "*0",
            "$P$",
            "$P$Bshort",
            "$wp",
            "$wp$2y$",
            "$wp$2y$04$.....................................................",
            "$2y$31$XMtr67WU5HxXYgcNc8tVNuutpiaQ85V8DPfTVM1qmBV4DTFNt7Uam",
            "$2y$99$XMtr67WU5HxXYgcNc8tVNuutpiaQ85V8DPfTVM1qmBV4DTFNt7Uam",
            "$2y$-1$XMtr67WU5HxXYgcNc8tVNuutpiaQ85V8DPfTVM1qmBV4DTFNt7Uam",
            "$P$ziKrowumj17sAoiKcT5jKfNvUSbzyi.",
            "$P$!iKrowumj17sAoiKcT5jKfNvUSbzyi.",
            "$P$éaaaaaaaaaaaaaaaaaaaaaaaaaaaaaé",
            "$wpé2y$04$ééééééééééééééééééééééééééééééééééééééééé",
            "$argon2id$v=19$m=16,t=2,p=1$c2FsdHNhbHQ$abcdefghijkl",
            "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
        ] {
            check(stored, "password", false);
            check(stored, "", false);
            assert!(!verify_fast(stored, b"password"), "{stored}");
            assert!(needs_rehash(stored), "{stored}");
        }
    }

    #[test]
    fn hash_then_verify() {
        for password in ["x", "pässwörd", "nul\0byte", &"é".repeat(100), &"x".repeat(MAX_LENGTH)] {
            let stored = hash_with_cost(password.as_bytes(), 4).unwrap();
            assert!(stored.starts_with("$wp$2y$04$") && stored.len() == 63, "{stored}");
            check(&stored, password, true);
            check(&stored, &format!("{password}y"), false);
        }
        let spaced = hash_with_cost(b" \t\x0bx\n\r\0", 4).unwrap();
        check(&spaced, "x", true);
        check(&spaced, " x", false);
        assert_eq!(hash_with_cost(&[b'x'; MAX_LENGTH + 1], 4), Err(HashError::TooLong));
        assert_eq!(hash_with_cost(b"x", 3), Err(HashError::Unavailable));
        assert_ne!(hash_with_cost(b"x", 4), hash_with_cost(b"x", 4));
    }

    #[test]
    fn outdated_hashes_need_a_rehash() {
        let rest = "abcdefghijklmnopqrstuuABCDEFGHIJKLMNOPQRSTUVWXYZ01234";
        for (start, expected) in [
            ("$wp$2y$10$", false),
            ("$wp$2y$12$", true),
            ("$wp$2y$09$", true),
            ("$wp$2a$10$", true),
            ("$2y$10$", true),
            ("$wp2y$10$", true),
        ] {
            assert_eq!(needs_rehash(&format!("{start}{rest}")), expected, "{start}");
        }
        assert!(!needs_rehash_at(&format!("$wp$2y$12${rest}"), 12));
    }

    #[test]
    fn fast_hashes() {
        assert_eq!(fast_hash(b"password"), "$generic$5kFnqVB4H8sAaEg-HC4BoAY2wTWniLJdF-mQwkWu");
        for (stored, text, expected) in [
            ("$generic$5kFnqVB4H8sAaEg-HC4BoAY2wTWniLJdF-mQwkWu", "password", true),
            ("$generic$5kFnqVB4H8sAaEg-HC4BoAY2wTWniLJdF-mQwkWu", "Password", false),
            ("$generic$5kFnqVB4H8sAaEg-HC4BoAY2wTWniLJdF-mQwkWux", "password", false),
            ("$generic$", "", false),
            ("$P$BiKrowumj17sAoiKcT5jKfNvUSbzyi.", "f5VlEf2RxmeK0JGoIETcQnXFo", true),
            ("5f4dcc3b5aa765d61d8327deb882cf99", "password", false),
        ] {
            assert_eq!(verify_fast(stored, text.as_bytes()), expected, "{stored} {text}");
        }
    }

    #[test]
    fn texts_beyond_the_limit_match_no_hash() {
        for (length, expected) in [(MAX_LENGTH, true), (MAX_LENGTH + 1, false)] {
            let text = vec![b'x'; length];
            let stored = format!("$P$5abcdefgh{}", phpass_digest(b"abcdefgh", &text, 7));
            assert_eq!((verify_fast(&stored, &text), verify(&stored, &text)), (expected, expected), "{length}");
        }
        assert_eq!(HashError::TooLong.to_string(), "a password may have at most 4096 bytes");
        assert_eq!(HashError::Unavailable.to_string(), "the password could not be hashed");
    }

    #[test]
    fn hashes_that_are_verified_faster_than_the_current_format() {
        let rest = "abcdefghijklmnopqrstuuABCDEFGHIJKLMNOPQRSTUVWXYZ01234";
        for (start, expected) in [
            ("$wp$2y$10$", true),
            ("$2y$12$", true),
            ("$2y$18$", true),
            ("$wp$2y$09$", false),
            ("$2y$04$", false),
            // Not verified at all.
            ("$2y$19$", false),
            ("$P$B", false),
        ] {
            assert_eq!(takes_full_time(&format!("{start}{rest}")), expected, "{start}");
        }
        for stored in [&format!("$2y$10${rest}x"), "$2y$10$short", "5f4dcc3b5aa765d61d8327deb882cf99"] {
            assert!(!takes_full_time(stored), "{stored}");
        }
    }

    #[test]
    fn unknown_users_take_as_long_as_wrong_passwords() {
        // The tolerance is generous because the machine may be busy. The test checks that the work is done at all.
        let measure = |stored: Option<&str>| {
            let start = std::time::Instant::now();
            assert!(!verify_or_dummy(stored, b"wrong"));
            start.elapsed().as_secs_f64()
        };
        let current_format = hash(b"right").unwrap();
        let wrong = (0..3).map(|_| measure(Some(&current_format))).fold(f64::MAX, f64::min);
        assert!(measure(None) > wrong / 5.0);
        assert!(measure(Some("5f4dcc3b5aa765d61d8327deb882cf99")) > wrong / 5.0);
        assert!(verify_or_dummy(Some(&current_format), b"right"));
    }
}
