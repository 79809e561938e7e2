//! Login cookies: names, signatures and validation.
//!
//! A cookie is `login|expiration|token|hmac`. The HMAC key depends on the site's keys and on four characters of the
//! password hash, so that a password change invalidates all cookies.

use svc_brand::Brand;

use crate::{
    Secret, crypto,
    keys::{Algorithm, Keys, Scheme},
    session::Sessions,
};

/// Seconds after its expiration during which a cookie is still accepted for POST and `admin-ajax` requests, so that
/// users do not lose what they typed.
pub const GRACE_PERIOD: i64 = 3600;

/// Maximum length of a cookie, in bytes. A login has at most 60 characters.
const MAX_COOKIE: usize = 1024;

/// Names of a site's three login cookies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CookieNames {
    /// Cookie for the admin area without TLS.
    pub auth: String,
    /// Cookie for the admin area over TLS.
    pub secure_auth: String,
    /// Cookie for the public site and the REST API.
    pub logged_in: String,
}

impl CookieNames {
    /// The names for a brand and a site URL (the stored `siteurl` option).
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

/// Suffix of cookie names: the MD5 of the site URL, so that sites on one host do not share logins.
pub fn site_hash(site_url: &str) -> String {
    crypto::md5_hex(site_url.as_bytes())
}

/// The four characters of a password hash that cookies depend on: the 9th to the 12th for phpass and plain bcrypt,
/// otherwise the last four.
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

/// Creates the value of a cookie.
///
/// `stored_password` is the user's password hash, `expiration` is in seconds since the epoch, and `token` is the
/// session token.
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

/// The parts of a cookie, not validated. `Debug` omits the token and the signature.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct AuthCookie<'a> {
    /// Login of the user.
    pub login: &'a str,
    /// Expiration in seconds since the epoch, as sent.
    pub expiration: &'a str,
    /// Session token.
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

/// Reasons for rejecting a cookie, in the order of the checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CookieFailure {
    /// It does not have four parts.
    Malformed,
    /// It has expired.
    Expired,
    /// The user does not exist.
    BadUsername,
    /// The signature is invalid, or the password was changed.
    BadHash,
    /// The session has ended.
    BadSessionToken,
}

impl CookieFailure {
    /// Name of the event that the failure fires: `auth_cookie_expired`, …
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

/// Name of the event that a valid cookie fires.
pub const VALID_EVENT: &str = "auth_cookie_valid";

/// The account that a cookie refers to.
#[derive(Clone, Copy)]
pub struct Account<'a> {
    /// The user's password hash.
    pub password: &'a str,
    /// The user's sessions.
    pub sessions: &'a Sessions,
}

/// A valid cookie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ValidCookie {
    /// The cookie has expired but is within the grace period: the page should ask the user to log in again.
    pub in_grace: bool,
}

impl<'a> AuthCookie<'a> {
    /// Parses the value of a cookie.
    ///
    /// # Errors
    /// [`CookieFailure::Malformed`] if it does not have four parts.
    pub fn parse(value: &'a str) -> Result<Self, CookieFailure> {
        let mut parts = value.split('|');
        match (parts.next(), parts.next(), parts.next(), parts.next(), parts.next()) {
            (Some(login), Some(expiration), Some(token), Some(hmac), None) if value.len() <= MAX_COOKIE => {
                Ok(AuthCookie { login, expiration, token, hmac })
            }
            _ => Err(CookieFailure::Malformed),
        }
    }

    /// The expiration as a number: its leading digits, or 0.
    fn expires(&self) -> i64 {
        let text = self.expiration.trim_start_matches([' ', '\t', '\n', '\r', '\x0b', '\x0c']);
        let end = text.bytes().position(|b| !b.is_ascii_digit()).unwrap_or(text.len());
        if end == 0 { 0 } else { text[..end].parse().unwrap_or(i64::MAX) }
    }

    /// Checks the expiration. Call this before looking up the user.
    ///
    /// `grace` is true for POST and `admin-ajax` requests.
    ///
    /// # Errors
    /// [`CookieFailure::Expired`].
    pub fn current(&self, now: i64, grace: bool) -> Result<(), CookieFailure> {
        let until = if grace { self.expires().saturating_add(GRACE_PERIOD) } else { self.expires() };
        if until < now { Err(CookieFailure::Expired) } else { Ok(()) }
    }

    /// Validates expiration, user, signature and session.
    ///
    /// `account` is the account of [`AuthCookie::login`], `now` is in seconds since the epoch, and `grace` is as in
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
    ) -> Result<ValidCookie, CookieFailure> {
        self.current(now, grace)?;
        let account = account.ok_or(CookieFailure::BadUsername)?;
        let expected = signature(keys, scheme, self, account.password);
        if !crypto::constant_time_eq(expected.as_bytes(), self.hmac.as_bytes()) {
            return Err(CookieFailure::BadHash);
        }
        if !account.sessions.verify(self.token, now) {
            return Err(CookieFailure::BadSessionToken);
        }
        Ok(ValidCookie { in_grace: self.expires() < now })
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
    fn password_fragments_of_all_hash_formats() {
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
    fn generated_cookies_are_valid_until_something_changes() {
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
        assert_eq!(check(cookie, in_, Some(account), NOW + GRACE_PERIOD, true), Ok(true));
        assert_eq!(check(cookie, in_, Some(account), NOW + GRACE_PERIOD + 1, true), Err(Expired));
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
    fn malformed_values() {
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
    fn debug_omits_token_and_signature() {
        let text = format!("{:?}", AuthCookie::parse("me|5|toktok|macmac").unwrap());
        assert!(text.contains("me") && !text.contains("toktok") && !text.contains("macmac"), "{text}");
    }
}
