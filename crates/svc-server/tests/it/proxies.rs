//! The configurations of nginx, Caddy and Apache in the documentation load in these programs, if this machine has them.

use std::{
    io::Write as _,
    path::Path,
    process::{Command, Output},
};

use svc_testkit::markdown::{Block, blocks};

/// Pages with configurations of proxies.
const PAGES: [(&str, &str); 3] = [
    ("production.md", include_str!("../../../../docs/production.md")),
    ("beside-wordpress.md", include_str!("../../../../docs/beside-wordpress.md")),
    ("beside-wordpress-servers.md", include_str!("../../../../docs/beside-wordpress-servers.md")),
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

/// The configurations for one proxy: `PAGE:LINE` and the text.
fn examples(is_example: impl Fn(&Block) -> bool) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for (page, text) in PAGES {
        let examples = blocks(text).into_iter().filter(&is_example);
        found.extend(examples.map(|block| (format!("{page}:{}", block.line), block.code)));
    }
    found
}

/// Reports that a test cannot run, or fails it if other programs are required.
fn skip(reason: &str) {
    assert!(std::env::var_os("SVC_NEED_CLIENTS").is_none(), "{reason}");
    let _seen = writeln!(std::io::stderr(), "skipped: {reason}");
}

/// Standard error of a program that checks a configuration; the error is the message of one that rejects it.
fn checked(program: &str, args: &[&str]) -> Result<String, String> {
    let done = run(program, args).expect("the program is installed");
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    if done.status.success() { Ok(said) } else { Err(said) }
}

/// Checks a configuration of sites with nginx.
fn check_nginx(folder: &Path, sites: &str) -> Result<String, String> {
    // Other users must not need rights on the system's ports and folders.
    let sites = sites.replace(CERTIFICATES, &folder.display().to_string()).replace("listen 443", "listen 20443");
    let sites = sites.replace("listen 80;", "listen 20080;");
    let place = folder.display();
    let kinds = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"];
    let temporary: String = kinds.iter().map(|kind| format!("{kind}_temp_path {place}/{kind};\n")).collect();
    let text = format!("pid {place}/pid;\nevents {{}}\nhttp {{\naccess_log off;\n{temporary}{sites}}}\n");
    let file = folder.join("nginx.conf");
    std::fs::write(&file, text).unwrap();
    checked("nginx", &["-t", "-e", "stderr", "-p", &place.to_string(), "-c", &file.display().to_string()])
}

/// Checks a configuration of sites with Caddy.
fn check_caddy(folder: &Path, sites: &str) -> Result<String, String> {
    let file = folder.join("Caddyfile");
    // Nothing is written to the home of the user.
    let own = format!("{{\nadmin off\nstorage file_system {}\n}}\n", folder.display());
    std::fs::write(&file, own + sites).unwrap();
    checked("caddy", &["validate", "--adapter", "caddyfile", "--config", &file.display().to_string()])
}

/// Where Debian has Apache's modules, and those that the guide names, with what a configuration needs at least.
const APACHE_MODULES: &str = "/usr/lib/apache2/modules";
const MODULES: [&str; 9] =
    ["mpm_event", "authz_core", "slotmem_shm", "remoteip", "ssl", "headers", "proxy", "proxy_http", "proxy_balancer"];

/// Checks a configuration of sites with Apache.
fn check_apache(folder: &Path, sites: &str) -> Result<String, String> {
    let sites = sites.replace(CERTIFICATES, &folder.display().to_string());
    let module = |name: &&str| format!("LoadModule {name}_module {APACHE_MODULES}/mod_{name}.so\n");
    let modules: String = MODULES.iter().chain(&["lbmethod_byrequests"]).map(module).collect();
    let place = folder.display();
    let own =
        format!("ServerRoot {place}\nServerName localhost\nDefaultRuntimeDir {place}\nErrorLog {place}/error.log\n");
    let file = folder.join("apache.conf");
    std::fs::write(&file, own + &modules + &sites).unwrap();
    checked("apache2", &["-t", "-f", &file.display().to_string()])
}

#[test]
fn nginx_loads_the_examples() {
    let folder = tempfile::tempdir().unwrap();
    if run("nginx", &["-v"]).is_none() || !write_certificate(folder.path()) {
        return skip("nginx or openssl is not installed");
    }
    let examples = examples(|block| block.language == "nginx");
    assert!(examples.len() > 2, "{}", examples.len());
    for (place, text) in examples {
        check_nginx(folder.path(), &text).unwrap_or_else(|error| panic!("{place}: {error}"));
    }
    assert!(check_nginx(folder.path(), "server { http9 on; }").unwrap_err().contains("unknown directive"));
}

#[test]
fn caddy_loads_the_examples() {
    if run("caddy", &["version"]).is_none() {
        return skip("caddy is not installed");
    }
    let folder = tempfile::tempdir().unwrap();
    let examples = examples(|block| block.code.contains("reverse_proxy") || block.code.contains("php_fastcgi"));
    assert_eq!(examples.len(), PAGES.len(), "one for each page");
    for (place, text) in examples {
        check_caddy(folder.path(), &text).unwrap_or_else(|error| panic!("{place}: {error}"));
    }
    let wrong = check_caddy(folder.path(), "example.org {\n    reverse_proxi 127.0.0.1:1\n}\n").unwrap_err();
    assert!(wrong.contains("unrecognized directive"), "{wrong}");
}

#[test]
fn apache_loads_the_examples() {
    let folder = tempfile::tempdir().unwrap();
    let is_installed = run("apache2", &["-v"]).is_some() && Path::new(APACHE_MODULES).is_dir();
    if !is_installed || !write_certificate(folder.path()) {
        return skip("apache2 or openssl is not installed");
    }
    let examples = examples(|block| block.language == "apache");
    assert!(examples.len() > 1, "{}", examples.len());
    for (place, text) in examples {
        check_apache(folder.path(), &text).unwrap_or_else(|error| panic!("{place}: {error}"));
    }
    let wrong = check_apache(folder.path(), "ProxyPass \"/\" \"balancer://site/\" nocanonical\n").unwrap_err();
    assert!(wrong.contains("Invalid ProxyPass"), "{wrong}");
}
