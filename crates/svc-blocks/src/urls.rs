//! Addresses with parameters.

use svc_php::query::urlencode;

/// An address with parameters added; those without value are left out.
pub(crate) fn with(address: &str, params: &[(&str, &str)]) -> String {
    let mut out = address.to_owned();
    for (name, value) in params.iter().filter(|(_, value)| !value.is_empty()) {
        out.push(if out.contains('?') { '&' } else { '?' });
        out.push_str(&format!("{name}={}", urlencode(value)));
    }
    out
}

/// An address with a parameter put before the last one.
pub(crate) fn with_before_last(address: &str, name: &str, value: &str) -> String {
    match address.rsplit_once('&') {
        Some((before, last)) => format!("{}&{last}", with(before, &[(name, value)])),
        None => with(address, &[(name, value)]),
    }
}

/// The path of an address, with its parameters.
pub(crate) fn path(address: &str) -> &str {
    let Some((_, rest)) = address.split_once("://") else { return address };
    rest.find('/').map_or("/", |at| &rest[at..])
}
