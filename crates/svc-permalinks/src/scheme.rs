//! The scheme of generated URLs.

/// The scheme of a generated URL.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum UrlScheme {
    /// The scheme of the site's configured URL.
    #[default]
    Site,
    /// Always `http`.
    Http,
    /// Always `https`.
    Https,
    /// No scheme and host: an absolute path.
    Relative,
}

impl UrlScheme {
    /// The URL with this scheme.
    pub(crate) fn apply(self, url: &str) -> String {
        let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
        match self {
            UrlScheme::Site => url.to_owned(),
            UrlScheme::Http => format!("http://{rest}"),
            UrlScheme::Https => format!("https://{rest}"),
            UrlScheme::Relative => rest.find('/').map_or_else(String::new, |i| rest[i..].to_owned()),
        }
    }
}
