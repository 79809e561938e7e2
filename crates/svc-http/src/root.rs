//! The root of the URLs in responses: the server's own, a fixed one, or one for the host that a request was sent to.

use http::header::HOST;
use http::request::Parts;
use http::uri::Authority;
use svc_routing::{RootUrl, Server};

/// Determines the root URL of a request.
#[derive(Clone, Default)]
pub(crate) enum Root {
    /// The server's own root.
    #[default]
    Server,
    /// The same root for all requests.
    Fixed(RootUrl),
    /// The origin whose host the request was sent to, if it is one of these.
    Origins { path: String, origins: Vec<String> },
    /// Any host, with this scheme.
    AnyHost { path: String, scheme: String },
}

/// A path with one slash at each end.
pub(crate) fn mount_path(path: &str) -> String {
    match path.trim_matches('/') {
        "" => "/".to_owned(),
        path => format!("/{path}/"),
    }
}

impl Root {
    /// The server with the URLs that do not depend on a request.
    pub(crate) fn apply(&self, server: Server) -> Server {
        match self {
            Root::Server => server,
            Root::Fixed(root) => server.with_urls(root.clone()),
            Root::Origins { path, .. } | Root::AnyHost { path, .. } => server.with_urls(RootUrl::new(path)),
        }
    }

    /// The root URL that the host of this request selects; `None` if it selects none.
    pub(crate) fn of_request(&self, parts: &Parts) -> Option<String> {
        match self {
            Root::Server | Root::Fixed(_) => None,
            Root::Origins { path, origins } => {
                let host = host(parts)?;
                let is_of_host = |origin: &&String| {
                    origin.split_once("://").is_some_and(|(_, authority)| authority.eq_ignore_ascii_case(&host))
                };
                origins.iter().find(is_of_host).map(|origin| format!("{origin}{path}"))
            }
            Root::AnyHost { path, scheme } => Some(format!("{scheme}://{}{path}", host(parts)?)),
        }
    }
}

/// The host and port that the request was sent to, in lower case; `None` if they are missing, ambiguous or malformed.
fn host(parts: &Parts) -> Option<String> {
    let authority = match parts.uri.authority() {
        Some(authority) => authority.clone(),
        None => {
            let mut hosts = parts.headers.get_all(HOST).iter();
            let (host, None) = (hosts.next()?, hosts.next()) else { return None };
            Authority::try_from(host.as_bytes()).ok()?
        }
    };
    let text = authority.as_str();
    let is_plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-' | b'_' | b':' | b'[' | b']');
    (!authority.host().is_empty() && text.bytes().all(is_plain)).then(|| text.to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use http::Request;

    use super::*;

    fn parts(hosts: &[&str]) -> Parts {
        let builder = hosts.iter().fold(Request::builder().uri("/a"), |b, host| b.header(HOST, *host));
        builder.body(()).unwrap().into_parts().0
    }

    #[test]
    fn only_plain_hosts_are_used() {
        let root = Root::AnyHost { path: mount_path("api"), scheme: "https".to_owned() };
        for (hosts, expected) in [
            (&["E.org:8080"][..], Some("https://e.org:8080/api/")),
            (&["[::1]:80"], Some("https://[::1]:80/api/")),
            (&[], None),
            (&["a.org", "b.org"], None),
            (&["user@a.org"], None),
            (&["a.org/x"], None),
            (&["a.org\"><x"], None),
            (&[""], None),
        ] {
            assert_eq!(root.of_request(&parts(hosts)).as_deref(), expected, "{hosts:?}");
        }
    }

    #[test]
    fn only_listed_origins_are_used() {
        let root = Root::Origins { path: mount_path("/"), origins: vec!["https://a.org".to_owned()] };
        assert_eq!(root.of_request(&parts(&["A.org"])).as_deref(), Some("https://a.org/"));
        assert_eq!(root.of_request(&parts(&["evil.org"])), None);
        assert_eq!(root.of_request(&parts(&["a.org:81"])), None);
    }
}
