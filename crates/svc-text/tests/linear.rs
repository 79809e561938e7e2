//! All functions take linear time on input that is designed to slow down scanners, and do not panic on unusual input.

use std::time::{Duration, Instant};

use svc_text::*;

/// The name of a function, and the function with its result dropped.
type Named = (&'static str, Box<dyn Fn(&str)>);

/// Every function with a single text argument.
fn all() -> Vec<Named> {
    fn run<T>(name: &'static str, f: impl Fn(&str) -> T + 'static) -> Named {
        (name, Box::new(move |text| drop(f(text))))
    }
    let allowed = MimeTypes::allowed(false);
    let known = MimeTypes::known();
    vec![
        run("sanitize_text_field", sanitize_text_field),
        run("sanitize_textarea_field", sanitize_textarea_field),
        run("strip_all_tags", |t| strip_all_tags(t, true)),
        run("normalize_whitespace", normalize_whitespace),
        run("sanitize_url", sanitize_url),
        run("esc_url", esc_url),
        run("sanitize_redirect", sanitize_redirect),
        run("sanitize_trackback_urls", sanitize_trackback_urls),
        run("url_shorten", |t| url_shorten(t, 35)),
        run("make_link_relative", |t| make_link_relative(t).len()),
        run("parse_url", parse_url),
        run("bad_protocol", |t| bad_protocol(t, ALLOWED_PROTOCOLS)),
        run("is_email", is_email),
        run("sanitize_email", sanitize_email),
        run("esc_html", esc_html),
        run("esc_js", esc_js),
        run("esc_xml", esc_xml),
        run("esc_textarea", esc_textarea),
        run("specialchars_decode", |t| specialchars_decode(t, Quotes::Both)),
        run("convert_invalid_entities", convert_invalid_entities),
        run("remove_accents", |t| remove_accents(t, "de_DE")),
        run("sanitize_title", sanitize_title),
        run("truncate_post_slug", |t| truncate_post_slug(t, 200)),
        run("utf8_uri_encode", |t| utf8_uri_encode(t, 0)),
        run("sanitize_key", sanitize_key),
        run("sanitize_user", |t| sanitize_user(t, true)),
        run("sanitize_html_class", |t| sanitize_html_class(t, "x")),
        run("kebab_case", kebab_case),
        run("sanitize_file_name", move |t| sanitize_file_name(t, &allowed)),
        run("check_filetype", move |t| check_filetype(t, &known).is_some()),
        run("basename", |t| basename(t, ".jpg").len()),
        run("absint", absint),
        run("slash", slash),
        run("unslash", unslash),
    ]
}

#[rustfmt::skip]
const TOKENS: &[&str] = &[
    "<", "<script>", "<!--", "<?php (", "&", "&#0", "&#x", "&;", "&a", "%", "%0", "%%41", "%0%0dd", ":", "&#58", "feed:",
    "\\0", "[", "http://[", "@", ".", "a.", "a@b.", "-", "---41", "\u{301}", "é", "<![CDATA[", "'", "\\", "\n", "\r\n &x;", ",1",
    "0", "Aa1", "\0", "--- ", ".jpg", "?#[",
];

#[test]
fn repeated_tokens_stay_linear() {
    const LONG: usize = 30_000;
    for token in TOKENS {
        let text = token.repeat(LONG / token.len());
        for (name, f) in all() {
            let start = Instant::now();
            f(&text);
            // Linear time is milliseconds, even in a debug build; quadratic time is minutes.
            assert!(start.elapsed() < Duration::from_secs(3), "{name} on {token:?}: {:?}", start.elapsed());
        }
    }
}

#[test]
fn short_mixtures_do_not_panic() {
    let functions = all();
    for a in TOKENS {
        for b in TOKENS {
            for text in [format!("{a}{b}"), format!("é{a}x{b}{a}"), format!("{a}é{b}5;")] {
                functions.iter().for_each(|(_, f)| f(&text));
            }
        }
    }
}
