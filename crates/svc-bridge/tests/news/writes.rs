//! What the connector says that a statement writes, compared with the rows that change.
//!
//! `SVC_TEST_STATEMENTS` is the number of statements, `SVC_TEST_SEED` the seed.

use std::process::Command;

use crate::server::Server;

#[test]
fn each_row_that_changes_is_named() {
    // Nothing has to survive a crash.
    let options = ["--skip-log-bin", "--innodb-flush-log-at-trx-commit=0"];
    let Some(server) = Server::start(&options) else { return };
    let number = |variable: &str, default: &str| std::env::var(variable).unwrap_or_else(|_| default.to_owned());
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/connector/test_writes.php");
    let output = Command::new("php")
        .arg(script)
        .arg(server.socket())
        .args([number("SVC_TEST_STATEMENTS", "2000"), number("SVC_TEST_SEED", "1")])
        .output();
    let output = match output {
        Ok(output) if output.status.code() != Some(2) => output,
        missing => {
            assert!(std::env::var_os("SVC_NEED_CLIENTS").is_none(), "PHP with mysqli is needed: {missing:?}");
            eprintln!("skipped: there is no PHP with mysqli");
            return;
        }
    };
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && text.ends_with("ok\n"), "{text}{}", String::from_utf8_lossy(&output.stderr));
}
