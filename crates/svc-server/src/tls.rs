//! TLS of the server: its certificate, and the listener that redirects to HTTPS.

use std::{fmt, net::SocketAddr, sync::Arc};

use chrono::Utc;
use svc_certificates::{Certificate, Certificates};
use svc_listen::{ConnectionLimits, Listener, Running, redirect_to_https};
use svc_monitoring::{Families, Source};
use tokio::net::TcpListener;

use crate::{
    background::WatchCertificate,
    config::{CertificateSource, Config, SiteUrl},
    data_folder,
    error::{Error, Result},
};

/// Maximum number of connections of the listener for redirects.
const REDIRECTED: usize = 256;

/// Remaining days of a certificate from which on `doctor` recommends to renew it.
const RENEW_BEFORE: i64 = 14;

/// TLS of a server that is about to start.
pub(crate) struct Tls {
    certificates: Arc<Certificates>,
    redirect: Option<TcpListener>,
}

impl Tls {
    /// Reads the certificate. `redirect` is the socket for redirects. `None` if the server has no TLS.
    ///
    /// # Errors
    /// If the certificate cannot be used.
    pub(crate) fn open(config: &Config, redirect: Option<TcpListener>) -> Result<Option<Tls>> {
        let Some(tls) = &config.tls else { return Ok(None) };
        let certificates = match &tls.source {
            CertificateSource::Files(files) => Certificates::from_files(files.clone())?,
            CertificateSource::Acme(settings) => {
                data_folder::create(&config.data)?;
                Certificates::from_acme(settings.clone(), &config.data)?
            }
        };
        Ok(Some(Tls { certificates: Arc::new(certificates), redirect }))
    }

    /// The certificate, to reload it.
    pub(crate) fn certificates(&self) -> &Arc<Certificates> {
        &self.certificates
    }

    /// The address of the listener for redirects.
    pub(crate) fn redirect_address(&self) -> Option<SocketAddr> {
        self.redirect.as_ref().and_then(|listener| listener.local_addr().ok())
    }

    /// When the certificate expires, as a metric.
    pub(crate) fn expiry(&self) -> CertificateExpiry {
        CertificateExpiry(Arc::clone(&self.certificates))
    }

    /// The job that renews the certificate.
    pub(crate) fn job(&self) -> WatchCertificate {
        WatchCertificate(Arc::clone(&self.certificates))
    }

    /// Starts to redirect to `home`, or to the port of the listener if the URL of the site has no TLS.
    ///
    /// # Errors
    /// If the address of a listener cannot be read.
    pub(crate) fn start_redirect(
        self,
        home: &SiteUrl,
        here: SocketAddr,
        limits: &ConnectionLimits,
    ) -> Result<Option<Running>> {
        let port = if home.is_tls() { home.port().unwrap_or(443) } else { here.port() };
        let limits = ConnectionLimits { connections: limits.connections.min(REDIRECTED), ..limits.clone() };
        let redirect = |listener| Running::start(listener, redirect_to_https(port), limits);
        self.redirect.map(redirect).transpose().map_err(Error::Listen)
    }
}

/// Reads the certificate of the configuration, unless the server gets it by ACME.
///
/// # Errors
/// If it cannot be used.
pub(crate) fn check(config: &Config) -> Result {
    if let Some(CertificateSource::Files(files)) = config.tls.as_ref().map(|tls| &tls.source) {
        Certificates::from_files(files.clone())?;
    }
    Ok(())
}

/// When the current certificate expires, as a metric. No sample while there is no certificate.
pub(crate) struct CertificateExpiry(Arc<Certificates>);

impl Source for CertificateExpiry {
    fn write(&self, families: &mut Families<'_>) -> fmt::Result {
        let expires = self.0.current().map(|certificate| certificate.expires().and_utc().timestamp() as f64);
        families.gauge(
            "svc_certificate_expiry_timestamp_seconds",
            "When the certificate of TLS expires, in seconds since 1970.",
            expires.map(|seconds| (&[][..], seconds)),
        )
    }
}

/// The listening socket, with TLS if there is one.
pub(crate) fn listener(tcp: TcpListener, tls: Option<&Tls>) -> Listener {
    match tls {
        Some(tls) => Listener::with_tls(tcp, tls.certificates.server_config()),
        None => tcp.into(),
    }
}

/// What `doctor` reports of the certificate, and whether it is critical.
pub(crate) fn report(config: &Config, home: &SiteUrl) -> Option<(String, bool)> {
    let source = &config.tls.as_ref()?.source;
    let files = source.files(&config.data);
    if matches!(source, CertificateSource::Acme(_)) && !files.certificate.exists() {
        let why = svc_certificates::last_failure(&config.data)
            .unwrap_or_else(|| "the server has not asked for it".to_owned());
        return Some((format!("certificate: critical: there is none yet: {why}"), true));
    }
    let certificate = match Certificate::read(&files) {
        Ok(certificate) => certificate,
        Err(error) => return Some((format!("certificate: critical: {:#}", anyhow::Error::from(error)), true)),
    };
    let (expires, host) = (certificate.expires(), home.host());
    let n_days = (expires - Utc::now().naive_utc()).num_days();
    let (verdict, is_critical) = if certificate.is_expired() {
        ("critical: it has expired; renew it".to_owned(), true)
    } else if home.is_tls() && !certificate.is_for(host) {
        (format!("critical: it is not for {host}, the host of the site's URL"), true)
    } else if n_days < RENEW_BEFORE {
        (format!("recommended: renew it, {n_days} days are left"), false)
    } else {
        (format!("good: {n_days} days are left"), false)
    };
    Some((format!("certificate: expires on {expires} UTC; {verdict}"), is_critical))
}

/// The URL of a new site: with the first name of its certificate, if the server gets one by ACME.
pub(crate) fn public_url(config: &Config, here: SocketAddr) -> Option<SiteUrl> {
    let CertificateSource::Acme(settings) = &config.tls.as_ref()?.source else { return None };
    let port = if here.port() == 443 { String::new() } else { format!(":{}", here.port()) };
    format!("https://{}{port}", settings.domains.first()?).parse().ok()
}
