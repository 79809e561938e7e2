//! Reasons why a request could not be forwarded, and their responses.

use bytes::Bytes;
use http::{
    HeaderValue, Response, StatusCode,
    header::{CACHE_CONTROL, CONTENT_TYPE, RETRY_AFTER},
};
use http_body_util::{BodyExt as _, Full};

use crate::body::Body;

/// Seconds after which a client may try again.
const RETRY_SECONDS: HeaderValue = HeaderValue::from_static("5");

/// Why a request was not forwarded, or got no response.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    /// The upstream refused the connection, closed it, or sent something that is not a response.
    #[error("The upstream server cannot be reached.")]
    Unreachable,
    /// The upstream did not respond in time.
    #[error("The upstream server did not respond in time.")]
    Timeout,
    /// Too many requests are being forwarded.
    #[error("Too many requests are waiting for the upstream server.")]
    Busy,
    /// The request has passed this proxy before: the upstream forwards requests back.
    #[error("The upstream server sends requests back to this server.")]
    Loop,
    /// `CONNECT` or `TRACE`.
    #[error("This method is not allowed.")]
    Method,
    /// The body exceeds the server's limit.
    #[error("The request body is too large.")]
    TooLarge,
    /// The URL and the headers are too large for the upstream.
    #[error("The request's URL or headers are too large.")]
    HeadTooLarge,
    /// The request has several hosts or lengths, or an invalid one.
    #[error("The request's headers are not valid.")]
    InvalidHead,
    /// The body has a transfer coding other than `chunked`.
    #[error("This transfer coding is not supported.")]
    TransferCoding,
    /// The body ended early or is invalid.
    #[error("The request body cannot be read.")]
    Unreadable,
}

/// How sending a request failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Failed {
    /// No connection was made.
    Refused,
    /// The connection ended before the response's head.
    Closed,
    /// The response is not valid.
    Invalid,
    /// The upstream has no place for the request.
    Overloaded,
    /// No response in time.
    Late,
}

impl From<Failed> for Failure {
    fn from(failed: Failed) -> Self {
        match failed {
            Failed::Refused | Failed::Closed | Failed::Invalid => Failure::Unreachable,
            Failed::Overloaded => Failure::Busy,
            Failed::Late => Failure::Timeout,
        }
    }
}

/// The form of an error response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorFormat {
    /// The JSON error of the REST API: code, message, status.
    Json,
    /// A small HTML page.
    Html,
}

impl Failure {
    /// The status of the response.
    pub fn status(self) -> StatusCode {
        match self {
            Failure::Unreachable => StatusCode::BAD_GATEWAY,
            Failure::Timeout => StatusCode::GATEWAY_TIMEOUT,
            Failure::Busy => StatusCode::SERVICE_UNAVAILABLE,
            Failure::Loop => StatusCode::LOOP_DETECTED,
            Failure::Method => StatusCode::METHOD_NOT_ALLOWED,
            Failure::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            Failure::HeadTooLarge => StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE,
            Failure::InvalidHead | Failure::Unreadable => StatusCode::BAD_REQUEST,
            Failure::TransferCoding => StatusCode::NOT_IMPLEMENTED,
        }
    }

    fn code(self) -> &'static str {
        match self {
            Failure::Unreachable => "rest_upstream_unavailable",
            Failure::Timeout => "rest_upstream_timeout",
            Failure::Busy => "rest_upstream_busy",
            Failure::Loop => "rest_upstream_loop",
            Failure::Method => "rest_no_route",
            Failure::TooLarge | Failure::HeadTooLarge => "rest_request_too_large",
            Failure::InvalidHead | Failure::TransferCoding | Failure::Unreadable => "rest_request_unreadable",
        }
    }

    /// Whether a later attempt may succeed.
    pub fn is_temporary(self) -> bool {
        matches!(self, Failure::Unreachable | Failure::Timeout | Failure::Busy)
    }

    /// The response to the client, which caches must not store.
    pub fn response(self, format: ErrorFormat) -> Response<Body> {
        let status = self.status();
        let (kind, text) = match format {
            ErrorFormat::Json => {
                let data = serde_json::json!({ "status": status.as_u16() });
                let error = serde_json::json!({ "code": self.code(), "message": self.to_string(), "data": data });
                ("application/json; charset=UTF-8", error.to_string())
            }
            ErrorFormat::Html => ("text/html; charset=UTF-8", self.page()),
        };
        let mut response = Response::new(Full::new(Bytes::from(text)).map_err(|never| match never {}).boxed_unsync());
        *response.status_mut() = status;
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        if self.is_temporary() {
            headers.insert(RETRY_AFTER, RETRY_SECONDS);
        }
        response
    }

    fn page(self) -> String {
        let (status, hint) = (self.status(), if self.is_temporary() { " Try again in a few seconds." } else { "" });
        format!(
            "<!DOCTYPE html><html lang=\"en\"><head><meta charset=\"utf-8\">\
             <meta name=\"viewport\" content=\"width=device-width\"><title>{status}</title></head>\
             <body><h1>{status}</h1><p>{self}{hint}</p></body></html>\n"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn failures_are_api_errors_or_pages() {
        for (failure, status, retry) in [
            (Failure::Unreachable, 502, true),
            (Failure::Timeout, 504, true),
            (Failure::Busy, 503, true),
            (Failure::Loop, 508, false),
            (Failure::TooLarge, 413, false),
            (Failure::HeadTooLarge, 431, false),
            (Failure::InvalidHead, 400, false),
            (Failure::TransferCoding, 501, false),
        ] {
            for format in [ErrorFormat::Json, ErrorFormat::Html] {
                let response = failure.response(format);
                assert_eq!(response.status(), status);
                assert_eq!(response.headers().contains_key(RETRY_AFTER), retry);
                let body = response.into_body().collect().await.unwrap().to_bytes();
                let text = std::str::from_utf8(&body).unwrap();
                assert!(text.contains(&failure.to_string()), "{text}");
                if format == ErrorFormat::Json {
                    let error: serde_json::Value = serde_json::from_str(text).unwrap();
                    assert_eq!(error["data"]["status"], status);
                }
            }
        }
    }
}
