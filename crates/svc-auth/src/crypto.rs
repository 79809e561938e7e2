//! Cryptographic primitives of the stored formats.

use aes_siv::siv::Aes128Siv;
use blake2::{Blake2bMac, digest::consts::U30};
use hmac::{Hmac, KeyInit, Mac};
use md5::{Digest, Md5};
use sha1::Sha1;
use sha2::{Sha256, Sha384};
use subtle::ConstantTimeEq;

/// Lower-case hexadecimal.
pub(crate) fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut text = String::with_capacity(bytes.len() * 2);
    for b in bytes {
        text.push(char::from(DIGITS[usize::from(b >> 4)]));
        text.push(char::from(DIGITS[usize::from(b & 15)]));
    }
    text
}

/// MD5 in hexadecimal.
pub(crate) fn md5_hex(data: &[u8]) -> String {
    hex(&Md5::digest(data))
}

/// SHA-256 in hexadecimal.
pub(crate) fn sha256_hex(data: &[u8]) -> String {
    hex(&Sha256::digest(data))
}

/// Compares in constant time; only the lengths can leak.
pub(crate) fn constant_time_eq(a: &[u8], b: &[u8]) -> bool {
    a.ct_eq(b).into()
}

// The `expect` cannot fail: an HMAC accepts keys of any length.
macro_rules! hmac_fn {
    ($(#[$doc:meta] $name:ident, $hash:ty, $size:literal);* $(;)?) => {$(
        #[$doc]
        pub(crate) fn $name(key: &[u8], data: &[u8]) -> [u8; $size] {
            let mut mac = <Hmac<$hash> as KeyInit>::new_from_slice(key).expect("an HMAC accepts keys of any length");
            mac.update(data);
            mac.finalize().into_bytes().into()
        }
    )*};
}

hmac_fn! {
    /// HMAC-MD5.
    hmac_md5, Md5, 16;
    /// HMAC-SHA-1.
    hmac_sha1, Sha1, 20;
    /// HMAC-SHA-256.
    hmac_sha256, Sha256, 32;
    /// HMAC-SHA-384.
    hmac_sha384, Sha384, 48;
}

/// Encrypts and authenticates a text with AES-SIV (RFC 5297), bound to a context. Deterministic.
pub(crate) fn seal(key: &[u8; 32], context: &[u8], text: &[u8]) -> Option<Vec<u8>> {
    Aes128Siv::new(key.into()).encrypt([context], text).ok()
}

/// Reverses [`seal`]. `None` if the text was not sealed with this key and context.
pub(crate) fn open(key: &[u8; 32], context: &[u8], sealed: &[u8]) -> Option<Vec<u8>> {
    Aes128Siv::new(key.into()).decrypt([context], sealed).ok()
}

/// Keyed BLAKE2b of 30 bytes.
pub(crate) fn blake2b_30(key: &[u8], data: &[u8]) -> [u8; 30] {
    let mut mac = <Blake2bMac<U30> as blake2::digest::KeyInit>::new_from_slice(key).expect("keys are at most 64 bytes");
    blake2::digest::Mac::update(&mut mac, data);
    blake2::digest::Mac::finalize(mac).into_bytes().into()
}
