//! What only a real browser shows: pages as people use them, and that nothing runs which should not.
//!
//! A headless Chromium is driven over its DevTools protocol. Where there is none, these tests say so and pass; where
//! `SVC_NEED_BROWSER` is set, as in continuous integration, that is a failure.

mod accounts;
mod chromium;
mod pages;
mod scripts;

use std::path::PathBuf;

pub(crate) use chromium::{Browser, Key, Tab};

/// Says why a test does not run, or fails where it has to.
fn skip(why: &str) {
    assert!(std::env::var_os("SVC_NEED_BROWSER").is_none(), "{why}");
    // Written past the test harness, so that it is seen without `--nocapture`.
    use std::io::Write;
    let _seen = writeln!(std::io::stderr(), "skipped: {why}");
}

/// A browser, or the reason why there is none.
fn browser() -> Option<Browser> {
    Browser::start().map_err(|why| skip(&why)).ok()
}

/// Folder of the build's output.
fn output() -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("browser")
}

/// Keeps a picture of the page, under this name.
fn picture(tab: &mut Tab, name: &str) {
    let folder = output().join("screenshots");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join(format!("{name}.png")), tab.screenshot()).unwrap();
}
