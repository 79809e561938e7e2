//! Tests in a real browser: the pages as users see them, and that no injected script runs.
//!
//! A headless Chromium is driven over its DevTools protocol. Without one, these tests are skipped; with `SVC_NEED_BROWSER`, as
//! in CI, they fail.

mod accounts;
mod chromium;
mod pages;
mod scripts;

use std::path::PathBuf;

pub(crate) use chromium::{Browser, Key, Tab};

/// Reports a skipped test, or fails if it is required.
fn skip(why: &str) {
    assert!(std::env::var_os("SVC_NEED_BROWSER").is_none(), "{why}");
    // Written to standard error directly, so that it is shown without `--nocapture`.
    use std::io::Write;
    let _seen = writeln!(std::io::stderr(), "skipped: {why}");
}

/// Starts a browser, or skips the test.
fn browser() -> Option<Browser> {
    Browser::start().map_err(|why| skip(&why)).ok()
}

/// Folder for output files.
fn output() -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("browser")
}

/// Stores a screenshot of the page.
fn screenshot(tab: &mut Tab, name: &str) {
    let folder = output().join("screenshots");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join(format!("{name}.png")), tab.screenshot()).unwrap();
}
