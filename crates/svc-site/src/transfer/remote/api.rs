//! Requests to the REST API of another site.

use std::{
    collections::HashSet,
    time::{Duration, Instant},
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::Value;
use svc_auth::Secret;
use svc_brand::LINK_RELATION;
use svc_fetch::{FetchError, FetchedResponse, Get};
use tokio::time::sleep;

use super::RemoteSite;
use crate::http_client::HttpClient;

/// Number of requests of a download: enough for ten million posts.
const MAX_REQUESTS: u32 = 1_000_000;

/// Time for a download.
const MAX_TIME: Duration = Duration::from_hours(12);

/// Time for a response, and its maximum size, in bytes. What it is parsed to can be ten times as large.
const TIMEOUT: Duration = Duration::from_secs(60);
const MAX_BYTES: u64 = 8 << 20;

/// Bytes of the site's front page in which the link to the API is looked for.
const HEAD_BYTES: u64 = 256 << 10;

/// Number of attempts, and the pause after the first one, which doubles.
const ATTEMPTS: u32 = 4;
const PAUSE: Duration = Duration::from_secs(1);

/// The longest pause that a site may ask for.
const MAX_PAUSE: Duration = Duration::from_secs(60);

/// Objects of a page, until a page is too large.
const PAGE: u64 = 50;

/// Number of objects of a list that the site may fail to show, each by itself.
const MAX_UNREADABLE: u32 = 100;

/// Number of pages without anything new after which a list ends, whatever its stated length is.
const MAX_EMPTY: u32 = 20;

/// Why there is no response to use.
#[derive(Debug)]
pub(super) enum Failure {
    /// The site refuses this request, or does not know the route.
    Refused(u16),
    /// A part of a list cannot be read at once.
    TooMuch(String),
    /// The site does not respond as WordPress does. The text is for people.
    Broken(String),
}

impl Failure {
    /// What people read.
    pub(super) fn text(&self) -> String {
        match self {
            Failure::Refused(status) => format!("the site refuses a request with status {status}"),
            Failure::TooMuch(why) | Failure::Broken(why) => why.clone(),
        }
    }
}

/// The API of another site.
pub(super) struct Api {
    client: HttpClient,
    root: String,
    namespace: String,
    authorization: Option<Secret>,
    begun: Instant,
    requests: u32,
}

/// A response.
struct Reply {
    value: Value,
    /// The length of the list that it is a page of.
    total: Option<u64>,
    /// Its size, in bytes.
    size: u64,
}

/// A list that is read page by page.
pub(super) struct Listing {
    pub(super) path: String,
    params: Vec<(&'static str, String)>,
    offset: u64,
    size: u64,
    total: u64,
    /// IDs of the objects so far: one that moves to the next page meanwhile is read once.
    seen: HashSet<i64>,
    empty: u32,
    /// Size of the pages so far, in bytes.
    pub(super) bytes: u64,
    /// Number of objects that the site has failed to show.
    pub(super) unreadable: u32,
}

impl Listing {
    /// The list at a path.
    pub(super) fn new(path: impl Into<String>) -> Self {
        Listing {
            path: path.into(),
            params: Vec::new(),
            offset: 0,
            size: PAGE,
            total: u64::MAX,
            seen: HashSet::new(),
            empty: 0,
            bytes: 0,
            unreadable: 0,
        }
    }

    /// Adds a parameter.
    pub(super) fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.params.push((name, value.into()));
        self
    }
}

/// The URL of a route below the root of an API, which may be a parameter of the front page: `https://example.org/?rest_route=/`.
fn join(root: &str, path: &str, params: &[(&str, String)]) -> String {
    let mut url = format!("{}/{path}", root.trim_end_matches('/'));
    for (name, value) in params {
        let value = percent_encoding::utf8_percent_encode(value, percent_encoding::NON_ALPHANUMERIC);
        url.push_str(&format!("{}{name}={value}", if url.contains('?') { '&' } else { '?' }));
    }
    url
}

/// The root of the API, from the headers or the beginning of a page.
fn root_of(page: &FetchedResponse) -> Option<String> {
    let headers = page.headers.get_all("link").iter().filter_map(|value| value.to_str().ok());
    let links = headers.flat_map(|header| header.split('<').skip(1)).filter_map(|link| link.split_once('>'));
    let linked = links.into_iter().find(|(_, params)| params.contains(LINK_RELATION)).map(|(url, _)| url.to_owned());
    linked.or_else(|| {
        let text = String::from_utf8_lossy(&page.body);
        let at = text.find(LINK_RELATION)?;
        let tag = text.get(text.get(..at)?.rfind('<')?..)?.split('>').next()?;
        let value = tag.split_once("href=")?.1;
        let quote = value.chars().next().filter(|c| matches!(c, '"' | '\''))?;
        Some(svc_text::decode_references(value.get(1..)?.split(quote).next()?))
    })
}

/// How long a site asks to wait.
fn retry_after(response: &FetchedResponse) -> Option<Duration> {
    response.header("retry-after").parse().ok().map(Duration::from_secs)
}

impl Api {
    /// Finds the API of a site, and signs in. `own` is the namespace of this server's own content, which the other site may have as well.
    pub(super) async fn find(client: &HttpClient, remote: &RemoteSite, own: &str) -> Result<(Self, Value), Failure> {
        let broken = |error: &FetchError| Failure::Broken(format!("{}: {error}", remote.address));
        let get = Get::new(remote.address.as_str()).first(HEAD_BYTES).within(TIMEOUT);
        let page = client.send(get).await.map_err(|error| broken(&error))?;
        let base = page.url.split(['?', '#']).next().unwrap_or_default().trim_end_matches('/').to_owned();
        let root = root_of(&page).unwrap_or_else(|| format!("{base}/wp-json/"));
        let authorization = match remote.credentials() {
            Some(_) if !super::is_private_enough(&root) => {
                return Err(Failure::Broken(format!("{root}: a password is only sent over HTTPS")));
            }
            credentials => credentials.map(|text| Secret::new(format!("Basic {}", STANDARD.encode(text.expose())))),
        };
        let mut api = Api {
            client: client.clone(),
            root,
            namespace: String::new(),
            authorization,
            begun: Instant::now(),
            requests: 0,
        };
        let no_api =
            || Failure::Broken(format!("{}: there is no REST API of WordPress at this address", remote.address));
        let bad_password =
            || Failure::Broken("the site does not accept this user name and application password".to_owned());
        let index = match api.request("", &[]).await {
            // WordPress refuses requests with a wrong password to every route.
            Err(Failure::Refused(401 | 403)) if api.is_signed_in() => return Err(bad_password()),
            found => found.map_err(|_| no_api())?.value,
        };
        let namespaces = index.get("namespaces").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        let known = ["wp/v2", own].into_iter().find(|name| namespaces.iter().any(|known| known == name));
        known.ok_or_else(no_api)?.clone_into(&mut api.namespace);
        if api.authorization.is_some() && api.get("users/me", &[("context", "edit".to_owned())]).await.is_err() {
            return Err(bad_password());
        }
        Ok((api, index))
    }

    /// Whether requests have credentials.
    pub(super) fn is_signed_in(&self) -> bool {
        self.authorization.is_some()
    }

    /// The content's namespace: `wp/v2`.
    pub(super) fn namespace(&self) -> &str {
        &self.namespace
    }

    /// An object of the content's namespace.
    pub(super) async fn get(&mut self, path: &str, params: &[(&str, String)]) -> Result<Value, Failure> {
        let path = format!("{}/{path}", self.namespace);
        Ok(self.request(&path, params).await?.value)
    }

    /// The next objects of a list; `None` at its end. A page that the site cannot send is asked for in smaller parts, and single objects
    /// that it cannot send are left out.
    pub(super) async fn page(&mut self, list: &mut Listing) -> Result<Option<Vec<Value>>, Failure> {
        while list.offset < list.total && list.empty < MAX_EMPTY {
            let page = [("per_page", list.size.to_string()), ("offset", list.offset.to_string())];
            let params: Vec<_> = list.params.iter().cloned().chain(page).collect();
            let Reply { value, total, size } = match self.request(&list.path, &params).await {
                Err(Failure::TooMuch(_)) if list.size > 1 => {
                    list.size = list.size.div_ceil(4);
                    continue;
                }
                Err(Failure::TooMuch(_)) if !list.seen.is_empty() && list.unreadable < MAX_UNREADABLE => {
                    list.unreadable = list.unreadable.saturating_add(1);
                    list.offset = list.offset.saturating_add(1);
                    continue;
                }
                other => other?,
            };
            let Value::Array(mut values) = value else {
                return Err(Failure::Broken("a list has another form".to_owned()));
            };
            list.bytes = list.bytes.saturating_add(size);
            list.offset = list.offset.saturating_add(list.size);
            list.size = list.size.saturating_mul(2).min(PAGE);
            list.total = total.unwrap_or(if values.is_empty() { 0 } else { u64::MAX });
            values.retain(|value| list.seen.insert(value.get("id").and_then(Value::as_i64).unwrap_or_default()));
            if !values.is_empty() {
                list.empty = 0;
                return Ok(Some(values));
            }
            list.empty = list.empty.saturating_add(1);
        }
        Ok(None)
    }

    async fn request(&mut self, path: &str, params: &[(&str, String)]) -> Result<Reply, Failure> {
        let url = join(&self.root, path, params);
        let mut get = Get::new(url).within(TIMEOUT).max_bytes(MAX_BYTES);
        if let Some(authorization) = &self.authorization {
            get = get.header("Authorization", authorization.expose());
        }
        let mut pause = PAUSE;
        for attempt in 1..=ATTEMPTS {
            self.requests = self.requests.saturating_add(1);
            if self.requests > MAX_REQUESTS || self.begun.elapsed() > MAX_TIME {
                return Err(Failure::Broken("the site has too much content".to_owned()));
            }
            let is_last = attempt == ATTEMPTS;
            let wait = match self.client.send(get.clone()).await {
                Ok(response) if response.status == 200 => {
                    let total = response.header("x-wp-total").parse().ok();
                    let (value, size) = (serde_json::from_slice(&response.body), response.body.len() as u64);
                    let value = value.map_err(|_| Failure::Broken(not_json(path)))?;
                    return Ok(Reply { value, total, size });
                }
                Ok(response) if matches!(response.status, 429 | 500..) => {
                    // An error of a program, such as too little memory, comes again.
                    if is_last || response.status == 500 {
                        return Err(Failure::TooMuch(format!("the site fails with status {}", response.status)));
                    }
                    retry_after(&response).map_or(pause, |wait| wait.min(MAX_PAUSE))
                }
                Ok(response) => return Err(Failure::Refused(response.status)),
                Err(error @ FetchError::TooLarge(_)) => return Err(Failure::TooMuch(error.to_string())),
                Err(error) if is_last || error.is_invalid_url() => return Err(Failure::Broken(error.to_string())),
                Err(_) => pause,
            };
            sleep(wait).await;
            pause = pause.saturating_mul(2);
        }
        Err(Failure::Broken(not_json(path)))
    }
}

fn not_json(path: &str) -> String {
    format!("the response to {path} is not JSON")
}

#[cfg(test)]
mod tests {
    use http::{HeaderMap, HeaderValue};

    use super::*;

    #[test]
    fn urls_are_built_below_both_forms_of_a_root() {
        let params = [("a", "b c&d".to_owned())];
        for (root, expected) in [
            ("https://a.b/wp-json/", "https://a.b/wp-json/wp/v2/posts?a=b%20c%26d"),
            ("https://a.b/?rest_route=/", "https://a.b/?rest_route=/wp/v2/posts&a=b%20c%26d"),
        ] {
            assert_eq!(join(root, "wp/v2/posts", &params), expected);
        }
    }

    #[test]
    fn the_root_is_found_in_headers_and_pages() {
        let page = |link: Option<&str>, body: &str| {
            let mut headers = HeaderMap::new();
            headers.extend(link.map(|link| (http::header::LINK, HeaderValue::from_str(link).unwrap())));
            root_of(&FetchedResponse { status: 200, headers, body: body.into(), url: String::new() })
        };
        let header = "<https://a.b/x>; rel=shortlink, <https://a.b/wp-json/>; rel=\"https://api.w.org/\"";
        assert_eq!(page(Some(header), "").as_deref(), Some("https://a.b/wp-json/"));
        for tag in [
            "<link rel=\"https://api.w.org/\" href=\"https://a.b/?a=1&#038;rest_route=/\" />",
            "<LINK href='https://a.b/?a=1&amp;rest_route=/' rel='https://api.w.org/'>",
        ] {
            let body = format!("<html><head>{tag}<link href='no'>");
            assert_eq!(page(None, &body).as_deref(), Some("https://a.b/?a=1&rest_route=/"), "{tag}");
        }
        for body in ["", "https://api.w.org/", "<a rel='https://api.w.org/'", "<a rel='https://api.w.org/' href=x"] {
            assert_eq!(page(None, body), None, "{body}");
        }
    }
}
