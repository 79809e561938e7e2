//! Imports a dump of another site and serves it.

use svc_server::SiteBuilder;
use svc_store::import::ImportOptions;

use crate::site::{Site, store};

/// A site with a single post as `mysqldump` writes it, with another table prefix.
fn dump() -> String {
    let tables = [
        ("commentmeta", "meta_id, comment_id, meta_key, meta_value", vec![]),
        ("comments", "comment_ID, comment_post_ID, comment_author, comment_content", vec![]),
        ("links", "link_id, link_url", vec![]),
        (
            "options",
            "option_id, option_name, option_value, autoload",
            vec![
                "1,'siteurl','http://old.example','yes'",
                "2,'home','http://old.example','yes'",
                "3,'blogname','It\\'s moved','yes'",
                "4,'permalink_structure','/%postname%/','yes'",
                "5,'other_user_roles','a:0:{}','yes'",
            ],
        ),
        ("postmeta", "meta_id, post_id, meta_key, meta_value", vec![]),
        (
            "posts",
            "ID, post_author, post_date, post_date_gmt, post_content, post_title, post_status, post_name, post_type",
            vec![
                "7,1,'2020-01-02 03:04:05','2020-01-02 03:04:05','Old text','An old post','publish','an-old-post','post'",
            ],
        ),
        ("term_relationships", "object_id, term_taxonomy_id", vec![]),
        ("term_taxonomy", "term_taxonomy_id, term_id, taxonomy", vec![]),
        ("termmeta", "meta_id, term_id, meta_key, meta_value", vec![]),
        ("terms", "term_id, name, slug", vec![]),
        ("usermeta", "umeta_id, user_id, meta_key, meta_value", vec![]),
        ("users", "ID, user_login, user_nicename, display_name", vec!["1,'jo','jo','Jo'"]),
    ];
    let mut text = "-- a dump\n".to_owned();
    for (table, columns, rows) in tables {
        let definitions: Vec<String> = columns.split(", ").map(|c| format!("  `{c}` longtext")).collect();
        text.push_str(&format!("CREATE TABLE `other_{table}` (\n{}\n) ENGINE=InnoDB;\n", definitions.join(",\n")));
        let names: Vec<String> = columns.split(", ").map(|c| format!("`{c}`")).collect();
        for row in rows {
            text.push_str(&format!("INSERT INTO `other_{table}` ({}) VALUES ({row});\n", names.join(", ")));
        }
    }
    text
}

#[tokio::test(flavor = "multi_thread")]
async fn an_imported_site_is_served() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("svc-data")).unwrap();
    let closed_store = store(&folder);
    let report = closed_store.import(dump().as_bytes(), ImportOptions::default()).unwrap();
    assert_eq!((report.prefix.as_str(), report.tables["posts"]), ("other_", 1));
    drop(closed_store);
    let site = Site::start_in(folder, &SiteBuilder::new(), &[]).await;
    assert!(site.created.is_none(), "the site has no sample content");
    let list = site.get("/svc-json/svc/v2/posts").await.json();
    assert_eq!(list[0]["id"], 7);
    assert_eq!(list[0]["link"], "http://old.example/an-old-post/");
    let page = site.get("/an-old-post/").await;
    assert!(
        page.status == 200 && page.body.contains("Old text") && page.body.contains("It&#39;s moved"),
        "{}",
        page.body
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_broken_dump_changes_nothing() {
    let folder = Site::start().await.stop().await;
    let broken = dump().replace("'post');", "'post'");
    let options = ImportOptions { overwrite: true, ..ImportOptions::default() };
    let error = store(&folder).import(broken.as_bytes(), options).unwrap_err().to_string();
    assert!(error.starts_with("line "), "{error}");
    let site = Site::start_in(folder, &SiteBuilder::new(), &[]).await;
    assert_eq!(site.get("/svc-json/svc/v2/posts").await.header("x-svc-total"), "3");
}
