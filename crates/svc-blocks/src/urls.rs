//! URLs with query parameters.

use svc_php::query::urlencode;

/// Adds parameters to a URL. Parameters without a value are omitted.
pub(crate) fn with(url: &str, params: &[(&str, &str)]) -> String {
    let mut out = url.to_owned();
    for (name, value) in params.iter().filter(|(_, value)| !value.is_empty()) {
        out.push(if out.contains('?') { '&' } else { '?' });
        out.push_str(&format!("{name}={}", urlencode(value)));
    }
    out
}

/// Inserts a parameter before the last one of a URL.
pub(crate) fn with_before_last(url: &str, name: &str, value: &str) -> String {
    match url.rsplit_once('&') {
        Some((before, last)) => format!("{}&{last}", with(before, &[(name, value)])),
        None => with(url, &[(name, value)]),
    }
}

/// The path and query of a URL.
pub(crate) fn path(url: &str) -> &str {
    let Some((_, rest)) = url.split_once("://") else { return url };
    rest.find('/').map_or("/", |at| &rest[at..])
}
