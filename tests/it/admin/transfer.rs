//! Exports and imports in the admin: the file, uploads, authors, progress, and what is refused.

use super::*;

const EXPORT: &str = "/wp-admin/export.php";
const IMPORT: &str = "/wp-admin/import.php";
const UPLOAD: &str = "/wp-admin/import-file.php";

/// Uploads a file with the form of the page, as a browser does; the fields are in this order.
async fn upload(visitor: &mut Visitor<'_>, fields: &[(&str, &str)], file: Option<(&str, &str)>) -> HttpResponse {
    let mut body = String::new();
    for (name, value) in fields {
        body += &format!("--XX\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n");
    }
    if let Some((name, text)) = file {
        let head =
            format!("Content-Disposition: form-data; name=\"file\"; filename=\"{name}\"\r\nContent-Type: text/xml");
        body += &format!("--XX\r\n{head}\r\n\r\n{text}\r\n");
    }
    body += "--XX--\r\n";
    visitor.request("POST", UPLOAD, &[("Content-Type", "multipart/form-data; boundary=XX")], &body).await
}

/// The path of a redirect on the site.
fn target<'a>(site: &Site, response: &'a HttpResponse) -> &'a str {
    let location = response.header("location");
    location.split_once(&site.address.to_string()).map_or(location, |(_, path)| path)
}

/// The page after the import that runs has ended.
async fn ended(visitor: &mut Visitor<'_>) -> String {
    let wait = async {
        loop {
            let page = visitor.get(IMPORT).await;
            if page.header("refresh").is_empty() {
                return page.body;
            }
            tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        }
    };
    tokio::time::timeout(std::time::Duration::from_secs(30), wait).await.unwrap()
}

/// A file with a post of an author whom the site does not have.
fn file(title: &str, author: &str) -> String {
    format!(
        "<?xml version=\"1.0\"?><rss><channel><title>Old</title><wp:wxr_version>1.2</wp:wxr_version>\
         <wp:base_blog_url>http://old.example</wp:base_blog_url>\
         <wp:author><wp:author_id>7</wp:author_id><wp:author_login><![CDATA[{author}]]></wp:author_login>\
         <wp:author_email>new@example.org</wp:author_email><wp:author_display_name><![CDATA[{title}]]></wp:author_display_name></wp:author>\
         <item><title><![CDATA[{title}]]></title><dc:creator><![CDATA[{author}]]></dc:creator><guid>http://old.example/?p=700</guid>\
         <content:encoded><![CDATA[Imported words]]></content:encoded><wp:post_id>700</wp:post_id>\
         <wp:post_date>2020-01-02 03:04:05</wp:post_date><wp:post_date_gmt>2020-01-02 03:04:05</wp:post_date_gmt>\
         <wp:status>publish</wp:status><wp:post_name>imported</wp:post_name><wp:post_type>post</wp:post_type></item>\
         <item><title>Strange</title><wp:post_type><![CDATA[<b>nothing</b>]]></wp:post_type><wp:status>publish</wp:status></item>\
         </channel></rss>"
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn the_content_is_downloaded() {
    let site = Site::start().await;
    let admin = site.app_password();
    create(&site, &admin, json!({"title": "In the file & <b>bold</b>", "status": "publish"})).await;
    create(&site, &admin, json!({"title": "A draft", "status": "draft"})).await;
    let mut visitor = logged_in(&site, "admin").await;
    let all = visitor.get(&format!("{EXPORT}?download=1")).await;
    assert_eq!((all.status, all.header("content-type")), (200, "text/xml; charset=UTF-8"), "{}", all.body);
    let disposition = all.header("content-disposition");
    assert!(
        disposition.starts_with("attachment; filename=\"a-fresh-site.") && disposition.ends_with(".xml\""),
        "{disposition}"
    );
    assert!(all.header("cache-control").contains("no-store"));
    assert!(all.body.contains("<![CDATA[In the file & <b>bold</b>]]>") && all.body.contains("A draft"), "{}", all.body);
    assert!(all.body.contains("</channel>\n</rss>"), "the file is complete: {}", all.body);
    let drafts =
        visitor.get(&format!("{EXPORT}?download=1&content=post&status=draft&author=1&category=&from=&to=")).await;
    assert!(drafts.body.contains("A draft") && !drafts.body.contains("In the file"), "{}", drafts.body);
    let refused = visitor.get(&format!("{EXPORT}?download=1&from=soon")).await;
    assert!(refused.status == 400 && refused.body.contains("2026-01-31"), "{}", refused.body);
    for text in &ATTACKS {
        let query = encode(text);
        let page = visitor.get(&format!("{EXPORT}?download=1&content={query}&status={query}&author={query}")).await;
        assert_eq!(page.status, 200, "{text}");
    }
    user(&site, &admin, "eve", "editor").await;
    let mut editor = logged_in(&site, "eve").await;
    assert_eq!(editor.get(&format!("{EXPORT}?download=1")).await.status, 403);
    assert_eq!(site.get(&format!("{EXPORT}?download=1")).await.status, 302);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_is_imported() {
    let site = Site::start().await;
    let admin = site.app_password();
    let mut visitor = logged_in(&site, "admin").await;
    let page = visitor.get(IMPORT).await.body;
    let field_name = if page.contains("name=\"_svcnonce\"") { "_svcnonce" } else { "_wpnonce" };
    let nonce = field(&page, field_name);
    let title = "Sea </textarea><script>alert(1)</script> & sky";
    let sent = upload(&mut visitor, &[(field_name, &nonce)], Some(("old.xml", &file(title, "old-hand")))).await;
    assert_eq!(sent.status, 302, "{}", sent.body);
    let assign = target(&site, &sent).to_owned();
    assert!(assign.starts_with(&format!("{IMPORT}?file=")), "{assign}");
    let page = visitor.get(&assign).await.body;
    assert!(page.contains("A new user, old-hand") && page.contains("from http://old.example"), "{page}");
    assert!(page.contains("old.xml") && !page.contains("<script>alert"), "{page}");
    // Nothing is imported before the user has decided.
    assert_eq!(site.get(&format!("{POSTS}?slug=imported")).await.json(), json!([]));
    let id = field(&page, "id");
    let start = [("id", &*id), ("author-0", "new"), ("action", "start")];
    let started = send_form(&mut visitor, IMPORT, &page, &start, false).await;
    assert_eq!((started.status, target(&site, &started)), (302, IMPORT), "{}", started.body);
    let page = ended(&mut visitor).await;
    assert!(page.contains("Complete: 1 posts of all types"), "{page}");
    assert!(page.contains("the site has no such type") && !page.contains("<b>nothing"), "{page}");
    let post = stored(&site, &admin, 700).await;
    assert_eq!((&post["slug"], &post["content"]["raw"]), (&json!("imported"), &json!("Imported words")));
    let path = format!("/svc-json/svc/v2/users/{}?context=edit", post["author"]);
    let headers = [("Authorization", &*crate::site::basic(&admin))];
    let author = crate::client::send(site.address, "GET", &path, &headers, "").await.json();
    assert_eq!((&author["username"], &author["roles"]), (&json!("old-hand"), &json!(["subscriber"])));
    // It has ended, so it cannot be started again; it is removed from the list.
    assert_eq!(send_form(&mut visitor, IMPORT, &page, &start, false).await.status, 404);
    let forget = [("id", &*id), ("action", "forget")];
    assert_eq!(send_form(&mut visitor, IMPORT, &page, &forget, false).await.status, 302);
    assert!(!visitor.get(IMPORT).await.body.contains("old.xml"));
    // Again, nothing new.
    let sent = upload(&mut visitor, &[(field_name, &nonce)], Some(("old.xml", &file(title, "old-hand")))).await;
    let page = visitor.get(target(&site, &sent)).await.body;
    let start = [("id", &*field(&page, "id")), ("author-0", &*post["author"].to_string()), ("action", "start")];
    assert_eq!(send_form(&mut visitor, IMPORT, &page, &start, false).await.status, 302);
    let page = ended(&mut visitor).await;
    assert!(page.contains("Complete: 0 posts") && page.contains("1 posts were here already"), "{page}");
    // A user who does not exist gets nothing: the one who imports does.
    let other = file(title, "old-hand").replace("p=700", "p=701").replace(">700<", ">701<").replace(title, "Other");
    let sent = upload(&mut visitor, &[(field_name, &nonce)], Some(("other.xml", &other))).await;
    let page = visitor.get(target(&site, &sent)).await.body;
    let start = [("id", &*field(&page, "id")), ("author-0", "987654"), ("action", "start")];
    assert_eq!(send_form(&mut visitor, IMPORT, &page, &start, false).await.status, 302);
    ended(&mut visitor).await;
    assert_eq!(stored(&site, &admin, 701).await["author"], 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn bad_uploads_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let site = Site::start_in(folder, &SiteBuilder::new(), &[("limits.body", "20000")]).await;
    let admin = site.app_password();
    let mut visitor = logged_in(&site, "admin").await;
    let page = visitor.get(IMPORT).await.body;
    let field_name = if page.contains("name=\"_svcnonce\"") { "_svcnonce" } else { "_wpnonce" };
    let nonce = field(&page, field_name);
    let good = file("T", "a");
    let refused = |response: &HttpResponse, code: &str| {
        assert_eq!(
            (response.status, target(&site, response)),
            (302, &*format!("{IMPORT}?refused={code}")),
            "{}",
            response.body
        );
    };
    for (fields, file, code) in [
        (&[][..], Some(("a.xml", &*good)), "rest_no_nonce"),
        (&[(field_name, "wrong")], Some(("a.xml", &good)), "rest_no_nonce"),
        (&[(field_name, &*nonce)], None, "rest_no_file"),
        (&[(field_name, &nonce)], Some(("", &good)), "rest_no_file"),
        (&[(field_name, &nonce)], Some(("a.xml", "<html>no</html>")), "rest_no_wxr"),
        (&[(field_name, &nonce)], Some(("a.xml", &good[..good.len() - 40])), "rest_no_wxr"),
    ] {
        refused(&upload(&mut visitor, fields, file).await, code);
        let page = visitor.get(&format!("{IMPORT}?refused={code}")).await.body;
        assert!(page.contains("role=\"alert\""), "{code}: {page}");
    }
    let long = good.replace("Imported words", &"x".repeat(30_000));
    let response = upload(&mut visitor, &[(field_name, &nonce)], Some(("a.xml", &long))).await;
    assert!(
        response.status == 413 || target(&site, &response).ends_with("refused=rest_upload_too_large"),
        "{}",
        response.status
    );
    // A form of another site has no effect, even with the nonce.
    let body = "--XX--\r\n";
    let headers = [("Content-Type", "multipart/form-data; boundary=XX"), ("Origin", "https://evil.example")];
    refused(&visitor.request("POST", UPLOAD, &headers, body).await, "rest_no_nonce");
    for (headers, body) in [(&[][..], ""), (&[("Content-Type", "text/plain")][..], "x")] {
        refused(&visitor.request("POST", UPLOAD, headers, body).await, "rest_no_file");
    }
    assert_eq!(visitor.get(UPLOAD).await.status, 405);
    // Others see no import of this user, and may not upload.
    user(&site, &admin, "eve", "editor").await;
    let mut editor = logged_in(&site, "eve").await;
    let sent = upload(&mut editor, &[(field_name, &nonce)], Some(("a.xml", &good))).await;
    assert_eq!((sent.status, target(&site, &sent)), (302, IMPORT));
    assert_eq!(editor.get(IMPORT).await.status, 403);
    let mut nobody = Visitor::new(&site);
    let sent = upload(&mut nobody, &[(field_name, &nonce)], Some(("a.xml", &good))).await;
    assert_eq!((sent.status, target(&site, &sent)), (302, IMPORT));
    let change = send_form(&mut visitor, IMPORT, &page, &[("id", "x"), ("action", "start")], false).await;
    assert_eq!(change.status, 404, "{}", change.body);
    assert_eq!(send_form(&mut visitor, IMPORT, &page, &[("action", "nonsense")], false).await.status, 400);
}

#[tokio::test(flavor = "multi_thread")]
async fn another_site_is_read_and_imported() {
    let other = Site::start().await;
    let other_admin = other.app_password();
    create(&other, &other_admin, json!({"title": "From <i>there</i> & back", "status": "publish"})).await;
    create(&other, &other_admin, json!({"title": "A draft there", "status": "draft"})).await;
    let folder = tempfile::tempdir().unwrap();
    let settings = [("outgoing.allow", &*other.address.to_string())];
    let site = Site::start_in(folder, &SiteBuilder::new(), &settings).await;
    let admin = site.app_password();
    let mut visitor = logged_in(&site, "admin").await;
    let page = visitor.get(IMPORT).await.body;
    let address = format!("http://{}", other.address);
    for (fields, expected) in [
        ([("address", ""), ("user", ""), ("password", "")], "Enter the address"),
        ([("address", "ftp://x"), ("user", "<b>"), ("password", "p")], "Enter the address"),
        ([("address", "http://example.org"), ("user", "<b>"), ("password", "secret words")], "only sent over HTTPS"),
        ([("address", "example.org"), ("user", ""), ("password", "secret words")], "neither of them"),
    ] {
        let form: Vec<(&str, &str)> = fields.into_iter().chain([("action", "read")]).collect();
        let refused = send_form(&mut visitor, IMPORT, &page, &form, false).await;
        assert!(refused.status == 400 && refused.body.contains(expected), "{}: {}", refused.status, refused.body);
        assert!(!refused.body.contains("<b>") && !refused.body.contains("secret words"), "{}", refused.body);
    }
    let (name, password) = other_admin.split_once(':').unwrap();
    let wrong = [("address", &*address), ("user", name), ("password", "wrong"), ("action", "read")];
    assert_eq!(send_form(&mut visitor, IMPORT, &page, &wrong, false).await.status, 302);
    let failed = ended(&mut visitor).await;
    assert!(failed.contains("does not accept this user name") && failed.contains("Nothing was imported"), "{failed}");
    let right = [("address", &*address), ("user", name), ("password", password), ("action", "read")];
    assert_eq!(send_form(&mut visitor, IMPORT, &page, &right, false).await.status, 302);
    let read = ended(&mut visitor).await;
    let link = read.split_once("Continue with").unwrap().0.rsplit_once("href=\"").unwrap().1;
    let assign = visitor.get(&link.split_once('"').unwrap().0.replace("&amp;", "&")).await.body;
    assert!(assign.contains("post") && assign.contains(&address), "{assign}");
    let start = [("id", &*field(&assign, "id")), ("author-0", "1"), ("action", "start")];
    assert_eq!(send_form(&mut visitor, IMPORT, &assign, &start, false).await.status, 302);
    let page = ended(&mut visitor).await;
    assert!(page.contains("Complete:"), "{page}");
    let drafts = format!("{POSTS}?status=draft&context=edit&search=draft+there");
    let headers = [("Authorization", &*crate::site::basic(&admin))];
    let drafts = crate::client::send(site.address, "GET", &drafts, &headers, "").await.json();
    assert_eq!(drafts[0]["title"]["raw"], "A draft there", "{drafts}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_site_that_is_read_is_followed_and_stopped() {
    // The site responds when the test has ended.
    let (end, ended) = std::sync::mpsc::channel::<()>();
    let ended = std::sync::Mutex::new(ended);
    let address = crate::loopback::serve_with(move |_| {
        let _ended = ended.lock().map(|ended| ended.recv());
        (404, String::new(), Vec::new())
    });
    let settings = [("outgoing.allow", &*address.to_string())];
    let site = Site::start_in(tempfile::tempdir().unwrap(), &SiteBuilder::new(), &settings).await;
    let mut visitor = logged_in(&site, "admin").await;
    let page = visitor.get(IMPORT).await;
    assert!(page.header("refresh").is_empty() && page.body.contains("name=\"address\""), "{}", page.body);
    let read = [("address", &*format!("http://{address}")), ("user", ""), ("password", ""), ("action", "read")];
    assert_eq!(send_form(&mut visitor, IMPORT, &page.body, &read, false).await.status, 302);
    let followed = visitor.get(IMPORT).await;
    assert!(!followed.header("refresh").is_empty(), "{}", followed.body);
    assert!(followed.body.contains("The site is being read") && !followed.body.contains("name=\"address\""));
    let other = visitor.get(&format!("{IMPORT}?other=1")).await;
    assert!(other.header("refresh").is_empty() && other.body.contains("name=\"address\""), "{}", other.body);
    // A second site waits for the first.
    let second = send_form(&mut visitor, IMPORT, &other.body, &read, false).await;
    assert!(second.status == 409 && second.body.contains("Another site is being read"), "{}", second.body);
    let stop = [("id", &*field(&followed.body, "id")), ("action", "forget")];
    assert_eq!(send_form(&mut visitor, IMPORT, &followed.body, &stop, false).await.status, 302);
    let stopped = visitor.get(IMPORT).await;
    assert!(stopped.header("refresh").is_empty() && !stopped.body.contains("being read"), "{}", stopped.body);
    drop(end);
}
