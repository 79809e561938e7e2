//! A continuous backup that the server encrypts, and the commands that decrypt it.

use std::{
    fs,
    path::Path,
    process::Command,
    time::{Duration, Instant},
};

use serde_json::json;

use crate::process::{POSTS, Server, command, credentials, run, stderr};

/// Makes a key with the program of age, and returns its public part; `None` if it is not installed.
fn key(folder: &Path, name: &str) -> Option<String> {
    let path = folder.join(name);
    let made = Command::new("age-keygen").arg("-o").arg(&path).output().ok()?;
    assert!(made.status.success());
    let text = fs::read_to_string(&path).unwrap();
    Some(text.lines().find_map(|line| line.strip_prefix("# public key: ")).unwrap().to_owned())
}

#[test]
fn a_site_is_restored_from_an_encrypted_backup() {
    let root = tempfile::tempdir().unwrap();
    let folder = root.path();
    let (Some(public), Some(_)) = (key(folder, "key.txt"), key(folder, "other.txt")) else {
        let _lost = std::io::Write::write_all(&mut std::io::stderr(), b"skipped: age-keygen is not installed\n");
        return;
    };
    let settings = |recipients: &str| {
        let text = format!("[backup]\nto = \"backup\"\ninterval = \"100ms\"\nrecipients = [{recipients}]\n");
        fs::write(folder.join("svc.toml"), text).unwrap();
    };
    settings("");
    let server = Server::start(folder, None);
    let user = credentials(folder, None);
    let post = |server: &Server, title: &str| {
        let post = json!({"title": title, "content": "VerySecretText", "status": "private"});
        assert_eq!(server.send("POST", POSTS, &user, Some(&post)).0, 201);
    };
    post(&server, "plain");
    server.stop();
    let examined = || String::from_utf8(run(folder, None, &["doctor"]).stdout).unwrap();
    assert!(examined().contains("generations; not encrypted\n"), "{}", examined());

    settings(&format!("\"{public}\""));
    assert!(examined().contains("not yet encrypted for the keys of backup.recipients"), "{}", examined());
    let server = Server::start(folder, None);
    post(&server, "encrypted");
    let begun = Instant::now();
    while !examined().contains("; encrypted for the 1 keys of backup.recipients; 1 earlier snapshots, which are not") {
        assert!(begun.elapsed() < Duration::from_secs(60), "{}", examined());
        std::thread::sleep(Duration::from_millis(200));
    }
    server.stop();

    let restore = |to: &str, identity: &[&str]| {
        run(folder, None, &[&["restore", "--at", "latest", "--to", to], identity].concat())
    };
    for (identity, why) in [
        (&[][..], "is encrypted: name the file with the secret key with --identity"),
        (&["--identity", "other.txt"], "none of the given secret keys decrypts"),
        (&["--identity", "svc.toml"], "svc.toml: "),
    ] {
        let out = restore("restored", identity);
        assert!(!out.status.success() && stderr(&out).contains(why), "{}", stderr(&out));
        let left =
            fs::read_dir(folder).unwrap().flatten().any(|at| at.file_name().to_string_lossy().contains("restored"));
        assert!(!left, "nothing is written");
    }
    let out = restore("restored", &["--identity", "key.txt"]);
    assert!(out.status.success(), "{}", stderr(&out));
    let served =
        command(folder, None, &["--data", "restored", "--backup-to", "other", "--listen", "127.0.0.1:0", "serve"]);
    let server = Server::spawn(served).unwrap();
    let (_, posts) = server.send("GET", &format!("{POSTS}?status=private&_fields=title"), &user, None);
    let posts = posts.to_string();
    assert!(posts.contains("plain") && posts.contains("encrypted"), "{posts}");
    server.stop();

    let verify = |identity: &[&str]| run(folder, None, &[&["backup", "verify"], identity].concat());
    let (blind, whole) = (verify(&[]), verify(&["--identity", "key.txt"]));
    let text = String::from_utf8(blind.stdout).unwrap();
    assert!(blind.status.success() && text.contains("their content was not checked"), "{text}");
    assert!(whole.status.success() && !String::from_utf8(whole.stdout).unwrap().contains("not checked"));
    let wrong = verify(&["--identity", "other.txt"]);
    assert!(!wrong.status.success() && stderr(&wrong).contains("none of the given secret keys"), "{}", stderr(&wrong));
}
