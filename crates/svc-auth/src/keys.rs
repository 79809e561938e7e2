//! The site's eight secret keys and salts, and keyed hashes made with them.

use std::sync::Arc;

use crate::{
    NoRandomness, crypto,
    secret::{Secret, random_text},
};

/// What a keyed hash is for. Each scheme has its own key and salt, so that a value made for one is void for another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scheme {
    /// Cookies of the administration area without TLS.
    Auth,
    /// Cookies of the administration area over TLS.
    SecureAuth,
    /// The cookie that the public site and the interface read.
    LoggedIn,
    /// Nonces.
    Nonce,
}

impl Scheme {
    /// All four.
    pub const ALL: [Scheme; 4] = [Scheme::Auth, Scheme::SecureAuth, Scheme::LoggedIn, Scheme::Nonce];

    /// `auth`, `secure_auth`, `logged_in`, `nonce`: also the stem of the key's and the salt's name.
    pub fn name(self) -> &'static str {
        match self {
            Scheme::Auth => "auth",
            Scheme::SecureAuth => "secure_auth",
            Scheme::LoggedIn => "logged_in",
            Scheme::Nonce => "nonce",
        }
    }

    /// The scheme of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Scheme::ALL.into_iter().find(|s| s.name() == name)
    }

    /// Names of its key and its salt in configuration: `auth_key`, `auth_salt`.
    pub fn setting_names(self) -> [&'static str; 2] {
        match self {
            Scheme::Auth => ["auth_key", "auth_salt"],
            Scheme::SecureAuth => ["secure_auth_key", "secure_auth_salt"],
            Scheme::LoggedIn => ["logged_in_key", "logged_in_salt"],
            Scheme::Nonce => ["nonce_key", "nonce_salt"],
        }
    }
}

/// The hash below a keyed hash. Nonces and cookie keys use MD5; the others are for extensions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Algorithm {
    /// HMAC-MD5, 32 hexadecimal digits.
    #[default]
    Md5,
    /// HMAC-SHA-1, 40 hexadecimal digits.
    Sha1,
    /// HMAC-SHA-256, 64 hexadecimal digits.
    Sha256,
}

impl Algorithm {
    /// The algorithm of this name: `md5`, `sha1`, `sha256`.
    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            "md5" => Some(Algorithm::Md5),
            "sha1" => Some(Algorithm::Sha1),
            "sha256" => Some(Algorithm::Sha256),
            _ => None,
        }
    }
}

/// The keys of the four schemes, each the key and the salt joined. Cheap to clone; `Debug` hides them.
#[derive(Clone, PartialEq, Eq)]
pub struct Keys(Arc<[Vec<u8>; 4]>);

/// Settings that neither the configuration nor the store had a usable value for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MissingKeys(pub Vec<&'static str>);

impl std::fmt::Display for MissingKeys {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "no usable value for {}", self.0.join(", "))
    }
}

impl std::error::Error for MissingKeys {}

/// What the sample configuration holds in the place of a key.
const PLACEHOLDER: &str = "put your unique phrase here";

impl Keys {
    /// Keys from `(key, salt)` for each scheme, in the order of [`Scheme::ALL`].
    pub fn new(pairs: [(&str, &str); 4]) -> Self {
        Keys(Arc::new(pairs.map(|(key, salt)| [key.as_bytes(), salt.as_bytes()].concat())))
    }

    /// Keys from settings by name (`auth_key`, `auth_salt`, … see [`Scheme::setting_names`]).
    ///
    /// A configured value that is empty, the placeholder of sample files, or the same as another configured one is no
    /// secret: the stored one (an option of the same name) takes its place, as on the peer.
    ///
    /// # Errors
    /// [`MissingKeys`] names the settings that have no value in either place; see [`Keys::generate_setting`].
    pub fn resolve(
        configured: impl Fn(&str) -> Option<String>,
        stored: impl Fn(&str) -> Option<String>,
    ) -> Result<Self, MissingKeys> {
        let names = Scheme::ALL.map(Scheme::setting_names);
        let given: Vec<String> = names.iter().flatten().filter_map(|name| configured(name)).collect();
        let usable = |value: &String| {
            !value.is_empty() && value != PLACEHOLDER && given.iter().filter(|other| *other == value).count() == 1
        };
        let mut missing = Vec::new();
        let mut setting = |name: &'static str| {
            let value = configured(name).filter(usable).or_else(|| stored(name).filter(|v| !v.is_empty()));
            value.unwrap_or_else(|| {
                missing.push(name);
                String::new()
            })
        };
        let values = names.map(|[key, salt]| (setting(key), setting(salt)));
        if missing.is_empty() {
            Ok(Keys::new(values.each_ref().map(|(key, salt)| (key.as_str(), salt.as_str()))))
        } else {
            Err(MissingKeys(missing))
        }
    }

    /// A fresh value for one setting: 64 random letters and digits, 380 bits.
    ///
    /// # Errors
    /// [`NoRandomness`] when the operating system has none.
    pub fn generate_setting() -> Result<Secret, NoRandomness> {
        random_text(64)
    }

    /// The key of a scheme.
    pub fn key(&self, scheme: Scheme) -> &[u8] {
        &self.0[scheme as usize]
    }

    /// A keyed hash of `data`, in hexadecimal (`wp_hash`).
    pub fn hash(&self, data: &[u8], scheme: Scheme, algorithm: Algorithm) -> String {
        let key = self.key(scheme);
        match algorithm {
            Algorithm::Md5 => crypto::hex(&crypto::hmac_md5(key, data)),
            Algorithm::Sha1 => crypto::hex(&crypto::hmac_sha1(key, data)),
            Algorithm::Sha256 => crypto::hex(&crypto::hmac_sha256(key, data)),
        }
    }
}

impl std::fmt::Debug for Keys {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Keys(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(overrides: &'static [(&'static str, &'static str)]) -> impl Fn(&str) -> Option<String> {
        move |name| {
            let over = overrides.iter().find(|(n, _)| *n == name);
            Some(over.map_or_else(|| format!("own-{name}"), |(_, v)| (*v).to_owned()))
        }
    }

    #[test]
    fn key_is_key_then_salt() {
        let keys = Keys::resolve(settings(&[]), |_| None).unwrap();
        assert_eq!(keys.key(Scheme::LoggedIn), b"own-logged_in_keyown-logged_in_salt");
    }

    #[test]
    fn values_that_are_no_secret_give_way_to_stored_ones() {
        for bad in [
            &[("auth_key", "")] as &'static [_],
            &[("auth_key", PLACEHOLDER)],
            &[("auth_key", "own-nonce_salt"), ("nonce_salt", "own-nonce_salt")],
        ] {
            let keys = Keys::resolve(settings(bad), |name| Some(format!("stored-{name}"))).unwrap();
            assert_eq!(keys.key(Scheme::Auth), b"stored-auth_keyown-auth_salt", "{bad:?}");
            let missing = Keys::resolve(settings(bad), |_| None).unwrap_err();
            assert_eq!(missing.0[0], "auth_key");
        }
    }

    #[test]
    fn known_answers() {
        // RFC 2202 (MD5, SHA-1) and RFC 4231 (SHA-256), test case 2.
        let keys = Keys::new([("Je", "fe"); 4]);
        for (algorithm, expected) in [
            (Algorithm::Md5, "750c783e6ab0b503eaa86e310a5db738"),
            (Algorithm::Sha1, "effcdf6ae5eb2fa2d27416d5f184df9c259a7c79"),
            (Algorithm::Sha256, "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"),
        ] {
            assert_eq!(keys.hash(b"what do ya want for nothing?", Scheme::Nonce, algorithm), expected);
        }
    }

    #[test]
    fn debug_hides_the_keys() {
        assert_eq!(format!("{:?}", Keys::new([("a", "b"); 4])), "Keys(…)");
    }
}
