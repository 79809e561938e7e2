//! Redirect targets from requests: checks whether they are safe, and adds query parameters.

use svc_site::Settings;
use svc_text::parse_url;

/// Why the URL of an application is rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unsafe {
    /// No scheme, no host, a user's name, or a scheme that is no application's.
    Format,
    /// No TLS, and the site does not run on a developer's machine.
    Unencrypted,
}

/// Schemes that browsers execute or show as their own pages, and those that systems open with programs of their own, which do
/// more with a URL than sign in. WordPress rejects the first two only.
#[rustfmt::skip]
const UNSAFE_SCHEMES: &[&str] = &[
    "javascript", "data", "vbscript", "blob", "filesystem", "view-source", "about", "file", "jar", "resource",
    "chrome", "chrome-extension", "chrome-untrusted", "devtools", "edge", "moz-extension", "safari-web-extension",
    "intent", "android-app", "content", "shell", "search", "search-ms", "help", "hcp", "cmd", "powershell", "vscode",
    "ftp", "ftps", "sftp", "ssh", "telnet", "smb", "nfs", "afp", "ldap", "ldaps", "gopher", "ws", "wss",
    "mailto", "tel", "sms",
];

/// Prefix of the schemes of Windows and its programs, such as `ms-msdt`.
const UNSAFE_PREFIX: &str = "ms-";

/// Checks the URL of an application. Mobile applications use custom schemes. `local` allows `http`.
///
/// # Errors
/// See [`Unsafe`].
pub(crate) fn check_application(url: &str, local: bool) -> Result<(), Unsafe> {
    if url.is_empty() {
        return Ok(());
    }
    let parts = parse_url(url).ok_or(Unsafe::Format)?;
    let scheme = parts.scheme.unwrap_or_default().to_ascii_lowercase();
    let is_scheme = scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.bytes().all(|b| b.is_ascii_alphanumeric() || b"+-.".contains(&b));
    // The URL must not end a header or a directive of a content security policy.
    let clean = url.bytes().all(|b| b.is_ascii_graphic() && !b"\"'<>\\^`{|}".contains(&b));
    let is_unsafe = UNSAFE_SCHEMES.contains(&scheme.as_str()) || scheme.starts_with(UNSAFE_PREFIX);
    // `https://localhost@evil.example` looks like a URL of localhost.
    let has_user = parts.user.is_some() || parts.pass.is_some();
    if !is_scheme || is_unsafe || !clean || has_user || parts.host.is_none_or(|h| h.is_empty()) {
        return Err(Unsafe::Format);
    }
    if scheme == "http" && !local { Err(Unsafe::Unencrypted) } else { Ok(()) }
}

/// The content security policy source for a URL: its origin, or a custom scheme. Empty if there is none.
pub(crate) fn policy_source(url: &str) -> String {
    let Some(parts) = parse_url(url) else { return String::new() };
    let (Some(scheme), Some(host)) = (parts.scheme, parts.host) else { return String::new() };
    let port = parts.port.map(|p| format!(":{p}")).unwrap_or_default();
    let fits = |text: &str| text.bytes().all(|b| b.is_ascii_alphanumeric() || b"-.+[]:_".contains(&b));
    match &*scheme {
        _ if !fits(&scheme) || !fits(&host) => String::new(),
        "http" | "https" => format!("{scheme}://{host}{port}"),
        _ => format!("{scheme}:"),
    }
}

/// Sets query parameters of a URL and replaces those of the same names.
pub fn with_query(url: &str, values: &[(&str, &str)]) -> String {
    let (rest, fragment) = url.split_once('#').map_or((url, None), |(rest, f)| (rest, Some(f)));
    let (base, query) = rest.split_once('?').unwrap_or((rest, ""));
    let name = |pair: &str| pair.split('=').next().unwrap_or_default().to_owned();
    let others = query.split('&').filter(|p| !p.is_empty() && !values.iter().any(|(n, _)| *n == name(p)));
    let pairs: Vec<String> =
        others.map(str::to_owned).chain(values.iter().map(|(n, v)| format!("{n}={}", encode(v)))).collect();
    let fragment = fragment.map(|f| format!("#{f}")).unwrap_or_default();
    format!("{base}?{}{fragment}", pairs.join("&"))
}

/// Percent-encodes a value of a query.
pub(crate) fn encode(text: &str) -> String {
    const UNRESERVED: &percent_encoding::AsciiSet =
        &percent_encoding::NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');
    percent_encoding::utf8_percent_encode(text, UNRESERVED).to_string()
}

/// The URL, if it is on the site. Relative URLs are resolved, and over TLS the scheme is `https`.
pub fn on_site(url: &str, settings: &Settings) -> Option<String> {
    let urls = &settings.urls.site;
    on_one_of(url, &[&urls.site_url(""), &urls.home_url("")])
}

/// The URL, if its host and port are those of one of these sites. Relative URLs are resolved against the first site.
///
/// If the site uses TLS, so does the result: cookies that were set over TLS are not sent to other URLs.
fn on_one_of(url: &str, sites: &[&str]) -> Option<String> {
    let clean = svc_text::sanitize_redirect(url.trim());
    if clean.is_empty() || clean.contains('\\') {
        return None;
    }
    let scheme_and_authority = |site: &str| {
        let parts = parse_url(site)?;
        Some((parts.scheme?.to_ascii_lowercase(), (parts.host?.to_ascii_lowercase(), parts.port)))
    };
    if clean.starts_with('/') && !clean.starts_with("//") {
        let parts = parse_url(sites.first()?)?;
        let port = parts.port.map(|p| format!(":{p}")).unwrap_or_default();
        return Some(format!("{}://{}{port}{clean}", parts.scheme?, parts.host?));
    }
    let parts = parse_url(&clean)?;
    let named = parts.user.is_some() || parts.pass.is_some();
    let (scheme, authority) = scheme_and_authority(&clean)?;
    if named || !matches!(scheme.as_str(), "http" | "https") {
        return None;
    }
    let mut sites = sites.iter().filter_map(|site| scheme_and_authority(site));
    let (own_scheme, _) = sites.find(|(_, own)| *own == authority)?;
    let (_, rest) = clean.split_once("://")?;
    Some(if own_scheme == "https" { format!("https://{rest}") } else { clean })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checks_urls_of_applications() {
        #[rustfmt::skip]
        let rows = [
            // URL, public site, local site
            ("", Ok(()), Ok(())),
            ("https://a.b/c?d=e", Ok(()), Ok(())),
            ("wordpress://app-login", Ok(()), Ok(())),
            ("com.example.app://done", Ok(()), Ok(())),
            ("http://a.b/", Err(Unsafe::Unencrypted), Ok(())),
            ("javascript://a.b/%0aalert(1)", Err(Unsafe::Format), Err(Unsafe::Format)),
            ("JavaScript://a.b/", Err(Unsafe::Format), Err(Unsafe::Format)),
            ("javascript:alert(1)", Err(Unsafe::Format), Err(Unsafe::Format)),
            ("data://text/html,x", Err(Unsafe::Format), Err(Unsafe::Format)),
            ("//a.b/c", Err(Unsafe::Format), Err(Unsafe::Format)),
            ("/c", Err(Unsafe::Format), Err(Unsafe::Format)),
            ("https://", Err(Unsafe::Format), Err(Unsafe::Format)),
            ("wordpress:x", Err(Unsafe::Format), Err(Unsafe::Format)),
            ("https://a.b/\r\nX: y", Err(Unsafe::Format), Err(Unsafe::Format)),
            ("https://a.b/ c", Err(Unsafe::Format), Err(Unsafe::Format)),
            ("https://localhost@a.b/", Err(Unsafe::Format), Err(Unsafe::Format)),
            ("https://@a.b/", Err(Unsafe::Format), Err(Unsafe::Format)),
            ("app://x:y@done", Err(Unsafe::Format), Err(Unsafe::Format)),
            ("https://a.b/@c", Ok(()), Ok(())),
            ("msteams://done", Ok(()), Ok(())),
        ];
        for (url, public, local) in rows {
            assert_eq!((check_application(url, false), check_application(url, true)), (public, local), "{url}");
        }
    }

    #[test]
    fn rejects_schemes_of_browsers_and_systems() {
        for scheme in [
            "intent",
            "jar",
            "chrome",
            "chrome-extension",
            "moz-extension",
            "resource",
            "ftp",
            "smb",
            "shell",
            "search-ms",
            "ms-msdt",
            "MS-Settings",
        ] {
            assert_eq!(check_application(&format!("{scheme}://a.b/"), true), Err(Unsafe::Format), "{scheme}");
        }
    }

    #[test]
    fn sets_query_parameters() {
        for (url, expected) in [
            ("https://a.b/c", "https://a.b/c?p=x%20y%26"),
            ("https://a.b/c?d=e&p=old#f", "https://a.b/c?d=e&p=x%20y%26#f"),
            ("app://done", "app://done?p=x%20y%26"),
        ] {
            assert_eq!(with_query(url, &[("p", "x y&")]), expected);
        }
    }

    #[test]
    fn policy_sources() {
        for (url, expected) in [
            ("https://a.b:8/c", "https://a.b:8"),
            ("wordpress://app-login?x", "wordpress:"),
            ("https://a;b/", ""),
            ("", ""),
        ] {
            assert_eq!(policy_source(url), expected, "{url}");
        }
    }

    #[test]
    fn accepts_only_urls_of_the_site() {
        let sites = ["http://a.b:8/folder", "http://home.b", "https://tls.b"];
        for (url, expected) in [
            ("http://a.b:8/x?y=1", Some("http://a.b:8/x?y=1")),
            ("http://home.b/", Some("http://home.b/")),
            ("/wp-admin/", Some("http://a.b:8/wp-admin/")),
            ("http://a.b/x", None),
            ("https://a.b:8/x", Some("https://a.b:8/x")),
            ("http://tls.b/x", Some("https://tls.b/x")),
            ("https://tls.b/x", Some("https://tls.b/x")),
            ("ftp://a.b:8/x", None),
            ("http://a.b:8@evil.c/", None),
            ("//evil.c/", None),
            ("/\\evil.c/", Some("http://a.b:8/evil.c/")),
            ("\\\\evil.c", None),
            ("javascript:alert(1)", None),
            ("", None),
        ] {
            assert_eq!(on_one_of(url, &sites).as_deref(), expected, "{url}");
        }
    }
}
