//! The writes whose actions are compared.

/// Writes of one object, in order.
pub(super) struct Sequence {
    pub(super) name: &'static str,
    pub(super) writes: &'static [Write],
}

/// One write. `{id}` is the object that the first write created, `{post}` a published post.
pub(super) struct Write {
    pub(super) name: &'static str,
    pub(super) method: &'static str,
    pub(super) path: &'static str,
    pub(super) body: &'static str,
}

const fn write(name: &'static str, method: &'static str, path: &'static str, body: &'static str) -> Write {
    Write { name, method, path, body }
}

const POST: &str = "/wp-json/wp/v2/posts/{id}";
const PAGE: &str = "/wp-json/wp/v2/pages/{id}";
const TERM: &str = "/wp-json/wp/v2/categories/{id}";
const COMMENT: &str = "/wp-json/wp/v2/comments/{id}";

pub(super) const SEQUENCES: &[Sequence] = &[
    Sequence {
        name: "post",
        writes: &[
            write("create", "POST", "/wp-json/wp/v2/posts", r#"{"title":"A","content":"B"}"#),
            write("update", "POST", POST, r#"{"title":"C"}"#),
            write("publish", "PUT", POST, r#"{"status":"publish"}"#),
            write("unpublish", "PUT", POST, r#"{"status":"draft"}"#),
            write("schedule", "PATCH", POST, r#"{"status":"future","date":"2199-01-01T00:00:00"}"#),
            write("trash", "DELETE", POST, "{}"),
            write("delete", "DELETE", POST, r#"{"force":true}"#),
        ],
    },
    Sequence {
        name: "page",
        writes: &[
            write("create", "POST", "/wp-json/wp/v2/pages", r#"{"title":"P","status":"publish"}"#),
            write("delete", "DELETE", PAGE, r#"{"force":true}"#),
        ],
    },
    Sequence {
        name: "category",
        writes: &[
            write("create", "POST", "/wp-json/wp/v2/categories", r#"{"name":"Of a test of actions"}"#),
            write("update", "POST", TERM, r#"{"description":"Text"}"#),
            write("delete", "DELETE", TERM, r#"{"force":true}"#),
        ],
    },
    Sequence {
        name: "comment",
        writes: &[
            write("create", "POST", "/wp-json/wp/v2/comments", r#"{"post":{post},"content":"Of a test of actions"}"#),
            write("update", "POST", COMMENT, r#"{"content":"Edited"}"#),
            write("hold", "POST", COMMENT, r#"{"status":"hold"}"#),
            write("approve", "POST", COMMENT, r#"{"status":"approved"}"#),
            write("spam", "POST", COMMENT, r#"{"status":"spam"}"#),
            write("unspam", "POST", COMMENT, r#"{"status":"approved"}"#),
            write("trash", "DELETE", COMMENT, "{}"),
            write("delete", "DELETE", COMMENT, r#"{"force":true}"#),
        ],
    },
];
