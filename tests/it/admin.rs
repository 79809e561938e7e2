//! The administration area over HTTP: what each role may see, writing, conflicts, moderation, and hostile input.

mod block_editor;
mod health;
mod lists;
mod menus;
mod permalinks;
mod templates;
mod transfer;
mod webhooks;

use serde_json::{Value, json};
use svc_server::SiteBuilder;

use crate::{
    client::HttpResponse,
    site::Site,
    visitor::{PASSWORD, Visitor, encode, field, logged_in, user},
};

const POSTS: &str = "/svc-json/svc/v2/posts";
const FORM: (&str, &str) = ("Content-Type", "application/x-www-form-urlencoded");

async fn create(site: &Site, admin: &str, body: Value) -> Value {
    let created = site.post(POSTS, admin, &body).await;
    assert_eq!(created.status, 201, "{}", created.body);
    created.json()
}

/// The post as it is stored.
async fn stored(site: &Site, admin: &str, id: i64) -> Value {
    let basic = crate::site::basic(admin);
    let path = format!("{POSTS}/{id}?context=edit");
    crate::client::send(site.address, "GET", &path, &[("Authorization", &basic)], "").await.json()
}

/// Submits the form of a page after changing fields, as a browser does.
async fn submit(visitor: &mut Visitor<'_>, path: &str, changes: &[(&str, &str)], json: bool) -> HttpResponse {
    let page = visitor.get(path).await;
    assert_eq!(page.status, 200, "{path}: {}", page.body);
    send_form(visitor, path, &page.body, changes, json).await
}

async fn send_form(
    visitor: &mut Visitor<'_>,
    path: &str,
    page: &str,
    changes: &[(&str, &str)],
    json: bool,
) -> HttpResponse {
    let mut fields: Vec<(String, String)> = Vec::new();
    for name in ["_svcnonce", "_wpnonce", "post", "etag", "opened", "form"] {
        if page.contains(&format!("name=\"{name}\"")) {
            fields.push((name.to_owned(), field(page, name)));
        }
    }
    for (name, value) in changes {
        fields.retain(|(known, _)| known != name);
        fields.push(((*name).to_owned(), (*value).to_owned()));
    }
    let body: Vec<String> = fields.iter().map(|(n, v)| format!("{n}={}", encode(v))).collect();
    let mut headers = vec![FORM];
    if json {
        headers.push(("Accept", "application/json"));
    }
    visitor.request("POST", path, &headers, &body.join("&")).await
}

fn edit(id: i64) -> String {
    format!("/wp-admin/post.php?post={id}&action=edit")
}

/// Pages, and the lowest role that may see each.
const PAGES: &[(&str, usize)] = &[
    ("/wp-admin/", 0),
    ("/wp-admin/index.php", 0),
    ("/wp-admin/edit.php", 1),
    ("/wp-admin/post-new.php", 1),
    ("/wp-admin/edit-comments.php", 3),
    ("/wp-admin/upload.php", 1),
    ("/wp-admin/edit.php?post_type=page", 3),
    ("/wp-admin/post-new.php?post_type=page", 3),
    ("/wp-admin/nav-menus.php", 4),
    ("/wp-admin/site-editor.php", 4),
    ("/wp-admin/site-editor.php?postType=wp_template_part", 4),
    ("/wp-admin/users.php", 4),
    ("/wp-admin/roles.php", 4),
    ("/wp-admin/user-new.php", 4),
    ("/wp-admin/options-general.php", 4),
    ("/wp-admin/options-permalink.php", 4),
    ("/wp-admin/webhooks.php", 4),
    ("/wp-admin/export.php", 4),
    ("/wp-admin/import.php", 4),
    ("/wp-admin/site-health.php", 4),
    ("/wp-admin/site-health.php?span=week", 4),
];

const ROLES: [&str; 5] = ["subscriber", "contributor", "author", "editor", "administrator"];

#[tokio::test(flavor = "multi_thread")]
async fn each_role_sees_its_pages() {
    let site = Site::start().await;
    let admin = site.app_password();
    for (rank, role) in ROLES.into_iter().enumerate() {
        user(&site, &admin, role, role).await;
        let mut visitor = logged_in(&site, role).await;
        for (path, lowest) in PAGES {
            let page = visitor.get(path).await;
            let expected = if rank >= *lowest { 200 } else { 403 };
            assert_eq!(page.status, expected, "{role} {path}: {}", page.body);
            assert_eq!(page.header("cache-control"), "no-cache, must-revalidate, max-age=0, no-store, private");
            let policy = page.header("content-security-policy");
            assert!(policy.contains("script-src 'self'") && !policy.contains("unsafe-inline"), "{policy}");
            assert!(!page.body.contains("style=") && !page.body.contains("onclick="), "{path}");
        }
        for path in ["/wp-admin/profile.php", "/wp-admin/two-factor.php"] {
            assert_eq!(visitor.get(path).await.status, 200, "{role} {path}");
            assert_eq!(site.get(path).await.status, 302, "{path}");
        }
        assert_eq!(visitor.get("/wp-admin/no-such-page.php").await.status, 404);
    }
    // Visitors are sent to the log-in page, and scripts get its URL.
    for (path, _) in PAGES {
        let page = site.get(path).await;
        assert_eq!(page.status, 302, "{path}");
        assert!(page.header("location").contains("/wp-login.php?redirect_to="), "{path}");
    }
    let mut nobody = Visitor::new(&site);
    let refused = nobody.request("POST", "/wp-admin/post.php", &[FORM, ("Accept", "application/json")], "post=1").await;
    assert_eq!(refused.status, 401);
    assert!(refused.json()["login"].as_str().unwrap().ends_with("/wp-login.php"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_post_is_written_and_published() {
    let site = Site::start().await;
    let admin = site.app_password();
    let mut visitor = logged_in(&site, "admin").await;
    let new = "/wp-admin/post-new.php";
    let page = visitor.get(new).await.body;
    let content = "<!-- wp:paragraph -->\n<p>First words.</p>\n<!-- /wp:paragraph -->";
    let changes = [
        ("title", "A & B"),
        ("content", content),
        ("has-terms", "1"),
        ("terms-post_tag", "One, two"),
        ("action", "save"),
    ];
    let response = send_form(&mut visitor, "/wp-admin/post.php?post_type=post", &page, &changes, false).await;
    assert_eq!(response.status, 302, "{}", response.body);
    let location = response.header("location").to_owned();
    let id: i64 = location.split_once("post=").unwrap().1.split('&').next().unwrap().parse().unwrap();
    assert!(location.ends_with("done=draft"), "{location}");
    let draft = stored(&site, &admin, id).await;
    assert_eq!((&draft["status"], &draft["title"]["raw"]), (&json!("draft"), &json!("A & B")));
    assert_eq!((&draft["content"]["raw"], draft["tags"].as_array().unwrap().len()), (&json!(content), 2));
    // The page has the words, the tags and a preview; the draft is on the list.
    let page = visitor.get(&edit(id)).await.body;
    assert!(page.contains("One, two") && page.contains("preview_nonce="), "{page}");
    let preview = page.split_once("id=\"preview\" href=\"").unwrap().1.split('"').next().unwrap().replace("&#38;", "&");
    let shown = visitor.get(preview.split_once(&site.address.to_string()).unwrap().1).await;
    assert!(shown.status == 200 && shown.body.contains("First words."), "{} {}", shown.status, shown.body);
    assert!(visitor.get("/wp-admin/edit.php?post_status=draft").await.body.contains("A &#38; B"));
    let changes = [("has-terms", "1"), ("terms-post_tag", "two"), ("slug", "my-slug"), ("action", "publish")];
    let response = submit(&mut visitor, &edit(id), &changes, false).await;
    assert!(response.status == 302 && response.header("location").ends_with("done=published"), "{}", response.body);
    let post = stored(&site, &admin, id).await;
    assert_eq!((&post["status"], &post["slug"]), (&json!("publish"), &json!("my-slug")));
    assert_eq!((&post["content"]["raw"], post["tags"].as_array().unwrap().len()), (&json!(content), 1));
    // To the trash, and back by the button in the message.
    let response = submit(&mut visitor, &edit(id), &[("action", "trash")], false).await;
    let list = response.header("location").to_owned();
    let list = list.split_once("/wp-admin").map(|(_, path)| format!("/wp-admin{path}")).unwrap();
    let page = visitor.get(&list).await.body;
    assert!(page.contains("Moved to the trash.") && page.contains("Undo"), "{page}");
    let undo = [("post", &*id.to_string()), ("action", "restore")];
    assert_eq!(send_form(&mut visitor, "/wp-admin/edit.php", &page, &undo, false).await.status, 302);
    assert_eq!(stored(&site, &admin, id).await["status"], "draft");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unchanged_post_is_stored_byte_for_byte() {
    let site = Site::start().await;
    let admin = site.app_password();
    let mut visitor = logged_in(&site, "admin").await;
    for content in [
        "\n\n<p>Leading lines</p>  \n",
        "a\r\nb\r\n\r\n<!-- wp:unknown/block {\"a\":\"\\u003cb\\u003e\"} /-->",
        "</textarea><script>x</script> &amp; &lt; \u{a0}",
        "",
    ] {
        let post = create(&site, &admin, json!({"title": "T", "content": content, "status": "publish"})).await;
        let id = post["id"].as_i64().unwrap();
        let before = stored(&site, &admin, id).await;
        let page = visitor.get(&edit(id)).await.body;
        // What a browser sends of the text: line breaks are CRLF.
        let text = before["content"]["raw"].as_str().unwrap().replace("\r\n", "\n").replace('\n', "\r\n");
        let changes = [("title", "T2"), ("content", &*text), ("action", "save")];
        let response = send_form(&mut visitor, &edit(id), &page, &changes, false).await;
        assert_eq!(response.status, 302, "{}", response.body);
        let after = stored(&site, &admin, id).await;
        assert_eq!(after["content"]["raw"], before["content"]["raw"]);
        assert_eq!((&after["title"]["raw"], &after["date"]), (&json!("T2"), &before["date"]));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_conflict_loses_no_version() {
    let site = Site::start().await;
    let admin = site.app_password();
    user(&site, &admin, "eve", "editor").await;
    let id = create(&site, &admin, json!({"title": "T", "content": "old", "status": "publish"})).await["id"]
        .as_i64()
        .unwrap();
    let (mut one, mut two) = (logged_in(&site, "admin").await, logged_in(&site, "eve").await);
    let opened = one.get(&edit(id)).await.body;
    let response = submit(&mut two, &edit(id), &[("content", "hers"), ("action", "save")], true).await;
    assert_eq!(response.status, 200, "{}", response.body);
    let saved = response.json();
    // By script: the stored version comes with the error, and nothing is stored.
    let mine = [("content", "mine"), ("action", "save")];
    let refused = send_form(&mut one, &edit(id), &opened, &mine, true).await;
    assert_eq!((refused.status, &refused.json()["current"]["content"]), (412, &json!("hers")));
    assert_eq!(refused.json()["current"]["etag"], saved["etag"]);
    // Without a script: the page has both versions.
    let refused = send_form(&mut one, &edit(id), &opened, &mine, false).await;
    assert_eq!(refused.status, 412);
    assert!(
        refused.body.contains(">\nhers</textarea>") && refused.body.contains(">\nmine</textarea>"),
        "{}",
        refused.body
    );
    assert_eq!(stored(&site, &admin, id).await["content"]["raw"], "hers");
    // An autosave of a published post does not change it, and the next save of its page still works.
    let page = two.get(&edit(id)).await.body;
    let saved = send_form(&mut two, &edit(id), &page, &[("content", "more"), ("action", "autosave")], true).await;
    assert_eq!(saved.status, 200, "{}", saved.body);
    assert_eq!(stored(&site, &admin, id).await["content"]["raw"], "hers");
    let autosaved = two.get(&edit(id)).await.body;
    let link = autosaved
        .split_once("You have typed more")
        .unwrap()
        .1
        .split_once("href=\"")
        .unwrap()
        .1
        .split('"')
        .next()
        .unwrap();
    let shown = two.get(&link.replace("&#38;", "&")).await.body;
    assert!(shown.contains("<ins>more</ins>"), "{shown}");
    let again = [("content", "more"), ("etag", saved.json()["etag"].as_str().unwrap()), ("action", "save")]
        .map(|(a, b)| (a, b.to_owned()));
    let again: Vec<(&str, &str)> = again.iter().map(|(a, b)| (*a, &**b)).collect();
    assert_eq!(send_form(&mut two, &edit(id), &page, &again, true).await.status, 200);
    // Saving the page with the conflict replaces the other version, which is a revision.
    let page = send_form(&mut one, &edit(id), &opened, &mine, false).await;
    let response = send_form(&mut one, &edit(id), &page.body, &mine, false).await;
    assert_eq!(response.status, 302, "{}", response.body);
    assert_eq!(stored(&site, &admin, id).await["content"]["raw"], "mine");
    let revisions = one.get(&format!("/wp-admin/revision.php?post={id}")).await.body;
    assert!(revisions.contains("<del>more</del>") && revisions.contains("<ins>mine</ins>"), "{revisions}");
    // The version before is restored with one button.
    let second = revisions.match_indices("revision=").nth(1).map(|(at, _)| &revisions[at + 9..]).unwrap();
    let second: String = second.chars().take_while(char::is_ascii_digit).collect();
    let changes = [("revision", &*second), ("action", "restore")];
    let path = format!("/wp-admin/revision.php?post={id}");
    assert_eq!(send_form(&mut one, &path, &revisions, &changes, false).await.status, 302);
    assert_eq!(stored(&site, &admin, id).await["content"]["raw"], "more");
}

#[tokio::test(flavor = "multi_thread")]
async fn forms_need_a_nonce_of_the_session() {
    let site = Site::start().await;
    let admin = site.app_password();
    user(&site, &admin, "eve", "editor").await;
    let id = create(&site, &admin, json!({"title": "T", "content": "old"})).await["id"].as_i64().unwrap();
    let (mut one, mut two) = (logged_in(&site, "admin").await, logged_in(&site, "eve").await);
    let foreign = two.get(&edit(id)).await.body;
    let changes = [("content", "new"), ("action", "save")];
    for page in ["", &*foreign] {
        let refused = send_form(&mut one, &edit(id), page, &changes, false).await;
        assert_eq!(refused.status, 403, "{}", refused.body);
    }
    let own = one.get(&edit(id)).await.body;
    let body = format!("_svcnonce={0}&_wpnonce={0}&content=new&action=save", nonce_of(&own));
    let headers = [FORM, ("Origin", "https://evil.example")];
    assert_eq!(one.request("POST", &edit(id), &headers, &body).await.status, 403);
    // Reading changes nothing, whatever the parameters.
    for query in ["action=trash", "action=save&content=new", "action=delete"] {
        one.get(&format!("/wp-admin/post.php?post={id}&{query}&_svcnonce={}", nonce_of(&own))).await;
    }
    assert_eq!(one.request("DELETE", &edit(id), &[], "").await.status, 405);
    let post = stored(&site, &admin, id).await;
    assert_eq!((&post["status"], &post["content"]["raw"]), (&json!("draft"), &json!("old")));
}

fn nonce_of(page: &str) -> String {
    let name = if page.contains("name=\"_svcnonce\"") { "_svcnonce" } else { "_wpnonce" };
    field(page, name)
}

/// What ends the text, the attribute or the element that a value may be in.
const ENDS: [&str; 10] =
    ["", "\">", "'>", "</textarea>", "</title>", "</script>", "-->", "]]>", "\u{202e}\u{0}", "&lt;/option&gt;"];

/// Markup that runs a script, and what a template or a browser may run.
const ATTACKS: [&str; 20] = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<svg/onload=alert(1)>",
    "<svg><script>alert(1)</script></svg>",
    "<iframe srcdoc='<script>alert(1)</script>'>",
    "<body onload=alert(1)>",
    "<input autofocus onfocus=alert(1)>",
    "<details open ontoggle=alert(1)>",
    "<video><source onerror=alert(1)></video>",
    "<math><a xlink:href=javascript:alert(1)>x</a></math>",
    "<a href=javascript:alert(1)>x</a>",
    "<form action=javascript:alert(1)><button>x</button></form>",
    "<base href=//evil.example>",
    "<meta http-equiv=refresh content='0;url=javascript:alert(1)'>",
    "<link rel=stylesheet href=//evil.example/x.css>",
    "<style>@import '//evil.example/x.css'</style>",
    "<object data=javascript:alert(1)></object>",
    "<p style=background:url(//evil.example)>x</p>",
    "javascript:alert(1)",
    "{{7*7}}${7*7}<%= 7*7 %>",
];

/// 200 texts that must appear as text.
fn hostile() -> impl Iterator<Item = String> {
    ENDS.iter().flat_map(|end| ATTACKS.map(|attack| format!("{end}{attack}")))
}

#[track_caller]
fn assert_shown_as_text(path: &str, page: &HttpResponse) {
    assert!(page.status < 500, "{path}: {}", page.body);
    let markup = ATTACKS.iter().filter(|attack| attack.starts_with('<')).copied();
    for part in markup.chain(["href=\"javascript", "action=\"javascript", "src=\"javascript"]) {
        assert!(!page.body.contains(part), "{path} has {part}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn hostile_texts_are_shown_as_text() {
    let site = Site::start().await;
    let admin = site.app_password();
    let mut visitor = logged_in(&site, "admin").await;
    let author = user(&site, &admin, "other", "author").await;
    for (n, text) in hostile().enumerate() {
        let body = json!({"title": text, "content": text, "excerpt": text, "status": "publish", "author": author});
        let id = create(&site, &admin, body).await["id"].as_i64().unwrap();
        let comment = json!({"post": id, "content": text, "author_name": text, "author_email": "a@example.org"});
        site.post("/svc-json/svc/v2/comments", &admin, &comment).await;
        for base in ["categories", "tags"] {
            let name = format!("{n} {text}");
            site.post(&format!("/svc-json/svc/v2/{base}"), &admin, &json!({"name": name, "description": text})).await;
        }
        let names = json!({"name": text, "first_name": text, "description": text});
        site.post(&format!("/svc-json/svc/v2/users/{author}"), &admin, &names).await;
        site.post("/svc-json/svc/v2/settings", &admin, &json!({"title": text, "description": text})).await;
        let query = encode(&text);
        let mut paths = vec![
            edit(id),
            format!("/wp-admin/edit.php?s={query}&author={query}&orderby={query}&tax_category={query}&from={query}"),
            format!("/wp-admin/users.php?role={query}&s={query}"),
            format!("/wp-admin/?done={query}&undo={query}"),
        ];
        // The others show many texts at once.
        if n % 20 == 19 {
            paths.extend([
                format!("/wp-admin/revision.php?post={id}"),
                "/wp-admin/".to_owned(),
                "/wp-admin/edit.php".to_owned(),
                "/wp-admin/edit-comments.php".to_owned(),
                format!("/wp-admin/edit-comments.php?comment_status={query}&s={query}"),
                "/wp-admin/edit-tags.php?taxonomy=category".to_owned(),
                "/wp-admin/edit-tags.php?taxonomy=post_tag&paged=2".to_owned(),
                format!("/wp-admin/edit-tags.php?taxonomy={query}"),
                format!("/wp-admin/user-edit.php?user_id={author}"),
                "/wp-admin/options-general.php".to_owned(),
                "/wp-admin/nav-menus.php".to_owned(),
                format!("/wp-admin/post-new.php?post_type={query}"),
                format!("/wp-admin/edit.php?done=trashed&undo={query}&cursor={query}"),
            ]);
        }
        for path in paths {
            assert_shown_as_text(&path, &visitor.get(&path).await);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn comments_are_moderated_and_answered() {
    let site = Site::start().await;
    let admin = site.app_password();
    let mut visitor = logged_in(&site, "admin").await;
    let id = create(&site, &admin, json!({"title": "T", "status": "publish"})).await["id"].as_i64().unwrap();
    let comments = "/svc-json/svc/v2/comments";
    let comment = json!({"post": id, "content": "A question?", "author_name": "Ann", "author_email": "a@example.org", "status": "hold"});
    let created = site.post(comments, &admin, &comment).await.json();
    let question = created["id"].as_i64().unwrap();
    let list = "/wp-admin/edit-comments.php?comment_status=moderated";
    let page = visitor.get(list).await.body;
    assert!(page.contains("A question?") && page.contains("1<span class=\"hidden\"> waiting"), "{page}");
    let reply = [("reply_to", &*question.to_string()), ("reply", "An answer.")];
    assert_eq!(send_form(&mut visitor, list, &page, &reply, false).await.status, 302);
    let public = site.get(&format!("{comments}?post={id}&order=asc&orderby=id")).await.json();
    let public: Vec<(&Value, &Value)> =
        public.as_array().unwrap().iter().map(|c| (&c["parent"], &c["status"])).collect();
    assert_eq!(public, [(&json!(0), &json!("approved")), (&json!(question), &json!("approved"))]);
    for (action, status) in
        [("hold", "hold"), ("approve", "approved"), ("spam", "spam"), ("restore", "approved"), ("trash", "trash")]
    {
        let page = visitor.get("/wp-admin/edit-comments.php").await.body;
        let row = [(action, &*question.to_string())];
        let response = send_form(&mut visitor, "/wp-admin/edit-comments.php", &page, &row, false).await;
        assert_eq!(response.status, 302, "{action}: {}", response.body);
        let basic = crate::site::basic(&admin);
        let path = format!("{comments}/{question}?context=edit");
        let now = crate::client::send(site.address, "GET", &path, &[("Authorization", &basic)], "").await.json();
        assert_eq!(now["status"], status, "{action}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn terms_users_and_settings_are_edited() {
    let site = Site::start().await;
    let mut visitor = logged_in(&site, "admin").await;
    let tags = "/wp-admin/edit-tags.php?taxonomy=post_tag";
    let changes = [("name", "News"), ("description", "What is new"), ("action", "save")];
    assert_eq!(submit(&mut visitor, tags, &changes, false).await.status, 302);
    let again = submit(&mut visitor, tags, &changes, false).await;
    assert_eq!(again.status, 400);
    assert!(again.body.contains("aria-invalid") && again.body.contains("What is new"), "{}", again.body);
    let term = site.get("/svc-json/svc/v2/tags?search=News").await.json()[0]["id"].as_i64().unwrap();
    let page = format!("/wp-admin/term.php?taxonomy=post_tag&tag_ID={term}");
    let changes = [("name", "Old news"), ("slug", "news"), ("description", ""), ("action", "save")];
    assert_eq!(submit(&mut visitor, &page, &changes, false).await.status, 302);
    let stored = site.get(&format!("/svc-json/svc/v2/tags/{term}")).await.json();
    assert_eq!(
        (&stored["name"], &stored["slug"], &stored["description"]),
        (&json!("Old news"), &json!("news"), &json!(""))
    );
    let changes = [("term", &*term.to_string()), ("action", "delete")];
    assert_eq!(submit(&mut visitor, tags, &changes, false).await.status, 302);
    assert_eq!(site.get(&format!("/svc-json/svc/v2/tags/{term}")).await.status, 404);

    let new = "/wp-admin/user-new.php";
    let person = |email: &'static str| {
        [
            ("username", "ann"),
            ("email", email),
            ("name", "Ann"),
            ("roles", "author"),
            ("password", PASSWORD),
            ("action", "save"),
        ]
    };
    let refused = submit(&mut visitor, new, &person("no address"), false).await;
    assert!(refused.status == 400 && !refused.body.contains(PASSWORD), "{}", refused.body);
    assert_eq!(submit(&mut visitor, new, &person("ann@example.org"), false).await.status, 302);
    let list = visitor.get("/wp-admin/users.php?s=ann").await.body;
    let id = list.split_once("user_id=").unwrap().1;
    let id: String = id.chars().take_while(char::is_ascii_digit).collect();
    let page = format!("/wp-admin/user-edit.php?user_id={id}");
    let changes =
        [("email", "ann@example.org"), ("name", "Ann B"), ("roles", "editor"), ("password", ""), ("action", "save")];
    assert_eq!(submit(&mut visitor, &page, &changes, false).await.status, 302);
    let shown = visitor.get(&page).await.body;
    assert!(shown.contains("Ann B") && shown.contains("value=\"editor\" selected"), "{shown}");
    // The password is still the first one.
    logged_in(&site, "ann").await;

    let page = visitor.get("/wp-admin/options-general.php").await.body;
    assert!(page.contains("Site title"), "{page}");
    let response = submit(&mut visitor, "/wp-admin/options-general.php", &[("title", "A new name")], false).await;
    assert_eq!(response.status, 302, "{}", response.body);
    assert!(visitor.get("/wp-admin/").await.body.contains("A new name"));
}

#[tokio::test(flavor = "multi_thread")]
async fn forms_have_limits() {
    let site = Site::start().await;
    let admin = site.app_password();
    let mut visitor = logged_in(&site, "admin").await;
    let id = create(&site, &admin, json!({"title": "T", "content": "old"})).await["id"].as_i64().unwrap();
    let long = "word ".repeat(300_000) + "end";
    let response = submit(&mut visitor, &edit(id), &[("content", &long), ("action", "save")], false).await;
    assert_eq!(response.status, 302, "{}", response.body);
    assert_eq!(stored(&site, &admin, id).await["content"]["raw"].as_str().unwrap().len(), long.len());
    let page = visitor.get(&edit(id)).await.body;
    let too_long = "x".repeat(9 << 20);
    let refused = send_form(&mut visitor, &edit(id), &page, &[("content", &too_long), ("action", "save")], false).await;
    assert_eq!(refused.status, 413);
    // A list changes at most a hundred rows, and numbers out of range are no rows.
    for value in ["-1", "99999999999999999999", "x", ""] {
        let response =
            submit(&mut visitor, "/wp-admin/edit.php", &[("post", value), ("action", "delete")], false).await;
        assert!(response.status < 500, "{value}");
        assert!(visitor.get(&format!("/wp-admin/post.php?post={value}")).await.status == 404, "{value}");
        assert!(visitor.get(&format!("/wp-admin/edit.php?paged={value}&author={value}")).await.status < 500, "{value}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_admin_can_be_switched_off() {
    let folder = tempfile::tempdir().unwrap();
    let site = Site::start_in(folder, &SiteBuilder::new(), &[("admin", "false")]).await;
    let mut visitor = logged_in(&site, "admin").await;
    assert!(visitor.get("/wp-admin/").await.header("location").ends_with("/wp-admin/profile.php"));
    assert_eq!(visitor.get("/wp-admin/edit.php").await.status, 404);
    assert_eq!(visitor.get("/wp-admin/profile.php").await.status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn styles_and_scripts_are_cached_for_good() {
    let site = Site::start().await;
    let page = logged_in(&site, "admin").await.get("/wp-admin/").await.body;
    let url = page.split_once("<link rel=\"stylesheet\" href=\"").unwrap().1.split('"').next().unwrap();
    let style = site.get(url).await;
    assert_eq!((style.status, style.header("content-type")), (200, "text/css; charset=UTF-8"));
    assert!(style.header("cache-control").ends_with("immutable"));
    assert_eq!(site.get("/wp-admin/assets/../lib.rs").await.status, 302);
    assert_eq!(site.get("/wp-admin/assets/nothing.js").await.status, 404);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_post_is_created_once() {
    let site = Site::start().await;
    let admin = site.app_password();
    let mut visitor = logged_in(&site, "admin").await;
    let page = visitor.get("/wp-admin/post-new.php").await.body;
    let path = "/wp-admin/post.php?post_type=post";
    let text = |text: &'static str| [("title", "T"), ("content", text), ("action", "save")];
    // The response was lost, so the script sends the form again.
    let first = send_form(&mut visitor, path, &page, &text("one"), true).await.json();
    let second = send_form(&mut visitor, path, &page, &text("two"), true).await.json();
    assert_eq!(first["id"], second["id"]);
    assert_eq!(stored(&site, &admin, first["id"].as_i64().unwrap()).await["content"]["raw"], "two");
    // Another form creates another post.
    let page = visitor.get("/wp-admin/post-new.php").await.body;
    let third = send_form(&mut visitor, path, &page, &text("one"), true).await.json();
    assert_ne!(first["id"], third["id"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_autosave_of_an_own_draft_is_the_draft() {
    let site = Site::start().await;
    let admin = site.app_password();
    let mut visitor = logged_in(&site, "admin").await;
    let page = visitor.get("/wp-admin/post-new.php").await.body;
    let path = "/wp-admin/post.php?post_type=post";
    let text = |text: &'static str| [("title", "T"), ("content", text), ("action", "autosave")];
    let first = send_form(&mut visitor, path, &page, &text("one"), true).await;
    assert_eq!(first.status, 200, "{}", first.body);
    let id = first.json()["id"].as_i64().unwrap();
    let mut etag = first.json()["etag"].as_str().unwrap().to_owned();
    for words in ["two", "three"] {
        let mut changes = text(words).to_vec();
        changes.push(("etag", &etag));
        let saved = send_form(&mut visitor, &edit(id), &page, &changes, true).await;
        assert_eq!(saved.status, 200, "{}", saved.body);
        etag = saved.json()["etag"].as_str().unwrap().to_owned();
        assert_eq!(stored(&site, &admin, id).await["content"]["raw"], words);
    }
    let stale =
        send_form(&mut visitor, &edit(id), &page, &[("content", "x"), ("etag", "0000"), ("action", "autosave")], true)
            .await;
    assert_eq!((stale.status, &stale.json()["current"]["content"]), (412, &json!("three")));
    let revisions = visitor.get(&format!("/wp-admin/revision.php?post={id}")).await.body;
    assert!(revisions.contains("no revisions") || revisions.matches("revision=").count() <= 1, "{revisions}");
}

#[tokio::test(flavor = "multi_thread")]
async fn editors_see_who_has_a_post_open() {
    let site = Site::start().await;
    let admin = site.app_password();
    user(&site, &admin, "eve", "editor").await;
    user(&site, &admin, "ann", "author").await;
    let id = create(&site, &admin, json!({"title": "T", "status": "publish"})).await["id"].as_i64().unwrap();
    let (mut one, mut two) = (logged_in(&site, "admin").await, logged_in(&site, "eve").await);
    let lock = [("action", "lock")];
    assert_eq!(submit(&mut one, &edit(id), &lock, true).await.json()["holder"], Value::Null);
    let page = two.get(&edit(id)).await.body;
    assert!(page.contains("<strong>admin</strong> has this post open"), "{page}");
    assert_eq!(send_form(&mut two, &edit(id), &page, &lock, true).await.json()["holder"], "admin");
    // It is a warning: both can save.
    assert_eq!(send_form(&mut two, &edit(id), &page, &[("content", "x"), ("action", "save")], true).await.status, 200);
    // Users who may not edit the post cannot lock it.
    let mut author = logged_in(&site, "ann").await;
    let page = author.get("/wp-admin/post-new.php").await.body;
    assert_eq!(send_form(&mut author, &edit(id), &page, &lock, true).await.status, 403);
}

#[tokio::test(flavor = "multi_thread")]
async fn registered_fields_are_edited() {
    let folder = tempfile::tempdir().unwrap();
    let meta = |key: &str, kind: &str| format!("[[meta]]\nobject = \"post\"\nkey = \"{key}\"\ntype = \"{kind}\"\n");
    let tables = meta("pages", "integer") + &meta("isbn", "string") + &meta("read", "boolean");
    std::fs::write(folder.path().join("svc.toml"), tables).unwrap();
    let site = Site::start_in(folder, &SiteBuilder::new(), &[]).await;
    let admin = site.app_password();
    let id = create(&site, &admin, json!({"title": "T"})).await["id"].as_i64().unwrap();
    let mut visitor = logged_in(&site, "admin").await;
    let changes = [("meta.pages", "12"), ("meta.isbn", "a \" b"), ("meta.read", "1"), ("action", "save")];
    let response = submit(&mut visitor, &edit(id), &changes, false).await;
    assert_eq!(response.status, 302, "{}", response.body);
    let meta = stored(&site, &admin, id).await["meta"].clone();
    assert_eq!((&meta["pages"], &meta["isbn"], &meta["read"]), (&json!(12), &json!("a \" b"), &json!(true)));
    let refused = submit(&mut visitor, &edit(id), &[("meta.pages", "many"), ("action", "save")], false).await;
    assert_eq!(refused.status, 400);
    assert!(refused.body.contains("many") && refused.body.contains("role=\"alert\""), "{}", refused.body);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_save_leaves_what_the_user_has_not_changed() {
    let site = Site::start().await;
    let admin = site.app_password();
    let mut visitor = logged_in(&site, "admin").await;
    let tags = "/svc-json/svc/v2/tags";
    let tag = site.post(tags, &admin, &json!({"name": "Foo, Bar"})).await.json()["id"].clone();
    let id = create(&site, &admin, json!({"title": "T", "content": "a", "tags": [tag]})).await["id"].as_i64().unwrap();
    let page = visitor.get(&edit(id)).await.body;
    let all = |page: &str| {
        let names = ["status", "slug", "date", "comment_status", "terms-post_tag"];
        names.map(|name| (name, if name == "terms-post_tag" { field(page, name) } else { selected(page, name) }))
    };
    let fields = all(&page);
    // Somebody else publishes the post meanwhile, with another slug and closed comments.
    let theirs = json!({"status": "publish", "slug": "theirs", "comment_status": "closed"});
    assert_eq!(site.post(&format!("{POSTS}/{id}"), &admin, &theirs).await.status, 200);
    let etag = visitor.get(&edit(id)).await.body;
    let etag = field(&etag, "etag");
    let mut changes: Vec<(&str, &str)> = fields.iter().map(|(name, value)| (*name, &**value)).collect();
    changes.extend([
        ("content", "mine"),
        ("has-terms", "1"),
        ("terms-category", "1"),
        ("etag", &*etag),
        ("action", "save"),
    ]);
    let saved = send_form(&mut visitor, &edit(id), &page, &changes, true).await;
    assert_eq!(saved.status, 200, "{}", saved.body);
    let post = stored(&site, &admin, id).await;
    assert_eq!(
        (&post["status"], &post["slug"], &post["comment_status"]),
        (&json!("publish"), &json!("theirs"), &json!("closed"))
    );
    assert_eq!((&post["content"]["raw"], &post["tags"]), (&json!("mine"), &json!([tag])));
    // A date can be changed and set back without loading the page again.
    let saved = saved.json();
    let (mut opened, mut etag) =
        (saved["opened"].as_str().unwrap().to_owned(), saved["etag"].as_str().unwrap().to_owned());
    for date in ["2020-01-02T03:04:05", "2021-01-02T03:04:05", "2020-01-02T03:04:05"] {
        let changes = [("date", date), ("opened", &*opened), ("etag", &*etag), ("action", "save")];
        let saved = send_form(&mut visitor, &edit(id), &page, &changes, true).await.json();
        assert_eq!(stored(&site, &admin, id).await["date"], date);
        (opened, etag) = (saved["opened"].as_str().unwrap().to_owned(), saved["etag"].as_str().unwrap().to_owned());
    }
    // A post in the trash is not published again.
    let basic = crate::site::basic(&admin);
    crate::client::send(site.address, "DELETE", &format!("{POSTS}/{id}"), &[("Authorization", &basic)], "").await;
    let refused = send_form(&mut visitor, &edit(id), &page, &[("content", "x"), ("action", "save")], true).await;
    assert!(refused.status == 400 && refused.body.contains("in the trash"), "{}", refused.body);
}

/// The value of an input, or the selected one of a choice.
fn selected(page: &str, name: &str) -> String {
    let select = format!("<select name=\"{name}\"");
    let Some((_, rest)) = page.split_once(&select) else { return field(page, name) };
    let options = rest.split("</select>").next().unwrap();
    let (before, _) = options.split_once("\" selected").unwrap();
    before.rsplit_once("value=\"").unwrap().1.to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_author_does_not_conflict_with_what_the_filter_changes() {
    let site = Site::start().await;
    let admin = site.app_password();
    user(&site, &admin, "ann", "author").await;
    let mut visitor = logged_in(&site, "ann").await;
    let page = visitor.get("/wp-admin/post-new.php").await.body;
    let text = |content: &'static str| [("title", "Q & A "), ("content", content), ("action", "autosave")];
    let mut path = "/wp-admin/post.php?post_type=post".to_owned();
    let mut etag = String::new();
    for content in ["a < b <iframe src=x></iframe>", "a < b and c ", "a < b & c"] {
        let mut changes = text(content).to_vec();
        changes.push(("etag", &etag));
        let saved = send_form(&mut visitor, &path, &page, &changes, true).await;
        assert_eq!(saved.status, 200, "{content}: {}", saved.body);
        let saved = saved.json();
        etag = saved["etag"].as_str().unwrap().to_owned();
        path = edit(saved["id"].as_i64().unwrap());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn contributors_submit_for_review() {
    let site = Site::start().await;
    let admin = site.app_password();
    user(&site, &admin, "con", "contributor").await;
    let mut visitor = logged_in(&site, "con").await;
    let page = visitor.get("/wp-admin/post-new.php").await.body;
    assert!(
        page.contains("Submit for review") && !page.contains(">Publish<") && !page.contains("value=\"private\""),
        "{page}"
    );
    let changes = [("title", "T"), ("content", "x"), ("action", "submit")];
    let saved = send_form(&mut visitor, "/wp-admin/post.php?post_type=post", &page, &changes, true).await.json();
    assert_eq!(saved["status"], "pending");
}
