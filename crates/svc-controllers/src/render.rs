//! Texts of posts: for display, and on their way into the store.

/// A title as HTML.
pub(crate) fn title(raw: &str) -> String {
    svc_text::esc_html(raw)
}

/// Content as HTML.
pub(crate) fn content(raw: &str) -> String {
    raw.to_owned()
}

/// An excerpt as HTML: the one written, or one of this many words made of the content.
pub(crate) fn excerpt(raw: &str, content: &str, _words: usize) -> String {
    if raw.is_empty() { content.to_owned() } else { raw.to_owned() }
}

/// A title as it is stored. `filtered` is for those who may not use any HTML.
pub(crate) fn save_title(text: &str, filtered: bool) -> String {
    if filtered { svc_text::strip_all_tags(text, false) } else { text.to_owned() }
}

/// Content as it is stored.
pub(crate) fn save_content(text: &str, filtered: bool) -> String {
    if filtered { svc_text::strip_all_tags(text, false) } else { text.to_owned() }
}

/// An excerpt as it is stored.
pub(crate) fn save_excerpt(text: &str, filtered: bool) -> String {
    save_content(text, filtered)
}
