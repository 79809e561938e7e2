//! Middleware for all requests: see [`middleware_stack`] for the order.

use std::any::Any;

use axum::{
    Router,
    body::Body,
    extract::Request,
    middleware::{Next, from_fn, from_fn_with_state, map_response},
    response::{IntoResponse, Response},
};
use http::{HeaderValue, StatusCode, header};
use tower_http::{
    CompressionLevel,
    catch_panic::CatchPanicLayer,
    compression::{
        CompressionLayer,
        predicate::{NotForContentType, Predicate, SizeAbove},
    },
    limit::RequestBodyLimitLayer,
    sensitive_headers::SetSensitiveRequestHeadersLayer,
    timeout::TimeoutLayer,
};

use crate::{
    forwarding::{self, Forwarding},
    limits::Limits,
    log,
};

/// Minimum size for compression, in bytes. Compressing smaller bodies costs more than it saves.
const COMPRESS_FROM: u64 = 1024;

/// Compression level. Brotli above 5 costs more time than the network saves.
const EFFORT: i32 = 4;

/// `Retry-After` of 503 responses, in seconds.
const RETRY_AFTER: HeaderValue = HeaderValue::from_static("5");

/// Wraps a router in middleware, outermost first: client address, request id and log, compression, `Retry-After`, panic handler,
/// time limit, body limit.
pub fn middleware_stack(router: Router, limits: &Limits) -> Router {
    let images = NotForContentType::const_new("image/");
    let media = NotForContentType::const_new("video/").and(NotForContentType::const_new("audio/"));
    let compression = CompressionLayer::new()
        .quality(CompressionLevel::Precise(EFFORT))
        .compress_when(SizeAbove::new(COMPRESS_FROM).and(images).and(media));
    let body = usize::try_from(limits.body).unwrap_or(usize::MAX);
    router
        .layer(RequestBodyLimitLayer::new(body))
        .layer(TimeoutLayer::with_status_code(StatusCode::SERVICE_UNAVAILABLE, limits.request))
        .layer(CatchPanicLayer::custom(panicked))
        .layer(map_response(retry_after))
        .layer(compression)
        .layer(from_fn(encoding))
        .layer(from_fn(entity_tags))
        .layer(from_fn(log::record))
        .layer(from_fn_with_state(Forwarding::new(&limits.trusted), forwarding::identify))
        .layer(SetSensitiveRequestHeadersLayer::new([
            header::AUTHORIZATION,
            header::COOKIE,
            header::PROXY_AUTHORIZATION,
        ]))
}

/// Names the variant of an entity tag that belongs to a compressed body, so that the tag remains strong: `"x"` becomes
/// `"x-gzip"`. Handlers see and return the tags of uncompressed bodies. A 304 has the tag that the client sent.
///
/// `If-Range` is left alone: ranges are of uncompressed bodies, which a compressed variant must not be combined with.
async fn entity_tags(mut request: Request, next: Next) -> Response {
    let sent: Vec<HeaderValue> = request.headers().get_all(header::IF_NONE_MATCH).iter().cloned().collect();
    for name in [header::IF_NONE_MATCH, header::IF_MATCH] {
        let values: Vec<HeaderValue> = request.headers().get_all(&name).iter().map(without_variants).collect();
        request.headers_mut().remove(&name);
        for value in values {
            request.headers_mut().append(&name, value);
        }
    }
    let mut response = next.run(request).await;
    let Some(tag) = response.headers().get(header::ETAG).and_then(|tag| tag.to_str().ok()).map(str::to_owned) else {
        return response;
    };
    if tag.starts_with("W/") {
        return response;
    }
    let encoding = response.headers().get(header::CONTENT_ENCODING).and_then(|value| value.to_str().ok());
    let variant = match encoding {
        Some(encoding) => VARIANTS.into_iter().find(|variant| &variant[1..] == encoding),
        None if response.status() == StatusCode::NOT_MODIFIED => {
            let was_sent = |variant: &&str| {
                let tag = variant_of(&tag, variant);
                sent.iter().any(|value| value.to_str().is_ok_and(|value| value.contains(&tag)))
            };
            VARIANTS.into_iter().find(was_sent)
        }
        None => None,
    };
    if let Some(variant) = variant
        && let Ok(value) = HeaderValue::from_str(&variant_of(&tag, variant))
    {
        response.headers_mut().insert(header::ETAG, value);
    }
    response
}

/// Endings of entity tags of compressed bodies, by encoding.
const VARIANTS: [&str; 2] = ["-gzip", "-br"];

/// A tag with this ending: `"x-gzip"`.
fn variant_of(tag: &str, variant: &str) -> String {
    format!("{}{variant}\"", tag.trim_end_matches('"'))
}

/// The value of a header with entity tags, without the endings of compressed bodies.
fn without_variants(value: &HeaderValue) -> HeaderValue {
    let Ok(text) = value.to_str() else { return value.clone() };
    let clean = VARIANTS.iter().fold(text.to_owned(), |text, variant| text.replace(&format!("{variant}\""), "\""));
    HeaderValue::from_str(&clean).unwrap_or_else(|_| value.clone())
}

/// Disables compression for requests that do not accept it. A client that rejects even uncompressed bodies gets one, not a 406
/// after its change was made. A response that was not compressed does not vary by encoding, so `Vary` of the REST API is
/// unchanged.
async fn encoding(mut request: Request, next: Next) -> Response {
    let accepts_compression = request.headers().get_all(header::ACCEPT_ENCODING).iter().any(|v| {
        v.to_str()
            .is_ok_and(|v| v.split(',').any(|e| matches!(e.split(';').next().unwrap_or("").trim(), "gzip" | "br")))
    });
    if !accepts_compression {
        request.headers_mut().remove(header::ACCEPT_ENCODING);
    }
    let mut response = next.run(request).await;
    if !response.headers().contains_key(header::CONTENT_ENCODING) {
        let others: Vec<HeaderValue> = response
            .headers()
            .get_all(header::VARY)
            .iter()
            .filter(|v| !v.as_bytes().eq_ignore_ascii_case(b"accept-encoding"))
            .cloned()
            .collect();
        response.headers_mut().remove(header::VARY);
        for value in others {
            response.headers_mut().append(header::VARY, value);
        }
    }
    response
}

/// Adds `Retry-After` to 503 responses: the database is restarting, or the server is overloaded.
async fn retry_after(mut response: Response) -> Response {
    if response.status() == StatusCode::SERVICE_UNAVAILABLE {
        response.headers_mut().entry(header::RETRY_AFTER).or_insert(RETRY_AFTER);
    }
    response
}

/// Converts a panic to a 500 response without details.
fn panicked(payload: Box<dyn Any + Send + 'static>) -> Response<Body> {
    tracing::error!("a request handler panicked: {}", log::panic_message(&*payload));
    (StatusCode::INTERNAL_SERVER_ERROR, "Internal server error.\n").into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_of_compressed_bodies() {
        let plain = |text: &str| without_variants(&HeaderValue::from_str(text).unwrap());
        assert_eq!(plain(r#""a-gzip", W/"b-br", "c", *"#), r#""a", W/"b", "c", *"#);
        assert_eq!(variant_of(r#""a""#, "-br"), r#""a-br""#);
    }
}
