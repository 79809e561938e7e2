//! The visitor of a page: the user of the log-in cookie, and the cookie with a post password.

use http::{HeaderMap, header};
use svc_auth::{Caller, Scheme, cookie::site_hash, nonce::NonceSubject};
use svc_login::{ANONYMOUS, Identities, cookie_value, token_of};
use svc_site::{SiteResult, UnlockedPosts, Visitor};
use svc_versions::Context;

/// Nonce action of the log-out link.
const LOG_OUT: &str = "log-out";

/// The visitor of a page, and their session.
pub(crate) struct Viewer {
    pub(crate) visitor: Visitor,
    /// The session's token; empty without a session.
    token: String,
}

impl Viewer {
    /// The visitor who sent these cookies.
    pub(crate) fn of(cx: &Context, identities: &Identities, headers: &HeaderMap) -> SiteResult<Self> {
        let mut viewer = Viewer { visitor: Visitor::default(), token: String::new() };
        if !headers.contains_key(header::COOKIE) {
            return Ok(viewer);
        }
        let config = identities.login_settings(cx)?;
        let cookie_name = identities.site.brand.post_password_cookie() + &site_hash(config.settings.option("siteurl"));
        if let Some(value) = cookie_value(headers, &cookie_name) {
            viewer.visitor.unlocked = UnlockedPosts::from_cookie(&value);
        }
        let Some(value) = cookie_value(headers, &config.cookies.logged_in) else { return Ok(viewer) };
        let (_, subject) = identities.by_cookie_value(cx, &value, Scheme::LoggedIn, false)?;
        if let Some(subject) = subject.filter(|subject| !identities.must_set_up_two_factor(&config, subject)) {
            viewer.visitor.caller = config.caller(&subject);
            token_of(&value).clone_into(&mut viewer.token);
            viewer.visitor.logout_nonce = identities.nonce(cx, LOG_OUT, viewer.nonce_subject());
        }
        Ok(viewer)
    }

    /// The subject of the visitor's nonces.
    pub(crate) fn nonce_subject(&self) -> NonceSubject<'_> {
        match &self.visitor.caller {
            Caller { id, .. } if self.visitor.caller.is_logged_in() => NonceSubject { user: *id, token: &self.token },
            _ => ANONYMOUS,
        }
    }
}
