//! Limits on log-in attempts at several servers.

use std::{
    io::{Read as _, Write as _},
    net::TcpStream,
    time::{Duration, Instant},
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use svc_testkit::mariadb::{DISPOSABLE_OPTIONS, MariaDb};

use crate::process::{POSTS, SERVE, Server, command, credentials};

/// Twice the time after which a server knows what others have counted.
const SOON: Duration = Duration::from_secs(2);

/// The longest time until a server uses a database that is back.
const LONGEST_OUTAGE: Duration = Duration::from_secs(30);

/// Sends a request from this address, and returns the status.
fn send(server: &Server, client: &str, head: &str, body: &str) -> u16 {
    let mut stream = TcpStream::connect(&server.address).unwrap();
    let end = format!(
        "Host: {}\r\nX-Forwarded-For: {client}\r\nContent-Length: {}\r\n\r\n{body}",
        server.address,
        body.len()
    );
    stream.write_all(format!("{head}\r\n{end}").as_bytes()).unwrap();
    let mut response = Vec::new();
    stream.read_to_end(&mut response).unwrap();
    String::from_utf8_lossy(&response).split(' ').nth(1).unwrap().parse().unwrap()
}

/// The status of an attempt with the form.
fn at_form(server: &Server, client: &str, password: &str) -> u16 {
    let head = "POST /wp-login.php HTTP/1.0\r\nContent-Type: application/x-www-form-urlencoded";
    send(server, client, head, &format!("log=admin&pwd={password}"))
}

/// The status of a request with credentials.
fn with_credentials(server: &Server, client: &str, credentials: &str) -> u16 {
    let basic = STANDARD.encode(credentials);
    send(server, client, &format!("GET {POSTS}?context=edit HTTP/1.0\r\nAuthorization: Basic {basic}"), "")
}

/// Sends requests until one is refused with 429, and returns the number of the others, at most 100.
fn until_refused(mut request: impl FnMut() -> u16) -> usize {
    (0..100).take_while(|_| request() != 429).count()
}

#[test]
fn servers_on_one_database_limit_log_ins_together() {
    let Some(database) = MariaDb::start(DISPOSABLE_OPTIONS).unwrap() else {
        eprintln!("SKIPPED: no mariadbd is installed");
        return;
    };
    let url = database.create("limits").unwrap();
    let folders = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let start = |n: usize| {
        std::fs::write(folders[n].path().join("svc.toml"), "trusted_proxies = '127.0.0.1'").unwrap();
        Server::spawn(command(folders[n].path(), Some(&url), &SERVE))
            .unwrap_or_else(|output| panic!("no server: {output}"))
    };
    let (one, other) = (start(0), start(1));
    let password = credentials(folders[0].path(), Some(&url));
    let (guesser, owner) = ("198.51.100.1", "203.0.113.1");

    // Both get a part of what one of them allows, in turn.
    let mut n_guesses = 0;
    let guess = || {
        std::thread::sleep(SOON / 10);
        n_guesses += 1;
        at_form(if n_guesses % 2 == 0 { &one } else { &other }, guesser, "wrong")
    };
    let n_checked = until_refused(guess);
    assert!(
        (10..16).contains(&n_checked),
        "ten are allowed at once, and a few before the servers know of each other: {n_checked}"
    );
    std::thread::sleep(SOON);
    for server in [&one, &other] {
        assert_eq!(at_form(server, guesser, "wrong"), 429);
        assert_eq!(at_form(server, owner, "wrong"), 200, "another network");
    }

    // Wrong passwords at one are known to the other, where right ones are accepted.
    let n_checked = until_refused(|| with_credentials(&one, guesser, "admin:wrong"));
    assert!((60..100).contains(&n_checked), "{n_checked}");
    std::thread::sleep(SOON);
    assert!(until_refused(|| with_credentials(&other, guesser, "admin:wrong")) < 10);
    assert_eq!(with_credentials(&other, guesser, &password), 200);
    assert_eq!(with_credentials(&other, owner, "admin:wrong"), 401);

    let rows = database.client("SELECT COUNT(*) > 0, COUNT(*) < 100 FROM limits.wp_svc_login_attempts").unwrap();
    assert!(rows.contains("1\t1"), "{rows}");

    // Each has counted for itself what the database has forgotten.
    database.client("TRUNCATE limits.wp_svc_login_attempts").unwrap();
    assert_eq!(at_form(&one, guesser, "wrong"), 429);
    database.kill().unwrap();
    database.run().unwrap();
    let begun = Instant::now();
    let back = std::iter::repeat_with(|| at_form(&other, guesser, "wrong")).find(|status| {
        assert!(begun.elapsed() < LONGEST_OUTAGE, "the server does not resume");
        *status != 503
    });
    assert_eq!(back, Some(429));
    for log in [one.stop(), other.stop()] {
        assert!(!log.contains("panic"), "{log}");
    }
}
