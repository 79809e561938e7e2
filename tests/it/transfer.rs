//! WXR files: what is exported is imported by another site, which exports the same; imports are repeated and continued.

use std::{
    collections::{BTreeMap, HashMap},
    io::Cursor,
    sync::Arc,
};

use serde_json::{Value, json};
use svc_server::{OpenSite, Site as SiteData, SiteBuilder};
use svc_site::transfer::{
    export::{ExportFilter, export},
    import::{ImportError, ImportOptions, ImportReport, create_authors, import, survey},
};
use svc_store::{Db, posts, users};
use svc_versions::Context;
use svc_wxr::{Entry, Item, Reader};

use crate::{
    client::raw,
    site::{Site, basic, config},
    visitor::user,
};

pub(crate) const API: &str = "/svc-json/svc/v2";

/// Texts that XML, HTML and SQL have special characters for.
const HOSTILE: &str = "]]> <![CDATA[ &amp; & < ' \" \\ \u{1F600} 日本 <script>x</script> %s {{7}}";

/// The site of a server, as commands open it.
pub(crate) fn open(site: &Site, settings: &[(&str, &str)]) -> OpenSite {
    SiteBuilder::new().open(&config(&site.folder, settings), &"http://127.0.0.1:1".parse().unwrap()).unwrap()
}

fn read<T>(site: &SiteData, f: impl FnOnce(&mut Db) -> svc_site::SiteResult<T>) -> T {
    site.read(&Context::background(), f).map_err(|error| error.message().to_owned()).unwrap()
}

pub(crate) fn exported(site: &SiteData, filter: &ExportFilter) -> Vec<u8> {
    let mut file = Vec::new();
    let now = chrono::DateTime::from_timestamp(1_800_000_000, 0).unwrap().naive_utc();
    read(site, |db| export(db, site, filter, now, &mut file, &mut |_| ()));
    file
}

pub(crate) async fn imported(site: &Arc<SiteData>, file: &[u8], files: bool) -> Result<ImportReport, ImportError> {
    let cx = Context::background();
    let found = survey(file).map_err(ImportError::File)?;
    let authors = create_authors(site, &cx, &svc_auth::Caller::anonymous(), &found.authors).await?;
    let admin = read(site, |db| Ok(users::by_login(db, "admin")?)).unwrap().id;
    let options = ImportOptions { authors, fallback: admin, files, any_html: true };
    import(site, &cx, Cursor::new(file.to_vec()), options, &|_| ()).await
}

fn entries(file: &[u8]) -> Vec<Entry> {
    Reader::new(file).collect::<Result<_, _>>().unwrap()
}

pub(crate) fn items(file: &[u8]) -> Vec<Item> {
    let item = |entry| if let Entry::Item(item) = entry { Some(*item) } else { None };
    entries(file).into_iter().filter_map(item).collect()
}

/// What an item is on each site: names instead of IDs, and without the host.
pub(crate) fn comparable(file: &[u8], host: &str) -> BTreeMap<String, Value> {
    let (items, all) = (items(file), entries(file));
    let name = |item: &Item| format!("{} {} {}", item.post_type, item.guid, item.date);
    let names: HashMap<i64, String> = items.iter().map(|item| (item.id, name(item))).collect();
    let users: HashMap<i64, String> = all
        .iter()
        .filter_map(
            |entry| if let Entry::Author(author) = entry { Some((author.id, author.login.clone())) } else { None },
        )
        .collect();
    let terms: HashMap<i64, String> = all
        .iter()
        .filter_map(|entry| if let Entry::Term(term) = entry { Some((term.id, term.slug.clone())) } else { None })
        .collect();
    let without_host = |text: &str| text.replace(host, "HOST");
    let of = |names: &HashMap<i64, String>, id: i64| names.get(&id).cloned().unwrap_or_default();
    let post = |item: &Item| {
        let kind = item.meta.iter().find(|row| row.key == "_menu_item_type").map(|row| row.value.as_str());
        let meta: Vec<Value> = item
            .meta
            .iter()
            .map(|row| {
                let id = row.value.parse().unwrap_or(0);
                let value = match (&*row.key, kind) {
                    ("_thumbnail_id" | "_menu_item_menu_item_parent", _) => of(&names, id),
                    ("_menu_item_object_id", Some("taxonomy")) => of(&terms, id),
                    ("_menu_item_object_id", _) => of(&names, id),
                    ("_edit_last", _) => of(&users, id),
                    _ => row.value.clone(),
                };
                json!([row.key, value])
            })
            .collect();
        let comments: HashMap<i64, &str> = item.comments.iter().map(|c| (c.id, c.content.as_str())).collect();
        let comment = |c: &svc_wxr::Comment| {
            json!([
                c.author,
                c.author_email,
                c.author_url,
                c.author_ip,
                c.date,
                c.date_gmt,
                c.content,
                c.approved,
                c.comment_type,
                comments.get(&c.parent),
                of(&users, c.user),
                c.meta.iter().map(|row| json!([row.key, row.value])).collect::<Vec<_>>()
            ])
        };
        let mut meta = meta;
        meta.sort_by_key(Value::to_string);
        json!({
            "title": item.title, "creator": item.creator, "content": without_host(&item.content), "excerpt": without_host(&item.excerpt),
            "modified": [item.modified, item.modified_gmt], "date_gmt": item.date_gmt, "pub_date": item.pub_date,
            "discussion": [item.comment_status, item.ping_status], "slug": item.slug, "status": item.status,
            "parent": of(&names, item.parent), "order": item.menu_order, "password": item.password, "sticky": item.is_sticky,
            "file": without_host(&item.attachment_url),
            "terms": item.terms.iter().map(|t| json!([t.taxonomy, t.slug, t.name])).collect::<Vec<_>>(),
            "meta": meta, "comments": item.comments.iter().map(comment).collect::<Vec<_>>(),
        })
    };
    items.iter().map(|item| (name(item), post(item))).collect()
}

/// The terms of a file, by taxonomy and slug.
pub(crate) fn terms_of(file: &[u8]) -> BTreeMap<String, Value> {
    let term = |entry| match entry {
        Entry::Term(t) => Some((format!("{} {}", t.taxonomy, t.slug), json!([t.name, t.description, t.parent]))),
        _ => None,
    };
    entries(file).into_iter().filter_map(term).collect()
}

pub(crate) async fn create(site: &Site, admin: &str, collection: &str, body: Value) -> Value {
    let created = site.post(&format!("{API}/{collection}"), admin, &body).await;
    assert_eq!(created.status, 201, "{}", created.body);
    created.json()
}

/// Uploads a picture.
async fn upload(site: &Site, admin: &str) -> Value {
    const IMAGE: &[u8] = include_bytes!("../../crates/svc-controllers/tests/data/wide.png");
    let head = format!(
        "POST {API}/media HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nAuthorization: {}\r\n\
         Content-Disposition: attachment; filename=wide.png\r\nContent-Length: {}\r\n\r\n",
        site.address,
        basic(admin),
        IMAGE.len()
    );
    let response = raw(site.address, &[head.as_bytes(), IMAGE].concat(), false).await;
    serde_json::from_str(String::from_utf8_lossy(&response).split_once("\r\n\r\n").unwrap().1).unwrap()
}

/// Fills a site with everything that a file can contain.
pub(crate) async fn fill(site: &Site, admin: &str) {
    let author = user(site, admin, "ann", "author").await;
    let up = create(site, admin, "categories", json!({"name": "Up & <b>", "slug": "up", "description": HOSTILE})).await;
    let down = create(site, admin, "categories", json!({"name": "Down", "slug": "down", "parent": up["id"]})).await;
    let tag = create(site, admin, "tags", json!({"name": "Sea", "slug": "sea"})).await;
    let picture = upload(site, admin).await;
    let source = picture["source_url"].as_str().unwrap();
    let small = picture["media_details"]["sizes"]["thumbnail"]["source_url"].as_str().unwrap();
    let content = format!("<img src=\"{source}\"> <a href='{small}'>x</a>\n{HOSTILE}\n\n");
    let post = create(
        site,
        admin,
        "posts",
        json!({"title": HOSTILE, "content": content, "excerpt": HOSTILE, "status": "publish", "author": author, "sticky": true,
               "categories": [down["id"]], "tags": [tag["id"]], "featured_media": picture["id"], "format": "aside",
               "date": "2024-03-05T10:20:30"}),
    )
    .await;
    for (status, more) in [
        ("draft", json!({})),
        ("private", json!({})),
        ("pending", json!({})),
        ("future", json!({"date": "2090-01-01T00:00:00"})),
        ("publish", json!({"password": "sesame", "comment_status": "closed"})),
    ] {
        let mut body = json!({"title": format!("A {status} post"), "status": status});
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        create(site, admin, "posts", body).await;
    }
    // A post without a title, and two that differ in their dates only.
    for date in ["2024-01-01T00:00:00", "2024-01-02T00:00:00"] {
        create(site, admin, "posts", json!({"title": "Same", "content": "x", "status": "publish", "date": date})).await;
        create(
            site,
            admin,
            "posts",
            json!({"content": "untitled", "status": "publish", "date": "2024-01-01T00:00:00"}),
        )
        .await;
    }
    let child = create(site, admin, "pages", json!({"title": "Child", "status": "publish", "menu_order": 3})).await;
    let parent = create(site, admin, "pages", json!({"title": "Parent", "status": "publish"})).await;
    let path = format!("{API}/pages/{}", child["id"]);
    assert_eq!(site.post(&path, admin, &json!({"parent": parent["id"]})).await.status, 200);
    create(site, admin, "blocks", json!({"title": "Pattern", "content": "<!-- wp:spacer /-->", "status": "publish"}))
        .await;
    create(
        site,
        admin,
        "navigation",
        json!({"title": "Menu", "content": "<!-- wp:page-list /-->", "status": "publish"}),
    )
    .await;
    let menu = create(site, admin, "menus", json!({"name": "Main"})).await;
    let item = |more: Value| {
        let mut body = json!({"menus": menu["id"], "status": "publish"});
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        body
    };
    let top = item(json!({"title": "Out", "type": "custom", "url": "https://example.org/", "menu_order": 1}));
    let top = create(site, admin, "menu-items", top).await;
    for (kind, object, id) in [("post_type", "page", &parent["id"]), ("taxonomy", "category", &up["id"])] {
        let body = item(json!({"type": kind, "object": object, "object_id": id, "parent": top["id"], "menu_order": 2}));
        create(site, admin, "menu-items", body).await;
    }
    let comment =
        json!({"post": post["id"], "content": HOSTILE, "author_name": "V <i>", "author_email": "v@example.org"});
    let comment = create(site, admin, "comments", comment).await;
    create(site, admin, "comments", json!({"post": post["id"], "content": "An answer", "parent": comment["id"]})).await;
    create(
        site,
        admin,
        "comments",
        json!({"post": post["id"], "content": "Waits", "status": "hold", "author_name": "W", "author_email": "w@example.org"}),
    )
    .await;
}

/// A site without the sample content.
pub(crate) async fn empty_site(settings: &[(&str, &str)]) -> Site {
    let site = Site::start_in(tempfile::tempdir().unwrap(), &SiteBuilder::new(), settings).await;
    let empty = |tx: &mut svc_store::Tx| {
        let ids: Vec<_> = posts::identities(tx, svc_model::PostId(0), 100)?.into_iter().map(|post| post.id).collect();
        ids.into_iter().try_for_each(|id| posts::delete(tx, id).map(drop))
    };
    crate::site::store(&site.folder).write_blocking(empty).unwrap();
    site
}

#[tokio::test(flavor = "multi_thread")]
async fn another_site_exports_what_it_has_imported() {
    let site = Site::start().await;
    let admin = site.app_password();
    fill(&site, &admin).await;
    let first = exported(open(&site, &[]).site(), &ExportFilter::default());
    let allowed = [("outgoing.allow", &*site.address.to_string())];
    let other_site = empty_site(&allowed).await;
    let other = open(&other_site, &allowed);
    let report = imported(other.site(), &first, true).await.unwrap();
    assert_eq!((&report.problems, report.existing, report.without_file), (&Vec::new(), 0, 0));
    assert_eq!(report.created, items(&first).len() as u64);
    let second = exported(other.site(), &ExportFilter::default());
    let (host, other_host) = (format!("http://{}", site.address), format!("http://{}", other_site.address));
    let (before, after) = (comparable(&first, &host), comparable(&second, &other_host));
    assert!(before.len() > 20, "{}", before.len());
    for (name, item) in &before {
        assert_eq!(Some(item), after.get(name), "{name}");
    }
    assert_eq!(before.len(), after.len());
    assert_eq!(terms_of(&first), terms_of(&second));
    assert!(!String::from_utf8(second.clone()).unwrap().contains("_svc_import"));
    // The REST API shows the same as on the first site.
    let fields = "title,content.rendered,excerpt.rendered,status,slug,sticky,format,date,modified,comment_status,template,password";
    for collection in ["posts", "pages"] {
        let path = format!("{API}/{collection}?status=any&context=edit&per_page=100&orderby=slug&_fields={fields}");
        let mut lists = Vec::new();
        for (server, host) in [(&site, &host), (&other_site, &other_host)] {
            let admin = server.app_password();
            let headers = [("Authorization", &*basic(&admin))];
            let list = crate::client::send(server.address, "GET", &path, &headers, "").await;
            let mut list: Vec<String> =
                list.json().as_array().unwrap().iter().map(|p| p.to_string().replace(&**host, "HOST")).collect();
            list.sort();
            lists.push(list);
        }
        assert_eq!(lists[0], lists[1], "{collection}");
    }
    let picture = items(&second).into_iter().find(|item| item.post_type == "attachment").unwrap();
    let path = picture.attachment_url.split_once(&other_site.address.to_string()).unwrap().1;
    assert_eq!(other_site.get(path).await.status, 200);

    // Imported again, nothing changes.
    let report = imported(other.site(), &first, true).await.unwrap();
    assert_eq!((report.created, report.comments, report.terms), (0, 0, 0), "{:?}", report.problems);
    assert_eq!(exported(other.site(), &ExportFilter::default()), second);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_interrupted_import_is_continued() {
    let site = Site::start().await;
    let admin = site.app_password();
    fill(&site, &admin).await;
    for n in 0..60 {
        create(&site, &admin, "posts", json!({"title": format!("Filler {n}"), "status": "publish"})).await;
    }
    // The last page is the parent of the first.
    let child = create(&site, &admin, "pages", json!({"title": "Early child", "status": "publish"})).await;
    let parent = create(&site, &admin, "pages", json!({"title": "Late parent", "status": "publish"})).await;
    site.post(&format!("{API}/pages/{}", child["id"]), &admin, &json!({"parent": parent["id"]})).await;
    let file = exported(open(&site, &[]).site(), &ExportFilter::default());
    let other_site = empty_site(&[]).await;
    let other = open(&other_site, &[]);
    let cx = Context::background();
    let at = String::from_utf8(file.clone()).unwrap().find("Late parent").unwrap();
    let admin_id = read(other.site(), |db| Ok(users::by_login(db, "admin")?)).unwrap().id;
    let options = ImportOptions { authors: HashMap::new(), fallback: admin_id, files: false, any_html: true };
    let cut = Cursor::new(file[..at].to_vec());
    let error = import(other.site(), &cx, cut, options, &|_| ()).await.unwrap_err();
    assert!(matches!(error, ImportError::File(_)), "{error}");
    let partial = items(&exported(other.site(), &ExportFilter::default())).len();
    assert!(partial > 25, "{partial}");
    let report = imported(other.site(), &file, false).await.unwrap();
    assert_eq!(report.existing, partial as u64);
    let all = items(&exported(other.site(), &ExportFilter::default()));
    assert_eq!(all.len() as u64, items(&file).len() as u64 - report.without_file);
    let find = |title: &str| all.iter().find(|item| item.title == title).unwrap();
    assert_eq!(find("Early child").parent, find("Late parent").id);
    assert_eq!(find("Child").parent, find("Parent").id);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_part_of_a_site_is_exported() {
    let site = Site::start().await;
    let admin = site.app_password();
    fill(&site, &admin).await;
    let data = open(&site, &[]);
    let titles = |filter: ExportFilter| {
        let mut all: Vec<String> = items(&exported(data.site(), &filter)).into_iter().map(|item| item.title).collect();
        all.sort();
        all
    };
    let post = |filter: ExportFilter| ExportFilter { post_type: Some("post".to_owned()), ..filter };
    let day = |text: &str| Some(text.parse().unwrap());
    let drafts = post(ExportFilter { status: Some("draft".to_owned()), ..ExportFilter::default() });
    assert_eq!(titles(drafts), ["A draft post"]);
    let ann = read(data.site(), |db| Ok(users::by_login(db, "ann")?)).unwrap().id;
    // With the picture of the post.
    let hostile = titles(post(ExportFilter { author: Some(ann), ..ExportFilter::default() }));
    assert_eq!(hostile.len(), 2, "{hostile:?}");
    let days = post(ExportFilter { from: day("2024-01-01"), to: day("2024-01-01"), ..ExportFilter::default() });
    assert_eq!(titles(days), ["", "", "Same"]);
    let up = read(data.site(), |db| Ok(svc_store::terms::by_slug(db, "up", "category")?)).unwrap().id;
    let filter = post(ExportFilter { category: Some(up), ..ExportFilter::default() });
    assert_eq!(titles(filter.clone()), hostile);
    assert_eq!(terms_of(&exported(data.site(), &filter)).len(), 1);
    let none = ExportFilter { post_type: Some("nonsense".to_owned()), ..ExportFilter::default() };
    assert_eq!(titles(none), Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn strange_values_do_not_break_the_site() {
    let site = empty_site(&[]).await;
    let long = "x".repeat(300);
    let item = |id: &str, more: &str| {
        format!(
            "<item><title>Strange {id}</title><dc:creator>{long}</dc:creator><wp:post_id>{id}</wp:post_id><wp:post_type>post</wp:post_type>\
             <wp:post_date>not a date</wp:post_date>{more}</item>"
        )
    };
    let more = format!(
        "<guid>ID{long}</guid><wp:post_name>{long}</wp:post_name><wp:status>{long}</wp:status><wp:post_password>{long}</wp:post_password>\
         <wp:menu_order>9223372036854775807</wp:menu_order><wp:comment_status>{long}</wp:comment_status><wp:post_parent>77</wp:post_parent>\
         <category domain=\"category\" nicename=\"{long}\">{long}</category><category domain=\"{long}\" nicename=\"x\">x</category>\
         <wp:postmeta><wp:meta_key>{long}</wp:meta_key><wp:meta_value>x</wp:meta_value></wp:postmeta>\
         <wp:postmeta><wp:meta_key>evil</wp:meta_key><wp:meta_value>O:8:&quot;stdClass&quot;:0:{{}}</wp:meta_value></wp:postmeta>\
         <wp:postmeta><wp:meta_key>_svc_preview_link</wp:meta_key><wp:meta_value>x</wp:meta_value></wp:postmeta>\
         <wp:comment><wp:comment_author>{long}</wp:comment_author><wp:comment_author_email>{long}</wp:comment_author_email>\
         <wp:comment_author_url>http://{long}</wp:comment_author_url><wp:comment_author_IP>{long}</wp:comment_author_IP>\
         <wp:comment_type>{long}</wp:comment_type><wp:comment_approved>{long}</wp:comment_approved><wp:comment_parent>5</wp:comment_parent></wp:comment>"
    );
    let ids = ["9223372036854775807", "-5", "x", "12"];
    let all: String = ids.iter().map(|id| item(id, &more.replacen("ID", id, 1))).collect();
    let file = format!("<rss><channel><wp:wxr_version>1.2</wp:wxr_version>{all}</channel></rss>");
    let data = open(&site, &[]);
    let admin = read(data.site(), |db| Ok(users::by_login(db, "admin")?)).unwrap().id;
    let options = ImportOptions { authors: HashMap::new(), fallback: admin, files: false, any_html: true };
    let report =
        import(data.site(), &Context::background(), Cursor::new(file.into_bytes()), options, &|_| ()).await.unwrap();
    assert_eq!((report.created, report.comments), (4, 4), "{:?}", report.problems);
    let found = |what: &str| report.problems.iter().filter(|problem| problem.contains(what)).count();
    assert_eq!(
        (found("object of PHP"), found("meta key"), found("no taxonomy"), found("was its parent")),
        (4, 4, 1, 4)
    );
    let stored = items(&exported(data.site(), &ExportFilter::default()));
    assert!(
        stored
            .iter()
            .all(|item| item.id < 1 << 20
                && !item.meta.iter().any(|row| row.key.starts_with("_svc") || row.key == "evil"))
    );
    assert!(stored.iter().any(|item| item.id == 12));
    // The next post has an ID as well.
    let user = site.app_password();
    let next = create(&site, &user, "posts", json!({"title": "Next", "status": "publish"})).await;
    assert!(next["id"].as_i64().unwrap() < 1 << 20, "{}", next["id"]);
}

/// Imports entries as the administrator, with the texts as they are.
async fn imported_entries(site: &Arc<SiteData>, entries: &str) -> Result<ImportReport, ImportError> {
    let file = format!("<rss><channel><wp:wxr_version>1.2</wp:wxr_version>{entries}</channel></rss>");
    imported(site, file.as_bytes(), false).await
}

#[tokio::test(flavor = "multi_thread")]
async fn objects_that_look_the_same_are_all_imported() {
    let site = empty_site(&[]).await;
    let data = open(&site, &[]);
    let item = |kind: &str, guid: &str, more: &str| {
        format!(
            "<item><title>Same</title><guid>{guid}</guid><wp:post_type>{kind}</wp:post_type><wp:status>publish</wp:status>\
             <wp:post_date>2024-01-02 03:04:05</wp:post_date>{more}</item>"
        )
    };
    let comment = |id: u8, date: &str| {
        format!(
            "<wp:comment><wp:comment_id>{id}</wp:comment_id><wp:comment_author>A &lt;b&gt;x</wp:comment_author><wp:comment_date>{date}</wp:comment_date>\
             <wp:comment_content>c{id}</wp:comment_content><wp:comment_approved>1</wp:comment_approved></wp:comment>"
        )
    };
    let comments: String = [comment(1, "2024-01-02 03:04:05"), comment(2, "2024-01-02 03:04:05")].concat()
        + &[comment(3, "never"), comment(4, "never")].concat();
    let mut file: String = (0..30).map(|n| item("nav_menu_item", &format!("http://a/?p={n}"), "")).collect();
    file += &(0..30).map(|n| item("post", &format!("http://a/?post={n}"), "")).collect::<String>();
    file += &item("page", "http://a/page", &comments);
    // The same one again is no other post, in the same batch or in another.
    file += &item("post", "http://a/?post=3", "");
    file += &item("page", "http://a/page", "");
    file += &item("page", "", "").repeat(2);
    let report = imported_entries(data.site(), &file).await.unwrap();
    assert_eq!((report.created, report.existing, report.comments), (63, 2, 4), "{:?}", report.problems);
    let report = imported_entries(data.site(), &file).await.unwrap();
    assert_eq!((report.created, report.existing, report.comments), (0, 65, 0), "{:?}", report.problems);
}

#[tokio::test(flavor = "multi_thread")]
async fn terms_are_recognized_by_the_slug_that_is_stored() {
    let site = empty_site(&[]).await;
    let data = open(&site, &[]);
    let term = |slug: &str, parent: &str, name: &str| {
        format!(
            "<wp:category><wp:category_nicename>{slug}</wp:category_nicename><wp:category_parent>{parent}</wp:category_parent>\
             <wp:cat_name>{name}</wp:cat_name></wp:category>"
        )
    };
    let category =
        |slug: &str, name: &str| format!("<category domain=\"category\" nicename=\"{slug}\">{name}</category>");
    let post = |guid: &str, terms: String| {
        format!("<item><title>{guid}</title><guid>{guid}</guid><wp:post_type>post</wp:post_type>{terms}</item>")
    };
    let file = term("Zz Up Per", "", "Upper")
        + &term("", "Zz Up Per", "No Slug")
        + &term("", "", "")
        + &post("a", category("Zz Up Per", "Upper") + &category("", "No Slug") + &category("Other One", ""))
        + &post("b", category("", "") + &category("other one", "Other"));
    let report = imported_entries(data.site(), &file).await.unwrap();
    assert_eq!((report.created, report.terms, report.n_problems), (2, 3, 2), "{:?}", report.problems);
    let all = read(data.site(), |db| {
        let slugs = ["zz-up-per", "no-slug", "other-one"];
        slugs
            .into_iter()
            .map(|slug| Ok(svc_store::terms::by_slug(db, slug, "category")?))
            .collect::<Result<Vec<_>, svc_site::SiteError>>()
    });
    let all: Vec<_> = all.into_iter().map(Option::unwrap).collect();
    assert_eq!(all[1].parent, all[0].id);
    let report = imported_entries(data.site(), &file).await.unwrap();
    assert_eq!((report.created, report.terms), (0, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn one_import_runs_at_a_time() {
    let site = empty_site(&[]).await;
    // Two processes that use the same site.
    let (one, two) = (open(&site, &[]), open(&site, &[]));
    let item = |n: u8| {
        format!(
            "<item><title>{n}</title><guid>http://a/{n}</guid><wp:post_type>post</wp:post_type><wp:status>odd</wp:status>\
             <wp:post_date>2024-01-02 03:04:05</wp:post_date></item>"
        )
    };
    let file: String = (0..60).map(item).collect();
    let (first, second) = tokio::join!(imported_entries(one.site(), &file), imported_entries(two.site(), &file));
    let (done, refused) = if first.is_ok() { (first, second) } else { (second, first) };
    assert_eq!(done.unwrap().created, 60);
    assert_eq!(refused.unwrap_err().to_string(), "Another import runs. Wait until it has ended.");
    assert_eq!(imported_entries(two.site(), &file).await.unwrap().existing, 60);
    // The site has no status `odd`.
    let drafts = exported(one.site(), &ExportFilter { status: Some("draft".to_owned()), ..ExportFilter::default() });
    assert_eq!(items(&drafts).len(), 60);
}
