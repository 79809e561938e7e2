//! Blocks as data: `_blocks`, and content that is written as blocks.

use serde_json::{Value, json};
use svc_routing::Method;

use crate::database::engines;
use crate::harness::{ADMIN, AUTHOR, CONTRIBUTOR, Harness, NOBODY, TestResponse};

const POSTS: &str = "/svc/v2/posts";
const POST: &str = "/svc/v2/posts/1000";

const CONTENT: &str = "<!-- wp:heading {\"level\":3} -->\n<h3 class=\"wp-block-heading\">Title</h3>\n<!-- /wp:heading -->\n\n<!-- wp:group -->\n<div class=\"wp-block-group\"><!-- wp:paragraph -->\n<p>In <em>it</em></p>\n<!-- /wp:paragraph --></div>\n<!-- /wp:group -->\n\n<!-- wp:a/unknown {\"secret\":\"x\"} /-->";

async fn update(h: &Harness, user: i64, body: Value) -> TestResponse {
    h.json(user, Method::PUT, POST, body).await
}

fn stored(response: &TestResponse) -> &str {
    response.body["content"]["raw"].as_str().unwrap_or_else(|| panic!("{:?}", response.body))
}

#[tokio::test(flavor = "multi_thread")]
async fn readers_get_declared_attributes() {
    let h = Harness::new();
    update(&h, ADMIN, json!({"content": CONTENT})).await;
    let read = async |query: &str| h.get(NOBODY, POST, query).await.body;
    let plain = read("").await;
    assert_eq!(plain.get("blocks"), None);
    for _ in 0..2 {
        let blocks = &read("_blocks=1&_fields=blocks").await;
        assert_eq!(blocks.as_object().unwrap().len(), 1);
        let all = blocks["blocks"].as_array().unwrap();
        let names: Vec<&Value> = all.iter().map(|block| &block["name"]).collect();
        assert_eq!(names, ["core/heading", "core/group", "a/unknown"]);
        assert_eq!((&all[0]["attributes"]["content"], &all[0]["attributes"]["level"]), (&json!("Title"), &json!(3)));
        assert_eq!(all[1]["innerBlocks"][0]["attributes"]["content"], "In <em>it</em>");
        assert!(!blocks.to_string().contains("secret") && !blocks.to_string().contains("innerContent"), "{blocks}");
    }
    let with_html = read("_blocks=html").await;
    let html = |block: &Value| block["html"].as_str().unwrap().trim().to_owned();
    let joined: Vec<String> =
        with_html["blocks"].as_array().unwrap().iter().map(html).filter(|html| !html.is_empty()).collect();
    let rendered = with_html["content"]["rendered"].as_str().unwrap();
    assert_eq!(joined.concat().replace(char::is_whitespace, ""), rendered.replace(char::is_whitespace, ""));
    assert_eq!(html(&with_html["blocks"][1]["innerBlocks"][0]), "<p class=\"wp-block-paragraph\">In <em>it</em></p>");

    // The response is that of the stored content.
    update(&h, ADMIN, json!({"content": "<!-- wp:paragraph --><p>New</p><!-- /wp:paragraph -->"})).await;
    assert_eq!(read("_blocks=1").await["blocks"][0]["attributes"]["content"], "New");
    assert_eq!(read("").await.get("blocks"), None);

    let list = h.get(NOBODY, POSTS, "_blocks=1&_fields=id,blocks&per_page=100").await.body;
    assert!(
        list.as_array().unwrap().iter().all(|post| post["blocks"].is_array() && post.as_object().unwrap().len() == 2)
    );
    for (route, query) in [(POSTS, "_blocks=html"), (POST, "_blocks=x"), (POST, "_blocks[]=1")] {
        assert_eq!(h.get(NOBODY, route, query).await.status, 400, "{route} {query}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn blocks_have_the_rights_of_the_content() {
    let h = Harness::new();
    update(&h, ADMIN, json!({"content": CONTENT, "password": "let-me-in"})).await;
    let blocks = async |user: i64, query: &str| {
        let response = h.get(user, POST, query).await;
        (response.status, response.body["blocks"].as_array().map(Vec::len))
    };
    assert_eq!(blocks(NOBODY, "_blocks=html").await, (200, Some(0)));
    assert_eq!(blocks(AUTHOR, "_blocks=1").await, (200, Some(0)));
    assert_eq!(blocks(NOBODY, "_blocks=1&password=let-me-in").await, (200, Some(3)));
    assert_eq!(blocks(ADMIN, "_blocks=1&context=edit").await, (200, Some(5)), "with the text between blocks");
    assert_eq!(blocks(NOBODY, "_blocks=1&context=edit").await, (401, None));
    assert_eq!(blocks(CONTRIBUTOR, "_blocks=1&context=edit").await, (403, None));
    assert_eq!(blocks(NOBODY, "_blocks=1&context=embed").await, (200, None));
    let listed = h.get(NOBODY, POSTS, "_blocks=1&include=1000").await.body;
    assert_eq!(listed[0]["blocks"], json!([]));
    update(&h, ADMIN, json!({"status": "draft", "password": ""})).await;
    assert_eq!(blocks(NOBODY, "_blocks=1").await, (401, None));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_read_and_sent_back_changes_nothing() {
    for (engine, h) in engines::each() {
        update(&h, ADMIN, json!({"content": CONTENT})).await;
        let mut n_exact = 0;
        for route in [POSTS, "/svc/v2/pages", "/svc/v2/blocks"] {
            let list = h.get(ADMIN, route, "context=edit&status=any&per_page=100&_blocks=1").await.body;
            for post in list.as_array().unwrap() {
                if post["blocks_exact"] != true {
                    continue;
                }
                n_exact += 1;
                let item = format!("{route}/{}", post["id"]);
                let written = h.json(ADMIN, Method::PUT, &item, json!({"blocks": post["blocks"]})).await;
                assert_eq!(written.status, 200, "{engine} {item}: {:?}", written.body);
                assert_eq!(written.body["content"]["raw"], post["content"]["raw"], "{engine} {item}");
            }
        }
        assert!(n_exact > 20, "{n_exact}");
        // A change of the markup, and a new post.
        let mut blocks = h.get(ADMIN, POST, "context=edit&_blocks=1").await.body["blocks"].take();
        blocks[0]["innerContent"][0] = json!("\n<h3 class=\"wp-block-heading\">Other</h3>\n");
        blocks[0].as_object_mut().unwrap().shift_remove("attributes");
        let changed = update(&h, ADMIN, json!({"blocks": blocks})).await;
        assert_eq!(stored(&changed), CONTENT.replace("Title", "Other"), "{engine}");
        let created =
            h.json(ADMIN, Method::POST, POSTS, json!({"title": "x", "blocks": [{"name": "core/separator"}]})).await;
        assert_eq!((created.status, stored(&created)), (201, "<!-- wp:separator /-->"), "{engine}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn blocks_that_cannot_be_stored_change_nothing() {
    let h = Harness::new();
    update(&h, ADMIN, json!({"content": CONTENT})).await;
    for (body, code) in [
        (json!({"blocks": [{"name": "core/paragraph", "innerContent": ["<!-- wp:a/b /-->"]}]}), "rest_invalid_blocks"),
        (json!({"blocks": [{"name": "core/paragraph", "attributes": {"content": "x"}}]}), "rest_invalid_blocks"),
        (json!({"blocks": [{"name": "x -->"}]}), "rest_invalid_blocks"),
        (json!({"blocks": [{"name": "a/b"}], "content": "x"}), "rest_invalid_blocks"),
        (json!({"blocks": "x"}), "rest_invalid_param"),
        (json!({"blocks": {"a": 1}}), "rest_invalid_param"),
        (json!({"blocks": [{"name": "a/b", "innerContent": [1]}]}), "rest_invalid_param"),
        (
            json!({"blocks": [{"name": "a/b", "innerBlocks": [{"name": "a/c", "innerContent": [1]}]}]}),
            "rest_invalid_blocks",
        ),
    ] {
        let refused = update(&h, ADMIN, body.clone()).await;
        // WordPress puts the errors of sanitizing into those of the parameter.
        let found = refused.body.to_string();
        assert!(refused.status == 400 && found.contains(code), "{body}: {found}");
        assert_eq!(stored(&h.get(ADMIN, POST, "context=edit").await), CONTENT);
    }
    let empty = update(&h, ADMIN, json!({"blocks": []})).await;
    assert_eq!(stored(&empty), "");

    // The HTML of users who may not write any HTML is filtered as in `content`.
    let script = json!([{"name": "core/paragraph", "innerContent": ["<p onclick=\"x()\">a<script>b()</script></p>"]}]);
    let created = h.json(AUTHOR, Method::POST, POSTS, json!({"title": "x", "blocks": script})).await;
    assert_eq!(created.status, 201, "{:?}", created.body);
    assert!(!created.body["content"]["raw"].as_str().unwrap().contains("script"), "{:?}", created.body["content"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn blocks_are_read_after_the_permission_check() {
    let h = Harness::new();
    let before = h.get(ADMIN, POST, "context=edit").await.body["content"]["raw"].take();
    let refused = json!({"title": "x", "blocks": [{"name": "core/paragraph", "attributes": {"content": "x"}}]});
    for (method, route) in [(Method::POST, POSTS), (Method::PUT, POST)] {
        let response = h.json(NOBODY, method.clone(), route, refused.clone()).await;
        assert_eq!(response.status, 401, "{method}: {:?}", response.body);
        let response = h.json(ADMIN, method.clone(), route, refused.clone()).await;
        assert_eq!((response.status, &response.body["code"]), (400, &json!("rest_invalid_blocks")), "{method}");
    }
    assert_eq!(h.get(ADMIN, POST, "context=edit").await.body["content"]["raw"], before);
}

#[tokio::test(flavor = "multi_thread")]
async fn nested_tables_do_not_multiply_the_response() {
    let h = Harness::new();
    let (open, close) = ("<tr><td>".repeat(120), "</td></tr>".repeat(120));
    let text = "x".repeat(10_000);
    let html = format!("<figure><table><tbody>{open}{text}{close}</tbody></table></figure>");
    let table = json!([{"name": "core/table", "innerContent": [html]}]);
    assert_eq!(update(&h, ADMIN, json!({"blocks": table})).await.status, 200);
    let read = h.get(NOBODY, POST, "_blocks=1&_fields=blocks").await.body;
    assert_eq!(read["blocks"][0]["name"], "core/table");
    assert!(read.to_string().len() < 4 * html.len());
    // What is read can be sent back.
    let edit = h.get(ADMIN, POST, "_blocks=1&context=edit").await.body["blocks"].take();
    assert_eq!(update(&h, ADMIN, json!({"blocks": edit})).await.status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn descriptions_are_those_of_wordpress() {
    let h = Harness::new();
    for route in [POSTS, POST] {
        let options = h.json(ADMIN, Method::OPTIONS, route, json!({})).await.body.to_string();
        assert!(options.contains("excerpt") && !options.contains("blocks_exact"));
        assert!(!options.contains("\"_blocks\"") && !options.contains("\"blocks\""), "{route}");
    }
}
