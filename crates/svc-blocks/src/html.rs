//! Names of classes and elements, and texts that are stored as HTML.

use svc_text::{Html, esc_html, html};

/// Joins class names; empty ones are omitted.
pub(crate) fn classes(parts: &[&str]) -> String {
    parts.iter().copied().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
}

/// The element name of a heading; level 0 is a paragraph.
pub(crate) fn heading(level: i64) -> Html {
    if level == 0 { Html::from("p") } else { html!("h{}", level.clamp(1, 6)) }
}

/// The allowed element with this name.
pub(crate) fn element(name: &str, allowed: &[&'static str]) -> Option<&'static str> {
    allowed.iter().find(|element| **element == name).copied()
}

/// A number with thousands separators.
pub(crate) fn formatted(number: f64) -> Html {
    esc_html(&svc_text::number_format(number, 0))
}

/// A text that is stored as HTML: the name of a term, the name or biography of a user, or the site's title.
pub(crate) fn stored(text: &str) -> Html {
    Html::trusted(text, "stored as HTML: filtered when it was saved")
}
