//! The connector's own tests, with PHP. Skipped if it is not installed, unless `SVC_NEED_CLIENTS` is set.

use std::process::Command;

/// The names of parts of the database that statements write, as `connector/statements.txt` lists them.
#[test]
fn the_connector_names_what_statements_write() {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/connector/test.php");
    let output = match Command::new("php").arg(script).output() {
        Ok(output) => output,
        Err(error) => {
            assert!(std::env::var_os("SVC_NEED_CLIENTS").is_none(), "PHP is needed: {error}");
            eprintln!("skipped: PHP cannot be run ({error})");
            return;
        }
    };
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && text.ends_with("ok\n"), "{text}{}", String::from_utf8_lossy(&output.stderr));
}
