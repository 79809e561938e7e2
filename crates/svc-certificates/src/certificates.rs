//! The current certificate of a server.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, SystemTime},
};

use arc_swap::ArcSwap;
use rustls::{
    ServerConfig,
    crypto::ring,
    server::{ClientHello, ResolvesServerCert},
    sign::CertifiedKey,
};

use crate::{
    certificate::{Certificate, CertificateFiles},
    error::{Error, Result},
};

/// Interval of checks whether the files have changed.
const CHECK_EVERY: Duration = Duration::from_secs(10);

/// The certificate of a server, from files. It is presented whatever name a client requests, so that requests by IP address work as far as the
/// client allows; the client judges the name.
pub struct Certificates {
    files: CertificateFiles,
    current: Arc<Current>,
    seen: Mutex<Seen>,
}

/// The certificate for new connections.
#[derive(Debug)]
struct Current(ArcSwap<Certificate>);

impl ResolvesServerCert for Current {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(Arc::clone(&self.0.load().certified))
    }
}

/// What was found at the last checks.
#[derive(Default)]
struct Seen {
    /// The state of the files from which the current certificate was read.
    loaded: Option<FileStates>,
    /// The last error, so that it is logged once.
    error: Option<String>,
}

/// Times and sizes of both files.
type FileStates = [(SystemTime, u64); 2];

impl Certificates {
    /// Reads the certificate.
    ///
    /// # Errors
    /// If it cannot be used or has expired.
    pub fn from_files(files: CertificateFiles) -> Result<Self> {
        let loaded = states(&files);
        let current = Arc::new(Current(ArcSwap::from_pointee(valid(&files)?)));
        Ok(Certificates { files, current, seen: Mutex::new(Seen { loaded, error: None }) })
    }

    /// The current certificate.
    pub fn current(&self) -> Arc<Certificate> {
        self.current.0.load_full()
    }

    /// A configuration for TLS 1.2 and 1.3, HTTP/2 and HTTP/1.1, that presents the current certificate.
    ///
    /// # Panics
    /// If the system has no random numbers.
    pub fn server_config(&self) -> Arc<ServerConfig> {
        let builder = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .expect("ring supports TLS 1.2 and 1.3");
        let resolver = Arc::clone(&self.current) as Arc<dyn ResolvesServerCert>;
        let mut config = builder.with_no_client_auth().with_cert_resolver(resolver);
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        // Sessions are resumed without memory on the server.
        config.ticketer = ring::Ticketer::new().expect("the system has random numbers");
        Arc::new(config)
    }

    /// Reads the files again. If they cannot be used, or the certificate has expired, the current one stays in use, and the error is logged.
    pub fn reload(&self) {
        self.seen().error = None;
        self.load(states(&self.files));
    }

    /// Reloads the files whenever they have changed, until it is cancelled.
    pub async fn watch(self: Arc<Self>) {
        loop {
            tokio::time::sleep(CHECK_EVERY).await;
            let this = Arc::clone(&self);
            // The files may be on a file system that does not respond.
            drop(tokio::task::spawn_blocking(move || this.check()).await);
        }
    }

    /// Reloads the files if they have changed. Those that could not be used are read again each time: a certificate may be written before its key.
    fn check(&self) {
        let found = states(&self.files);
        if self.seen().loaded != found {
            self.load(found);
        }
    }

    fn load(&self, found: Option<FileStates>) {
        match valid(&self.files) {
            Ok(certificate) => {
                let expires = certificate.expires();
                self.current.0.store(Arc::new(certificate));
                *self.seen() = Seen { loaded: found, error: None };
                tracing::info!(%expires, "the certificate was read again");
            }
            Err(error) => {
                let message = error.to_string();
                let mut seen = self.seen();
                if seen.error.as_ref() != Some(&message) {
                    tracing::error!("the certificate was not changed: {message}");
                    seen.error = Some(message);
                }
            }
        }
    }

    fn seen(&self) -> std::sync::MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Reads a certificate that has not expired.
fn valid(files: &CertificateFiles) -> Result<Certificate> {
    let certificate = Certificate::read(files)?;
    if certificate.is_expired() {
        return Err(Error::Expired { path: files.certificate.clone(), on: certificate.expires() });
    }
    Ok(certificate)
}

/// `None` if one of the files cannot be found.
fn states(files: &CertificateFiles) -> Option<FileStates> {
    let state = |path| {
        let metadata = std::fs::metadata(path).ok()?;
        Some((metadata.modified().ok()?, metadata.len()))
    };
    Some([state(&files.certificate)?, state(&files.key)?])
}

#[cfg(test)]
mod tests {
    use rcgen::{CertificateParams, KeyPair, date_time_ymd};

    use super::*;

    struct Folder(tempfile::TempDir);

    impl Folder {
        fn new() -> Self {
            Folder(tempfile::tempdir().unwrap())
        }

        fn files(&self) -> CertificateFiles {
            CertificateFiles { certificate: self.0.path().join("c.pem"), key: self.0.path().join("k.pem") }
        }

        /// Writes a certificate for this name that expires in this year. Returns its key.
        fn write(&self, name: &str, year: i32) -> String {
            let key = KeyPair::generate().unwrap();
            let mut params = CertificateParams::new([name.to_owned()]).unwrap();
            params.not_after = date_time_ymd(year, 1, 1);
            std::fs::write(self.files().certificate, params.self_signed(&key).unwrap().pem()).unwrap();
            self.write_key(&key.serialize_pem());
            key.serialize_pem()
        }

        fn write_key(&self, key: &str) {
            std::fs::write(self.files().key, key).unwrap();
        }

        fn error(&self) -> String {
            let message = Certificates::from_files(self.files()).err().unwrap().to_string();
            message.replace(&format!("{}/", self.0.path().display()), "")
        }
    }

    #[test]
    fn unusable_files_are_errors_that_name_them() {
        let folder = Folder::new();
        assert!(folder.error().starts_with("cannot read a certificate from c.pem: "), "{}", folder.error());
        folder.write("a.example", 2020);
        assert_eq!(folder.error(), "the certificate in c.pem expired on 2020-01-01 00:00:00");
        let old = folder.write("a.example", 2999);
        assert!(Certificates::from_files(folder.files()).is_ok());
        folder.write("b.example", 2999);
        folder.write_key(&old);
        assert_eq!(folder.error(), "the private key in k.pem is not that of the certificate in c.pem");
        folder.write_key("nothing");
        assert_eq!(
            folder.error(),
            "cannot read a private key from k.pem: the file does not contain a private key in PEM"
        );
        std::fs::write(folder.files().certificate, "").unwrap();
        assert_eq!(
            folder.error(),
            "cannot read a certificate from c.pem: the file does not contain a certificate in PEM"
        );
    }

    #[test]
    fn names_and_expiry() {
        let folder = Folder::new();
        folder.write("*.a.example", 2999);
        let certificate = Certificate::read(&folder.files()).unwrap();
        let hosts = ["b.a.example", "a.example", "c.b.a.example", "127.0.0.1", ""];
        assert_eq!(hosts.map(|host| certificate.is_for(host)), [true, false, false, false, false]);
        assert_eq!(
            (certificate.expires().to_string().as_str(), certificate.is_expired()),
            ("2999-01-01 00:00:00", false)
        );
        folder.write("127.0.0.1", 2020);
        let certificate = Certificate::read(&folder.files()).unwrap();
        assert!(certificate.is_for("127.0.0.1") && certificate.is_expired());
    }

    #[tokio::test(start_paused = true)]
    async fn changed_files_are_read_once_both_fit() {
        let folder = Folder::new();
        let first = folder.write("a.example", 2999);
        let certificates = Arc::new(Certificates::from_files(folder.files()).unwrap());
        let watch = tokio::spawn(Arc::clone(&certificates).watch());
        let second = folder.write("bb.example", 2999);
        folder.write_key(&first);
        tokio::time::sleep(3 * CHECK_EVERY).await;
        assert!(certificates.current().is_for("a.example"), "the key does not fit yet");
        folder.write_key(&second);
        while !certificates.current().is_for("bb.example") {
            tokio::time::sleep(CHECK_EVERY).await;
        }
        watch.abort();
        folder.write("c.example", 2020);
        certificates.reload();
        assert!(certificates.current().is_for("bb.example"), "an expired certificate is not used");
        folder.write("c.example", 2999);
        certificates.reload();
        assert!(certificates.current().is_for("c.example"));
    }
}
