//! Lists: filters, chosen columns, pages, and what is undone.

use super::*;

const LIST: &str = "/wp-admin/edit.php";

/// The titles of the posts in a list.
fn titles(page: &str) -> Vec<String> {
    let rows = page.split("<td class=\"name\"").skip(1);
    let title = |row: &str| row.split_once("<a href=").unwrap().1.split(['>', '<']).nth(1).unwrap().to_owned();
    rows.map(title).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn posts_are_filtered_by_terms_dates_authors_and_meta() {
    let folder = tempfile::tempdir().unwrap();
    let meta = "[[meta]]\nobject = \"post\"\nkey = \"isbn\"\ntype = \"string\"\nqueryable = true\n";
    std::fs::write(folder.path().join("svc.toml"), meta).unwrap();
    let site = Site::start_in(folder, &SiteBuilder::new(), &[]).await;
    let admin = site.app_password();
    let ann = user(&site, &admin, "ann", "author").await;
    let term = async |taxonomy: &str, name: &str| {
        let path = format!("/svc-json/svc/v2/{taxonomy}");
        site.post(&path, &admin, &json!({"name": name})).await.json()["id"].as_i64().unwrap()
    };
    let (boats, sea) = (term("categories", "Boats").await, term("tags", "Sea & sun").await);
    for (title, body) in [
        ("First", json!({"date": "2020-01-31T00:00:00", "categories": [boats], "meta": {"isbn": "a&b"}})),
        ("Second", json!({"date": "2020-02-01T23:59:59", "tags": [sea], "author": ann})),
        ("Third", json!({"date": "2020-02-02T00:00:00", "categories": [boats], "tags": [sea]})),
    ] {
        let mut body = body;
        body["title"] = json!(title);
        body["status"] = json!("publish");
        create(&site, &admin, body).await;
    }
    let mut visitor = logged_in(&site, "admin").await;
    let rows: &[(String, &[&str])] = &[
        (format!("tax_category={boats}"), &["Third", "First"]),
        (format!("tax_post_tag={sea}"), &["Third", "Second"]),
        (format!("tax_category={boats}&tax_post_tag={sea}"), &["Third"]),
        (format!("author={ann}"), &["Second"]),
        ("from=2020-01-31&to=2020-02-01".to_owned(), &["Second", "First"]),
        ("from=2020-02-02&to=2020-02-02".to_owned(), &["Third"]),
        ("from=x&to=2020-02-30&s=Third".to_owned(), &["Third"]),
        ("meta_isbn=a%26b".to_owned(), &["First"]),
        (format!("meta_isbn=a&tax_category={boats}"), &[]),
        ("tax_category=999".to_owned(), &[]),
    ];
    for (query, expected) in rows {
        let page = visitor.get(&format!("{LIST}?{query}")).await;
        assert_eq!(
            (page.status, titles(&page.body)),
            (200, expected.iter().map(|t| (*t).to_owned()).collect()),
            "{query}"
        );
    }
    let page = visitor.get(&format!("{LIST}?author={ann}&tax_post_tag={sea}&from=2020-01-01")).await.body;
    for shown in [
        format!("<option value=\"{ann}\" selected>"),
        format!("<option value=\"{sea}\" selected>Sea &#38; sun</option>"),
        "<details open><summary>More filters".to_owned(),
        "name=\"from\" value=\"2020-01-01\"".to_owned(),
        "name=\"meta_isbn\"".to_owned(),
    ] {
        assert!(page.contains(&shown), "{shown}: {page}");
    }
    let tags = visitor.get("/wp-admin/edit-tags.php?taxonomy=post_tag").await.body;
    assert!(tags.contains(&format!("/wp-admin/edit.php?post_type=post&#38;tax_post_tag={sea}\">2</a>")), "{tags}");
}

#[tokio::test(flavor = "multi_thread")]
async fn columns_are_chosen() {
    let folder = tempfile::tempdir().unwrap();
    let meta = "[[meta]]\nobject = \"post\"\nkey = \"price\"\ntype = \"integer\"\nqueryable = true\n";
    std::fs::write(folder.path().join("svc.toml"), meta).unwrap();
    let site = Site::start_in(folder, &SiteBuilder::new(), &[]).await;
    let admin = site.app_password();
    for (title, price) in [("Cheap", 7), ("Dear", 9000)] {
        create(&site, &admin, json!({"title": title, "status": "publish", "meta": {"price": price}})).await;
    }
    let mut visitor = logged_in(&site, "admin").await;
    let page = visitor.get(LIST).await.body;
    assert!(!page.contains("data-label=\"Categories\"") && !page.contains("9000"), "{page}");
    let choice = [("column", "meta.price"), ("action", "columns")];
    let chosen = send_form(&mut visitor, &format!("{LIST}?orderby=title"), &page, &choice, false).await;
    assert_eq!((chosen.status, chosen.header("location")), (302, "/wp-admin/edit.php?orderby=title"));
    let cookie = chosen.header("set-cookie");
    assert!(cookie.starts_with("svc-columns-post=meta.price; Max-Age=31536000; Path=/wp-admin/"), "{cookie}");
    let page = visitor.get(&format!("{LIST}?orderby=meta.price&order=desc")).await.body;
    assert_eq!(titles(&page), ["Dear", "Cheap"]);
    assert!(page.contains("data-label=\"price\">9000") && page.contains("value=\"meta.price\" checked"), "{page}");
    // Those of another type, of another kind, and unknown ones.
    assert!(!visitor.get(&format!("{LIST}?post_type=page")).await.body.contains("data-label=\"price\""));
    let unknown = [("column", "content.raw,meta.price"), ("action", "columns")];
    let chosen = send_form(&mut visitor, LIST, &page, &unknown, false).await;
    assert!(chosen.header("set-cookie").starts_with("svc-columns-post=;"), "{chosen:?}");
    let terms = [("column", "tax_category"), ("action", "columns")];
    send_form(&mut visitor, LIST, &page, &terms, false).await;
    let page = visitor.get(LIST).await.body;
    assert!(
        page.contains("data-label=\"Categories\"><a href=\"/wp-admin/edit.php?tax_category=1\">General</a>"),
        "{page}"
    );
}

/// The path of the page before or after the shown one; empty if there is none.
fn other_page(page: &str, relation: &str) -> String {
    let link = page.split_once(&format!("rel=\"{relation}\" href=\""));
    link.map_or("", |(_, rest)| rest.split('"').next().unwrap()).replace("&#38;", "&")
}

#[tokio::test(flavor = "multi_thread")]
async fn the_pages_before_and_after_keep_their_place() {
    let site = Site::start().await;
    let admin = site.app_password();
    let mut ids = Vec::new();
    for n in 0..60 {
        ids.push(create(&site, &admin, json!({"title": format!("Post {n:02}")})).await["id"].to_string());
    }
    let mut visitor = logged_in(&site, "admin").await;
    let (mut seen, mut path) = (Vec::new(), format!("{LIST}?orderby=title&post_status=draft"));
    let list = path.clone();
    for number in 1.. {
        let page = visitor.get(&path).await;
        assert_eq!(page.status, 200, "{path}: {}", page.body);
        assert!(page.body.contains(&format!("60 items, page {number} of 3")) || number > 1, "{}", page.body);
        seen.extend(titles(&page.body));
        // What is added before the page moves nothing.
        create(&site, &admin, json!({"title": "Post 00 again"})).await;
        let next = other_page(&page.body, "next");
        if next.is_empty() {
            break;
        }
        path = next;
        assert!(path.contains("cursor=") && path.contains(&format!("paged={}", number + 1)), "{path}");
    }
    let expected: Vec<String> = (0..60).map(|n| format!("Post {n:02}")).collect();
    assert_eq!(seen, expected);
    // So do the pages before.
    let back = other_page(&visitor.get(&path).await.body, "prev");
    assert!(back.contains("cursor=") && back.contains("paged=2"), "{back}");
    let second = visitor.get(&back).await.body;
    assert_eq!(titles(&second), expected[25..50]);
    assert!(second.contains("63 items, page 2 of 3"), "{second}");
    assert_eq!(titles(&visitor.get(&other_page(&second, "next")).await.body), expected[50..]);
    assert_eq!(other_page(&second, "prev"), list, "the first page has no number");
    // By number, all links are numbers.
    let third = visitor.get(&format!("{list}&paged=3")).await.body;
    assert_eq!((titles(&third).len(), other_page(&third, "next")), (13, String::new()));
    assert_eq!(other_page(&third, "prev"), format!("{list}&paged=2"));
    let second = visitor.get(&format!("{list}&paged=2")).await.body;
    assert_eq!(other_page(&second, "next"), format!("{list}&paged=3"));
    assert_eq!(other_page(&second, "prev"), list);
    // A cursor of another list leads to the first page.
    let other = visitor.get(&path.replace("orderby=title", "orderby=date")).await;
    assert_eq!((other.status, other.header("location")), (302, "/wp-admin/edit.php?orderby=date&post_status=draft"));
    for path in ["edit-comments.php", "users.php", "upload.php", "edit-tags.php?taxonomy=category"] {
        let (path, separator) = (format!("/wp-admin/{path}"), if path.contains('?') { '&' } else { '?' });
        let other = visitor.get(&format!("{path}{separator}paged=2&cursor=AAAA")).await;
        assert_eq!((other.status, other.header("location")), (302, &*path));
    }
    // So does one with nothing before it.
    let page = visitor.get(&list).await.body;
    let nonce = field(&page, "_svcnonce");
    let added = visitor.get(&format!("{LIST}?s=again&post_status=draft")).await.body;
    let added: Vec<String> =
        added.split("name=\"post\" value=\"").skip(1).map(|rest| rest.split('"').next().unwrap().to_owned()).collect();
    assert_eq!(added.len(), 3);
    let mut form = vec![("_svcnonce", &*nonce), ("action", "trash")];
    form.extend(ids[..50].iter().chain(&added).map(|id| ("post", &**id)));
    assert_eq!(visitor.submit(LIST, &form).await.status, 302);
    let gone = visitor.get(&back).await;
    assert_eq!((gone.status, gone.header("location")), (302, &*list));
    // What is left is the first page, whatever number it had.
    let last = visitor.get(&path).await.body;
    assert_eq!(titles(&last), expected[50..]);
    assert!(last.contains("10 items, page 3 of 3"), "{last}");
}

#[tokio::test(flavor = "multi_thread")]
async fn comments_come_back_from_trash_and_spam() {
    let site = Site::start().await;
    let admin = site.app_password();
    let comments = "/svc-json/svc/v2/comments";
    let mut ids = Vec::new();
    for status in ["approved", "hold"] {
        let comment = json!({"post": 1, "content": status, "author_name": "A", "author_email": "a@example.org", "status": status});
        ids.push((site.post(comments, &admin, &comment).await.json()["id"].to_string(), status));
    }
    let mut visitor = logged_in(&site, "admin").await;
    let list = "/wp-admin/edit-comments.php";
    for action in ["trash", "spam"] {
        let page = visitor.get(list).await.body;
        let mut form = vec![("_svcnonce", field(&page, "_svcnonce")), ("action", action.to_owned())];
        form.extend(ids.iter().map(|(id, _)| ("comment", id.clone())));
        let form: Vec<(&str, &str)> = form.iter().map(|(name, value)| (*name, &**value)).collect();
        let done = visitor.submit(list, &form).await;
        let page = visitor.follow(&done).await.body;
        assert!(page.contains(">Undo</button>"), "{page}");
        let undo: Vec<(&str, &str)> =
            form.iter().map(|(name, value)| (*name, if *name == "action" { "restore" } else { *value })).collect();
        for _ in 0..2 {
            assert_eq!(visitor.submit(list, &undo).await.status, 302);
        }
        for (id, status) in &ids {
            let headers = [("Authorization", &*crate::site::basic(&admin))];
            let path = format!("{comments}/{id}?context=edit");
            let now = crate::client::send(site.address, "GET", &path, &headers, "").await.json();
            assert_eq!(now["status"], *status, "{action}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn files_are_shown_as_a_list_or_a_grid() {
    let site = Site::start().await;
    let mut visitor = logged_in(&site, "admin").await;
    for (query, class, other) in
        [("?s=x", "class=\"list\"", "?s=x&#38;view=grid"), ("?view=grid&s=x", "class=\"list tiles\"", "?s=x")]
    {
        let page = visitor.get(&format!("/wp-admin/upload.php{query}")).await.body;
        assert!(page.contains(class) || page.contains("class=\"empty\""), "{page}");
        assert!(page.contains(&format!("href=\"/wp-admin/upload.php{other}\"")), "{page}");
    }
}
