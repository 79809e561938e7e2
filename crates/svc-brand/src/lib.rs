//! Every wire identifier that carries the maker's brand, derived from one word.
//!
//! With the word `svc` (the default) the interface prefix is `svc-json`, the main namespace `svc/v2`, the nonce header
//! `X-SVC-Nonce`; with `wp` they are those that WordPress clients expect. Names that the specification keeps (`WP-API`,
//! hook names) and names inside stored content (`wp_block`, `<!-- wp:… -->`, `wp-content`, hash labels) do not depend on
//! the brand and are not here. The literal words stand nowhere else in the workspace.

use std::sync::Arc;

/// The link relation under which sites announce the interface, the same under every brand; relations of the interface's
/// own begin with it, and curies shorten it.
pub const LINK_RELATION: &str = "https://api.w.org/";

/// The brand word and the names made of it. Cheap to clone.
///
/// ```
/// use svc_brand::Brand;
/// assert_eq!(Brand::default().namespace(), "svc/v2");
/// assert_eq!(Brand::new("wp").unwrap().header("Nonce"), "X-WP-Nonce");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Brand(Arc<str>);

/// A word that cannot be a brand: it must be 1 to 20 lower-case ASCII letters or digits, beginning with a letter.
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
    /// A brand of this word.
    ///
    /// # Errors
    /// [`InvalidBrand`] when the word is not 1 to 20 lower-case ASCII letters or digits beginning with a letter.
    pub fn new(word: &str) -> Result<Self, InvalidBrand> {
        let fits = (1..=20).contains(&word.len())
            && word.starts_with(|c: char| c.is_ascii_lowercase())
            && word.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit());
        if fits { Ok(Brand(Arc::from(word))) } else { Err(InvalidBrand(word.to_owned())) }
    }

    /// The brand of WordPress itself.
    pub fn original() -> Self {
        Brand(Arc::from("wp"))
    }

    /// The brand of WordPress itself, whose cookies and relation have names of their own.
    fn is_original(&self) -> bool {
        &*self.0 == "wp"
    }

    /// The word itself; also the name of the link curie.
    pub fn word(&self) -> &str {
        &self.0
    }

    /// Default address prefix of the interface: `svc-json`.
    pub fn prefix(&self) -> String {
        format!("{}-json", self.0)
    }

    /// Namespace of the default routes: `svc/v2`.
    pub fn namespace(&self) -> String {
        format!("{}/v2", self.0)
    }

    /// A side namespace: `site-health` gives `svc-site-health/v1`.
    pub fn side_namespace(&self, name: &str) -> String {
        format!("{}-{name}/v1", self.0)
    }

    /// A response or request header: `Total` gives `X-SVC-Total`.
    pub fn header(&self, name: &str) -> String {
        format!("X-{}-{name}", self.0.to_ascii_uppercase())
    }

    /// The request parameter that carries the nonce: `_svcnonce`.
    pub fn nonce_param(&self) -> String {
        format!("_{}nonce", self.0)
    }

    /// The action that interface nonces are made for: `svc_rest`.
    pub fn nonce_action(&self) -> String {
        format!("{}_rest", self.0)
    }

    /// Beginning of a log-in cookie's name, before the hash of the site address.
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

    /// The cookie by which the log-in page sees that cookies work: `svc_test_cookie`.
    pub fn test_cookie(&self) -> String {
        format!("{}test_cookie", self.cookie("auth"))
    }

    /// Beginning of the name of the cookie that opens posts with a password, before the hash of the site address.
    pub fn post_password_cookie(&self) -> String {
        format!("{}-postpass_", self.0)
    }

    /// Name of the member and relation prefix that curies shorten: `svc` for `https://api.w.org/{rel}`.
    pub fn curie(&self) -> &str {
        &self.0
    }

    /// File name of the log-in page under the site address, the same under every brand.
    ///
    /// The recordings' brand mapping has no entry for the log-in and administration addresses, so stored links and
    /// the index's `authentication` member read alike on every site.
    pub fn login_path(&self) -> &'static str {
        "wp-login.php"
    }

    /// Folder of the administration area under the site address, the same under every brand (see [`Self::login_path`]).
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
    fn names_of_the_default_brand() {
        let b = Brand::default();
        assert_eq!(b.prefix(), "svc-json");
        assert_eq!(b.side_namespace("site-health"), "svc-site-health/v1");
        assert_eq!(b.header("TotalPages"), "X-SVC-TotalPages");
        assert_eq!(b.nonce_param(), "_svcnonce");
        assert_eq!(b.nonce_action(), "svc_rest");
        assert_eq!(b.cookie("logged_in"), "svc_logged_in_");
    }

    #[test]
    fn the_original_brand_keeps_its_cookie_names() {
        let b = Brand::new("wp").unwrap();
        assert_eq!(b.cookie("logged_in"), "wordpress_logged_in_");
        assert_eq!(b.cookie("auth"), "wordpress_");
        assert_eq!(b.test_cookie(), "wordpress_test_cookie");
        assert_eq!(b.login_path(), "wp-login.php");
    }

    #[test]
    fn a_word_that_would_break_a_header_is_refused() {
        for word in ["", "Svc", "a b", "a-b", "9x", "é", "aaaaaaaaaaaaaaaaaaaaaaaaaaa"] {
            assert!(Brand::new(word).is_err(), "{word}");
        }
    }
}
