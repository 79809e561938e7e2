//! All pages pass the checks of axe-core in light and dark colours. Saves screenshots.
//!
//! axe-core is installed from the npm registry and is not part of the project. If it cannot be installed, the check
//! is skipped.

use std::{path::PathBuf, process::Command, sync::OnceLock};

use serde_json::{Value, json};
use svc_server::SiteBuilder;

use super::{Tab, browser, log_in, output, password, save_screenshot, skip};
use crate::{
    site::{Site, store},
    two_factor::App,
};

/// The pinned version; later versions may report more.
const AXE: &str = "axe-core@4.14.1";

/// The source of axe-core, installed once.
fn axe() -> Option<&'static str> {
    static SOURCE: OnceLock<Option<String>> = OnceLock::new();
    SOURCE
        .get_or_init(|| {
            let folder = output().join("npm");
            let file = folder.join("node_modules/axe-core/axe.min.js");
            if !file.is_file()
                && let Err(why) = install(&folder)
            {
                skip(&format!("{AXE} cannot be installed: {why}"));
                return None;
            }
            Some(std::fs::read_to_string(file).unwrap())
        })
        .as_deref()
}

fn install(folder: &PathBuf) -> Result<(), String> {
    std::fs::create_dir_all(folder).map_err(|e| e.to_string())?;
    let mut npm = Command::new("npm");
    npm.args(["install", "--no-save", "--ignore-scripts", "--no-audit", "--no-fund", "--prefix"]).arg(folder).arg(AXE);
    let done = npm.output().map_err(|e| format!("npm: {e}"))?;
    if done.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&done.stderr).into_owned()) }
}

/// The violations that axe-core finds on the page, one per line.
fn violations(tab: &mut Tab, axe: &str) -> Vec<String> {
    tab.eval(&format!("{axe}; null"));
    let found =
        tab.eval("axe.run(document).then(r => r.violations.map(v => [v.id, v.help, v.nodes.map(n => n.html)]))");
    let line = |violation: &Value| format!("{}: {} {}", violation[0], violation[1], violation[2]);
    found.as_array().unwrap().iter().map(line).collect()
}

/// The violations on the page; none if axe-core cannot be installed.
pub(super) fn violations_if_installed(tab: &mut Tab) -> Vec<String> {
    axe().map(|axe| violations(tab, axe)).unwrap_or_default()
}

/// The key of a link to set a new password.
const RESET_KEY: &str = "aVeryLongKeyOfLetters";

/// Stores [`RESET_KEY`] with the administrator.
fn store_reset_key(site: &Site) {
    let stored = svc_auth::reset_key::stored(RESET_KEY, chrono::Utc::now().timestamp());
    let change = move |tx: &mut svc_store::Tx| {
        let mut admin = svc_store::users::by_login(tx, "admin")?.unwrap();
        admin.activation_key.clone_from(&stored);
        svc_store::users::update(tx, &admin)
    };
    store(&site.folder).write_blocking(change).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_are_accessible() {
    let Some(mut browser) = browser() else { return };
    // Mail is configured, so that the page for lost passwords has its form.
    let settings = [("mail.from", "site@example.org"), ("mail.sendmail", "/nonexistent/sendmail")];
    let site = Site::start_in(tempfile::tempdir().unwrap(), &SiteBuilder::new(), &settings).await;
    let home = format!("http://{}", site.address);
    let password = password(&site);
    let set_up = svc_new_site::setup::offer(&store(&site.folder), chrono::Utc::now()).unwrap().unwrap();
    store_reset_key(&site);
    let post = site.get("/svc-json/svc/v2/posts/1?_fields=link").await.json()["link"].as_str().unwrap().to_owned();
    let axe = axe();
    let mut tab = browser.tab();
    let tab = &mut tab;
    let mut all = Vec::new();
    let mut check_page = |tab: &mut Tab, name: &str| {
        for scheme in ["light", "dark"] {
            let features = json!({"features": [{"name": "prefers-color-scheme", "value": scheme}]});
            tab.call("Emulation.setEmulatedMedia", features);
            if scheme == "light" {
                save_screenshot(tab, name);
            }
            let found = axe.map(|axe| violations(tab, axe)).unwrap_or_default();
            all.extend(found.into_iter().map(|violation| format!("{name}, {scheme}: {violation}")));
        }
        let wide = tab.eval("document.documentElement.scrollWidth > innerWidth");
        assert_eq!(wide, false, "{name} is wider than the window");
    };
    for (name, url) in [
        ("front-page", format!("{home}/")),
        ("post", post),
        ("archive", format!("{home}/category/how-to/")),
        ("not-found", format!("{home}/nosuch/")),
        ("search", format!("{home}/?s=notebook")),
        ("search-empty", format!("{home}/?s=nosuchword")),
        ("log-in", format!("{home}/wp-login.php")),
        ("logged-out", format!("{home}/wp-login.php?loggedout=true")),
        ("lost-password", format!("{home}/wp-login.php?action=lostpassword")),
        ("lost-password-expired", format!("{home}/wp-login.php?action=lostpassword&error=expiredkey")),
        ("lost-password-sent", format!("{home}/wp-login.php?checkemail=confirm")),
        ("set-up", format!("{home}/wp-admin/install.php?key={}", set_up.expose())),
        ("set-up-refused", format!("{home}/wp-admin/install.php?key=wrong")),
        ("reset-password", format!("{home}/wp-login.php?action=rp&login=admin&key={RESET_KEY}")),
    ] {
        tab.open(&url);
        check_page(tab, name);
    }
    tab.open(&format!("{home}/wp-admin/authorize-application.php?app_name=Notebook&success_url={home}/about/"));
    log_in(tab, "wrong");
    check_page(tab, "log-in-wrong");
    tab.fill("#user_pass", &password);
    tab.follow("#wp-submit");
    check_page(tab, "authorize");
    tab.follow("#approve");
    tab.open(&format!("{home}/wp-admin/authorize-application.php?app_name=Telephone"));
    tab.follow("#approve");
    check_page(tab, "approved");
    tab.open(&format!("{home}/wp-admin/profile.php"));
    check_page(tab, "profile");
    tab.open(&format!("{home}/wp-login.php?action=logout"));
    check_page(tab, "log-out");
    tab.open(&format!("{home}/wp-admin/two-factor.php"));
    check_page(tab, "two-factor");
    let key = tab.eval("document.querySelector('.offer code').textContent");
    let mut app = App::new(key.as_str().unwrap());
    tab.fill("#code", "1");
    tab.fill("#current_password", &password);
    tab.follow("#two-factor button");
    check_page(tab, "two-factor-wrong");
    tab.fill("#code", &app.code());
    tab.fill("#current_password", &password);
    tab.follow("#two-factor button");
    check_page(tab, "recovery-codes");
    tab.open(&format!("{home}/wp-admin/two-factor.php"));
    check_page(tab, "two-factor-on");
    tab.open(&format!("{home}/wp-login.php"));
    log_in(tab, &password);
    check_page(tab, "second-factor");
    tab.fill("#code", "1");
    tab.follow("#wp-submit");
    check_page(tab, "second-factor-wrong");
    assert!(all.is_empty(), "{}", all.join("\n"));
}
