//! Search, in process, on the recorded fixture.

use std::sync::Arc;

use crate::harness::{ADMIN, Harness, NOBODY};
use serde_json::{Value, json};
use svc_controllers::{
    mount,
    search::{SearchHandler, SearchPage, filter_handlers},
    site_info,
};
use svc_routing::{BoxFuture, Links, Method, Registry, Request, Result, Server};
use svc_schema::Schema;
use svc_versions::Context;

const SEARCH: &str = "/svc/v2/search";

fn ids(body: &Value) -> Vec<Value> {
    body.as_array().into_iter().flatten().map(|item| item["id"].clone()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn results_match_their_schema() {
    let h = Harness::new();
    let source = h.json(NOBODY, Method::OPTIONS, SEARCH, json!({})).await.body["schema"].clone();
    let schema = Schema::compile(source);
    for kind in ["post", "post-format"] {
        for context in ["view", "embed"] {
            let list = h.get(NOBODY, SEARCH, &format!("type={kind}&context={context}&per_page=100")).await;
            assert!(!list.body.as_array().unwrap().is_empty(), "{kind}");
            for item in list.body.as_array().unwrap() {
                let mut item = item.clone();
                item.as_object_mut().unwrap().shift_remove("_links");
                schema.validate(&item, "item").unwrap_or_else(|e| panic!("{kind} {context} {}: {e}", item["id"]));
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn query_count_is_independent_of_the_number_of_results() {
    let h = Harness::new();
    for query in ["subtype=post", "subtype=page", "search=fox", "type=term&subtype=category", "type=post-format"] {
        let mut counts = Vec::new();
        for per_page in [7, 100] {
            let query = format!("{query}&per_page={per_page}");
            h.get(ADMIN, SEARCH, &query).await;
            let before = h.statements();
            assert_eq!(h.get(ADMIN, SEARCH, &query).await.status, 200);
            counts.push(h.statements() - before);
        }
        assert_eq!(counts[0], counts[1], "{query}: {counts:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn private_objects_are_not_found() {
    let h = Harness::new();
    let found = async |user: i64, query: &str| h.get(user, SEARCH, &format!("{query}&per_page=100")).await;
    // Private posts, drafts and trashed posts are found by nobody; password-protected posts not by anonymous users.
    for hidden in [1014, 1016, 1017, 1021] {
        for user in [NOBODY, ADMIN] {
            assert_eq!(ids(&found(user, &format!("include={hidden}")).await.body), Vec::<Value>::new(), "{hidden}");
        }
    }
    assert_eq!(ids(&found(NOBODY, "search=protected").await.body), Vec::<Value>::new());
    // Terms of non-public taxonomies are not found, regardless of the requested subtype.
    let public = ["category", "post_tag", "genre"];
    for query in ["type=term", "type=term&subtype=page", "type=term&subtype=any,page"] {
        let list = found(NOBODY, query).await;
        assert!(!list.body.as_array().unwrap().is_empty(), "{query}");
        for item in list.body.as_array().unwrap() {
            assert!(public.contains(&item["type"].as_str().unwrap()), "{query}: {item}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn paging_and_errors() {
    let h = Harness::new();
    #[rustfmt::skip]
    let rows = [
        ("type=term&page=9", 400, "rest_search_invalid_page_number"),
        ("type=post&page=99&search=fox", 200, ""),
        ("type=post-format&page=2&per_page=2", 200, ""),
        ("type=user", 400, "rest_invalid_param"),
        ("subtype=attachment", 400, "rest_invalid_param"),
        ("context=edit", 400, "rest_invalid_param"),
        ("page=0", 400, "rest_invalid_param"),
        ("page=9223372036854775807&per_page=100", 200, ""),
    ];
    for (query, status, code) in rows {
        let response = h.get(NOBODY, SEARCH, query).await;
        assert_eq!((response.status, response.code()), (status, code), "{query}");
    }
    let formats = h.get(NOBODY, SEARCH, "type=post-format&page=2&per_page=2").await;
    assert_eq!(ids(&formats.body), [json!("link"), json!("image")]);
}

/// A search handler of an extension that finds these ids.
struct Weather {
    found: Vec<Value>,
    is_cacheable: bool,
}

impl SearchHandler for Weather {
    fn kind(&self) -> &str {
        "weather"
    }

    fn subtypes(&self) -> Vec<String> {
        vec!["rain".to_owned()]
    }

    fn is_cacheable(&self) -> bool {
        self.is_cacheable
    }

    fn search(&self, _: Request) -> BoxFuture<Result<SearchPage>> {
        let page = SearchPage { ids: self.found.clone(), total: self.found.len() as u64 };
        Box::pin(async { Ok(page) })
    }

    fn prepare(&self, ids: Vec<Value>, _: Request) -> BoxFuture<Result<Vec<(Value, Links)>>> {
        Box::pin(async move { Ok(ids.into_iter().map(|id| (json!({"id": id}), Links::new())).collect()) })
    }
}

fn with_weather(h: &Harness, found: Vec<Value>, is_cacheable: bool) -> Server {
    let mut registry = Registry::for_site(site_info(&Context::background(), &h.site).unwrap());
    mount(&Context::background(), &mut registry, &h.rest).unwrap();
    filter_handlers(&mut registry, 10, move |mut all| {
        all.push(Arc::new(Weather { found: found.clone(), is_cacheable }));
        all
    });
    registry.build()
}

#[tokio::test(flavor = "multi_thread")]
async fn extensions_can_add_search_types() {
    let h = Harness::new();
    let request = || Request::get(SEARCH).with_query_string("type=weather&subtype=rain&_fields=id");
    let body = with_weather(&h, vec![json!("today")], false).serve(request()).await.body.into_value();
    assert_eq!(body, json!([{"id": "today"}]));
    // An id may be found twice, as a term of two taxonomies is.
    let server = with_weather(&h, vec![json!(5), json!(6), json!(5)], true);
    for _ in 0..2 {
        let body = server.serve(request()).await.body.into_value();
        assert_eq!(body, json!([{"id": 5}, {"id": 6}, {"id": 5}]));
    }
    // Cached results have numbers.
    assert_eq!(with_weather(&h, vec![json!("today")], true).serve(request()).await.status, 500);
}
