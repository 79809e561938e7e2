//! The fuzz targets and their assertions. The integration tests run the stored inputs through the same functions.

pub mod requests;
pub mod values;

use std::{cell::OnceCell, sync::OnceLock};

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use serde_json::json;
use svc_content::{RenderContext, blocks, display, kses, shortcodes::Shortcodes};
use svc_http::RestService;
use svc_routing::{Registry, Request, Response, Route, on, public};
use svc_store::{DatabaseUrl, Store, StoreConfig, import::ImportOptions};
use tower::ServiceExt;

/// A fuzz target: accepts any bytes and panics if an assertion fails.
pub type Target = fn(&[u8]);

/// All targets, by the names of their corpus directories.
pub const TARGETS: &[(&str, Target)] = &[
    ("block_parser", block_parser),
    ("dates", values::dates),
    ("dispatch", requests::dispatch),
    ("gateway_requests", requests::gateway_requests),
    ("html_filter", html_filter),
    ("json_output", values::json_output),
    ("multipart", multipart),
    ("parameters", requests::parameters),
    ("php_serialized", php_serialized),
    ("query_strings", values::query_strings),
    ("schema", values::schema),
    ("shortcodes", shortcodes),
    ("sql_dump", sql_dump),
];

/// The first line without its end, and the rest.
fn first_line(data: &[u8]) -> (&[u8], &[u8]) {
    match data.iter().position(|b| *b == b'\n') {
        Some(end) => (&data[..end], &data[end + 1..]),
        None => (data, &[]),
    }
}

fn text(data: &[u8]) -> String {
    String::from_utf8_lossy(data).into_owned()
}

/// Parses and serializes blocks: the output is linear in the input, also for unclosed blocks. Renders the content.
pub fn block_parser(data: &[u8]) {
    let text = text(data);
    let written = blocks::serialize_blocks(&blocks::parse(&text));
    assert!(written.len() <= 16 * text.len() + 4096, "{} bytes of {}", written.len(), text.len());
    display::render_content(&text, &RenderContext::default());
}

/// Filters HTML, and filters the result again.
pub fn html_filter(data: &[u8]) {
    let text = text(data);
    let passed = kses::post(&text);
    assert!(!passed.contains('\0'), "the result contains a NUL byte");
    kses::data(&passed);
    let stripped = kses::strip(&text);
    assert!(!stripped.contains("<a"), "the result contains a tag");
}

/// Runs and strips shortcodes.
pub fn shortcodes(data: &[u8]) {
    static STANDARD: OnceLock<Shortcodes> = OnceLock::new();
    let standard = STANDARD.get_or_init(Shortcodes::standard);
    let text = text(data);
    standard.run(&text, &Default::default());
    // A bracket inside a tag becomes a character reference of five bytes.
    assert!(standard.strip(&text).len() <= 5 * text.len(), "stripped text is too long");
}

/// Parses and serializes values: serializing a parsed value again gives the same bytes.
pub fn php_serialized(data: &[u8]) {
    if let Ok(value) = svc_php::serialize::unserialize(data) {
        let written = svc_php::serialize::serialize(&value);
        let again = svc_php::serialize::unserialize(&written).expect("serialized values can be parsed");
        assert_eq!(svc_php::serialize::serialize(&again), written, "serializing is not stable");
    }
}

async fn echo(req: Request) -> svc_routing::Result {
    let files: Vec<_> = req.files().iter().map(|file| json!(file.name)).collect();
    Ok(Response::new(json!({ "files": files })))
}

/// Sends a multipart body through the whole service. The response is never a 500.
pub fn multipart(data: &[u8]) {
    thread_local! {
        static SERVICE: OnceCell<(tokio::runtime::Runtime, RestService)> = const { OnceCell::new() };
    }
    SERVICE.with(|service| {
        let (runtime, service) = service.get_or_init(|| {
            let mut registry = Registry::new();
            let route = Route::new("/echo").endpoint(on("POST", echo, public));
            registry.route("fuzz/v1", route).expect("the route has a namespace and a path");
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
            (runtime, RestService::new(registry.build()))
        });
        // The first line of the input is the boundary.
        let (boundary, body) = match data.iter().position(|b| *b == b'\n') {
            Some(end) if end < 80 => (text(&data[..end]), &data[end + 1..]),
            _ => ("b".to_owned(), data),
        };
        let request = http::Request::post("/svc-json/fuzz/v1/echo")
            .header("content-type", format!("multipart/form-data; boundary={boundary}"))
            .body(Full::new(Bytes::copy_from_slice(body)));
        let Ok(request) = request else { return };
        runtime.block_on(async {
            let response = service.clone().oneshot(request).await.expect("the service is infallible");
            assert!(response.status().as_u16() != 500, "a malformed body must be a client error");
            response.into_body().collect().await.map(drop).unwrap_or_default();
        });
    });
}

/// Imports a dump, or rejects it.
pub fn sql_dump(data: &[u8]) {
    thread_local! {
        static STORE: Store = Store::open(&StoreConfig::new(DatabaseUrl::Temporary)).expect("an empty store");
    }
    STORE.with(|store| {
        let options = ImportOptions { overwrite: true, ..ImportOptions::default() };
        let _ = store.import(data, options);
    });
}
