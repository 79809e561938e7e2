//! The current certificate of a server.

use std::{
    path::Path,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, SystemTime},
};

use arc_swap::ArcSwapOption;
use rustls::{
    ServerConfig,
    crypto::ring,
    server::{ClientHello, ResolvesServerCert},
    sign::CertifiedKey,
};
use tokio::sync::Notify;

use crate::{
    acme::{Acme, AcmeSettings, Look},
    certificate::{Certificate, CertificateFiles},
    challenges::{self, Challenges},
    error::{Error, NoNewCertificate, Result},
};

/// Interval of checks whether the files have changed.
const CHECK_EVERY: Duration = Duration::from_secs(10);

/// The certificate of a server, from files or by ACME. It is presented whatever name a client requests, so that requests by IP address
/// work as far as the client allows; the client judges the name.
pub struct Certificates {
    source: Source,
    current: Arc<Current>,
}

enum Source {
    Files { files: CertificateFiles, seen: Mutex<Seen> },
    Acme(Box<Acme>),
}

/// The certificate for new connections.
#[derive(Debug, Default)]
struct Current {
    certificate: ArcSwapOption<Certificate>,
    challenges: Arc<Challenges>,
}

impl ResolvesServerCert for Current {
    fn resolve(&self, hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        if Challenges::is_asked(&hello) {
            return self.challenges.answer(&hello);
        }
        self.certificate.load().as_ref().map(|certificate| Arc::clone(&certificate.certified))
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
        let current = Current { certificate: ArcSwapOption::from_pointee(valid(&files)?), ..Current::default() };
        let seen = Mutex::new(Seen { loaded, error: None });
        Ok(Certificates { source: Source::Files { files, seen }, current: Arc::new(current) })
    }

    /// Uses the certificate that is stored in this folder. [`Certificates::watch`] gets the first one, and renews it; until then, handshakes fail.
    ///
    /// # Errors
    /// If the folder cannot be created.
    pub fn from_acme(settings: AcmeSettings, data: &Path) -> Result<Self> {
        let acme = Acme::open(settings, data)?;
        let certificate = ArcSwapOption::new(acme.stored().map(Arc::new));
        let current = Current { certificate, challenges: Arc::clone(&acme.challenges) };
        Ok(Certificates { source: Source::Acme(Box::new(acme)), current: Arc::new(current) })
    }

    /// The current certificate.
    pub fn current(&self) -> Option<Arc<Certificate>> {
        self.current.certificate.load_full()
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
        if matches!(self.source, Source::Acme(_)) {
            config.alpn_protocols.push(challenges::PROTOCOL.to_vec());
        }
        // Sessions are resumed without memory on the server.
        config.ticketer = ring::Ticketer::new().expect("the system has random numbers");
        Arc::new(config)
    }

    /// Reads the files again. If they cannot be used, or the certificate has expired, the current one stays in use, and the error is logged.
    /// With ACME, requests a certificate if there is none.
    pub fn reload(&self) {
        match &self.source {
            Source::Files { files, seen } => {
                lock(seen).error = None;
                self.load(files, seen, states(files));
            }
            Source::Acme(acme) => acme.request(),
        }
    }

    /// [Looks](Self::look) for new certificates whenever that is due, until it is cancelled.
    pub async fn watch(self: Arc<Self>) {
        loop {
            // Failures are logged.
            let pause = self.look().await.unwrap_or(CHECK_EVERY);
            match self.wake() {
                Some(wake) => drop(tokio::time::timeout(pause, wake.notified()).await),
                None => tokio::time::sleep(pause).await,
            }
        }
    }

    /// Reloads the files if they have changed, or gets or renews a certificate if that is due. Returns the time after which to look
    /// again, unless [`wake`](Self::wake) is notified before.
    ///
    /// # Errors
    /// Why there is no new certificate although one is due. Look again soon.
    pub async fn look(self: &Arc<Self>) -> std::result::Result<Duration, NoNewCertificate> {
        if let Source::Acme(acme) = &self.source {
            return match acme.look(self.current().as_deref()).await? {
                Look::New(certificate) => {
                    self.current.certificate.store(Some(Arc::from(certificate)));
                    Ok(Duration::ZERO)
                }
                Look::Again(pause) => Ok(pause),
            };
        }
        let this = Arc::clone(self);
        // The files may be on a file system that does not respond.
        tokio::task::spawn_blocking(move || this.check())
            .await
            .unwrap_or_else(|error| Err(NoNewCertificate(error.to_string())))?;
        Ok(CHECK_EVERY)
    }

    /// Notified when a certificate is requested. `None` if certificates are read from files.
    pub fn wake(&self) -> Option<&Notify> {
        match &self.source {
            Source::Files { .. } => None,
            Source::Acme(acme) => Some(&acme.wake),
        }
    }

    /// Reloads the files if they have changed. Those that could not be used are read again each time: a certificate may be written before its key.
    ///
    /// # Errors
    /// Why they cannot be used.
    fn check(&self) -> std::result::Result<(), NoNewCertificate> {
        let Source::Files { files, seen } = &self.source else { return Ok(()) };
        let found = states(files);
        if lock(seen).loaded != found {
            self.load(files, seen, found);
        }
        lock(seen).error.clone().map_or(Ok(()), |why| Err(NoNewCertificate(why)))
    }

    fn load(&self, files: &CertificateFiles, seen: &Mutex<Seen>, found: Option<FileStates>) {
        match valid(files) {
            Ok(certificate) => {
                let expires = certificate.expires();
                self.current.certificate.store(Some(Arc::new(certificate)));
                *lock(seen) = Seen { loaded: found, error: None };
                tracing::info!(%expires, "the certificate was read again");
            }
            Err(error) => {
                let message = error.with_cause();
                let mut seen = lock(seen);
                if seen.error.as_ref() != Some(&message) {
                    tracing::error!("the certificate was not changed: {message}");
                    seen.error = Some(message);
                }
            }
        }
    }
}

fn lock(seen: &Mutex<Seen>) -> std::sync::MutexGuard<'_, Seen> {
    seen.lock().unwrap_or_else(PoisonError::into_inner)
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
            let message = Certificates::from_files(self.files()).err().unwrap().with_cause();
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
        assert!(certificates.current().unwrap().is_for("a.example"), "the key does not fit yet");
        folder.write_key(&second);
        while !certificates.current().unwrap().is_for("bb.example") {
            tokio::time::sleep(CHECK_EVERY).await;
        }
        watch.abort();
        folder.write("c.example", 2020);
        certificates.reload();
        assert!(certificates.current().unwrap().is_for("bb.example"), "an expired certificate is not used");
        folder.write("c.example", 2999);
        certificates.reload();
        assert!(certificates.current().unwrap().is_for("c.example"));
    }
}
