//! The tests of the post editor's script, by Node.js.

use std::{path::Path, process::Command};

use super::skip;

/// Oldest version of Node.js that runs the tests: major and minor.
const OLDEST: (u32, u32) = (20, 19);

/// The version of Node.js; `None` if it is not installed.
fn node() -> Option<(u32, u32)> {
    let output = Command::new("node").arg("--version").output().ok()?;
    let version = String::from_utf8_lossy(&output.stdout).trim().trim_start_matches('v').to_owned();
    let mut numbers = version.split('.').map_while(|number| number.parse().ok());
    Some((numbers.next()?, numbers.next()?))
}

fn npm(folder: &Path, arguments: &[&str]) -> Result<(), String> {
    let done = Command::new("npm").args(arguments).current_dir(folder).output().map_err(|e| format!("npm: {e}"))?;
    let output = format!("{}{}", String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr));
    if done.status.success() { Ok(()) } else { Err(output) }
}

#[test]
fn the_editor_passes_its_tests() {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../crates/svc-admin/editor"));
    match node() {
        None => return skip("the post editor", "node: not found"),
        // Debian 12 has an older one.
        Some(version) if version < OLDEST => {
            return eprintln!("skipped: the post editor needs Node.js {}.{}", OLDEST.0, OLDEST.1);
        }
        Some(_) => {}
    }
    if !folder.join("node_modules/prosemirror-view").is_dir()
        && let Err(why) = npm(folder, &["ci", "--ignore-scripts", "--no-audit", "--no-fund"])
    {
        return skip("the post editor", &why);
    }
    // The scripts of esbuild's package only check that its program fits the system.
    if let Err(output) = npm(folder, &["test"]) {
        panic!("{output}");
    }
}
