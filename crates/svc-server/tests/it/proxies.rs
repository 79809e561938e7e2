//! The configurations of nginx in the documentation load in the nginx of this machine.

use std::{
    io::Write as _,
    path::Path,
    process::{Command, Output},
};

use svc_testkit::markdown::blocks;

/// Pages with configurations of nginx.
const PAGES: [(&str, &str); 2] = [
    ("production.md", include_str!("../../../../docs/production.md")),
    ("beside-wordpress.md", include_str!("../../../../docs/beside-wordpress.md")),
];

/// Where the pages expect certificates.
const CERTIFICATES: &str = "/etc/letsencrypt/live/example.org";

/// Runs a program; `None` if it is not installed.
fn run(program: &str, args: &[&str]) -> Option<Output> {
    Command::new(program).args(args).output().ok()
}

/// Writes a key and a certificate as certbot names them. Returns whether this was possible.
fn write_certificate(folder: &Path) -> bool {
    let path = |name: &str| folder.join(name).display().to_string();
    let (key, certificate) = (path("privkey.pem"), path("fullchain.pem"));
    let args = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=example.org", "-keyout"];
    let made = run("openssl", &[&args[..], &[&key, "-out", &certificate]].concat());
    made.is_some_and(|made| made.status.success())
}

/// The output of nginx for a configuration of sites; the error is its message.
fn check(folder: &Path, sites: &str) -> Result<String, String> {
    // Other users must not need rights on the system's ports and folders.
    let sites = sites.replace(CERTIFICATES, &folder.display().to_string()).replace("listen 443", "listen 20443");
    let sites = sites.replace("listen 80;", "listen 20080;");
    let place = folder.display();
    let kinds = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"];
    let temporary: String = kinds.iter().map(|kind| format!("{kind}_temp_path {place}/{kind};\n")).collect();
    let text = format!("pid {place}/pid;\nevents {{}}\nhttp {{\naccess_log off;\n{temporary}{sites}}}\n");
    let file = folder.join("nginx.conf");
    std::fs::write(&file, text).unwrap();
    let args = ["-t", "-e", "stderr", "-p", &place.to_string(), "-c", &file.display().to_string()];
    let done = run("nginx", &args).expect("nginx is installed");
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    if done.status.success() { Ok(said) } else { Err(said) }
}

#[test]
fn nginx_loads_the_examples() {
    let folder = tempfile::tempdir().unwrap();
    if run("nginx", &["-v"]).is_none() || !write_certificate(folder.path()) {
        assert!(std::env::var_os("SVC_NEED_CLIENTS").is_none(), "nginx or openssl is not installed");
        let _seen = writeln!(std::io::stderr(), "skipped: nginx or openssl is not installed");
        return;
    }
    let mut n_checked = 0;
    for (page, text) in PAGES {
        for block in blocks(text).iter().filter(|block| block.language == "nginx") {
            check(folder.path(), &block.code).unwrap_or_else(|error| panic!("{page}:{}: {error}", block.line));
            n_checked += 1;
        }
    }
    assert!(n_checked > 2, "{n_checked}");
    assert!(check(folder.path(), "server { http9 on; }").unwrap_err().contains("unknown directive"));
}
