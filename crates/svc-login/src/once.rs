//! What a page shows once after a form, such as a new secret.
//!
//! A page that is the response to a form sends the form again when it is reloaded, and makes another secret. So the form redirects to
//! a page with a cookie, which the page reads and deletes. The server stores nothing: the cookie is encrypted for the session.

use serde_json::{Value, json};
use svc_auth::cookie::site_hash;
use svc_schema::Error;
use svc_site::Settings;

use crate::{LoginPages, PrivateRequest, UserSession, cookies, identity::cookie_value, response::PrivateResponse};

/// How long the page may be opened after the form, in seconds.
const LIFETIME: i64 = 120;

/// Maximum length of the cookie's value, in bytes. Browsers ignore longer cookies than 4,096 bytes.
const MAX_LENGTH: usize = 3_500;

/// What the encryption is for, so that the value cannot be taken for another one.
const PURPOSE: &str = "shown once";

/// What a page shows once.
pub struct ShownOnce {
    /// The value that the form had.
    pub value: Value,
    /// The cookie that deletes it, for the response.
    pub cookie: String,
}

impl LoginPages {
    /// A redirect to a page of the administration area, which can then [show](Self::shown_once) the value once, to this session only.
    /// `subject` names what it is, such as `webhook 7`: the page must know it.
    ///
    /// # Errors
    /// 500 if the value is too long for a cookie: it may have about 2,500 bytes as JSON.
    pub fn show_once(
        &self,
        parts: &PrivateRequest,
        session: &UserSession,
        subject: &str,
        value: &Value,
        to: &str,
    ) -> Result<PrivateResponse, Error> {
        let until = self.identities.now(&parts.cx).saturating_add(LIFETIME);
        let text = json!([until, value]).to_string();
        let sealed = self.identities.site.seal(PURPOSE, &context(session, subject), &text);
        let sealed = sealed.filter(|sealed| sealed.len() <= MAX_LENGTH).ok_or_else(too_long)?;
        let cookie = self.once_cookie(parts, &session.settings, Some(&sealed));
        Ok(PrivateResponse::redirect(to).cookies(vec![cookie]))
    }

    /// What the form that led to this page has left to show. `None` if there was no form, or it was shown already.
    pub fn shown_once(&self, parts: &PrivateRequest, session: &UserSession, subject: &str) -> Option<ShownOnce> {
        let sealed = cookie_value(&parts.headers, &self.once_cookie_name(&session.settings))?;
        let text = self.identities.site.open(PURPOSE, &context(session, subject), &sealed)?;
        let (until, value) = serde_json::from_str::<(i64, Value)>(&text).ok()?;
        let cookie = self.once_cookie(parts, &session.settings, None);
        (self.identities.now(&parts.cx) <= until).then_some(ShownOnce { value, cookie })
    }

    fn once_cookie_name(&self, settings: &Settings) -> String {
        self.identities.site.brand.once_cookie() + &site_hash(settings.option("siteurl"))
    }

    fn once_cookie(&self, parts: &PrivateRequest, settings: &Settings, value: Option<&str>) -> String {
        cookies::page_cookie(&self.once_cookie_name(settings), value, &self.admin_url(settings, ""), parts.tls)
    }
}

/// Whose value it is, and what it is about.
fn context(session: &UserSession, subject: &str) -> String {
    format!("{}|{}|{subject}", session.user.id.0, session.token)
}

fn too_long() -> Error {
    Error::new("shown_once_too_long", "What was created is too long to be shown.").with_status(500)
}
