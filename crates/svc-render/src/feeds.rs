//! Fetches, parses and caches external feeds for the RSS block.
//!
//! Blocks are rendered within a snapshot of the store, where waiting for the network is not allowed. A feed that is not
//! cached is recorded in [`MissingFeeds`]; the caller fetches the missing feeds after the snapshot has ended and renders again.
//!
//! Concurrent responses share one fetch per feed. A page may show one of the site's own feeds, whose rendering may need the
//! same page: requests of the server to itself carry [`FETCH_HEADER`], and their responses fetch nothing ([`OwnFetch`]).
//! Responses to writes never wait for feeds, which a job fetches ([`FetchFeeds`]).

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use svc_fetch::Get;
use svc_site::{
    http_client::own_origins,
    jobs::{Job, Next, Outcome, RunsOn},
};
use svc_versions::Context;
use tokio::{sync::Notify, task::JoinSet};

use crate::renderer::SiteRenderer;
pub use crate::renderer::{
    feed_cache::{FETCH_HEADER, FeedCache, FeedEntries, FeedEntry},
    missing::MissingFeeds,
};

/// Maximum number of renderings after the first one.
const MAX_RERENDERS: usize = 2;

/// Timeout and maximum size in bytes of a feed.
const TIMEOUT: Duration = Duration::from_secs(10);
const MAX_BYTES: u64 = 2 << 20;

/// Maximum number of cached entries of a feed, and of bytes of an entry's text.
const MAX_ENTRIES: usize = 20;
const MAX_TEXT: usize = 20 << 10;

/// Maximum number of feeds that are fetched at the same time in the background.
const PER_RUN: usize = 8;

/// A value of the context of requests that the server sends to itself: no feeds are fetched for their responses.
#[derive(Clone, Copy, Debug)]
pub struct OwnFetch;

/// Renders a response, and renders it again after fetching missing feeds.
///
/// # Errors
/// Errors of `render`.
pub async fn with_feeds<T, E>(
    cx: &Context,
    renderer: &Arc<SiteRenderer>,
    render: impl Fn(&MissingFeeds) -> Result<T, E>,
) -> Result<T, E> {
    let missing = MissingFeeds::default();
    let mut rendered = render(&missing)?;
    for _ in 0..MAX_RERENDERS {
        let urls = missing.take();
        if urls.is_empty() || cx.get::<OwnFetch>().is_some() {
            break;
        }
        fetch(cx, renderer, urls).await;
        rendered = render(&missing)?;
    }
    Ok(rendered)
}

/// Renders the response to a write with the cached feeds, and fetches the others in the background.
///
/// # Errors
/// Errors of `render`.
pub fn with_cached_feeds<T, E>(
    cx: &Context,
    renderer: &SiteRenderer,
    render: impl FnOnce(&MissingFeeds) -> Result<T, E>,
) -> Result<T, E> {
    let missing = MissingFeeds::default();
    let rendered = render(&missing)?;
    let urls = missing.take();
    if !urls.is_empty() && cx.get::<OwnFetch>().is_none() {
        renderer.feeds.request(urls);
    }
    Ok(rendered)
}

/// Fetches the feeds that responses to writes lacked.
pub struct FetchFeeds(pub Arc<SiteRenderer>);

impl Job for FetchFeeds {
    fn name(&self) -> &'static str {
        "fetch-feeds"
    }

    fn runs_on(&self) -> RunsOn {
        RunsOn::EachServer
    }

    fn wake(&self) -> Option<&Notify> {
        Some(self.0.feeds.wake())
    }

    async fn run(&self, cx: &Context) -> Outcome {
        let urls = self.0.feeds.take_requested(PER_RUN);
        if urls.is_empty() {
            return Ok(Next::Never);
        }
        fetch(cx, &self.0, urls).await;
        Ok(Next::After(Duration::ZERO))
    }
}

/// Fetches feeds concurrently.
async fn fetch(cx: &Context, renderer: &Arc<SiteRenderer>, urls: BTreeSet<String>) {
    let mut tasks = JoinSet::new();
    for url in urls {
        let (cx, renderer) = (cx.detached(), Arc::clone(renderer));
        tasks.spawn(async move {
            let read = async { read(&cx, &renderer, &url).await };
            renderer.feeds.fetch_once(url.clone(), read).await;
        });
    }
    while tasks.join_next().await.is_some() {}
}

async fn read(cx: &Context, renderer: &SiteRenderer, url: &str) -> FeedEntries {
    let allowed = renderer.site.settings(cx).map(|settings| own_origins(&settings)).unwrap_or_default();
    let get = Get::new(url).allow(allowed).within(TIMEOUT).max_bytes(MAX_BYTES).header("Accept", ACCEPTED);
    let get = get.header(FETCH_HEADER, renderer.feeds.token());
    let response = match renderer.site.services.http_client.send(get).await {
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
    let entries = tokio::task::spawn_blocking(move || entries(&response.body)).await;
    entries.ok().flatten().map(Arc::new)
}

/// Accepted content types.
const ACCEPTED: &str = "application/atom+xml, application/rss+xml, application/rdf+xml;q=0.9, application/xml;q=0.8, text/xml;q=0.8, */*;q=0.1";

/// The entries of an RSS, Atom or RDF document; `None` if it is none of these.
fn entries(document: &[u8]) -> Option<Vec<FeedEntry>> {
    let feed = feed_rs::parser::parse(document).ok()?;
    let plain = |html: &str| {
        let cut = html.get(..html.floor_char_boundary(MAX_TEXT)).unwrap_or_default();
        svc_text::trim(&svc_text::decode_references(&svc_text::strip_all_tags(cut, false))).to_owned()
    };
    let read = |entry: feed_rs::model::Entry| {
        let text = entry.summary.map(|text| text.content).or_else(|| entry.content.and_then(|content| content.body));
        let link = entry.links.iter().find(|link| link.rel.as_deref().is_none_or(|rel| rel == "alternate"));
        FeedEntry {
            title: entry.title.map(|title| plain(&title.content)).unwrap_or_default(),
            link: link.map(|link| link.href.clone()).unwrap_or_default(),
            date: entry.published.or(entry.updated).map(|date| date.naive_utc()),
            author: entry.authors.first().and_then(|author| author.name.as_deref()).map(plain).unwrap_or_default(),
            text: text.map(|text| plain(&text)).unwrap_or_default(),
        }
    };
    let mut entries: Vec<FeedEntry> = feed.entries.into_iter().map(read).collect();
    // Entries without a date stay in order at the end.
    entries.sort_by_key(|entry| std::cmp::Reverse(entry.date));
    entries.truncate(MAX_ENTRIES);
    Some(entries)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first(document: &str) -> FeedEntry {
        entries(document.as_bytes()).unwrap().remove(0)
    }

    #[test]
    fn parses_rss_atom_and_rdf() {
        let expected = |author: &str| FeedEntry {
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
        assert_eq!(entries(b"<html><body>no feed</body></html>"), None);
        assert_eq!(entries(b""), None);
    }

    #[test]
    fn long_feeds_are_truncated() {
        let item = format!("<item><title>t</title><description>{}</description></item>", "x".repeat(2 * MAX_TEXT));
        let many = format!("<rss version=\"2.0\"><channel><title>F</title>{}</channel></rss>", item.repeat(50));
        let read = entries(many.as_bytes()).unwrap();
        assert_eq!((read.len(), read[0].text.len()), (MAX_ENTRIES, MAX_TEXT));
    }
}
