//! Templates and template parts: created, edited, reset and deleted; the site's pages follow.

use super::*;

const PAGE: &str = "/wp-admin/site-editor.php";

/// The path of a redirect on the site.
fn target<'a>(site: &Site, response: &'a HttpResponse) -> &'a str {
    let location = response.header("location");
    location.split_once(&site.address.to_string()).map_or(location, |(_, path)| path)
}

/// The URL of the first link of a list whose text is this.
fn link(page: &str, label: &str) -> String {
    let before = page.split(&format!("\">{label}</a>")).next().unwrap();
    before.rsplit("href=\"").next().unwrap().replace("&#38;", "&")
}

#[tokio::test(flavor = "multi_thread")]
async fn templates_are_edited_reset_and_deleted() {
    let site = Site::start().await;
    let mut visitor = logged_in(&site, "admin").await;
    let parts = format!("{PAGE}?postType=wp_template_part");
    let list = visitor.get(&parts).await.body;
    let footer = link(&list, "Footer");
    assert!(footer.contains("postType=wp_template_part&postId="), "{footer}");
    let page = visitor.get(&footer).await.body;
    // Saved unchanged, it stays the theme's.
    let content = page.split_once("id=\"f-content\"").unwrap().1.split_once(">\n").unwrap().1;
    let content = svc_text::specialchars_decode(content.split_once("</textarea>").unwrap().0, svc_text::Quotes::Both);
    let content = content.replace("&#60;", "<").replace("&#62;", ">").replace("&#34;", "\"").replace("&#38;", "&");
    let same = content.replace('\n', "\r\n");
    let saved = send_form(&mut visitor, &footer, &page, &[("content", &same), ("action", "save")], false).await;
    assert_eq!((saved.status, target(&site, &saved)), (302, &*format!("{footer}&done=saved")), "{}", saved.body);
    let text = "<!-- wp:paragraph --><p>Words at the end & \"more\"</p><!-- /wp:paragraph --></textarea><script>alert(1)</script>";
    let page = visitor.get(&footer).await.body;
    let saved = send_form(&mut visitor, &footer, &page, &[("content", text), ("action", "save")], false).await;
    assert_eq!(saved.status, 302, "{}", saved.body);
    assert!(site.get("/").await.body.contains("Words at the end"));
    let again = visitor.get(&footer).await.body;
    assert!(again.contains("Back to the theme") && !again.contains("</textarea><script>"), "{again}");
    assert!(visitor.get(&parts).await.body.contains(">Changed</span>"));
    // A form that was opened before is not stored unseen.
    let refused = send_form(&mut visitor, &footer, &page, &[("content", "Mine"), ("action", "save")], false).await;
    assert!(refused.status == 412 && refused.body.contains("Mine</textarea>"), "{}", refused.body);
    assert!(site.get("/").await.body.contains("Words at the end"));
    let saved =
        send_form(&mut visitor, &footer, &refused.body, &[("content", "Mine"), ("action", "save")], false).await;
    assert_eq!(saved.status, 302);
    let page = visitor.get(&footer).await.body;
    let reset = send_form(&mut visitor, &footer, &page, &[("action", "delete")], false).await;
    assert_eq!(target(&site, &reset), format!("{parts}&done=reset"), "{}", reset.body);
    assert!(!visitor.get(&parts).await.body.contains(">Changed</span>"));
    // An own template begins as what is used without it.
    let created = submit(&mut visitor, PAGE, &[("title", "My <b>plan</b>"), ("action", "save")], false).await;
    assert_eq!(created.status, 302, "{}", created.body);
    let own = target(&site, &created).to_owned();
    assert!(own.contains("%2F%2Fmy-plan"), "{own}");
    let page = visitor.get(&own).await.body;
    assert!(page.contains("wp:") && !page.contains("<b>plan"), "{page}");
    let changes = [("title", "Renamed"), ("description", "For plans"), ("action", "save")];
    assert_eq!(send_form(&mut visitor, &own, &page, &changes, false).await.status, 302);
    let list = visitor.get(PAGE).await.body;
    assert!(list.contains("Renamed</a> <span class=\"tag\">Own</span>") && list.contains("For plans"), "{list}");
    let page = visitor.get(&own).await.body;
    let deleted = send_form(&mut visitor, &own, &page, &[("action", "delete")], false).await;
    assert!(target(&site, &deleted).ends_with("done=deleted"), "{}", deleted.body);
    assert_eq!(visitor.get(&own).await.status, 404);
    // Parts are for an area.
    let created =
        submit(&mut visitor, &parts, &[("title", "Second header"), ("area", "header"), ("action", "save")], false)
            .await;
    assert_eq!(created.status, 302, "{}", created.body);
    assert!(visitor.get(&parts).await.body.contains("<p class=\"prose\">Header</p>"));
    let refused = submit(&mut visitor, PAGE, &[("title", "???"), ("action", "save")], false).await;
    assert_eq!(refused.status, 400, "{}", refused.body);
    assert_eq!(submit(&mut visitor, &footer, &[("action", "nonsense")], false).await.status, 400);
    for text in &ATTACKS {
        let query = encode(text);
        let page = visitor.get(&format!("{PAGE}?postType={query}&postId={query}")).await;
        assert!(page.status == 404 && !page.body.contains("<script>alert"), "{text}: {}", page.status);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn posts_and_terms_are_entries_of_menus() {
    let site = Site::start().await;
    let admin = site.app_password();
    let mut visitor = logged_in(&site, "admin").await;
    let post = create(&site, &admin, json!({"title": "A & B", "slug": "a-b", "status": "publish"})).await;
    let tags = "/svc-json/svc/v2/tags";
    let tag = site.post(tags, &admin, &json!({"name": "<i>Sea</i> & sky", "slug": "sea"})).await.json();
    let menus = "/wp-admin/nav-menus.php";
    assert_eq!(submit(&mut visitor, menus, &[("action", "create")], false).await.status, 302);
    for (name, item) in [("post", &post), ("tag", &tag), ("category", &json!({"id": 1}))] {
        let chosen = format!("{name} {}", item["id"]);
        let page = visitor.get(menus).await.body;
        assert!(page.contains(&format!("<option value=\"{chosen}\">")), "{page}");
        let added =
            send_form(&mut visitor, menus, &page, &[("object", &chosen), ("action", "add-object")], false).await;
        assert_eq!(added.status, 302, "{}", added.body);
    }
    let home = site.get("/").await.body;
    let menu = home.split_once("<nav").unwrap().1.split_once("</nav>").unwrap().0;
    assert!(menu.contains("A &amp; B") && menu.contains("/a-b/") && menu.contains("/tag/sea/"), "{menu}");
    assert!(menu.contains("/category/") && !menu.contains("<i>Sea"), "{menu}");
    for chosen in ["", "post", "post x", "post 999999", "page 2", "user 1", "post -1"] {
        let refused = submit(&mut visitor, menus, &[("object", chosen), ("action", "add-object")], false).await;
        assert_eq!(refused.status, 400, "{chosen}");
    }
}
