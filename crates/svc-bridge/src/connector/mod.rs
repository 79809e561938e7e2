//! The connector: a small plugin for WordPress that reports writes and records what a response has read. `install` writes it.

pub mod install;

use std::{
    fmt,
    net::IpAddr,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use bytes::{Bytes, BytesMut};
use hmac::{Hmac, KeyInit as _, Mac as _};
use http::{HeaderValue, Method, Request, header};
use http_body_util::Full;
use serde::Deserialize;
use sha2::{Digest as _, Sha256};
use svc_gateway::{Failure, Origin, Proxy};

use crate::{code::Code, render::read_up_to};

/// The header with the signature.
const HEADER: &str = "x-svc-connector";

/// Time limit for a response.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Maximum size of a response, in bytes.
const MAX_BODY: usize = 1 << 20;

/// The secret that this program and the plugin share. It is not printed.
#[derive(Clone)]
pub struct Secret(String);

impl Secret {
    /// A secret.
    pub fn new(text: String) -> Self {
        Secret(text)
    }

    /// The text.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(secret)")
    }
}

/// Random letters and digits.
///
/// # Errors
/// If the system has no random numbers.
pub(crate) fn random(length: usize) -> std::io::Result<String> {
    const DIGITS: &[u8; 32] = b"abcdefghijkmnpqrstuvwxyz23456789";
    let mut bytes = vec![0; length];
    getrandom::fill(&mut bytes).map_err(std::io::Error::other)?;
    Ok(bytes.iter().map(|byte| char::from(DIGITS[usize::from(byte % 32)])).collect())
}

/// Version of the plugin whose records and reports this program reads.
pub(crate) const VERSION: u32 = 11;

/// What the plugin says of itself and of WordPress.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Status {
    /// Version of the plugin.
    pub connector: u32,
    /// Version of WordPress.
    pub wordpress: String,
    /// Version of PHP.
    pub php: String,
    /// Whether writes can be reported: `ok`, `no table`, or why they cannot.
    pub reports: String,
    /// The persistent object cache: `none`, `observed`, or `not observed` if what is read from it cannot be recorded.
    pub object_cache: String,
    /// Active plugins.
    pub plugins: Vec<String>,
    /// The site's PHP files.
    pub code: Code,
}

impl Status {
    /// Whether writes can be reported.
    pub fn can_report(&self) -> bool {
        self.cannot_report().is_none()
    }

    /// Why writes cannot be reported. The table is created when its reports are read first.
    pub fn cannot_report(&self) -> Option<&str> {
        if self.connector != VERSION {
            return Some("it is of another version, run `svc-server connector install`");
        }
        Some(&*self.reports).filter(|reports| !matches!(*reports, "ok" | "no table"))
    }

    /// Whether there is a persistent object cache.
    pub fn has_object_cache(&self) -> bool {
        self.object_cache != "none"
    }
}

/// A failed request to the plugin.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// WordPress does not respond.
    #[error("WordPress does not respond (status {})", .0.status().as_u16())]
    Failure(Failure),
    /// The plugin rejected the request.
    #[error("the connector responded with {0}: {1}")]
    Rejected(u16, String),
    /// The response is not one of the plugin.
    #[error(
        "the response is not one of the connector (status {0}): is the plugin installed and `wordpress.upstream` this site?"
    )]
    Unknown(u16),
}

/// A client of the plugin.
#[derive(Clone)]
pub struct Connector {
    proxy: Proxy,
    secret: Secret,
    host: HeaderValue,
    /// Path and query of the plugin's URL.
    target: String,
    tls: bool,
}

impl Connector {
    /// A client for the WordPress behind a proxy. `host` is the host of the site's URL, `home` its path without a slash at the end.
    pub fn new(proxy: Proxy, secret: Secret, host: HeaderValue, home: &str, tls: bool) -> Self {
        Connector { proxy, secret, host, target: format!("{home}/?svc-connector=1"), tls }
    }

    /// The secret.
    pub fn secret(&self) -> &Secret {
        &self.secret
    }

    /// Asks the plugin how it is.
    ///
    /// # Errors
    /// If WordPress does not respond, rejects the request, or responds with something else.
    pub async fn status(&self) -> Result<Status, Error> {
        let body = Bytes::from_static(br#"{"operation":"status"}"#);
        let time = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs());
        let nonce = random(32).map_err(|_| Error::Failure(Failure::Busy))?;
        let value = format!("{time}.{nonce}.{}", sign(&self.secret, time, &nonce, &body));
        let mut request = Request::new(svc_gateway::boxed(Full::new(body)));
        *request.method_mut() = Method::POST;
        *request.uri_mut() = self.target.parse().unwrap_or_default();
        let headers = request.headers_mut();
        headers.insert(header::HOST, self.host.clone());
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if let Ok(value) = HeaderValue::from_str(&value) {
            headers.insert(HEADER, value);
        }
        let origin = Origin { address: IpAddr::from([127, 0, 0, 1]), tls: self.tls };
        let mut response = self.proxy.forward(request, origin).await.map_err(Error::Failure)?;
        let status = response.status().as_u16();
        let mut body = BytesMut::new();
        let read = read_up_to(response.body_mut(), &mut body, MAX_BODY);
        let read = tokio::time::timeout(TIMEOUT, read).await.map_err(|_| Error::Failure(Failure::Timeout))?;
        read.map_err(Error::Failure)?;
        let content: serde_json::Value = serde_json::from_slice(&body).map_err(|_| Error::Unknown(status))?;
        match content["error"].as_str() {
            Some(error) => Err(Error::Rejected(status, error.chars().take(200).collect())),
            None if status == 200 => serde_json::from_value(content).map_err(|_| Error::Unknown(status)),
            None => Err(Error::Unknown(status)),
        }
    }
}

/// The signature of a request, in hexadecimal digits.
fn sign(secret: &Secret, time: u64, nonce: &str, body: &[u8]) -> String {
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    // Keys of any length are valid.
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(secret.expose().as_bytes()) else { return String::new() };
    mac.update(format!("svc-connector\n{time}\n{nonce}\n{}", hex(&Sha256::digest(body))).as_bytes());
    hex(&mac.finalize().into_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signatures_are_those_of_the_plugin() {
        // PHP: hash_hmac('sha256', "svc-connector\n1700000000\nabc\n" . hash('sha256', '{}'), 'secret')
        let expected = "abb948dfa22b2b11fb55138d31ce55d157431a356edc084cf6dee43494a77750";
        assert_eq!(sign(&Secret::new("secret".to_owned()), 1_700_000_000, "abc", b"{}"), expected);
        assert_ne!(sign(&Secret::new("secret".to_owned()), 1_700_000_001, "abc", b"{}"), expected);
        assert_eq!(format!("{:?}", Secret::new("secret".to_owned())), "(secret)");
    }
}
