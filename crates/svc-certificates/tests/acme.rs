//! Certificates by ACME, from Pebble, the test server of Let's Encrypt. Skipped if it is not installed.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a helper that fails fails its test")]

use std::{
    io::Write as _,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use svc_certificates::{AcmeSettings, Certificates, FOLDER, last_failure};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

/// Pebble, and its server for names, by which every name is this machine. They are ended on drop.
struct Pebble {
    children: [Child; 2],
    directory: String,
    root: PathBuf,
    _folder: tempfile::TempDir,
}

impl Drop for Pebble {
    fn drop(&mut self) {
        for child in &mut self.children {
            let _gone = child.kill();
            let _ended = child.wait();
        }
    }
}

fn free_port() -> u16 {
    std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

impl Pebble {
    /// Looks at challenges at this port. `None` with a message if Pebble is not installed.
    fn start(challenge_port: u16) -> Option<Self> {
        // The reasons of failures, for whoever looks at a failed test.
        drop(tracing_subscriber::fmt().with_test_writer().try_init());
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let mut params = CertificateParams::new([]).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let authority = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
        let key = KeyPair::generate().unwrap();
        let names = ["localhost".to_owned(), "127.0.0.1".to_owned()];
        let certificate = CertificateParams::new(names).unwrap().signed_by(&key, &authority).unwrap();
        std::fs::write(path("root.pem"), authority.pem()).unwrap();
        std::fs::write(path("cert.pem"), certificate.pem()).unwrap();
        std::fs::write(path("key.pem"), key.serialize_pem()).unwrap();
        let [port, management, dns, dns_management] = [(); 4].map(|()| free_port());
        let config = serde_json::json!({"pebble": {
            "listenAddress": format!("127.0.0.1:{port}"),
            "managementListenAddress": format!("127.0.0.1:{management}"),
            "certificate": path("cert.pem"), "privateKey": path("key.pem"),
            "httpPort": 1, "tlsPort": challenge_port,
        }});
        std::fs::write(path("config.json"), config.to_string()).unwrap();
        let mut names = Command::new("pebble-challtestsrv");
        names.args(["-defaultIPv4", "127.0.0.1", "-defaultIPv6", "", "-http01", "", "-https01", "", "-tlsalpn01", ""]);
        names.args(["-dns01", &format!("127.0.0.1:{dns}"), "-management", &format!("127.0.0.1:{dns_management}")]);
        let mut pebble = Command::new("pebble");
        pebble.arg("-config").arg(path("config.json")).args(["-dnsserver", &format!("127.0.0.1:{dns}")]);
        // A client must repeat requests whose nonce is refused.
        pebble.env("PEBBLE_VA_NOSLEEP", "1").env("PEBBLE_WFE_NONCEREJECT", "5");
        let spawn = |command: &mut Command| command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().ok();
        let (Some(names), Some(pebble)) = (spawn(&mut names), spawn(&mut pebble)) else {
            assert!(std::env::var_os("SVC_NEED_CLIENTS").is_none(), "pebble is not installed");
            let _seen = writeln!(std::io::stderr(), "skipped: pebble is not installed");
            return None;
        };
        let started = Instant::now();
        while std::net::TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(started.elapsed() < Duration::from_secs(30), "pebble listens");
            std::thread::sleep(Duration::from_millis(20));
        }
        let (directory, root) = (format!("https://127.0.0.1:{port}/dir"), path("root.pem"));
        Some(Pebble { children: [names, pebble], directory, root, _folder: folder })
    }

    fn settings(&self, domains: &[&str]) -> AcmeSettings {
        AcmeSettings {
            domains: domains.iter().map(|domain| (*domain).to_owned()).collect(),
            contact: Some("admin@example.org".to_owned()),
            directory: self.directory.clone(),
            root: Some(self.root.clone()),
        }
    }
}

/// A socket for [`accept`], bound before other programs can take its port.
async fn listen() -> (TcpListener, u16) {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let port = listener.local_addr().unwrap().port();
    (listener, port)
}

/// Performs handshakes at this socket. Returns their number.
fn accept(listener: TcpListener, certificates: &Certificates) -> Arc<AtomicUsize> {
    let (acceptor, n_asked) = (TlsAcceptor::from(certificates.server_config()), Arc::new(AtomicUsize::new(0)));
    let count = Arc::clone(&n_asked);
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            if let Ok(stream) = acceptor.accept(stream).await
                && stream.get_ref().1.alpn_protocol() == Some(b"acme-tls/1")
            {
                count.fetch_add(1, Ordering::Relaxed);
            }
        }
    });
    n_asked
}

async fn until(what: &str, mut is_done: impl FnMut() -> bool) {
    let started = Instant::now();
    while !is_done() {
        assert!(started.elapsed() < Duration::from_secs(60), "{what}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

fn mode(path: &Path) -> u32 {
    std::fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[tokio::test(flavor = "multi_thread")]
async fn a_certificate_is_requested_once_and_stored() {
    let (listener, port) = listen().await;
    let Some(pebble) = Pebble::start(port) else { return };
    let data = tempfile::tempdir().unwrap();
    let settings = pebble.settings(&["a.example", "b.example"]);
    let certificates = Arc::new(Certificates::from_acme(settings.clone(), data.path()).unwrap());
    assert!(certificates.current().is_none());
    let n_asked = accept(listener, &certificates);
    let watch = tokio::spawn(Arc::clone(&certificates).watch());
    until("a certificate", || certificates.current().is_some()).await;
    let first = certificates.current().unwrap();
    assert_eq!(["a.example", "b.example", "c.example"].map(|name| first.is_for(name)), [true, true, false]);
    let n_first = n_asked.load(Ordering::Relaxed);
    assert!(n_first >= 2, "the authority has looked at both names");
    let folder = data.path().join(FOLDER);
    assert_eq!(mode(&folder), 0o700);
    for name in ["account.json", "certificate.pem", "attempts.json"] {
        assert_eq!(mode(&folder.join(name)), 0o600, "{name}");
    }
    certificates.reload();
    watch.abort();

    // A restart uses the stored certificate.
    let again = Arc::new(Certificates::from_acme(settings, data.path()).unwrap());
    assert_eq!(again.current().unwrap().expires(), first.expires());
    let watch = tokio::spawn(Arc::clone(&again).watch());
    again.reload();
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(n_asked.load(Ordering::Relaxed), n_first, "no other certificate is requested");
    watch.abort();

    // Other names need another certificate, and another authority another account.
    let (listener, port) = listen().await;
    let Some(second) = Pebble::start(port) else { return };
    let account = std::fs::read(folder.join("account.json")).unwrap();
    let other = Arc::new(Certificates::from_acme(second.settings(&["c.example"]), data.path()).unwrap());
    assert!(other.current().is_none());
    accept(listener, &other);
    let watch = tokio::spawn(Arc::clone(&other).watch());
    until("another certificate", || other.current().is_some_and(|found| found.is_for("c.example"))).await;
    assert_ne!(std::fs::read(folder.join("account.json")).unwrap(), account);
    watch.abort();
}

#[tokio::test(flavor = "multi_thread")]
async fn failures_are_not_repeated_at_once_even_after_restarts() {
    // Nobody listens at the port at which the authority asks.
    let Some(pebble) = Pebble::start(free_port()) else { return };
    let data = tempfile::tempdir().unwrap();
    let attempts = data.path().join(FOLDER).join("attempts.json");
    let stored = || serde_json::from_slice::<serde_json::Value>(&std::fs::read(&attempts).ok()?).ok();
    let settings = pebble.settings(&["a.example"]);
    let start = || {
        let certificates = Arc::new(Certificates::from_acme(settings.clone(), data.path()).unwrap());
        let watch = tokio::spawn(Arc::clone(&certificates).watch());
        (certificates, watch)
    };
    let (certificates, watch) = start();
    until("a failure", || last_failure(data.path()).is_some()).await;
    let reason = last_failure(data.path()).unwrap();
    assert!(reason.starts_with("the authority could not verify a.example: "), "{reason}");
    let failed = stored().unwrap();
    assert_eq!(failed["n_failures"], 1, "{failed}");
    // A request for another attempt is too early, and a restart is not a reason for one.
    certificates.reload();
    tokio::time::sleep(Duration::from_millis(500)).await;
    watch.abort();
    let (certificates, watch) = start();
    tokio::time::sleep(Duration::from_millis(500)).await;
    watch.abort();
    assert!(certificates.current().is_none());
    assert_eq!(stored().unwrap(), failed);
}

#[tokio::test]
async fn an_authority_that_is_away_is_not_asked_again_at_once() {
    let data = tempfile::tempdir().unwrap();
    let settings = AcmeSettings {
        domains: vec!["a.example".to_owned()],
        contact: None,
        // Nobody listens at the port.
        directory: format!("https://127.0.0.1:{}/directory", free_port()),
        root: None,
    };
    let certificates = Arc::new(Certificates::from_acme(settings, data.path()).unwrap());
    let file = data.path().join(FOLDER).join("attempts.json");
    let attempts = || std::fs::read_to_string(&file).unwrap();
    let failure = certificates.look().await.unwrap_err();
    assert_eq!(last_failure(data.path()).as_ref(), Some(&failure.0));
    let first = attempts();
    assert!(first.contains("\"n_failures\":1"), "{first}");
    for is_requested in [false, true] {
        if is_requested {
            certificates.reload();
            certificates.wake().unwrap().notified().await;
        }
        assert_eq!(certificates.look().await, Err(failure.clone()), "as long as no other attempt is due");
        assert_eq!(attempts(), first);
    }
    // Longer than the pause after a request, and shorter than that after a failure.
    let age = |seconds: i64| {
        let mut stored: serde_json::Value = serde_json::from_str(&first).unwrap();
        let last: chrono::NaiveDateTime = stored["last"].as_str().unwrap().parse().unwrap();
        stored["last"] = (last - chrono::TimeDelta::seconds(seconds)).to_string().replace(' ', "T").into();
        std::fs::write(&file, stored.to_string()).unwrap();
    };
    age(100);
    assert_eq!(certificates.look().await, Err(failure.clone()));
    assert!(attempts().contains("\"n_failures\":1"), "no attempt is due");
    certificates.reload();
    certificates.look().await.unwrap_err();
    assert!(attempts().contains("\"n_failures\":2"), "requested");
    age(600);
    certificates.look().await.unwrap_err();
    assert!(attempts().contains("\"n_failures\":2"), "due again after the first failure");
}
