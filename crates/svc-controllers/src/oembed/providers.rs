//! Known oEmbed providers: their URLs and endpoints.

/// A provider: hosts, path prefixes and the URL of the oEmbed endpoint.
struct Provider {
    /// Host names. A leading dot also matches subdomains.
    hosts: &'static [&'static str],
    /// Path prefixes, in which `*` matches one segment.
    paths: &'static [&'static str],
    endpoint: &'static str,
}

const fn provider(hosts: &'static [&'static str], paths: &'static [&'static str], endpoint: &'static str) -> Provider {
    Provider { hosts, paths, endpoint }
}

/// Any path.
const ANY: &[&str] = &["/"];

#[rustfmt::skip]
const PROVIDERS: &[Provider] = &[
    provider(&[".youtube.com"], &["/watch", "/playlist", "/shorts/", "/live/", "/v/", "/embed/"], "https://www.youtube.com/oembed"),
    provider(&["youtu.be"], ANY, "https://www.youtube.com/oembed"),
    provider(&[".vimeo.com"], ANY, "https://vimeo.com/api/oembed.json"),
    provider(&[".dailymotion.com", "dai.ly"], ANY, "https://www.dailymotion.com/services/oembed"),
    provider(&[".flickr.com", "flic.kr"], ANY, "https://www.flickr.com/services/oembed/"),
    provider(&[".smugmug.com"], ANY, "https://api.smugmug.com/services/oembed/"),
    provider(&["twitter.com", "www.twitter.com", "x.com", "www.x.com"], &["/*/status/", "/*/timelines/", "/i/moments/"], "https://publish.twitter.com/oembed"),
    provider(&[".soundcloud.com"], ANY, "https://soundcloud.com/oembed"),
    provider(&["open.spotify.com", "play.spotify.com"], ANY, "https://embed.spotify.com/oembed/"),
    provider(&[".mixcloud.com"], ANY, "https://app.mixcloud.com/oembed/"),
    provider(&[".ted.com"], &["/talks/"], "https://www.ted.com/services/v1/oembed.json"),
    provider(&[".kickstarter.com"], &["/projects/"], "https://www.kickstarter.com/services/oembed"),
    provider(&["kck.st"], ANY, "https://www.kickstarter.com/services/oembed"),
    provider(&[".cloudup.com"], ANY, "https://cloudup.com/oembed"),
    provider(&[".reverbnation.com"], ANY, "https://www.reverbnation.com/oembed"),
    provider(&["videopress.com"], &["/v/"], "https://public-api.wordpress.com/oembed/?for=self"),
    provider(&[".reddit.com"], &["/r/*/comments/"], "https://www.reddit.com/oembed"),
    provider(&[".speakerdeck.com"], ANY, "https://speakerdeck.com/oembed.json"),
    provider(&[".tumblr.com"], ANY, "https://www.tumblr.com/oembed/1.0"),
    provider(&[".imgur.com"], ANY, "https://api.imgur.com/oembed"),
    provider(&[".issuu.com"], &["/*/docs/"], "https://issuu.com/oembed_wp"),
    provider(&[".slideshare.net"], ANY, "https://www.slideshare.net/api/oembed/2"),
    provider(&[".scribd.com"], &["/doc/", "/document/"], "https://www.scribd.com/services/oembed"),
    provider(&[".polldaddy.com", ".crowdsignal.com", ".survey.fm", "poll.fm"], ANY, "https://api.crowdsignal.com/oembed"),
    provider(&[".tiktok.com"], &["/*/video/", "/@"], "https://www.tiktok.com/oembed"),
    provider(&[".pinterest.com", ".pinterest.de", ".pinterest.fr", ".pinterest.co.uk"], ANY, "https://www.pinterest.com/oembed.json"),
    provider(&[".wolframcloud.com"], &["/obj/"], "https://www.wolframcloud.com/oembed"),
    provider(&["pca.st"], ANY, "https://pca.st/oembed.json"),
    provider(&[".anghami.com"], ANY, "https://api.anghami.com/rest/v1/oembed.view"),
    provider(&["bsky.app"], &["/profile/*/post/"], "https://embed.bsky.app/oembed"),
    provider(&[".canva.com"], &["/design/*/view"], "https://canva.com/_oembed"),
];

/// The oEmbed endpoint of a URL, if its provider is known.
pub(super) fn endpoint(url: &str) -> Option<&'static str> {
    let parts = svc_text::parse_url(url)?;
    if !matches!(parts.scheme.as_deref(), Some("http" | "https")) || parts.user.is_some() || parts.port.is_some() {
        return None;
    }
    let (host, path) = (parts.host?.to_ascii_lowercase(), parts.path.unwrap_or_else(|| "/".to_owned()));
    let is_host = |pattern: &&str| match pattern.strip_prefix('.') {
        Some(domain) => host.strip_suffix(domain).is_some_and(|sub| sub.is_empty() || sub.ends_with('.')),
        None => host == **pattern,
    };
    let provider =
        PROVIDERS.iter().find(|p| p.hosts.iter().any(&is_host) && p.paths.iter().any(|s| has_prefix(&path, s)));
    provider.map(|p| p.endpoint)
}

/// Whether a path starts with a pattern, in which `*` matches one segment.
fn has_prefix(path: &str, pattern: &str) -> bool {
    match pattern.split_once('*') {
        None => path.starts_with(pattern),
        Some((before, after)) => path.strip_prefix(before).is_some_and(|rest| {
            let end = rest.find('/').unwrap_or(rest.len());
            end > 0 && has_prefix(&rest[end..], after)
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endpoints_depend_on_host_and_path() {
        let youtube = Some("https://www.youtube.com/oembed");
        for (url, expected) in [
            ("https://www.youtube.com/watch?v=x", youtube),
            ("https://m.youtube.com/watch?v=x", youtube),
            ("http://youtu.be/x", youtube),
            ("https://www.youtube.com/about", None),
            ("https://notyoutube.com/watch?v=x", None),
            ("https://youtube.com.example/watch?v=x", None),
            ("https://youtube.com@example/watch?v=x", None),
            ("ftp://youtube.com/watch?v=x", None),
            ("https://x.com/somebody/status/1", Some("https://publish.twitter.com/oembed")),
            ("https://x.com//status/1", None),
            ("https://example.org/", None),
        ] {
            assert_eq!(endpoint(url), expected, "{url}");
        }
    }
}
