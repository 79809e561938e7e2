//! Typography of texts.

use super::*;
use crate::shortcodes::standard_shortcodes;

#[track_caller]
fn check(rows: &[(&str, &str)]) {
    for (text, expected) in rows {
        assert_eq!(texturize(text, standard_shortcodes()), *expected, "{text}");
    }
}

#[test]
fn quotes() {
    check(&[
        ("'a' \"b\"", "&#8216;a&#8217; &#8220;b&#8221;"),
        ("don't", "don&#8217;t"),
        ("class of '99, '999 and '99%", "class of &#8217;99, &#8216;999 and &#8216;99%"),
        ("'5.5' \"1,000\"", "&#8216;5.5&#8217; &#8220;1,000&#8221;"),
        ("6'2\" tall", "6&#8217;2&#8243; tall"),
        ("a 9' pole", "a 9&#8242; pole"),
        ("'room 7'", "&#8216;room 7&#8217;"),
        ("\"between 5\" and 6\" long.\"", "&#8220;between 5&#8243; and 6&#8243; long.&#8221;"),
        ("``a''", "&#8220;a&#8221;"),
        ("'tis 'em", "&#8217;tis &#8217;em"),
        ("a&nbsp;'b'", "a&nbsp;&#8216;b&#8217;"),
        ("(\"a\")", "(&#8220;a&#8221;)"),
        ("'a &#8217; 5'", "&#8216;a &#8217; 5&#8242;"),
    ]);
}

#[test]
fn dashes_and_signs() {
    check(&[
        ("a---b a--b a - b a -- b", "a&#8212;b a&#8211;b a &#8211; b a &#8212; b"),
        ("xn--a", "xn--a"),
        ("a... x (tm)", "a&#8230; x &#8482;"),
        ("3x4 0x70 10x5px 1.5x2", "3&#215;4 0x70 10x5px 1.5&#215;2"),
        ("2x3x4 2x.5 5.x6", "2x3x4 2x.5 5.&#215;6"),
        ("1x2 5.x6", "1&#215;2 5.&#215;6"),
        ("a & b &amp; &bogus; &#x41; &#; &toolongname;", "a &#038; b &amp; &bogus; &#x41; &#038;#; &#038;toolongname;"),
    ]);
}

#[test]
fn markup_and_shortcodes_are_unchanged() {
    check(&[
        ("<a href='x'>'y'</a>", "<a href='x'>&#8216;y&#8217;</a>"),
        ("<code>'a'</code> 'b'", "<code>'a'</code> &#8216;b&#8217;"),
        ("<pre>--<code></pre>--</code>--", "<pre>--<code></pre>--</code>--"),
        ("<!-- ' --> '", "<!-- ' --> &#8216;"),
        ("<a href=\"?a&b\">", "<a href=\"?a&#038;b\">"),
        ("[gallery ids='1']", "[gallery ids='1']"),
        ("[unknown ids='1']", "[unknown ids=&#8217;1&#8242;]"),
        ("[gallery <b title='x'> ...]", "[gallery <b title='x'> ...]"),
        ("[gallery ...", "[gallery &#8230;"),
        ("[[gallery ...]]...", "[[gallery ...]]&#8230;"),
    ]);
}

#[test]
fn long_texts_stay_linear() {
    for part in ["'", "\"1'", "<", "[gallery ", "[gallery <", "&", "1x2", "'1", "- ", "<pre>", "\"a 5\""] {
        let text = part.repeat(40_000 / part.len());
        assert!(!texturize(&text, standard_shortcodes()).is_empty());
    }
}
