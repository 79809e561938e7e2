//! Compresses responses for clients that accept it.
//!
//! A body that is sent repeatedly, such as a cached response, is compressed once: its encoded form is found by the memory that
//! holds the body. Handlers and caches know nothing about it.
//!
//! A strong entity tag names one sequence of bytes. That of a compressed response therefore gets a suffix, which is removed
//! from the tags that clients send back.

use std::{
    hash::{BuildHasher, RandomState},
    io::Write as _,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    task::{Context, Poll, Waker},
};

use axum::{
    body::Body,
    response::{IntoResponse as _, Response},
};
use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Request, StatusCode, header};
use http_body::Body as _;
use quick_cache::{Weighter, sync::Cache};
use tower::{Layer as _, ServiceExt as _, service_fn};
use tower_http::{CompressionLevel, compression::CompressionLayer};

/// Minimum size for compression, in bytes. Compressing smaller bodies costs more than it saves.
const MIN_SIZE: u64 = 1_024;

/// Maximum size of a body that is compressed as a whole. Larger ones are compressed while they are sent.
const MAX_WHOLE: u64 = 1 << 20;

/// Maximum size of a body that is compressed where the connection is served; it takes less than a millisecond.
const MAX_INLINE: usize = 32 << 10;

/// Expected number of encoded bodies; the initial size of the table.
const EXPECTED: usize = 256;

/// Size of the table of recently compressed bodies.
const N_RECENT: usize = 1_024;

/// Compression level. Brotli above 5 costs more time than the network saves.
const LEVEL: u32 = 4;

/// Window of brotli, as a power of two. The largest bodies that are compressed as a whole fit in.
const BROTLI_WINDOW: u32 = 20;

/// Media types that are compressed already: prefixes.
const COMPRESSED: [&str; 7] =
    ["image/", "video/", "audio/", "font/woff", "application/zip", "application/gzip", "application/grpc"];

/// The media type of streams of events, of which each part must reach the client at once.
const EVENTS: &str = "text/event-stream";

/// An encoding of a body. Later ones are preferred.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Encoding {
    Gzip,
    Brotli,
}

impl Encoding {
    const ALL: [Encoding; 2] = [Encoding::Gzip, Encoding::Brotli];

    fn name(self) -> &'static str {
        match self {
            Encoding::Gzip => "gzip",
            Encoding::Brotli => "br",
        }
    }

    /// End of the entity tags of responses with this encoding.
    fn tag_end(self) -> &'static str {
        match self {
            Encoding::Gzip => "-gzip\"",
            Encoding::Brotli => "-br\"",
        }
    }

    fn encode(self, body: &[u8]) -> std::io::Result<Vec<u8>> {
        let out = Vec::with_capacity(body.len() / 4);
        match self {
            Encoding::Gzip => {
                let mut writer = flate2::write::GzEncoder::new(out, flate2::Compression::new(LEVEL));
                writer.write_all(body)?;
                writer.finish()
            }
            Encoding::Brotli => {
                let mut writer = brotli::CompressorWriter::new(out, body.len(), LEVEL, BROTLI_WINDOW);
                writer.write_all(body)?;
                writer.flush()?;
                Ok(writer.into_inner())
            }
        }
    }
}

/// The encoding that a client accepts, and whether its entity tags were those of a compressed response.
pub(crate) struct Accepted {
    encoding: Option<Encoding>,
    tag: Option<Encoding>,
}

impl Accepted {
    /// Reads the encoding that the client prefers, and removes the suffixes of entity tags.
    ///
    /// A client that rejects even uncompressed bodies gets one, not a 406 after its change was made.
    pub(crate) fn take(headers: &mut HeaderMap) -> Self {
        let tag = [header::IF_NONE_MATCH, header::IF_MATCH]
            .into_iter()
            .filter_map(|name| remove_tag_ends(headers, &name))
            .reduce(|first, _| first);
        let values = headers.get_all(header::ACCEPT_ENCODING).iter().filter_map(|value| value.to_str().ok());
        let encodings = values.flat_map(|value| value.split(',')).filter_map(|item| {
            let mut parts = item.split(';').map(str::trim);
            let name = parts.next().unwrap_or_default();
            let encoding = Encoding::ALL.into_iter().find(|encoding| name.eq_ignore_ascii_case(encoding.name()))?;
            let quality = parts.find_map(|part| part.strip_prefix("q=")).unwrap_or("1").parse::<f32>().unwrap_or(0.0);
            // A quality has three decimals.
            (quality > 0.0).then_some(((quality * 1_000.0) as u32, encoding))
        });
        let encoding = encodings.max().map(|(_, encoding)| encoding);
        Accepted { encoding, tag }
    }
}

/// Removes the suffixes of [`Encoding::tag_end`] from a header with entity tags. Returns the encoding of one of them.
fn remove_tag_ends(headers: &mut HeaderMap, name: &HeaderName) -> Option<Encoding> {
    if !headers.contains_key(name) {
        return None;
    }
    let mut removed = None;
    for encoding in Encoding::ALL {
        let values: Vec<&str> = headers.get_all(name).iter().filter_map(|value| value.to_str().ok()).collect();
        if !values.iter().any(|value| value.contains(encoding.tag_end())) {
            continue;
        }
        let all = values.join(", ").replace(encoding.tag_end(), "\"");
        if let Ok(value) = HeaderValue::from_str(&all) {
            headers.insert(name, value);
            removed = Some(encoding);
        }
    }
    removed
}

/// Adds the encoding to a strong entity tag.
fn add_tag_end(headers: &mut HeaderMap, encoding: Encoding) {
    let tag = headers.get(header::ETAG).and_then(|tag| tag.to_str().ok()?.strip_suffix('"'));
    let Some(tag) = tag.filter(|tag| tag.starts_with('"')) else { return };
    if let Ok(value) = HeaderValue::from_str(&format!("{tag}{}", encoding.tag_end())) {
        headers.insert(header::ETAG, value);
    }
}

/// Compresses responses, and stores the encoded bodies of those that are sent repeatedly. Clones share them.
#[derive(Clone)]
pub struct Compression(Arc<Inner>);

struct Inner {
    encoded: Cache<Key, Arc<Encoded>, Weight>,
    /// Fingerprints of bodies that were compressed. A second request for the same body stores it.
    recent: Box<[AtomicU64]>,
    hasher: RandomState,
    n_hits: AtomicU64,
    n_misses: AtomicU64,
}

/// How much the stored bodies of a [`Compression`] are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CompressionUsage {
    /// Stored bodies.
    pub entries: usize,
    /// Compressed responses that were stored.
    pub hits: u64,
    /// Responses that had to be compressed.
    pub misses: u64,
    /// Size of the stored bodies with their originals, in bytes.
    pub bytes: u64,
}

/// Address and length of a body, and the encoding. The address is that of the body as long as the entry holds it.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Key {
    address: usize,
    length: usize,
    encoding: Encoding,
}

struct Encoded {
    /// Held so that no other body can have its address.
    original: Bytes,
    body: Bytes,
}

#[derive(Clone)]
struct Weight;

impl Weighter<Key, Arc<Encoded>> for Weight {
    fn weight(&self, _: &Key, entry: &Arc<Encoded>) -> u64 {
        (entry.original.len() + entry.body.len() + size_of::<Encoded>() + size_of::<Key>()) as u64
    }
}

impl Default for Compression {
    /// Stores at most 8 MB.
    fn default() -> Self {
        Self::new(8 << 20)
    }
}

impl std::fmt::Debug for Compression {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Compression").field(&self.usage()).finish()
    }
}

impl Compression {
    /// Stores at most this many bytes of encoded bodies and their originals.
    pub fn new(capacity: u64) -> Self {
        Compression(Arc::new(Inner {
            encoded: Cache::with_weighter(EXPECTED, capacity, Weight),
            recent: std::iter::repeat_with(AtomicU64::default).take(N_RECENT).collect(),
            hasher: RandomState::new(),
            n_hits: AtomicU64::default(),
            n_misses: AtomicU64::default(),
        }))
    }

    /// Use of the stored bodies since the start.
    pub fn usage(&self) -> CompressionUsage {
        let (hits, misses) = (self.0.n_hits.load(Ordering::Relaxed), self.0.n_misses.load(Ordering::Relaxed));
        CompressionUsage { entries: self.0.encoded.len(), hits, misses, bytes: self.0.encoded.weight() }
    }

    /// Compresses the body if the client accepts it and the body is worth it.
    pub(crate) async fn compress(&self, accepted: Accepted, mut response: Response) -> Response {
        if let Some(tag) = accepted.tag.filter(|_| response.status() == StatusCode::NOT_MODIFIED) {
            add_tag_end(response.headers_mut(), tag);
            vary(response.headers_mut());
        }
        match accepted.encoding {
            // Allocated, so that the futures of other requests are small.
            Some(encoding) if is_compressible(&response) => Box::pin(self.with_encoding(encoding, response)).await,
            _ => response,
        }
    }

    async fn with_encoding(&self, encoding: Encoding, response: Response) -> Response {
        let (parts, body) = response.into_parts();
        match whole(body) {
            Ok(body) => match self.encode(encoding, body.clone()).await {
                Some(encoded) => with_encoding(Response::from_parts(parts, Body::from(encoded)), encoding),
                None => Response::from_parts(parts, Body::from(body)),
            },
            Err(body) => stream(Response::from_parts(parts, body), encoding).await,
        }
    }

    /// The encoded body; `None` if it would not be smaller.
    async fn encode(&self, encoding: Encoding, body: Bytes) -> Option<Bytes> {
        let key = Key { address: body.as_ptr() as usize, length: body.len(), encoding };
        if let Some(entry) = self.0.encoded.get(&key) {
            self.0.n_hits.fetch_add(1, Ordering::Relaxed);
            return Some(entry.body.clone());
        }
        self.0.n_misses.fetch_add(1, Ordering::Relaxed);
        let original = body.clone();
        let encode = move || encoding.encode(&body);
        let encoded = match original.len() <= MAX_INLINE {
            true => encode(),
            false => tokio::task::spawn_blocking(encode).await.ok()?,
        };
        let encoded = Bytes::from(encoded.ok()?.into_boxed_slice());
        if encoded.len() >= original.len() {
            return None;
        }
        if self.is_repeated(&key) {
            self.0.encoded.insert(key, Arc::new(Encoded { original, body: encoded.clone() }));
        }
        Some(encoded)
    }

    /// Whether a body with this key was compressed recently. A body that has the memory of a previous one may be taken for it,
    /// and is then stored one request too early.
    fn is_repeated(&self, key: &Key) -> bool {
        let fingerprint = self.0.hasher.hash_one(key);
        let slot = &self.0.recent[fingerprint as usize % N_RECENT];
        slot.swap(fingerprint, Ordering::Relaxed) == fingerprint
    }
}

/// Whether a media type begins with this one.
fn begins_with(value: &HeaderValue, kind: &str) -> bool {
    value.as_bytes().get(..kind.len()).is_some_and(|start| start.eq_ignore_ascii_case(kind.as_bytes()))
}

/// Whether this is the media type of streams of events.
pub(crate) fn is_events(content_type: &HeaderValue) -> bool {
    begins_with(content_type, EVENTS)
}

/// Whether the response has a body that compression makes smaller.
fn is_compressible(response: &Response) -> bool {
    let headers = response.headers();
    let is_type = |kind: &&str| headers.get(header::CONTENT_TYPE).is_some_and(|value| begins_with(value, kind));
    let size = response.body().size_hint();
    // Files have no exact size, but a `Content-Length`.
    let length = headers.get(header::CONTENT_LENGTH).and_then(|n| n.to_str().ok()?.parse::<u64>().ok());
    let size = size.exact().or(length).unwrap_or(MIN_SIZE);
    size >= MIN_SIZE
        && !response.body().is_end_stream()
        && !headers.contains_key(header::CONTENT_ENCODING)
        && !headers.contains_key(header::CONTENT_RANGE)
        && !COMPRESSED.iter().chain(&[EVENTS]).any(is_type)
}

/// The whole body, if it is in memory and not too large. Otherwise the body is returned as it was.
fn whole(mut body: Body) -> Result<Bytes, Body> {
    let Some(length) = body.size_hint().exact().filter(|length| *length <= MAX_WHOLE) else { return Err(body) };
    let Poll::Ready(Some(Ok(frame))) = Pin::new(&mut body).poll_frame(&mut Context::from_waker(Waker::noop())) else {
        // The body is polled again by the connection, with its own waker.
        return Err(body);
    };
    match frame.into_data() {
        Ok(data) if data.len() as u64 == length => Ok(data),
        Ok(data) => Err(Body::new(Rest { first: Some(data), rest: body })),
        // Without data before the trailers, the length is zero, which is too small for compression.
        Err(_trailers) => Err(body),
    }
}

/// A body whose first data has been read.
struct Rest {
    first: Option<Bytes>,
    rest: Body,
}

impl http_body::Body for Rest {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<http_body::Frame<Bytes>, axum::Error>>> {
        match self.first.take() {
            Some(data) => Poll::Ready(Some(Ok(http_body::Frame::data(data)))),
            None => Pin::new(&mut self.rest).poll_frame(context),
        }
    }
}

/// Compresses a body while it is sent.
async fn stream(response: Response, encoding: Encoding) -> Response {
    let mut request = Request::new(Body::empty());
    request.headers_mut().insert(header::ACCEPT_ENCODING, HeaderValue::from_static(encoding.name()));
    let mut response = Some(response);
    let service = service_fn(move |_: Request<Body>| {
        std::future::ready(Ok::<_, std::convert::Infallible>(response.take().unwrap_or_default()))
    });
    let layer = CompressionLayer::new()
        .quality(CompressionLevel::Precise(LEVEL as i32))
        .compress_when(tower_http::compression::predicate::SizeAbove::new(0));
    match layer.layer(service).oneshot(request).await {
        Ok(response) => {
            let mut response = response.into_response();
            add_tag_end(response.headers_mut(), encoding);
            response
        }
    }
}

/// Describes an encoded body.
fn with_encoding(mut response: Response, encoding: Encoding) -> Response {
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static(encoding.name()));
    // The length is that of the body, and ranges would be those of the original.
    headers.remove(header::CONTENT_LENGTH);
    headers.remove(header::ACCEPT_RANGES);
    add_tag_end(headers, encoding);
    vary(headers);
    response
}

/// Adds the header to `Vary`, once.
fn vary(headers: &mut HeaderMap) {
    let name = header::ACCEPT_ENCODING;
    let is_there = headers.get_all(header::VARY).iter().any(|value| {
        let names = value.to_str().unwrap_or_default().split(',');
        names.map(str::trim).any(|other| other == "*" || other.eq_ignore_ascii_case(name.as_str()))
    });
    if !is_there {
        headers.append(header::VARY, HeaderValue::from_static("accept-encoding"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CAPACITY: u64 = 16 << 20;

    fn accepted(headers: &[(HeaderName, &'static str)]) -> (Accepted, HeaderMap) {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(name, HeaderValue::from_static(value));
        }
        (Accepted::take(&mut map), map)
    }

    #[test]
    fn chooses_what_the_client_prefers() {
        for (header, expected) in [
            ("gzip", Some(Encoding::Gzip)),
            ("gzip, deflate, br", Some(Encoding::Brotli)),
            ("br;q=0.5, GZIP; q=0.8", Some(Encoding::Gzip)),
            ("br;q=0, gzip;q=0.001", Some(Encoding::Gzip)),
            ("gzip;q=0", None),
            ("identity, *;q=0", None),
            ("zstd", None),
        ] {
            assert_eq!(accepted(&[(header::ACCEPT_ENCODING, header)]).0.encoding, expected, "{header}");
        }
    }

    #[test]
    fn entity_tags_are_those_of_the_original() {
        let (accepted, headers) =
            accepted(&[(header::IF_NONE_MATCH, "\"a-gzip\", W/\"b\""), (header::IF_NONE_MATCH, "\"c-gzip\"")]);
        assert_eq!(headers[header::IF_NONE_MATCH], "\"a\", W/\"b\", \"c\"");
        assert_eq!(accepted.tag, Some(Encoding::Gzip));
        let mut tags = HeaderMap::from_iter([(header::ETAG, HeaderValue::from_static("\"a\""))]);
        add_tag_end(&mut tags, Encoding::Brotli);
        assert_eq!(tags[header::ETAG], "\"a-br\"");
        let mut weak = HeaderMap::from_iter([(header::ETAG, HeaderValue::from_static("W/\"a\""))]);
        add_tag_end(&mut weak, Encoding::Brotli);
        assert_eq!(weak[header::ETAG], "W/\"a\"");
    }

    #[tokio::test]
    async fn repeated_bodies_are_compressed_once() {
        let compression = Compression::new(CAPACITY);
        let body = Bytes::from("a sentence that repeats. ".repeat(2_000));
        let send = async |body: &Bytes, encoding| {
            let response = Response::new(Body::from(body.clone()));
            let response = compression.compress(Accepted { encoding: Some(encoding), tag: None }, response).await;
            assert_eq!(response.headers()[header::CONTENT_ENCODING], encoding.name());
            whole(response.into_body()).map_err(|_| "a stream").unwrap()
        };
        for encoding in Encoding::ALL {
            let (first, second, third) =
                (send(&body, encoding).await, send(&body, encoding).await, send(&body, encoding).await);
            assert!(first == second && first.as_ptr() != second.as_ptr());
            assert_eq!(second.as_ptr(), third.as_ptr(), "{encoding:?}: from the cache");
        }
        let other = Bytes::from("another sentence that repeats. ".repeat(2_000));
        assert_ne!(send(&other, Encoding::Gzip).await, send(&body, Encoding::Gzip).await);
        assert_eq!(compression.0.encoded.len(), 2);
        let CompressionUsage { hits, misses, bytes, .. } = compression.usage();
        assert!((hits, misses) == (3, 5) && bytes > 2 * body.len() as u64, "{hits} {misses} {bytes}");
    }

    #[test]
    fn encoded_bodies_are_bounded_in_bytes() {
        let cache = Compression::new(CAPACITY);
        let original = Bytes::from(vec![0; 1 << 20]);
        for address in 0..64 {
            let key = Key { address, length: original.len(), encoding: Encoding::Gzip };
            cache.0.encoded.insert(key, Arc::new(Encoded { original: original.clone(), body: Bytes::new() }));
        }
        assert!(cache.usage().bytes <= CAPACITY && cache.usage().bytes > CAPACITY / 2, "{}", cache.usage().bytes);
    }

    #[tokio::test]
    async fn decoded_bodies_are_the_originals() {
        use std::io::Read as _;
        let body = (0..20_000).map(|n: u32| n.to_string()).collect::<String>();
        let mut text = String::new();
        let gzip = Encoding::Gzip.encode(body.as_bytes()).unwrap();
        flate2::read::GzDecoder::new(&*gzip).read_to_string(&mut text).unwrap();
        assert_eq!(text, body);
        text.clear();
        let brotli = Encoding::Brotli.encode(body.as_bytes()).unwrap();
        brotli::Decompressor::new(&*brotli, 4_096).read_to_string(&mut text).unwrap();
        assert_eq!(text, body);
    }

    #[tokio::test]
    async fn bodies_in_parts_are_sent_whole() {
        let parts = ["a".repeat(2_000), "b".repeat(2_000)].map(|part| Ok::<_, std::io::Error>(Bytes::from(part)));
        let stream = Body::from_stream(futures_util::stream::iter(parts));
        let response = Compression::new(CAPACITY)
            .compress(Accepted { encoding: Some(Encoding::Gzip), tag: None }, Response::new(stream))
            .await;
        assert_eq!(response.headers()[header::CONTENT_ENCODING], "gzip");
        let body = http_body_util::BodyExt::collect(response.into_body()).await.unwrap().to_bytes();
        let mut text = String::new();
        std::io::Read::read_to_string(&mut flate2::read::GzDecoder::new(&*body), &mut text).unwrap();
        assert_eq!(text, format!("{}{}", "a".repeat(2_000), "b".repeat(2_000)));
    }

    #[tokio::test]
    async fn not_modified_names_the_tag_of_the_client() {
        let mut response = Response::new(Body::empty());
        *response.status_mut() = StatusCode::NOT_MODIFIED;
        response.headers_mut().insert(header::ETAG, HeaderValue::from_static("\"a\""));
        let (accepted, _) = accepted(&[(header::IF_NONE_MATCH, "\"a-br\"")]);
        let response = Compression::new(CAPACITY).compress(accepted, response).await;
        assert_eq!(response.headers()[header::ETAG], "\"a-br\"");
        assert_eq!(response.headers()[header::VARY], "accept-encoding");
    }
}
