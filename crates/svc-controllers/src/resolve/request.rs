//! The URL that a client asks for.

use svc_schema::Error;
use svc_site::{Settings, url_resolver::PageUrl};

/// The URL is neither a path nor a URL of this site.
fn other_site() -> Error {
    Error::new("rest_invalid_url", "The URL must be a path, or a URL of this site.").with_status(400)
}

/// Path and query of a URL of this site, with either scheme.
///
/// # Errors
/// If it is a URL of another host, or no URL.
pub(super) fn page_url(settings: &Settings, sent: &str) -> Result<PageUrl, Error> {
    let sent = sent.split('#').next().unwrap_or_default();
    let is_path = sent.starts_with('/') && !sent.starts_with("//");
    let local = if is_path {
        sent
    } else {
        let (host, local) = host_and_rest(sent).ok_or_else(other_site)?;
        let home = settings.urls.site.home_url("");
        let own = host_and_rest(&home).map(|(host, _)| host);
        local_part(own, host, local).ok_or_else(other_site)?
    };
    let (path, query) = local.split_once('?').unwrap_or((local, ""));
    Ok(PageUrl::new(if path.is_empty() { "/" } else { path }, query))
}

/// The rest of the URL, if it belongs to the site's host.
fn local_part<'u>(own: Option<&str>, host: &str, local: &'u str) -> Option<&'u str> {
    own.is_some_and(|own| own.eq_ignore_ascii_case(host)).then_some(local)
}

/// Splits an absolute URL after its host, which includes the port unless it is the scheme's own.
fn host_and_rest(url: &str) -> Option<(&str, &str)> {
    let (scheme, rest) = match url.split_once("//") {
        Some((scheme, rest)) => (scheme, rest),
        None => return None,
    };
    let port = match scheme.to_ascii_lowercase().as_str() {
        "http:" => ":80",
        "https:" => ":443",
        "" => "",
        _ => return None,
    };
    let end = rest.find(['/', '?']).unwrap_or(rest.len());
    let (host, local) = rest.split_at(end);
    let host = if port.is_empty() { host } else { host.strip_suffix(port).unwrap_or(host) };
    (!host.is_empty()).then_some((host, local))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_of_this_site() {
        for (home, url, expected) in [
            ("http://a.b", "http://a.b/x?y", Some("/x?y")),
            ("http://a.b", "https://A.B:443/x", Some("/x")),
            ("http://a.b:80", "http://a.b", Some("")),
            ("http://a.b", "//a.b?p=4", Some("?p=4")),
            ("http://a.b:8080/sub", "http://a.b:8080/sub/x", Some("/sub/x")),
            ("http://a.b", "http://a.b:8080/x", None),
            ("http://a.b", "http://a.b@evil.example/x", None),
            ("http://a.b", "http://evil.example/a.b/", None),
            ("http://a.b", "http://a.b.evil.example/", None),
            ("http://a.b", "ftp://a.b/x", None),
            ("http://a.b", "http:///x", None),
            ("http://a.b", "http:a.b", None),
            ("http://a.b", "x/y", None),
            ("http://a.b", "", None),
        ] {
            let own = host_and_rest(home).map(|(host, _)| host);
            let found = host_and_rest(url).and_then(|(host, local)| local_part(own, host, local));
            assert_eq!(found, expected, "{home} {url}");
        }
    }
}
