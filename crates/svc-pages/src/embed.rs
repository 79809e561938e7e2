//! The page of a post for embedding in other sites.

use http::StatusCode;
use svc_discovery::Queried;
use svc_model::Post;
use svc_site::SiteResult;

use crate::{
    build::{PROTECTED, PageBuilder, author_of},
    respond::Page,
    view::EmbedPage,
};

/// Sends the height of the post, and the links that are followed, to the embedding page, in the message format of WordPress.
/// The secret in the frame's URL identifies the frame.
const SCRIPT: &str = r##"(function(w,d){var s=/[#&?]secret=([A-Za-z0-9]+)/.exec(w.location.hash);if(w.parent===w||!s)return;function send(m,v){w.parent.postMessage({message:m,value:v,secret:s[1]},"*")}function sendHeight(){send("height",Math.ceil(d.body.getBoundingClientRect().height))}w.addEventListener("load",sendHeight);w.addEventListener("resize",sendHeight);d.addEventListener("click",function(e){var a=e.target.closest&&e.target.closest("a[href]");if(a){e.preventDefault();send("link",a.href)}});sendHeight()})(window,document);"##;

/// SHA-256 of [`SCRIPT`], for a content security policy that allows only this script.
const SCRIPT_DIGEST: &str = "NAjpRT/fYJ/xSco9LUpbHYPpvB3tqsiNMZLPMQaLkwk=";

/// The content security policy: allows the page's own script, and any site as the frame's parent.
fn policy() -> String {
    format!(
        "default-src 'none'; script-src 'sha256-{SCRIPT_DIGEST}'; style-src 'unsafe-inline'; img-src * data:; base-uri 'none'; \
         form-action 'none'; frame-ancestors *"
    )
}

impl PageBuilder<'_> {
    /// The page of one post for embedding.
    pub(crate) fn embed(&mut self, post: &Post, url: String) -> SiteResult<Page> {
        let (page, _) = self.frame("", Queried::Other, Some(&url))?;
        let body = if post.is_protected() { PROTECTED.into() } else { self.texts.excerpt(self.db.cx(), post) };
        let author = author_of(self.db, self.site, post)?;
        let entry = self.entry(post, url, author.as_ref(), body);
        let template = EmbedPage { page, entry, script: SCRIPT };
        Ok(Page::html(StatusCode::OK, &template, Vec::new()).with_policy(policy()))
    }
}

#[cfg(test)]
mod tests {
    use base64::Engine as _;
    use sha2::{Digest, Sha256};

    use super::*;

    #[test]
    fn the_digest_matches_the_script() {
        let digest = base64::engine::general_purpose::STANDARD.encode(Sha256::digest(SCRIPT.as_bytes()));
        assert_eq!(digest, SCRIPT_DIGEST);
        assert!(!SCRIPT.contains("</"));
    }
}
