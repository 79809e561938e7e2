//! Sanitizes text before it is stored.

use svc_content::{links, save};

use crate::{Settings, settings::text_options::host};

/// The `rel` attribute of links in comments.
pub(crate) const COMMENT_LINK_REL: &str = "nofollow ugc";

/// Sanitizes a title. `filtered` is for users who may not use any HTML.
pub fn title(text: &str, filtered: bool) -> String {
    save::title(text, filtered)
}

/// Sanitizes content.
pub fn content(text: &str, filtered: bool) -> String {
    save::content(text, filtered)
}

/// Sanitizes an excerpt.
pub fn excerpt(text: &str, filtered: bool) -> String {
    save::excerpt(text, filtered)
}

/// Sanitizes a comment. Links get the attribute `rel="nofollow ugc"`.
pub fn comment(settings: &Settings, text: &str, filtered: bool) -> String {
    links::add_rel(&save::comment_content(text, filtered), COMMENT_LINK_REL, host(settings.option("home")))
}

/// Sanitizes the URL of a user's website.
pub fn author_url(text: &str) -> String {
    save::author_url(text)
}

/// Sanitizes a term's name.
pub fn term_name(text: &str) -> String {
    save::term_name(text)
}

/// Sanitizes a term's description.
pub fn term_description(text: &str) -> String {
    save::term_description(text)
}

/// Sanitizes a user's name, like a term's.
pub(crate) fn user_name(text: &str) -> String {
    save::term_name(text)
}

/// Sanitizes a user's biography with the basic set of HTML elements.
pub fn user_description(text: &str) -> String {
    save::user_description(text)
}

/// Sanitizes the footnotes of users who may not use any HTML.
pub(crate) fn footnotes(text: &str) -> String {
    save::footnotes(text)
}
