//! Pages that show something once after a form: a reload sends no form again.

use super::{Tab, admin::dashboard, browser, check_page};
use crate::site::Site;

/// The text of an element; empty without it.
fn text_of(tab: &mut Tab, selector: &str) -> String {
    let text = tab.eval(&format!("(e => e ? e.value ?? e.textContent : '')(document.querySelector('{selector}'))"));
    text.as_str().unwrap().to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_created_is_shown_until_the_page_is_reloaded() {
    let Some(mut browser) = browser() else { return };
    let site =
        Site::start_in(tempfile::tempdir().unwrap(), &svc_server::SiteBuilder::new(), &[("change_log", "10000")]).await;
    let mut tab = browser.tab();
    let tab = &mut tab;
    let home = dashboard(tab, &site);

    tab.open(&format!("{home}/wp-admin/webhooks.php"));
    tab.fill("[name=url]", "https://front.example/hook");
    tab.follow("form.record button.main");
    let secret = text_of(tab, "#secret");
    assert!(secret.starts_with("whsec_"), "{secret}");
    check_page(tab, "once-webhook");
    tab.reload();
    assert_eq!(text_of(tab, "#secret"), "");
    assert!(tab.text().contains("signed with 1 secret,"), "{}", tab.text());
    tab.open(&format!("{home}/wp-admin/webhooks.php"));
    assert_eq!(tab.eval("document.querySelectorAll('tbody tr').length"), 1);
    check_page(tab, "once-webhooks");

    tab.open(&format!("{home}/wp-admin/authorize-application.php?app_name=Notebook"));
    check_page(tab, "once-authorize");
    tab.follow("#approve");
    assert_eq!(text_of(tab, "#new-password").replace(' ', "").len(), 24);
    check_page(tab, "once-approved");
    tab.reload();
    assert!(tab.url().ends_with("/wp-admin/profile.php"), "{}", tab.url());
    assert_eq!(tab.eval("document.querySelectorAll('[name=uuid]').length"), 1);
    check_page(tab, "once-profile");

    // The editor opens the page of the link in another tab.
    tab.open(&format!("{home}/wp-admin/post.php?post=1&action=edit"));
    tab.eval("document.getElementById('preview-link-form').removeAttribute('target')");
    tab.eval("document.querySelector('[value=preview-link]').scrollIntoView()");
    tab.follow("[value=preview-link]");
    assert!(text_of(tab, "#preview-link").contains("preview_token="), "{}", tab.text());
    check_page(tab, "once-link");
    tab.reload();
    assert!(tab.text().contains("Create another one in the editor."), "{}", tab.text());
    check_page(tab, "once-link-gone");
}
