//! Which representation a client prefers, by the header `Accept` (RFC 9110, section 12.5.1).

use http::HeaderMap;
use http::header::ACCEPT;

/// Whether a request asks for Markdown: its `Accept` names `text/markdown`, and JSON only with a lower weight, if at all.
pub fn prefers_markdown(headers: &HeaderMap) -> bool {
    let (mut markdown, mut json) = (0, 0);
    let values = headers.get_all(ACCEPT).iter().filter_map(|value| value.to_str().ok());
    for range in values.flat_map(|value| value.split(',')) {
        let mut parts = range.split(';').map(str::trim);
        let kind = parts.next().unwrap_or_default();
        let weight = match parts.find_map(|parameter| parameter.strip_prefix("q=").or(parameter.strip_prefix("Q="))) {
            None => 1_000,
            Some(weight) => weight.parse::<f32>().map_or(0, |weight| (weight.clamp(0.0, 1.0) * 1_000.0) as u32),
        };
        match () {
            () if kind.eq_ignore_ascii_case("text/markdown") => markdown = weight,
            () if kind.eq_ignore_ascii_case("application/json") => json = weight,
            () => {}
        }
    }
    markdown > json
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
}
