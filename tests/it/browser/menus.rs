//! The menus in a browser: of themes with menu locations, and of blocks.

use serde_json::json;
use svc_server::SiteBuilder;

use super::{Key, Tab, admin::dashboard, browser, check_page};
use crate::site::Site;

/// Adds a link with the form of the page.
fn add_link(tab: &mut Tab, label: &str, url: &str) {
    tab.fill("#new-label", label);
    tab.fill("[name=new-url]", url);
    tab.follow("button[value=add-link]");
}

/// The values of the fields with labels.
fn labels(tab: &mut Tab) -> String {
    let labels = tab.eval("[...document.querySelectorAll('[name^=label-]')].map(field => field.value).join('|')");
    labels.as_str().unwrap().to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn menus_are_made_at_every_width() {
    let Some(mut browser) = browser() else { return };
    let builder = SiteBuilder::new().prepare(|setup| {
        for (name, description) in [("primary", "Header"), ("footer", "Footer, below the address")] {
            setup.registries.menu_locations.insert(name.to_owned(), description.to_owned());
        }
    });
    let site = Site::start_in(tempfile::tempdir().unwrap(), &builder, &[]).await;
    let admin = site.app_password();
    let mut tab = browser.tab();
    let tab = &mut tab;
    let home = dashboard(tab, &site);
    let page = format!("{home}/wp-admin/nav-menus.php");

    tab.open(&page);
    check_page(tab, "menu-classic-none");
    tab.fill("#new-name", "Main menu");
    tab.follow("button[value=create]");
    check_page(tab, "menu-classic-empty");
    tab.follow("button[value=add-page]");
    for (label, url) in
        [("Our boats", "/boats/"), ("Rivers and lakes where we sail in summer", "https://example.org/a/b/c?d=e")]
    {
        add_link(tab, label, url);
    }
    tab.follow("[aria-label='Move below the entry before: Our boats']");
    tab.click("[name=location]");
    tab.follow(".buttons .main");
    assert_eq!(labels(tab), "About|Our boats|Rivers and lakes where we sail in summer");
    check_page(tab, "menu-classic");

    // Somebody adds an entry meanwhile.
    let menu: i64 = tab
        .eval("Number(document.querySelector('.menu-form').getAttribute('action').split('menu=')[1])")
        .as_i64()
        .unwrap();
    let item = json!({"title": "News", "url": "https://example.org/news", "menus": menu, "menu_order": 9, "status": "publish"});
    assert_eq!(site.post("/svc-json/svc/v2/menu-items", &admin, &item).await.status, 201);
    let first = "[name^=label-]";
    tab.fill(first, "About our club");
    tab.follow(".buttons .main");
    assert!(tab.text().contains("changed elsewhere"), "{}", tab.text());
    let typed = tab.eval("document.getElementById('typed').value");
    assert!(typed.as_str().unwrap().contains("About our club"), "{typed}");
    assert_eq!(labels(tab), "About|Our boats|Rivers and lakes where we sail in summer|News");
    check_page(tab, "menu-classic-changed");
    // What was typed is typed again, and stored.
    tab.fill(first, "About our club");
    tab.follow(".buttons .main");
    assert!(tab.text().contains("Saved."), "{}", tab.text());
    assert!(labels(tab).starts_with("About our club|Our boats"));
    // With the keyboard: Enter in a field saves, and each button can be reached and is visible then.
    tab.eval("(field => { field.focus(); field.setSelectionRange(99, 99) })(document.querySelector('[name^=label-]'))");
    tab.type_text("!");
    tab.follow_key(Key::Enter);
    assert!(tab.text().contains("Saved.") && labels(tab).starts_with("About our club!|"), "{}", labels(tab));
    tab.eval("document.querySelector('[name^=label-]').focus()");
    let down = "Move down: About our club!";
    for n in 0.. {
        assert!(n < 10, "the button is reached");
        tab.press(Key::Tab);
        if tab.eval("document.activeElement.ariaLabel") == down {
            break;
        }
    }
    assert_ne!(tab.eval("getComputedStyle(document.activeElement).outlineStyle"), "none");
    tab.follow_key(Key::Enter);
    assert!(
        labels(tab).starts_with("Rivers and lakes where we sail in summer|About our club!|Our boats"),
        "{}",
        labels(tab)
    );
    tab.fill("#new-name", "Second menu");
    tab.follow("button[value=create]");
    check_page(tab, "menu-classic-second");

    tab.open(&format!("{page}?kind=blocks"));
    check_page(tab, "menu-blocks-none");
    tab.follow("button[value=create]");
    add_link(tab, "Our boats", "/boats/");
    tab.follow("[aria-label='Move below the entry before: Our boats']");
    check_page(tab, "menu-blocks");
}
