//! Webhooks in the admin: the secret is shown once, deliveries are seen and sent again, and errors keep what was typed.

use std::collections::HashSet;

use super::*;
use crate::webhooks::Receiver;

const LIST: &str = "/wp-admin/webhooks.php";

async fn start(settings: &[(&str, &str)]) -> Site {
    let settings = [&[("outgoing.allow", "127.0.0.0/8")], settings].concat();
    Site::start_in(tempfile::tempdir().unwrap(), &SiteBuilder::new(), &settings).await
}

/// The path of the page of the only webhook in the list.
async fn only_one(visitor: &mut Visitor<'_>) -> String {
    let list = visitor.get(LIST).await.body;
    let links: Vec<&str> = list.split("webhook.php?id=").skip(1).map(|rest| rest.split('"').next().unwrap()).collect();
    assert_eq!(links.len(), 1, "{list}");
    format!("/wp-admin/webhook.php?id={}", links[0])
}

/// The secret on the page to which a form leads. A reload of the page neither shows it again nor makes another one.
async fn shown_once(visitor: &mut Visitor<'_>, response: &HttpResponse) -> String {
    let page = visitor.follow(response).await;
    assert_eq!(page.status, 200, "{}", page.body);
    assert!(page.header("cache-control").contains("no-store"));
    let secret = page.body.split("value=\"whsec_").nth(1).expect("a secret").split('"').next().unwrap().to_owned();
    assert!(!format!("{response:?}").contains(&secret), "the secret is neither in the URL nor readable in the cookie");
    let again = visitor.follow(response).await.body;
    assert!(!again.contains("whsec_"), "{again}");
    let signed = |page: &str| page.split("signed with ").nth(1).unwrap().split(',').next().unwrap().to_owned();
    assert_eq!(signed(&again), signed(&page.body), "no further secret");
    secret
}

/// The page once its deliveries have this state this number of times.
async fn with_deliveries(visitor: &mut Visitor<'_>, page: &str, state: &str, n: usize) -> String {
    for _ in 0..1_500 {
        let body = visitor.get(page).await.body;
        if body.matches(&format!("<td data-label=\"State\">{state}")).count() == n {
            return body;
        }
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    panic!("{n} deliveries expected: {state}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_webhook_is_created_tested_changed_and_deleted() {
    let receiver = Receiver::start(&["200 OK"]).await;
    let site = start(&[("change_log", "10000")]).await;
    let mut visitor = logged_in(&site, "admin").await;
    assert!(visitor.get(LIST).await.body.contains("No webhooks yet."));
    let name = "<script>alert(1)</script>";
    let url = receiver.url();
    let fields = [
        ("action", "save"),
        ("url", &*url),
        ("name", name),
        ("events", "post.*\r\n\r\n term.created "),
        ("active", "1"),
    ];
    let created = submit(&mut visitor, LIST, &fields, false).await;
    let mut secrets = HashSet::from([shown_once(&mut visitor, &created).await]);
    let page = only_one(&mut visitor).await;
    let shown = visitor.get(&page).await.body;
    assert!(!shown.contains(name), "{shown}");
    assert!(shown.contains("post.*\nterm.created</textarea>") && shown.contains("No deliveries."), "{shown}");

    assert_eq!(submit(&mut visitor, &page, &[("action", "test")], false).await.status, 302);
    receiver.wait_for(1).await;
    let shown = with_deliveries(&mut visitor, &page, "Delivered", 1).await;
    let number = shown.split("name=\"replay\" value=\"").nth(1).unwrap().split('"').next().unwrap();
    assert_eq!(submit(&mut visitor, &page, &[("replay", number)], false).await.status, 302);
    let received = receiver.wait_for(2).await;
    assert_ne!(received[0].header("webhook-id"), received[1].header("webhook-id"));
    with_deliveries(&mut visitor, &page, "Delivered", 2).await;
    with_deliveries(&mut visitor, &format!("{page}&state=dead"), "Delivered", 0).await;

    // A new secret is shown once, beside the first or instead of both.
    for (action, n) in [("add-secret", "2 secrets"), ("replace-secret", "1 secret,")] {
        let rotated = submit(&mut visitor, &page, &[("action", action)], false).await;
        assert!(secrets.insert(shown_once(&mut visitor, &rotated).await), "{action}");
        assert!(visitor.get(&page).await.body.contains(n), "{action}");
    }
    // Rejected values stay in the form, and nothing is changed.
    let wrong = [("action", "save"), ("url", "ftp://x/"), ("name", "typed"), ("events", "post.gone"), ("active", "")];
    let rejected = submit(&mut visitor, &page, &wrong, false).await;
    assert_eq!(rejected.status, 400);
    assert!(rejected.body.contains("value=\"typed\"") && rejected.body.contains("post.gone</textarea>"));
    assert!(rejected.body.contains("role=\"alert\""), "{}", rejected.body);
    assert!(visitor.get(&page).await.body.contains(&url));
    let off = [("action", "save"), ("url", &*url), ("name", "Front end"), ("events", "*"), ("active", "")];
    assert_eq!(submit(&mut visitor, &page, &off, false).await.status, 302);
    let list = visitor.get(LIST).await.body;
    assert!(list.contains("Front end</a> <span class=\"tag\">off</span>"), "{list}");
    assert_eq!(submit(&mut visitor, &page, &[("action", "delete")], false).await.status, 302);
    assert_eq!(visitor.get(&page).await.status, 404);
    assert!(visitor.get(LIST).await.body.contains("No webhooks yet."));
}

#[tokio::test(flavor = "multi_thread")]
async fn wrong_requests_are_refused() {
    let site = start(&[("change_log", "10000")]).await;
    let admin = site.app_password();
    let hook = json!({"url": "https://front.example/hook", "name": "A"});
    let hook = site.post("/svc-json/svc/v2/webhooks", &admin, &hook).await.json();
    let page = format!("/wp-admin/webhook.php?id={}", hook["id"].as_str().unwrap());
    let mut visitor = logged_in(&site, "admin").await;
    for id in ["", "wh_", "wh_x", "wh_../posts", "wh_x/deliveries", "1"] {
        assert_eq!(visitor.get(&format!("/wp-admin/webhook.php?id={}", encode(id))).await.status, 404, "{id}");
    }
    for (query, status) in [("&state=gone", 400), ("&before=x", 400), ("&before=0", 400), ("&before=5", 200)] {
        assert_eq!(visitor.get(&format!("{page}{query}")).await.status, status, "{query}");
    }
    for (changes, status) in [
        ([("action", "nothing"), ("x", "")], 400),
        ([("replay", "x"), ("x", "")], 400),
        ([("replay", "99999"), ("x", "")], 404),
        ([("action", "save"), ("_svcnonce", "wrong")], 403),
        ([("action", "delete"), ("_svcnonce", "")], 403),
    ] {
        assert_eq!(submit(&mut visitor, &page, &changes, false).await.status, status, "{changes:?}");
    }
    user(&site, &admin, "ed", "editor").await;
    let mut editor = logged_in(&site, "ed").await;
    let form = editor.get("/wp-admin/post-new.php").await.body;
    for (path, action) in
        [(LIST, "save"), (&*page, "save"), (&*page, "test"), (&*page, "add-secret"), (&*page, "delete")]
    {
        assert_eq!(editor.get(path).await.status, 403, "{path}");
        let nonce = nonce_of(&form);
        let sent = [("action", action), ("_svcnonce", &*nonce), ("url", "https://example.org/")];
        let refused = send_form(&mut editor, path, "", &sent, false).await;
        assert_eq!(refused.status, 403, "{path} {action}");
        assert!(!refused.body.contains("whsec_"));
    }
    assert!(visitor.get(LIST).await.body.contains(">A</a>"), "nothing was changed");
}

/// On a database without a log of changes, the page says how to get one, and keeps what was typed.
#[tokio::test(flavor = "multi_thread")]
async fn the_page_names_the_missing_log() {
    if crate::site::on_sqlite() {
        return; // SQLite always has the log.
    }
    let site = start(&[]).await;
    let mut visitor = logged_in(&site, "admin").await;
    let fields = [("action", "save"), ("url", "https://example.org/"), ("active", "1")];
    let refused = submit(&mut visitor, LIST, &fields, false).await;
    assert_eq!(refused.status, 501);
    assert!(refused.body.contains("change_log") && refused.body.contains("value=\"https://example.org/\""));
}
