//! Pages rendered with the site's theme: the blocks of a template as body, the theme's styles in the head.

use std::sync::{Arc, Mutex, PoisonError};

use http::StatusCode;
use svc_packages::theme::{ThemeJson, css};
use svc_render::page_template::RenderedPage;
use svc_site::ActiveTheme;
use svc_text::Html;
use svc_versions::{ByTls, Transport};

use crate::{
    respond::Page,
    view::{Frame, Markup, ThemedPage},
};

/// Cached style sheet of a theme with the user's styles.
#[derive(Debug, Default)]
pub(crate) struct Sheet(ByTls<Mutex<Option<CachedSheet>>>);

#[derive(Debug)]
struct CachedSheet {
    theme: Arc<ActiveTheme>,
    styles: ThemeJson,
    css: Arc<str>,
}

impl Sheet {
    fn of(&self, transport: Transport, theme: &Arc<ActiveTheme>, styles: &ThemeJson) -> Arc<str> {
        let mut slot = self.0.of(transport).lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = slot.as_ref().filter(|k| Arc::ptr_eq(&k.theme, theme) && k.styles == *styles) {
            return Arc::clone(&known.css);
        }
        let mut merged = theme.json.clone();
        merged.merge(styles);
        let css: Arc<str> = css::stylesheet(&merged).into();
        *slot = Some(CachedSheet { theme: Arc::clone(theme), styles: styles.clone(), css: Arc::clone(&css) });
        css
    }
}

/// A page whose body is rendered from a template of the theme.
pub(crate) fn themed_page(
    (sheet, transport): (&Sheet, Transport),
    status: StatusCode,
    frame: &Frame,
    links: &[String],
    class: &str,
    rendered: RenderedPage,
) -> Page {
    let RenderedPage { html, css, theme, styles } = rendered;
    let (body, has_main) = with_target(html);
    let template = ThemedPage {
        page: frame,
        css: &sheet.of(transport, &theme, &styles),
        block_css: &css,
        classes: format!("{class} wp-embed-responsive wp-theme-{}", svc_text::sanitize_html_class(&theme.name, "")),
        has_main,
        body_html: Markup(body),
    };
    Page::html(status, &template, links.to_vec())
}

/// Adds an id to the `main` element for the skip link. Returns whether there is one.
fn with_target(html: Html) -> (Html, bool) {
    let Some(at) = html.find("<main").map(|at| at + "<main".len()) else { return (html, false) };
    let tag = &html[at..at + html[at..].find('>').unwrap_or_default()];
    if tag.contains(" id=") {
        return (html, false);
    }
    let with_target = format!("{} id=\"content\" tabindex=\"-1\"{}", &html[..at], &html[at..]);
    (Html::trusted(with_target, "a page's HTML with attributes in a tag"), true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adds_an_id_to_the_main_element() {
        for (html, marked) in [
            (
                "<p>x</p><main class=\"a\">y</main>",
                Some("<p>x</p><main id=\"content\" tabindex=\"-1\" class=\"a\">y</main>"),
            ),
            ("<main>y</main>", Some("<main id=\"content\" tabindex=\"-1\">y</main>")),
            ("<main id=\"own\">y</main>", None),
            ("<p>x</p>", None),
        ] {
            let (result, is_marked) = with_target(html.into());
            assert_eq!((result.as_str(), is_marked), (marked.unwrap_or(html), marked.is_some()));
        }
    }
}
