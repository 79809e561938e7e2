//! The settings of TLS in the server.

use std::path::{Path, PathBuf};

use svc_certificates::{AcmeSettings, CertificateFiles, LETS_ENCRYPT};

use super::{ConfigError, Reader, values};

/// TLS of the server itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tls {
    /// Where the certificate comes from.
    pub source: CertificateSource,
    /// Host and port of the listener that redirects from HTTP.
    pub redirect: Option<String>,
}

/// Where a certificate comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CertificateSource {
    /// Files that somebody else renews.
    Files(CertificateFiles),
    /// An authority. Certificates are stored in the data folder.
    Acme(AcmeSettings),
}

impl CertificateSource {
    /// The files, which may not exist yet with ACME.
    pub fn files(&self, data: &Path) -> CertificateFiles {
        match self {
            CertificateSource::Files(files) => files.clone(),
            CertificateSource::Acme(_) => svc_certificates::stored_files(data),
        }
    }
}

/// The settings, if there is a certificate.
pub(super) fn read(read: &mut Reader<'_>, folder: &Path) -> Result<Option<Tls>, ConfigError> {
    let path = |text: &str| Ok(folder.join(text));
    let certificate = read.optional("tls.certificate", path)?;
    let key = read.optional("tls.key", path)?;
    let acme = acme(read, path)?;
    let redirect = read.optional("tls.redirect", values::listen)?;
    let source = match (certificate, key, acme) {
        (Some(certificate), Some(key), None) => CertificateSource::Files(CertificateFiles { certificate, key }),
        (None, None, Some(settings)) => CertificateSource::Acme(settings),
        (Some(_), _, Some(_)) | (_, Some(_), Some(_)) => {
            return Err(read.error("tls.acme", "cannot be set together with `tls.certificate` and `tls.key`"));
        }
        (Some(_), None, None) => return Err(read.error("tls.certificate", "requires `tls.key`")),
        (None, Some(_), None) => return Err(read.error("tls.key", "requires `tls.certificate`")),
        (None, None, None) if redirect.is_some() => {
            return Err(read.error("tls.redirect", "requires `tls.certificate` or `tls.acme`"));
        }
        (None, None, None) => return Ok(None),
    };
    Ok(Some(Tls { source, redirect }))
}

fn acme(
    read: &mut Reader<'_>,
    path: impl Fn(&str) -> Result<PathBuf, String>,
) -> Result<Option<AcmeSettings>, ConfigError> {
    let domains: Option<Vec<HostName>> = read.optional("tls.acme", values::list)?;
    let contact =
        read.optional("tls.acme_contact", |text| match text.contains('@') && !text.contains([' ', ',', '?']) {
            true => Ok(text.to_owned()),
            false => Err("must be an email address".to_owned()),
        })?;
    let directory = read.optional("tls.acme_directory", |text| match text.starts_with("https://") {
        true => Ok(text.to_owned()),
        false => Err("must be a URL with https".to_owned()),
    })?;
    let root = read.optional("tls.acme_root", path)?;
    let domains = domains.filter(|domains| !domains.is_empty());
    Ok(domains.map(|domains| AcmeSettings {
        domains: domains.into_iter().map(|HostName(name)| name).collect(),
        contact,
        directory: directory.unwrap_or_else(|| LETS_ENCRYPT.to_owned()),
        root,
    }))
}

/// A host name in lower case, without a wildcard.
struct HostName(String);

impl std::str::FromStr for HostName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let is_label = |label: &str| {
            !label.is_empty() && label.len() <= 63 && label.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
        };
        let is_name = text.len() <= 253 && text.contains('.') && text.split('.').all(is_label);
        if !is_name || text.parse::<std::net::IpAddr>().is_ok() {
            return Err(format!(
                "contains `{text}`, which is not a host name such as example.org (no wildcards, IP addresses or Unicode)"
            ));
        }
        Ok(HostName(text.to_ascii_lowercase()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Config, Sources};

    fn load(table: &str) -> Result<Option<Tls>, String> {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("svc.toml"), format!("[tls]\n{table}")).unwrap();
        let read = Config::load(&Sources { folder: folder.path().to_owned(), ..Sources::default() });
        read.map(|config| config.tls).map_err(|error| error.to_string().rsplit(": ").next().unwrap().to_owned())
    }

    #[test]
    fn a_certificate_and_its_key_belong_together() {
        assert_eq!(load("hsts_seconds = 60"), Ok(None), "a proxy may add TLS");
        for (table, error) in [
            ("certificate = 'c'", "`tls.certificate` requires `tls.key`"),
            ("key = 'k'", "`tls.key` requires `tls.certificate`"),
            ("redirect = 80", "`tls.redirect` requires `tls.certificate` or `tls.acme`"),
            (
                "acme = ['a.example']\nkey = 'k'",
                "`tls.acme` cannot be set together with `tls.certificate` and `tls.key`",
            ),
        ] {
            assert_eq!(load(table), Err(error.to_owned()));
        }
        let tls = load("certificate = '/c'\nkey = '/k'\nredirect = '0.0.0.0:80'").unwrap().unwrap();
        let files = CertificateFiles { certificate: "/c".into(), key: "/k".into() };
        assert_eq!(tls, Tls { source: CertificateSource::Files(files), redirect: Some("0.0.0.0:80".to_owned()) });
    }

    #[test]
    fn names_for_acme() {
        let tls = load("acme = ['Example.org', 'www.example.org']\nacme_contact = 'a@example.org'").unwrap().unwrap();
        let CertificateSource::Acme(settings) = tls.source else { panic!("ACME") };
        assert_eq!(settings.domains, ["example.org", "www.example.org"]);
        assert_eq!((settings.contact.as_deref(), &*settings.directory), (Some("a@example.org"), LETS_ENCRYPT));
        assert_eq!(load("acme = []"), Ok(None));
        for name in ["*.example.org", "127.0.0.1", "example", "exämple.org", "a..b", "https://a.example"] {
            let error = load(&format!("acme = ['{name}']")).unwrap_err();
            assert!(error.contains("is not a host name"), "{error}");
        }
        assert!(load("acme = ['a.example']\nacme_directory = 'http://a.example'").is_err());
    }
}
