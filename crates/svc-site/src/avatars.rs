//! Avatars: URLs at a service that finds images by a hash of the e-mail address.
//!
//! When the option `show_avatars` is off there are no URLs, so no hash of an e-mail address leaves the server.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use sha2::{Digest, Sha256};

use crate::Settings;

/// Widths of avatars in REST responses, in pixels (specification, "Limits" 1).
pub const SIZES: [u32; 3] = [24, 48, 96];

/// The widths on this site: [`SIZES`] after the filters of `rest_avatar_sizes`.
pub fn sizes(settings: &Settings) -> Vec<u32> {
    settings.urls.site.hooks.rest_avatar_sizes.iter().fold(SIZES.to_vec(), |sizes, filter| filter(sizes))
}

/// Base URL of the avatar service.
const SERVICE: &str = "https://secure.gravatar.com/avatar/";

/// Characters of a parameter that are not percent-encoded: the unreserved characters of RFC 3986.
const UNRESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// Whether the site shows avatars (option `show_avatars`).
pub fn are_enabled(settings: &Settings) -> bool {
    !matches!(settings.option("show_avatars"), "" | "0")
}

/// The URL of the avatar for an e-mail address.
///
/// Parameters: `s` is the width, `d` the fallback image (option `avatar_default`), `r` the rating (option
/// `avatar_rating`). Source: recorded responses.
pub fn url(settings: &Settings, email: &str, size: u32) -> String {
    let option = |name: &str| settings.stored(name).map(svc_store::StoredText::text);
    let fallback = match option("avatar_default").unwrap_or("mystery") {
        "mm" | "mystery" | "mysteryman" => "mm",
        "gravatar_default" => "",
        other => other,
    };
    let mut url = format!("{SERVICE}{}?s={size}", hash(email));
    let rating = option("avatar_rating").unwrap_or_default().to_lowercase();
    for (name, value) in [("d", fallback), ("r", &rating)] {
        if !value.is_empty() {
            url.push_str(&format!("&{name}={}", utf8_percent_encode(value, UNRESERVED)));
        }
    }
    url
}

/// SHA-256 of the trimmed, lower-case address in hexadecimal; empty for an empty address.
fn hash(email: &str) -> String {
    let email = svc_text::trim(email).to_lowercase();
    if email.is_empty() {
        return String::new();
    }
    Sha256::digest(email.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use svc_store::{StoredText, options::Options};

    use super::*;
    use crate::settings::urls::Urls;

    fn settings(rows: &[(&str, &str)]) -> Settings {
        let options: Options = rows.iter().map(|(name, value)| ((*name).to_owned(), StoredText::of(*value))).collect();
        let brand = svc_brand::Brand::default();
        let urls = Urls::new(&options, &brand, &Default::default(), &Default::default(), &Default::default());
        Settings::new(Arc::new(options), urls)
    }

    #[test]
    fn urls_depend_on_the_options() {
        // Recorded from WordPress: options, and the part of the URL after the hash.
        #[rustfmt::skip]
        let rows: [(&[(&str, &str)], &str); 9] = [
            (&[("avatar_rating", "G")], "?s=24&d=mm&r=g"),
            (&[("avatar_default", "mystery"), ("avatar_rating", "PG")], "?s=24&d=mm&r=pg"),
            (&[("avatar_default", "mm")], "?s=24&d=mm"),
            (&[("avatar_default", "blank")], "?s=24&d=blank"),
            (&[("avatar_default", "gravatar_default"), ("avatar_rating", "G")], "?s=24&r=g"),
            (&[("avatar_default", "identicon")], "?s=24&d=identicon"),
            (&[("avatar_default", ""), ("avatar_rating", "G")], "?s=24&r=g"),
            (&[("avatar_default", "http://x/y z.png")], "?s=24&d=http%3A%2F%2Fx%2Fy%20z.png"),
            (&[], "?s=24&d=mm"),
        ];
        for (options, expected) in rows {
            let url = url(&settings(options), "a@b.example", 24);
            assert_eq!(&url[SERVICE.len() + 64..], expected, "{options:?}");
        }
    }

    #[test]
    fn the_hash_is_of_the_trimmed_lower_case_address() {
        let author = "8b60909e13be9bca5b3afc57e1f1b0f39c8771f881867898a8840276b53ec1df";
        assert_eq!(hash("author1@example.com"), author);
        assert_eq!(hash(" Author1@Example.com "), author);
        assert_eq!(hash("üx@example.com"), "e73d981e43ec093c1e9f991d64db56316f7ca0fafebc4b49471e3496d2d262ab");
        assert_eq!(hash(""), "");
    }

    #[test]
    fn avatars_are_off_without_the_option() {
        for (options, expected) in
            [(&[("show_avatars", "1")][..], true), (&[("show_avatars", "0")], false), (&[], false)]
        {
            assert_eq!(are_enabled(&settings(options)), expected, "{options:?}");
        }
    }
}
