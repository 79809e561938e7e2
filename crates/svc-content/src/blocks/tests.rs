//! Rows of content and their blocks, and arbitrary content.

use proptest::prelude::*;

use super::*;

/// A short notation for expectations: `name{attrs}[…]`, text in quotes.
fn show(blocks: &[Block<'_>]) -> String {
    let mut out = String::new();
    for block in blocks {
        out.push_str(block.name.as_deref().map_or("-", strip_core_namespace));
        if block.attrs_unreadable {
            out.push('!');
        }
        if !block.attrs.is_empty() {
            out.push_str(&svc_php::json::compact(&Value::Object(block.attrs.clone())));
        }
        out.push('[');
        for chunk in block.chunks() {
            match chunk {
                Chunk::Text(text) => out.push_str(&format!("{text:?}")),
                Chunk::Block(inner) => out.push_str(&show(std::slice::from_ref(inner))),
            }
        }
        out.push(']');
    }
    out
}

#[test]
fn content_becomes_blocks() {
    for (content, blocks) in [
        ("", ""),
        ("text", "-[\"text\"]"),
        ("0", "-[\"0\"]"),
        ("x<!-- wp:a /-->y", "-[\"x\"]a[]-[\"y\"]"),
        ("<!-- wp:a -->x<!-- wp:b /-->y<!-- /wp:a -->", "a[\"x\"b[]\"y\"]"),
        ("<!-- wp:a --><!-- wp:b --><!-- /wp:b --><!-- /wp:a -->", "a[b[\"\"]]"),
        ("<!-- wp:a -->0<!-- wp:b /-->1<!-- /wp:a -->", "a[b[]\"1\"]"),
        ("<!-- wp:a -->0<!-- /wp:a -->", "a[]"),
        ("<!-- wp:a -->x<!-- /wp:other -->", "a[\"x\"]"),
        ("<!-- /wp:a -->x<!-- wp:b /-->", "-[\"<!-- /wp:a -->x<!-- wp:b /-->\"]"),
        ("<!-- /wp:a /-->", "a[]"),
        ("<!-- wp:core/a /--><!-- wp:n/a /-->", "a[]n/a[]"),
        ("<!--\twp:a\n{\"x\":{\"y\":1}}\r\n/-->", "a{\"x\":{\"y\":1}}[]"),
        ("<!-- wp:a {\"x\": <!-- wp:b {} --> -->", "a![\" -->\"]"),
        ("<!-- wp:a {\"b\":\"}  -->\"} /-->", "a![\"\\\"} /-->\"]"),
        ("<!-- wp:a <!-- wp:b /-->", "-[\"<!-- wp:a \"]b[]"),
        ("<!-- wp:a {\"a\":1}/-->", "-[\"<!-- wp:a {\\\"a\\\":1}/-->\"]"),
        ("<!-- wp:a/b/c -->", "-[\"<!-- wp:a/b/c -->\"]"),
        ("<!-- wp:A -->", "-[\"<!-- wp:A -->\"]"),
        ("<!--wp:a -->", "-[\"<!--wp:a -->\"]"),
        ("<!-- wp:a\u{b}-->", "-[\"<!-- wp:a\\u{b}-->\"]"),
        ("y<!-- wp:a -->z<!-- wp:b -->w", "-[\"z\"]b[\"w\"]-[\"y\"]a[\"z<!-- wp:b -->w\"]"),
    ] {
        assert_eq!(show(&parse(content)), blocks, "{content}");
    }
}

#[test]
fn attributes_are_written_for_comments() {
    let attrs = |text: &str| serde_json::from_str::<Map<String, Value>>(text).unwrap();
    for (json, written) in [
        ("{}", "[]"),
        ("{\"a\":\"---\",\"b\":\"<&>\"}", "{\"a\":\"\\u002d\\u002d-\",\"b\":\"\\u003c\\u0026\\u003e\"}"),
        ("{\"a\":\"\\\\\\\"\",\"é\":\"/\"}", "{\"a\":\"\\u005c\\u0022\",\"é\":\"/\"}"),
        ("{\"0\":1.0,\"1\":{}}", "[1,[]]"),
    ] {
        assert_eq!(serialize_attributes(&attrs(json)), written);
    }
    assert_eq!(comment_delimited(Some("core/a"), &attrs("{\"x\":1}"), ""), "<!-- wp:a {\"x\":1} /-->");
    assert_eq!(comment_delimited(Some("n/a"), &Map::new(), "c"), "<!-- wp:n/a -->c<!-- /wp:n/a -->");
    assert_eq!(comment_delimited(Some("n/a"), &Map::new(), "0"), "<!-- wp:n/a /-->");
    assert_eq!(comment_delimited(None, &Map::new(), "c"), "c");
}

#[test]
fn depth_is_bounded_and_closers_still_match() {
    let n = 10_000;
    let content = format!("{}x{}<!-- wp:b /-->", "<!-- wp:a -->".repeat(n), "<!-- /wp:a -->".repeat(n));
    let blocks = parse(&content);
    assert_eq!(blocks.len(), 2, "the outermost and the one after it");
    assert_eq!(serialize_blocks(&blocks), content);
    assert_eq!(parse(&"<!-- wp:a -->".repeat(n)).len(), MAX_DEPTH);
}

/// A scanner that searched the rest again from each comment would take minutes here.
#[test]
fn unfinished_comments_take_linear_time() {
    for piece in ["<!-- wp:a {", "<!-- wp:a {\"x\":1}  ", "<!--", "<!-- ", "<!-- wp:a { } ", "} "] {
        let content = piece.repeat(200_000);
        assert_eq!(parse(&content).len(), 1);
    }
}

proptest! {
    #[test]
    fn closed_blocks_are_written_as_they_were(content in "(<!-- wp:[ab] -->x?<!-- wp:c /-->y?<!-- /wp:[ab] -->|<!-- wp:n/d \\{\"k\":[1-9]\\} /-->|text){0,6}") {
        // Names of closers are not kept, so they are made to agree.
        let content = content.replace("wp:b", "wp:a");
        prop_assert_eq!(serialize_blocks(&parse(&content)), content);
    }

    #[test]
    fn writing_settles_after_one_round(content in "(<!-- ?|/?wp:|a|core/| |\\{|\"|1|\\}| /?-->|é){0,40}") {
        let once = serialize_blocks(&parse(&content));
        let blocks = parse(&once);
        prop_assert_eq!(serialize_blocks(&blocks), once);
    }
}
