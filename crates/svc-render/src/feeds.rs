//! Feeds of other sites, for the block that shows one: fetched through the guarded client, read, and kept for a while.
//!
//! Blocks are rendered over a snapshot of the store, where nobody may wait for the network. A feed that is not known yet is
//! noted as missing; whoever asked for the rendering fetches what is missing when the snapshot is gone, and renders again.
//!
//! A feed is fetched once at a time, however many responses need it. A page may show the site's own feeds, whose rendering
//! may need the same page: requests of the server itself carry [`FETCH_HEADER`], and nothing is fetched for their responses.
//! Responses to writes never wait for feeds: these are fetched in the background.

use std::{
    collections::{BTreeSet, HashMap, hash_map::RandomState},
    hash::BuildHasher,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use chrono::NaiveDateTime;
use quick_cache::sync::Cache;
use svc_fetch::Get;
use svc_site::http_client::own;
use tokio::{sync::OnceCell, task::JoinSet};

use crate::SiteRenderer;

/// How long a feed is kept, and how long it is not asked for again when it cannot be read.
const KEPT: Duration = Duration::from_secs(12 * 60 * 60);
const FAILED: Duration = Duration::from_secs(5 * 60);

/// Feeds that are kept.
const FEEDS: usize = 200;

/// Feeds that are fetched for one answer, and how often it is rendered again for those that show up meanwhile.
const AT_ONCE: usize = 8;
const ROUNDS: usize = 2;

/// Time for a feed, and its size in bytes.
const TIME: Duration = Duration::from_secs(10);
const BYTES: u64 = 2 << 20;

/// Items of a feed that are kept, and bytes of the text of one.
const ITEMS: usize = 20;
const TEXT: usize = 20 << 10;

/// Longest address of a feed.
const ADDRESS: usize = 2_000;

/// An item of a feed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Item {
    /// Its title, as text.
    pub title: String,
    /// Where it leads.
    pub link: String,
    /// When it was published, in UTC.
    pub date: Option<NaiveDateTime>,
    /// Who wrote it.
    pub author: String,
    /// What it says, as text.
    pub text: String,
}

/// The items of a feed, the newest first; nothing when it could not be read.
type Read = Option<Arc<Vec<Item>>>;

/// Feeds that are not known yet, noted while an answer is rendered. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct Missing(Arc<Mutex<BTreeSet<String>>>);

impl Missing {
    pub fn note(&self, address: &str) {
        let mut noted = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if noted.len() < AT_ONCE && address.len() <= ADDRESS {
            noted.insert(address.to_owned());
        }
    }

    fn take(&self) -> BTreeSet<String> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// The header of the server's own requests for feeds; its value is known to this process alone.
pub const FETCH_HEADER: &str = "x-feed-fetch";

tokio::task_local! {
    /// Set while a request is answered that this server has sent itself.
    static OWN_FETCH: ();
}

/// The feeds that a site has read.
pub struct Feeds {
    read: Cache<String, (Instant, Read)>,
    /// Fetches in progress.
    in_flight: Mutex<HashMap<String, Arc<OnceCell<()>>>>,
    /// The value of [`FETCH_HEADER`].
    token: String,
}

impl Default for Feeds {
    fn default() -> Self {
        // Random keys of the process: only who has the token can have it.
        let [high, low] = [RandomState::new(), RandomState::new()].map(|keys| keys.hash_one(FETCH_HEADER));
        Feeds { read: Cache::new(FEEDS), in_flight: Mutex::default(), token: format!("{high:016x}{low:016x}") }
    }
}

impl Feeds {
    /// A feed, if it is known.
    pub fn get(&self, address: &str) -> Option<Read> {
        let (at, read) = self.read.get(address)?;
        let kept = if read.is_some() { KEPT } else { FAILED };
        (at.elapsed() < kept).then_some(read)
    }

    /// Whether the value of [`FETCH_HEADER`] is that of a request which this server has sent itself.
    pub fn is_own_fetch(&self, value: &[u8]) -> bool {
        value == self.token.as_bytes()
    }

    /// Fetches a feed, or waits for the fetch that is in progress.
    async fn fetch_once(&self, address: String, fetch: impl Future<Output = Read>) {
        let flight = {
            let mut in_flight = self.in_flight.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(in_flight.entry(address.clone()).or_default())
        };
        let run = async {
            // Another fetch may have ended since this one was found to be necessary.
            if self.get(&address).is_none() {
                let read = fetch.await;
                self.read.insert(address.clone(), (Instant::now(), read));
            }
        };
        flight.get_or_init(|| run).await;
        let mut in_flight = self.in_flight.lock().unwrap_or_else(PoisonError::into_inner);
        if in_flight.get(&address).is_some_and(|current| Arc::ptr_eq(current, &flight)) {
            in_flight.remove(&address);
        }
    }
}

/// Runs the whole of a request that this server has sent itself: nothing is fetched for its response.
pub async fn within_own_fetch<F: Future>(request: F) -> F::Output {
    OWN_FETCH.scope((), request).await
}

/// Renders a response, and renders it again if feeds were missing that can be fetched now.
///
/// # Errors
/// Those of `make`.
pub async fn with_feeds<T, E>(site: &Arc<SiteRenderer>, make: impl Fn(&Missing) -> Result<T, E>) -> Result<T, E> {
    let missing = Missing::default();
    let mut made = make(&missing)?;
    for _ in 0..ROUNDS {
        let wanted = missing.take();
        if wanted.is_empty() || OWN_FETCH.try_with(|()| ()).is_ok() {
            break;
        }
        fetch(site, wanted).await;
        made = make(&missing)?;
    }
    Ok(made)
}

/// Renders the response to a write with the feeds that are known, and fetches the others in the background.
///
/// # Errors
/// Those of `make`.
pub fn with_known_feeds<T, E>(site: &Arc<SiteRenderer>, make: impl Fn(&Missing) -> Result<T, E>) -> Result<T, E> {
    let missing = Missing::default();
    let made = make(&missing)?;
    let wanted = missing.take();
    if !wanted.is_empty() && OWN_FETCH.try_with(|()| ()).is_err() {
        let site = Arc::clone(site);
        tokio::spawn(async move { fetch(&site, wanted).await });
    }
    Ok(made)
}

/// Fetches feeds, several at a time.
async fn fetch(site: &Arc<SiteRenderer>, urls: BTreeSet<String>) {
    let mut under_way = JoinSet::new();
    for address in urls {
        let site = Arc::clone(site);
        under_way.spawn(async move {
            let read = async { read(&site, &address).await };
            site.feeds.fetch_once(address.clone(), read).await;
        });
    }
    while under_way.join_next().await.is_some() {}
}

async fn read(site: &SiteRenderer, address: &str) -> Read {
    let allowed = site.settings().map(|settings| own(&settings)).unwrap_or_default();
    let get = Get::new(address).allow(allowed).within(TIME).max_bytes(BYTES).header("Accept", ACCEPTED);
    let get = get.header(FETCH_HEADER, site.feeds.token.as_str());
    let answer = match site.http_client.send(get).await {
        Ok(answer) if answer.status == 200 => answer,
        Ok(answer) => {
            tracing::debug!(status = answer.status, "a feed was not read");
            return None;
        }
        Err(error) => {
            tracing::debug!(%error, "a feed was not read");
            return None;
        }
    };
    let items = tokio::task::spawn_blocking(move || items(&answer.body)).await;
    items.ok().flatten().map(Arc::new)
}

/// Kinds of documents that are feeds.
const ACCEPTED: &str = "application/atom+xml, application/rss+xml, application/rdf+xml;q=0.9, application/xml;q=0.8, text/xml;q=0.8, */*;q=0.1";

/// The items of a document in RSS, Atom or RDF; nothing when it is none of these.
fn items(document: &[u8]) -> Option<Vec<Item>> {
    let feed = feed_rs::parser::parse(document).ok()?;
    let plain = |html: &str| {
        let cut = html.get(..html.floor_char_boundary(TEXT)).unwrap_or_default();
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
    // Those without a date keep their places at the end.
    items.sort_by_key(|item| std::cmp::Reverse(item.date));
    items.truncate(ITEMS);
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
        assert_eq!(n_fetched.load(Ordering::Relaxed), 2, "two addresses");
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
    fn own_requests_are_known_by_their_token() {
        let (one, other) = (Feeds::default(), Feeds::default());
        assert!(one.is_own_fetch(one.token.as_bytes()) && one.token.len() == 32);
        assert!(!one.is_own_fetch(other.token.as_bytes()) && !one.is_own_fetch(b""));
    }

    #[test]
    fn feeds_of_all_kinds_are_read() {
        let expected = |author: &str| Item {
            title: "One & <only>".to_owned(),
            link: "https://a.example/1".to_owned(),
            date: chrono::NaiveDate::from_ymd_opt(2024, 5, 6).and_then(|d| d.and_hms_opt(7, 8, 9)),
            author: author.to_owned(),
            text: "It says so.".to_owned(),
        };
        let rss = r#"<?xml version="1.0"?><rss version="2.0" xmlns:dc="http://purl.org/dc/elements/1.1/"><channel><title>F</title>
            <item><title>Old</title><pubDate>Mon, 06 May 2023 07:08:09 +0000</pubDate></item>
            <item><title>One &amp;amp; &amp;lt;only&amp;gt;</title><link>https://a.example/1</link><dc:creator>Ann</dc:creator>
            <pubDate>Mon, 06 May 2024 09:08:09 +0200</pubDate><description>&lt;p&gt;It says &lt;b&gt;so&lt;/b&gt;.&lt;/p&gt;</description></item>
            </channel></rss>"#;
        let atom = r#"<feed xmlns="http://www.w3.org/2005/Atom"><title>F</title><id>f</id><updated>2024-05-06T07:08:09Z</updated>
            <entry><id>1</id><title type="html">One &amp;amp; &amp;lt;only&amp;gt;</title><link rel="self" href="https://a.example/self"/>
            <link href="https://a.example/1"/><author><name>Ann</name></author><updated>2024-05-06T07:08:09Z</updated>
            <summary>It says so.</summary></entry></feed>"#;
        let rdf = r#"<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/" xmlns:dc="http://purl.org/dc/elements/1.1/">
            <channel><title>F</title><link>https://a.example</link><description>d</description></channel>
            <item><title>One &amp;amp; &amp;lt;only&amp;gt;</title><link>https://a.example/1</link><dc:date>2024-05-06T07:08:09Z</dc:date>
            <description>It says so.</description></item></rdf:RDF>"#;
        assert_eq!(first(rss), expected("Ann"));
        assert_eq!(first(atom), expected("Ann"));
        assert_eq!(first(rdf).title, expected("").title);
        assert_eq!(first(rdf).link, expected("").link);
        assert_eq!(items(b"<html><body>no feed</body></html>"), None);
        assert_eq!(items(b""), None);
    }

    #[test]
    fn a_feed_in_a_thousand_items_is_cut() {
        let item = format!("<item><title>t</title><description>{}</description></item>", "x".repeat(2 * TEXT));
        let many = format!("<rss version=\"2.0\"><channel><title>F</title>{}</channel></rss>", item.repeat(50));
        let read = items(many.as_bytes()).unwrap();
        assert_eq!((read.len(), read[0].text.len()), (ITEMS, TEXT));
    }
}
