//! Options for rendering text.

use svc_content::RenderContext;
use svc_store::{StoredText, options::Options};

use crate::settings::urls::Urls;

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
pub fn host(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    match authority.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|b| b.is_ascii_digit()) => host,
        _ => authority,
    }
}
