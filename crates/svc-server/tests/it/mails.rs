//! Mails while the server is killed, and while the mail server is away or refuses them.

use std::{
    collections::BTreeMap,
    path::Path,
    time::{Duration, Instant},
};

use serde_json::json;
use svc_testkit::smtp::SmtpServer;

use crate::{
    process::{SERVE, Server, command, credentials, run, stderr},
    start::on_each,
};

/// Number of mails.
const N_MAILS: usize = 40;

/// How long the last mail may take: the lease of a killed server, and the first pauses after failures.
const PATIENCE: Duration = Duration::from_secs(150);

fn start(folder: &Path, database: Option<&str>, smtp: &SmtpServer) -> Server {
    let mut command = command(folder, database, &SERVE);
    command.env("SVC_MAIL_FROM", "site@example.org").env("SVC_MAIL_SMTP", smtp.url());
    Server::spawn(command).unwrap_or_else(|output| panic!("no server: {output}"))
}

#[test]
fn each_mail_arrives_whatever_is_killed() {
    on_each("mails_and_kills", |folder, database| {
        let Some(mut smtp) = SmtpServer::start().unwrap() else { return };
        let mut server = start(folder, database, &smtp);
        let credentials = credentials(folder, database);
        let of_user = |n: usize| format!("u{n}@example.org");
        let body =
            json!({"username": "jo", "email": of_user(0), "password": "a-long-pass-phrase", "roles": ["author"]});
        let (status, user) = server.send("POST", "/svc-json/svc/v2/users", &credentials, Some(&body));
        assert_eq!(status, 201, "{user}");
        let route = format!("/svc-json/svc/v2/users/{}", user["id"]);
        // Each change of the address is a mail to the address before.
        for n in 1..=N_MAILS {
            match n {
                5 => smtp.set("slow", true).unwrap(),
                10 => smtp.stop(),
                18 => smtp.resume().unwrap(),
                22 => smtp.set("busy", true).unwrap(),
                30 => smtp.set("busy", false).unwrap(),
                _ => {}
            }
            if matches!(n, 8 | 16 | 24 | 33 | 36) {
                drop(server);
                server = start(folder, database, &smtp);
            }
            let (status, changed) = server.send("POST", &route, &credentials, Some(&json!({"email": of_user(n)})));
            assert_eq!(status, 200, "{changed}");
        }
        let began = Instant::now();
        let ids = loop {
            let mut ids: BTreeMap<String, Vec<String>> = BTreeMap::new();
            for mail in smtp.mails().unwrap() {
                let seen = ids.entry(mail.recipients.join(",")).or_default();
                let id = mail.header("message-id").to_owned();
                if !seen.contains(&id) {
                    seen.push(id);
                }
            }
            if ids.len() == N_MAILS {
                break ids;
            }
            assert!(began.elapsed() < PATIENCE, "{} of {N_MAILS} mails: {ids:?}", ids.len());
            std::thread::sleep(Duration::from_millis(100));
        };
        for n in 0..N_MAILS {
            assert_eq!(ids.get(&of_user(n)).map(Vec::len), Some(1), "one mail to {}: {ids:?}", of_user(n));
        }
        let n_received = smtp.mails().unwrap().len();
        let seconds = began.elapsed().as_secs();
        eprintln!("{N_MAILS} mails, {} repeated with the same id, the last after {seconds} s", n_received - N_MAILS);
    });
}

#[test]
fn mails_are_tested_listed_and_retried_on_the_command_line() {
    let Some(mut smtp) = SmtpServer::start().unwrap() else { return };
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    drop(Server::start(folder, None));
    let refused = run(folder, None, &["mail", "list"]);
    assert!(stderr(&refused).contains("mail is not configured"), "{}", stderr(&refused));
    let doctor = |args: &[&str]| String::from_utf8(run(folder, None, args).stdout).unwrap();
    assert!(doctor(&["doctor"]).contains("mail: not configured"));
    let settings = format!("[mail]\nfrom = 'Our Site <site@example.org>'\nsmtp = '{}'\n", smtp.url());
    std::fs::write(folder.join("svc.toml"), settings).unwrap();
    let tested = run(folder, None, &["mail", "test", "ada@example.org"]);
    assert!(String::from_utf8_lossy(&tested.stdout).contains("has accepted the mail"), "{}", stderr(&tested));
    assert_eq!(smtp.wait_for("ada@example.org", 1)[0].header("subject"), "[A fresh site] Test");
    let refused = run(folder, None, &["mail", "test", "nobody@example.org"]);
    assert!(stderr(&refused).contains("there is no such user"), "{}", stderr(&refused));
    smtp.stop();
    let away = run(folder, None, &["mail", "test", "ada@example.org"]);
    assert!(stderr(&away).contains("has not accepted the mail"), "{}", stderr(&away));
    smtp.resume().unwrap();

    let server = Server::start(folder, None);
    let credentials = credentials(folder, None);
    for email in ["nobody@example.org", "other@example.org"] {
        let body = json!({"email": email});
        let (status, changed) = server.send("POST", "/svc-json/svc/v2/users/1", &credentials, Some(&body));
        assert_eq!(status, 200, "{changed}");
    }
    let began = Instant::now();
    let dead = loop {
        let list = doctor(&["mail", "list", "--state", "dead", "--json"]);
        let list: serde_json::Value = serde_json::from_str(&list).unwrap();
        if let Some(mail) = list.get(0) {
            break mail.clone();
        }
        assert!(began.elapsed() < PATIENCE);
        std::thread::sleep(Duration::from_millis(100));
    };
    assert_eq!((&dead["to"], &dead["attempts"]), (&json!("nobody@example.org"), &json!(1)), "{dead}");
    let summary = doctor(&["doctor"]);
    assert!(summary.contains("mail: from") && summary.contains("1 given up"), "{summary}");
    let number = dead["number"].to_string();
    assert!(doctor(&["mail", "retry", &number]).contains("1 mails wait"));
    assert!(!run(folder, None, &["mail", "retry", "999"]).status.success());

    let link = doctor(&["users", "reset-link", "admin"]);
    assert!(link.contains("/wp-login.php?login=admin&key=") && link.trim().ends_with("&action=rp"), "{link}");
}
