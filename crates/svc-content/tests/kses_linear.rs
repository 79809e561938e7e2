//! The filter takes linear time on input that is designed to slow it down.

use std::time::{Duration, Instant};

use svc_content::{css, kses, save};

#[rustfmt::skip]
const TOKENS: &[&str] = &[
    "<", ">", "<>", "<p>", "<p ", "</", "</>", "</#>", "<!x>", "<!", "<!--", "<!-->", "<!-- > ", "<!--\n", "<!---->", "--->", "<!-- --->", "-",
    "<!<!", "<!-- > </# > -->", "\\\"", "<!-- \\\\\\\" -->", "&", "&#0", "&amp;", "<p class=x>", "<p class=\"", "<p title='x' a=b c>", " id=x",
    "<!-- wp:x -->", "<!-- wp:x {\"a\":\"<\"} -->", "<!-- wp:x {\"a\":\"\\u003cb\\u003e\"} /-->", "<!-- wp:x {", "<!-- /wp:x -->",
    "<!-- wp:x {\"style\":{\"css\":1}} /-->", "<span class=\"a\">", "é", "\0", "\n",
];

const STYLES: &[&str] = &[
    "(",
    "calc(",
    "calc()",
    "url(",
    "url(x)",
    "linear-gradient(",
    ")",
    ";",
    "color:red;",
    "\\0",
    "background:url(x)",
    ":",
];

#[track_caller]
fn assert_fast(name: &str, f: impl FnOnce()) {
    let start = Instant::now();
    f();
    // Linear time is a fraction of a second, even in a debug build; quadratic time is minutes.
    assert!(start.elapsed() < Duration::from_secs(4), "{name:?}: {:?}", start.elapsed());
}

#[test]
fn repeated_tokens() {
    for token in TOKENS {
        let many = token.repeat(60_000 / token.len());
        // A character is at most six in the attributes of a block, and unclosed blocks repeat the text after them.
        assert!(kses::post(&many).len() <= 8 * many.len() + (1 << 20), "{token:?}");
        assert_fast(token, || drop(save::content(&many, true)));
        assert_fast(token, || drop(save::comment_content(&format!("<!-- {many} -->"), true)));
        assert_fast(token, || drop(kses::data(&format!("<a title=\"{many}\" {many}>{many}\n\n"))));
    }
}

#[test]
fn repeated_styles() {
    for token in STYLES {
        let many = token.repeat(60_000 / token.len());
        assert_fast(token, || drop(css::filter_declarations(&format!("background:{many}"))));
        assert_fast(token, || drop(css::filter_declarations(&format!("--x:url(a){many} x-gradient({many}"))));
        assert_fast(token, || drop(kses::post(&format!("<p style=\"background:{many}\">"))));
    }
}

#[test]
fn attributes_of_blocks() {
    let block = |attributes: String| format!("<!-- wp:x {{{attributes}}} /-->");
    let renamed: Vec<String> = (0..30_000).map(|n| format!("\"\\u003cx\\u003ea{n}\":1")).collect();
    let nested = format!("{}\"{}\"{}", "{\"a\":".repeat(400), "x".repeat(1_000_000), "}".repeat(400));
    for (text, expected) in [
        (block(renamed.join(",")), "<!-- wp:x {\"a0\":1,\"a1\":1,"),
        (block(format!("\"a\":{nested}")), "<!-- wp:x {\"a\":{\"a\":{"),
    ] {
        let start = Instant::now();
        assert!(kses::post(&text).starts_with(expected), "{expected}");
        assert!(start.elapsed() < Duration::from_secs(20), "{expected}: {:?}", start.elapsed());
    }
}

#[test]
fn unclosed_blocks_do_not_multiply_a_text() {
    let text = format!("{}{}", "<!-- wp:x -->".repeat(100), "<p>x</p>".repeat(100_000));
    let start = Instant::now();
    assert!(kses::post(&text).len() < 3 * text.len());
    assert!(start.elapsed() < Duration::from_secs(10));
}
