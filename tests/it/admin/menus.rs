//! The menus of a block theme: entries are added, moved and removed, and the site shows them.

use super::*;

const PAGE: &str = "/wp-admin/nav-menus.php";

/// The links of the site's menu, with the nesting of their lists.
async fn shown(site: &Site) -> Vec<String> {
    let page = site.get("/").await.body;
    let menu = page.split_once("<nav").unwrap().1.split_once("</nav>").unwrap().0;
    let mut depth = 0_usize;
    let mut links = Vec::new();
    for part in menu.split('<').skip(1) {
        depth = if part.starts_with("ul") { depth + 1 } else { depth };
        depth = if part.starts_with("/ul") { depth - 1 } else { depth };
        if let Some(label) = part.strip_prefix("span class=\"wp-block-navigation-item__label\">") {
            links.push(format!("{}{label}", "-".repeat(depth - 1)));
        }
    }
    links
}

async fn change(visitor: &mut Visitor<'_>, changes: &[(&str, &str)]) -> HttpResponse {
    let page = visitor.get(PAGE).await.body;
    send_form(visitor, PAGE, &page, changes, false).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_menu_is_made_of_pages_and_links() {
    let site = Site::start().await;
    let admin = site.app_password();
    let mut visitor = logged_in(&site, "admin").await;
    // Without a menu, the theme lists the pages.
    assert!(site.get("/").await.body.contains("wp-block-page-list"));
    assert!(visitor.get(PAGE).await.body.contains("no menu of its own yet"));
    assert_eq!(change(&mut visitor, &[("action", "create")]).await.status, 302);
    assert_eq!(shown(&site).await, ["About"]);
    let page =
        site.post("/svc-json/svc/v2/pages", &admin, &json!({"title": "Boats", "status": "publish"})).await.json();
    for changes in [
        [("action", "add-page"), ("page", &*page["id"].to_string()), ("new-label", "")],
        [("action", "add-link"), ("new-label", "A & <b>B</b>"), ("new-url", "https://example.org/?a=1&b=2")],
    ] {
        assert_eq!(change(&mut visitor, &changes).await.status, 302);
    }
    assert_eq!(shown(&site).await, ["About", "Boats", "A &amp; &lt;b&gt;B&lt;/b&gt;"]);
    // One below the other, and to the start.
    assert_eq!(change(&mut visitor, &[("move", "in 2")]).await.status, 302);
    assert_eq!(
        change(&mut visitor, &[("move", "up 1"), ("label-0", "About us"), ("url-0", "/about/")]).await.status,
        302
    );
    assert_eq!(shown(&site).await, ["Boats", "-A &amp; &lt;b&gt;B&lt;/b&gt;", "About us"]);
    // What is below a removed entry takes its place.
    assert_eq!(change(&mut visitor, &[("move", "remove 0")]).await.status, 302);
    assert_eq!(shown(&site).await, ["A &amp; &lt;b&gt;B&lt;/b&gt;", "About us"]);
    assert!(site.get("/").await.body.contains("https://example.org/?a=1&#038;b=2"));
    // A script as a URL is no link. What was typed stays in the form.
    let changes =
        [("action", "add-link"), ("new-label", "Bad & bold"), ("new-url", "javascript:alert(1)"), ("label-0", "Typed")];
    let refused = change(&mut visitor, &changes).await;
    assert!(refused.status == 400 && refused.body.contains("is no URL for a link"), "{}", refused.body);
    assert!(
        refused.body.contains("value=\"Bad &#38; bold\"") && refused.body.contains("value=\"javascript:alert(1)\"")
    );
    for bad in [
        &[("action", "nonsense")][..],
        &[("action", "save"), ("label-1", ""), ("url-1", "/x")],
        &[("action", "save"), ("label-1", "x"), ("url-1", "")],
        &[("action", "add-link"), ("new-label", "No URL")],
        &[("action", "add-page"), ("page", "99999")],
        &[("move", "up 0")],
        &[("move", "in 99")],
        &[("move", "sideways 0")],
    ] {
        assert_eq!(change(&mut visitor, bad).await.status, 400, "{bad:?}");
    }
    assert_eq!(change(&mut visitor, &[("action", "trash")]).await.status, 302);
    assert!(site.get("/").await.body.contains("wp-block-page-list"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_menu_that_was_changed_elsewhere_is_not_overwritten() {
    let site = Site::start().await;
    let admin = site.app_password();
    let mut visitor = logged_in(&site, "admin").await;
    assert_eq!(change(&mut visitor, &[("action", "create")]).await.status, 302);
    let page = visitor.get(PAGE).await.body;
    let id = page.split_once("menu=").unwrap().1.split('"').next().unwrap().to_owned();
    let other = json!({"content": "<!-- wp:navigation-link {\"label\":\"Theirs\",\"url\":\"/theirs\"} /-->"});
    let route = format!("/svc-json/svc/v2/navigation/{id}");
    assert_eq!(site.post(&route, &admin, &other).await.status, 200);
    let changes = [("move", "remove 0"), ("label-0", "Mine"), ("url-0", "/mine")];
    let refused = send_form(&mut visitor, PAGE, &page, &changes, false).await;
    assert!(refused.status == 412 && refused.body.contains("changed elsewhere"), "{}", refused.body);
    assert!(refused.body.contains("Theirs") && refused.body.contains("Mine: /mine"), "{}", refused.body);
    let refused = send_form(&mut visitor, PAGE, &page, &[("action", "trash")], false).await;
    assert_eq!(refused.status, 412);
    assert_eq!(shown(&site).await, ["Theirs"]);
}
