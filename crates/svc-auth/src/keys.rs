//! The site's eight secret keys and salts, and keyed hashes.

use std::sync::Arc;

use crate::{
    RandomSourceError, crypto,
    secret::{Secret, random_text},
};

/// Purpose of a keyed hash. Each scheme has its own key and salt, so that hashes cannot be used for another purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scheme {
    /// Cookies for the admin area without TLS.
    Auth,
    /// Cookies for the admin area over TLS.
    SecureAuth,
    /// The cookie for the public site and the REST API.
    LoggedIn,
    /// Nonces.
    Nonce,
}

impl Scheme {
    /// All schemes.
    pub const ALL: [Scheme; 4] = [Scheme::Auth, Scheme::SecureAuth, Scheme::LoggedIn, Scheme::Nonce];

    /// `auth`, `secure_auth`, `logged_in` or `nonce`, which is also the prefix of the setting names.
    pub fn name(self) -> &'static str {
        match self {
            Scheme::Auth => "auth",
            Scheme::SecureAuth => "secure_auth",
            Scheme::LoggedIn => "logged_in",
            Scheme::Nonce => "nonce",
        }
    }

    /// Looks up a scheme by name.
    pub fn from_name(name: &str) -> Option<Self> {
        Scheme::ALL.into_iter().find(|s| s.name() == name)
    }

    /// Names of the settings for its key and salt: `auth_key`, `auth_salt`.
    pub fn setting_names(self) -> [&'static str; 2] {
        match self {
            Scheme::Auth => ["auth_key", "auth_salt"],
            Scheme::SecureAuth => ["secure_auth_key", "secure_auth_salt"],
            Scheme::LoggedIn => ["logged_in_key", "logged_in_salt"],
            Scheme::Nonce => ["nonce_key", "nonce_salt"],
        }
    }
}

/// Hash algorithm of a keyed hash. Nonces and cookie keys use MD5; the others are for extensions.
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
    /// Looks up an algorithm by name: `md5`, `sha1` or `sha256`.
    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            "md5" => Some(Algorithm::Md5),
            "sha1" => Some(Algorithm::Sha1),
            "sha256" => Some(Algorithm::Sha256),
            _ => None,
        }
    }
}

/// The keys of the four schemes, each a key followed by its salt. Cheap to clone. `Debug` omits them.
#[derive(Clone, PartialEq, Eq)]
pub struct Keys(Arc<[Vec<u8>; 4]>);

/// Settings without a usable value in the configuration or in the database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MissingKeys(pub Vec<&'static str>);

impl std::fmt::Display for MissingKeys {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "no usable value for {}", self.0.join(", "))
    }
}

impl std::error::Error for MissingKeys {}

/// Placeholder value in sample configuration files.
const PLACEHOLDER: &str = "put your unique phrase here";

impl Keys {
    /// Creates keys from `(key, salt)` pairs, in the order of [`Scheme::ALL`].
    pub fn new(pairs: [(&str, &str); 4]) -> Self {
        Keys(Arc::new(pairs.map(|(key, salt)| [key.as_bytes(), salt.as_bytes()].concat())))
    }

    /// Creates keys from settings by name (`auth_key`, `auth_salt`, …; see [`Scheme::setting_names`]).
    ///
    /// A configured value that is empty, a placeholder or not unique is not secret. As in WordPress, the option of the
    /// same name is used instead.
    ///
    /// # Errors
    /// [`MissingKeys`] lists the settings without a usable value; see [`Keys::generate_setting`].
    pub fn resolve(
        configured: impl Fn(&str) -> Option<String>,
        stored: impl Fn(&str) -> Option<String>,
    ) -> Result<Self, MissingKeys> {
        let names = Scheme::ALL.map(Scheme::setting_names);
        let configured_values: Vec<String> = names.iter().flatten().filter_map(|name| configured(name)).collect();
        let usable = |value: &String| {
            !value.is_empty()
                && value != PLACEHOLDER
                && configured_values.iter().filter(|other| *other == value).count() == 1
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

    /// Generates a value for a setting: 64 random letters and digits (380 bits).
    ///
    /// # Errors
    /// [`RandomSourceError`] if the operating system provides no random bytes.
    pub fn generate_setting() -> Result<Secret, RandomSourceError> {
        random_text(64)
    }

    /// The key of a scheme.
    pub fn key(&self, scheme: Scheme) -> &[u8] {
        &self.0[scheme as usize]
    }

    /// Computes a keyed hash of `data` in hexadecimal (`wp_hash`).
    pub fn hash(&self, data: &[u8], scheme: Scheme, algorithm: Algorithm) -> String {
        let key = self.key(scheme);
        match algorithm {
            Algorithm::Md5 => crypto::hex(&crypto::hmac_md5(key, data)),
            Algorithm::Sha1 => crypto::hex(&crypto::hmac_sha1(key, data)),
            Algorithm::Sha256 => crypto::hex(&crypto::hmac_sha256(key, data)),
        }
    }

    /// Encrypts a text that clients send back unchanged: they can neither read nor change it. The result is always the same.
    /// [`Self::open`] needs the same purpose and context. `None` if the text is too long.
    pub fn seal(&self, purpose: &str, context: &[u8], text: &[u8]) -> Option<Vec<u8>> {
        crypto::seal(&self.sealing_key(purpose), context, text)
    }

    /// The text that was sealed for this purpose in this context; `None` if it was not.
    pub fn open(&self, purpose: &str, context: &[u8], sealed: &[u8]) -> Option<Vec<u8>> {
        crypto::open(&self.sealing_key(purpose), context, sealed)
    }

    fn sealing_key(&self, purpose: &str) -> [u8; 32] {
        crypto::hmac_sha256(self.key(Scheme::Auth), format!("seal\0{purpose}").as_bytes())
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
            let value = overrides.iter().find(|(n, _)| *n == name);
            Some(value.map_or_else(|| format!("own-{name}"), |(_, v)| (*v).to_owned()))
        }
    }

    #[test]
    fn schemes_and_algorithms_have_names() {
        for scheme in Scheme::ALL {
            assert_eq!(Scheme::from_name(scheme.name()), Some(scheme));
        }
        let algorithms = ["md5", "sha1", "sha256", "crc32"].map(Algorithm::from_name);
        assert_eq!(algorithms, [Some(Algorithm::Md5), Some(Algorithm::Sha1), Some(Algorithm::Sha256), None]);
        assert_eq!(Scheme::from_name("other"), None);
    }

    #[test]
    fn keys_are_followed_by_their_salts() {
        let keys = Keys::resolve(settings(&[]), |_| None).unwrap();
        assert_eq!(keys.key(Scheme::LoggedIn), b"own-logged_in_keyown-logged_in_salt");
    }

    #[test]
    fn sealed_texts_open_with_their_purpose_and_context_only() {
        let keys = Keys::resolve(settings(&[]), |_| None).unwrap();
        let sealed = keys.seal("cursor", b"/posts", b"title").unwrap();
        assert_eq!(sealed, keys.seal("cursor", b"/posts", b"title").unwrap());
        assert!(!sealed.windows(5).any(|part| part == b"title"));
        assert_eq!(keys.open("cursor", b"/posts", &sealed).as_deref(), Some(&b"title"[..]));
        assert_eq!(keys.open("other", b"/posts", &sealed), None);
        assert_eq!(keys.open("cursor", b"/pages", &sealed), None);
        for at in 0..sealed.len() {
            let mut forged = sealed.clone();
            forged[at] ^= 1;
            assert_eq!(keys.open("cursor", b"/posts", &forged), None, "{at}");
            assert_eq!(keys.open("cursor", b"/posts", &sealed[..at]), None, "{at}");
        }
        let others = Keys::resolve(settings(&[("auth_key", "another")]), |_| None).unwrap();
        assert_eq!(others.open("cursor", b"/posts", &sealed), None);
    }

    #[test]
    fn unusable_values_fall_back_to_stored_ones() {
        for bad in [
            &[("auth_key", "")] as &'static [_],
            &[("auth_key", PLACEHOLDER)],
            &[("auth_key", "own-nonce_salt"), ("nonce_salt", "own-nonce_salt")],
        ] {
            let keys = Keys::resolve(settings(bad), |name| Some(format!("stored-{name}"))).unwrap();
            assert_eq!(keys.key(Scheme::Auth), b"stored-auth_keyown-auth_salt", "{bad:?}");
            let missing = Keys::resolve(settings(bad), |_| None).unwrap_err();
            assert_eq!(missing.0[0], "auth_key");
            assert_eq!(missing.to_string(), format!("no usable value for {}", missing.0.join(", ")));
        }
    }

    #[test]
    fn matches_rfc_test_vectors() {
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
    fn debug_omits_the_keys() {
        assert_eq!(format!("{:?}", Keys::new([("a", "b"); 4])), "Keys(…)");
    }
}
