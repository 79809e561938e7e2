//! Cookies that start and end a session, with the names, paths and lifetimes that WordPress uses.

use chrono::DateTime;
use svc_auth::{Keys, Scheme, cookie};
use svc_site::Settings;

use crate::{identity::LoginSettings, redirect::encode};

/// Seconds for which the browser keeps a remembered cookie after the session has expired, so that an open page can
/// prompt the user to log in again.
const GRACE: i64 = 12 * 3600;

/// A new session.
pub(crate) struct NewSession<'a> {
    pub(crate) login: &'a str,
    /// The hash of the user's password.
    pub(crate) pass: &'a str,
    pub(crate) token: &'a str,
    /// Seconds since the epoch.
    pub(crate) now: i64,
    /// Seconds since the epoch.
    pub(crate) expiration: i64,
    /// Whether the browser keeps the cookies when it is closed.
    pub(crate) remembered: bool,
    pub(crate) tls: bool,
}

/// The path of a URL, with a trailing slash.
fn path(url: &str) -> String {
    let path = svc_text::parse_url(url).and_then(|p| p.path).unwrap_or_default();
    svc_text::trailing_slash(&path)
}

/// The paths of the administration cookies, and those of the logged-in cookie.
fn paths(settings: &Settings, admin: &str) -> ([String; 2], Vec<String>) {
    let (home, site) = (path(settings.option("home")), path(settings.option("siteurl")));
    let admin = [format!("{site}wp-content/plugins"), format!("{site}{admin}")];
    let public = if home == site { vec![home] } else { vec![home, site] };
    (admin, public)
}

fn set(name: &str, value: &str, path: &str, lifetime: &str, secure: bool) -> String {
    let secure = if secure { "; Secure" } else { "" };
    format!("{name}={}{lifetime}; Path={path}{secure}; HttpOnly; SameSite=Lax", encode(value))
}

/// The cookies of a new session.
pub(crate) fn session_cookies(
    keys: &Keys,
    config: &LoginSettings,
    admin: &str,
    session: &NewSession<'_>,
) -> Vec<String> {
    let until = session.expiration + GRACE;
    let lifetime = match DateTime::from_timestamp(until, 0).filter(|_| session.remembered) {
        Some(at) => {
            let seconds = until.saturating_sub(session.now);
            format!("; Expires={}; Max-Age={seconds}", at.format("%a, %d %b %Y %H:%M:%S GMT"))
        }
        None => String::new(),
    };
    let scheme = if session.tls { Scheme::SecureAuth } else { Scheme::Auth };
    let value = |scheme| cookie::generate(keys, scheme, session.login, session.pass, session.expiration, session.token);
    let (admin, public) = paths(&config.settings, admin);
    let (auth, logged_in) = (value(scheme), value(Scheme::LoggedIn));
    let auth_name = if session.tls { &config.cookies.secure_auth } else { &config.cookies.auth };
    let of_admin = admin.iter().map(|path| set(auth_name, auth.expose(), path, &lifetime, session.tls));
    let secure = session.tls && config.settings.option("home").starts_with("https://");
    let of_site = public.iter().map(|path| set(&config.cookies.logged_in, logged_in.expose(), path, &lifetime, secure));
    of_admin.chain(of_site).collect()
}

/// Cookies that delete those of a session.
pub(crate) fn expired_cookies(config: &LoginSettings, admin: &str) -> Vec<String> {
    let (admin, public) = paths(&config.settings, admin);
    let expired = "; Expires=Thu, 01 Jan 1970 00:00:00 GMT; Max-Age=0";
    let names = [&config.cookies.auth, &config.cookies.secure_auth];
    let of_admin = names.iter().flat_map(|name| admin.iter().map(|path| set(name, " ", path, expired, false)));
    let of_site = public.iter().map(|path| set(&config.cookies.logged_in, " ", path, expired, false));
    of_admin.chain(of_site).collect()
}

/// The cookie that checks whether the browser accepts cookies.
pub(crate) fn test_cookie(name: &str, settings: &Settings, tls: bool) -> String {
    set(name, TEST, &path(settings.option("home")), "", tls)
}

/// A cookie of a guest on the pages of the site, which expires after so many seconds from `now`; `None` deletes it.
pub(crate) fn guest_cookie(name: &str, value: &str, settings: &Settings, now: i64, seconds: Option<i64>) -> String {
    let home = settings.urls.site.home_url("");
    let lifetime = seconds.map_or_else(
        || "; Expires=Thu, 01 Jan 1970 00:00:00 GMT; Max-Age=0".to_owned(),
        |seconds| {
            let at = DateTime::from_timestamp(now + seconds, 0).unwrap_or_default();
            format!("; Expires={}; Max-Age={seconds}", at.format("%a, %d %b %Y %H:%M:%S GMT"))
        },
    );
    set(name, value, &path(&home), &lifetime, home.starts_with("https://"))
}

/// A cookie for the page with this URL, and those below it, such as the one with the key of a link to set a new password. `None`
/// deletes it.
pub(crate) fn page_cookie(name: &str, value: Option<&str>, url: &str, tls: bool) -> String {
    let path = svc_text::parse_url(url).and_then(|url| url.path).unwrap_or_default();
    let lifetime = if value.is_some() { "" } else { "; Expires=Thu, 01 Jan 1970 00:00:00 GMT; Max-Age=0" };
    set(name, value.unwrap_or(" "), &path, lifetime, tls)
}

/// A cookie that keeps a choice of the user on the page with this URL, and those below it, for a year.
pub(crate) fn choice_cookie(name: &str, value: &str, url: &str, tls: bool) -> String {
    let path = svc_text::parse_url(url).and_then(|url| url.path).unwrap_or_default();
    set(name, value, &path, "; Max-Age=31536000", tls)
}

/// Value of the test cookie.
pub(crate) const TEST: &str = "WP Cookie check";
