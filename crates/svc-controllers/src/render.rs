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

/// A term's name as it is stored: plain text as HTML, with quotes as they are.
pub(crate) fn save_term_name(text: &str) -> String {
    let plain = svc_text::sanitize_text_field(text);
    let mut out = String::with_capacity(plain.len());
    for piece in plain.split_inclusive(['"', '\'']) {
        let end = piece.len() - usize::from(piece.ends_with(['"', '\'']));
        out.push_str(&svc_text::esc_html(&piece[..end]));
        out.push_str(&piece[end..]);
    }
    out
}

/// A term's description as it is stored: the little HTML that anybody may use.
pub(crate) fn save_term_description(text: &str) -> String {
    svc_text::normalize_entities(&svc_text::strip_all_tags(text, false))
}

/// A comment as HTML: paragraphs between empty lines.
pub(crate) fn comment(raw: &str) -> String {
    let text = raw.replace("\r\n", "\n").replace('\r', "\n");
    let mut out = String::with_capacity(text.len() + 16);
    for paragraph in text.split("\n\n").map(svc_text::trim).filter(|p| !p.is_empty()) {
        out.push_str("<p>");
        out.push_str(&paragraph.replace('\n', "<br />\n"));
        out.push_str("</p>\n");
    }
    out
}

/// A comment's text as it is stored. `filtered` is for those who may not use any HTML.
pub(crate) fn save_comment(text: &str, filtered: bool) -> String {
    save_content(text, filtered)
}
