//! Tests of the program: first starts, killed imports, unavailable databases, shutdown.

use std::{
    collections::BTreeSet,
    io::{Read as _, Write as _},
    net::{TcpListener, TcpStream},
    path::Path,
    process::Stdio,
    sync::OnceLock,
    time::{Duration, Instant},
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::{Value, json};
use svc_testkit::mariadb::{DISPOSABLE_OPTIONS, MariaDb};

use crate::process::{POSTS, SERVE, Server, command, credentials, run, send, signal, stderr};

/// An image with one pixel.
const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

fn mariadb() -> Option<&'static MariaDb> {
    static SERVER: OnceLock<Option<MariaDb>> = OnceLock::new();
    SERVER.get_or_init(|| MariaDb::start(DISPOSABLE_OPTIONS).unwrap()).as_ref()
}

/// Runs a test with SQLite, and with MariaDB if it is installed. The second argument is the database URL.
pub(crate) fn on_each(name: &str, test: impl Fn(&Path, Option<&str>)) {
    let folder = tempfile::tempdir().unwrap();
    test(folder.path(), None);
    match mariadb() {
        Some(server) => {
            let folder = tempfile::tempdir().unwrap();
            test(folder.path(), Some(&server.create(name).unwrap()));
        }
        None => eprintln!("SKIPPED on MariaDB: none is installed"),
    }
}

/// The password in a server's output.
fn password(output: &str) -> Option<&str> {
    output.lines().find_map(|line| line.trim().strip_prefix("password")).map(str::trim)
}

/// Login names of the site's users, from the command line.
fn users(folder: &Path, database: Option<&str>) -> usize {
    String::from_utf8(run(folder, database, &["user", "list"]).stdout).unwrap().lines().count()
}

#[test]
fn two_first_starts_at_once_make_one_site() {
    // Servers with the same data folder, and with separate ones.
    for shared in [true, false] {
        for round in 0..1 {
            on_each(&format!("two_starts_{shared}_{round}"), |folder, url| {
                let database = url.map_or_else(|| format!("sqlite:{}", folder.join("one.db").display()), str::to_owned);
                let servers: Vec<Server> = std::thread::scope(|scope| {
                    let start = |n: usize| {
                        let own = folder.join(if shared { "both".to_owned() } else { n.to_string() });
                        std::fs::create_dir_all(&own).unwrap();
                        let database = &database;
                        scope.spawn(move || Server::start(&own, Some(database)))
                    };
                    let threads: Vec<_> = (0..3).map(start).collect();
                    threads.into_iter().map(|thread| thread.join().unwrap()).collect()
                });
                let passwords: BTreeSet<&str> = servers.iter().filter_map(|server| password(&server.output)).collect();
                assert_eq!(passwords.len(), 1, "one site has one first password");
                for server in &servers {
                    let (status, posts) = server.send("GET", POSTS, "", None);
                    assert_eq!((status, posts.as_array().unwrap().len()), (200, 3));
                }
                drop(servers);
                let own = folder.join(if shared { "both" } else { "0" });
                assert_eq!(users(&own, Some(&database)), 1);
                if let Some(url) = url {
                    let name = url.split(['/', '?']).nth(3).unwrap();
                    let count = format!("SELECT COUNT(*) FROM `{name}`.wp_users");
                    assert_eq!(mariadb().unwrap().client(&count).unwrap().trim(), "1");
                }
            });
        }
    }
}

#[test]
fn the_first_password_is_shown_whenever_the_first_start_is_killed() {
    for round in 0..5_u64 {
        on_each(&format!("killed_first_start_{round}"), |own, url| {
            let mut first = command(own, url, &SERVE).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
            std::thread::sleep(Duration::from_millis(20 + 90 * round));
            first.kill().unwrap();
            let mut output = String::new();
            first.stdout.take().unwrap().read_to_string(&mut output).unwrap();
            first.wait().unwrap();
            let second = Server::start(own, url);
            let shown = password(&output).or(password(&second.output)).expect("one of the two shows it");
            let form = format!("log=admin&pwd={shown}");
            let form_type = "Content-Type: application/x-www-form-urlencoded\r\n";
            let (status, _) = send(&second.address, "POST", "/wp-login.php", "", form_type, form.as_bytes());
            assert_eq!(status, 302, "round {round}: the password opens the account");
            drop(second);
            assert_eq!(password(&Server::start(own, url).output), None, "it is not shown again");
            assert!(!own.join("svc-data/first-password").exists());
        });
    }
}

#[test]
fn an_error_of_the_first_start_does_not_lose_the_password() {
    on_each("wrong_theme", |folder, url| {
        let refused = run(folder, url, &["--theme", "nosuch", "--listen", "127.0.0.1:0"]);
        assert_eq!(refused.status.code(), Some(1));
        assert!(stderr(&refused).contains("there is no theme `nosuch`"), "{}", stderr(&refused));
        // A failure after the site was created: standard output is closed, so the password was not shown.
        let mut deaf = command(folder, url, &SERVE);
        let mut deaf = deaf.stdout(std::fs::File::open("/dev/null").unwrap()).stderr(Stdio::null()).spawn().unwrap();
        let made = folder.join("svc-data/first-password");
        let start = Instant::now();
        while !(made.exists() && users(folder, url) == 1) {
            assert!(start.elapsed() < Duration::from_secs(60), "no site is made");
            std::thread::sleep(Duration::from_millis(20));
        }
        deaf.kill().unwrap();
        deaf.wait().unwrap();
        let server = Server::start(folder, url);
        assert!(password(&server.output).is_some(), "{}", server.output);
        drop(server);
        // A changed password is not shown.
        std::fs::write(&made, "another").unwrap();
        assert_eq!(password(&Server::start(folder, url).output), None);
        assert!(!made.exists());
    });
}

/// A dump of a site with this many posts, in the format of `export`.
fn large_dump(folder: &Path, n_posts: usize) -> std::path::PathBuf {
    let own = folder.join("source");
    std::fs::create_dir_all(&own).unwrap();
    drop(Server::start(&own, None));
    let small = folder.join("small.sql");
    let exported = run(&own, None, &["export", &small.display().to_string()]);
    assert!(exported.status.success(), "{}", stderr(&exported));
    let mut text = std::fs::read_to_string(&small).unwrap();
    // At the end, so that the tables with many rows come last.
    let content = "word ".repeat(200);
    for n in 0..n_posts {
        let id = 1000 + n;
        text.push_str(&format!(
            "INSERT INTO `wp_posts` (`ID`, `post_title`, `post_content`, `post_status`, `post_type`, `post_name`) VALUES \
             ({id}, 'Post {n}', '{content}', 'publish', 'post', 'post-{n}');\n"
        ));
    }
    let dump = folder.join("large.sql");
    std::fs::write(&dump, text).unwrap();
    dump
}

#[test]
fn a_killed_import_is_never_served_as_a_new_site() {
    let folder = tempfile::tempdir().unwrap();
    let dump = large_dump(folder.path(), 6_000);
    let dump = dump.display().to_string();
    on_each("killed_import", |folder, url| {
        for round in 0..3_u64 {
            let mut import = command(folder, url, &["import", &dump]).stderr(Stdio::null()).spawn().unwrap();
            let start = Instant::now();
            while !stderr(&run(folder, url, &["user", "list"])).contains("interrupted") {
                assert!(start.elapsed() < Duration::from_secs(60), "the import does not begin");
                std::thread::sleep(Duration::from_millis(5));
            }
            std::thread::sleep(Duration::from_millis(50 * round));
            assert!(import.try_wait().unwrap().is_none(), "the import is too quick to be killed");
            import.kill().unwrap();
            import.wait().unwrap();
            let Err(refused) = Server::spawn(command(folder, url, &SERVE)) else {
                panic!("round {round}: it is served")
            };
            let advice = format!("svc-server import {dump}");
            assert!(refused.contains("interrupted") && refused.contains(&advice), "{refused}");
        }
        let again = run(folder, url, &["import", &dump]);
        assert!(again.status.success(), "{}", stderr(&again));
        let server = Server::start(folder, url);
        assert_eq!(password(&server.output), None);
        let (status, post) = server.send("GET", &format!("{POSTS}/6999"), "", None);
        assert_eq!((status, &post["title"]["rendered"]), (200, &json!("Post 5999")));
        if let Some(url) = url {
            let name = url.split(['/', '?']).nth(3).unwrap();
            let tables = mariadb().unwrap().client(&format!("SHOW TABLES FROM `{name}` LIKE '%svc\\_%'")).unwrap();
            let of_server = tables.lines().all(|table| matches!(table, "wp_svc_leases" | "wp_svc_login_attempts"));
            assert!(of_server, "nothing of the imports is left: {tables}");
        }
    });
}

#[test]
fn a_failed_import_leaves_room_for_a_new_site() {
    on_each("failed_import", |folder, url| {
        std::fs::write(folder.join("broken.sql"), "CREATE TABLE `wp_posts` (\n `ID` int\n);\nnonsense").unwrap();
        let refused = run(folder, url, &["import", "broken.sql"]);
        assert_eq!(refused.status.code(), Some(1));
        assert!(password(&Server::start(folder, url).output).is_some(), "a new site is made");
    });
}

fn upload(address: &str, credentials: &str, name: &str) -> (u16, Value) {
    let headers = format!("Content-Type: image/png\r\nContent-Disposition: attachment; filename={name}\r\n");
    send(address, "POST", "/svc-json/svc/v2/media", credentials, &headers, &STANDARD.decode(PNG).unwrap())
}

/// Files in a folder by path.
fn files(folder: &Path) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.path().is_dir() {
            found.extend(files(&entry.path()));
        } else {
            found.insert(entry.path().display().to_string());
        }
    }
    found
}

#[test]
fn files_of_uploads_that_were_killed_are_removed_at_the_next_start() {
    on_each("killed_uploads", |folder, url| {
        drop(Server::start(folder, url));
        let credentials = credentials(folder, url);
        assert_eq!(upload(&Server::start(folder, url).address, &credentials, "first.png").0, 201);
        let uploads = folder.join("svc-data/content/uploads");
        std::fs::create_dir_all(&uploads).unwrap();
        std::fs::write(uploads.join("theirs.png#1"), "of another program").unwrap();
        for round in 0..6_u64 {
            let mut server = Server::start(folder, url);
            std::thread::scope(|scope| {
                for client in 0..4 {
                    let (address, credentials) = (server.address.clone(), &credentials);
                    scope.spawn(move || {
                        for n in 0..100 {
                            let upload = || upload(&address, credentials, &format!("u{round}-{client}-{n}.png"));
                            if std::panic::catch_unwind(std::panic::AssertUnwindSafe(upload)).is_err() {
                                break;
                            }
                        }
                    });
                }
                std::thread::sleep(Duration::from_millis(200 + 40 * round));
                server.child.kill().unwrap();
                server.child.wait().unwrap();
            });
        }
        // The kills may leave no file, so add an entry of a process that has ended.
        let journal = folder.join("svc-data/uploads-in-progress");
        std::fs::write(uploads.join("gone.png"), "half").unwrap();
        std::fs::write(uploads.join("gone.png#1"), "half").unwrap();
        std::fs::write(journal.join("1-1-1"), "reserved gone.png\nown gone.png\n").unwrap();
        let server = Server::start(folder, url);
        let start = Instant::now();
        while std::fs::read_dir(&journal).unwrap().count() > 0 {
            assert!(start.elapsed() < Duration::from_secs(30), "interrupted uploads stay");
            std::thread::sleep(Duration::from_millis(20));
        }
        let mut named = BTreeSet::new();
        for page in 1.. {
            let path = format!("/svc-json/svc/v2/media?per_page=100&page={page}&_fields=media_details");
            let (status, list) = server.send("GET", &path, &credentials, None);
            let Some(list) = list.as_array().filter(|list| status == 200 && !list.is_empty()) else { break };
            for item in list {
                let file = item["media_details"]["file"].as_str().unwrap();
                named.insert(uploads.join(file).display().to_string());
            }
        }
        assert!(!named.is_empty(), "some uploads were acknowledged");
        named.insert(uploads.join("theirs.png#1").display().to_string());
        assert_eq!(files(&uploads), named);
    });
}

#[test]
fn a_database_file_that_disappears_is_noticed_before_a_write_is_acknowledged() {
    let folder = tempfile::tempdir().unwrap();
    drop(Server::start(folder.path(), None));
    let credentials = credentials(folder.path(), None);
    let post = json!({"title": "x", "status": "publish"});
    let data = folder.path().join("svc-data");
    let server = Server::start(folder.path(), None);
    let write = || server.send("POST", POSTS, &credentials, Some(&post)).0;
    assert_eq!(write(), 201);
    std::fs::rename(data.join("site.db"), data.join("aside.db")).unwrap();
    assert_eq!(write(), 503, "it is gone");
    std::fs::copy(data.join("aside.db"), data.join("site.db")).unwrap();
    assert_eq!(write(), 503, "it is another file");
    assert_eq!(server.send("GET", "/svc-json/svc/v2/types", "", None).0, 200, "reading goes on");
    std::fs::rename(data.join("aside.db"), data.join("site.db")).unwrap();
    assert_eq!(write(), 201, "it is back");
    std::fs::remove_file(data.join("site.db-wal")).unwrap();
    assert_eq!(write(), 503, "its log is gone");
    let log = server.stop();
    assert_eq!(log.matches("the database file was deleted or replaced").count(), 2, "logged once each time: {log}");
}

#[test]
fn a_stop_with_requests_in_progress_does_not_panic() {
    let Some(database) = MariaDb::start(DISPOSABLE_OPTIONS).unwrap() else {
        eprintln!("SKIPPED: no mariadbd is installed, whose pause holds requests up");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let url = database.create("stopped").unwrap();
    let mut serve = command(folder.path(), Some(&url), &SERVE);
    serve.env("SVC_LIMITS_SHUTDOWN_SECONDS", "1");
    let server = Server::spawn(serve).unwrap();
    let pid = std::fs::read_to_string(database.folder().join("pid")).unwrap();
    signal(pid.trim(), "STOP");
    // Requests that are in the middle of a query when the server stops.
    let clients: Vec<TcpStream> = (0..6)
        .map(|n| {
            let mut client = TcpStream::connect(&server.address).unwrap();
            let head = format!("GET {POSTS}?page=1&offset={n} HTTP/1.1\r\nHost: x\r\n\r\n");
            client.write_all(head.as_bytes()).unwrap();
            client
        })
        .collect();
    std::thread::sleep(Duration::from_millis(300));
    let wake = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(2500));
        signal(pid.trim(), "CONT");
    });
    let log = server.stop();
    wake.join().unwrap();
    drop(clients);
    assert!(!log.contains("panic"), "{log}");
}

#[test]
fn a_stop_while_scheduled_posts_are_looked_for_does_not_panic() {
    let Some(database) = MariaDb::start(DISPOSABLE_OPTIONS).unwrap() else {
        eprintln!("SKIPPED: no mariadbd is installed, whose pause holds the schedule up");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let url = database.create("scheduled").unwrap();
    drop(Server::start(folder.path(), Some(&url)));
    let credentials = credentials(folder.path(), Some(&url));
    let first = Server::start(folder.path(), Some(&url));
    let post = json!({"title": "x", "status": "future", "date_gmt": "2999-01-01T00:00:00"});
    let (status, made) = first.send("POST", POSTS, &credentials, Some(&post));
    assert_eq!((status, &made["status"]), (201, &json!("future")), "{made}");
    drop(first);
    let due = Instant::now() + Duration::from_secs(6);
    let soon = "UPDATE scheduled.wp_posts SET post_date_gmt = UTC_TIMESTAMP() + INTERVAL 6 SECOND, post_date = post_date_gmt \
                WHERE post_status = 'future'";
    database.client(soon).unwrap();
    let server = Server::start(folder.path(), Some(&url));
    let pid = std::fs::read_to_string(database.folder().join("pid")).unwrap();
    signal(pid.trim(), "STOP");
    // The post is due, and the server waits for its database when it is stopped.
    std::thread::sleep(due.saturating_duration_since(Instant::now()) + Duration::from_secs(1));
    let end = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(1500));
        database.kill().unwrap();
    });
    let log = server.stop();
    end.join().unwrap();
    assert!(!log.contains("panic"), "{log}");
}

#[test]
fn the_port_that_servers_have_by_default_may_be_in_use() {
    // The port is in use, by this test or another program. No other test uses it.
    let _taken = TcpListener::bind("127.0.0.1:8080");
    let folder = tempfile::tempdir().unwrap();
    let refused = run(folder.path(), None, &[]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(stderr(&refused).contains("cannot listen on 127.0.0.1:8080"), "{}", stderr(&refused));
    assert!(!folder.path().join("svc-data").exists(), "nothing is made");
}
