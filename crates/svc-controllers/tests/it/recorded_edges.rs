//! Edge cases with expected values recorded from WordPress, in process, on the recorded fixture.

use std::collections::HashMap;

use crate::harness::{ADMIN, AUTHOR, CONTRIBUTOR, EDITOR, Harness, NOBODY};
use serde_json::{Value, json};
use svc_controllers::RegisteredSetting;
use svc_model::{Post, UserId};
use svc_routing::{Method, Request};
use svc_schema::build::{boolean, integer, string};
use svc_site::MetaField;
use svc_store::{MetaKind, meta, options, posts};
use svc_versions::Context;

/// A subscriber.
const SUBSCRIBER: i64 = 6;

/// Ids of the items in a list.
fn ids(body: &Value) -> Vec<i64> {
    body.as_array().into_iter().flatten().filter_map(|item| item["id"].as_i64()).collect()
}

/// The invalid parameters of an error, in order, each with its own error code: `page=rest_out_of_bounds`.
fn invalid_params(body: &Value) -> String {
    let code = |name: &String| {
        let code = body["data"]["details"][name]["code"].as_str().unwrap_or_default();
        format!("{name}={code}")
    };
    let params = body["data"]["params"].as_object();
    params.map(|params| params.keys().map(code).collect::<Vec<_>>().join(" ")).unwrap_or_default()
}

/// The value that PHP stores for this JSON.
fn as_php(text: &str) -> svc_store::StoredText {
    svc_store::StoredText::of(svc_php::serialize::from_stored(text.as_bytes()))
}

async fn set_option(h: &Harness, name: &'static str, value: Option<&'static str>) {
    let set = move |tx: &mut svc_store::Tx| {
        match value {
            Some(value) => options::set(tx, name, &as_php(value), true)?,
            None => drop(options::delete(tx, name)?),
        }
        Ok(())
    };
    h.site.write(&Context::background(), set).await.unwrap();
}

/// A route pattern in which each named group is replaced by `<name>`.
fn without_groups(pattern: &str) -> String {
    let (mut out, mut rest) = (String::new(), pattern);
    while let Some(at) = rest.find("(?P<") {
        out.push_str(&rest[..at]);
        let group = &rest[at..];
        out.push_str(&group[3..=group.find('>').unwrap()]);
        let (mut depth, mut in_class, mut end, mut escaped) = (0, false, group.len(), false);
        for (at, c) in group.char_indices() {
            match c {
                _ if escaped => escaped = false,
                '\\' => escaped = true,
                '[' => in_class = true,
                ']' => in_class = false,
                '(' if !in_class => depth += 1,
                ')' if !in_class => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                end = at + 1;
                break;
            }
        }
        rest = &group[end..];
    }
    out + rest
}

/// `arguments.txt` lists the arguments of each route in order. Arguments without a suffix are validated before any
/// argument is sanitized; `?` marks those that are only sanitized (which may validate them), `-` those that are neither.
#[tokio::test(flavor = "multi_thread")]
async fn arguments_are_validated_and_sanitized_in_the_recorded_order() {
    /// Arguments added by plugins of the recorded site, and one that its handler parses instead of a sanitizer.
    const IGNORED: [&str; 5] = ["fx_", "genres", "shelves", "book", "form_data"];
    let is_compared = |name: &&str| !IGNORED.iter().any(|prefix| name.starts_with(prefix));
    let recorded: HashMap<(String, String), Vec<&str>> = include_str!("../data/arguments.txt")
        .lines()
        .filter_map(|line| {
            let mut columns = line.split(' ');
            let key = (columns.next()?.to_owned(), columns.next()?.replace("/wp/", "/svc/").replace("/wp-", "/svc-"));
            Some((key, columns.filter(is_compared).collect()))
        })
        .collect();
    let h = Harness::new();
    let (mut compared, mut different) = (0, Vec::new());
    for route in h.server.routes() {
        for endpoint in route.endpoints() {
            let methods: Vec<&str> = endpoint.methods().iter().map(Method::as_str).collect();
            let key = (methods.join(","), without_groups(route.pattern()));
            let Some(expected) = recorded.get(&key) else { continue };
            let step = |name: &str| match (endpoint.validates_first(name), endpoint.sanitizes(name)) {
                (true, _) => name.to_owned(),
                (false, true) => format!("{name}?"),
                (false, false) => format!("{name}-"),
            };
            let listed = endpoint.args().iter().filter(|(_, arg)| !arg.unlisted);
            let found: Vec<String> = listed.map(|(name, _)| step(name)).collect();
            let found: Vec<&str> = found.iter().map(String::as_str).filter(is_compared).collect();
            compared += 1;
            if found != *expected {
                different.push(format!(
                    "{} {}\n  expected {}\n  found    {}",
                    key.0,
                    key.1,
                    expected.join(" "),
                    found.join(" ")
                ));
            }
        }
    }
    assert!(compared > 150, "only {compared} routes were compared");
    assert!(different.is_empty(), "{} of {compared} routes differ:\n{}", different.len(), different.join("\n"));
}

#[tokio::test(flavor = "multi_thread")]
async fn invalid_arguments_are_reported_per_validation_step() {
    let h = Harness::new();
    #[rustfmt::skip]
    let lists = [
        ("search", "type[]=invalid&subtype=page", "type=rest_invalid_type subtype=rest_search_invalid_type"),
        ("search", "type=invalid&subtype=page", "type=rest_not_in_enum subtype=rest_search_invalid_type"),
        ("search", "subtype=page&type=invalid", "subtype=rest_search_invalid_type type=rest_not_in_enum"),
        ("search", "type[]=x&subtype=any", "type=rest_invalid_type"),
        ("search", "subtype=bogus&type=x", "subtype=rest_not_in_enum type=rest_not_in_enum"),
        ("search", "page=0&type=x", "page=rest_out_of_bounds"),
        ("search", "per_page=0&page=0", "page=rest_out_of_bounds per_page=rest_out_of_bounds"),
        ("search", "include=x&page=0", "page=rest_out_of_bounds"),
        ("search", "subtype[]=page&subtype[]=Page", ""),
        ("search", "type=term&subtype=Category", ""),
        ("posts", "page=0&after=x", "page=rest_out_of_bounds"),
        ("posts", "after=x&status=bogus", "after=rest_invalid_date status=rest_not_in_enum"),
        ("posts", "status=bogus&after=x", "status=rest_not_in_enum after=rest_invalid_date"),
        ("posts", "per_page=1000&orderby=x", "per_page=rest_out_of_bounds"),
        ("posts", "context=x&sticky=7", "context=rest_not_in_enum"),
        ("posts", "tags=x&page=x", "page=rest_invalid_type"),
    ];
    for (route, query, expected) in lists {
        let response = h.get(ADMIN, &format!("/svc/v2/{route}"), query).await;
        assert_eq!(
            (response.status, invalid_params(&response.body).as_str()),
            (if expected.is_empty() { 200 } else { 400 }, expected),
            "{route}?{query}"
        );
    }
    #[rustfmt::skip]
    let writes = [
        ("posts", json!({"status": "bogus", "template": "x", "date": "y"}), "date=rest_invalid_date status=rest_not_in_enum template=rest_invalid_param"),
        ("posts", json!({"date": "y", "template": "zz", "author": "x"}), "date=rest_invalid_date author=rest_invalid_type template=rest_invalid_param"),
        ("posts", json!({"template": "x"}), "template=rest_invalid_param"),
        ("posts", json!({"slug": [], "title": 5, "status": "z"}), "slug=rest_invalid_type status=rest_not_in_enum"),
        ("media/1200", json!({"status": "z", "template": "zz", "author": "x"}), "status=rest_not_in_enum author=rest_invalid_type template=rest_invalid_param"),
        ("font-families", json!({"font_family_settings": "x", "theme_json_version": 9}), "font_family_settings=rest_invalid_param"),
    ];
    for (route, body, expected) in writes {
        let response = h.json(ADMIN, Method::POST, &format!("/svc/v2/{route}"), body.clone()).await;
        assert_eq!((response.status, invalid_params(&response.body).as_str()), (400, expected), "{route} {body}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn reassign_zero_keeps_the_posts_without_an_author() {
    let h = Harness::new();
    // Value of `reassign` in the body or the query; status of the response; author (0: none) and status of the post.
    #[rustfmt::skip]
    let rows = [
        (Some(json!(0)), "", 200, Some(0), "publish"),
        (Some(json!("0")), "", 200, Some(0), "publish"),
        (Some(json!(0.4)), "", 200, Some(0), "publish"),
        (None, "reassign=0&force=true", 200, Some(0), "publish"),
        (Some(json!(false)), "", 200, None, "trash"),
        (Some(json!("")), "", 200, None, "trash"),
        (None, "reassign=false&force=true", 200, None, "trash"),
        (Some(json!("0x")), "", 400, None, "publish"),
        (Some(json!(2)), "", 200, Some(2), "publish"),
    ];
    for (nr, (reassign, query, status, author, post_status)) in rows.into_iter().enumerate() {
        let user = json!({"username": format!("gone{nr}"), "email": format!("gone{nr}@e.example"), "password": "p"});
        let user = h.json(ADMIN, Method::POST, "/svc/v2/users", user).await.body["id"].as_i64().unwrap();
        let post = Post {
            author: UserId(user),
            post_type: "post".to_owned(),
            status: "publish".to_owned(),
            title: "Of a user".to_owned(),
            slug: format!("of-{user}"),
            ..Post::default()
        };
        let post = h.site.store.write_blocking(move |tx| posts::insert(tx, &post)).unwrap();
        let mut req = Request::new(Method::DELETE, format!("/svc/v2/users/{user}")).with_query_string(query);
        if let Some(reassign) = &reassign {
            req = req.with_json(&json!({"force": true, "reassign": reassign}));
        }
        let deleted = h.send(ADMIN, req).await;
        let row = h.site.read(&Context::background(), |db| Ok(posts::get(db, post)?)).unwrap().unwrap();
        let expected = (status, UserId(author.unwrap_or(user)), post_status);
        assert_eq!(
            (deleted.status, row.author, row.status.as_str()),
            expected,
            "{reassign:?} {query}: {:?}",
            deleted.body
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_password_gives_access_to_comments_of_a_single_post_only() {
    let h = Harness::new();
    // Post 1013 has the password `secret` and the comment 509.
    for (query, status, code, found) in [
        ("post=1013&password=secret", 200, "", vec![509]),
        ("post[]=1013&password=secret", 200, "", vec![509]),
        ("post[]=1000&post[]=1013&password=secret", 401, "rest_cannot_read_post", vec![]),
        ("post[]=1013&post[]=1013&password=secret", 401, "rest_cannot_read_post", vec![]),
        ("post[]=1013&post[]=0&password=secret", 401, "rest_cannot_read_post", vec![]),
        ("post[]=1013&post[]=999999&password=secret", 401, "rest_cannot_read_post", vec![]),
        ("post=1000,1013&password=secret", 401, "rest_cannot_read_post", vec![]),
        ("post=1013&password=0", 401, "rest_cannot_read_post", vec![]),
        ("post=1013", 401, "rest_cannot_read_post", vec![]),
    ] {
        let response = h.get(NOBODY, "/svc/v2/comments", query).await;
        assert_eq!((response.status, response.code(), ids(&response.body)), (status, code, found), "{query}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_setting_with_an_invalid_stored_value_cannot_be_deleted() {
    let h = Harness::with(|setup| {
        let choice = string().one_of(["a", "b"]);
        setup.registered_settings.push(RegisteredSetting::new("fx_choice", choice));
        setup.registered_settings.push(RegisteredSetting::new("fx_motto", string().default("Onward")));
        setup.registered_settings.push(RegisteredSetting::new("fx_count", integer()));
        setup.registered_settings.push(RegisteredSetting::new("fx_flag", boolean().default(true)));
    });
    const REFUSED: (u16, &str) = (500, "rest_invalid_stored_value");
    const DELETED: (u16, &str) = (200, "");
    // Option, setting, stored value, result of `null`. A missing option counts as false.
    for (option, name, stored, expected) in [
        ("start_of_week", "start_of_week", Some("x"), REFUSED),
        ("start_of_week", "start_of_week", Some(""), REFUSED),
        ("start_of_week", "start_of_week", Some("a:0:{}"), REFUSED),
        ("start_of_week", "start_of_week", Some("1"), DELETED),
        ("start_of_week", "start_of_week", None, REFUSED),
        ("posts_per_page", "posts_per_page", Some("x"), REFUSED),
        ("posts_per_page", "posts_per_page", Some("1"), DELETED),
        ("use_smilies", "use_smilies", None, DELETED),
        ("use_smilies", "use_smilies", Some(""), REFUSED),
        ("use_smilies", "use_smilies", Some("1"), DELETED),
        ("WPLANG", "language", None, REFUSED),
        ("WPLANG", "language", Some(""), DELETED),
        ("default_ping_status", "default_ping_status", Some("x"), REFUSED),
        ("default_ping_status", "default_ping_status", Some("open"), DELETED),
        ("fx_choice", "fx_choice", Some("c"), REFUSED),
        ("fx_choice", "fx_choice", Some("a"), DELETED),
        ("fx_motto", "fx_motto", None, REFUSED),
        ("fx_motto", "fx_motto", Some(""), DELETED),
        ("fx_motto", "fx_motto", Some("a:0:{}"), REFUSED),
        ("fx_count", "fx_count", Some("x"), REFUSED),
        ("fx_flag", "fx_flag", None, DELETED),
    ] {
        set_option(&h, option, stored).await;
        let response = h.json(ADMIN, Method::PUT, "/svc/v2/settings", json!({name: null})).await;
        assert_eq!((response.status, response.code()), expected, "{name} {stored:?}");
        let left = h.site.read(&Context::background(), |db| Ok(options::get(db, option)?)).unwrap();
        assert_eq!(
            left.as_ref().map(svc_store::StoredText::as_stored),
            stored.filter(|_| expected == REFUSED),
            "{name} {stored:?}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_setting_that_is_registered_again_replaces_the_former_one() {
    let h = Harness::with(|setup| {
        let number = |default: i64| integer().default(default);
        setup.registered_settings.push(RegisteredSetting::new("posts_per_page", number(7)));
        setup.registered_settings.push(RegisteredSetting::new("fx_count", number(1)));
        setup.registered_settings.push(RegisteredSetting::new("fx_motto", string()));
        setup.registered_settings.push(RegisteredSetting::new("fx_count", number(2)));
        setup.registered_settings.push(RegisteredSetting::new("fx_total", number(3)).named("fx_count"));
    });
    for (option, name, default) in [("posts_per_page", "posts_per_page", 7), ("fx_total", "fx_count", 3)] {
        set_option(&h, option, Some("9")).await;
        let response = h.json(ADMIN, Method::PUT, "/svc/v2/settings", json!({name: null})).await;
        assert_eq!((response.status, &response.body[name]), (200, &json!(default)), "{option}: {:?}", response.body);
    }
    let names: Vec<String> =
        h.get(ADMIN, "/svc/v2/settings", "").await.body.as_object().unwrap().keys().cloned().collect();
    assert_eq!(names[..3], ["fx_count", "fx_motto", "title"], "{names:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn list_statuses_require_capabilities_to_edit_or_read_private_posts() {
    let h = Harness::new();
    let rights = r#"a:2:{s:10:"subscriber";b:1;s:18:"read_private_posts";b:1;}"#;
    let add = |tx: &mut svc_store::Tx| {
        let key = format!("{}capabilities", tx.prefix());
        Ok(meta::update(tx, MetaKind::User, SUBSCRIBER, &key, &as_php(rights)).map(drop)?)
    };
    let private = r#"a:2:{s:10:"subscriber";b:1;s:18:"read_private_pages";b:1;}"#;
    const OF_STATUS: &str = "status=rest_forbidden_status";
    const UNKNOWN: &str = "status=rest_not_in_enum";
    #[rustfmt::skip]
    let rows = [
        (SUBSCRIBER, "posts", "status=private", OF_STATUS),
        (SUBSCRIBER, "posts", "status=Publish", ""),
        (SUBSCRIBER, "posts", "status=publish,publish", ""),
        (SUBSCRIBER, "posts", "status=bogus", OF_STATUS),
        (CONTRIBUTOR, "posts", "status=private", ""),
        (CONTRIBUTOR, "posts", "status=bogus", UNKNOWN),
        (CONTRIBUTOR, "posts", "status[]=private&status[]=bogus", UNKNOWN),
        (CONTRIBUTOR, "pages", "status=private", OF_STATUS),
        (EDITOR, "pages", "status=private,Draft", ""),
        (NOBODY, "posts", "status=Publish", ""),
        (NOBODY, "media", "status=private", OF_STATUS),
    ];
    for (user, route, query, expected) in rows {
        let response = h.get(user, &format!("/svc/v2/{route}"), query).await;
        assert_eq!(invalid_params(&response.body), expected, "{user} {route} {query}: {:?}", response.body);
    }
    // The capability to read private posts is sufficient for the status `private` only.
    h.site.write(&Context::background(), add).await.unwrap();
    let found = h.get(SUBSCRIBER, "/svc/v2/posts", "status=private&_fields=id,status").await;
    assert_eq!(found.status, 200, "{:?}", found.body);
    assert!(!ids(&found.body).is_empty());
    assert!(found.body.as_array().unwrap().iter().all(|post| post["status"] == "private"), "{:?}", found.body);
    for (route, query, expected) in [
        ("posts", "status=private,publish", ""),
        ("posts", "status=private,draft", OF_STATUS),
        ("posts", "status=draft", OF_STATUS),
        ("pages", "status=private", OF_STATUS),
    ] {
        let response = h.get(SUBSCRIBER, &format!("/svc/v2/{route}"), query).await;
        assert_eq!(invalid_params(&response.body), expected, "{route} {query}: {:?}", response.body);
    }
    let add = move |tx: &mut svc_store::Tx| {
        let key = format!("{}capabilities", tx.prefix());
        Ok(meta::update(tx, MetaKind::User, SUBSCRIBER, &key, &as_php(private)).map(drop)?)
    };
    h.site.write(&Context::background(), add).await.unwrap();
    assert_eq!(h.get(SUBSCRIBER, "/svc/v2/pages", "status=private").await.status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn defaults_of_registered_meta() {
    // Field; its value if nothing is stored; the default in its schema.
    let rows = [
        (MetaField::new("l_str", "string").default(json!("x")).list(), json!(["x"]), json!("x")),
        (MetaField::new("l_int", "integer").default(json!(3)).list(), json!([3]), json!(3)),
        (MetaField::new("l_sch", "string").schema(json!({"default": "y"})).list(), json!([]), json!("y")),
        (MetaField::new("s_sch", "integer").schema(json!({"default": 7, "minimum": 1})), json!(7), json!(7)),
        (MetaField::new("s_both", "integer").schema(json!({"default": 7})).default(json!(2)), json!(2), json!(7)),
        (MetaField::new("s_enum", "string").schema(json!({"enum": ["a", "b"]})), json!(null), json!("")),
        (MetaField::new("s_enumd", "string").schema(json!({"enum": ["a"], "default": "a"})), json!("a"), json!("a")),
        (MetaField::new("s_min", "integer").schema(json!({"minimum": 1})), json!(null), json!(0)),
        (
            MetaField::new("s_obj", "object")
                .schema(json!({"properties": {"q": {"type": "integer", "required": true}}})),
            json!(null),
            json!([]),
        ),
        (
            MetaField::new("l_arr", "array")
                .schema(json!({"items": {"type": "integer"}}))
                .default(json!([1, 2]))
                .list(),
            json!([[1, 2]]),
            json!([1, 2]),
        ),
    ];
    let fields: Vec<MetaField> = rows.iter().map(|(field, ..)| field.clone()).collect();
    let h = Harness::with(|setup| {
        fields.into_iter().for_each(|field| setup.registries.meta.register("post", "post", field))
    });
    let values = h.get(NOBODY, "/svc/v2/posts/1001", "").await.body["meta"].clone();
    let schema = h.json(ADMIN, Method::OPTIONS, "/svc/v2/posts", json!({})).await.body["schema"].clone();
    let schema = &schema["properties"]["meta"]["properties"];
    for (field, value, default) in &rows {
        assert_eq!(&values[&field.name], value, "{}", field.name);
        let of = if field.single { &schema[&field.name] } else { &schema[&field.name]["items"] };
        assert_eq!(&of["default"], default, "{}: {of}", field.name);
    }
    // Value in the request and in the response, and number of stored rows. A default is stored if it is sent.
    for (name, sent, status, value, stored) in [
        ("l_str", json!(["x"]), 200, json!(["x"]), 1),
        ("l_str", json!(["x", "z"]), 200, json!(["x", "z"]), 2),
        ("l_str", json!([]), 200, json!(["x"]), 0),
        ("l_str", json!(null), 200, json!(["x"]), 0),
        ("s_both", json!(2), 200, json!(2), 1),
        ("s_both", json!(null), 200, json!(2), 0),
        ("s_sch", json!(null), 500, json!(null), 0),
        ("s_enumd", json!(null), 500, json!(null), 0),
        ("l_sch", json!(["y"]), 200, json!(["y"]), 1),
    ] {
        let response = h.json(ADMIN, Method::POST, "/svc/v2/posts/1001", json!({"meta": {name: sent}})).await;
        assert_eq!(
            (response.status, &response.body["meta"][name]),
            (status, &value),
            "{name} {sent}: {:?}",
            response.code()
        );
        let rows = h
            .site
            .read(&Context::background(), |db| Ok(meta::load_one(db, MetaKind::Post, 1001)?.all(name).len()))
            .unwrap();
        assert_eq!(rows, stored, "{name} {sent}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn media_without_metadata_or_file() {
    let h = Harness::new();
    let set = |key: &'static str, value: Option<&'static str>| {
        let change = move |tx: &mut svc_store::Tx| {
            match value {
                Some(value) => drop(meta::update(tx, MetaKind::Post, 1200, key, &as_php(value))?),
                None => drop(meta::delete(tx, MetaKind::Post, 1200, key, None)?),
            }
            Ok(())
        };
        let site = &h.site;
        async move { site.write(&Context::background(), change).await }
    };
    let image = async || h.get(ADMIN, "/svc/v2/media/1200", "context=edit").await.body;
    let all = json!(["thumbnail", "medium", "medium_large", "large", "1536x1536", "2048x2048"]);
    assert_eq!(image().await["filename"], "landscape.jpg");
    set("_wp_attachment_metadata", None).await.unwrap();
    let item = image().await;
    assert_eq!((&item["missing_image_sizes"], &item["filename"]), (&all, &json!("landscape.jpg")));
    set("_wp_attachment_metadata", Some("a:0:{}")).await.unwrap();
    assert_eq!(image().await["missing_image_sizes"], all);
    set("_wp_attached_file", None).await.unwrap();
    let item = image().await;
    assert_eq!((&item["missing_image_sizes"], &item["filename"]), (&json!([]), &Value::Null));
}

#[tokio::test(flavor = "multi_thread")]
async fn media_status_cannot_change_and_images_have_no_featured_image() {
    let dir = tempfile::tempdir().unwrap();
    let storage = svc_media::Storage::folder(dir.path());
    let h = Harness::with(move |setup| setup.site.services.uploads = storage);
    for (sent, status, stored, error) in [
        ("inherit", 200, "inherit", ""),
        ("private", 200, "private", ""),
        ("inherit", 400, "private", "status=rest_not_in_enum"),
        ("publish", 200, "inherit", ""),
        ("trash", 400, "inherit", "status=rest_not_in_enum"),
    ] {
        let response = h.json(ADMIN, Method::POST, "/svc/v2/media/1200", json!({"status": sent})).await;
        assert_eq!(
            (response.status, invalid_params(&response.body).as_str()),
            (status, error),
            "{sent}: {:?}",
            response.body
        );
        let row =
            h.site.read(&Context::background(), |db| Ok(posts::get(db, svc_model::PostId(1200))?)).unwrap().unwrap();
        assert_eq!(row.status, stored, "{sent}");
    }
    const PNG: &[u8] = include_bytes!("../data/wide.png");
    const MP4: &[u8] = include_bytes!("../../../svc-media/tests/data/film.mp4");
    for (name, bytes, featured, status, code, featured_media) in [
        ("a.png", PNG, 1200, 400, "rest_no_featured_media", Value::Null),
        ("a.png", PNG, 0, 400, "rest_no_featured_media", Value::Null),
        ("a.mp4", MP4, 1200, 201, "", json!(1200)),
        ("b.mp4", MP4, 99_999, 400, "rest_invalid_featured_media", Value::Null),
        ("c.mp4", MP4, 1000, 400, "rest_invalid_featured_media", Value::Null),
    ] {
        let req = Request::new(Method::POST, "/svc/v2/media").with_query_string(&format!("featured_media={featured}"));
        let req = req.with_header("content-disposition", &format!("attachment; filename=\"{name}\"")).with_body(bytes);
        let response = h.send(ADMIN, req).await;
        let found = (response.status, response.code(), &response.body["featured_media"]);
        assert_eq!(found, (status, code, &featured_media), "{name} {featured}: {:?}", response.body);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn menu_items_link_to_existing_objects() {
    let h = Harness::new();
    let route = "/svc/v2/menu-items";
    #[rustfmt::skip]
    let rows = [
        (json!({"type": "post_type", "object_id": 0}), 400, "rest_post_invalid_id", ""),
        (json!({"type": "taxonomy", "object_id": 0}), 400, "rest_term_invalid_id", ""),
        (json!({"type": "post_type"}), 400, "rest_post_invalid_id", ""),
        (json!({"type": "taxonomy"}), 400, "rest_term_invalid_id", ""),
        (json!({"type": "post_type", "object_id": 999_999}), 400, "rest_post_invalid_id", ""),
        (json!({"type": "taxonomy", "object_id": 999_999}), 400, "rest_term_invalid_id", ""),
        (json!({"type": "post_type", "object_id": 0, "menus": 9999}), 400, "rest_post_invalid_id", ""),
        (json!({"type": "post_type", "object_id": 0, "object": "post"}), 201, "", "post"),
        (json!({"type": "taxonomy", "object_id": 0, "object": "category"}), 201, "", "category"),
        (json!({"type": "post_type", "object_id": 1000, "object": "0"}), 201, "", "post"),
        (json!({"type": "post_type", "object_id": 1000}), 201, "", "post"),
    ];
    for (body, status, code, object) in rows {
        let response = h.json(ADMIN, Method::POST, route, body.clone()).await;
        let found = (response.status, response.code(), response.body["object"].as_str().unwrap_or_default());
        assert_eq!(found, (status, code, object), "{body}");
    }
    let item =
        h.json(ADMIN, Method::POST, route, json!({"type": "post_type", "object_id": 1000})).await.body["id"].clone();
    for (body, status, code) in [
        (json!({"object": "", "object_id": 0}), 400, "rest_post_invalid_id"),
        (json!({"type": "taxonomy", "object": ""}), 400, "rest_term_invalid_id"),
        (json!({"object": "0"}), 200, ""),
        (json!({"object_id": 0}), 200, ""),
    ] {
        let response = h.json(ADMIN, Method::POST, &format!("{route}/{item}"), body.clone()).await;
        assert_eq!((response.status, response.code()), (status, code), "{body}");
    }
    // Without registered locations the value is an empty PHP array.
    assert_eq!(h.get(ADMIN, "/svc/v2/menu-locations", "").await.body, json!([]));
    // Only an empty list of taxonomies becomes an object.
    assert_eq!(h.get(ADMIN, "/svc/v2/taxonomies", "type=nosuch").await.body, json!({}));
}

/// Other resources show the URL of a private post as the post itself does: without a path for those who may not read it.
#[tokio::test(flavor = "multi_thread")]
async fn urls_of_private_posts_have_a_path_for_their_readers_only() {
    let h = Harness::new();
    let created = async |user, route: &str, body: Value| {
        let response = h.json(user, Method::POST, route, body.clone()).await;
        assert_eq!(response.status, 201, "{route} {body}: {}", response.body);
        response.body["id"].as_i64().unwrap()
    };
    let private = |title: &str| json!({"title": title, "status": "private"});
    let page = created(ADMIN, "/svc/v2/pages", private("Quiet page")).await;
    let own = created(AUTHOR, "/svc/v2/posts", private("Quiet post")).await;
    let book = created(ADMIN, "/svc/v2/books", private("Quiet book")).await;
    for (object, id, plain, readers) in [
        ("page", page, format!("/?page_id={page}"), vec![ADMIN, EDITOR]),
        ("post", own, format!("/?p={own}"), vec![ADMIN, EDITOR, AUTHOR]),
        ("book", book, format!("/?post_type=book&p={book}"), vec![ADMIN, EDITOR]),
    ] {
        let body = json!({"type": "post_type", "object": object, "object_id": id, "status": "publish", "title": "x"});
        let item = created(ADMIN, "/svc/v2/menu-items", body).await;
        for user in [ADMIN, EDITOR, AUTHOR, CONTRIBUTOR] {
            let url = h.get(user, &format!("/svc/v2/menu-items/{item}"), "").await.body["url"].clone();
            let url = url.as_str().unwrap();
            assert_eq!(url.ends_with(&plain), !readers.contains(&user), "{object} for {user}: {url}");
            assert_eq!(
                url.ends_with(&format!("/quiet-{object}/")),
                readers.contains(&user),
                "{object} for {user}: {url}"
            );
        }
    }

    // The URL of a file is below that of its post.
    let media = "/svc/v2/media/1206";
    let attached = h.json(ADMIN, Method::POST, media, json!({"post": page, "author": AUTHOR})).await;
    assert_eq!(attached.status, 200, "{}", attached.body);
    for (user, end) in [(ADMIN, "/quiet-page/lost/"), (AUTHOR, "/?attachment_id=1206")] {
        let link = h.get(user, media, "").await.body["link"].clone();
        assert!(link.as_str().unwrap().ends_with(end), "{user}: {link}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn font_settings_are_validated_and_stored_as_in_wordpress() {
    let h = Harness::new();
    let faces = "/svc/v2/font-families/1470/font-faces";
    #[rustfmt::skip]
    let rows = [
        (json!(5), "rest_invalid_param"),
        (json!(true), "rest_invalid_param"),
        (json!(false), "rest_invalid_param"),
        (json!(0), "rest_invalid_param"),
        (json!(1.5), "rest_invalid_param"),
        (json!("0"), "rest_invalid_param"),
        (json!([""]), "rest_invalid_param"),
        (json!([5]), "rest_no_matching_schema"),
        (json!({"a": "https://fonts.example.com/x.woff2"}), "rest_no_matching_schema"),
    ];
    for (src, code) in rows {
        let settings = json!({"fontFamily": "F", "src": src}).to_string();
        let response = h.json(ADMIN, Method::POST, faces, json!({"font_face_settings": settings})).await;
        assert_eq!(
            (response.status, invalid_params(&response.body)),
            (400, format!("font_face_settings={code}")),
            "{src}"
        );
        assert_eq!(response.body["data"]["details"]["font_face_settings"]["data"]["status"], 400, "{src}");
    }
    let response = h.json(ADMIN, Method::POST, faces, json!({"font_face_settings": 5, "theme_json_version": 9})).await;
    assert_eq!(invalid_params(&response.body), "font_face_settings=rest_invalid_type");
    for (family, code) in [
        (r#"{"name":"A","slug":"0","fontFamily":"x"}"#, "rest_invalid_param"),
        (r#"{"name":"A","slug":"a","fontFamily":"x","q":1}"#, "rest_additional_properties_forbidden"),
    ] {
        let response =
            h.json(ADMIN, Method::POST, "/svc/v2/font-families", json!({"font_family_settings": family})).await;
        assert_eq!(invalid_params(&response.body), format!("font_family_settings={code}"), "{family}");
    }
    // In the stored JSON, slashes and non-ASCII characters are escaped.
    let content = |id: i64| {
        h.site.read(&Context::background(), |db| Ok(posts::get(db, svc_model::PostId(id))?)).unwrap().unwrap().content
    };
    let settings = r#"{"fontFamily":"A/B, \"C é\"","src":"https://fonts.example.com/x.woff2"}"#;
    let created = h.json(ADMIN, Method::POST, faces, json!({"font_face_settings": settings})).await;
    assert_eq!(created.status, 201, "{:?}", created.body);
    let face = created.body["id"].as_i64().unwrap();
    assert_eq!(
        content(face),
        r#"{"fontFamily":"\"A\/B\", \"C \u00e9\"","src":"https:\/\/fonts.example.com\/x.woff2"}"#
    );
    let settings = r#"{"fontFamily":"One","src":[" https://fonts.example.com/a b.woff2"]}"#;
    let created = h.json(ADMIN, Method::POST, faces, json!({"font_face_settings": settings})).await;
    assert_eq!(
        created.body["font_face_settings"]["src"], "https://fonts.example.com/a%20b.woff2",
        "{:?}",
        created.body
    );
    let family = r#"{"preview":"http://x.example/p.svg","name":"N","slug":"n-n","fontFamily":"A/B"}"#;
    let created = h.json(ADMIN, Method::POST, "/svc/v2/font-families", json!({"font_family_settings": family})).await;
    let family = created.body["id"].as_i64().unwrap();
    assert_eq!(content(family), r#"{"preview":"http:\/\/x.example\/p.svg","fontFamily":"\"A\/B\""}"#);
    let change = json!({"font_family_settings": r#"{"preview":""}"#});
    h.json(ADMIN, Method::POST, &format!("/svc/v2/font-families/{family}"), change).await;
    assert_eq!(content(family), r#"{"fontFamily":"\"A\/B\"","preview":""}"#);
    // Stored content from other sources.
    for (content, expected) in [
        (r#"{"fontFamily":"A","unknown":1,"src":[]}"#, json!({"fontFamily": "A", "src": []})),
        ("not JSON", json!({"fontFamily": "", "src": []})),
        ("", json!({"fontFamily": "", "src": []})),
    ] {
        let change = move |tx: &mut svc_store::Tx| {
            let mut post = posts::get(tx, svc_model::PostId(face))?.unwrap();
            content.clone_into(&mut post.content);
            posts::update(tx, &post)?;
            Ok(())
        };
        h.site.write(&Context::background(), change).await.unwrap();
        let response = h.get(ADMIN, &format!("{faces}/{face}"), "").await;
        assert_eq!(response.body["font_face_settings"], expected, "{content}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn lists_with_sticky_and_menu_order() {
    let h = Harness::new();
    // The sticky posts are 1007 and 1003.
    #[rustfmt::skip]
    let rows: [(&str, &str, &[i64], &str); 13] = [
        ("pages", "menu_order=-1", &[1101], "1"),
        ("pages", "menu_order=-2&orderby=id", &[1100], "1"),
        ("pages", "menu_order=0", &[1110, 1109, 1104, 1103], "4"),
        ("posts", "sticky=1", &[1007, 1003], "2"),
        ("posts", "sticky=1&include=1059,1007", &[1007], "1"),
        ("posts", "sticky=1&include=1059", &[], "0"),
        ("posts", "sticky=1&exclude=1007", &[1007, 1003], "2"),
        ("posts", "sticky=1&include=1003,1007&orderby=include", &[1003, 1007], "2"),
        ("posts", "sticky=0&include=1059,1007", &[1059, 1007], "2"),
        ("posts", "sticky=0&include=1007&exclude=1007", &[1007], "1"),
        ("posts", "sticky=0&exclude=1059&per_page=3", &[1058, 1057, 1055], "48"),
        ("posts", "ignore_sticky=0&exclude=1007&per_page=2", &[1003, 1059, 1058], "50"),
        ("posts", "sticky=0&ignore_sticky=0&per_page=3", &[1059, 1058, 1057], "49"),
    ];
    for (route, query, expected, total) in rows {
        let response = h.get(ADMIN, &format!("/svc/v2/{route}"), query).await;
        assert_eq!(
            (ids(&response.body).as_slice(), response.header("X-SVC-Total")),
            (expected, Some(total)),
            "{query}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn too_long_lists_are_rejected_but_duplicates_are_not() {
    let h = Harness::new();
    let many =
        |name: &str, n: usize| format!("{name}={}", (0..n).map(|i| format!("v{i}")).collect::<Vec<_>>().join(","));
    let repeated = |name: &str, value: &str, n: usize| format!("{name}={}", vec![value; n].join(","));
    for (route, query, status) in [
        ("users", many("roles", 2000), 400),
        ("users", many("capabilities", 2000), 400),
        ("users", many("roles", 400), 200),
        ("users", many("slug", 2000), 200),
        ("users", format!("search=a&{}", repeated("search_columns", "name", 2000)), 200),
        ("posts", many("slug", 2000), 200),
        ("posts", format!("{}&orderby=include_slugs", many("slug", 5000)), 200),
        ("posts", many("slug", 40_000), 400),
        ("posts", repeated("status", "publish", 2000), 200),
        ("posts", format!("search=a&{}", repeated("search_columns", "post_title", 2000)), 200),
        ("posts", format!("search=-a&{}", repeated("search_columns", "post_title", 2000)), 200),
        ("posts", repeated("categories", "1", 2000), 200),
        ("media", repeated("media_type", "image", 2000), 200),
        ("media", repeated("mime_type", "image/png", 2000), 200),
        ("categories", many("slug", 2000), 200),
        ("comments", repeated("post", "1000", 900), 200),
    ] {
        let req = Request::get(format!("/svc/v2/{route}")).with_query_string(&query);
        let response = h.send(ADMIN, req).await;
        let start = &query[..query.len().min(60)];
        assert_eq!(response.status, status, "{route}?{start}: {:?}", response.code());
        if status == 400 {
            assert_eq!(response.code(), "rest_invalid_param", "{route}?{start}");
        }
    }
}
