//! Signed requests to the connector.
//!
//! A request is a `POST` to the site's front page. Its header `X-Svc-Connector` holds the time in seconds, a random text that is
//! used once, and the HMAC-SHA256 of both and of the body.

use std::{
    net::IpAddr,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use bytes::Bytes;
use hmac::{Hmac, KeyInit as _, Mac as _};
use http::{HeaderValue, Method, Request, header};
use http_body_util::Full;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use svc_auth::Secret;
use svc_gateway::{Failure, Limits, Origin, Proxy};
use svc_versions::current_transport;

use super::{install, report::Report, texts::RenderedPost};
use crate::{
    config::{Config, SiteUrl},
    site::open_store,
};

/// The header with the signature.
const HEADER: &str = "x-svc-connector";

/// Time limit for a response.
const TIMEOUT: Duration = Duration::from_secs(20);

/// Requests for texts at the same time. Each occupies a process of PHP.
const TEXT_REQUESTS: usize = 4;

/// Maximum size of a report, in bytes.
const MAX_REPORT: usize = 16 << 20;

/// A failed request to the connector.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// The site's URL or the secret cannot be read.
    #[error("{0}")]
    Unusable(String),
    /// No response.
    #[error("WordPress does not respond (status {})", .0.status().as_u16())]
    Failure(Failure),
    /// The connector rejected the request.
    #[error("the connector responded with {0}: {1}")]
    Rejected(u16, String),
    /// The response is not one of the connector.
    #[error(
        "the response is not one of the connector (status {0}): is the plugin installed and `wordpress.upstream` this site?"
    )]
    Unknown(u16),
    /// A report of another form.
    #[error("the report of the connector cannot be used: {0}")]
    Report(String),
}

/// A client of the connector of one site.
pub(crate) struct Connector {
    proxy: Proxy,
    origin: Origin,
    host: HeaderValue,
    target: String,
    secret: Secret,
}

impl Connector {
    /// The connector of a configured site; `None` if it is not installed or not used, or there is no upstream.
    ///
    /// # Errors
    /// If the secret cannot be read, or the site's URL is invalid.
    pub(crate) fn of(config: &Config) -> Result<Option<Self>, Error> {
        // One request at a time, and a few that wait.
        Self::with(config, 1)
    }

    /// The connector for texts of posts, which several requests may need at the same time; `None` as in [`of`](Self::of).
    ///
    /// # Errors
    /// As those of [`of`](Self::of).
    pub(crate) fn for_texts(config: &Config) -> Result<Option<Self>, Error> {
        Self::with(config, TEXT_REQUESTS)
    }

    fn with(config: &Config, requests: usize) -> Result<Option<Self>, Error> {
        let (Some(wordpress), Some(wp_config)) = (&config.wordpress, &config.wp_config) else { return Ok(None) };
        if !wordpress.connector {
            return Ok(None);
        }
        let path = install::secret_path(wp_config);
        let secret = install::read_secret(&path)
            .map_err(|error| Error::Unusable(format!("cannot read {}: {error}", path.display())))?;
        let Some(secret) = secret else { return Ok(None) };
        let home = match &config.site_url {
            Some(url) => url.clone(),
            None => stored_home(config)?,
        };
        let host = HeaderValue::from_str(home.authority())
            .map_err(|_| Error::Unusable("the site's URL has no usable host".to_owned()))?;
        let limits = Limits { response: TIMEOUT, idle: TIMEOUT, requests, ..Limits::default() };
        Ok(Some(Connector {
            proxy: Proxy::new(wordpress.upstream.clone(), "svc-connector", limits),
            origin: Origin { address: IpAddr::from([127, 0, 0, 1]), tls: home.is_tls() },
            host,
            target: format!("{}/?svc-connector=1", home.path()),
            secret,
        }))
    }

    /// Requests a report of the registrations of WordPress and its plugins.
    ///
    /// # Errors
    /// If WordPress does not respond, rejects the request, or responds with something else.
    pub(crate) async fn registrations(&self) -> Result<Report, Error> {
        let report = self.send(&json!({"operation": "registrations"})).await?;
        serde_json::from_value(report).map_err(|error| Error::Report(error.to_string()))
    }

    /// Renders the texts of posts as a user sees them; 0 is a visitor. Posts for which there was no time are missing at the end.
    ///
    /// # Errors
    /// If WordPress does not respond, rejects the request, or responds with something else.
    pub(super) async fn texts(&self, posts: &[i64], user: i64) -> Result<Vec<RenderedPost>, Error> {
        let mut response = self.send(&json!({"operation": "texts", "posts": posts, "user": user})).await?;
        serde_json::from_value(response["posts"].take()).map_err(|error| Error::Report(error.to_string()))
    }

    async fn send(&self, content: &Value) -> Result<Value, Error> {
        let body = Bytes::from(content.to_string());
        let time = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_secs());
        let nonce = svc_auth::random_text(32).map_err(|error| Error::Unusable(error.to_string()))?;
        let signature = sign(&self.secret, time, nonce.expose(), &body);
        let mut request = Request::new(svc_gateway::boxed(Full::new(body)));
        *request.method_mut() = Method::POST;
        *request.uri_mut() = self.target.parse().unwrap_or_default();
        let headers = request.headers_mut();
        headers.insert(header::HOST, self.host.clone());
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if let Ok(value) = HeaderValue::from_str(&format!("{time}.{}.{signature}", nonce.expose())) {
            headers.insert(HEADER, value);
        }
        // WordPress renders the URLs of the request that the texts are for.
        let origin = Origin { tls: self.origin.tls || current_transport().is_tls(), ..self.origin };
        let response = self.proxy.forward(request, origin).await.map_err(Error::Failure)?;
        let status = response.status();
        let read = axum::body::to_bytes(axum::body::Body::new(response.into_body()), MAX_REPORT);
        let body = tokio::time::timeout(TIMEOUT, read).await.map_err(|_| Error::Failure(Failure::Timeout))?;
        let body = body.map_err(|error| Error::Report(error.to_string()))?;
        let content: Value = serde_json::from_slice(&body).map_err(|_| Error::Unknown(status.as_u16()))?;
        match content["error"].as_str() {
            Some(error) => Err(Error::Rejected(status.as_u16(), error.chars().take(200).collect())),
            None if status.is_success() => Ok(content),
            None => Err(Error::Unknown(status.as_u16())),
        }
    }
}

/// The signature of a request, in lower-case hexadecimal digits.
fn sign(secret: &Secret, time: u64, nonce: &str, body: &[u8]) -> String {
    // Keys of any length are valid.
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(secret.expose().as_bytes()) else { return String::new() };
    mac.update(format!("svc-connector\n{time}\n{nonce}\n{}", hex(&Sha256::digest(body))).as_bytes());
    hex(&mac.finalize().into_bytes())
}

/// Lower-case hexadecimal digits.
pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The site's URL from its options.
fn stored_home(config: &Config) -> Result<SiteUrl, Error> {
    let store = open_store(config).map_err(|error| Error::Unusable(error.to_string()))?;
    let home = store.read(|db| svc_store::options::get(db, "home"));
    let home = home.map_err(|error| Error::Unusable(format!("cannot read the site's options: {error}")))?;
    home.unwrap_or_default().text().parse().map_err(|why| Error::Unusable(format!("the stored URL of the site {why}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signatures_are_those_of_the_plugin() {
        // PHP: hash_hmac('sha256', "svc-connector\n1700000000\nabc\n" . hash('sha256', '{}'), 'secret')
        let expected = "abb948dfa22b2b11fb55138d31ce55d157431a356edc084cf6dee43494a77750";
        assert_eq!(sign(&Secret::new("secret"), 1_700_000_000, "abc", b"{}"), expected);
        assert_ne!(sign(&Secret::new("secret"), 1_700_000_001, "abc", b"{}"), expected);
    }
}
