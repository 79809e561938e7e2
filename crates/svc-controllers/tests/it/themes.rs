//! Themes, templates, patterns and styles, with a content folder that has a block theme, its child theme and a classic
//! theme.

use std::{fs, path::Path};

use crate::harness::{ADMIN, AUTHOR, CONTRIBUTOR, EDITOR, Harness, NOBODY};
use serde_json::{Value, json};
use svc_model::PostId;
use svc_routing::Method;
use svc_store::{MetaKind, StoredText, meta, options, posts};
use svc_versions::Context;

/// Files of the themes; `fixture` is the active theme of the recorded site.
const FILES: &[(&str, &str)] = &[
    ("fixture/style.css", "/*\nTheme Name: Fixture\nVersion: 1.0\nAuthor: Someone\n*/"),
    (
        "fixture/theme.json",
        r##"{"version":3,"settings":{"color":{"palette":[{"slug":"own","name":"Own","color":"#123456"}]}},
            "customTemplates":[{"name":"wide","title":"Wide","postTypes":["page"]}],
            "templateParts":[{"name":"header","title":"Header","area":"header"}]}"##,
    ),
    ("fixture/templates/index.html", "<!-- wp:template-part {\"slug\":\"header\"} /-->"),
    ("fixture/templates/single.html", "<!-- wp:pattern {\"slug\":\"fixture/one\"} /-->"),
    ("fixture/templates/wide.html", "<!-- wp:post-content /-->"),
    ("fixture/parts/header.html", "<!-- wp:site-title /-->"),
    (
        "fixture/patterns/one.php",
        "<?php\n/**\n * Title: One\n * Slug: fixture/one\n */\n?>\n<!-- wp:paragraph --><p>One</p><!-- /wp:paragraph -->",
    ),
    (
        "fixture/patterns/loop.php",
        "<?php\n/**\n * Title: Loop\n * Slug: fixture/loop\n */\n?>\n<!-- wp:pattern {\"slug\":\"fixture/loop\"} /-->",
    ),
    ("fixture/styles/night.json", r#"{"version":3,"title":"Night","styles":{"color":{"text":"white"}}}"#),
    ("classic/style.css", "/*\nTheme Name: Classic\n*/"),
    ("classic/index.php", "<?php"),
];

/// A site with these themes. Dropping the first value deletes the folder.
fn site() -> (tempfile::TempDir, Harness) {
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in FILES {
        let path = folder.path().join("themes").join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let content: &Path = folder.path();
    let harness = Harness::with(|setup| setup.site.content_dir = content.to_owned());
    (folder, harness)
}

#[tokio::test(flavor = "multi_thread")]
async fn visibility_by_role() {
    let (_folder, h) = site();
    let rows = [
        // Route, query, statuses for anonymous users, a contributor, an editor and an administrator.
        ("/svc/v2/themes", "", [401, 403, 403, 200]),
        ("/svc/v2/themes", "status=active", [401, 200, 200, 200]),
        ("/svc/v2/themes", "status=inactive", [401, 403, 403, 200]),
        ("/svc/v2/themes/fixture", "", [401, 200, 200, 200]),
        ("/svc/v2/themes/classic", "", [401, 403, 403, 200]),
        ("/svc/v2/themes/nosuch", "", [401, 403, 403, 404]),
        ("/svc/v2/templates", "", [401, 200, 200, 200]),
        ("/svc/v2/templates/fixture//index", "", [401, 200, 200, 200]),
        ("/svc/v2/templates/lookup", "slug=single", [401, 200, 200, 200]),
        ("/svc/v2/template-parts/fixture//header", "", [401, 200, 200, 200]),
        ("/svc/v2/templates/fixture//page/revisions", "", [401, 403, 403, 200]),
        ("/svc/v2/block-patterns/patterns", "", [401, 200, 200, 200]),
        ("/svc/v2/block-patterns/categories", "", [401, 200, 200, 200]),
        ("/svc/v2/global-styles/1460", "", [401, 200, 200, 200]),
        ("/svc/v2/global-styles/1460", "context=edit", [401, 403, 403, 200]),
        ("/svc/v2/global-styles/1460/revisions", "", [401, 403, 403, 200]),
        ("/svc/v2/global-styles/themes/fixture", "", [401, 200, 200, 200]),
        ("/svc/v2/global-styles/themes/classic", "", [401, 404, 404, 404]),
        ("/svc/v2/global-styles/themes/fixture/variations", "", [401, 200, 200, 200]),
    ];
    for (route, query, expected) in rows {
        for (user, status) in [NOBODY, CONTRIBUTOR, EDITOR, ADMIN].into_iter().zip(expected) {
            let response = h.get(user, route, query).await;
            assert_eq!(response.status, status, "{route}?{query} by {user}: {:?}", response.body);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn only_administrators_can_write() {
    let (_folder, h) = site();
    let rows = [
        (Method::POST, "/svc/v2/templates", json!({"slug": "x", "content": "c"})),
        (Method::PUT, "/svc/v2/templates/fixture//single", json!({"content": "c"})),
        (Method::DELETE, "/svc/v2/templates/fixture//page", json!({"force": true})),
        (Method::POST, "/svc/v2/templates/fixture//page/autosaves", json!({"content": "c"})),
        (Method::PUT, "/svc/v2/global-styles/1460", json!({"title": "x"})),
    ];
    for (method, route, body) in rows {
        for (user, status) in [(NOBODY, 401), (AUTHOR, 403), (EDITOR, 403)] {
            let response = h.json(user, method.clone(), route, body.clone()).await;
            assert_eq!(response.status, status, "{method} {route} by {user}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_theme_template_can_be_customized_and_reset() {
    let (_folder, h) = site();
    let route = "/svc/v2/templates/fixture//wide";
    let before = h.get(ADMIN, route, "").await.body;
    assert_eq!(
        (&before["source"], &before["wp_id"], &before["title"]["raw"]),
        (&json!("theme"), &json!(0), &json!("Wide"))
    );
    let changed = h.json(ADMIN, Method::PUT, route, json!({"content": "mine"})).await;
    assert_eq!(changed.status, 200, "{:?}", changed.body);
    let after = h.get(ADMIN, route, "").await.body;
    assert_eq!((&after["source"], &after["origin"]), (&json!("custom"), &json!("theme")));
    assert_eq!((&after["content"]["raw"], &after["title"]["raw"]), (&json!("mine"), &json!("Wide")));
    assert_eq!(after["has_theme_file"], true);
    h.json(ADMIN, Method::PUT, route, json!({"content": "again"})).await;
    let revisions = h.get(ADMIN, &format!("{route}/revisions"), "").await.body;
    assert_eq!(revisions.as_array().map(Vec::len), Some(1));
    assert_eq!(revisions[0]["content"]["raw"], "again");
    let reset = h.json(ADMIN, Method::PUT, route, json!({"source": "theme"})).await.body;
    assert_eq!((&reset["source"], &reset["content"]["raw"]), (&json!("theme"), &before["content"]["raw"]));
    let deleted = h.json(ADMIN, Method::DELETE, route, json!({"force": true})).await;
    assert_eq!((deleted.status, deleted.code()), (400, "rest_invalid_template"));
}

#[tokio::test(flavor = "multi_thread")]
async fn template_slugs_are_unique_per_theme() {
    let (_folder, h) = site();
    let make = || {
        h.json(
            ADMIN,
            Method::POST,
            "/svc/v2/template-parts",
            json!({"slug": "Same", "content": "c", "area": "nowhere"}),
        )
    };
    let (first, second) = (make().await.body, make().await.body);
    assert_eq!((&first["id"], &second["id"]), (&json!("fixture//same"), &json!("fixture//same-2")));
    assert_eq!(first["area"], "uncategorized");
    for author in [-1, 99_999] {
        let by_nobody = json!({"slug": "x", "content": "c", "author": author});
        let rejected = h.json(ADMIN, Method::POST, "/svc/v2/templates", by_nobody).await;
        assert_eq!((rejected.status, rejected.code()), (400, "rest_invalid_author"), "{author}");
    }
    let of_theme = |theme: &str| {
        let body = json!({"slug": "same", "content": "c", "theme": theme});
        h.json(ADMIN, Method::POST, "/svc/v2/template-parts", body)
    };
    // Templates can be prepared for themes that are not active, and for missing ones.
    for id in ["classic//same", "classic//same-2"] {
        let made = of_theme("classic").await;
        assert_eq!((made.status, &made.body["id"]), (201, &json!(id)));
    }
    let found = h.get(ADMIN, "/svc/v2/template-parts/classic//same", "context=edit").await;
    assert_eq!((&found.body["theme"], &found.body["has_theme_file"]), (&json!("classic"), &json!(false)));
    let rejected = of_theme("").await;
    assert_eq!((rejected.status, rejected.code()), (400, "rest_template_insert_error"));
}

/// Only the route of a theme decodes its path, so that `+` is a space there.
#[tokio::test(flavor = "multi_thread")]
async fn global_styles_of_themes_with_unusual_names() {
    let (_folder, h) = site();
    for (theme, path, status, of_variations) in [
        ("my theme", "my theme", 200, 200),
        ("my theme", "my%20theme", 200, 404),
        ("my+theme", "my+theme", 404, 404),
        ("my+theme", "my%2Btheme", 200, 404),
        ("my:theme", "my%3Atheme", 200, 404),
        ("my%3Atheme", "my%3Atheme", 404, 200),
        ("_x.y(1)@z", "_x.y(1)@z", 200, 200),
    ] {
        let name = StoredText::of(theme);
        h.site.write(&Context::background(), move |tx| Ok(options::set(tx, "stylesheet", &name, true)?)).await.unwrap();
        let route = format!("/svc/v2/global-styles/themes/{path}");
        assert_eq!(h.get(ADMIN, &route, "").await.status, status, "{theme} at {path}");
        let variations = h.get(ADMIN, &format!("{route}/variations"), "").await;
        assert_eq!(variations.status, of_variations, "variations of {theme} at {path}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn posts_can_use_custom_templates_only() {
    let (folder, h) = site();
    fs::write(folder.path().join("themes/fixture/templates/unlisted.html"), "x").unwrap();
    let own = json!({"slug": "own", "title": "Own", "content": "x"});
    assert_eq!(h.json(ADMIN, Method::POST, "/svc/v2/templates", own).await.status, 201);
    let rows = [
        ("pages", "wide", 201),
        ("posts", "wide", 400),
        ("posts", "own", 201),
        ("posts", "unlisted", 201),
        ("posts", "single", 400),
        ("posts", "", 201),
        ("posts", "nowhere", 400),
        ("blocks", "own", 400),
    ];
    for (base, template, status) in rows {
        let post = json!({"title": "x", "content": "x", "template": template});
        let response = h.json(ADMIN, Method::POST, &format!("/svc/v2/{base}"), post).await;
        assert_eq!(response.status, status, "{base} {template} {}", response.body);
        if status == 201 {
            assert_eq!(response.body["template"], template);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn patterns_are_inserted_but_never_recursively() {
    let (_folder, h) = site();
    let single = h.get(ADMIN, "/svc/v2/templates/fixture//single", "").await.body;
    let expected = "<!-- wp:paragraph {\"metadata\":{\"patternName\":\"fixture/one\",\"name\":\"One\"}} --><p>One</p><!-- /wp:paragraph -->";
    assert_eq!(single["content"]["raw"], expected);
    let patterns = h.get(ADMIN, "/svc/v2/block-patterns/patterns", "").await.body;
    let find =
        |name: &str| patterns.as_array().unwrap().iter().find(|p| p["name"] == name).cloned().unwrap_or_default();
    assert!(find("fixture/loop")["content"].as_str().unwrap().contains("wp:pattern"));
    assert_eq!(find("core/query-grid-posts")["source"], "core");
}

#[tokio::test(flavor = "multi_thread")]
async fn styles_are_sanitized_and_css_with_markup_is_rejected() {
    let (_folder, h) = site();
    let route = "/svc/v2/global-styles/1460";
    let body = json!({"styles": {"color": {"text": "var:preset|color|own", "bogus": 1}, "nonsense": {"x": 1}}});
    let changed = h.json(ADMIN, Method::PUT, route, body).await.body;
    assert_eq!(changed["styles"], json!({"color": {"text": "var(--wp--preset--color--own)"}}));
    let rejected = h.json(ADMIN, Method::PUT, route, json!({"styles": {"css": "</style><script>"}})).await;
    assert_eq!((rejected.status, rejected.code()), (400, "rest_custom_css_illegal_markup"));
    let theme = h.get(ADMIN, "/svc/v2/global-styles/themes/fixture", "").await.body;
    assert_eq!(theme["settings"]["color"]["palette"]["theme"][0]["slug"], "own");
    let variations = h.get(ADMIN, "/svc/v2/global-styles/themes/fixture/variations", "").await.body;
    assert_eq!(variations[0]["title"], "Night");
}

/// What WordPress stores for an author who may also edit the theme, for an editor, and for an administrator.
#[tokio::test(flavor = "multi_thread")]
async fn insecure_global_styles_are_removed_for_users_who_may_not_use_any_html() {
    let (_folder, h) = site();
    h.site
        .write(&Context::background(), |tx| {
            let key = format!("{}capabilities", tx.prefix());
            let both = json!({"author": true, "edit_theme_options": true});
            Ok(meta::update(tx, MetaKind::User, AUTHOR, &key, &StoredText::of(both)).map(drop)?)
        })
        .await
        .unwrap();
    let route = "/svc/v2/global-styles/1460";
    let stored = || {
        let row = |db: &mut svc_store::Db| Ok(posts::get(db, PostId(1460))?.unwrap().content);
        serde_json::from_str::<Value>(&h.site.read(&Context::background(), row).unwrap()).unwrap()
    };
    let body = json!({
        "styles": {
            "css": "a{}",
            "color": {"text": "red", "background": "url(javascript:alert(1))"},
            "blocks": {"core/group": {"spacing": {"blockGap": "1rem"}, "css": "b{}"}, "no/such": {"color": {"text": "red"}}},
        },
        "settings": {"color": {"palette": {"custom": [
            {"name": "A", "slug": "a", "color": "red"}, {"name": "<b>", "slug": "b", "color": "red"},
        ]}}},
    });
    assert_eq!(h.json(EDITOR, Method::PUT, route, body.clone()).await.code(), "rest_cannot_edit");

    let changed = h.json(ADMIN, Method::PUT, route, body.clone()).await;
    assert_eq!((changed.status, &stored()["styles"]), (200, &body["styles"]));
    assert_eq!(stored()["settings"], body["settings"]);

    // A change of the title alone filters what is stored.
    let changed = h.json(AUTHOR, Method::PUT, route, json!({"title": "Renamed"})).await;
    assert_eq!(changed.status, 200, "{}", changed.body);
    let expected = json!({
        "styles": {"color": {"text": "red"}, "blocks": {"core/group": {"spacing": {"blockGap": "1rem"}}}},
        "settings": {"color": {"palette": {"custom": [{"name": "A", "slug": "a", "color": "red"}]}}},
        "isGlobalStylesUserThemeJSON": true,
        "version": 3,
    });
    assert_eq!(stored(), expected);
    let changed =
        h.json(AUTHOR, Method::PUT, route, json!({"styles": {"css": "a{}", "color": {"text": "blue"}}})).await;
    assert_eq!(changed.body["styles"], json!({"color": {"text": "blue"}}));
    assert_eq!(changed.body["settings"], expected["settings"]);
}

/// The editor finds the user's global styles through a link of the active theme, so the post is created if missing.
#[tokio::test(flavor = "multi_thread")]
async fn missing_global_styles_of_the_active_theme_are_created() {
    let (folder, h) = site();
    fs::create_dir_all(folder.path().join("themes/kid")).unwrap();
    fs::write(folder.path().join("themes/kid/style.css"), "/*\nTheme Name: Kid\nTemplate: fixture\n*/").unwrap();
    h.site
        .write(&Context::background(), |tx| {
            svc_store::options::set(tx, "stylesheet", &svc_store::StoredText::of("kid"), true)?;
            Ok(())
        })
        .await
        .unwrap();
    let link = |body: &Value| {
        let links = body["_links"].as_object().unwrap();
        let (_, found) = links.iter().find(|(name, _)| name.ends_with("user-global-styles")).unwrap();
        found[0]["href"].as_str().unwrap().rsplit('/').next().unwrap().parse::<i64>().unwrap()
    };
    let first = link(&h.get(ADMIN, "/svc/v2/themes/kid", "").await.body);
    assert_ne!(first, 1460);
    assert_eq!(link(&h.get(EDITOR, "/svc/v2/themes/kid", "").await.body), first);
    assert_eq!(h.get(ADMIN, &format!("/svc/v2/global-styles/{first}"), "").await.status, 200);
    // The child theme inherits the templates of its parent.
    assert_eq!(h.get(ADMIN, "/svc/v2/templates/kid//index", "").await.body["theme"], "kid");
}

#[tokio::test(flavor = "multi_thread")]
async fn query_count_is_independent_of_the_number_of_templates() {
    let (_folder, h) = site();
    let count = || async {
        let before = h.statements();
        assert_eq!(h.get(ADMIN, "/svc/v2/templates", "").await.status, 200);
        h.statements() - before
    };
    h.get(ADMIN, "/svc/v2/templates", "").await;
    let few = count().await;
    for n in 0..8 {
        let body = json!({"slug": format!("made-{n}"), "content": "c"});
        assert_eq!(h.json(ADMIN, Method::POST, "/svc/v2/templates", body).await.status, 201);
    }
    assert_eq!(count().await, few);
}

/// Activates a theme.
async fn activate(h: &Harness, name: &'static str) {
    h.site
        .write(&Context::background(), move |tx| {
            svc_store::options::set(tx, "stylesheet", &svc_store::StoredText::of(name), true)?;
            svc_store::options::set(tx, "template", &svc_store::StoredText::of(name), true)?;
            Ok(())
        })
        .await
        .unwrap();
}

/// Writes a file in the themes folder.
fn write(folder: &tempfile::TempDir, path: &str, text: &str) {
    let path = folder.path().join("themes").join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn styles_of_an_active_theme_without_a_folder_are_the_defaults() {
    let (folder, h) = site();
    fs::remove_dir_all(folder.path().join("themes/fixture")).unwrap();
    let route = "/svc/v2/global-styles/themes/fixture";
    let rows = [
        (route.to_owned(), CONTRIBUTOR, 200, ""),
        (format!("{route}/variations"), CONTRIBUTOR, 200, ""),
        (route.to_owned(), NOBODY, 401, "rest_cannot_read_global_styles"),
        ("/svc/v2/global-styles/themes/classic".to_owned(), ADMIN, 404, "rest_theme_not_found"),
        ("/svc/v2/themes/fixture".to_owned(), ADMIN, 404, "rest_theme_not_found"),
    ];
    for (route, user, status, code) in rows {
        let response = h.get(user, &route, "").await;
        assert_eq!((response.status, response.code()), (status, code), "{route} by {user}");
    }
    let styles = h.get(ADMIN, route, "").await.body;
    assert_eq!(styles["settings"]["appearanceTools"], false);
    assert_eq!(styles["styles"]["blocks"]["core/icon"]["dimensions"]["width"], "24px");
    assert_eq!(h.get(ADMIN, &format!("{route}/variations"), "").await.body, json!([]));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_active_theme_is_listed_whatever_it_lacks() {
    let (folder, h) = site();
    let theme = folder.path().join("themes/fixture");
    let list = |query: &'static str| h.get(CONTRIBUTOR, "/svc/v2/themes", query);
    fs::remove_file(theme.join("templates/index.html")).unwrap();
    let item = list("status=active").await.body[0].clone();
    assert_eq!(
        (&item["name"]["raw"], &item["version"], &item["is_block_theme"]),
        (&json!("Fixture"), &json!("1.0"), &json!(false))
    );
    fs::write(theme.join("style.css"), "/*\nTheme Name: Orphan\nTemplate: nowhere\nTags: a, b\n*/").unwrap();
    let item = list("status=active").await.body[0].clone();
    assert_eq!(
        (&item["name"]["raw"], &item["template"], &item["tags"]["rendered"]),
        (&json!("Orphan"), &json!("nowhere"), &json!("a, b"))
    );
    let one = h.get(CONTRIBUTOR, "/svc/v2/themes/fixture", "").await;
    assert_eq!((one.status, &one.body["name"]), (200, &item["name"]));
    fs::remove_file(theme.join("style.css")).unwrap();
    assert_eq!(h.get(CONTRIBUTOR, "/svc/v2/themes/fixture", "").await.status, 200, "the folder exists");
    fs::remove_dir_all(&theme).unwrap();
    assert_eq!(h.get(CONTRIBUTOR, "/svc/v2/themes/fixture", "").await.code(), "rest_theme_not_found");
    let response = list("status=active").await;
    assert_eq!((response.status, response.header("x-svc-total")), (200, Some("1")));
    let item = &response.body[0];
    for name in ["requires_php", "requires_wp", "textdomain", "version", "is_block_theme"] {
        assert_eq!(item[name], false, "{name}");
    }
    for name in ["author", "author_uri", "description", "tags", "theme_uri"] {
        assert_eq!(item[name], json!({"raw": false, "rendered": false}), "{name}");
    }
    for (name, value) in [
        ("stylesheet", json!("fixture")),
        ("template", json!("fixture")),
        ("screenshot", json!("")),
        ("name", json!({"raw": "fixture", "rendered": "fixture"})),
        ("status", json!("active")),
    ] {
        assert_eq!(item[name], value, "{name}");
    }
    assert_eq!(item["theme_supports"]["block-templates"], false);
    assert!(item["default_template_types"].is_array() && item["_links"]["svc:user-global-styles"].is_array());
    // As in WordPress, other filters list folders.
    assert_eq!(h.get(ADMIN, "/svc/v2/themes", "status=active,active").await.body, json!([]));
    assert_eq!(h.get(ADMIN, "/svc/v2/themes", "").await.body.as_array().map(Vec::len), Some(1));
}

#[tokio::test(flavor = "multi_thread")]
async fn invalid_folder_names_match_no_route() {
    let (_folder, h) = site();
    for name in ["a:b", "a*b", "a?b", "a\"b", "a<b", "a>b", "a|b", "a/b/c"] {
        for route in ["themes", "global-styles/themes"] {
            let response = h.get(ADMIN, &format!("/svc/v2/{route}/{name}"), "").await;
            assert_eq!((response.status, response.code()), (404, "rest_no_route"), "{route}/{name}");
        }
    }
    for name in ["a b", "a/b", "a[b]"] {
        let response = h.get(ADMIN, &format!("/svc/v2/themes/{name}"), "").await;
        assert_eq!((response.status, response.code()), (404, "rest_theme_not_found"), "{name}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn styles_link_to_the_files_that_they_use() {
    let (folder, h) = site();
    let background = |url: &str| json!({"background": {"backgroundImage": {"url": url}}});
    let mut styles = background("file:./assets/a b.png");
    styles["blocks"] = json!({
        "core/group": background("file:./assets/g.svg"),
        "core/quote": background("https://e.example/y.png"),
        "core/verse": background("file:./none"),
    });
    write(&folder, "fixture/styles/zbg.json", &json!({"version": 3, "styles": styles}).to_string());
    write(&folder, "fixture/theme.json", &json!({"version": 3, "styles": background("file:./top.jpg")}).to_string());
    let own = h.get(ADMIN, "/svc/v2/global-styles/themes/fixture", "").await.body;
    let all = h.get(ADMIN, "/svc/v2/global-styles/themes/fixture/variations", "").await.body;
    let files = |item: &Value| -> Vec<(String, Value, String)> {
        let found = item["_links"].as_object().into_iter().flatten().filter(|(name, _)| name.ends_with("theme-file"));
        let links = found.flat_map(|(_, links)| links.as_array().unwrap());
        let text = |link: &Value, name: &str| link[name].as_str().unwrap().to_owned();
        links
            .map(|link| {
                let href = text(link, "href");
                let (_, path) = href.split_once("/themes/").unwrap();
                (text(link, "target"), link["type"].clone(), path.to_owned())
            })
            .collect()
    };
    let end = "background.backgroundImage.url";
    let row = |prefix: &str, mime: Value, path: &str| (format!("styles.{prefix}{end}"), mime, path.to_owned());
    assert_eq!(files(&own), [row("", json!("image/jpeg"), "fixture/top.jpg")]);
    assert!(all[0]["_links"].is_null(), "a variation without files has no links: {all}");
    let expected = [
        row("", json!("image/png"), "fixture/assets/a%20b.png"),
        row("blocks.core/group.", json!(false), "fixture/assets/g.svg"),
        row("blocks.core/verse.", json!(false), "fixture/none"),
    ];
    assert_eq!(files(&all[1]), expected);
    assert_eq!(all[1]["styles"]["background"]["backgroundImage"]["url"], "file:./assets/a b.png");
}

#[tokio::test(flavor = "multi_thread")]
async fn template_parts_in_stored_templates_get_the_active_theme() {
    let (_folder, h) = site();
    let content = "<!-- wp:template-part {\"slug\":\"header\"} /-->\n<p>x</p><!-- wp:group --><div><!-- wp:template-part {\"slug\":\"a\",\"theme\":\"other\"} /--><!-- wp:template-part {\"slug\":\"f\",\"tagName\":\"footer\"} /--></div><!-- /wp:group --><!-- wp:template-part /-->";
    let expected = "<!-- wp:template-part {\"slug\":\"header\",\"theme\":\"fixture\"} /-->\n<p>x</p><!-- wp:group --><div><!-- wp:template-part {\"slug\":\"a\",\"theme\":\"other\"} /--><!-- wp:template-part {\"slug\":\"f\",\"tagName\":\"footer\",\"theme\":\"fixture\"} /--></div><!-- /wp:group --><!-- wp:template-part {\"theme\":\"fixture\"} /-->";
    for base in ["templates", "template-parts"] {
        let collection = format!("/svc/v2/{base}");
        let created = h.json(ADMIN, Method::POST, &collection, json!({"slug": "made", "content": content})).await;
        assert_eq!(
            (created.status, &created.body["content"]["raw"]),
            (201, &json!(expected)),
            "{base}: {:?}",
            created.body
        );
        let id = svc_model::PostId(created.body["wp_id"].as_i64().unwrap());
        let row = h.site.read(&Context::background(), |db| Ok(svc_store::posts::get(db, id)?)).unwrap().unwrap();
        assert_eq!(row.content, content, "{base}: stored unchanged");
        let route = format!("{collection}/fixture//made");
        let one = h.get(ADMIN, &route, "context=edit").await.body;
        assert_eq!(one["content"]["raw"], expected, "{base}");
        let list = h.get(ADMIN, &collection, "").await.body;
        let listed = list.as_array().unwrap().iter().find(|item| item["slug"] == "made").unwrap();
        assert_eq!(listed["content"]["raw"], expected, "{base}");
        let changed = h.json(ADMIN, Method::PUT, &route, json!({"content": format!("{content}<p>y</p>")})).await.body;
        assert_eq!(changed["content"]["raw"], format!("{expected}<p>y</p>"), "{base}");
        let revisions = h.get(ADMIN, &format!("{route}/revisions"), "").await.body;
        assert_eq!(revisions[0]["content"]["raw"], format!("{expected}<p>y</p>"), "{base}: {revisions}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn stored_templates_are_listed_under_a_classic_theme() {
    let (folder, h) = site();
    write(&folder, "classic/templates/unused.html", "x");
    activate(&h, "classic").await;
    for base in ["templates", "template-parts"] {
        let collection = format!("/svc/v2/{base}");
        assert_eq!(h.get(ADMIN, &collection, "").await.body, json!([]), "{base}");
        let content = "<!-- wp:template-part {\"slug\":\"header\"} /-->";
        let created =
            h.json(ADMIN, Method::POST, &collection, json!({"slug": "mine", "title": "M", "content": content})).await;
        assert_eq!(created.status, 201, "{base}: {:?}", created.body);
        for user in [CONTRIBUTOR, EDITOR, ADMIN] {
            let list = h.get(user, &collection, "").await.body;
            assert_eq!(list.as_array().map(Vec::len), Some(1), "{base} by {user}: {list}");
            assert_eq!(list[0]["id"], "classic//mine", "{base}");
            assert!(list[0]["content"]["raw"].as_str().unwrap().contains("\"theme\":\"classic\""), "{base}");
        }
    }
    // Posts cannot use them, because a classic theme does not render pages from block templates.
    let page = h.json(ADMIN, Method::POST, "/svc/v2/pages", json!({"title": "x", "template": "mine"})).await;
    assert_eq!((page.status, page.code()), (400, "rest_invalid_param"));
}

#[tokio::test(flavor = "multi_thread")]
async fn theme_urls_are_escaped_only_in_html_fields() {
    let (folder, h) = site();
    let head = "/*\nTheme Name: Odd\nTheme URI: http://e.example/a?b=1&c=2 d\nAuthor: A & B\nAuthor URI: //e.example/p?q=[1]&r=2\nVersion: 1\n*/";
    write(&folder, "odd [x]/style.css", head);
    write(&folder, "odd [x]/index.php", "<?php");
    write(&folder, "odd [x]/screenshot.png", "");
    write(&folder, "kid/style.css", "/*\nTheme Name: Kid\nAuthor URI: javascript:x\nAuthor: Jo\nTemplate: odd [x]\n*/");
    let list = h.get(ADMIN, "/svc/v2/themes", "").await.body;
    let find = |name: &str| list.as_array().unwrap().iter().find(|t| t["stylesheet"] == name).cloned().unwrap();
    let (odd, kid) = (find("odd [x]"), find("kid"));
    let rows = [
        (&odd["theme_uri"]["raw"], "http://e.example/a?b=1&c=2%20d"),
        (&odd["theme_uri"]["rendered"], "http://e.example/a?b=1&#038;c=2%20d"),
        (&odd["author_uri"]["raw"], "//e.example/p?q=%5B1%5D&r=2"),
        (&odd["author_uri"]["rendered"], "//e.example/p?q=%5B1%5D&#038;r=2"),
        (&odd["author"]["rendered"], "<a href=\"//e.example/p?q=%5B1%5D&#038;r=2\">A &amp; B</a>"),
        (&kid["author_uri"]["raw"], ""),
        (&kid["author"]["rendered"], "Jo"),
    ];
    for (found, expected) in rows {
        assert_eq!(found, expected);
    }
    let folders = [
        (&odd["stylesheet_uri"], "/themes/odd%20%5Bx%5D"),
        (&odd["template_uri"], "/themes/odd%20%5Bx%5D"),
        (&odd["screenshot"], "/themes/odd%20%5Bx%5D/screenshot.png"),
        (&kid["stylesheet_uri"], "/themes/kid"),
        (&kid["template_uri"], "/themes/odd%20%5Bx%5D"),
    ];
    for (found, end) in folders {
        assert!(found.as_str().unwrap().ends_with(end), "{found} {end}");
    }
}

/// Only published templates are rendered and listed. Users who may edit a draft can fetch it by its id.
#[tokio::test(flavor = "multi_thread")]
async fn draft_templates_are_neither_rendered_nor_listed() {
    let (_folder, h) = site();
    let mut ids = Vec::new();
    for (route, slug) in [("templates", "canary"), ("template-parts", "canary"), ("template-parts", "header")] {
        let route = format!("/svc/v2/{route}");
        let body = json!({"slug": slug, "theme": "fixture", "content": "<!-- wp:paragraph --><p>canarytext</p><!-- /wp:paragraph -->"});
        let created = h.json(ADMIN, Method::POST, &route, body).await;
        assert_eq!(created.status, 201, "{:?}", created.body);
        ids.push((route, slug, created.body["wp_id"].as_i64().unwrap()));
    }
    let content = "<!-- wp:template-part {\"slug\":\"canary\",\"theme\":\"fixture\"} /--><!-- wp:template-part {\"slug\":\"header\",\"theme\":\"fixture\"} /-->";
    let body = json!({"title": "P", "content": content, "status": "publish"});
    let post = h.json(ADMIN, Method::POST, "/svc/v2/posts", body).await.body["id"].clone();
    for status in ["publish", "draft", "auto-draft"] {
        for (.., id) in &ids {
            let (id, status) = (svc_model::PostId(*id), status.to_owned());
            let set = move |tx: &mut svc_store::Tx| {
                let mut post = svc_store::posts::get(tx, id)?.unwrap();
                post.status.clone_from(&status);
                svc_store::posts::update(tx, &post)
            };
            h.site.store.write(&Context::background(), set).await.unwrap();
        }
        let is_public = status == "publish";
        let response = h.get(NOBODY, &format!("/svc/v2/posts/{post}"), "").await;
        let rendered = response.body["content"]["rendered"].as_str().unwrap();
        assert_eq!(rendered.contains("canarytext"), is_public, "{status}: {rendered}");
        for (route, slug, _) in &ids {
            for user in [CONTRIBUTOR, EDITOR, ADMIN] {
                let list = h.get(user, route, "").await;
                let listed = list.body.as_array().unwrap().iter().any(|t| {
                    t["content"]["raw"].as_str().unwrap_or_default().contains("canarytext") && t["slug"] == *slug
                });
                assert_eq!(listed, is_public, "{status} {route} {slug} {user}");
            }
            let one = h.get(ADMIN, &format!("{route}/fixture//{slug}"), "context=edit").await;
            assert_eq!((one.status, one.body["status"].as_str()), (200, Some(status)), "{route} {slug}");
            assert_eq!(h.get(NOBODY, &format!("{route}/fixture//{slug}"), "").await.status, 401);
        }
    }
}
