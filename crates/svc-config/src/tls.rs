//! The settings of TLS in the server.

use std::path::Path;

use svc_certificates::CertificateFiles;

use super::{ConfigError, Reader, values};

/// TLS of the server itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tls {
    /// The certificate and its key.
    pub files: CertificateFiles,
    /// Host and port of the listener that redirects from HTTP.
    pub redirect: Option<String>,
}

/// The settings, if there is a certificate.
pub(super) fn read(read: &mut Reader<'_>, folder: &Path) -> Result<Option<Tls>, ConfigError> {
    let path = |text: &str| Ok(folder.join(text));
    let certificate = read.optional("tls.certificate", path)?;
    let key = read.optional("tls.key", path)?;
    let redirect = read.optional("tls.redirect", values::listen)?;
    match (certificate, key) {
        (Some(certificate), Some(key)) => Ok(Some(Tls { files: CertificateFiles { certificate, key }, redirect })),
        (Some(_), None) => Err(read.error("tls.certificate", "requires `tls.key`")),
        (None, Some(_)) => Err(read.error("tls.key", "requires `tls.certificate`")),
        (None, None) if redirect.is_some() => Err(read.error("tls.redirect", "requires `tls.certificate`")),
        (None, None) => Ok(None),
    }
}

#[cfg(test)]
mod tests {
    use crate::{Config, Sources};

    #[test]
    fn a_certificate_and_its_key_belong_together() {
        let folder = tempfile::tempdir().unwrap();
        let load = |table: &str| {
            std::fs::write(folder.path().join("svc.toml"), format!("[tls]\n{table}")).unwrap();
            let read = Config::load(&Sources { folder: folder.path().to_owned(), ..Sources::default() });
            read.map(|config| config.tls).map_err(|error| error.to_string().rsplit(": ").next().unwrap().to_owned())
        };
        assert_eq!(load("hsts_seconds = 60"), Ok(None), "a proxy may add TLS");
        assert_eq!(load("certificate = 'c'"), Err("`tls.certificate` requires `tls.key`".to_owned()));
        assert_eq!(load("key = 'k'"), Err("`tls.key` requires `tls.certificate`".to_owned()));
        assert_eq!(load("redirect = 80"), Err("`tls.redirect` requires `tls.certificate`".to_owned()));
        let tls = load("certificate = 'c'\nkey = '/k'\nredirect = '0.0.0.0:80'").unwrap().unwrap();
        assert_eq!((tls.files.certificate, tls.files.key), (folder.path().join("c"), "/k".into()));
        assert_eq!(tls.redirect.as_deref(), Some("0.0.0.0:80"));
    }
}
