//! Tests in a real browser: pages as users see them, and scripts that must not run.
//!
//! The tests control a headless Chromium over its DevTools protocol. If it is not installed, they report that and
//! pass, unless `SVC_NEED_BROWSER` is set, as in continuous integration.

mod accounts;
mod admin;
mod chromium;
mod explorer;
mod first_hour;
mod journeys;
mod menus;
mod once;
mod pages;
mod passkeys;
mod scripts;
mod tutorial;

use std::path::PathBuf;

use serde_json::json;

use crate::site::Site;

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
    let image = tab.screenshot();
    write_screenshot(name, &image);
}

fn write_screenshot(name: &str, image: &[u8]) {
    let folder = output().join("screenshots");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join(format!("{name}.png")), image).unwrap();
}

/// The printed password of a new site's administrator.
fn password(site: &Site) -> String {
    site.created.as_ref().expect("a new site").password.expose().to_owned()
}

/// Logs in as the administrator with the form of the open page.
#[track_caller]
fn log_in(tab: &mut Tab, password: &str) {
    tab.fill("#user_login", "admin");
    tab.fill("#user_pass", password);
    tab.follow("#wp-submit");
}

/// Whether no transition runs, in the page or in a shadow tree.
const NO_TRANSITION: &str = "(() => { const roots = [document];
    for (const root of roots) for (const e of root.querySelectorAll('*')) if (e.shadowRoot) roots.push(e.shadowRoot);
    return roots.every(root => root.getAnimations().every(a => !(a instanceof CSSTransition) || a.playState !== 'running')); })()";

/// Asserts that a page has no violation and is not too wide, and saves screenshots of it: narrow and wide, light and dark.
#[track_caller]
fn check_page(tab: &mut Tab, name: &str) {
    for (width, height) in [(390, 844), (1280, 900)] {
        let size = json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false});
        tab.call("Emulation.setDeviceMetricsOverride", size);
        assert_accessible(tab, &format!("{name} at {width}"));
        assert_eq!(tab.eval("document.documentElement.scrollWidth > innerWidth"), false, "{name} is too wide");
        for scheme in ["light", "dark"] {
            let features = json!({"features": [{"name": "prefers-color-scheme", "value": scheme}]});
            tab.call("Emulation.setEmulatedMedia", features);
            tab.wait_for(NO_TRANSITION);
            let image = tab.screenshot_of_page();
            write_screenshot(&format!("{name}-{width}-{scheme}"), &image);
        }
    }
    tab.call("Emulation.setEmulatedMedia", json!({"features": []}));
    tab.call("Emulation.clearDeviceMetricsOverride", json!({}));
}

/// Asserts that axe-core finds no violation on the page in light and dark colors.
#[track_caller]
fn assert_accessible(tab: &mut Tab, name: &str) {
    for scheme in ["light", "dark"] {
        let features = json!({"features": [{"name": "prefers-color-scheme", "value": scheme}]});
        tab.call("Emulation.setEmulatedMedia", features);
        // Controls fade to their new colors: the second frame has begun all transitions.
        tab.eval("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))");
        tab.wait_for(NO_TRANSITION);
        assert_eq!(pages::violations_if_installed(tab), [""; 0], "{name}, {scheme}");
    }
    tab.call("Emulation.setEmulatedMedia", json!({"features": []}));
}
