//! Properties of random HTML.

use proptest::prelude::*;
use svc_content::markdown::{to_markdown, to_markdown_line};

use crate::{
    html::{decoded, fragments, nodes, safe_urls, to_html, visible},
    parsers::{Shown, by_markdown, by_pulldown, html_with_bare_links},
};

/// The Markdown of both functions, and what both parsers find in it.
fn shown(html: &str) -> Vec<(String, Shown)> {
    let whole = to_markdown(html);
    let heading = format!("# {}\n", to_markdown_line(html));
    [&whole, &heading]
        .into_iter()
        .flat_map(|markdown| [by_pulldown(markdown), by_markdown(markdown)].map(|shown| (markdown.clone(), shown)))
        .collect()
}

#[track_caller]
fn is_harmless(html: &str, markdown: &str, shown: &Shown, urls: &[String]) -> Result<(), TestCaseError> {
    prop_assert!(shown.html.is_empty(), "raw HTML {:?}\n{html}\n{markdown}", shown.html);
    let with_links = html_with_bare_links(markdown);
    prop_assert!(with_links.is_empty(), "raw HTML {with_links:?} with bare links\n{html}\n{markdown}");
    for url in &shown.urls {
        prop_assert!(urls.contains(&decoded(url)), "another URL {url:?}\n{html}\n{markdown}");
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, max_shrink_iters: 60_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn markdown_shows_the_text_of_the_html_and_nothing_else(nodes in nodes()) {
        let html = to_html(&nodes);
        let urls = safe_urls();
        for (markdown, shown) in shown(&html) {
            is_harmless(&html, &markdown, &shown, &urls)?;
            prop_assert_eq!(&shown.text, &visible(&nodes), "\n{}\n{}", html, markdown);
        }
    }

    #[test]
    fn markdown_of_broken_html_is_harmless(html in fragments()) {
        let urls = safe_urls();
        for (markdown, shown) in shown(&html) {
            is_harmless(&html, &markdown, &shown, &urls)?;
        }
    }
}
