//! Tests of the program's messages: what a new user reads, mistakes and their remedies.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{TcpListener, TcpStream},
    path::Path,
    process::{Child, Command, Output, Stdio},
};

use serde_json::{Value, json};
use svc_auth::two_factor::META_KEY;
use svc_store::{MetaKind, Store, StoreConfig, StoredText, Tx, meta, users};

use crate::process::{POSTS, SERVE, Server, command, credentials, run, send, stderr};

fn stdout(out: &Output) -> String {
    String::from_utf8_lossy(&out.stdout).into_owned()
}

/// Standard output of a command that must succeed.
fn printed(folder: &Path, args: &[&str]) -> String {
    let out = run(folder, None, args);
    assert!(out.status.success(), "{args:?}: {}", stderr(&out));
    stdout(&out)
}

/// Standard error of a command that must fail.
fn refused(folder: &Path, args: &[&str]) -> String {
    let out = run(folder, None, args);
    assert!(!out.status.success(), "{args:?}: {}", stdout(&out));
    stderr(&out)
}

/// Starts a server and reads its output until it has printed everything.
fn start(folder: &Path, args: &[&str]) -> (Child, String) {
    let mut child = command(folder, None, args).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut out = child.stdout.take().unwrap();
    let (mut text, mut buffer) = (String::new(), [0; 4096]);
    // The explorer's line is the last one; after a first start, commands and an empty line follow.
    let is_complete = |text: &str| match text.contains("password  ") {
        true => text.contains("status=publish http") && text.ends_with("\n\n"),
        false => text.contains("Explorer:") && text.ends_with('\n'),
    };
    while !is_complete(&text) {
        let n = out.read(&mut buffer).unwrap();
        assert!(n > 0, "the server ended: {text}");
        text.push_str(&String::from_utf8_lossy(&buffer[..n]));
    }
    (child, text)
}

/// The output of a server, which is then stopped.
fn output_of(folder: &Path, args: &[&str]) -> String {
    let (mut child, text) = start(folder, args);
    let _gone = child.kill();
    let _ended = child.wait();
    text
}

/// A port that was free just now.
fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

#[test]
fn the_first_start_prints_the_password_first_and_commands_that_work() {
    let folder = tempfile::tempdir().unwrap();
    let (mut child, text) = start(folder.path(), &SERVE);
    let position = |part: &str| text.find(part).unwrap_or_else(|| panic!("no `{part}` in {text}"));
    assert!(position("password  ") < position("http://"), "{text}");
    assert!(position("user set-password admin") < position("Log in:   http://"), "{text}");
    assert!(text.contains("/wp-login.php\n") && text.contains("/svc-explorer/\n"), "{text}");
    // The commands are copied as they are, in another folder.
    let commands: Vec<&str> =
        text.lines().map(str::trim).filter(|l| l.starts_with("PASSWORD=") || l.starts_with("curl ")).collect();
    assert_eq!(commands.len(), 2, "{text}");
    if Command::new("curl").arg("--version").output().is_ok() {
        let script = commands.join("\n");
        let posted = Command::new("sh").args(["-c", &script]).current_dir("/").output().unwrap();
        let post: Value = serde_json::from_slice(&posted.stdout).unwrap_or_default();
        assert_eq!(post["title"]["raw"], "Hello", "{script}: {posted:?}");
    } else {
        eprintln!("SKIPPED: curl is not installed");
    }
    let _gone = child.kill();
    let _ended = child.wait();
}

#[test]
fn the_url_of_a_new_site_follows_the_listening_address_until_it_is_set() {
    let folder = tempfile::tempdir().unwrap();
    let (first, second) = (free_port().to_string(), free_port().to_string());
    let text = output_of(folder.path(), &["--listen", &first, "--log", "warn"]);
    assert!(text.contains(&format!("Site:     http://127.0.0.1:{first}/")), "{text}");
    let text = output_of(folder.path(), &["--port", &second, "--log", "warn"]);
    assert!(text.contains(&format!("Log in:   http://127.0.0.1:{second}/wp-login.php")), "{text}");
    // A URL that somebody has chosen stays.
    let server = Server::start(folder.path(), None);
    let credentials = credentials(folder.path(), None);
    let chosen = json!({"url": "http://localhost:1234"});
    let (status, settings) = server.send("POST", "/svc-json/svc/v2/settings", &credentials, Some(&chosen));
    assert_eq!((status, &settings["url"]), (200, &chosen["url"]), "{settings}");
    drop(server);
    let text = output_of(folder.path(), &["--listen", &second, "--log", "warn"]);
    assert!(!text.contains(&format!("Site:     http://127.0.0.1:{second}/")), "{text}");
}

#[test]
fn a_second_server_on_a_folder_and_new_keys_are_reported() {
    let folder = tempfile::tempdir().unwrap();
    let first = Server::start(folder.path(), None);
    let second = Server::start(folder.path(), None).stop();
    assert!(second.contains(&format!("another server (pid {}) uses the folder", first.child.id())), "{second}");
    assert!(!first.stop().contains("another server"), "the first one is alone");
    std::fs::remove_file(folder.path().join("svc-data/keys.toml")).unwrap();
    let third = Server::start(folder.path(), None).stop();
    assert_eq!(third.matches("created new secrets in keys.toml").count(), 1, "{third}");
    assert!(!Server::start(folder.path(), None).stop().contains("new secrets"));
}

#[test]
fn mistakes_come_with_remedies() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    std::fs::write(path("bad.toml"), "brand = 'wp'\nlistn = '127.0.0.1:1'\n").unwrap();
    std::fs::create_dir(path("site")).unwrap();
    std::fs::write(path("site/wp-config.php"), "<?php\ndefine('DB_NAME', f());\n").unwrap();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    let next = format!("hint: another server uses this port; try `--listen 127.0.0.1:{}`", u32::from(port) + 1);
    std::fs::write(path("damaged.db"), "no database, but long enough to be looked at. ".repeat(100)).unwrap();
    #[rustfmt::skip]
    let rows: [(&[&str], &str); 9] = [
        (&["--config", &path("bad.toml")], "bad.toml:2: `listn` is not a setting; did you mean `listen`?"),
        (&["--listn", "x"], "tip: a similar argument exists: '--listen'"),
        (&["backupp"], "tip: a similar subcommand exists: 'backup'"),
        (&["--log", "bogus"], "`bogus` is neither"),
        (&["--wp-config", &path("site")], "wp-config.php:2: the value of DB_NAME cannot be evaluated without running this file; set `database` in svc.toml, or SVC_DATABASE"),
        (&["--wp-config", &path("none.php")], "none.php: cannot be read"),
        (&["--listen", &port.to_string()], &next),
        (&["--listen", "127.0.0.1:0", "--database", &format!("sqlite:{}", path("damaged.db"))], "hint: restore a backup with `svc-server restore"),
        (&["--listen", "127.0.0.1:0", "--database", "mysql://u:hunter2@127.0.0.1:1/x"], "Connection refused"),
    ];
    for (args, message) in rows {
        let text = refused(folder.path(), args);
        assert!(text.contains(message), "{args:?}: {text}");
        assert!(
            !text.contains("Error {") && !text.contains("hunter2") && !text.contains("panicked"),
            "{args:?}: {text}"
        );
    }
    let misspelt = command(folder.path(), None, &["config", "check"]).env("SVC_LISTN", "1").output().unwrap();
    assert_eq!(misspelt.status.code(), Some(0));
    assert!(stderr(&misspelt).contains("SVC_LISTN is not a setting; did you mean `SVC_LISTEN`?"), "{misspelt:?}");
}

#[test]
fn commands_without_a_site_say_so_and_create_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    std::fs::write(path("file"), "a file").unwrap();
    let unreachable = ["--database", "mysql://u:p@127.0.0.1:1/x"];
    let (missing, file) = (format!("there is no site in {}: start", path("none")), path("file"));
    #[rustfmt::skip]
    let rows: [(&[&str], &str); 9] = [
        (&["--data", "none", "user", "set-role", "admin", "editor"], &missing),
        (&["--data", "none", "app-password", "create", "admin", "x"], &missing),
        (&["--data", "none", "backup", "b.db"], &missing),
        (&["--data", "none", "export", "e.sql"], &missing),
        (&["--data", "none", "theme", "list"], &missing),
        (&["--data", "none", "doctor"], &missing),
        (&["--data", &file, "user", "list"], "file: it is a file"),
        (&["--data", &file, "--listen", "127.0.0.1:0"], "is a file: set `data` to a folder"),
        (&["--listen", "127.0.0.1:0", unreachable[0], unreachable[1]], "Connection refused"),
    ];
    for (args, message) in rows {
        let text = refused(folder.path(), args);
        assert!(text.contains(message), "{args:?}: {text}");
    }
    let left: Vec<_> = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["file"], "nothing is created");
    let hint = refused(folder.path(), &["serv"]);
    assert!(hint.contains("'serve', 'user'") || hint.contains("'serve'") && !hint.contains("'user'"), "{hint}");
}

#[test]
fn configurations_are_printed_and_checked() {
    let folder = tempfile::tempdir().unwrap();
    let template = printed(folder.path(), &["config", "--template"]);
    assert!(template.contains("\n#listen = \"127.0.0.1:8080\"\n") && template.contains("\n[limits]\n"), "{template}");
    std::fs::write(folder.path().join("svc.toml"), template.replace("#listen = \"127.0.0.1:8080\"", "listen = 81"))
        .unwrap();
    assert_eq!(
        printed(folder.path(), &["config", "check"]),
        "The configuration is valid. `svc-server doctor` also checks the database and the site.\n"
    );
    let shown: Value = serde_json::from_str(&printed(folder.path(), &["config", "--json"])).unwrap();
    assert_eq!(shown["listen"]["value"], "81");
    assert!(shown["listen"]["origin"].as_str().unwrap().contains("svc.toml:"), "{shown}");
    let url = printed(folder.path(), &["--database", "mysql://me:hunter2@db/site", "config"]);
    assert!(url.contains("mysql://me:***@db/site"), "{url}");
    std::fs::write(folder.path().join("svc.toml"), "brand = 'NO'").unwrap();
    let invalid = run(folder.path(), None, &["config", "check"]);
    assert_eq!(invalid.status.code(), Some(1));
    assert!(stderr(&invalid).contains("svc.toml:1: `brand`"), "{}", stderr(&invalid));
    assert!(
        run(folder.path(), None, &["config", "--template"]).status.success(),
        "even if the configuration is invalid"
    );
    assert!(!folder.path().join("svc-data").exists(), "nothing is created");
}

#[test]
fn two_factor_log_in_is_turned_off() {
    let folder = tempfile::tempdir().unwrap();
    let own = folder.path();
    drop(Server::start(own, None));
    let off = ["user", "two-factor-off", "admin"];
    assert!(printed(own, &off).contains("was not on"));
    let url = format!("sqlite:{}", own.join("svc-data/site.db").display());
    let store = Store::open(&StoreConfig::new(url.parse().unwrap())).unwrap();
    let admin = store.read_blocking(|db| users::by_login(db, "admin")).unwrap().unwrap().id.0;
    let on = move |tx: &mut Tx| meta::update(tx, MetaKind::User, admin, META_KEY, &StoredText::of("unreadable"));
    store.write_blocking(on).unwrap();
    assert!(printed(own, &off).contains("is off"));
    assert_eq!(store.read_blocking(|db| meta::get(db, MetaKind::User, admin, META_KEY)).unwrap(), None);
    assert!(refused(own, &["user", "two-factor-off", "nobody"]).contains("no user"));
}

#[test]
fn users_are_deleted_and_get_new_addresses() {
    let folder = tempfile::tempdir().unwrap();
    drop(Server::start(folder.path(), None));
    let own = folder.path();
    for login in ["jo", "ann"] {
        printed(own, &["user", "create", login, &format!("{login}@example.org"), "--role", "author"]);
    }
    let password = printed(own, &["app-password", "create", "jo", "Phone", "--porcelain"]);
    assert_eq!((password.trim().len(), password.lines().count()), (29, 1), "{password}");
    let list: Value = serde_json::from_str(&printed(own, &["app-password", "list", "jo", "--json"])).unwrap();
    assert_eq!((&list[0]["name"], &list[0]["last_used"]), (&json!("Phone"), &Value::Null));
    let server = Server::start(own, None);
    let credentials = format!("jo:{}", password.trim());
    let (status, post) = server.send("POST", POSTS, &credentials, Some(&json!({"title": "mine", "status": "publish"})));
    assert_eq!(status, 201, "{post}");

    printed(own, &["user", "set-email", "jo", "new@example.org"]);
    assert!(refused(own, &["user", "set-email", "jo", "ann@example.org"]).contains("another user has"));
    assert!(refused(own, &["user", "set-email", "jo", "nonsense"]).contains("not a valid email address"));
    assert!(refused(own, &["user", "delete", "admin", "--reassign", "jo"]).contains("last administrator"));
    assert!(refused(own, &["user", "delete", "jo"]).contains("--reassign"), "the post would have no author");
    let users = || -> Value { serde_json::from_str(&printed(own, &["user", "list", "--json"])).unwrap() };
    assert_eq!((&users()[1]["email"], &users()[1]["roles"]), (&json!("new@example.org"), &json!(["author"])));
    printed(own, &["user", "delete", "jo", "--reassign", "ann"]);
    assert_eq!(users().as_array().unwrap().len(), 2);
    let (_, moved) = server.send("GET", &format!("{POSTS}/{}", post["id"]), "", None);
    assert_eq!(moved["author"], users()[1]["id"], "{moved}");
    assert_eq!(server.send("POST", POSTS, &credentials, Some(&json!({"title": "x"}))).0, 401);
    let themes: Value = serde_json::from_str(&printed(own, &["theme", "list", "--json"])).unwrap();
    assert_eq!((&themes[0]["folder"], &themes[0]["state"]), (&json!("paper"), &json!("active")));
}

#[test]
fn changes_are_shown_with_their_user() {
    let folder = tempfile::tempdir().unwrap();
    let own = folder.path();
    let server = Server::start(own, None);
    let secret = credentials(own, None);
    let lines = |args: &[&str]| -> Vec<Value> {
        let printed = printed(own, &[&["changes", "--json", "--limit", "1000"], args].concat());
        printed.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    let last = lines(&[]).last().unwrap()["seq"].to_string();
    let (status, post) = server.send("POST", POSTS, &secret, Some(&json!({"title": "mine", "status": "publish"})));
    assert_eq!(status, 201, "{post}");
    printed(own, &["user", "create", "jo", "jo@example.org", "--role", "author"]);
    let changes = lines(&["--since", &last]);
    let of =
        |kind: &str| changes.iter().find(|change| change["rows"] == kind).unwrap_or_else(|| panic!("{changes:#?}"));
    let created = of("posts");
    assert_eq!(
        [&created["operation"], &created["object"], &created["before"], &created["user"]],
        [&json!("insert"), &post["id"], &Value::Null, &post["author"]]
    );
    assert_eq!(created["after"], json!({"type": "post", "status": "publish", "author": post["author"]}));
    assert_eq!([&of("users")["operation"], &of("users")["user"]], [&json!("insert"), &Value::Null], "the command line");
    let table = printed(own, &["changes", "--since", &last]);
    assert!(table.starts_with("SEQ ") && table.contains("post publish"), "{table}");
    assert!(refused(own, &["changes", "--limit", "0"]).contains("--limit"));
}

#[test]
fn a_backup_restores_the_whole_site() {
    let folder = tempfile::tempdir().unwrap();
    let own = folder.path();
    let path = |name: &str| own.join(name).display().to_string();
    drop(Server::start(own, None));
    let secret = credentials(own, None);
    std::fs::create_dir_all(own.join("svc-data/content/uploads/2026")).unwrap();
    std::fs::write(own.join("svc-data/content/uploads/2026/a.txt"), "uploaded").unwrap();
    let certificate = own.join("svc-data/acme/certificate.pem");
    std::fs::create_dir(own.join("svc-data/acme")).unwrap();
    std::fs::write(&certificate, "certificate and key").unwrap();
    std::fs::set_permissions(&certificate, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    let server = Server::start(own, None);
    let alone = printed(own, &["backup", &path("alone.db")]);
    assert!(alone.contains("database only") && alone.contains("keys.toml"), "{alone}");
    printed(own, &["backup", "--all", &path("whole")]);
    assert!(refused(own, &["backup", "--all", &path("whole")]).contains("cannot create"), "it exists");
    let running = refused(own, &["restore", &path("whole"), "--overwrite"]);
    assert!(running.contains("stop it first"), "{running}");
    drop(server);
    assert!(refused(own, &["restore", &path("whole")]).contains("--overwrite"));
    std::fs::write(path("bad.db"), "no database").unwrap();
    for args in [&["restore", &path("bad.db"), "--overwrite"][..], &["restore", &path("bad.db")]] {
        assert!(
            refused(own, args).contains("not a usable backup: it is no SQLite database"),
            "before --overwrite is required"
        );
    }
    // Into another folder, and over a site that was changed.
    std::fs::create_dir(own.join("other")).unwrap();
    printed(&own.join("other"), &["restore", &path("whole")]);
    assert_eq!(std::fs::read(own.join("other/svc-data/content/uploads/2026/a.txt")).unwrap(), b"uploaded");
    assert_eq!(
        std::fs::read(own.join("other/svc-data/keys.toml")).unwrap(),
        std::fs::read(own.join("svc-data/keys.toml")).unwrap()
    );
    for copy in ["whole/acme", "other/svc-data/acme"] {
        let mode =
            |path: &str| std::os::unix::fs::MetadataExt::mode(&std::fs::metadata(own.join(path)).unwrap()) & 0o777;
        assert_eq!((mode(copy), mode(&format!("{copy}/certificate.pem"))), (0o700, 0o600), "{copy}");
    }
    let changed = Server::start(own, None);
    let (status, post) = changed.send("POST", POSTS, &secret, Some(&json!({"title": "later", "status": "publish"})));
    assert_eq!(status, 201, "{post}");
    changed.signal("KILL");
    drop(changed);
    printed(own, &["restore", &path("alone.db"), "--overwrite"]);
    let restored = Server::start(own, None);
    assert_eq!(
        restored.send("GET", &format!("{POSTS}/{}", post["id"]), "", None).0,
        404,
        "it was written after the backup"
    );
    assert_eq!(restored.send("GET", POSTS, &secret, None).0, 200);
}

/// Sends a request and returns the whole response.
fn fetch(address: &str, path: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(format!("GET {path} HTTP/1.0\r\nHost: {address}\r\n\r\n").as_bytes()).unwrap();
    let mut response = String::new();
    stream.read_to_string(&mut response).unwrap();
    response
}

#[test]
fn doctor_names_the_size_of_the_program_and_wants_no_tls_on_loopback() {
    let folder = tempfile::tempdir().unwrap();
    let _server = Server::start(folder.path(), None);
    let found = printed(folder.path(), &["doctor"]);
    let size = found.lines().find_map(|line| line.strip_prefix("program size")).unwrap_or_else(|| panic!("{found}"));
    assert!(size.trim().starts_with(|c: char| ('1'..='9').contains(&c)), "{size}");
    assert!(!found.to_lowercase().contains("wordpress size"), "{found}");
    assert!(found.contains("background jobs") && !found.contains("HTTPS") && !found.contains("TLS"), "{found}");
}

#[test]
fn health_checks_and_hints_at_the_prefix() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), None);
    for path in ["/healthz", "/readyz"] {
        let response = fetch(&server.address, path);
        assert!(response.starts_with("HTTP/1.0 200") && response.ends_with("ok\n"), "{path}: {response}");
    }
    let (status, hint) = server.send("GET", "/wp-json/wp/v2/posts", "", None);
    assert_eq!((status, &hint["code"]), (404, &json!("rest_no_route")));
    assert!(hint["message"].as_str().unwrap().contains("/svc-json/"), "{hint}");
    let page = fetch(&server.address, "/wp-login.php?action=lostpassword");
    assert!(page.contains("svc-server user reset-link NAME"), "{page}");
    let page = fetch(&server.address, "/nothing-here/");
    assert!(page.starts_with("HTTP/1.0 404") && page.contains("Latest posts"), "{page}");
    assert_eq!(
        page.matches("placeholder=\"Search this site\"").count(),
        1,
        "in the text, and not in the footer: {page}"
    );
    let page = fetch(&server.address, "/?s=zzzzzz");
    assert!(page.contains("Nothing was found") && page.contains("Latest posts"), "{page}");
}

#[test]
fn failed_logins_are_logged_with_the_address() {
    let folder = tempfile::tempdir().unwrap();
    drop(Server::start(folder.path(), None));
    credentials(folder.path(), None);
    let server = Server::start(folder.path(), None);
    let form_type = "Content-Type: application/x-www-form-urlencoded\r\n";
    let form = |name: &str| format!("log={name}&pwd=wrong");
    send(&server.address, "POST", "/wp-login.php", "", form_type, form("admin").as_bytes());
    send(&server.address, "POST", "/wp-login.php", "", form_type, form("a%22%0Aclient%3D1.2.3.4").as_bytes());
    assert_eq!(server.send("GET", "/svc-json/svc/v2/users/me", "admin:wrong", None).0, 401);
    // Clients are not trusted proxies.
    let forged = format!("{form_type}X-Forwarded-For: 192.0.2.7\r\nForwarded: for=192.0.2.7\r\n");
    send(&server.address, "POST", "/wp-login.php", "", &forged, form("forged").as_bytes());
    let log = server.stop();
    let lines: Vec<&str> = log.lines().filter(|line| line.contains("login failed")).collect();
    assert!(lines.len() >= 4 && lines.iter().all(|line| line.contains("login failed client=127.0.0.1 user=")), "{log}");
    assert!(lines.iter().any(|l| l.contains("user=\"admin\" reason=\"wrong password\"")), "{log}");
    assert!(!log.lines().any(|line| line.starts_with("client=")), "{log}");
}

/// The response to a request for a path with these headers.
fn request(address: &str, path: &str, headers: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(format!("GET {path} HTTP/1.0\r\nHost: {address}\r\n{headers}\r\n").as_bytes()).unwrap();
    let mut response = String::new();
    stream.read_to_string(&mut response).unwrap();
    response
}

#[test]
fn a_browser_at_the_root_of_the_api_gets_the_explorer() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), None);
    let browser = "Accept: text/html,*/*;q=0.8\r\nSec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: document\r\n";
    for path in ["/svc-json", "/svc-json/"] {
        let response = request(&server.address, path, browser);
        assert!(
            response.starts_with("HTTP/1.0 303") && response.contains("location: /svc-explorer/\r\n"),
            "{response}"
        );
        assert!(response.contains("cache-control: no-store\r\n"), "{response}");
    }
    for (path, headers) in [
        ("/svc-json/", "Accept: text/html\r\n"),
        ("/svc-json/", "Accept: */*\r\n"),
        ("/svc-json/", "Accept: application/json, */*\r\nSec-Fetch-Mode: cors\r\nSec-Fetch-Dest: empty\r\n"),
        ("/svc-json/", "Sec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: iframe\r\n"),
        ("/svc-json/?_fields=name", browser),
        ("/svc-json/svc/v2/posts", browser),
    ] {
        let response = request(&server.address, path, headers);
        assert!(response.starts_with("HTTP/1.0 200"), "{path} {headers}: {response}");
    }
    drop(server);
    std::fs::write(folder.path().join("svc.toml"), "explorer = false\n").unwrap();
    let server = Server::start(folder.path(), None);
    assert!(request(&server.address, "/svc-json/", browser).starts_with("HTTP/1.0 200"));
}

#[test]
fn a_json_log_line_has_the_id_once_the_bytes_and_the_user() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("svc.toml"), "log_format = \"json\"\nlog = \"info\"\n").unwrap();
    drop(Server::start(folder.path(), None));
    let secret = credentials(folder.path(), None);
    let args = ["--listen", "127.0.0.1:0", "serve"];
    let server = Server::spawn(command(folder.path(), None, &args)).unwrap();
    assert_eq!(server.send("GET", "/svc-json/svc/v2/users/me", &secret, None).0, 200);
    assert_eq!(server.send("GET", "/svc-json/svc/v2/posts", "", None).0, 200);
    let log = server.stop();
    let lines = log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let lines: Vec<Value> = lines.filter(|line| line["message"] == "response").collect();
    assert_eq!(lines.len(), 2, "{log}");
    for (line, user) in lines.iter().zip([json!(1), Value::Null]) {
        assert!(line["span"]["id"].as_str().is_some_and(|id| id.len() == 32) && line.get("spans").is_none(), "{line}");
        assert!(line["bytes"].as_u64().is_some_and(|bytes| bytes > 100), "{line}");
        assert_eq!(line["span"].get("user").cloned().unwrap_or_default(), user, "{line}");
    }
}

#[test]
fn jobs_are_listed_and_their_states_logged() {
    let folder = tempfile::tempdir().unwrap();
    let serve = command(folder.path(), None, &["--listen", "127.0.0.1:0", "--log", "info", "serve"]);
    let mut server = Server::spawn(serve).unwrap();
    // The last one does not run in the first minutes.
    let names = [
        "remove-interrupted-uploads",
        "publish-posts",
        "watch-theme",
        "send-events",
        "fetch-feeds",
        "queue-webhooks",
        "send-webhooks",
        "record-history",
        "update-search-index",
        "save-job-states",
        "check-term-counts",
    ];
    let doctor = || String::from_utf8(run(folder.path(), None, &["doctor"]).stdout).unwrap();
    // The states are saved a second after the start.
    let listed = |_| Some(doctor().split_once("background jobs of the server, ")?.1.to_owned());
    let listed = (0..60).find_map(listed).expect("the states of the jobs");
    for name in names {
        let line = listed.lines().find(|line| line.starts_with(&format!("{name} "))).expect(name);
        assert!(!line.contains("failing"), "{line}");
    }
    let mut log = BufReader::new(server.child.stderr.take().unwrap()).lines().map_while(Result::ok);
    // The first run of a job may not have ended yet.
    loop {
        server.signal("USR1");
        let mut states: Vec<String> = Vec::new();
        while states.len() < names.len() {
            let line = log.find(|line| line.contains("job=\"")).expect("the state of each job");
            states.push(line);
        }
        states.sort_by_key(|line| names.iter().position(|name| line.contains(&format!("job=\"{name}\""))));
        let [rest @ .., term_counts] = &states[..] else { panic!("{states:#?}") };
        let has_run = |line: &String| line.contains("duration_ms=") && !line.contains("runs=0");
        assert!(states.iter().all(|line| line.contains("failures=0")) && !has_run(term_counts), "{states:#?}");
        if rest.iter().all(has_run) {
            break;
        }
    }
    server.signal("TERM");
    log.for_each(drop);
    server.child.wait().unwrap();
    let report = doctor();
    assert!(report.contains("\nbackground jobs: no server is running\n"), "{report}");
}
