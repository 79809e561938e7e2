//! Values of the templates. The templates escape them.

use askama::Template;
use http::StatusCode;
use svc_site::{Settings, users::locales::language_tag};
use svc_versions::Context;

use crate::{LoginPages, response::PrivateResponse};

/// Values that every page has.
#[derive(Clone, Default)]
pub(crate) struct Frame {
    pub(crate) lang: String,
    pub(crate) title: String,
    pub(crate) site_name: String,
    pub(crate) home: String,
    /// The user's name and log-out URL.
    pub(crate) account: Option<(String, String)>,
    /// URL of the page's script; empty without one.
    pub(crate) script: String,
}

impl Frame {
    pub(crate) fn new(settings: &Settings, title: &str) -> Self {
        let site_name = svc_text::specialchars_decode(settings.option("blogname"), svc_text::Quotes::Both);
        Frame {
            lang: language_tag(settings.option("WPLANG")),
            title: title.to_owned(),
            site_name,
            home: settings.urls.site.home_url("/"),
            account: None,
            script: String::new(),
        }
    }
}

/// A hidden field of a form.
pub(crate) struct Hidden {
    pub(crate) name: String,
    pub(crate) value: String,
}

/// Hidden fields with these names and values.
pub(crate) fn hidden(fields: &[(&str, &str)]) -> Vec<Hidden> {
    fields.iter().map(|(name, value)| Hidden { name: (*name).to_owned(), value: (*value).to_owned() }).collect()
}

/// The message page.
#[derive(Template)]
#[template(path = "account/message.html")]
struct Message<'a> {
    page: Frame,
    text: &'a str,
}

/// A page with a message.
pub(crate) fn message(
    cx: &Context,
    pages: &LoginPages,
    status: StatusCode,
    heading: &str,
    text: &str,
) -> PrivateResponse {
    let page = match pages.identities.site.settings(cx) {
        Ok(settings) => Frame::new(&settings, heading),
        Err(_) => Frame { lang: "en".to_owned(), title: heading.to_owned(), home: "/".to_owned(), ..Frame::default() },
    };
    let response = PrivateResponse::html(status, &Message { page, text });
    if status == StatusCode::SERVICE_UNAVAILABLE { response.header(http::header::RETRY_AFTER, "5") } else { response }
}
