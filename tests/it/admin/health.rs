//! Site health: an administrator runs the tests; the status page and the dashboard show what was found.

use super::*;

const STATUS: &str = "/wp-admin/site-health.php";

#[tokio::test(flavor = "multi_thread")]
async fn an_administrator_checks_the_health_of_the_site() {
    let site = Site::start().await;
    let mut visitor = logged_in(&site, "admin").await;
    for page in ["/wp-admin/", STATUS] {
        let shown = visitor.get(page).await.body;
        assert!(shown.contains("since the server was started."), "{page}: {shown}");
    }
    let checked = submit(&mut visitor, STATUS, &[("action", "check")], false).await;
    assert_eq!(checked.status, 302, "{}", checked.body);
    let shown = visitor.get(STATUS).await.body;
    for finding in ["The site can reach itself", "The site does not use HTTPS"] {
        assert!(shown.contains(finding), "{finding}: {shown}");
    }
    assert!(visitor.get("/wp-admin/").await.body.contains("recommendation"));
}

#[tokio::test(flavor = "multi_thread")]
async fn others_neither_see_nor_check_it() {
    let site = Site::start().await;
    let mut admin = logged_in(&site, "admin").await;
    submit(&mut admin, STATUS, &[("action", "check")], false).await;
    user(&site, &site.app_password(), "editor", "editor").await;
    let mut editor = logged_in(&site, "editor").await;
    assert!(!editor.get("/wp-admin/").await.body.contains("Site health"));
    assert_eq!(editor.get(STATUS).await.status, 403);
    let nonce = field(&editor.get("/wp-admin/post-new.php").await.body, "_svcnonce");
    let refused = editor.request("POST", STATUS, &[FORM], &format!("_svcnonce={nonce}&action=check")).await;
    assert_eq!(refused.status, 403, "{}", refused.body);
}
