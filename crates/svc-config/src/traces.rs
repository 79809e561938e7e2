//! Settings of traces.

use http::{HeaderMap, HeaderName, HeaderValue};
use svc_fetch::Allowed;

use super::{ConfigError, Reader, values};

/// Which requests are traced, and where their traces are sent.
#[derive(Clone, Debug)]
pub struct Traces {
    /// URL of the collector.
    pub endpoint: String,
    /// Headers of the requests to the collector. The values are marked as sensitive, since one may be a token.
    pub headers: HeaderMap,
    /// Share of the requests that are traced, from 0 to 1.
    pub share: f64,
    /// Whether the decision of a trusted proxy has precedence over the share.
    pub follows_proxy: bool,
    /// Name of the service.
    pub service_name: String,
}

/// The settings; `None` without a collector.
///
/// # Errors
/// If one is invalid.
pub(super) fn read(read: &mut Reader<'_>) -> Result<Option<Traces>, ConfigError> {
    let endpoint = read.optional("traces.endpoint", |url| endpoint(url, cfg!(feature = "otlp")))?;
    let share = read.required("traces.percent", percent)? / 100.0;
    let follows_proxy = read.required("traces.follow_proxy", values::boolean)?;
    let service_name = read.required("traces.service_name", |name| Ok(name.to_owned()))?;
    let headers = read.required("traces.headers", headers)?;
    Ok(endpoint.map(|endpoint| Traces { endpoint, headers, share, follows_proxy, service_name }))
}

/// The URL of a collector, which a build without the export refuses.
fn endpoint(url: &str, is_supported: bool) -> Result<String, String> {
    if !is_supported {
        return Err(
            "requires a build with the feature otlp: `cargo build --release -p svc-server --features otlp`".to_owned()
        );
    }
    match Allowed::origin_of(url) {
        Some(_) if !url.contains(['?', '#']) => Ok(url.to_owned()),
        _ => Err("must be the http or https URL of a collector, without credentials and query".to_owned()),
    }
}

/// Headers, each as `Name: value`.
fn headers(text: &str) -> Result<HeaderMap, String> {
    let header = |header: &String| {
        let (name, value) = header.split_once(':')?;
        let mut value = HeaderValue::from_str(value.trim()).ok().filter(|value| value.to_str().is_ok())?;
        value.set_sensitive(true);
        Some((HeaderName::try_from(name.trim()).ok()?, value))
    };
    let all: Option<HeaderMap> = values::headers(text)?.iter().map(header).collect();
    all.ok_or_else(|| "must be a list of headers, each as `Name: value` in ASCII".to_owned())
}

/// A number from 0 to 100.
fn percent(text: &str) -> Result<f64, String> {
    let percent = text.parse().ok().filter(|n: &f64| (0.0..=100.0).contains(n));
    percent.ok_or_else(|| "must be a number from 0 to 100".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_build_without_the_export_names_the_command_for_one_with_it() {
        let message = endpoint("http://127.0.0.1:4318", false).unwrap_err();
        let words: Vec<&str> = message.split('`').nth(1).unwrap().split(' ').collect();
        assert_eq!(words, ["cargo", "build", "--release", "-p", "svc-server", "--features", "otlp"]);
        let manifest = include_str!("../../svc-server/Cargo.toml");
        assert!(manifest.lines().any(|line| line.starts_with("otlp = [")), "the feature exists");
    }

    #[test]
    fn values_are_checked() {
        for (url, is_valid) in [
            ("http://127.0.0.1:4318", true),
            ("https://otlp.example/tenant/", true),
            ("127.0.0.1:4318", false),
            ("grpc://127.0.0.1:4317", false),
            ("http://user:secret@127.0.0.1:4318", false),
            ("http://127.0.0.1:4318/?token=1", false),
            ("", false),
        ] {
            assert_eq!(endpoint(url, true).is_ok(), is_valid, "{url}");
        }
        for (text, expected) in [
            ("", Some("{}")),
            ("Authorization: Bearer secret", Some(r#"{"authorization": Sensitive}"#)),
            ("A: b, c, X-D : e", Some(r#"{"a": Sensitive, "x-d": Sensitive}"#)),
            ("secret", None),
            ("A: secret\nB: c", None),
            ("A: sécret", None),
        ] {
            assert_eq!(headers(text).map(|headers| format!("{headers:?}")).ok().as_deref(), expected, "{text}");
        }
        for (text, expected) in [("0", Some(0.0)), ("0.5", Some(0.5)), ("100", Some(100.0))] {
            assert_eq!(percent(text).ok(), expected, "{text}");
        }
        for text in ["101", "-1", "NaN", "inf", "", "1%"] {
            assert!(percent(text).is_err(), "{text}");
        }
    }
}
