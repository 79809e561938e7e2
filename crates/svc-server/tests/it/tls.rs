//! The program with TLS: its certificate, the redirects, and reloading.

use std::{
    io::{Read as _, Write as _},
    net::TcpStream,
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use rcgen::{CertificateParams, KeyPair, date_time_ymd};
use rustls::{
    ClientConfig, ClientConnection, RootCertStore, StreamOwned, crypto::ring, pki_types::CertificateDer,
    pki_types::ServerName,
};

use crate::{
    monitoring::{Monitored, ask, value},
    process::{POSTS, SERVE, Server, command, credentials, run, stderr},
};

/// Writes a certificate for `site.example` that expires in this year.
pub(crate) fn write(folder: &Path, year: i32) -> CertificateDer<'static> {
    let key = KeyPair::generate().unwrap();
    let mut params = CertificateParams::new(["site.example".to_owned()]).unwrap();
    params.not_after = date_time_ymd(year, 1, 1);
    let certificate = params.self_signed(&key).unwrap();
    std::fs::write(folder.join("certificate.pem"), certificate.pem()).unwrap();
    std::fs::write(folder.join("key.pem"), key.serialize_pem()).unwrap();
    certificate.der().clone()
}

pub(crate) fn configure(folder: &Path) {
    let tls = "certificate = 'certificate.pem'\nkey = 'key.pem'\nredirect = '127.0.0.1:0'\nhsts_seconds = 3600\n";
    let settings = format!("site_url = 'https://site.example'\n[tls]\n{tls}");
    std::fs::write(folder.join("svc.toml"), settings).unwrap();
}

/// The response to a request over TLS, from a server with this certificate.
pub(crate) fn get(address: &str, root: &CertificateDer<'static>, path: &str, headers: &str) -> std::io::Result<String> {
    let mut roots = RootCertStore::empty();
    roots.add(root.clone()).unwrap();
    let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()));
    let builder = builder.with_safe_default_protocol_versions().unwrap();
    let config = Arc::new(builder.with_root_certificates(roots).with_no_client_auth());
    let name = ServerName::try_from("site.example").unwrap();
    let mut stream =
        StreamOwned::new(ClientConnection::new(config, name).unwrap(), TcpStream::connect(address).unwrap());
    write!(stream, "GET {path} HTTP/1.1\r\nHost: site.example\r\nConnection: close\r\n{headers}\r\n")?;
    let mut response = Vec::new();
    stream.read_to_end(&mut response)?;
    Ok(String::from_utf8_lossy(&response).into_owned())
}

#[test]
fn requests_use_tls_and_certificates_are_reloaded() {
    let folder = tempfile::tempdir().unwrap();
    let first = write(folder.path(), 2999);
    configure(folder.path());
    let Monitored { server, socket } = Monitored::start(folder.path(), None);
    let expires = || value(&ask(&socket, "/metrics").1, "svc_certificate_expiry_timestamp_seconds");
    assert_eq!(expires(), 32_472_144_000.0);
    assert!(server.output.contains("Listening on https://127.0.0.1:"), "{}", server.output);

    // In production, application passwords require TLS.
    let authorization = format!("Authorization: Basic {}\r\n", STANDARD.encode(credentials(folder.path(), None)));
    let me = get(&server.address, &first, "/svc-json/svc/v2/users/me", &authorization).unwrap();
    assert!(me.starts_with("HTTP/1.1 200 ") && me.contains("strict-transport-security: max-age=3600\r\n"), "{me}");
    let posts = get(&server.address, &first, POSTS, "").unwrap();
    assert!(posts.contains("\"link\":\"https://site.example/"), "{posts}");

    let redirect = server.output.lines().find_map(|line| line.strip_prefix("Redirecting from HTTP at ")).unwrap();
    let mut stream = TcpStream::connect(redirect).unwrap();
    write!(stream, "GET /a?b HTTP/1.0\r\nHost: site.example\r\n\r\n").unwrap();
    let mut response = String::new();
    stream.read_to_string(&mut response).unwrap();
    assert!(response.contains("location: https://site.example/a?b\r\n"), "{response}");

    let second = write(folder.path(), 2998);
    server.signal("HUP");
    let start = Instant::now();
    while get(&server.address, &second, "/healthz", "").is_err() {
        assert!(start.elapsed() < Duration::from_secs(30), "the certificate is read again: {}", server.stop());
        std::thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(expires(), 32_440_608_000.0);
    std::fs::write(folder.path().join("key.pem"), "nothing").unwrap();
    server.signal("HUP");
    std::thread::sleep(Duration::from_millis(300));
    assert!(get(&server.address, &second, "/healthz", "").is_ok(), "a broken file changes nothing");
    let log = server.stop();
    assert!(log.contains("the certificate was not changed: cannot read a private key from"), "{log}");
}

#[test]
fn unusable_certificates_prevent_the_start() {
    let folder = tempfile::tempdir().unwrap();
    configure(folder.path());
    let start = || {
        let out = run(folder.path(), None, &SERVE);
        assert_eq!(out.status.code(), Some(1));
        stderr(&out)
    };
    assert!(start().contains("cannot read a certificate from certificate.pem: "), "{}", start());
    write(folder.path(), 2020);
    assert!(start().contains("the certificate in certificate.pem expired on 2020-01-01 00:00:00"), "{}", start());
    write(folder.path(), 2999);
    std::fs::write(folder.path().join("key.pem"), KeyPair::generate().unwrap().serialize_pem()).unwrap();
    let message = "the private key in key.pem is not that of the certificate in certificate.pem";
    assert!(start().contains(message), "{}", start());
    assert!(!folder.path().join("svc-data/site.db").exists(), "no site was created");
}

#[test]
fn doctor_reports_the_certificate() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), 2999);
    configure(folder.path());
    drop(Server::spawn(command(folder.path(), None, &SERVE)).unwrap_or_else(|out| panic!("no server: {out}")));
    let doctor = |url: &str| {
        let out = run(folder.path(), None, &["--site-url", url, "doctor"]);
        String::from_utf8(out.stdout).unwrap()
    };
    let report = doctor("https://site.example");
    assert!(report.contains("certificate: expires on 2999-01-01 00:00:00 UTC; good: "), "{report}");
    let report = doctor("https://127.0.0.1:1");
    assert!(report.contains("critical: it is not for 127.0.0.1, the host of the site's URL"), "{report}");
    write(folder.path(), 2020);
    let report = doctor("https://127.0.0.1:1");
    assert!(report.contains("critical: it has expired"), "{report}");
}
