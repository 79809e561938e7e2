//! Which representation a client prefers, by the header `Accept` (RFC 9110, section 12.5.1).

use http::HeaderMap;
use http::header::ACCEPT;

/// Whether a request asks for Markdown: its `Accept` names `text/markdown`, and JSON only with a lower weight, if at all.
pub fn prefers_markdown(headers: &HeaderMap) -> bool {
    let markdown = weight(headers, "text/markdown");
    markdown > 0 && markdown > weight(headers, "application/json")
}

/// Whether the `Accept` of a request names this media type. Ranges such as `*/*` do not count: clients that send them only do not know
/// the type.
pub fn accepts(headers: &HeaderMap, media_type: &str) -> bool {
    weight(headers, media_type) > 0
}

/// The weight of a media type in thousandths; 0 if `Accept` does not name it.
fn weight(headers: &HeaderMap, media_type: &str) -> u32 {
    let mut named = 0;
    let values = headers.get_all(ACCEPT).iter().filter_map(|value| value.to_str().ok());
    for range in values.flat_map(|value| value.split(',')) {
        let mut parts = range.split(';').map(str::trim);
        if !parts.next().unwrap_or_default().eq_ignore_ascii_case(media_type) {
            continue;
        }
        named = match parts.find_map(|parameter| parameter.strip_prefix("q=").or(parameter.strip_prefix("Q="))) {
            None => 1_000,
            Some(weight) => weight.parse::<f32>().map_or(0, |weight| (weight.clamp(0.0, 1.0) * 1_000.0) as u32),
        };
    }
    named
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn preferences() {
        for (accept, expected) in [
            ("", false),
            ("*/*", false),
            ("text/*", false),
            ("text/markdown", true),
            ("Text/Markdown; charset=utf-8", true),
            ("text/markdown, */*;q=0.1", true),
            ("text/markdown;q=0.9, text/html, */*", true),
            ("application/json, text/markdown", false),
            ("application/json;q=0.5, text/markdown", true),
            ("text/markdown;q=0", false),
            ("text/markdown;q=x", false),
            ("text/markdown;q=NaN", false),
            ("text/markdownx", false),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(ACCEPT, accept.parse().unwrap());
            assert_eq!(prefers_markdown(&headers), expected, "{accept}");
        }
        assert!(!prefers_markdown(&HeaderMap::new()));
    }

    #[test]
    fn ranges_name_no_type() {
        for (accept, expected) in [
            ("", false),
            ("*/*", false),
            ("image/*", false),
            ("image/webp", true),
            ("image/avif,Image/WebP,image/apng,*/*;q=0.8", true),
            ("image/webp;q=0", false),
            ("image/webp;q=0.001", true),
            ("image/webpx", false),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(ACCEPT, accept.parse().unwrap());
            assert_eq!(accepts(&headers, "image/webp"), expected, "{accept}");
        }
    }
}
