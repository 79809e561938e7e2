//! Responses with files.

use std::{io, path::Path};

use bytes::Bytes;
use http::{
    HeaderMap, HeaderName, HeaderValue, Method, Request, Response, StatusCode,
    header::{
        CONTENT_TYPE, ETAG, IF_MATCH, IF_MODIFIED_SINCE, IF_NONE_MATCH, IF_RANGE, IF_UNMODIFIED_SINCE, LAST_MODIFIED,
        RANGE,
    },
};
use http_body_util::Full;
use tower_http::services::ServeFile;

use crate::body::{Body, boxed, empty};

/// Headers of a request that the response with a file depends on.
const CONDITIONS: [HeaderName; 5] = [IF_MATCH, IF_MODIFIED_SINCE, IF_NONE_MATCH, IF_UNMODIFIED_SINCE, RANGE];

/// The response to a request for a file, whose method is `GET` or `HEAD`.
pub(crate) async fn send(file: &Path, method: &Method, headers: &HeaderMap) -> Response<Body> {
    let mut request = Request::new(());
    *request.method_mut() = method.clone();
    for name in CONDITIONS {
        if let Some(value) = headers.get(&name) {
            request.headers_mut().insert(name, value.clone());
        }
    }
    if let Some(expected) = headers.get(IF_RANGE)
        && !is_current(file, expected).await
    {
        request.headers_mut().remove(RANGE);
    }
    // The whole file is a valid response to a request for several parts.
    let mut service = ServeFile::new(file).ignore_multi_range_requests(true);
    match service.try_call(request).await {
        Ok(response) => response.map(boxed),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied) => {
            plain(StatusCode::NOT_FOUND)
        }
        Err(error) => {
            tracing::error!(%error, file = %file.display(), "cannot read a file");
            plain(StatusCode::INTERNAL_SERVER_ERROR)
        }
    }
}

/// Whether the file has the entity tag or the date of `If-Range`. Weak tags are never equal (RFC 9110, section 13.1.5).
async fn is_current(file: &Path, expected: &HeaderValue) -> bool {
    let mut request = Request::new(());
    *request.method_mut() = Method::HEAD;
    let Ok(response) = ServeFile::new(file).try_call(request).await else { return false };
    [ETAG, LAST_MODIFIED].iter().any(|name| response.headers().get(name) == Some(expected))
}

/// A response with the text of its status.
pub(crate) fn plain(status: StatusCode) -> Response<Body> {
    let text = format!("{status}\n");
    let is_empty = status.is_redirection();
    let mut response = Response::new(if is_empty { empty() } else { boxed(Full::new(Bytes::from(text))) });
    *response.status_mut() = status;
    if !is_empty {
        response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=UTF-8"));
    }
    response
}

#[cfg(test)]
mod tests {
    use http_body_util::BodyExt as _;

    use super::*;

    #[tokio::test]
    async fn files_are_sent_with_ranges_and_conditions() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.css");
        std::fs::write(&file, "0123456789").unwrap();
        let first = send(&file, &Method::GET, &HeaderMap::new()).await;
        let header = |name: HeaderName| first.headers()[name].to_str().unwrap().to_owned();
        let (tag, date) = (header(ETAG), header(LAST_MODIFIED));
        assert_eq!((header(CONTENT_TYPE).as_str(), header(http::header::CONTENT_LENGTH).as_str()), ("text/css", "10"));
        let weak = format!("W/{tag}");
        for (method, given, status, body) in [
            (Method::GET, &[][..], 200, "0123456789"),
            (Method::HEAD, &[], 200, ""),
            (Method::GET, &[(IF_NONE_MATCH, tag.as_str())], 304, ""),
            (Method::GET, &[(IF_MODIFIED_SINCE, date.as_str())], 304, ""),
            (Method::GET, &[(IF_NONE_MATCH, "\"other\""), (IF_MODIFIED_SINCE, &date)], 200, "0123456789"),
            (Method::GET, &[(IF_MATCH, "\"other\"")], 412, ""),
            (Method::GET, &[(RANGE, "bytes=2-4")], 206, "234"),
            (Method::GET, &[(RANGE, "bytes=-2")], 206, "89"),
            (Method::GET, &[(RANGE, "bytes=99-")], 416, ""),
            (Method::GET, &[(RANGE, "bytes=0-1,4-5")], 200, "0123456789"),
            (Method::GET, &[(RANGE, "bytes=2-4"), (IF_RANGE, &tag)], 206, "234"),
            (Method::GET, &[(RANGE, "bytes=2-4"), (IF_RANGE, &date)], 206, "234"),
            (Method::GET, &[(RANGE, "bytes=2-4"), (IF_RANGE, &weak)], 200, "0123456789"),
            (Method::GET, &[(RANGE, "bytes=2-4"), (IF_RANGE, "\"other\"")], 200, "0123456789"),
        ] {
            let headers = given.iter().map(|(name, value)| (name.clone(), value.parse().unwrap())).collect();
            let response = send(&file, &method, &headers).await;
            assert_eq!(response.status(), status, "{method} {given:?}");
            assert_eq!(response.into_body().collect().await.unwrap().to_bytes(), body, "{method} {given:?}");
        }
        assert_eq!(send(&folder.path().join("none"), &Method::GET, &HeaderMap::new()).await.status(), 404);
    }
}
