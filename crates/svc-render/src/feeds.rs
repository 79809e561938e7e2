//! Fetches, parses and caches external feeds for the RSS block.
//!
//! Blocks are rendered within a snapshot of the store, where waiting for the network is not allowed. A feed that is not
//! cached is recorded in [`MissingFeeds`]; the caller fetches the missing feeds after the snapshot has ended and renders again.
//!
//! Concurrent responses share one fetch per feed. A page may show one of the site's own feeds, whose rendering may need the
//! same page: requests of the server to itself carry [`FETCH_HEADER`], and their responses fetch nothing.
//! Responses to writes never wait for feeds, which are fetched in the background.

use std::{
    collections::{BTreeSet, HashMap, hash_map::RandomState},
    hash::BuildHasher,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use chrono::NaiveDateTime;
use quick_cache::sync::Cache;
use svc_fetch::Get;
use svc_site::http_client::own_origins;
use tokio::{sync::OnceCell, task::JoinSet};

use crate::SiteRenderer;

/// How long a feed, or the failure to read one, is cached.
const CACHE_TTL: Duration = Duration::from_secs(12 * 60 * 60);
const FAILURE_TTL: Duration = Duration::from_secs(5 * 60);

/// Maximum number of cached feeds.
const MAX_FEEDS: usize = 200;

/// Maximum number of feeds fetched per rendering, and of renderings after the first one.
const MAX_FETCHES: usize = 8;
const MAX_RERENDERS: usize = 2;

/// Timeout and maximum size in bytes of a feed.
const TIMEOUT: Duration = Duration::from_secs(10);
const MAX_BYTES: u64 = 2 << 20;

/// Maximum number of cached items of a feed, and of bytes of an item's text.
const MAX_ITEMS: usize = 20;
const MAX_TEXT: usize = 20 << 10;

/// Maximum length of a feed's URL, in bytes.
const MAX_URL: usize = 2_000;

/// An item of a feed. All texts are plain text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Item {
    /// The item's title.
    pub title: String,
    /// The item's URL.
    pub link: String,
    /// Publication date in UTC.
    pub date: Option<NaiveDateTime>,
    /// The author's name.
    pub author: String,
    /// The item's summary, or its content without a summary.
    pub text: String,
}

/// The items of a feed, newest first; `None` if it could not be read.
type FeedItems = Option<Arc<Vec<Item>>>;

/// URLs of uncached feeds, collected while a response is rendered. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct MissingFeeds(Arc<Mutex<BTreeSet<String>>>);

impl MissingFeeds {
    /// Records the URL of a feed. Ignored if it is too long, or if too many are recorded.
    pub fn record(&self, url: &str) {
        let mut urls = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if urls.len() < MAX_FETCHES && url.len() <= MAX_URL {
            urls.insert(url.to_owned());
        }
    }

    fn take(&self) -> BTreeSet<String> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Header of the server's own requests for feeds. Its value is a secret of this process.
pub const FETCH_HEADER: &str = "x-feed-fetch";

tokio::task_local! {
    /// Set while the server handles one of its own requests for feeds.
    static OWN_FETCH: ();
}

/// The feed cache of a site.
pub struct Feeds {
    cache: Cache<String, (Instant, FeedItems)>,
    /// Fetches in progress.
    in_flight: Mutex<HashMap<String, Arc<OnceCell<()>>>>,
    /// The value of [`FETCH_HEADER`].
    token: String,
}

impl Default for Feeds {
    fn default() -> Self {
        // Hashed with random keys, so that clients cannot guess it.
        let [high, low] = [RandomState::new(), RandomState::new()].map(|keys| keys.hash_one(FETCH_HEADER));
        Feeds { cache: Cache::new(MAX_FEEDS), in_flight: Mutex::default(), token: format!("{high:016x}{low:016x}") }
    }
}

impl Feeds {
    /// A feed, if it is cached and has not expired.
    pub fn get(&self, url: &str) -> Option<FeedItems> {
        let (at, read) = self.cache.get(url)?;
        let ttl = if read.is_some() { CACHE_TTL } else { FAILURE_TTL };
        (at.elapsed() < ttl).then_some(read)
    }

    /// Whether a value of [`FETCH_HEADER`] is this process's secret.
    pub fn is_own_fetch(&self, value: &[u8]) -> bool {
        value == self.token.as_bytes()
    }

    /// Fetches a feed, or waits for a fetch in progress.
    async fn fetch_once(&self, url: String, fetch: impl Future<Output = FeedItems>) {
        let flight = {
            let mut in_flight = self.in_flight.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(in_flight.entry(url.clone()).or_default())
        };
        let run = async {
            // Another fetch may have ended since this one was found to be necessary.
            if self.get(&url).is_none() {
                let read = fetch.await;
                self.cache.insert(url.clone(), (Instant::now(), read));
            }
        };
        flight.get_or_init(|| run).await;
        let mut in_flight = self.in_flight.lock().unwrap_or_else(PoisonError::into_inner);
        if in_flight.get(&url).is_some_and(|current| Arc::ptr_eq(current, &flight)) {
            in_flight.remove(&url);
        }
    }
}

/// Handles a request of the server to itself: no feeds are fetched for its response.
pub async fn within_own_fetch<F: Future>(request: F) -> F::Output {
    OWN_FETCH.scope((), request).await
}

/// Renders a response, and renders it again after fetching missing feeds.
///
/// # Errors
/// Errors of `render`.
pub async fn with_feeds<T, E>(
    site: &Arc<SiteRenderer>,
    render: impl Fn(&MissingFeeds) -> Result<T, E>,
) -> Result<T, E> {
    let missing = MissingFeeds::default();
    let mut rendered = render(&missing)?;
    for _ in 0..MAX_RERENDERS {
        let urls = missing.take();
        if urls.is_empty() || OWN_FETCH.try_with(|()| ()).is_ok() {
            break;
        }
        fetch(site, urls).await;
        rendered = render(&missing)?;
    }
    Ok(rendered)
}

/// Renders the response to a write with the cached feeds, and fetches the others in the background.
///
/// # Errors
/// Errors of `render`.
pub fn with_cached_feeds<T, E>(
    site: &Arc<SiteRenderer>,
    render: impl Fn(&MissingFeeds) -> Result<T, E>,
) -> Result<T, E> {
    let missing = MissingFeeds::default();
    let rendered = render(&missing)?;
    let urls = missing.take();
    if !urls.is_empty() && OWN_FETCH.try_with(|()| ()).is_err() {
        let site = Arc::clone(site);
        tokio::spawn(async move { fetch(&site, urls).await });
    }
    Ok(rendered)
}

/// Fetches feeds concurrently.
async fn fetch(site: &Arc<SiteRenderer>, urls: BTreeSet<String>) {
    let mut tasks = JoinSet::new();
    for url in urls {
        let site = Arc::clone(site);
        tasks.spawn(async move {
            let read = async { read(&site, &url).await };
            site.feeds.fetch_once(url.clone(), read).await;
        });
    }
    while tasks.join_next().await.is_some() {}
}

async fn read(site: &SiteRenderer, url: &str) -> FeedItems {
    let allowed = site.settings().map(|settings| own_origins(&settings)).unwrap_or_default();
    let get = Get::new(url).allow(allowed).within(TIMEOUT).max_bytes(MAX_BYTES).header("Accept", ACCEPTED);
    let get = get.header(FETCH_HEADER, site.feeds.token.as_str());
    let response = match site.http_client.send(get).await {
        Ok(response) if response.status == 200 => response,
        Ok(response) => {
            tracing::debug!(status = response.status, "failed to fetch a feed");
            return None;
        }
        Err(error) => {
            tracing::debug!(%error, "failed to fetch a feed");
            return None;
        }
    };
    let items = tokio::task::spawn_blocking(move || items(&response.body)).await;
    items.ok().flatten().map(Arc::new)
}

/// Accepted content types.
const ACCEPTED: &str = "application/atom+xml, application/rss+xml, application/rdf+xml;q=0.9, application/xml;q=0.8, text/xml;q=0.8, */*;q=0.1";

/// The items of an RSS, Atom or RDF document; `None` if it is none of these.
fn items(document: &[u8]) -> Option<Vec<Item>> {
    let feed = feed_rs::parser::parse(document).ok()?;
    let plain = |html: &str| {
        let cut = html.get(..html.floor_char_boundary(MAX_TEXT)).unwrap_or_default();
        svc_text::trim(&svc_text::decode_references(&svc_text::strip_all_tags(cut, false))).to_owned()
    };
    let item = |entry: feed_rs::model::Entry| {
        let text = entry.summary.map(|text| text.content).or_else(|| entry.content.and_then(|content| content.body));
        let link = entry.links.iter().find(|link| link.rel.as_deref().is_none_or(|rel| rel == "alternate"));
        Item {
            title: entry.title.map(|title| plain(&title.content)).unwrap_or_default(),
            link: link.map(|link| link.href.clone()).unwrap_or_default(),
            date: entry.published.or(entry.updated).map(|date| date.naive_utc()),
            author: entry.authors.first().and_then(|author| author.name.as_deref()).map(plain).unwrap_or_default(),
            text: text.map(|text| plain(&text)).unwrap_or_default(),
        }
    };
    let mut items: Vec<Item> = feed.entries.into_iter().map(item).collect();
    // Items without a date stay in order at the end.
    items.sort_by_key(|item| std::cmp::Reverse(item.date));
    items.truncate(MAX_ITEMS);
    Some(items)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first(document: &str) -> Item {
        items(document.as_bytes()).unwrap().remove(0)
    }

    #[tokio::test]
    async fn a_feed_is_fetched_once_at_a_time() {
        use std::sync::atomic::{AtomicU32, Ordering};
        let (feeds, n_fetched) = (Arc::new(Feeds::default()), Arc::new(AtomicU32::new(0)));
        let mut waiting = JoinSet::new();
        for n in 0..20 {
            let (feeds, n_fetched) = (Arc::clone(&feeds), Arc::clone(&n_fetched));
            waiting.spawn(async move {
                let fetch = async {
                    n_fetched.fetch_add(1, Ordering::Relaxed);
                    tokio::task::yield_now().await;
                    Some(Arc::default())
                };
                feeds.fetch_once(format!("http://a.example/{}", n % 2), fetch).await;
            });
        }
        while waiting.join_next().await.is_some() {}
        assert_eq!(n_fetched.load(Ordering::Relaxed), 2, "one fetch per URL");
        assert!(feeds.get("http://a.example/0").is_some() && feeds.in_flight.lock().unwrap().is_empty());
    }

    #[tokio::test]
    async fn a_feed_that_was_fetched_meanwhile_is_not_fetched_again() {
        let feeds = Feeds::default();
        for (items, expected) in [(Some(Arc::default()), true), (None, true)] {
            feeds.fetch_once("http://a.example/".to_owned(), async { items }).await;
            assert_eq!(feeds.get("http://a.example/").is_some_and(|read| read.is_some()), expected);
        }
    }

    #[test]
    fn own_fetches_are_identified_by_their_token() {
        let (one, other) = (Feeds::default(), Feeds::default());
        assert!(one.is_own_fetch(one.token.as_bytes()) && one.token.len() == 32);
        assert!(!one.is_own_fetch(other.token.as_bytes()) && !one.is_own_fetch(b""));
    }

    #[test]
    fn parses_rss_atom_and_rdf() {
        let expected = |author: &str| Item {
            title: "One & <only>".to_owned(),
            link: "https://a.example/1".to_owned(),
            date: chrono::NaiveDate::from_ymd_opt(2024, 5, 6).and_then(|d| d.and_hms_opt(7, 8, 9)),
            author: author.to_owned(),
            text: "Some text.".to_owned(),
        };
        let rss = r#"<?xml version="1.0"?><rss version="2.0" xmlns:dc="http://purl.org/dc/elements/1.1/"><channel><title>F</title>
            <item><title>Old</title><pubDate>Mon, 06 May 2023 07:08:09 +0000</pubDate></item>
            <item><title>One &amp;amp; &amp;lt;only&amp;gt;</title><link>https://a.example/1</link><dc:creator>Ann</dc:creator>
            <pubDate>Mon, 06 May 2024 09:08:09 +0200</pubDate><description>&lt;p&gt;Some &lt;b&gt;text&lt;/b&gt;.&lt;/p&gt;</description></item>
            </channel></rss>"#;
        let atom = r#"<feed xmlns="http://www.w3.org/2005/Atom"><title>F</title><id>f</id><updated>2024-05-06T07:08:09Z</updated>
            <entry><id>1</id><title type="html">One &amp;amp; &amp;lt;only&amp;gt;</title><link rel="self" href="https://a.example/self"/>
            <link href="https://a.example/1"/><author><name>Ann</name></author><updated>2024-05-06T07:08:09Z</updated>
            <summary>Some text.</summary></entry></feed>"#;
        let rdf = r#"<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/" xmlns:dc="http://purl.org/dc/elements/1.1/">
            <channel><title>F</title><link>https://a.example</link><description>d</description></channel>
            <item><title>One &amp;amp; &amp;lt;only&amp;gt;</title><link>https://a.example/1</link><dc:date>2024-05-06T07:08:09Z</dc:date>
            <description>Some text.</description></item></rdf:RDF>"#;
        assert_eq!(first(rss), expected("Ann"));
        assert_eq!(first(atom), expected("Ann"));
        assert_eq!(first(rdf).title, expected("").title);
        assert_eq!(first(rdf).link, expected("").link);
        assert_eq!(items(b"<html><body>no feed</body></html>"), None);
        assert_eq!(items(b""), None);
    }

    #[test]
    fn long_feeds_are_truncated() {
        let item = format!("<item><title>t</title><description>{}</description></item>", "x".repeat(2 * MAX_TEXT));
        let many = format!("<rss version=\"2.0\"><channel><title>F</title>{}</channel></rss>", item.repeat(50));
        let read = items(many.as_bytes()).unwrap();
        assert_eq!((read.len(), read[0].text.len()), (MAX_ITEMS, MAX_TEXT));
    }
}
