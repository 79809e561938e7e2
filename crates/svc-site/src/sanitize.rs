//! Sanitizes text before it is stored, and the options for rendering it.

use svc_content::{RenderContext, links, save};
use svc_store::{StoredText, options::Options};

use crate::{Settings, urls::Urls};

/// The `rel` attribute of links in comments.
pub(crate) const STRANGERS: &str = "nofollow ugc";

/// Options for rendering text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextOptions {
    /// Whether smilies are replaced by images.
    pub smilies: bool,
    /// URL of the folder with these images, with a trailing slash.
    pub smilies_url: String,
    /// The site's host, with its port.
    pub own_host: String,
}

impl TextOptions {
    /// Applies these options to a render context.
    pub fn apply<'r>(&'r self, context: &mut RenderContext<'r>) {
        context.smilies = self.smilies;
        context.smilies_url = &self.smilies_url;
        context.own_host = &self.own_host;
    }

    /// Reads the options.
    pub fn new(options: &Options, urls: &Urls) -> Self {
        let option = |name: &str| options.get(name).map_or("", StoredText::text);
        TextOptions {
            smilies: svc_php::cast::truthy(&option("use_smilies").into()),
            smilies_url: urls.site.site_url("wp-includes/images/smilies/"),
            own_host: host(option("home")).to_owned(),
        }
    }
}

/// The host of a URL, with its port.
pub fn host(address: &str) -> &str {
    let rest = address.split_once("://").map_or(address, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    match authority.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|b| b.is_ascii_digit()) => host,
        _ => authority,
    }
}

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
    links::add_rel(&save::comment_content(text, filtered), STRANGERS, host(settings.option("home")))
}

/// Sanitizes the URL of a user's website.
pub fn address(text: &str) -> String {
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
