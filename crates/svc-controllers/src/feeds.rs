//! Feeds of other sites, for the block that shows one: fetched through the guarded client, read, and kept for a while.
//!
//! Blocks are rendered over a snapshot of the store, where nobody may wait for the network. A feed that is not known yet is
//! noted as missing; whoever asked for the rendering fetches what is missing when the snapshot is gone, and renders again.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use chrono::NaiveDateTime;
use quick_cache::sync::Cache;
use svc_fetch::Get;
use tokio::task::JoinSet;

use crate::{Site, outgoing::own};

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
    pub(crate) fn note(&self, address: &str) {
        let mut noted = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if noted.len() < AT_ONCE && address.len() <= ADDRESS {
            noted.insert(address.to_owned());
        }
    }

    fn take(&self) -> BTreeSet<String> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// The feeds that a site knows.
pub struct Feeds(Cache<String, (Instant, Read)>);

impl Default for Feeds {
    fn default() -> Self {
        Feeds(Cache::new(FEEDS))
    }
}

impl Feeds {
    /// A feed, if it is known.
    pub(crate) fn get(&self, address: &str) -> Option<Read> {
        let (at, read) = self.0.get(address)?;
        let kept = if read.is_some() { KEPT } else { FAILED };
        (at.elapsed() < kept).then_some(read)
    }
}

/// Makes an answer, and makes it again when feeds were missing that can be had now.
///
/// # Errors
/// Those of `make`.
pub async fn with_feeds<T, E>(site: &Arc<Site>, make: impl Fn(&Missing) -> Result<T, E>) -> Result<T, E> {
    let missing = Missing::default();
    let mut made = make(&missing)?;
    for _ in 0..ROUNDS {
        let wanted = missing.take();
        if wanted.is_empty() {
            break;
        }
        fetch(site, wanted).await;
        made = make(&missing)?;
    }
    Ok(made)
}

/// Fetches feeds, several at a time.
async fn fetch(site: &Arc<Site>, addresses: BTreeSet<String>) {
    let mut under_way = JoinSet::new();
    for address in addresses {
        let site = Arc::clone(site);
        under_way.spawn(async move {
            let read = read(&site, &address).await;
            site.feeds.0.insert(address, (Instant::now(), read));
        });
    }
    while under_way.join_next().await.is_some() {}
}

async fn read(site: &Site, address: &str) -> Read {
    let allowed = site.settings().map(|settings| own(&settings)).unwrap_or_default();
    let get = Get::new(address).allow(allowed).within(TIME).at_most(BYTES).header("Accept", ACCEPTED);
    let answer = match site.outgoing.send(get).await {
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
