//! A minimal object store with the parts of the S3 API that uploads need, in memory.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
    net::SocketAddr,
    sync::{Arc, Mutex},
};

use axum::{
    Router,
    body::to_bytes,
    extract::{Request, State},
    response::{IntoResponse, Response},
};
use bytes::Bytes;
use http::{HeaderMap, Method, StatusCode, header};

/// The name of the only bucket, and the valid access key.
pub(crate) const BUCKET: &str = "files";
pub(crate) const KEY: &str = "test-key";

const MODIFIED: (&str, &str) = ("Wed, 01 May 2024 10:00:00 GMT", "2024-05-01T10:00:00.000Z");
/// Maximum size of a request, in bytes.
const MAX_BODY: usize = 64 << 20;

#[derive(Clone)]
struct Object {
    bytes: Bytes,
    tag: String,
}

#[derive(Default)]
struct S3State {
    objects: BTreeMap<String, Object>,
    /// Multipart uploads in progress: their parts by number.
    uploads: BTreeMap<String, BTreeMap<u32, Bytes>>,
    /// Number of parts received so far.
    parts: usize,
    tags: u64,
}

/// The object store. It stops with the test's runtime.
pub(crate) struct S3 {
    pub(crate) address: SocketAddr,
    state: Arc<Mutex<S3State>>,
}

impl S3 {
    pub(crate) async fn start() -> Self {
        let state = Arc::<Mutex<S3State>>::default();
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let router = Router::new().fallback(handle).with_state(Arc::clone(&state));
        tokio::spawn(async move { axum::serve(listener, router).await });
        S3 { address, state }
    }

    /// The names of all objects.
    pub(crate) fn names(&self) -> BTreeSet<String> {
        self.state.lock().unwrap().objects.keys().cloned().collect()
    }

    /// The number of multipart uploads in progress, and the number of parts received so far.
    pub(crate) fn uploads(&self) -> (usize, usize) {
        let state = self.state.lock().unwrap();
        (state.uploads.len(), state.parts)
    }
}

impl S3State {
    fn put(&mut self, name: &str, bytes: Bytes) -> Response {
        self.tags += 1;
        let tag = format!("\"{}\"", self.tags);
        self.objects.insert(name.to_owned(), Object { bytes, tag: tag.clone() });
        [(header::ETAG, tag)].into_response()
    }

    fn get(&self, name: &str, method: &Method, headers: &HeaderMap) -> Response {
        let Some(object) = self.objects.get(name) else { return StatusCode::NOT_FOUND.into_response() };
        let size = object.bytes.len();
        let common = [(header::ETAG, object.tag.clone()), (header::LAST_MODIFIED, MODIFIED.0.to_owned())];
        if *method == Method::HEAD {
            return (common, [(header::CONTENT_LENGTH, size.to_string())]).into_response();
        }
        let range = headers.get(header::RANGE).map(|v| v.to_str().unwrap().strip_prefix("bytes=").unwrap());
        let Some((first, last)) = range.and_then(|range| range.split_once('-')) else {
            return (common, object.bytes.clone()).into_response();
        };
        let (first, last): (usize, usize) = (first.parse().unwrap(), last.parse().unwrap());
        let part = object.bytes.slice(first..size.min(last + 1));
        let range = format!("bytes {first}-{}/{size}", first + part.len() - 1);
        (StatusCode::PARTIAL_CONTENT, common, [(header::CONTENT_RANGE, range)], part).into_response()
    }

    fn list(&self, query: &BTreeMap<String, String>) -> Response {
        let prefix = query.get("prefix").map_or("", String::as_str);
        let mut out = "<ListBucketResult>".to_owned();
        let mut folders = BTreeSet::new();
        for (name, object) in self.objects.iter().filter(|(name, _)| name.starts_with(prefix)) {
            match name[prefix.len()..].split_once('/').filter(|_| query.contains_key("delimiter")) {
                Some((folder, _)) => drop(folders.insert(format!("{prefix}{folder}/"))),
                None => {
                    let (size, tag) = (object.bytes.len(), object.tag.trim_matches('"'));
                    write!(
                        out,
                        "<Contents><Key>{name}</Key><Size>{size}</Size><LastModified>{}</LastModified><ETag>{tag}</ETag></Contents>",
                        MODIFIED.1
                    )
                    .unwrap();
                }
            }
        }
        for folder in folders {
            write!(out, "<CommonPrefixes><Prefix>{folder}</Prefix></CommonPrefixes>").unwrap();
        }
        xml(out + "</ListBucketResult>")
    }
}

fn xml(text: String) -> Response {
    ([(header::CONTENT_TYPE, "application/xml")], text).into_response()
}

/// The contents of all elements of this name, in order.
fn elements<'a>(text: &'a str, name: &str) -> Vec<&'a str> {
    let (open, close) = (format!("<{name}>"), format!("</{name}>"));
    text.split(&open).skip(1).filter_map(|rest| Some(rest.split_once(&close)?.0)).collect()
}

async fn handle(State(state): State<Arc<Mutex<S3State>>>, request: Request) -> Response {
    let (head, body) = request.into_parts();
    let signed = head.headers.get(header::AUTHORIZATION).and_then(|v| v.to_str().ok()).unwrap_or_default();
    if !signed.starts_with(&format!("AWS4-HMAC-SHA256 Credential={KEY}/")) || !signed.contains("Signature=") {
        return StatusCode::FORBIDDEN.into_response();
    }
    let body = to_bytes(body, MAX_BODY).await.unwrap();
    let pairs = head.uri.query().unwrap_or_default().split('&').map(|pair| pair.split_once('=').unwrap_or((pair, "")));
    let query: BTreeMap<String, String> = pairs.map(|(k, v)| (k.to_owned(), v.replace("%2F", "/"))).collect();
    let Some(name) = head.uri.path().strip_prefix(&format!("/{BUCKET}")) else {
        return StatusCode::NOT_FOUND.into_response();
    };
    let name = name.trim_start_matches('/');
    let mut state = state.lock().unwrap();
    let upload = query.get("uploadId");
    match head.method {
        Method::GET if name.is_empty() => state.list(&query),
        Method::GET | Method::HEAD => state.get(name, &head.method, &head.headers),
        Method::PUT => match (upload, query.get("partNumber")) {
            (Some(upload), Some(number)) => {
                state.parts += 1;
                let Some(parts) = state.uploads.get_mut(upload) else { return StatusCode::NOT_FOUND.into_response() };
                parts.insert(number.parse().unwrap(), body);
                [(header::ETAG, format!("\"part-{number}\""))].into_response()
            }
            _ if head.headers.contains_key(header::IF_NONE_MATCH) && state.objects.contains_key(name) => {
                StatusCode::PRECONDITION_FAILED.into_response()
            }
            _ => state.put(name, body),
        },
        Method::POST if query.contains_key("delete") => {
            let text = String::from_utf8(body.into()).unwrap();
            let mut out = "<DeleteResult>".to_owned();
            for name in elements(&text, "Key") {
                state.objects.remove(name);
                write!(out, "<Deleted><Key>{name}</Key></Deleted>").unwrap();
            }
            xml(out + "</DeleteResult>")
        }
        Method::POST if query.contains_key("uploads") => {
            state.tags += 1;
            let id = format!("upload-{}", state.tags);
            state.uploads.insert(id.clone(), BTreeMap::new());
            xml(format!("<InitiateMultipartUploadResult><UploadId>{id}</UploadId></InitiateMultipartUploadResult>"))
        }
        Method::POST => {
            let Some(parts) = upload.and_then(|upload| state.uploads.remove(upload)) else {
                return StatusCode::NOT_FOUND.into_response();
            };
            let whole: Vec<u8> = parts.into_values().flatten().collect();
            state.put(name, whole.into());
            let tag = &state.objects[name].tag;
            xml(format!("<CompleteMultipartUploadResult><ETag>{tag}</ETag></CompleteMultipartUploadResult>"))
        }
        Method::DELETE => {
            match upload {
                Some(upload) => drop(state.uploads.remove(upload)),
                None => drop(state.objects.remove(name)),
            }
            StatusCode::NO_CONTENT.into_response()
        }
        _ => StatusCode::METHOD_NOT_ALLOWED.into_response(),
    }
}
