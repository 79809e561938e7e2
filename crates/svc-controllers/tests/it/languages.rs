//! Languages and translations in the data model of the plugin Polylang, on each engine. The stored rows were compared with those that the
//! plugin writes.

use std::sync::Arc;

use serde_json::{Value, json};
use svc_controllers::RestSetup;
use svc_model::{PostId, Term, TermId};
use svc_routing::Method;
use svc_schema::Schema;
use svc_store::{StoredText, Tx, language_terms, options, posts, terms};
use svc_versions::Context;

use crate::database::engines;
use crate::harness::{ADMIN, AUTHOR, EDITOR, Harness, NOBODY, TestResponse};

const POSTS: &str = "/svc/v2/posts";
const TAGS: &str = "/svc/v2/tags";

/// Stores the settings and the languages English (the default), French and German, as the plugin does.
fn install(setup: &mut RestSetup) {
    install_with(setup, json!({"force_lang": 0, "default_lang": "en", "hide_default": true, "rewrite": true}));
}

fn install_with(setup: &RestSetup, option: Value) {
    let write = move |tx: &mut Tx| {
        if options::get(tx, "polylang")?.is_some() {
            return Ok(());
        }
        options::set(tx, "polylang", &StoredText::of(option.clone()), true)?;
        for (order, (slug, name, locale)) in
            [("en", "English", "en_US"), ("fr", "Français", "fr_FR"), ("de", "Deutsch", "de_DE")]
                .into_iter()
                .enumerate()
        {
            let about = json!({"locale": locale, "rtl": false, "flag_code": ""});
            let term = |taxonomy: &str, slug: String, description: &str| Term {
                taxonomy: taxonomy.to_owned(),
                name: name.to_owned(),
                slug,
                group: i64::try_from(order).unwrap(),
                description: description.to_owned(),
                ..Term::default()
            };
            terms::insert(tx, &term("language", slug.to_owned(), StoredText::of(about).as_stored()))?;
            terms::insert(tx, &term("term_language", format!("pll_{slug}"), ""))?;
        }
        Ok(())
    };
    setup.site.store.write_blocking(write).unwrap();
}

/// Runs a test on each engine.
macro_rules! on_each {
    ($h:ident, $body:block) => {
        for site in engines::shared_with(install) {
            let $h = Arc::clone(&site.servers[0]);
            eprintln!("on {}", site.name);
            $body
        }
    };
}

async fn send(h: &Harness, user: i64, method: Method, route: &str, body: Value) -> TestResponse {
    h.json(user, method, route, body).await
}

/// A new published object; returns its id.
async fn create(h: &Harness, user: i64, route: &str, mut body: Value) -> i64 {
    let kind =
        if route == POSTS { [("status", "publish"), ("title", "A post")] } else { [("slug", ""), ("name", "A tag")] };
    for (name, value) in kind {
        if body.get(name).is_none() {
            body[name] = json!(value);
        }
    }
    let created = send(h, user, Method::POST, route, body.clone()).await;
    assert_eq!(created.status, 201, "{body}: {:?}", created.body);
    created.body["id"].as_i64().unwrap()
}

async fn update(h: &Harness, user: i64, route: &str, id: i64, body: Value) -> TestResponse {
    send(h, user, Method::PATCH, &format!("{route}/{id}"), body).await
}

async fn show(h: &Harness, user: i64, route: &str, id: i64) -> (Value, Value) {
    let shown = h.get(user, &format!("{route}/{id}"), "_fields=lang,translations").await;
    assert_eq!(shown.status, 200, "{:?}", shown.body);
    (shown.body["lang"].clone(), shown.body["translations"].clone())
}

/// The terms of an object in a taxonomy: description and count.
fn stored(h: &Harness, route: &str, id: i64, taxonomy: &str) -> Vec<(String, i64)> {
    let found = h.site.read(&Context::background(), |db| {
        Ok(match route {
            POSTS => terms::of_objects(db, &[PostId(id)])?.remove(&PostId(id)),
            _ => language_terms::of_terms(db, &[TermId(id)])?.remove(&TermId(id)),
        })
    });
    let found = found.unwrap().unwrap_or_default().into_iter().filter(|term| term.taxonomy == taxonomy);
    found.map(|term| (term.description, term.count)).collect()
}

/// The number of terms of a taxonomy.
fn n_terms(h: &Harness, taxonomy: &str) -> usize {
    let query = terms::TermQuery::default().taxonomies(vec![taxonomy.to_owned()]);
    h.site.read(&Context::background(), |db| Ok(terms::query(db, &query)?.ids.len())).unwrap()
}

fn ids(list: &TestResponse) -> Vec<i64> {
    list.body.as_array().into_iter().flatten().filter_map(|item| item["id"].as_i64()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn sites_without_languages_have_no_fields() {
    let hidden = Harness::with(|setup| {
        install(setup);
        setup.site.policies.languages = false;
    });
    for h in [Harness::new(), hidden] {
        for route in [POSTS, TAGS] {
            let options = send(&h, NOBODY, Method::OPTIONS, route, json!({})).await.body;
            assert_eq!(options["schema"]["properties"]["lang"], Value::Null);
            let list = h.get(NOBODY, route, "lang=xx").await;
            assert_eq!((list.status, list.body[0]["lang"].clone()), (200, Value::Null));
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn lists_are_filtered_by_language_and_items_have_their_translations() {
    on_each!(h, {
        for route in [POSTS, TAGS] {
            let before = h.get(NOBODY, route, "lang=en,fr,de").await;
            assert_eq!(
                (before.status, ids(&before)),
                (200, vec![]),
                "objects without a language are in no filtered list"
            );
            let en = create(&h, ADMIN, route, json!({})).await;
            let fr = create(&h, ADMIN, route, json!({"name": "A", "lang": "fr", "translations": {"en": en}})).await;
            let de = create(&h, ADMIN, route, json!({"name": "B", "lang": "de"})).await;
            let listed = async |query: &str| {
                let list = h.get(NOBODY, route, &format!("{query}&orderby=id&order=asc")).await;
                (ids(&list), list.header("X-WP-Total").or(list.header("X-SVC-Total")).unwrap_or_default().to_owned())
            };
            assert_eq!(listed("lang=fr").await, (vec![fr], "1".to_owned()));
            assert_eq!(listed("lang=fr,de").await, (vec![fr, de], "2".to_owned()));
            assert_eq!(listed("lang[]=en").await, (vec![en], "1".to_owned()));
            assert_eq!(listed("lang=de&lang=fr").await, (vec![fr], "1".to_owned()), "the last one counts");
            let all = h.get(NOBODY, route, "per_page=1").await;
            let empty = h.get(NOBODY, route, "per_page=1&lang=").await;
            assert_eq!((ids(&all), all.header("X-SVC-Total")), (ids(&empty), empty.header("X-SVC-Total")));
            let unknown = h.get(NOBODY, route, "lang=xx").await;
            assert_eq!((unknown.status, unknown.code()), (400, "rest_invalid_param"));
            assert!(unknown.body.to_string().contains("en, fr"), "{}", unknown.body);
            let both = json!({"en": en, "fr": fr});
            assert_eq!(show(&h, NOBODY, route, en).await, (json!("en"), both.clone()));
            assert_eq!(show(&h, NOBODY, route, fr).await, (json!("fr"), both));
            assert_eq!(show(&h, NOBODY, route, de).await, (json!("de"), json!({"de": de})));
            let without = if route == POSTS { 1000 } else { 10 };
            assert_eq!(show(&h, NOBODY, route, without).await, (Value::Null, json!({})));
            let schema = send(&h, NOBODY, Method::OPTIONS, route, json!({})).await.body["schema"].clone();
            assert_eq!(schema["properties"]["lang"]["enum"], json!(["en", "fr", "de", null]));
            for mut item in h.get(NOBODY, route, "per_page=100").await.body.as_array().unwrap().clone() {
                item.as_object_mut().unwrap().shift_remove("_links");
                Schema::compile(schema.clone()).validate(&item, "item").unwrap();
            }
        }
    });
}

#[tokio::test(flavor = "multi_thread")]
async fn number_of_statements_is_independent_of_the_number_of_posts() {
    let h = Harness::with(install);
    for route in [POSTS, TAGS] {
        for n in 0..6 {
            let en = create(&h, ADMIN, route, json!({"name": format!("en {n}")})).await;
            create(&h, ADMIN, route, json!({"name": format!("fr {n}"), "lang": "fr", "translations": {"en": en}}))
                .await;
        }
        let mut counts = Vec::new();
        for per_page in [2, 12] {
            let query = format!("per_page={per_page}&_fields=id,lang,translations&lang=en,fr");
            h.get(ADMIN, route, &query).await;
            let before = h.statements();
            // Items are cached; another context reads them again.
            h.get(ADMIN, route, &format!("{query}&context=edit")).await;
            counts.push(h.statements() - before);
        }
        assert_eq!(counts[0], counts[1], "{route}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn rows_are_those_of_the_plugin() {
    on_each!(h, {
        for (route, groups, languages) in
            [(POSTS, "post_translations", "language"), (TAGS, "term_translations", "term_language")]
        {
            let alone = usize::from(route == TAGS);
            let en = create(&h, ADMIN, route, json!({"name": "one"})).await;
            assert_eq!(stored(&h, route, en, groups).len(), alone, "a term always has a group");
            let fr = create(&h, ADMIN, route, json!({"name": "two", "lang": "fr", "translations": {"en": en}})).await;
            let pair = (format!(r#"a:2:{{s:2:"fr";i:{fr};s:2:"en";i:{en};}}"#), 2);
            for id in [en, fr] {
                assert_eq!(stored(&h, route, id, groups), std::slice::from_ref(&pair), "{route}");
            }
            assert_eq!(n_terms(&h, groups), 1);
            // The whole group, as clients of the plugin send it.
            let de =
                create(&h, ADMIN, route, json!({"name": "three", "lang": "de", "translations": {"en": en, "fr": fr}}))
                    .await;
            let three = (format!(r#"a:3:{{s:2:"de";i:{de};s:2:"en";i:{en};s:2:"fr";i:{fr};}}"#), 3);
            assert_eq!(stored(&h, route, en, groups), std::slice::from_ref(&three));
            // Languages that are not named stay; nothing changes.
            assert_eq!(update(&h, ADMIN, route, en, json!({"translations": {}})).await.status, 200);
            assert_eq!(update(&h, ADMIN, route, de, json!({"translations": {"fr": fr}})).await.status, 200);
            let (_, shown) = show(&h, NOBODY, route, fr).await;
            assert_eq!(shown, json!({"fr": fr, "de": de, "en": en}));
            // One leaves.
            assert_eq!(update(&h, ADMIN, route, en, json!({"translations": {"de": 0}})).await.status, 200);
            assert_eq!(show(&h, NOBODY, route, de).await.1, json!({"de": de}));
            assert_eq!(stored(&h, route, de, groups).len(), alone);
            assert_eq!(stored(&h, route, en, groups), [(format!(r#"a:2:{{s:2:"en";i:{en};s:2:"fr";i:{fr};}}"#), 2)]);
            // Another language.
            assert_eq!(update(&h, ADMIN, route, fr, json!({"lang": "de"})).await.status, 200);
            assert_eq!(show(&h, NOBODY, route, en).await.1, json!({"en": en, "de": fr}));
            assert_eq!(stored(&h, route, fr, languages).len(), 1);
            // A deleted object leaves its group, which remains with one.
            let deleted = send(&h, ADMIN, Method::DELETE, &format!("{route}/{fr}"), json!({"force": true})).await;
            assert_eq!(deleted.status, 200, "{:?}", deleted.body);
            assert_eq!(stored(&h, route, en, groups), [(format!(r#"a:1:{{s:2:"en";i:{en};}}"#), 1)]);
            assert_eq!(show(&h, NOBODY, route, en).await.1, json!({"en": en}));
            assert_eq!((stored(&h, route, fr, groups), stored(&h, route, fr, languages)), (vec![], vec![]));
            let n = n_terms(&h, groups);
            send(&h, ADMIN, Method::DELETE, &format!("{route}/{en}"), json!({"force": true})).await;
            assert_eq!(n_terms(&h, groups), n - 1, "a group without objects is deleted");
        }
    });
}

#[tokio::test(flavor = "multi_thread")]
async fn languages_count_published_posts_and_groups_all_of_them() {
    on_each!(h, {
        let count = |taxonomy: &str, slug: &str| {
            h.site.read(&Context::background(), |db| Ok(terms::by_slug(db, slug, taxonomy)?.unwrap().count)).unwrap()
        };
        let post = create(&h, ADMIN, POSTS, json!({})).await;
        let draft =
            create(&h, ADMIN, POSTS, json!({"lang": "fr", "status": "draft", "translations": {"en": post}})).await;
        assert_eq!((count("language", "en"), count("language", "fr")), (1, 0));
        assert_eq!(stored(&h, POSTS, post, "post_translations")[0].1, 2);
        update(&h, ADMIN, POSTS, draft, json!({"status": "publish"})).await;
        assert_eq!((count("language", "fr"), stored(&h, POSTS, post, "post_translations")[0].1), (1, 2));
        update(&h, ADMIN, POSTS, draft, json!({"status": "draft"})).await;
        assert_eq!((count("language", "fr"), stored(&h, POSTS, post, "post_translations")[0].1), (0, 2));
        let before = count("term_language", "pll_de");
        let tag = create(&h, ADMIN, TAGS, json!({"lang": "de"})).await;
        assert_eq!(count("term_language", "pll_de"), before + 1);
        send(&h, ADMIN, Method::DELETE, &format!("{TAGS}/{tag}"), json!({"force": true})).await;
        assert_eq!(count("term_language", "pll_de"), before);
    });
}

#[tokio::test(flavor = "multi_thread")]
async fn deleting_a_post_keeps_the_language_of_the_term_with_its_id() {
    on_each!(h, {
        // Post 1000 of the fixture is deleted; a term gets the same id in the rows.
        h.site
            .write(&Context::background(), |tx| {
                let of_terms = terms::by_slug(tx, "pll_fr", "term_language")?.unwrap();
                Ok(language_terms::set_of_term(tx, TermId(1000), &[], &[of_terms.taxonomy_id])?)
            })
            .await
            .unwrap();
        let id = 1000;
        send(&h, ADMIN, Method::DELETE, &format!("{POSTS}/{id}"), json!({"force": true})).await;
        assert_eq!(stored(&h, TAGS, id, "term_language").len(), 1);
        assert_eq!(h.site.read(&Context::background(), |db| Ok(posts::get(db, PostId(id))?)).unwrap(), None);
    });
}

#[tokio::test(flavor = "multi_thread")]
async fn invalid_translations_change_nothing() {
    on_each!(h, {
        for route in [POSTS, TAGS] {
            let en = create(&h, ADMIN, route, json!({"name": "one"})).await;
            let fr = create(&h, ADMIN, route, json!({"name": "two", "lang": "fr", "translations": {"en": en}})).await;
            let other_en = create(&h, ADMIN, route, json!({"name": "three"})).await;
            let other_fr =
                create(&h, ADMIN, route, json!({"name": "four", "lang": "fr", "translations": {"en": other_en}})).await;
            let de = create(&h, ADMIN, route, json!({"name": "five", "lang": "de"})).await;
            let page = if route == POSTS { 1100 } else { 2 };
            #[rustfmt::skip]
            let rows = [
                (en, json!({"translations": {"fr": de}}), "rest_invalid_translation"),
                (en, json!({"translations": {"fr": 999_999_999}}), "rest_invalid_translation"),
                (en, json!({"translations": {"fr": page}}), "rest_invalid_translation"),
                (en, json!({"translations": {"fr": en}}), "rest_invalid_translation"),
                (en, json!({"translations": {"en": other_en}}), "rest_invalid_translation"),
                (en, json!({"translations": {"en": 0, "de": de}}), "rest_invalid_translation"),
                (en, json!({"translations": {"fr": other_fr}}), ""),
                (de, json!({"translations": {"xx": 1}}), "rest_invalid_param"),
                (de, json!({"translations": {"en": -1}}), "rest_invalid_param"),
                (de, json!({"translations": {"en": "x"}}), "rest_invalid_param"),
                (de, json!({"translations": [1]}), "rest_invalid_param"),
                (de, json!({"lang": "xx"}), "rest_invalid_param"),
                (de, json!({"lang": ["fr", "en"]}), "rest_invalid_param"),
                (de, json!({"lang": ""}), "rest_invalid_param"),
            ];
            for (id, body, code) in rows {
                let refused = update(&h, ADMIN, route, id, body.clone()).await;
                if code.is_empty() {
                    // `fr` is named, so that it replaces the one before; the English one of the other group stays there.
                    assert_eq!((refused.status, refused.code()), (400, "rest_translation_conflict"), "{body}");
                } else {
                    assert_eq!((refused.status, refused.code()), (400, code), "{route} {body}: {:?}", refused.body);
                }
            }
            assert_eq!(show(&h, ADMIN, route, en).await.1, json!({"en": en, "fr": fr}));
            assert_eq!(show(&h, ADMIN, route, other_en).await.1, json!({"en": other_en, "fr": other_fr}));
            assert_eq!(show(&h, ADMIN, route, de).await, (json!("de"), json!({"de": de})));
            let taken = update(&h, ADMIN, route, fr, json!({"lang": "en"})).await;
            assert_eq!(taken.code(), "rest_translation_conflict", "the group has another in this language");
            assert_eq!(show(&h, ADMIN, route, fr).await.0, json!("fr"));
            // Two groups become one if all languages with two translations are named.
            let joined = update(&h, ADMIN, route, en, json!({"translations": {"en": en, "fr": other_fr}})).await;
            assert_eq!(joined.status, 200, "{:?}", joined.body);
            assert_eq!(show(&h, ADMIN, route, en).await.1, json!({"en": en, "fr": other_fr}));
            assert_eq!(show(&h, ADMIN, route, fr).await.1, json!({"fr": fr}));
            assert_eq!(show(&h, ADMIN, route, other_en).await.1, json!({"en": other_en}));
        }
    });
}

#[tokio::test(flavor = "multi_thread")]
async fn translations_need_the_right_to_read_and_to_edit() {
    let h = Harness::with(install);
    let own = create(&h, AUTHOR, POSTS, json!({})).await;
    let draft = create(&h, ADMIN, POSTS, json!({"lang": "fr", "status": "draft"})).await;
    let published = create(&h, ADMIN, POSTS, json!({"lang": "de"})).await;
    for other in [json!({"fr": draft}), json!({"de": published})] {
        let refused = update(&h, AUTHOR, POSTS, own, json!({"translations": other})).await;
        assert_eq!((refused.status, refused.code()), (403, "rest_cannot_edit_translation"));
    }
    assert_eq!(show(&h, AUTHOR, POSTS, own).await.1, json!({"en": own}));
    let all = json!({"en": own, "fr": draft, "de": published});
    let joined = update(&h, EDITOR, POSTS, own, json!({"translations": {"fr": draft, "de": published}})).await;
    assert_eq!(joined.body["translations"], all);
    for (user, shown) in [
        (NOBODY, json!({"en": own, "de": published})),
        (AUTHOR, json!({"en": own, "de": published})),
        (EDITOR, all.clone()),
    ] {
        assert_eq!(show(&h, user, POSTS, own).await.1, shown, "{user}");
        let listed = h.get(user, POSTS, &format!("include={own}")).await;
        assert_eq!(listed.body[0]["translations"], shown, "{user}");
    }
    // Publishing and hiding it is seen at once, also in cached items.
    update(&h, ADMIN, POSTS, draft, json!({"status": "publish"})).await;
    assert_eq!(h.get(NOBODY, POSTS, &format!("include={own}")).await.body[0]["translations"], all);
    update(&h, ADMIN, POSTS, draft, json!({"status": "private"})).await;
    let hidden = h.get(NOBODY, POSTS, &format!("include={own}")).await;
    assert_eq!(hidden.body[0]["translations"], json!({"en": own, "de": published}));
    // Nobody removes what they may not edit; leaving needs nothing else.
    let refused = update(&h, AUTHOR, POSTS, own, json!({"translations": {"de": 0}})).await;
    assert_eq!(refused.status, 403);
    assert_eq!(update(&h, AUTHOR, POSTS, own, json!({"translations": {"en": 0}})).await.status, 200);
    assert_eq!(show(&h, EDITOR, POSTS, published).await.1, json!({"fr": draft, "de": published}));
    let refused =
        send(&h, AUTHOR, Method::POST, POSTS, json!({"title": "x", "lang": "en", "translations": {"de": published}}))
            .await;
    assert_eq!(refused.status, 403, "also for a new post");
}

#[tokio::test(flavor = "multi_thread")]
async fn garbage_in_a_group_is_ignored_and_replaced() {
    on_each!(h, {
        let long = format!(r#"a:1:{{s:1:"x";s:70000:"{}";}}"#, "x".repeat(70_000));
        let en = create(&h, ADMIN, POSTS, json!({})).await;
        let fr = create(&h, ADMIN, POSTS, json!({"lang": "fr"})).await;
        let others =
            |en: i64, fr: i64| format!(r#"a:4:{{s:2:"en";i:{fr};s:2:"fr";i:{en};s:2:"xx";i:1;s:4:"sync";s:1:"y";}}"#);
        for garbage in ["", "a:1:{", r#"O:8:"stdClass":1:{s:2:"fr";i:7;}"#, "i:7;", &others(en, fr), &long] {
            let joined = update(&h, ADMIN, POSTS, en, json!({"translations": {"fr": fr}})).await;
            assert_eq!(joined.status, 200, "{:?}", joined.body);
            let description = garbage.to_owned();
            let break_it = move |tx: &mut Tx| {
                let terms = terms::of_objects(tx, &[PostId(en)])?.remove(&PostId(en)).unwrap();
                let group = terms.into_iter().find(|term| term.taxonomy == "post_translations").unwrap();
                terms::update(tx, &Term { description: description.clone(), ..group })?;
                Ok(())
            };
            h.site.write(&Context::background(), break_it).await.unwrap();
            let (lang, shown) = show(&h, ADMIN, POSTS, en).await;
            assert_eq!((lang, shown["en"].clone()), (json!("en"), json!(en)), "{garbage:.40}");
            let joined = update(&h, ADMIN, POSTS, fr, json!({"translations": {"en": en}})).await;
            assert_eq!(joined.body["translations"], json!({"fr": fr, "en": en}), "{garbage:.40}");
        }
        // What others store in the array is kept.
        let kept = stored(&h, POSTS, en, "post_translations");
        assert_eq!(kept.len(), 1);
        update(&h, ADMIN, POSTS, en, json!({"translations": {"fr": 0}})).await;
        // A term of the taxonomy that is not a language.
        h.site
            .write(&Context::background(), move |tx| {
                let term = Term { taxonomy: "language".to_owned(), slug: "No Code".to_owned(), ..Term::default() };
                let term = terms::insert(tx, &term)?;
                Ok(terms::set_object_terms(tx, PostId(en), "language", &[term.id])?)
            })
            .await
            .unwrap();
        assert_eq!(show(&h, ADMIN, POSTS, en).await, (Value::Null, json!({})));
        update(&h, ADMIN, POSTS, en, json!({"title": "Again"})).await;
        assert_eq!(show(&h, ADMIN, POSTS, en).await.0, json!("en"), "a change gives the default language");
    });
}

#[tokio::test(flavor = "multi_thread")]
async fn terms_of_other_languages_may_have_the_same_name() {
    let h = Harness::with(install);
    let slug = async |id: i64| h.get(NOBODY, &format!("{TAGS}/{id}"), "").await.body["slug"].clone();
    let en = create(&h, ADMIN, TAGS, json!({"name": "Sport"})).await;
    let fr = create(&h, ADMIN, TAGS, json!({"name": "Sport", "lang": "fr", "translations": {"en": en}})).await;
    assert_eq!((slug(en).await, slug(fr).await), (json!("sport"), json!("sport-fr")));
    let same = send(&h, ADMIN, Method::POST, TAGS, json!({"name": "Sport", "lang": "en"})).await;
    assert_eq!(same.code(), "term_exists");
    // What shares a slug with another, which the paid version of the plugin allows, keeps it.
    h.site
        .write(&Context::background(), move |tx| {
            let term = terms::get(tx, TermId(fr), None)?.unwrap();
            terms::update(tx, &Term { slug: "sport".to_owned(), ..term })?;
            Ok(())
        })
        .await
        .unwrap();
    assert_eq!(update(&h, ADMIN, TAGS, fr, json!({"description": "x"})).await.status, 200);
    assert_eq!(slug(fr).await, json!("sport"));
    // The default category of a post is that of its language.
    let categories = "/svc/v2/categories";
    update(&h, ADMIN, categories, 1, json!({"lang": "en"})).await;
    let none = create(&h, ADMIN, categories, json!({"name": "Divers", "lang": "fr", "translations": {"en": 1}})).await;
    let child = create(&h, ADMIN, categories, json!({"name": "Enfant", "parent": none})).await;
    assert_eq!(show(&h, NOBODY, categories, child).await.0, json!("fr"), "the language of the parent");
    let post = create(&h, ADMIN, POSTS, json!({"lang": "fr"})).await;
    assert_eq!(h.get(NOBODY, &format!("{POSTS}/{post}"), "").await.body["categories"], json!([none]));
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_joins_lose_nobody() {
    for site in engines::shared_with(install) {
        let h = &site.servers[0];
        let other = site.servers.last().unwrap();
        for round in 0..5 {
            let en = create(h, ADMIN, POSTS, json!({})).await;
            let fr = create(h, ADMIN, POSTS, json!({"lang": "fr"})).await;
            let de = create(h, ADMIN, POSTS, json!({"lang": "de"})).await;
            let join = async |h: &Arc<Harness>, id: i64| {
                update(h, ADMIN, POSTS, id, json!({"translations": {"en": en}})).await.status
            };
            let statuses = tokio::join!(join(h, fr), join(other, de));
            assert_eq!(statuses, (200, 200), "{} {round}", site.name);
            let all = json!({"en": en, "fr": fr, "de": de});
            for server in &site.servers {
                assert_eq!(show(server, NOBODY, POSTS, en).await.1, all, "{} {round}", site.name);
            }
            assert_eq!(stored(h, POSTS, en, "post_translations")[0].1, 3, "{} {round}", site.name);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn links_and_resolve_have_the_language_in_a_folder() {
    let option = json!({"force_lang": 1, "default_lang": "en", "hide_default": true, "rewrite": true});
    let h = Harness::with(|setup| install_with(setup, option));
    let settings = h.site.settings(&Context::background()).unwrap();
    let home = settings.urls.site.home_url("/");
    let resolve = async |url: String| {
        let found = h.send(NOBODY, svc_routing::Request::get("/svc/v2/resolve").with_param("url", json!(url))).await;
        assert_eq!(found.status, 200, "{url}: {:?}", found.body);
        found.body
    };
    let link = async |route: &str, id: i64| {
        let link = h.get(NOBODY, &format!("{route}/{id}"), "_fields=link").await.body["link"].clone();
        link.as_str().unwrap().to_owned()
    };
    let pages = "/svc/v2/pages";
    for (route, body) in [
        (POSTS, json!({"title": "Bonjour", "lang": "fr"})),
        (pages, json!({"title": "Accueil", "lang": "fr", "status": "publish"})),
        (TAGS, json!({"name": "Nouveau", "lang": "fr"})),
    ] {
        let fr = create(&h, ADMIN, route, body).await;
        let url = link(route, fr).await;
        let path = url.strip_prefix(&format!("{home}fr/")).unwrap_or_else(|| panic!("{url}")).to_owned();
        let found = resolve(url.clone()).await;
        assert_eq!(
            (found["id"].clone(), found["canonical"].clone(), found["redirect"].clone()),
            (json!(fr), json!(url), Value::Null)
        );
        // Without its language, and in another one, it redirects.
        for other in ["", "en/", "de/"] {
            let found = resolve(format!("{home}{other}{path}")).await;
            assert_eq!((found["id"].clone(), found["redirect"].clone()), (json!(fr), json!(url)), "{other}{path}");
        }
    }
    let en = create(&h, ADMIN, POSTS, json!({"title": "Hello"})).await;
    assert!(!link(POSTS, en).await.contains("/en/"));
    let french = resolve(format!("{home}fr/")).await;
    assert_eq!((french["kind"].clone(), french["posts"].clone()), (json!("blog"), json!(1)));
    assert_eq!(
        (french["query"]["lang"].clone(), french["canonical"].clone()),
        (json!("fr"), json!(format!("{home}fr/")))
    );
    assert_eq!(resolve(format!("{home}fr")).await["redirect"], json!(format!("{home}fr/")));
    let default = resolve(home.clone()).await;
    assert_eq!((default["posts"].clone(), default["query"]["lang"].clone()), (json!(1), json!("en")));
    // A front page in one language, and a posts page.
    let page = async |body: Value| create(&h, ADMIN, pages, body).await;
    let front = page(json!({"title": "Front", "lang": "en", "status": "publish"})).await;
    let news = page(json!({"title": "News", "lang": "en", "status": "publish"})).await;
    let shown = json!({"show_on_front": "page", "page_on_front": front, "page_for_posts": news});
    let stored = svc_routing::Request::new(http::Method::PUT, "/svc/v2/settings").with_json(&shown);
    assert_eq!(h.send(ADMIN, stored).await.status, 200);
    for (path, kind, redirect) in [
        ("", "front-page", None),
        ("en/", "front-page", Some("")),
        ("de/", "blog", None),
        ("de", "blog", Some("de/")),
        ("news/", "blog", None),
        ("de/news/", "blog", Some("news/")),
    ] {
        let found = resolve(format!("{home}{path}")).await;
        let redirect = redirect.map_or(Value::Null, |to| json!(format!("{home}{to}")));
        assert_eq!((found["kind"].as_str(), &found["redirect"]), (Some(kind), &redirect), "/{path}: {found}");
    }
    let languages = h.get(NOBODY, "/pll/v1/languages", "").await;
    let urls: Vec<&Value> = languages.body.as_array().unwrap().iter().map(|language| &language["home_url"]).collect();
    assert_eq!(urls, [&json!(home), &json!(format!("{home}fr/")), &json!(format!("{home}de/"))]);
}

#[tokio::test(flavor = "multi_thread")]
async fn languages_are_listed_as_by_the_plugin() {
    on_each!(h, {
        create(&h, ADMIN, POSTS, json!({"lang": "fr"})).await;
        let list = h.get(NOBODY, "/pll/v1/languages", "").await;
        assert_eq!((list.status, list.body.as_array().unwrap().len()), (200, 3));
        let fr = h.get(NOBODY, "/pll/v1/languages/fr", "").await.body;
        assert_eq!(list.body[1], fr);
        #[rustfmt::skip]
        let expected = [
            ("name", json!("Français")), ("slug", json!("fr")), ("locale", json!("fr_FR")), ("w3c", json!("fr-FR")),
            ("is_rtl", json!(false)), ("is_default", json!(false)), ("active", json!(true)), ("term_group", json!(1)),
        ];
        for (name, value) in expected {
            assert_eq!(fr[name], value, "{name}");
        }
        assert_eq!(fr["term_props"]["language"]["count"], json!(1));
        let by_id = h.get(NOBODY, &format!("/pll/v1/languages/{}", fr["term_id"]), "").await;
        assert_eq!(by_id.body["slug"], json!("fr"));
        for (path, code) in [("xx", "rest_invalid_slug"), ("999999999", "rest_invalid_id")] {
            let missing = h.get(NOBODY, &format!("/pll/v1/languages/{path}"), "").await;
            assert_eq!((missing.status, missing.code()), (404, code));
        }
        assert_eq!(h.get(NOBODY, "/pll/v1/languages", "context=edit").await.status, 401);
        assert_eq!(h.get(ADMIN, "/pll/v1/languages", "context=edit").await.status, 200);
    });
}
