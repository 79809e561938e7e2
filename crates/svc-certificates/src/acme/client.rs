//! Requests to the authority.

use std::{future::Future, path::Path, pin::Pin, sync::Arc, time::Duration};

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use instant_acme::{BodyWrapper, BytesResponse, Error, HttpClient};
use rustls::pki_types::{CertificateDer, pem::PemObject as _};
use ureq::{
    Agent,
    tls::{Certificate, RootCerts, TlsConfig},
};

/// Time limit for a request.
const TIMEOUT: Duration = Duration::from_secs(30);

/// Maximum size of a response.
const RESPONSE_LIMIT: u64 = 1 << 20;

/// Sends requests on blocking threads.
pub(super) struct Client(Agent);

impl Client {
    /// Trusts the public authorities, or those in the file `root`.
    pub(super) fn new(root: Option<&Path>) -> Result<Self, rustls::pki_types::pem::Error> {
        let roots = match root {
            Some(path) => {
                let certificates: Result<Vec<_>, _> = CertificateDer::pem_file_iter(path)?.collect();
                let certificates = certificates?;
                let certificates = certificates.iter().map(|der| Certificate::from_der(der).to_owned());
                RootCerts::Specific(Arc::new(certificates.collect()))
            }
            None => RootCerts::WebPki,
        };
        let config = Agent::config_builder()
            .https_only(true)
            .http_status_as_error(false)
            .max_redirects(0)
            .timeout_global(Some(TIMEOUT))
            .tls_config(TlsConfig::builder().root_certs(roots).build());
        Ok(Client(config.build().new_agent()))
    }
}

impl HttpClient for Client {
    fn request(
        &self,
        request: http::Request<BodyWrapper<Bytes>>,
    ) -> Pin<Box<dyn Future<Output = Result<BytesResponse, Error>> + Send>> {
        let agent = self.0.clone();
        let failed = |error: Box<dyn std::error::Error + Send + Sync>| Error::Other(error);
        Box::pin(async move {
            let (head, body) = request.into_parts();
            let body = body.collect().await.map_err(|never| failed(never.into()))?.to_bytes();
            let send = move || {
                // A body of a HEAD request would be refused.
                let response = if body.is_empty() {
                    agent.run(http::Request::from_parts(head, ()))
                } else {
                    agent.run(http::Request::from_parts(head, body.to_vec()))
                };
                let (head, mut body) = response?.into_parts();
                let body = body.with_config().limit(RESPONSE_LIMIT).read_to_vec()?;
                Ok::<_, ureq::Error>(http::Response::from_parts(head, Full::new(Bytes::from(body))))
            };
            let response = tokio::task::spawn_blocking(send).await.map_err(|error| failed(error.into()))?;
            response.map(BytesResponse::from).map_err(|error| failed(error.into()))
        })
    }
}
