//! What a person does who has never used the admin, from the first page on: by what the pages show, in the order in which they
//! would. Each step is kept as pictures at two widths and in both colour schemes (`docs/screenshots/journeys`).

use std::sync::atomic::{AtomicI64, Ordering};

use serde_json::json;
use svc_server::SiteBuilder;

use super::{
    NO_TRANSITION, Tab,
    admin::{dashboard, save, set_width, wait_for_editor},
    browser, output,
};
use crate::site::Site;

/// Saves pictures of the page under this name.
fn picture(tab: &mut Tab, name: &str) {
    let folder = output().join("screenshots/journeys");
    std::fs::create_dir_all(&folder).unwrap();
    for (scheme, width) in [("light", 1280), ("dark", 1280), ("light", 390), ("dark", 390)] {
        set_width(tab, width);
        let features = json!({"features": [{"name": "prefers-color-scheme", "value": scheme}]});
        tab.call("Emulation.setEmulatedMedia", features);
        tab.eval("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))");
        tab.wait_for(NO_TRANSITION);
        tab.eval("scrollTo(0, 0)");
        std::fs::write(folder.join(format!("{name}-{width}-{scheme}.webp")), tab.screenshot_as("webp")).unwrap();
    }
    tab.call("Emulation.setEmulatedMedia", json!({"features": []}));
    set_width(tab, 1280);
}

/// Pastes a picture into the text, as if it had been copied elsewhere.
fn paste_picture(tab: &mut Tab, name: &str) {
    tab.eval(&format!(
        "(async () => {{
            const canvas = Object.assign(document.createElement('canvas'), {{ width: 960, height: 540 }});
            const pen = canvas.getContext('2d');
            const sky = pen.createLinearGradient(0, 0, 0, 540);
            [[0, '#f6c48b'], [.55, '#e98a6b'], [.56, '#41627c'], [1, '#1d3344']].forEach(([at, colour]) => sky.addColorStop(at, colour));
            pen.fillStyle = sky; pen.fillRect(0, 0, 960, 540);
            pen.fillStyle = '#fff3d6'; pen.beginPath(); pen.arc(620, 250, 46, 0, 7); pen.fill();
            const blob = await new Promise(done => canvas.toBlob(done, 'image/jpeg', .9));
            const data = new DataTransfer();
            data.items.add(new File([blob], '{name}', {{ type: 'image/jpeg' }}));
            const event = new ClipboardEvent('paste', {{ clipboardData: data, bubbles: true, cancelable: true }});
            document.querySelector('.ProseMirror').dispatchEvent(event);
        }})()"
    ));
}

/// The posts with this title, as an administrator reads them.
async fn post(site: &Site, admin: &str, title: &str) -> serde_json::Value {
    let path = format!("/svc-json/svc/v2/posts?context=edit&status=any&search={}", title.replace(' ', "+"));
    let headers = [("Authorization", &*crate::site::basic(admin))];
    crate::client::send(site.address, "GET", &path, &headers, "").await.json()[0].clone()
}

/// Begins a new post from the dashboard.
fn begin_post(tab: &mut Tab, title: &str, words: &str) {
    tab.follow(".new a");
    wait_for_editor(tab);
    tab.fill("#title", title);
    tab.eval("document.querySelector('.ProseMirror').focus()");
    tab.type_text(words);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_post_is_written_illustrated_and_scheduled() {
    let Some(mut browser) = browser() else { return };
    let site = Site::start().await;
    let admin = site.app_password();
    let mut tab = browser.tab();
    let tab = &mut tab;
    dashboard(tab, &site);
    picture(tab, "1-dashboard");
    begin_post(tab, "An evening at the harbour", "The last boat came in at nine. ");
    paste_picture(tab, "evening.jpg");
    tab.wait_for("!!document.querySelector('figure input')");
    // The page asks for the text that describes the picture.
    tab.fill("figure input", "The sun above the sea");
    tab.wait_for("/uploads\\//.test(document.querySelector('figure img')?.src)");
    picture(tab, "2-write");
    save(tab, "Draft saved.");
    tab.click("#beside");
    tab.wait_for("!!document.querySelector('.stage iframe:not(.loading)')");
    picture(tab, "live-preview");
    tab.click(".widths button:last-child");
    // A week from now; a new site's time zone is UTC.
    let date = tab.eval(
        "(() => {
            const field = document.getElementById('f-date');
            field.value = new Date(Date.now() + 7 * 86400e3).toISOString().slice(0, 11) + '09:00:00';
            field.dispatchEvent(new Event('input', { bubbles: true }));
            return field.value.length === 16 ? field.value + ':00' : field.value;
        })()",
    );
    tab.follow("button[value=publish]");
    assert!(tab.text().contains("Scheduled"), "{}", tab.text());
    picture(tab, "3-scheduled");
    let stored = post(&site, &admin, "An evening at the harbour").await;
    assert_eq!((&stored["status"], &stored["date"]), (&json!("future"), &date));
    let content = stored["content"]["raw"].as_str().unwrap();
    assert!(content.contains("The last boat came in at nine."), "{content}");
    assert!(
        content.contains("<!-- wp:image {\"id\":") && content.contains("alt=\"The sun above the sea\""),
        "{content}"
    );
}

/// Days that the clock of [`last_weeks_version_is_found`] is behind.
static DAYS_BEHIND: AtomicI64 = AtomicI64::new(7);

#[tokio::test(flavor = "multi_thread")]
async fn last_weeks_version_is_found() {
    let Some(mut browser) = browser() else { return };
    let clock = || (chrono::Utc::now() - chrono::TimeDelta::days(DAYS_BEHIND.load(Ordering::Relaxed))).naive_utc();
    let site = Site::start_in(tempfile::tempdir().unwrap(), &SiteBuilder::new().clock(clock), &[]).await;
    let admin = site.app_password();
    let mut tab = browser.tab();
    let tab = &mut tab;
    let home = dashboard(tab, &site);
    begin_post(tab, "Opening hours", "We open at eight.");
    save(tab, "Draft saved.");
    tab.follow("button[value=publish]");
    let last_week = clock().format("%Y-%m-%d").to_string();
    // A week later the session has ended. The post is found again by its name, and corrected.
    DAYS_BEHIND.store(0, Ordering::Relaxed);
    dashboard(tab, &site);
    tab.open(&format!("{home}/wp-admin/edit.php"));
    tab.eval("document.querySelector('[data-search]').focus()");
    tab.type_text("opening");
    tab.wait_for("document.querySelectorAll('tbody tr').length === 1");
    picture(tab, "4-find");
    tab.follow("td.name a");
    wait_for_editor(tab);
    tab.eval("(() => { const text = document.querySelector('.ProseMirror p').firstChild; getSelection().setBaseAndExtent(text, 0, text, text.length); })()");
    tab.eval("document.querySelector('.ProseMirror').focus()");
    tab.type_text("We are closed.");
    save(tab, "Saved.");
    let address = post(&site, &admin, "Opening hours").await["link"].as_str().unwrap().replace(&home, "");
    let page = site.get(&address).await.body;
    assert!(page.contains("We are closed."), "{address}: {page}");
    // That was a mistake: last week's version.
    tab.follow(".panel a[href*='revision.php']");
    picture(tab, "5-versions");
    let link = ".revisions nav li:nth-child(2) a";
    let date = tab.eval(&format!("document.querySelector(\"{link}\").textContent"));
    assert!(date.as_str().unwrap().starts_with(&last_week), "{date} {last_week}");
    tab.follow(link);
    assert!(tab.text().contains("We open at eight."), "{}", tab.text());
    tab.follow("button[value=restore]");
    assert!(tab.text().contains("The revision has been restored."), "{}", tab.text());
    let content = post(&site, &admin, "Opening hours").await["content"]["raw"].clone();
    assert!(content.as_str().unwrap().contains("We open at eight."), "{content}");
    assert!(site.get(&address).await.body.contains("We open at eight."));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_comment_is_answered() {
    let Some(mut browser) = browser() else { return };
    let site = Site::start().await;
    let admin = site.app_password();
    let comment = json!({"post": 1, "content": "Is the café open in winter?", "author_name": "Ada", "author_email": "ada@example.org", "status": "hold"});
    assert_eq!(site.post("/svc-json/svc/v2/comments", &admin, &comment).await.status, 201);
    let mut tab = browser.tab();
    let tab = &mut tab;
    dashboard(tab, &site);
    // The dashboard says that it waits.
    tab.follow(".note a");
    picture(tab, "6-comments");
    tab.follow("button[name=approve]");
    tab.follow("nav a[href$='edit-comments.php']");
    tab.click(".reply summary");
    tab.fill(".reply textarea", "Yes, every Sunday.");
    tab.follow(".reply button");
    let comments = site.get("/svc-json/svc/v2/comments?post=1").await.json();
    let texts: Vec<&str> =
        comments.as_array().unwrap().iter().map(|c| c["content"]["rendered"].as_str().unwrap()).collect();
    assert!(texts.iter().any(|text| text.contains("winter")), "{texts:?}");
    assert!(texts.iter().any(|text| text.contains("every Sunday")), "{texts:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_category_and_a_menu_entry_are_made() {
    let Some(mut browser) = browser() else { return };
    let site = Site::start().await;
    let mut tab = browser.tab();
    let tab = &mut tab;
    let home = dashboard(tab, &site);
    tab.follow("nav a[href$='edit.php']");
    tab.follow("nav a[href*='taxonomy=category']");
    tab.fill("#f-name", "Boats");
    picture(tab, "7-category");
    tab.follow(".record button.main");
    assert!(tab.text().contains("Created."), "{}", tab.text());
    tab.follow("nav a[href$='nav-menus.php']");
    tab.follow("button[value=create]");
    tab.fill("#new-label", "All boats");
    tab.fill("[name=new-url]", "/category/boats/");
    tab.follow("button[value=add-link]");
    picture(tab, "8-menu");
    tab.open(&home);
    tab.follow(".site-menu li:last-child a");
    assert_eq!(tab.url(), format!("{home}/category/boats/"));
    picture(tab, "9-site");
}
