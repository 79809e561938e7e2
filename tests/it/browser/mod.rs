//! Tests in a real browser: pages as users see them, and scripts that must not run.
//!
//! The tests control a headless Chromium over its DevTools protocol. If it is not installed, they report that and
//! pass, unless `SVC_NEED_BROWSER` is set, as in continuous integration.

mod accounts;
mod chromium;
mod explorer;
mod pages;
mod scripts;
mod tutorial;

use std::path::PathBuf;

pub(crate) use chromium::{Browser, Key, Tab};

/// Reports why a test is skipped, or fails if skipping is not allowed.
fn skip(why: &str) {
    assert!(std::env::var_os("SVC_NEED_BROWSER").is_none(), "{why}");
    // The test harness does not capture this, so it is visible without `--nocapture`.
    use std::io::Write;
    let _seen = writeln!(std::io::stderr(), "skipped: {why}");
}

/// Starts a browser; `None` if the test must be skipped.
fn browser() -> Option<Browser> {
    Browser::start().map_err(|why| skip(&why)).ok()
}

/// Directory for the tests' output.
fn output() -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("browser")
}

/// Saves a screenshot under this name.
fn save_screenshot(tab: &mut Tab, name: &str) {
    let folder = output().join("screenshots");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join(format!("{name}.png")), tab.screenshot()).unwrap();
}
