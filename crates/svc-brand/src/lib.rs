#![doc = include_str!("../README.md")]

use std::sync::Arc;

/// The link relation under which sites announce their REST API, the same for every brand. The API's own link relations
/// start with it; CURIEs abbreviate it.
pub const LINK_RELATION: &str = "https://api.w.org/";

/// The namespace of the routes that WordPress does not have, the same for every brand. The API's index does not list them, because
/// clients compare it with WordPress's.
pub const OWN_NAMESPACE: &str = "svc/v2";

/// The brand word and the identifiers derived from it. Cheap to clone.
///
/// ```
/// use svc_brand::Brand;
/// assert_eq!(Brand::default().namespace(), "svc/v2");
/// assert_eq!(Brand::new("wp").unwrap().header("Nonce"), "X-WP-Nonce");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Brand(Arc<str>);

/// Error for a word that is not a valid brand. A brand is 1 to 20 lower-case ASCII letters or digits and starts with a
/// letter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidBrand(pub String);

impl std::fmt::Display for InvalidBrand {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "`{}` cannot be a brand: use 1 to 20 lower-case letters and digits, beginning with a letter", self.0)
    }
}

impl std::error::Error for InvalidBrand {}

impl Default for Brand {
    fn default() -> Self {
        Brand(Arc::from("svc"))
    }
}

impl Brand {
    /// Parses a brand word.
    ///
    /// # Errors
    /// Returns [`InvalidBrand`] unless the word is 1 to 20 lower-case ASCII letters or digits and starts with a letter.
    pub fn new(word: &str) -> Result<Self, InvalidBrand> {
        let fits = (1..=20).contains(&word.len())
            && word.starts_with(|c: char| c.is_ascii_lowercase())
            && word.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit());
        if fits { Ok(Brand(Arc::from(word))) } else { Err(InvalidBrand(word.to_owned())) }
    }

    /// The brand that unmodified WordPress clients expect, `wp`.
    pub fn original() -> Self {
        Brand(Arc::from("wp"))
    }

    /// WordPress's cookie names do not start with its brand word.
    fn is_original(&self) -> bool {
        &*self.0 == "wp"
    }

    /// The word itself; also the prefix of the link CURIE.
    pub fn word(&self) -> &str {
        &self.0
    }

    /// Default URL prefix of the REST API: `svc-json`.
    pub fn prefix(&self) -> String {
        format!("{}-json", self.0)
    }

    /// Namespace of the default routes: `svc/v2`.
    pub fn namespace(&self) -> String {
        format!("{}/v2", self.0)
    }

    /// A secondary namespace: `site-health` gives `svc-site-health/v1`.
    pub fn side_namespace(&self, name: &str) -> String {
        format!("{}-{name}/v1", self.0)
    }

    /// Name of a response or request header: `Total` gives `X-SVC-Total`.
    pub fn header(&self, name: &str) -> String {
        format!("X-{}-{name}", self.0.to_ascii_uppercase())
    }

    /// Name of the request parameter that carries the nonce: `_svcnonce`.
    pub fn nonce_param(&self) -> String {
        format!("_{}nonce", self.0)
    }

    /// The action that REST API nonces are created for: `svc_rest`.
    pub fn nonce_action(&self) -> String {
        format!("{}_rest", self.0)
    }

    /// Prefix of a login cookie's name, before the hash of the site URL.
    ///
    /// `scheme` is `auth`, `secure_auth` or `logged_in`.
    pub fn cookie(&self, scheme: &str) -> String {
        let base = if self.is_original() { "wordpress" } else { &*self.0 };
        match scheme {
            "auth" => format!("{base}_"),
            "secure_auth" => format!("{base}_sec_"),
            scheme => format!("{base}_{scheme}_"),
        }
    }

    /// Name of the cookie that the login page sets to test for cookie support: `svc_test_cookie`.
    pub fn test_cookie(&self) -> String {
        format!("{}test_cookie", self.cookie("auth"))
    }

    /// Prefix of the name of the cookie that unlocks password-protected posts, before the hash of the site URL.
    pub fn post_password_cookie(&self) -> String {
        format!("{}-postpass_", self.0)
    }

    /// Prefix of the name of the cookie with the key of a link to set a new password, before the hash of the site URL.
    pub fn reset_password_cookie(&self) -> String {
        format!("{}-resetpass-", self.0)
    }

    /// Prefix of the name of the cookie of a log-in that waits for a code, before the hash of the site URL.
    pub fn two_factor_cookie(&self) -> String {
        format!("{}-two-factor-", self.0)
    }

    /// Prefix of the name of the cookie that ties the challenges of the log-in page for passkeys to a browser, before the hash of the
    /// site URL.
    pub fn passkey_cookie(&self) -> String {
        format!("{}-passkey-", self.0)
    }

    /// Prefix of the name of the cookie with what the next page shows once, such as a new secret, before the hash of the site URL.
    pub fn once_cookie(&self) -> String {
        format!("{}-once-", self.0)
    }

    /// The CURIE prefix of link relations: `svc` for `https://api.w.org/{rel}`.
    pub fn curie(&self) -> &str {
        &self.0
    }

    /// File name of the login page below the site URL, the same for every brand.
    ///
    /// The brand mapping of the recordings has no entry for the login and administration URLs, so stored links and the
    /// index's `authentication` field are the same on every site.
    pub fn login_path(&self) -> &'static str {
        "wp-login.php"
    }

    /// Folder of the administration area below the site URL, the same for every brand (see [`Self::login_path`]).
    pub fn admin_path(&self) -> &'static str {
        "wp-admin"
    }
}

impl std::fmt::Display for Brand {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn default_brand_names() {
        let b = Brand::default();
        assert_eq!(b.prefix(), "svc-json");
        assert_eq!(b.side_namespace("site-health"), "svc-site-health/v1");
        assert_eq!(b.header("TotalPages"), "X-SVC-TotalPages");
        assert_eq!(b.nonce_param(), "_svcnonce");
        assert_eq!(b.nonce_action(), "svc_rest");
        assert_eq!(b.cookie("logged_in"), "svc_logged_in_");
    }

    #[test]
    fn wordpress_brand_uses_wordpress_cookie_names() {
        let b = Brand::new("wp").unwrap();
        assert_eq!(b.cookie("logged_in"), "wordpress_logged_in_");
        assert_eq!(b.cookie("auth"), "wordpress_");
        assert_eq!(b.test_cookie(), "wordpress_test_cookie");
        assert_eq!(b.login_path(), "wp-login.php");
    }

    #[test]
    fn invalid_brand_words_are_rejected() {
        for word in ["", "Svc", "a b", "a-b", "9x", "é", "aaaaaaaaaaaaaaaaaaaaaaaaaaa"] {
            assert!(Brand::new(word).is_err(), "{word}");
        }
    }
}
