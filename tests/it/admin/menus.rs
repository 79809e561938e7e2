//! Menus of block themes and of themes with menu locations: entries are added, moved and removed, and no change is overwritten.

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
    // What a form would do to the other version does not matter, nor whether it could be done.
    for changes in [&[("action", "trash")][..], &[("move", "remove 7")], &[("action", "save"), ("etag", "")]] {
        let refused = send_form(&mut visitor, PAGE, &page, changes, false).await;
        assert_eq!(refused.status, 412, "{changes:?}");
    }
    assert_eq!(shown(&site).await, ["Theirs"]);
    let changes = [("action", "save"), ("title", "My & menu"), ("label-0", "Mine"), ("url-0", "/mine")];
    let refused = send_form(&mut visitor, PAGE, &page, &changes, false).await;
    assert!(refused.body.contains("My &#38; menu\nMine: /mine</textarea>"), "{}", refused.body);
}

/// A site whose theme has two menu locations.
async fn classic_site() -> Site {
    let builder = SiteBuilder::new().prepare(|setup| {
        for (name, description) in [("primary", "Header & more"), ("footer", "Footer")] {
            setup.registries.menu_locations.insert(name.to_owned(), description.to_owned());
        }
    });
    Site::start_in(tempfile::tempdir().unwrap(), &builder, &[]).await
}

async fn read(site: &Site, admin: &str, route: &str) -> Value {
    let basic = crate::site::basic(admin);
    let path = format!("/svc-json/svc/v2/{route}");
    crate::client::send(site.address, "GET", &path, &[("Authorization", &basic)], "").await.json()
}

/// The items of the only menu: labels with their nesting, by position.
async fn items(site: &Site, admin: &str) -> Vec<String> {
    let all = read(site, admin, "menu-items?_fields=id,title,parent").await;
    let all = all.as_array().unwrap();
    let parent = |item: &Value| all.iter().find(|other| other["id"] == item["parent"]);
    let depth = |item: &Value| std::iter::successors(parent(item), |item| parent(item)).count();
    let label = |item: &Value| format!("{}{}", "-".repeat(depth(item)), item["title"]["rendered"].as_str().unwrap());
    all.iter().map(label).collect()
}

/// The ID of the item with this title.
async fn item(site: &Site, admin: &str, title: &str) -> i64 {
    let all = read(site, admin, "menu-items?context=edit").await;
    let found = all.as_array().unwrap().iter().find(|item| item["title"]["raw"] == title);
    found.unwrap_or_else(|| panic!("{title}: {all}"))["id"].as_i64().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_menu_of_a_classic_theme_has_items_and_locations() {
    let site = classic_site().await;
    let admin = site.app_password();
    let mut visitor = logged_in(&site, "admin").await;
    assert!(visitor.get(PAGE).await.body.contains("This site has no menu yet."));
    assert_eq!(change(&mut visitor, &[("action", "create"), ("new-name", "")]).await.status, 400);
    assert_eq!(change(&mut visitor, &[("action", "create"), ("new-name", "Main & <b>")]).await.status, 302);
    let again = change(&mut visitor, &[("action", "create"), ("new-name", "Main & <b>")]).await;
    assert!(again.status < 500 && again.status != 302, "{}", again.status);
    let page =
        site.post("/svc-json/svc/v2/pages", &admin, &json!({"title": "Boats", "status": "publish"})).await.json();
    for changes in [
        [("action", "add-page"), ("page", &*page["id"].to_string()), ("x", "")],
        [("action", "add-object"), ("object", "category 1"), ("x", "")],
        [("action", "add-link"), ("new-label", "Link"), ("new-url", "https://example.org/?a=1&b=2")],
    ] {
        let added = change(&mut visitor, &changes).await;
        assert_eq!(added.status, 302, "{changes:?}: {}", added.body);
    }
    assert_eq!(items(&site, &admin).await, ["Boats", "General", "Link"]);
    let (boats, term, link) =
        (item(&site, &admin, "Boats").await, item(&site, &admin, "General").await, item(&site, &admin, "Link").await);

    // Order and nesting; what is below a removed entry takes its place.
    for (action, id, expected) in [
        ("in", term, ["Boats", "-General", "Link"]),
        ("in", link, ["Boats", "-General", "-Link"]),
        ("up", link, ["Boats", "-Link", "-General"]),
        ("in", term, ["Boats", "-Link", "--General"]),
        ("out", link, ["Boats", "Link", "-General"]),
        ("up", link, ["Link", "-General", "Boats"]),
    ] {
        let moved = change(&mut visitor, &[("move", &format!("{action} {id}"))]).await;
        assert_eq!(moved.status, 302, "{action}: {}", moved.body);
        assert_eq!(items(&site, &admin).await, expected, "{action} {id}");
    }
    let labels = [
        (format!("label-{boats}"), "Our boats"),
        (format!("url-{link}"), "/there"),
        (format!("label-{link}"), "There"),
    ];
    let mut changes: Vec<(&str, &str)> = labels.iter().map(|(name, value)| (name.as_str(), *value)).collect();
    changes.extend([("action", "save"), ("name", "Main"), ("location", "footer"), ("auto_add", "1")]);
    assert_eq!(change(&mut visitor, &changes).await.status, 302);
    assert_eq!(items(&site, &admin).await, ["There", "-General", "Our boats"]);
    let menus = read(&site, &admin, "menus?context=edit").await;
    assert_eq!(
        (&menus[0]["name"], &menus[0]["locations"], &menus[0]["auto_add"]),
        (&json!("Main"), &json!(["footer"]), &json!(true))
    );
    let shown = visitor.get(PAGE).await.body;
    assert!(shown.contains("Header &#38; more") && shown.contains("value=\"footer\" checked"), "{shown}");
    assert_eq!(change(&mut visitor, &[("move", &format!("remove {link}"))]).await.status, 302);
    assert_eq!(items(&site, &admin).await, ["General", "Our boats"]);

    for bad in [
        &[("action", "nonsense")][..],
        &[("action", "add-link"), ("new-label", "x"), ("new-url", "javascript:alert(1)")],
        &[("action", "add-link"), ("new-label", "No URL")],
        &[("action", "add-page"), ("page", "99999")],
        &[("action", "add-object"), ("object", "category x")],
        &[("action", "save"), ("name", "")],
        &[("action", "save"), ("name", "Main"), ("location", "nowhere")],
        &[("move", "up 0")],
        &[("move", "sideways 1")],
    ] {
        let refused = change(&mut visitor, bad).await;
        assert!((400..500).contains(&refused.status), "{bad:?}: {}", refused.status);
    }
    assert_eq!(items(&site, &admin).await, ["General", "Our boats"]);
    // The menus of blocks are on a page of their own, and stay there.
    let blocks = format!("{PAGE}?kind=blocks");
    let page = visitor.get(&blocks).await.body;
    assert!(page.contains("no menu of its own yet"), "{page}");
    let created = send_form(&mut visitor, &blocks, &page, &[("action", "create")], false).await;
    assert!(created.status == 302 && created.header("location").contains("kind=blocks"), "{created:?}");
    assert_eq!(change(&mut visitor, &[("action", "delete")]).await.status, 302);
    assert_eq!(read(&site, &admin, "menus").await, json!([]));
    assert_eq!(read(&site, &admin, "menu-items").await, json!([]));
}

/// A site with the menu “Main”, whose items are One and Two; their IDs.
async fn with_classic_menu(visitor: &mut Visitor<'_>, site: &Site, admin: &str) -> (i64, i64) {
    assert_eq!(change(visitor, &[("action", "create"), ("new-name", "Main")]).await.status, 302);
    for (label, url) in [("One", "/1"), ("Two", "/2")] {
        let added = change(visitor, &[("action", "add-link"), ("new-label", label), ("new-url", url)]).await;
        assert_eq!(added.status, 302, "{}", added.body);
    }
    (item(site, admin, "One").await, item(site, admin, "Two").await)
}

/// The menus and their items, as stored.
async fn stored_menus(site: &Site, admin: &str) -> [Value; 2] {
    let menus = read(site, admin, "menus?context=edit&_fields=id,name,locations,auto_add").await;
    [menus, read(site, admin, "menu-items?context=edit&_fields=id,title,url,parent,menu_order").await]
}

#[tokio::test(flavor = "multi_thread")]
async fn a_classic_menu_that_was_changed_elsewhere_is_not_overwritten() {
    let site = classic_site().await;
    let admin = site.app_password();
    user(&site, &admin, "other", "administrator").await;
    let (mut mine, mut theirs) = (logged_in(&site, "admin").await, logged_in(&site, "other").await);
    let (one, two) = with_classic_menu(&mut mine, &site, &admin).await;
    let (label, url) = (format!("label-{one}"), format!("url-{one}"));
    let (down, up, remove) = (format!("down {one}"), format!("up {one}"), format!("remove {two}"));
    // What the other browser stores between the opening and the sending of this one's form.
    for changes in [
        &[("action", "save"), (&*label, "Theirs"), (&*url, "/theirs")][..],
        &[("action", "add-link"), ("new-label", "New"), ("new-url", "/new")],
        &[("move", &*down)],
        &[("action", "save"), ("name", "Their menu")],
        &[("action", "save"), ("name", "Their menu"), ("location", "footer")],
        &[("action", "save"), ("name", "Their menu"), ("location", "footer"), ("auto_add", "1")],
        &[("move", &*remove)],
    ] {
        let page = mine.get(PAGE).await.body;
        assert_eq!(change(&mut theirs, changes).await.status, 302, "{changes:?}");
        let before = stored_menus(&site, &admin).await;
        for sent in [
            &[("action", "save"), ("name", "My & menu"), ("location", "primary"), (&*label, "Mine"), (&*url, "/mine")]
                [..],
            &[("move", &*up), (&*label, "Mine"), (&*url, "/mine"), ("name", "My & menu")],
            &[("action", "add-link"), ("new-label", "My link"), ("new-url", "/my-link")],
            &[("move", &*remove)],
            &[("action", "delete")],
            &[("action", "save"), ("etag", ""), (&*label, "Mine"), (&*url, "/mine")],
        ] {
            let refused = send_form(&mut mine, PAGE, &page, sent, false).await;
            assert!(refused.status == 412 && refused.body.contains("changed elsewhere"), "{changes:?} {sent:?}");
            assert_eq!(stored_menus(&site, &admin).await, before, "{changes:?} {sent:?}");
            let is_kept = |text: &str| refused.body.contains(text);
            if sent.iter().any(|(name, _)| *name == "name") {
                assert!(is_kept("My &#38; menu") && is_kept("Mine: /mine"), "{}", refused.body);
            }
            if sent[0].1 == "add-link" {
                assert!(is_kept("value=\"My link\"") && is_kept("value=\"/my-link\""), "{}", refused.body);
            }
            // The page has the version that is stored, and can be sent.
            assert_ne!(field(&refused.body, "etag"), field(&page, "etag"));
        }
    }
    let page = mine.get(PAGE).await.body;
    let refused =
        send_form(&mut mine, PAGE, &page, &[("action", "save"), ("etag", "0"), (&*label, "Mine")], false).await;
    let sent = [("action", "save"), ("name", "Mine"), (&*label, "Mine"), (&*url, "/mine")];
    assert_eq!(send_form(&mut mine, PAGE, &refused.body, &sent, false).await.status, 302);
    assert_eq!(items(&site, &admin).await[0], "Mine");
    // A menu that was deleted elsewhere.
    let page = mine.get(PAGE).await.body;
    assert_eq!(change(&mut theirs, &[("action", "delete")]).await.status, 302);
    assert!((400..500).contains(&send_form(&mut mine, PAGE, &page, &sent, false).await.status));
}

#[tokio::test(flavor = "multi_thread")]
async fn of_two_forms_at_once_one_is_stored() {
    let site = classic_site().await;
    let admin = site.app_password();
    user(&site, &admin, "other", "administrator").await;
    let (mut mine, mut theirs) = (logged_in(&site, "admin").await, logged_in(&site, "other").await);
    let (one, two) = with_classic_menu(&mut mine, &site, &admin).await;
    let fields = [one, two].map(|id| (format!("label-{id}"), format!("url-{id}")));
    for round in 0..10 {
        let (my_page, their_page) = (mine.get(PAGE).await.body, theirs.get(PAGE).await.body);
        assert_eq!(field(&my_page, "etag"), field(&their_page, "etag"));
        let (my_label, their_label) = (format!("Mine {round}"), format!("Theirs {round}"));
        let form = |label| {
            let texts = fields.iter().flat_map(move |(name, url)| [(&**name, label), (&**url, "/x")]);
            [("action", "save")].into_iter().chain(texts).collect::<Vec<(&str, &str)>>()
        };
        let (my_form, their_form) = (form(&*my_label), form(&*their_label));
        let (my, their) = tokio::join!(
            send_form(&mut mine, PAGE, &my_page, &my_form, false),
            send_form(&mut theirs, PAGE, &their_page, &their_form, false)
        );
        let winner = match (my.status, their.status) {
            (302, 412) => my_label,
            (412, 302) => their_label,
            other => panic!("{other:?}: {} {}", my.body, their.body),
        };
        assert_eq!(items(&site, &admin).await, [&*winner, &*winner]);
    }
}
