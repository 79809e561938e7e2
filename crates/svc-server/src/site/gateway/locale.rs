//! `_locale=user`, which the block editor sends with every request: WordPress responds in the language that the user has chosen.
//! This server translates nothing, but most users have not chosen any, and the parameter changes nothing for them.

use std::{collections::HashSet, sync::Arc};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use http::{
    HeaderMap,
    header::{AUTHORIZATION, COOKIE},
};
use svc_auth::cookie::AuthCookie;
use svc_controllers::RestSite;
use svc_versions::VersionedCache;

use super::request::ApiRequest;

/// The parameter.
const PARAMETER: &str = "_locale";

/// Up to this many users with a locale are known by name. If there are more, any user may have one.
const MAX_USERS: u64 = 1_000;

/// The users of a site who have chosen a language. Cheap to clone.
#[derive(Clone)]
pub(super) struct Locales(Arc<Inner>);

struct Inner {
    site: Arc<RestSite>,
    users: VersionedCache<(), Arc<Users>>,
    /// The start of the names of log-in cookies.
    cookie: String,
}

/// Users with a locale.
#[derive(Debug, PartialEq, Eq)]
enum Users {
    /// Logins and e-mail addresses, in lower case.
    Named(HashSet<String>),
    /// Too many to list.
    Many,
}

impl Locales {
    pub(super) fn new(site: Arc<RestSite>) -> Self {
        let cookie = site.brand.cookie("logged_in");
        Locales(Arc::new(Inner { site, users: VersionedCache::new(1 << 20), cookie }))
    }

    /// Removes the parameter from a request whose response does not depend on it.
    pub(super) async fn ignore_if_same(&self, request: &mut ApiRequest, headers: &HeaderMap) {
        if request.query.get(PARAMETER).is_none_or(|value| value != "user") {
            return;
        }
        let is_same = match names(headers, &self.0.cookie) {
            None => false,
            Some(names) if names.is_empty() => true,
            Some(names) => self.users().await.is_some_and(|users| !names.iter().any(|name| users.contains(name))),
        };
        if is_same {
            request.query.remove(PARAMETER);
        }
    }

    /// The users with a locale. `None` if the database cannot be read.
    async fn users(&self) -> Option<Arc<Users>> {
        let store = &self.0.site.store;
        let stamp = store.watched_stamp().await;
        if let Some(known) = stamp.and_then(|stamp| self.0.users.get(store.versions(), &(), stamp)) {
            return Some(known);
        }
        let this = Arc::clone(&self.0);
        tokio::task::spawn_blocking(move || this.read_users()).await.ok()?
    }
}

impl Inner {
    fn read_users(&self) -> Option<Arc<Users>> {
        let store = &self.site.store;
        let read = || {
            let stamp = store.stamp();
            (stamp, store.read(|db| svc_store::users::with_locale(db, MAX_USERS + 1)))
        };
        let ((stamp, found), dependencies) = svc_versions::capture(read);
        let users = Arc::new(Users::of(found.ok()?));
        if let Some(stamp) = stamp {
            self.users.insert((), Arc::clone(&users), 1, dependencies, stamp);
        }
        Some(users)
    }
}

impl Users {
    fn of(found: Vec<[String; 2]>) -> Self {
        let names = found.iter().flatten();
        match found.len() as u64 > MAX_USERS || names.clone().any(|name| !is_plain(name)) {
            true => Users::Many,
            false => Users::Named(names.map(|name| name.to_ascii_lowercase()).collect()),
        }
    }

    fn contains(&self, name: &str) -> bool {
        match self {
            Users::Named(names) => names.contains(&name.to_ascii_lowercase()),
            Users::Many => true,
        }
    }
}

/// The logins in the credentials of a request, valid or not. `None` if it is not certain which users they name.
fn names(headers: &HeaderMap, cookie: &str) -> Option<Vec<String>> {
    let mut names = Vec::new();
    for value in headers.get_all(AUTHORIZATION) {
        let (scheme, encoded) = value.to_str().ok()?.split_once(' ')?;
        let decoded = BASE64_STANDARD.decode(encoded.trim()).ok().filter(|_| scheme.eq_ignore_ascii_case("basic"))?;
        let text = String::from_utf8(decoded).ok()?;
        names.push(text.split_once(':')?.0.to_owned());
    }
    for value in headers.get_all(COOKIE) {
        for (name, value) in value.to_str().ok()?.split(';').filter_map(|pair| pair.trim().split_once('=')) {
            if name.starts_with(cookie) {
                let value = percent_encoding::percent_decode_str(value).decode_utf8().ok()?;
                names.push(AuthCookie::parse(&value).ok()?.login.to_owned());
            }
        }
    }
    names.iter().all(|name| is_plain(name)).then_some(names)
}

/// Whether WordPress and every database compare this name in the same way.
fn is_plain(name: &str) -> bool {
    name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-' | b'@'))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOGGED_IN: &str = "wordpress_logged_in_";

    fn of(pairs: &[(&'static str, &str)]) -> Option<Vec<String>> {
        let headers = pairs.iter().map(|(n, v)| (http::HeaderName::from_static(n), v.parse().unwrap()));
        names(&headers.collect(), LOGGED_IN)
    }

    #[test]
    fn names_in_credentials() {
        let basic = |text: &str| format!("Basic {}", BASE64_STANDARD.encode(text));
        let list = |names: &[&str]| Some(names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>());
        assert_eq!(of(&[("cookie", "a=1; wp-settings-1=x")]), list(&[]));
        assert_eq!(of(&[("authorization", &basic("Ada@example.org:x y"))]), list(&["Ada@example.org"]));
        let cookie = "a=1; wordpress_logged_in_0f=ada%7C1999999999%7Ctoken%7Chmac";
        assert_eq!(of(&[("cookie", cookie), ("cookie", "b=2")]), list(&["ada"]));
        for unclear in [basic("ädä:x"), basic("a b:x"), basic("ada"), "Bearer x".to_owned(), "Basic %".to_owned()] {
            assert_eq!(of(&[("authorization", &unclear)]), None, "{unclear}");
        }
        assert_eq!(of(&[("cookie", "wordpress_logged_in_0f=x")]), None);
    }

    #[test]
    fn users_with_a_locale() {
        let user = |name: &str| [name.to_owned(), format!("{name}@example.org")];
        let users = Users::of(vec![user("Ada")]);
        assert!(users.contains("ada") && users.contains("ADA@example.org") && !users.contains("bob"));
        assert_eq!(Users::of(vec![user("ädä")]), Users::Many, "databases compare the name differently");
        assert_eq!(Users::of(vec![user("a"); 1_001]), Users::Many);
        assert!(Users::Many.contains("bob") && !Users::of(Vec::new()).contains("bob"));
    }
}
