//! A certificate with its private key: read and checked.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use chrono::{NaiveDateTime, Utc};
use rustls::{
    Error as TlsError,
    crypto::ring,
    pki_types::{CertificateDer, PrivateKeyDer, ServerName, pem, pem::PemObject as _},
    server::ParsedCertificate,
    sign::CertifiedKey,
};

use crate::{
    error::{Cause, Error, Result},
    validity,
};

/// Files of a certificate, in PEM.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CertificateFiles {
    /// The certificate, followed by those of the intermediate authorities.
    pub certificate: PathBuf,
    /// The private key.
    pub key: PathBuf,
}

/// A certificate with its private key.
#[derive(Clone, Debug)]
pub struct Certificate {
    pub(crate) certified: Arc<CertifiedKey>,
    starts: NaiveDateTime,
    expires: NaiveDateTime,
}

impl Certificate {
    /// Reads the files. A certificate that has expired can be read.
    ///
    /// # Errors
    /// If a file cannot be read, or the key is not that of the certificate.
    pub fn read(files: &CertificateFiles) -> Result<Self> {
        let CertificateFiles { certificate, key } = files;
        let failed = |what, path: &PathBuf, error: pem::Error| {
            let cause: Cause = match error {
                pem::Error::NoItemsFound => format!("the file does not contain {what} in PEM").into(),
                pem::Error::Io(cause) => cause.into(),
                other => other.into(),
            };
            Error::Read { what, path: path.clone(), cause }
        };
        let no_certificate = |error| failed("a certificate", certificate, error);
        let chain: Vec<CertificateDer<'static>> = CertificateDer::pem_file_iter(certificate)
            .and_then(|sections| sections.collect())
            .map_err(no_certificate)?;
        let first = chain.first().ok_or_else(|| no_certificate(pem::Error::NoItemsFound))?;
        let key_der = PrivateKeyDer::from_pem_file(key).map_err(|error| match error {
            pem::Error::NoItemsFound if is_encrypted(key) => {
                let cause = "the key is encrypted; `openssl pkey` writes it without a password";
                Error::Read { what: "a private key", path: key.clone(), cause: cause.into() }
            }
            error => failed("a private key", key, error),
        })?;
        let unusable = |cause: Cause| Error::Unusable { path: certificate.clone(), cause };
        let period = validity::period(first);
        let (starts, expires) = period.ok_or_else(|| unusable("it has no date of expiry".into()))?;
        let certified =
            CertifiedKey::from_der(chain, key_der, &ring::default_provider()).map_err(|error| match error {
                TlsError::InconsistentKeys(_) => Error::Mismatch { certificate: certificate.clone(), key: key.clone() },
                other => unusable(other.into()),
            })?;
        Ok(Certificate { certified: Arc::new(certified), starts, expires })
    }

    /// The time in UTC at which the certificate expires.
    pub fn expires(&self) -> NaiveDateTime {
        self.expires
    }

    /// The time at which a new certificate should be requested: when a third of the time for which this one is valid is left.
    pub(crate) fn renewal(&self) -> NaiveDateTime {
        self.expires - (self.expires - self.starts) / 3
    }

    /// Whether the certificate has expired.
    pub fn is_expired(&self) -> bool {
        self.expires < Utc::now().naive_utc()
    }

    /// Whether the certificate is one for this host, a name or an IP address.
    pub fn is_for(&self, host: &str) -> bool {
        let Ok(name) = ServerName::try_from(host) else { return false };
        let end_entity = self.certified.end_entity_cert().and_then(ParsedCertificate::try_from);
        end_entity.is_ok_and(|certificate| rustls::client::verify_server_name(&certificate, &name).is_ok())
    }
}

/// Whether a file contains a private key that is encrypted.
fn is_encrypted(key: &Path) -> bool {
    std::fs::read_to_string(key).is_ok_and(|text| text.contains("-----BEGIN ENCRYPTED PRIVATE KEY-----"))
}
