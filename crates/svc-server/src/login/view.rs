//! What the templates of sign-in show: texts, which the templates escape.

use askama::Template;
use http::StatusCode;
use svc_controllers::Settings;

use super::{Pages, response::LoginResponse};

/// What stands around each of these pages.
#[derive(Clone, Default)]
pub(super) struct Frame {
    pub(super) lang: String,
    pub(super) title: String,
    pub(super) site_name: String,
    pub(super) home: String,
    /// Who is signed in, and the address to sign out at.
    pub(super) account: Option<(String, String)>,
}

impl Frame {
    pub(super) fn new(settings: &Settings, title: &str) -> Self {
        let site_name = svc_text::specialchars_decode(settings.option("blogname"), svc_text::Quotes::Both);
        Frame {
            lang: crate::pages::language(settings.option("WPLANG")),
            title: title.to_owned(),
            site_name,
            home: settings.urls.site.home_url("/"),
            account: None,
        }
    }
}

/// A field that is not shown.
pub(super) struct Hidden {
    pub(super) name: String,
    pub(super) value: String,
}

/// Hidden fields of these names and values.
pub(super) fn hidden(fields: &[(&str, &str)]) -> Vec<Hidden> {
    fields.iter().map(|(name, value)| Hidden { name: (*name).to_owned(), value: (*value).to_owned() }).collect()
}

/// A message.
#[derive(Template)]
#[template(path = "account/message.html")]
struct Message<'a> {
    page: Frame,
    text: &'a str,
}

/// A page that says one thing.
pub(super) fn message(pages: &Pages, status: StatusCode, heading: &str, text: &str) -> LoginResponse {
    let page = match pages.identities.site.settings() {
        Ok(settings) => Frame::new(&settings, heading),
        Err(_) => Frame { lang: "en".to_owned(), title: heading.to_owned(), home: "/".to_owned(), ..Frame::default() },
    };
    let answer = LoginResponse::html(status, &Message { page, text });
    if status == StatusCode::SERVICE_UNAVAILABLE { answer.header(http::header::RETRY_AFTER, "5") } else { answer }
}
