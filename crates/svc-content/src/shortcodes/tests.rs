//! Shortcodes in texts and their output.

use svc_text::{esc_html, html};

use super::*;

fn site() -> Shortcodes {
    let mut all = Shortcodes::standard();
    all.register("up", |call| stored(call.render(call.content.unwrap_or("-")).to_uppercase()));
    all.register("attr", |call| {
        let named = call.attributes.named().map(|(name, value)| esc_html(&format!("{name}:{value}")));
        Html::join(named, ",")
    });
    all
}

#[track_caller]
fn check(rows: &[(&str, &str, &str)]) {
    let all = site();
    for (text, run, stripped) in rows {
        assert_eq!(all.run(text, &Page::default()), *run, "{text}");
        assert_eq!(all.strip(text), *stripped, "{text}");
    }
}

#[test]
fn shortcodes_are_replaced() {
    check(&[
        ("a[up]b[/up]c", "aBc", "ac"),
        ("[up]", "-", ""),
        ("[up/]", "-", ""),
        ("[up a/]b[/up]", "-b[/up]", "b[/up]"),
        ("[up][attr A=1 b='2'][/up]", "A:1,B:2", ""),
        ("[[up]]", "[up]", "[up]"),
        ("[[up]b[/up]]", "[up]b[/up]", "[up]b[/up]"),
        ("[[up]", "[-", "["),
        ("[upx] [up", "[upx] [up", "[upx] [up"),
        ("[up a=\"]\"]", "-\"]", "\"]"),
        ("[up]a[up]b[/up]", "A-B", ""),
    ]);
}

#[test]
fn brackets_in_tags() {
    check(&[
        ("<a title=\"[up]\">", "<a title=\"[up]\">", "<a title=\"[up]\">"),
        ("<a [attr x=1]>", "<a x:1>", "<a [attr x=1]>"),
        ("<!-- [up] -->", "<!-- [up] -->", "<!-- [up] -->"),
        ("<b a/b [up]", "<b a/b [up]", "<b a/b [up]"),
        ("&#91;up] [up]", "&#091;up] -", "&#091;up] "),
    ]);
}

#[test]
fn captions_and_players() {
    let all = site();
    let page = Page::default();
    for (text, expected) in [
        ("[caption width=\"100\"]x[/caption]", "x"),
        (
            "[caption id=\"attachment_5\" align=\"alignleft\" width=\"100\"]<a href=\"x\"><img src=\"a.png\"></a> t[/caption]",
            "<figure id=\"attachment_5\" aria-describedby=\"caption-attachment-5\" style=\"width: 100px\" class=\"wp-caption alignleft\"><a href=\"x\"><img src=\"a.png\"></a><figcaption id=\"caption-attachment-5\" class=\"wp-caption-text\">t</figcaption></figure>",
        ),
        (
            "[audio src=\"a.mp3\"]",
            "<audio class=\"wp-audio-shortcode\" id=\"audio-0-1\" preload=\"none\" style=\"width: 100%;\" controls=\"controls\"><source type=\"audio/mpeg\" src=\"http://a.mp3?_=1\" /><a href=\"http://a.mp3\">http://a.mp3</a></audio>",
        ),
        (
            "[video src=\"http://e.com/a.mp4\" width=100 height=50 loop=1 class=\"k\"]",
            "<div style=\"width: 100px;\" class=\"wp-video\"><video class=\"k\" id=\"video-0-1\" width=\"100\" height=\"50\" loop preload=\"metadata\" controls=\"controls\"><source type=\"video/mp4\" src=\"http://e.com/a.mp4?_=1\" /><a href=\"http://e.com/a.mp4\">http://e.com/a.mp4</a></video></div>",
        ),
        ("[audio src=\"a.xyz\"]", "<a class=\"wp-embedded-audio\" href=\"http://a.xyz\">a.xyz</a>"),
        ("[audio][gallery]", ""),
    ] {
        assert_eq!(all.run(text, &page), expected, "{text}");
    }
}

#[test]
fn alone_in_a_paragraph() {
    let all = site();
    for (text, expected) in [
        ("<p> [up]\n</p>", "[up]"),
        ("<p>[up]a</p>b[/up]</p>", "[up]a</p>b[/up]"),
        ("<p>[up]</p>b[/up]", "[up]b[/up]"),
        ("<p>[up] x</p>", "<p>[up] x</p>"),
        ("<p>[[up]]</p>", "<p>[[up]]</p>"),
    ] {
        assert_eq!(unautop(text, &all), expected, "{text}");
    }
}

#[test]
fn nesting_is_limited() {
    let mut all = site();
    all.register("again", |call| html!("({})", call.render("[again]")));
    let out = all.run("[again]", &Page::default());
    assert_eq!(out, format!("{}[again]{}", "(".repeat(MAX_DEPTH), ")".repeat(MAX_DEPTH)));
}

#[test]
fn long_texts_stay_linear() {
    let all = site();
    for part in ["[up]", "[up ", "[", "[[up]", "<a [up]", "[up/", "<p>[up]", "[/up]"] {
        let text = part.repeat(40_000 / part.len());
        assert!(all.run(&text, &Page::default()).len() <= 2 * text.len(), "{part}");
        assert!(all.strip(&text).len() <= text.len(), "{part}");
        assert!(unautop(&text, &all).len() <= text.len(), "{part}");
    }
}
