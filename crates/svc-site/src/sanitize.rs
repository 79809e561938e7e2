//! Text of the site on its way into the store, and the options that decide how it is shown.

use svc_content::{RenderContext, links, save};
use svc_store::{StoredText, options::Options};

use crate::{Settings, urls::Urls};

/// What links of strangers are marked with.
pub const STRANGERS: &str = "nofollow ugc";

/// What options say about texts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextOptions {
    /// Smilies become pictures.
    pub smilies: bool,
    /// Address of the folder with these pictures, with a slash at its end.
    pub smilies_url: String,
    /// The site's own host, with its port.
    pub own_host: String,
}

impl TextOptions {
    /// Renders text in this context as these options require.
    pub fn apply<'r>(&'r self, context: &mut RenderContext<'r>) {
        context.smilies = self.smilies;
        context.smilies_url = &self.smilies_url;
        context.own_host = &self.own_host;
    }

    /// As these options say.
    pub fn new(options: &Options, urls: &Urls) -> Self {
        let option = |name: &str| options.get(name).map_or("", StoredText::text);
        TextOptions {
            smilies: svc_php::cast::truthy(&option("use_smilies").into()),
            smilies_url: urls.site.site_url("wp-includes/images/smilies/"),
            own_host: host(option("home")).to_owned(),
        }
    }
}

/// The host of an address, with its port.
pub fn host(address: &str) -> &str {
    let rest = address.split_once("://").map_or(address, |(_, rest)| rest);
    let place = rest.split(['/', '?', '#']).next().unwrap_or_default();
    match place.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|b| b.is_ascii_digit()) => host,
        _ => place,
    }
}

/// A title as it is stored. `filtered` is for those who may not use any HTML.
pub fn title(text: &str, filtered: bool) -> String {
    save::title(text, filtered)
}

/// Content as it is stored.
pub fn content(text: &str, filtered: bool) -> String {
    save::content(text, filtered)
}

/// An excerpt as it is stored.
pub fn excerpt(text: &str, filtered: bool) -> String {
    save::excerpt(text, filtered)
}

/// A comment as it is stored: links of strangers lend no weight.
pub fn comment(settings: &Settings, text: &str, filtered: bool) -> String {
    links::add_rel(&save::comment_content(text, filtered), STRANGERS, host(settings.option("home")))
}

/// The address of somebody's own page as it is stored.
pub fn address(text: &str) -> String {
    save::author_url(text)
}

/// A term's name as it is stored.
pub fn term_name(text: &str) -> String {
    save::term_name(text)
}

/// A term's description as it is stored.
pub fn term_description(text: &str) -> String {
    save::term_description(text)
}

/// A name of a user as it is stored: as that of a term.
pub fn user_name(text: &str) -> String {
    save::term_name(text)
}

/// What a user says of himself, as it is stored: the little HTML that anybody may use.
pub fn user_description(text: &str) -> String {
    save::user_description(text)
}
