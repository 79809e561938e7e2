//! A mail before it is sent: one layout, as text and as HTML.

use askama::Template;
use serde::{Deserialize, Serialize};

/// Maximum length of a subject, in characters.
const MAX_SUBJECT: usize = 200;

/// What every mail shows of the site.
#[derive(Clone, Debug, Default)]
pub struct SiteFacts {
    /// Its name, as text.
    pub name: String,
    /// URL of its front page.
    pub home: String,
    /// Tag of its language, such as `en-US`.
    pub language: String,
}

/// A part of a mail. The templates escape it.
#[derive(Clone, Debug)]
pub(crate) enum Part {
    /// A paragraph.
    Text(String),
    /// A link, on a line of its own in plain text.
    Link {
        /// What the link does.
        label: &'static str,
        /// Its URL.
        url: String,
    },
    /// Names and values.
    Facts(Vec<(&'static str, String)>),
    /// Text of somebody else.
    Quote(String),
}

impl Part {
    /// A paragraph.
    pub(crate) fn text(text: impl Into<String>) -> Self {
        Part::Text(text.into())
    }

    /// A link.
    pub(crate) fn link(label: &'static str, url: &str) -> Self {
        Part::Link { label, url: url.to_owned() }
    }
}

/// A mail as it waits in the queue.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Letter {
    /// Address of the recipient.
    pub to: String,
    /// Address to which replies go, unless to the sender.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reply_to: Option<String>,
    /// The subject.
    pub subject: String,
    /// The content as text.
    pub text: String,
    /// The content as HTML.
    pub html: String,
    /// When it was written, in seconds since 1970.
    pub written: i64,
}

#[derive(Template)]
#[template(path = "letter.txt")]
struct AsText<'a> {
    site: &'a SiteFacts,
    parts: &'a [Part],
}

#[derive(Template)]
#[template(path = "letter.html")]
struct AsHtml<'a> {
    site: &'a SiteFacts,
    subject: &'a str,
    parts: &'a [Part],
}

impl Letter {
    /// Writes a mail. The site's name is added to the subject.
    pub(crate) fn new(site: &SiteFacts, to: &str, subject: &str, parts: &[Part], written: i64) -> Self {
        let subject = one_line(&format!("[{}] {subject}", site.name));
        let failed = |error: askama::Error| {
            tracing::error!("cannot render a mail: {error}");
            String::new()
        };
        let text = AsText { site, parts }.render().unwrap_or_else(failed);
        let html = AsHtml { site, subject: &subject, parts }.render().unwrap_or_else(failed);
        Letter { to: to.to_owned(), reply_to: None, subject, text, html, written }
    }

    /// Sets the address to which replies go, if it is one.
    pub(crate) fn reply_to(mut self, address: &str) -> Self {
        self.reply_to = Some(address.to_owned()).filter(|address| svc_text::is_email(address));
        self
    }
}

/// The text as one line of a header, without control characters.
pub(crate) fn one_line(text: &str) -> String {
    let spaced: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(MAX_SUBJECT).collect();
    spaced.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subjects_are_one_line() {
        for (text, line) in
            [("a\r\nBcc: x@y.example", "a Bcc: x@y.example"), ("a\u{0}b\u{85}c\u{2028}d", "a b c d"), ("  x  ", "x")]
        {
            assert_eq!(one_line(text), line);
        }
        assert_eq!(one_line(&"é".repeat(500)).chars().count(), MAX_SUBJECT);
    }
}
