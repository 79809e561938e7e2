//! The cookies that begin and end a session, with the names, paths and times that the peer gives them.

use chrono::DateTime;
use svc_auth::{Keys, Scheme, cookie};
use svc_site::Settings;

use crate::{identity::AuthenticatedUser, redirect::encode};

/// Seconds for which the browser keeps a remembered cookie after it has expired, so that a page which is still open can
/// ask to sign in again.
const KEPT: i64 = 12 * 3600;

/// A session that has just begun.
pub(crate) struct Begun<'a> {
    pub(crate) login: &'a str,
    /// The hash of the user's password.
    pub(crate) pass: &'a str,
    pub(crate) token: &'a str,
    /// Seconds since the epoch.
    pub(crate) now: i64,
    /// Seconds since the epoch.
    pub(crate) expiration: i64,
    /// The browser keeps the cookies when it is closed.
    pub(crate) remembered: bool,
    pub(crate) tls: bool,
}

/// The path of an address, with a slash at its end.
fn path(url: &str) -> String {
    let path = svc_text::parse_url(url).and_then(|p| p.path).unwrap_or_default();
    svc_text::trailing_slash(&path)
}

/// The paths of administration's cookies, then those of the logged-in one.
fn paths(settings: &Settings, admin: &str) -> ([String; 2], Vec<String>) {
    let (home, site) = (path(settings.option("home")), path(settings.option("siteurl")));
    let admin = [format!("{site}wp-content/plugins"), format!("{site}{admin}")];
    let public = if home == site { vec![home] } else { vec![home, site] };
    (admin, public)
}

fn set(name: &str, value: &str, path: &str, lives: &str, secure: bool) -> String {
    let secure = if secure { "; Secure" } else { "" };
    format!("{name}={}{lives}; Path={path}{secure}; HttpOnly; SameSite=Lax", encode(value))
}

/// The cookies of a new session.
pub(crate) fn begin(keys: &Keys, known: &AuthenticatedUser, admin: &str, begun: &Begun<'_>) -> Vec<String> {
    let until = begun.expiration + KEPT;
    let lives = match DateTime::from_timestamp(until, 0).filter(|_| begun.remembered) {
        Some(at) => {
            let seconds = until.saturating_sub(begun.now);
            format!("; Expires={}; Max-Age={seconds}", at.format("%a, %d %b %Y %H:%M:%S GMT"))
        }
        None => String::new(),
    };
    let scheme = if begun.tls { Scheme::SecureAuth } else { Scheme::Auth };
    let value = |scheme| cookie::generate(keys, scheme, begun.login, begun.pass, begun.expiration, begun.token);
    let (admin, public) = paths(&known.settings, admin);
    let (auth, logged_in) = (value(scheme), value(Scheme::LoggedIn));
    let auth_name = if begun.tls { &known.cookies.secure_auth } else { &known.cookies.auth };
    let of_admin = admin.iter().map(|path| set(auth_name, auth.expose(), path, &lives, begun.tls));
    let secure = begun.tls && known.settings.option("home").starts_with("https://");
    let of_site = public.iter().map(|path| set(&known.cookies.logged_in, logged_in.expose(), path, &lives, secure));
    of_admin.chain(of_site).collect()
}

/// The ends of all cookies of a session.
pub(crate) fn end(known: &AuthenticatedUser, admin: &str) -> Vec<String> {
    let (admin, public) = paths(&known.settings, admin);
    let gone = "; Expires=Thu, 01 Jan 1970 00:00:00 GMT; Max-Age=0";
    let names = [&known.cookies.auth, &known.cookies.secure_auth];
    let of_admin = names.iter().flat_map(|name| admin.iter().map(|path| set(name, " ", path, gone, false)));
    let of_site = public.iter().map(|path| set(&known.cookies.logged_in, " ", path, gone, false));
    of_admin.chain(of_site).collect()
}

/// The cookie by which the log-in form sees that the browser keeps cookies.
pub(crate) fn test(name: &str, settings: &Settings, tls: bool) -> String {
    set(name, TEST, &path(settings.option("home")), "", tls)
}

/// A cookie of a guest on the pages of the site, which expires after so many seconds from `now`; `None` deletes it.
pub(crate) fn of_guest(name: &str, value: &str, settings: &Settings, now: i64, seconds: Option<i64>) -> String {
    let home = settings.option("home");
    let lives = seconds.map_or_else(
        || "; Expires=Thu, 01 Jan 1970 00:00:00 GMT; Max-Age=0".to_owned(),
        |seconds| {
            let at = DateTime::from_timestamp(now + seconds, 0).unwrap_or_default();
            format!("; Expires={}; Max-Age={seconds}", at.format("%a, %d %b %Y %H:%M:%S GMT"))
        },
    );
    set(name, value, &path(home), &lives, home.starts_with("https://"))
}

/// What the test cookie says.
pub(crate) const TEST: &str = "WP Cookie check";
