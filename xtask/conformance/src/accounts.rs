//! The accounts of the recorded site, and their credentials: application passwords, log-in cookies, nonces.
//!
//! Cookies and nonces are computed here, apart from `svc-auth`, which a run checks. The formats are in
//! `tests/conformance/README.md`.

use std::path::Path;

use anyhow::{Context, Result};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use hmac::{Hmac, KeyInit, Mac};
use md5::{Digest, Md5};
use serde::Deserialize;
use sha2::Sha256;

use crate::{brand::BrandRules, form::percent_encode};

/// The name that steps use, the id and the login.
#[rustfmt::skip]
const ACCOUNTS: &[(&str, u64, &str)] = &[
    ("admin",        1, "admin"),
    ("editor1",      2, "editor1"),
    ("author1",      3, "author1"),
    ("author2",      4, "author2"),
    ("contributor1", 5, "contributor1"),
    ("subscriber1",  6, "subscriber1"),
    ("silent",       7, "silent.user"),
    ("norole",       8, "norole"),
];

/// The part of each stored password hash that cookies are signed with.
const PASSWORD_FRAGMENT: &str = "dsW6";

/// When the stored sessions end, in Unix time.
const SESSION_END: u64 = 4_070_908_800;

/// Half of a nonce's lifetime in seconds.
const TICK: u64 = 43_200;

/// An account of the recorded site.
#[derive(Clone, Copy)]
pub(crate) struct Account {
    id: u64,
    login: &'static str,
}

impl Account {
    pub(crate) fn named(name: &str) -> Result<Self> {
        let found = ACCOUNTS.iter().find(|(n, ..)| *n == name);
        let (_, id, login) = *found.with_context(|| format!("the recorded site has no account `{name}`"))?;
        Ok(Account { id, login })
    }

    /// The value of an `Authorization` header with the account's application password.
    pub(crate) fn basic(self) -> String {
        basic(&format!("{}:fixturepasswordforuser{:02}", self.login, self.id))
    }

    /// The token of the session that is stored for the account.
    fn token(self) -> String {
        let letters: String = self.login.chars().filter(char::is_ascii_alphanumeric).collect();
        format!("{:0<43}", format!("fixture{letters}"))
    }
}

/// The value of an `Authorization` header with these credentials (`USER:PASSWORD`).
pub(crate) fn basic(credentials: &str) -> String {
    format!("Basic {}", STANDARD.encode(credentials))
}

/// The keys that the recorded site signs with.
pub(crate) struct SiteKeys {
    logged_in: String,
    nonce: String,
}

impl SiteKeys {
    /// Reads them from the configuration that the site is served with.
    pub(crate) fn read(config: &Path) -> Result<Self> {
        #[derive(Deserialize)]
        struct Config {
            keys: Keys,
        }
        #[derive(Deserialize)]
        struct Keys {
            logged_in_key: String,
            logged_in_salt: String,
            nonce_key: String,
            nonce_salt: String,
        }
        let text = std::fs::read_to_string(config).with_context(|| format!("cannot read {}", config.display()))?;
        let keys = toml::from_str::<Config>(&text).with_context(|| format!("cannot read {}", config.display()))?.keys;
        Ok(SiteKeys { logged_in: keys.logged_in_key + &keys.logged_in_salt, nonce: keys.nonce_key + &keys.nonce_salt })
    }

    /// The `Cookie` header of an account's session.
    pub(crate) fn cookie(&self, account: Account, site_url: &str, brand: &BrandRules) -> String {
        let (login, token) = (account.login, account.token());
        let key = hmac_md5(&self.logged_in, &format!("{login}|{PASSWORD_FRAGMENT}|{SESSION_END}|{token}"));
        let signature = hmac_sha256(&key, &format!("{login}|{SESSION_END}|{token}"));
        let value = percent_encode(&format!("{login}|{SESSION_END}|{token}|{signature}"), b"");
        let site = hex(&Md5::digest(site_url.trim_end_matches('/')));
        format!("{}{site}={value}", brand.cookie())
    }

    /// A nonce of an account's session for an action, made `age` half-lifetimes before `now` (Unix time).
    pub(crate) fn nonce(&self, account: Account, action: &str, age: u64, now: u64) -> String {
        let tick = now.div_ceil(TICK) - age;
        let hash = hmac_md5(&self.nonce, &format!("{tick}|{action}|{}|{}", account.id, account.token()));
        hash[hash.len() - 12..hash.len() - 2].to_owned()
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

fn hmac_md5(key: &str, data: &str) -> String {
    let mut mac = Hmac::<Md5>::new_from_slice(key.as_bytes()).expect("an HMAC takes keys of every length");
    mac.update(data.as_bytes());
    hex(&mac.finalize().into_bytes())
}

fn hmac_sha256(key: &str, data: &str) -> String {
    let mut mac = Hmac::<Sha256>::new_from_slice(key.as_bytes()).expect("an HMAC takes keys of every length");
    mac.update(data.as_bytes());
    hex(&mac.finalize().into_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cookies_and_nonces_match_the_recorded_site() {
        let config = crate::folders::own_folder().unwrap().join("site/svc.toml");
        let keys = SiteKeys::read(&config).unwrap();
        let brand = BrandRules::new("wp").unwrap();
        let silent = Account::named("silent").unwrap();
        assert_eq!(keys.cookie(silent, "http://127.0.0.1:8801/", &brand), COOKIE);
        assert_eq!(keys.nonce(silent, "wp_rest", 1, 1_700_000_000), NONCE);
        assert_eq!(silent.basic(), BASIC);
        assert!(Account::named("nobody").is_err());
    }

    // Computed with an independent implementation.
    const COOKIE: &str = "wordpress_logged_in_0ef7e92f163da1e2fa9cc5e5b57659c9=silent.user%7C4070908800%7Cfixturesilentuser00000000000000000000000000%7C1070195dc1d33237cfd4b24a7eeed0af8438b6d651f7103565ae57fa0fd0593b";
    const NONCE: &str = "157fbb1ffd";
    const BASIC: &str = "Basic c2lsZW50LnVzZXI6Zml4dHVyZXBhc3N3b3JkZm9ydXNlcjA3";
}
