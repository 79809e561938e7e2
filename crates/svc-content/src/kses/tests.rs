//! Results recorded from WordPress, attacks, and properties of arbitrary text.

use std::sync::LazyLock;

use fancy_regex::Regex;
use proptest::prelude::*;

use super::*;

#[track_caller]
fn check(allowed: &AllowedHtml, rows: &[(&str, &str)]) {
    for (text, expected) in rows {
        assert_eq!(filter(text, allowed), *expected, "{text:?}");
    }
}

#[test]
fn tags() {
    check(
        AllowedHtml::post(),
        &[
            ("a > b", "a &gt; b"),
            ("<a", "&lt;a"),
            ("<<b>", "&lt;<b>"),
            ("< b >x</ b >", "<b>x</ b >"),
            ("< / p >", "</p>"),
            ("</p class=x>", "</p>"),
            ("<B CLASS=x></B>", "<B class=\"x\"></B>"),
            ("<b/>", "<b />"),
            ("<br /x/>", "<br />"),
            ("<p:x><p_x><1p><-p><é>", "<p><p>"),
            ("<script>x</script><custom-el>", "x"),
            ("<? php ?><%x>", ""),
            ("a\0b\x0Bc\\0", "abc\\0"),
            ("a\\\"<p class=\\\"x\\\">", "a\\\"<p class=\"x\">"),
        ],
    );
}

#[test]
fn comments() {
    check(
        AllowedHtml::post(),
        &[
            ("<!--more x--y-->", "<!--more x-y-->"),
            ("<!-- a\nb -->", "<!-- a\nb -->"),
            ("<!-- a>b --> c", "<!-- a&gt;b --> c"),
            ("<!-- a>b\n --> c", "<!-- a&gt;-->b\n --&gt; c"),
            ("<!-- a>\n", "<!-- a&gt;-->\n"),
            ("<!-- a", "&lt;!-- a"),
            ("<!---->x", "x"),
            ("<!------>x", "x"),
            ("<!-->x-->", "<!--&gt;x-->"),
            ("<!-- x --!> y -->", "<!-- x -!&gt; y -->"),
            ("<!-- > <!-- > -->x", "<!-- &gt;  &gt; -->x"),
            ("<!-- a--->b", "<!-- a-->b"),
            ("</#a \\\" & b></ b>", "</#a \" &amp; b></ b>"),
            ("</> </#x>", "</&gt; &lt;/#x>"),
            ("<!x y><!X><!><![CDATA[ x ]]>", "<!x y>"),
            ("<!-- > </# \\\\\\\"> -->", "<!-- &gt; </# \"> -->"),
        ],
    );
}

#[test]
fn attributes_are_normalized() {
    check(
        AllowedHtml::post(),
        &[
            ("<p class=a/b/>", "<p class=\"a/b/\" />"),
            ("<p class>", "<p class>"),
            ("<p class= >", "<p class=\"\">"),
            ("<p class=\"a\" CLASS=b onclick=c>", "<p class=\"a\">"),
            ("<p class=\"a\"id='b\"'>", "<p class=\"a\" id=\"b&quot;\">"),
            ("<p\n=x class\n=\n\"x\r\ny\"/\n>", "<p class=\"x\ny\" />"),
            ("<p id=1 class=\"x>", "<p>"),
            ("<p class=\"a>b\">", "<p>b\"&gt;"),
            (
                "<p title=\"&lt; &bogus; & ' &#39; &nbsp;&#128;\">",
                "<p title=\"&lt; &amp;bogus; &amp; &apos; &apos; \u{a0}€\">",
            ),
            ("<p data-x=1 data-=2 data-A_b=3 data-x.y=4 data-é=5>", "<p data-x=\"1\" data-a_b=\"3\">"),
            ("<a download><a download=x>", "<a download><a>"),
            ("<p aria-foo=1 aria-label=2>", "<p aria-label=\"2\">"),
        ],
    );
}

#[test]
fn addresses() {
    check(
        AllowedHtml::post(),
        &[
            ("<a href=\"http://a/?a=1&b=2&amp;c\">", "<a href=\"http://a/?a=1&amp;b=2&amp;c\">"),
            ("<a href=\"mailto:a@b\" rel=x:y>", "<a href=\"mailto:a@b\" rel=\"x:y\">"),
            ("<a href=\"x:y:z\">", "<a href=\"z\">"),
            (
                "<img longdesc=vbscript:x src=\"data:image/png;base64,x\">",
                "<img longdesc=\"x\" src=\"image/png;base64,x\">",
            ),
            ("<a href=&#x6a;avascript:x>", "<a href=\"x\">"),
        ],
    );
}

#[test]
fn styles() {
    check(
        AllowedHtml::post(),
        &[
            ("<p style=\" color : red ; ; \">", "<p style=\"color : red;\">"),
            ("<p style=\"foo:bar\"><p style><p style=0>", "<p><p><p>"),
            ("<p style=\"font-family:&quot;A&quot;,serif\">", "<p style=\"font-family:&quot;A&quot;,serif\">"),
        ],
    );
}

#[test]
fn pdf_objects_must_be_uploads() {
    let with = |host| AllowedHtml::post().clone().with_uploads_host(host);
    let object = "<object type=\"application/pdf\" data=\"https://example.org:81/a.pdf\" class=\"x\" />";
    check(
        &with("example.org:81"),
        &[
            (object, object),
            (&object.replace(".pdf", ".pdf?"), ""),
            (&object.replace(" /", ""), &object.replace(" /", "")),
        ],
    );
    check(&with("example.org"), &[(object, ""), (&object.replace(" /", ""), "<object>")]);
    check(AllowedHtml::post(), &[(object, ""), ("<object data=x></object>", "<object></object>")]);
}

#[test]
fn rules() {
    let rule = |checks: Vec<Check>| Rule { required: false, checks };
    let values = Check::Values(vec!["ltr".to_owned(), "rtl".to_owned()]);
    let allowed = AllowedHtml::default()
        .allow("p", ["class"])
        .allow_if("p", "dir", rule(vec![values.clone()]))
        .allow_if("p", "id", rule(vec![Check::Valueless(false), Check::MinLength(2), Check::MaxLength(3)]))
        .allow_if("p", "tabindex", rule(vec![Check::MinValue(2), Check::MaxValue(5)]))
        .allow_if("b", "dir", Rule { required: true, checks: vec![values] })
        .allow("b", ["class"])
        .allow("i", ["data-*"]);
    check(
        &allowed,
        &[
            ("<p dir=LTR><p dir=' ltr'><p dir>", "<p dir=\"LTR\"><p><p>"),
            ("<p id><p id=x><p id=xy><p id=wxyz><p id=éé>", "<p><p><p id=\"xy\"><p><p>"),
            (
                "<p tabindex=' 5 '><p tabindex=6><p tabindex=1><p tabindex=1234567><p tabindex=-3>",
                "<p tabindex=\" 5 \"><p><p><p><p>",
            ),
            ("<b dir=ltr class=x><b dir=x class=y><b class=z><b/></b>", "<b dir=\"ltr\" class=\"x\"><b><b></b>"),
            ("<i data-a=1 class=x>", "<i data-a=\"1\">"),
        ],
    );
}

#[test]
fn lists() {
    let text = "<p><b>x</b><a href=x title=y rel=z><span class=c></p>";
    check(AllowedHtml::data(), &[(text, "<b>x</b><a href=\"x\" title=\"y\">")]);
    check(AllowedHtml::description(), &[(text, "<b>x</b><a href=\"x\" title=\"y\" rel=\"z\">")]);
    check(AllowedHtml::comment(), &[(text, "<b>x</b><a href=\"x\" title=\"y\"><span class=\"c\">")]);
    check(AllowedHtml::strip(), &[(text, "x"), ("<!-- a <b> -->&", "&lt;!-- a  --&gt;&amp;")]);
    check(AllowedHtml::post(), &[("<mtd rowspan=2 mathcolor=red columns=1>", "<mtd rowspan=\"2\" mathcolor=\"red\">")]);
}

#[test]
fn attributes_of_blocks() {
    check(
        AllowedHtml::post(),
        &[
            ("x<!-- wp:x -->y", "x<!-- wp:x -->y<!-- /wp:x -->"),
            ("<!-- wp:core/x -->0<!-- /wp:core/x -->", "<!-- wp:x /-->"),
            (
                "<!-- wp:x {\"a\":1.0,\"b\":{},\"c\":\"\\u00e9\"} --->y<!-- /wp:x -->",
                "<!-- wp:x {\"a\":1,\"b\":[],\"c\":\"é\"} -->y<!-- /wp:x -->",
            ),
            ("<!-- wp:x {bad} /-->", "<!-- wp:x /-->"),
            (
                "<!-- wp:x {\"a\":[\"\\u003cscript\\u003e\",{\"b\":\"\\u003cp onclick=1\\u003e & -- \\u003c\"}]} /-->",
                "<!-- wp:x {\"a\":[\"\",{\"b\":\"\\u003cp\\u003e \\u0026amp; \\u002d\\u002d \\u0026lt;\"}]} /-->",
            ),
            ("<!-- wp:x {\"\\u003cscript\\u003ez\":1,\"b\":2} /-->", "<!-- wp:x {\"b\":2,\"z\":1} /-->"),
            ("<!-- wp:x {\"a\":2,\"\\u003cscript\\u003ea\":1,\"c\":3} /-->", "<!-- wp:x {\"a\":1,\"c\":3} /-->"),
            (
                "<!-- wp:template-part {\"tagName\":\"script\",\"x\":{\"tagName\":5}} /-->",
                "<!-- wp:template-part {\"tagName\":\"\",\"x\":{\"tagName\":\"\"}} /-->",
            ),
            (
                "<!-- wp:template-part {\"tagName\":\"header\"} /-->",
                "<!-- wp:template-part {\"tagName\":\"header\"} /-->",
            ),
            ("<!-- wp:group {\"tagName\":\"script\"} /-->", "<!-- wp:group {\"tagName\":\"script\"} /-->"),
        ],
    );
}

#[test]
fn single_attributes() {
    for (attribute, expected) in [
        (" title = 'x' ", " title='x' "),
        ("title=it's", "title=\"it&#039;s\""),
        ("href=\"javascript:alert(1)\"", "href=\"alert(1)\""),
        (" onclick=x", " "),
        ("title=\"x", ""),
        ("download", "download"),
        ("download=x", ""),
        ("DATA-X=1", "DATA-X=\"1\""),
        ("style=\"foo:bar;color:red\"", "style=\"color:red\""),
        ("style='foo:bar'", ""),
        ("style", ""),
    ] {
        assert_eq!(filter_attribute(attribute, "A"), expected, "{attribute:?}");
    }
    assert_eq!(filter_attribute("title=x", "script"), "");
}

#[test]
fn splitting_a_tag() {
    for (tag, parts) in [
        (
            "<a b=\"c\"d='e'f=g [h] [[i]]  j />",
            Some(vec!["<a ", "b=\"c\"", "d='e'", "f=g ", "[h] ", "[[i]]  ", "j", " />"]),
        ),
        ("<a b = c", Some(vec!["<a ", "b = c", ""])),
        ("<a>", Some(vec!["<a", ">"])),
        ("</a>", None),
        ("<a b=c\"d>", None),
        ("<a b=>", None),
        ("<a \"b\">", None),
        ("<a []>", None),
        ("a", None),
        ("", None),
    ] {
        assert_eq!(split_attributes(tag), parts, "{tag:?}");
    }
}

/// Asserts that filtered HTML has nothing harmful, independently of the code under test: checks elements and
/// attributes by pattern, and URLs without the characters that browsers ignore.
#[track_caller]
fn assert_harmless(html: &str) {
    const BAD: &[&str] = &[
        "script",
        "style",
        "iframe",
        "svg",
        "embed",
        "form",
        "input",
        "link",
        "meta",
        "base",
        "body",
        "noscript",
        "template",
        "xmp",
        "plaintext",
        "foreignobject",
        "annotation-xml",
        "mglyph",
        "param",
        "applet",
        "frame",
        "select",
        "option",
    ];
    static TAG: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"</?([a-zA-Z][^\s/>]*)([^>]*)").unwrap());
    static QUOTED: LazyLock<Regex> = LazyLock::new(|| Regex::new(r#"([a-z:-]+)="([^"]*)""#).unwrap());
    for found in TAG.captures_iter(html).map(Result::unwrap) {
        assert!(!BAD.contains(&found[1].to_ascii_lowercase().as_str()), "element {:?} in {html:?}", &found[1]);
        let bare = QUOTED.replace_all(&found[2], "").to_ascii_lowercase();
        assert!(!bare.contains('=') && !bare.contains('<'), "attributes {bare:?} in {html:?}");
        for attribute in QUOTED.captures_iter(&found[2]).map(Result::unwrap) {
            let (name, value) = (&attribute[1], svc_text::decode_references(&attribute[2]));
            assert!(!name.starts_with("on"), "{name} in {html:?}");
            let visible: String = value.chars().filter(|c| *c > ' ').collect::<String>().to_ascii_lowercase();
            let address = ["href", "src", "cite", "poster", "data", "action", "formaction"].contains(&name);
            let scheme = ["javascript:", "vbscript:", "data:", "file:", "blob:"].iter().any(|s| visible.starts_with(s));
            assert!(!(address && scheme), "{name}={value:?} in {html:?}");
            assert!(
                name != "style" || !visible.contains("expression(") && !visible.contains("javascript:"),
                "{value:?} in {html:?}"
            );
        }
    }
}

#[test]
fn attacks() {
    for text in include_str!("attacks.txt").lines().filter(|line| !line.is_empty()) {
        let text = text.replace("\\n", "\n").replace("\\t", "\t").replace("\\x00", "\0").replace("\\x01", "\x01");
        for html in
            [post(&text), data(&text), post(&format!("<!-- {text} -->")), post(&format!("<textarea>{text}</textarea>"))]
        {
            assert_harmless(&html);
        }
        assert!(!strip(&text).replace("<!--", "").replace("</&gt;", "").contains("<img"), "{text}");
        let json = serde_json::json!({ "a": text }).to_string().replace('<', "\\u003c").replace('>', "\\u003e");
        let block = post(&format!("<!-- wp:x {json} /-->"));
        if let Some(value) = crate::blocks::parse(&block).first().and_then(|block| block.attrs.get("a")) {
            assert_harmless(value.as_str().unwrap_or_default());
        }
    }
}

/// Tokens of markup, including harmful ones.
#[rustfmt::skip]
const PIECES: &[&str] = &[
    "<", ">", "</", "/>", "<!", "<!--", "-->", "--->", "--", "-", "\"", "'", "\\", "&", "&amp;", "&#39;", "&#x3A;", "&colon;", "&lt;",
    "&gt;", "&#0;", " ", "\n", "\r\n", "\t", "=", "/", "a", "b", "p", "script", "svg", "object", "img", "textarea", "title", "math",
    "x-y", "1", "é", "style", "class=x", " style=\"color:red;x:y\"", " href=\"javascript:alert(1)\"", " href=java&#x0A;script:x",
    " src=x", " onerror=alert(1)", " onclick=\"x\"", " data-x=1", " title=\"a&quot;b\"", "javascript:", "<!-- wp:x -->", "<!-- /wp:x -->",
    "<!-- wp:x {\"a\":\"\\u003cb onclick=x\\u003e\"} -->", "<p", "<a", "<img", "<b>", "</b>", "<script>", "</script>", "<![CDATA[",
    "]]>", "<?", "</#", "<!x", "\0", "0", ";", ":", "url(x)",
];

fn mixture() -> impl Strategy<Value = String> {
    proptest::collection::vec(proptest::sample::select(PIECES), 0..24).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, ..ProptestConfig::default() })]

    #[test]
    fn filtered_text_is_harmless(text in mixture()) {
        for allowed in [AllowedHtml::post(), AllowedHtml::comment(), AllowedHtml::strip()] {
            assert_harmless(&filter(&text, allowed));
        }
    }

    #[test]
    fn filtering_is_idempotent(text in mixture()) {
        // Except for backslashes before quotes in tags, of which each pass removes one, and for comments, in which
        // the second pass escapes tags after a `<` without `>`.
        let once = post(&format!("{}<!-- wp:x {{\"a\":\"\\u003cb onclick=x\\u003e\"}} /-->", text.replace(['\\', '!'], "")));
        prop_assert_eq!(post(&once), once);
    }

    #[test]
    fn arbitrary_text_never_panics(text in any::<String>(), tag in any::<String>()) {
        let _ = (post(&text), data(&text), strip(&text), filter_attribute(&text, "a"), split_attributes(&format!("<a {tag}>")));
        let _ = post(&format!("<p title=\"{text}\" style='{tag}'><!-- wp:x {{\"a\":\"{tag}\"}} -->{text}"));
    }

    #[test]
    fn plain_text_is_unchanged(text in "[^<>&\\x00-\\x08\\x0B\\x0C\\x0E-\\x1F]*") {
        prop_assert_eq!(post(&text).into_string(), text);
    }
}
