//! Memory use of a request body, from its first byte to the end of the response.

#![expect(clippy::unwrap_used, reason = "helpers of tests, outside of test functions")]

use bytes::Bytes;
use futures_util::StreamExt;
use http::{Request as HttpRequest, StatusCode};
use http_body::Frame;
use http_body_util::{BodyExt, StreamBody};
use peak_alloc::PeakAlloc;
use serde_json::json;
use svc_http::{RequestLimits, RestService};
use svc_routing::{Registry, Request, Result, Route, on, public};
use svc_schema::Args;
use svc_schema::build::{string, types};
use tower::ServiceExt;

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

/// Largest JSON or form body that the service accepts.
const LARGEST: usize = 8 << 20;

/// Memory allowance of a body of many short values in addition to its size: each of the permitted values takes up to
/// about 300 bytes.
const FLOOR: usize = 32 << 20;

async fn echo(req: Request) -> Result {
    let length = |name| req.param(name).map(|value| value.as_str().map_or(0, str::len));
    Ok(json!({ "a": length("a"), "k1": req.has_param("k1"), "json": req.json().is_some() }).into())
}

fn service(limits: RequestLimits) -> RestService {
    let any = types(["string", "array", "object", "integer", "null"]);
    let args = Args::new().with("a", any).with("k1", string());
    let mut registry = Registry::new();
    registry.route("a/v1", Route::new("/known").endpoint(on("POST, PUT", echo, public).args(args))).unwrap();
    RestService::builder().limits(limits).build(registry.build())
}

/// `part`, repeated with commas up to this size.
fn repeated(size: usize, before: &str, part: &str, after: &str) -> String {
    let n = (size - before.len() - after.len() + 1) / (part.len() + 1);
    let mut text = String::with_capacity(size);
    text.push_str(before);
    for idx in 0..n {
        text.push_str(if idx == 0 { "" } else { "," });
        text.push_str(part);
    }
    text + after
}

/// Properties or fields of different names, up to this size.
fn numbered(size: usize, part: impl Fn(usize) -> String, separator: &str) -> String {
    let mut text = String::new();
    for idx in 0.. {
        let next = part(idx);
        if text.len() + next.len() + 3 > size {
            break;
        }
        text.push_str(if idx == 0 { "" } else { separator });
        text.push_str(&next);
    }
    text
}

const JSON: &str = "application/json";
const FORM: &str = "application/x-www-form-urlencoded";
const MULTIPART: &str = "multipart/form-data; boundary=XX";

fn bodies(size: usize) -> Vec<(&'static str, &'static str, String)> {
    let nest = |n: usize| format!("{}{}", "[".repeat(n), "]".repeat(n));
    let part = |name: String, text: String| {
        format!("--XX\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{text}\r\n")
    };
    vec![
        ("numbers", JSON, repeated(size, "[", "1", "]")),
        ("lists", JSON, repeated(size, "[", "[]", "]")),
        ("lists of one", JSON, repeated(size, "[", "[0]", "]")),
        ("objects of one", JSON, repeated(size, "[", r#"{"a":0}"#, "]")),
        ("a property with a list of numbers", JSON, repeated(size, r#"{"a":["#, "1", "]}")),
        ("properties", JSON, format!("{{{}}}", numbered(size, |n| format!("\"k{n}\":1"), ","))),
        ("deep lists", JSON, repeated(size, "[", &nest(500), "]")),
        ("one text", JSON, format!(r#"{{"a":"{}"}}"#, "x".repeat(size - 8))),
        ("escapes", JSON, format!(r#"{{"a":"{}"}}"#, "\\n".repeat(size / 2 - 8))),
        ("unicode escapes", JSON, format!(r#"{{"a":"{}"}}"#, "\\u00e9".repeat(size / 6 - 8))),
        ("long texts", JSON, repeated(size, "[", &format!("\"{}\"", "x".repeat(100)), "]")),
        ("a form of many fields", FORM, numbered(size, |n| format!("k{n}={n}"), "&")),
        ("a form of deep fields", FORM, numbered(size, |n| format!("k{n}{}=1", "[a]".repeat(64)), "&")),
        ("a form of one field", FORM, format!("a={}", "x".repeat(size - 2))),
        ("an encoded form", FORM, format!("a={}", "%41".repeat(size / 3 - 2))),
        ("parts", MULTIPART, numbered(size - 8, |n| part(format!("k{n}"), "1".to_owned()), "") + "--XX--\r\n"),
        ("one part", MULTIPART, part("a".to_owned(), "\u{e9}".repeat(size / 2 - 100)) + "--XX--\r\n"),
    ]
}

/// Sends a body in chunks as they would arrive. Returns the status and the peak memory use.
async fn send(service: &RestService, path: &str, kind: &str, body: &Bytes) -> (StatusCode, usize) {
    let chunks: Vec<_> = body.chunks(16 << 10).map(|chunk| body.slice_ref(chunk)).collect();
    let frames = futures_util::stream::iter(chunks).map(|chunk| {
        // As with a socket, each chunk has memory of its own.
        Ok::<_, std::io::Error>(Frame::data(Bytes::copy_from_slice(&chunk)))
    });
    let before = MEMORY.current_usage();
    MEMORY.reset_peak_usage();
    let request = HttpRequest::post(path).header("content-type", kind).body(StreamBody::new(frames)).unwrap();
    let response = service.clone().oneshot(request).await.unwrap();
    let status = response.status();
    drop(response.into_body().collect().await.unwrap());
    (status, MEMORY.peak_usage().saturating_sub(before))
}

/// A single test, because memory is measured for the whole process.
#[tokio::test]
async fn bodies_use_at_most_eight_times_their_size() {
    let whole = service(RequestLimits::default());
    for (size, paths) in [(1 << 20, ["/a/v1/known", "/a/v1/unknown"].as_slice()), (LARGEST, &["/a/v1/known"])] {
        for (what, kind, body) in bodies(size) {
            assert!(body.len() <= LARGEST && body.len() * 2 > size, "{what}: {} bytes", body.len());
            let body = Bytes::from(body);
            for path in paths {
                let (status, peak) = send(&whole, path, kind, &body).await;
                let allowed = (8 * body.len()).max(FLOOR);
                assert!(peak <= allowed, "{what}, {} bytes to {path}: {status}, {peak} bytes of memory", body.len());
                assert!(!status.is_server_error(), "{what} to {path}: {status}");
            }
        }
    }
    let (status, _) = send(&whole, "/a/v1/known", JSON, &Bytes::from(repeated(LARGEST, "[", "1", "]"))).await;
    assert_eq!(status, StatusCode::PAYLOAD_TOO_LARGE);

    // The service reads as many values as the limit allows, and no more.
    let limits = RequestLimits { values: 5, ..RequestLimits::default() };
    let service = service(limits);
    for (body, status) in [("[1,2,3,4]", 200), ("[1,2,3,4,5]", 413), (r#"{"a":[[],{}],"b":1}"#, 200)] {
        let (got, _) = send(&service, "/a/v1/known", JSON, &Bytes::from(body)).await;
        assert_eq!(got, status, "{body}");
    }
}
