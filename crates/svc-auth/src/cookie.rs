//! Log-in cookies: their names, how they are signed, and why one is not accepted.
//!
//! A cookie is `login|expiration|token|hmac`. The key of the hmac hangs on the site's keys and on four characters of the
//! password's hash, so that changing the password ends every cookie.

use svc_brand::Brand;

use crate::{
    Secret, crypto,
    keys::{Algorithm, Keys, Scheme},
    session::Sessions,
};

/// Seconds after its expiration in which a cookie still serves a POST (or an `admin-ajax` call), so that what a user has
/// typed is not lost.
pub const GRACE: i64 = 3600;

/// Longest cookie that is looked at, in bytes. A login has at most 60 characters.
const MAX_COOKIE: usize = 1024;

/// Names of the three cookies of a site.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CookieNames {
    /// For the administration area without TLS.
    pub auth: String,
    /// For the administration area over TLS.
    pub secure_auth: String,
    /// For the public site and the interface.
    pub logged_in: String,
}

impl CookieNames {
    /// The names under a brand at a site address (the `siteurl` option as stored).
    pub fn new(brand: &Brand, site_url: &str) -> Self {
        let hash = site_hash(site_url);
        let name = |scheme: Scheme| format!("{}{hash}", brand.cookie(scheme.name()));
        CookieNames {
            auth: name(Scheme::Auth),
            secure_auth: name(Scheme::SecureAuth),
            logged_in: name(Scheme::LoggedIn),
        }
    }
}

/// The end of cookie names: MD5 of the site address, so that sites under one host do not share log-ins.
pub fn site_hash(site_url: &str) -> String {
    crypto::md5_hex(site_url.as_bytes())
}

/// The four characters of a password's hash that a cookie hangs on: a piece of the salt's or hash's middle where the
/// format begins with a label and cost of seven characters, else the end.
fn password_fragment(stored: &str) -> &[u8] {
    let bytes = stored.as_bytes();
    if stored.is_empty() || stored.starts_with("$P$") || stored.starts_with("$2y$") {
        bytes.get(8..).map_or(&[], |rest| &rest[..rest.len().min(4)])
    } else {
        &bytes[bytes.len().saturating_sub(4)..]
    }
}

fn signature(keys: &Keys, scheme: Scheme, cookie: &AuthCookie<'_>, stored_password: &str) -> String {
    let AuthCookie { login, expiration, token, .. } = cookie;
    let mut data = format!("{login}|").into_bytes();
    data.extend_from_slice(password_fragment(stored_password));
    data.extend_from_slice(format!("|{expiration}|{token}").as_bytes());
    let key = keys.hash(&data, scheme, Algorithm::Md5);
    crypto::hex(&crypto::hmac_sha256(key.as_bytes(), format!("{login}|{expiration}|{token}").as_bytes()))
}

/// The value of a cookie.
///
/// `stored_password` is the user's password hash, `expiration` in seconds since the epoch, `token` that of his session.
pub fn generate(
    keys: &Keys,
    scheme: Scheme,
    login: &str,
    stored_password: &str,
    expiration: i64,
    token: &str,
) -> Secret {
    let expiration = expiration.to_string();
    let cookie = AuthCookie { login, expiration: &expiration, token, hmac: "" };
    let hmac = signature(keys, scheme, &cookie, stored_password);
    Secret::new(format!("{login}|{expiration}|{token}|{hmac}"))
}

/// The parts of a cookie, nothing checked yet. `Debug` hides token and signature.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct AuthCookie<'a> {
    /// Whose log-in it says it is.
    pub login: &'a str,
    /// Seconds since the epoch, as sent.
    pub expiration: &'a str,
    /// The session token.
    pub token: &'a str,
    /// Signature in lower-case hexadecimal.
    pub hmac: &'a str,
}

impl std::fmt::Debug for AuthCookie<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let AuthCookie { login, expiration, .. } = self;
        f.debug_struct("AuthCookie").field("login", login).field("expiration", expiration).finish_non_exhaustive()
    }
}

/// Why a cookie was not accepted, in the order of the checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CookieFailure {
    /// It has not four parts.
    Malformed,
    /// Its time is over.
    Expired,
    /// There is no such user.
    BadUsername,
    /// The signature is not ours, or the password was changed.
    BadHash,
    /// The session was ended.
    BadSessionToken,
}

impl CookieFailure {
    /// The event that the failure fires: `auth_cookie_expired`, …
    pub fn event(self) -> &'static str {
        match self {
            CookieFailure::Malformed => "auth_cookie_malformed",
            CookieFailure::Expired => "auth_cookie_expired",
            CookieFailure::BadUsername => "auth_cookie_bad_username",
            CookieFailure::BadHash => "auth_cookie_bad_hash",
            CookieFailure::BadSessionToken => "auth_cookie_bad_session_token",
        }
    }
}

/// The event that an accepted cookie fires.
pub const VALID_EVENT: &str = "auth_cookie_valid";

/// What the store knows of the user whom a cookie names.
#[derive(Clone, Copy)]
pub struct Account<'a> {
    /// His password's hash.
    pub password: &'a str,
    /// His sessions.
    pub sessions: &'a Sessions,
}

/// An accepted cookie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Accepted {
    /// It had expired, within the time that a POST is given: the page should ask to log in again.
    pub in_grace: bool,
}

impl<'a> AuthCookie<'a> {
    /// Takes a cookie's value apart.
    ///
    /// # Errors
    /// [`CookieFailure::Malformed`] when it has not four parts.
    pub fn parse(value: &'a str) -> Result<Self, CookieFailure> {
        let mut parts = value.split('|');
        match (parts.next(), parts.next(), parts.next(), parts.next(), parts.next()) {
            (Some(login), Some(expiration), Some(token), Some(hmac), None) if value.len() <= MAX_COOKIE => {
                Ok(AuthCookie { login, expiration, token, hmac })
            }
            _ => Err(CookieFailure::Malformed),
        }
    }

    /// The expiration as a number: the digits it begins with, zero without any.
    fn expires(&self) -> i64 {
        let text = self.expiration.trim_start_matches([' ', '\t', '\n', '\r', '\x0b', '\x0c']);
        let end = text.bytes().position(|b| !b.is_ascii_digit()).unwrap_or(text.len());
        if end == 0 { 0 } else { text[..end].parse().unwrap_or(i64::MAX) }
    }

    /// Whether its time is over: to be asked before the user is looked up.
    ///
    /// `grace` says that the request is a POST or an `admin-ajax` call.
    ///
    /// # Errors
    /// [`CookieFailure::Expired`].
    pub fn current(&self, now: i64, grace: bool) -> Result<(), CookieFailure> {
        let until = if grace { self.expires().saturating_add(GRACE) } else { self.expires() };
        if until < now { Err(CookieFailure::Expired) } else { Ok(()) }
    }

    /// Checks everything: time, user, signature, session.
    ///
    /// `account` is what the store has under [`AuthCookie::login`]; `now` in seconds since the epoch; `grace` as in
    /// [`AuthCookie::current`].
    ///
    /// # Errors
    /// The first failure, in the order of [`CookieFailure`].
    pub fn validate(
        &self,
        keys: &Keys,
        scheme: Scheme,
        account: Option<Account<'_>>,
        now: i64,
        grace: bool,
    ) -> Result<Accepted, CookieFailure> {
        self.current(now, grace)?;
        let account = account.ok_or(CookieFailure::BadUsername)?;
        let expected = signature(keys, scheme, self, account.password);
        if !crypto::same(expected.as_bytes(), self.hmac.as_bytes()) {
            return Err(CookieFailure::BadHash);
        }
        if !account.sessions.verify(self.token, now) {
            return Err(CookieFailure::BadSessionToken);
        }
        Ok(Accepted { in_grace: self.expires() < now })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::Session;

    const NOW: i64 = 2_000_000_000;
    const PASS: &str = "$wp$2y$10$abcdefghijklmnopqrstuuABCDEFGHIJKLMNOPQRSTUVWXYZ01234";

    fn sessions(expiration: i64) -> Sessions {
        let mut all = Sessions::default();
        all.insert("tok", Session { expiration, ..Session::default() }, 0);
        all
    }

    #[test]
    fn names_under_two_brands() {
        let svc = CookieNames::new(&Brand::default(), "http://example.org");
        assert_eq!(svc.logged_in, "svc_logged_in_dab521de65f9250b4cca7383feef67dc");
        let wp = CookieNames::new(&Brand::new("wp").unwrap(), "http://example.org");
        assert_eq!(wp.auth, "wordpress_dab521de65f9250b4cca7383feef67dc");
        assert_eq!(wp.secure_auth, "wordpress_sec_dab521de65f9250b4cca7383feef67dc");
    }

    #[test]
    fn fragments_of_every_kind_of_hash() {
        for (stored, expected) in [
            (PASS, "1234"),
            ("$P$BabcdefghABCDEFGHIJKLMNOPQRSTU.", "efgh"),
            ("$H$BabcdefghABCDEFGHIJKLMNOPQRSTU.", "STU."),
            ("$2y$10$abcdefghijklmnopqrstuu", "bcde"),
            ("$2a$10$abcdefghijklmnopqrstuu", "stuu"),
            ("5f4dcc3b5aa765d61d8327deb882cf99", "cf99"),
            ("$P$", ""),
            ("$P$Babcdefg", "efg"),
            ("abc", "abc"),
            ("", ""),
        ] {
            assert_eq!(password_fragment(stored), expected.as_bytes(), "{stored}");
        }
    }

    #[test]
    fn what_is_generated_is_accepted_until_something_changes() {
        let keys = Keys::new([("a", "1"), ("b", "2"), ("c", "3"), ("d", "4")]);
        let live = sessions(NOW + 9999);
        let cookie = generate(&keys, Scheme::LoggedIn, "me", PASS, NOW, "tok");
        let cookie = AuthCookie::parse(cookie.expose()).unwrap();
        let account = Account { password: PASS, sessions: &live };
        let check = |cookie: AuthCookie<'_>, scheme, account, now, grace| {
            cookie.validate(&keys, scheme, account, now, grace).map(|a| a.in_grace)
        };
        use CookieFailure::*;
        let in_ = Scheme::LoggedIn;
        assert_eq!(check(cookie, in_, Some(account), NOW, false), Ok(false));
        assert_eq!(check(cookie, in_, Some(account), NOW + 1, false), Err(Expired));
        assert_eq!(check(cookie, in_, Some(account), NOW + 1, true), Ok(true));
        assert_eq!(check(cookie, in_, Some(account), NOW + GRACE, true), Ok(true));
        assert_eq!(check(cookie, in_, Some(account), NOW + GRACE + 1, true), Err(Expired));
        assert_eq!(check(cookie, in_, None, NOW, false), Err(BadUsername));
        assert_eq!(check(cookie, Scheme::Auth, Some(account), NOW, false), Err(BadHash));
        let changed = Account { password: "$wp$2y$10$other", ..account };
        assert_eq!(check(cookie, in_, Some(changed), NOW, false), Err(BadHash));
        for other in [
            AuthCookie { login: "you", ..cookie },
            AuthCookie { expiration: "2000000001", ..cookie },
            AuthCookie { token: "tok2", ..cookie },
            AuthCookie { hmac: "", ..cookie },
        ] {
            assert_eq!(check(other, in_, Some(account), NOW, false), Err(BadHash), "{other:?}");
        }
        let ended = sessions(NOW - 1);
        let ended = Account { sessions: &ended, ..account };
        assert_eq!(check(cookie, in_, Some(ended), NOW, false), Err(BadSessionToken));
    }

    #[test]
    fn malformed_and_odd_values() {
        for value in ["", "a|b|c", "a|b|c|d|e", &format!("a|1|t|{}", "h".repeat(2000))] {
            assert_eq!(AuthCookie::parse(value), Err(CookieFailure::Malformed), "{value}");
        }
        for (expiration, expected) in
            [("", 0), ("abc", 0), ("-5", 0), ("12", 12), (" 12", 12), ("12x", 12), ("99999999999999999999", i64::MAX)]
        {
            let cookie = AuthCookie { login: "a", expiration, token: "", hmac: "" };
            assert_eq!(cookie.expires(), expected, "{expiration}");
        }
    }

    #[test]
    fn debug_hides_token_and_signature() {
        let text = format!("{:?}", AuthCookie::parse("me|5|toktok|macmac").unwrap());
        assert!(text.contains("me") && !text.contains("toktok") && !text.contains("macmac"), "{text}");
    }
}
