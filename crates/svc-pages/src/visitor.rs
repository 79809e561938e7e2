//! Who views a page: the user of the log-in cookie, and the cookie that opens posts with a password.

use http::{HeaderMap, header};
use svc_auth::{Caller, Scheme, cookie::site_hash, nonce::NonceSubject};
use svc_login::{Identities, NOBODY, cookie_value, token_of};
use svc_site::{OpenedPosts, SiteResult, Visitor};
use svc_store::Db;

/// What nonces of the log-out link are made for.
const LOG_OUT: &str = "log-out";

/// Who views a page, and their session.
pub(crate) struct Viewer {
    pub(crate) visitor: Visitor,
    /// The session's token; empty without one.
    token: String,
}

impl Viewer {
    /// By the cookies of a request, in the snapshot that the page is made of.
    pub(crate) fn of(identities: &Identities, db: &mut Db, headers: &HeaderMap) -> SiteResult<Self> {
        let mut viewer = Viewer { visitor: Visitor::default(), token: String::new() };
        if !headers.contains_key(header::COOKIE) {
            return Ok(viewer);
        }
        let known = identities.known(db)?;
        let opener = identities.site.brand.post_password_cookie() + &site_hash(known.settings.option("siteurl"));
        if let Some(value) = cookie_value(headers, &opener) {
            viewer.visitor.opened = OpenedPosts::by_cookie(&value);
        }
        let Some(value) = cookie_value(headers, &known.cookies.logged_in) else { return Ok(viewer) };
        let (_, subject) = identities.of_cookie(db, &value, Scheme::LoggedIn, false)?;
        if let Some(subject) = subject {
            viewer.visitor.caller = known.caller(&subject, db.prefix());
            token_of(&value).clone_into(&mut viewer.token);
            viewer.visitor.logout_nonce = identities.nonce(LOG_OUT, viewer.bearer());
        }
        Ok(viewer)
    }

    /// The subject of the viewer's nonces.
    pub(crate) fn bearer(&self) -> NonceSubject<'_> {
        match &self.visitor.caller {
            Caller { id, .. } if self.visitor.caller.is_logged_in() => NonceSubject { user: *id, token: &self.token },
            _ => NOBODY,
        }
    }
}
