//! Markdown of single documents.

use svc_content::markdown::{to_markdown, to_markdown_line};

use crate::parsers::{by_markdown, by_pulldown, html_with_bare_links};

#[test]
fn elements() {
    for (html, expected) in [
        ("", ""),
        ("a", "a\n"),
        ("<p>Tom &amp; <em>Jerry</em></p>", "Tom & _Jerry_\n"),
        ("<h2>A <b>b</b><br>c #</h2>", "## A **b** c \\#\n"),
        ("<p>a<br>- b</p>", "a\\\n\\- b\n"),
        ("<ul><li>a<ul><li>b</ul><li>c</ul>", "- a\n  - b\n- c\n"),
        ("<ol start=9><li>a<li>b</ol>", "9. a\n10. b\n"),
        ("<ul><li>a<ul><li><ul><ol start=7><li>b", "- a\n\n  - - 7. b\n"),
        ("<ul><li>a<li><ul><li><ol start=7><li>b", "- a\n- - 7. b\n"),
        ("<ul><li>a</ul><ul><li>b</ul>", "- a\n\n* b\n"),
        ("<blockquote><p>a<p>b</blockquote>", "> a\n>\n> b\n"),
        ("<pre class=language-rust><code>a\n  b\n</code></pre>", "```rust\na\n  b\n```\n"),
        ("<a href=/x><h3>a</h3><p>b</p></a>", "### [a](/x)\n\nb\n"),
        ("<figure><img src=/a.png alt='b'><figcaption>c</figcaption></figure>", "![b](/a.png)\n\nc\n"),
        ("<table><tr><th>a<th>b<tr><td>c</table>", "| a | b |\n| --- | --- |\n| c |\n"),
        ("<iframe src=https://v.example/1 title=Film></iframe>", "[Film](https://v.example/1)\n"),
        ("a<hr>b<script>c</script><!-- d --><p ", "a\n\n___\n\nb\n"),
        ("a<b>b</b>c <b> d </b>e", "a**b**c **d** e\n"),
        ("<em><strong>a</strong></em>", "_**a**_\n"),
    ] {
        assert_eq!(to_markdown(html), expected, "{html}");
        assert_eq!(by_pulldown(&to_markdown(html)), by_markdown(&to_markdown(html)), "{html}");
    }
    assert_eq!(to_markdown_line("<p>a</p><p>b<br># c</p>"), "a b \\# c");
}

/// Text that another converter made markup of.
#[test]
fn text_is_not_markup() {
    for (html, text) in [
        ("<table><tr><td><code>a|&lt;b&gt;</code><td>c</table>", "a|<b> c"),
        ("<table><tr><td><code>a</td><td>&lt;b&gt;</code></table>", "a <b>"),
        ("<table><tr><td><code>a\\|</code>\\|<td>&lt;b&gt;</table>", "a\\|\\| <b>"),
        ("<code></code>&lt;b&gt;<code></code>", "<b>"),
        ("<code>`</code>&lt;b&gt;<code>``</code>", "`<b>``"),
        ("<code>a</code><b>`</b><code>b</code>&lt;b&gt;", "a`b<b>"),
        ("<code>a\r\r&lt;b&gt;</code>", "a <b>"),
        ("<pre>a\r```\r&lt;b&gt;</pre>&lt;i&gt;", "a ``` <b> <i>"),
        ("~~~<br>&lt;b&gt;", "~~~ <b>"),
        ("<p>~~~</p><p>&lt;b&gt;</p>", "~~~ <b>"),
        ("<table><tr><a href=/x></a>&lt;b&gt;</table>", "<b>"),
        ("<img src=/x alt=']( &lt;b&gt;'>", "]( <b>"),
        ("&amp;lt;b&amp;gt;", "&lt;b&gt;"),
        ("![a]<a href=/x>b</a>!<a href=/y>c</a>", "![a]b!c"),
        ("`<strong>`<hr></strong>", "``"),
        ("a<br>| --- |<br>b", "a | --- | b"),
        ("http://x.example/+&lt;img onerror=x&gt;", "http://x.example/+<img onerror=x>"),
        ("http://x.example/<code>&lt;b&gt;</code>", "http://x.example/<b>"),
        ("<a href=/x>a <code>](javascript:y) &lt;b&gt;</code></a>", "a ](javascript:y) <b>"),
    ] {
        let markdown = to_markdown(html);
        assert_eq!(html_with_bare_links(&markdown), [""; 0], "{html}\n{markdown}");
        for shown in [by_pulldown(&markdown), by_markdown(&markdown)] {
            assert_eq!((shown.html, shown.text.as_str()), (Vec::new(), text), "{html}\n{markdown}");
        }
    }
}

/// Sizes stay in proportion, and nesting ends nothing.
#[test]
fn size_and_depth_are_bounded() {
    for part in [
        "<div>",
        "<b>",
        "<ul><li>",
        "<ol start=999999999><li>a",
        "<blockquote>a<br>",
        "<a href=/x><p>a",
        "<table><tr><td>a",
        "<i><b>a",
    ] {
        let html = part.repeat(20_000);
        assert!(to_markdown(&html).len() <= 6 * html.len(), "{part}");
    }
    let lines = format!("{}<pre>{}</pre>", "<ol start=999999999><li>".repeat(12), "x\n".repeat(10_000));
    assert!(to_markdown(&lines).len() <= 6 * lines.len());
}
