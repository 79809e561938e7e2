//! A page of the book as HTML.

use std::collections::BTreeSet;

use pulldown_cmark::{CowStr, Event, Options, Parser, Tag, TagEnd, html::push_html};

use super::summary::{Chapter, Summary};
use crate::markdown::unique_anchor;

/// The page with navigation.
pub(super) fn html(
    summary: &Summary,
    chapter: &Chapter,
    text: &str,
    previous: Option<&Chapter>,
    next: Option<&Chapter>,
) -> String {
    let neighbour = |chapter: Option<&Chapter>, relation: &str, arrow: &str| {
        chapter.map_or(String::new(), |c| {
            format!(r#"<a rel="{relation}" href="{}">{arrow}{}</a>"#, c.target(), escaped(&c.title))
        })
    };
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>{title} - svc</title>\n\
         <link rel=\"stylesheet\" href=\"book.css\">\n</head>\n<body>\n<a class=\"skip\" href=\"#content\">Skip to content</a>\n\
         <nav aria-label=\"Pages\">\n{navigation}</nav>\n<main id=\"content\">\n{content}\n\
         <footer>{before}{after}</footer>\n</main>\n</body>\n</html>\n",
        title = escaped(&chapter.title),
        navigation = navigation(summary, chapter),
        content = content(text),
        before = neighbour(previous, "prev", "Previous: "),
        after = neighbour(next, "next", "Next: "),
    )
}

/// The list of pages, by parts.
fn navigation(summary: &Summary, current: &Chapter) -> String {
    let mut html = String::new();
    for (part, chapters) in summary.parts.iter().filter(|(_, chapters)| !chapters.is_empty()) {
        if !part.is_empty() {
            html += &format!("<h2>{}</h2>\n", escaped(part));
        }
        html += "<ul>\n";
        for chapter in chapters {
            let mark = if chapter == current { " aria-current=\"page\"" } else { "" };
            html += &format!("<li><a href=\"{}\"{mark}>{}</a></li>\n", chapter.target(), escaped(&chapter.title));
        }
        html += "</ul>\n";
    }
    html
}

/// Markdown as HTML, with anchors of headings and with links between pages.
fn content(text: &str) -> String {
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH;
    let mut events: Vec<Event<'_>> = Parser::new_ext(text, options).collect();
    set_anchors(&mut events);
    // Links to files outside of the book are shown as text.
    let mut is_outside = false;
    events.retain_mut(|event| match event {
        Event::Start(Tag::Link { dest_url, .. }) => {
            is_outside = dest_url.starts_with("../");
            *dest_url = CowStr::from(page_url(dest_url));
            !is_outside
        }
        Event::End(TagEnd::Link) => !std::mem::take(&mut is_outside),
        _ => true,
    });
    let mut html = String::new();
    push_html(&mut html, events.into_iter());
    // Wide tables and long lines of code scroll on their own, also by keyboard.
    html.replace("<table>", "<div class=\"table\" tabindex=\"0\" role=\"region\" aria-label=\"Table\"><table>")
        .replace("</table>", "</table></div>")
        .replace("<pre>", "<pre tabindex=\"0\">")
}

/// Gives each heading the anchor that links use.
fn set_anchors(events: &mut [Event<'_>]) {
    let mut used = BTreeSet::new();
    for n in 0..events.len() {
        if !matches!(events[n], Event::Start(Tag::Heading { .. })) {
            continue;
        }
        let inner = events[n..].iter().take_while(|e| !matches!(e, Event::End(TagEnd::Heading(_))));
        let title: String = inner
            .filter_map(|e| match e {
                Event::Text(text) | Event::Code(text) => Some(text.as_ref()),
                _ => None,
            })
            .collect();
        if let Event::Start(Tag::Heading { id, .. }) = &mut events[n] {
            *id = Some(CowStr::from(unique_anchor(&title, &mut used)));
        }
    }
}

/// The URL of a link in the rendered book.
fn page_url(target: &str) -> String {
    let (path, anchor) = target.split_once('#').map_or((target, None), |(path, anchor)| (path, Some(anchor)));
    let path = match path.strip_suffix(".md") {
        Some(page) if !path.contains("://") => format!("{page}.html"),
        _ => path.to_owned(),
    };
    anchor.map_or(path.clone(), |anchor| format!("{path}#{anchor}"))
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_lead_to_rendered_pages() {
        for (target, url) in [
            ("server.md", "server.html"),
            ("server.md#logs", "server.html#logs"),
            ("#logs", "#logs"),
            ("screenshots/a.png", "screenshots/a.png"),
            ("https://example.org/a.md", "https://example.org/a.md"),
        ] {
            assert_eq!(page_url(target), url);
        }
    }

    #[test]
    fn headings_have_the_anchors_that_links_are_checked_with() {
        let html = content("# The `API`, v2\n\n## Same\n\n## Same\n");
        assert!(html.contains("id=\"the-api-v2\"") && html.contains("id=\"same-1\""), "{html}");
    }
}
