//! Serves uploads and theme files: with ranges and conditional requests, and never in a form that a browser would execute on
//! the site's origin.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use axum::{
    Router,
    body::Body,
    extract::{Request, State},
    middleware::{Next, from_fn_with_state},
    response::{IntoResponse, Response},
    routing::get,
};
use chrono::{DateTime, Utc};
use futures_util::TryStreamExt;
use http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use percent_encoding::percent_decode_str;
use svc_media::{ReadPart, Storage, StoredFile};
use tower_http::services::ServeDir;

use crate::disk_lane::DiskLane;

/// Path of uploads below the site's URL. It does not depend on the brand, since stored content links to it.
pub const PATH: &str = "/wp-content/uploads";

/// Path of theme files below the site's URL, and their folder in the content folder.
pub const THEMES_PATH: &str = "/wp-content/themes";

/// Their folder in the content folder.
const THEMES: &str = "themes";

/// Folder of uploads in the content folder.
const UPLOADS: &str = "uploads";

/// Extensions of theme files that browsers load. Other files of a theme are not served: sources, archives, backup copies and
/// configuration may contain secrets.
#[rustfmt::skip]
const THEME_EXTENSIONS: &[&str] = &[
    "3gp", "aac", "avif", "bmp", "css", "cur", "eot", "flac", "gif", "heic", "ico", "jpe", "jpeg", "jpg", "js", "json", "m4a", "m4v", "map",
    "mjs", "mov", "mp3", "mp4", "oga", "ogg", "ogv", "otf", "pdf", "png", "svg", "tif", "tiff", "ttf", "txt", "vtt", "wav", "webm",
    "webmanifest", "webp", "woff", "woff2",
];

/// Extensions of programs and configuration. They are not served from uploads, since they may contain secrets.
#[rustfmt::skip]
const REFUSED_EXTENSIONS: &[&str] = &[
    "asp", "aspx", "bash", "bat", "cfg", "cgi", "cmd", "com", "conf", "db", "dll", "exe", "ini", "jsp", "log", "msi", "phar", "php",
    "phps", "pht", "phtml", "pl", "ps1", "py", "pyc", "rb", "sh", "so", "sql", "sqlite", "toml",
];

/// Extensions of files that a browser can show safely. All others are downloaded.
#[rustfmt::skip]
const INLINE_EXTENSIONS: &[&str] = &[
    "3gp", "aac", "avif", "bmp", "css", "flac", "gif", "heic", "ico", "jpe", "jpeg", "jpg", "m4a", "m4v", "mov", "mp3", "mp4", "ogg", "ogv",
    "pdf", "png", "tif", "tiff", "txt", "vtt", "wav", "webm", "webp", "woff", "woff2",
];

/// Maximum length of a file name in bytes, as in most file systems.
const MAX_NAME_LENGTH: usize = 255;

/// Content security policy of files that a browser might show as a page.
const SANDBOX: HeaderValue = HeaderValue::from_static("sandbox; default-src 'none'");

/// A router for the files of this storage at [`PATH`], and for theme files. `site_path` is the path of the site's URL: empty,
/// or `/blog`.
pub fn router(site_path: &str, storage: Storage, content_dir: &Path) -> Router {
    let (themes_path, folder) = (THEMES_PATH, THEMES);
    let themes = ServeDir::new(content_dir.join(folder)).append_index_html_on_directories(false);
    let lane = DiskLane::new();
    let upload_lane = storage.is_folder().then(|| lane.clone());
    let upload_guard = Folder::new(content_dir.join(UPLOADS), format!("{site_path}{PATH}"), upload_lane, |name| {
        // All extensions are checked: some web servers execute `a.php.jpg`, and the file may have been made for those.
        !name.split('.').skip(1).any(|extension| REFUSED_EXTENSIONS.contains(&extension))
    });
    let theme_guard = Folder::new(content_dir.join(folder), format!("{site_path}{themes_path}"), Some(lane), |name| {
        name.rsplit_once('.').is_some_and(|(_, extension)| THEME_EXTENSIONS.contains(&extension))
    });
    let uploads = Router::new()
        .route(&format!("{site_path}{PATH}/{{*path}}"), get(serve).with_state(storage))
        .layer(from_fn_with_state(upload_guard, guard));
    let themes = Router::new()
        .nest_service(&format!("{site_path}{themes_path}"), themes)
        .layer(from_fn_with_state(theme_guard, guard));
    uploads.merge(themes)
}

/// A folder whose files are served.
#[derive(Clone)]
struct Folder(Arc<FolderParts>);

struct FolderParts {
    path: PathBuf,
    /// Path of the folder's URL.
    url: String,
    /// `None` if the files are in an object store, whose reads wait for the network.
    lane: Option<DiskLane>,
    /// Whether a file of this name, in lower case, is served.
    is_served: fn(&str) -> bool,
}

impl Folder {
    fn new(path: PathBuf, url: String, lane: Option<DiskLane>, is_served: fn(&str) -> bool) -> Self {
        Folder(Arc::new(FolderParts { path, url, lane, is_served }))
    }

    /// Whether the file at this path is served, according to its name. Empty segments are rejected, since the storage ignores
    /// them: `a.php/` would be `a.php`.
    fn serves(&self, path: &str) -> bool {
        let Some(below) = path.strip_prefix(&self.0.url).and_then(|below| below.strip_prefix('/')) else {
            return false;
        };
        let is_name =
            |segment: &str| !segment.is_empty() && !segment.starts_with('.') && segment.len() <= MAX_NAME_LENGTH;
        let name = below.rsplit('/').next().unwrap_or_default().to_ascii_lowercase();
        below.split('/').all(is_name) && !name.contains(".php") && (self.0.is_served)(&name)
    }

    /// Whether the path leads to anything but a file inside of the folder. False if there is no such file, since the storage may be
    /// elsewhere.
    async fn leads_outside(&self, path: &str) -> bool {
        match path.strip_prefix(&self.0.url) {
            Some(below) => svc_media::leads_outside(&self.0.path, below).await,
            None => true,
        }
    }
}

async fn guard(State(folder): State<Folder>, request: Request, next: Next) -> Response {
    let path = percent_decode_str(request.uri().path()).decode_utf8_lossy().into_owned();
    let turn = match &folder.0.lane {
        Some(lane) => lane.turn().await,
        None => None,
    };
    if !folder.serves(&path) || folder.leads_outside(&path).await {
        return StatusCode::NOT_FOUND.into_response();
    }
    let name = path.rsplit('/').next().unwrap_or_default().to_ascii_lowercase();
    let is_inline = name.rsplit_once('.').is_some_and(|(_, extension)| INLINE_EXTENSIONS.contains(&extension));
    let mut response = next.run(request).await;
    drop(turn);
    if let Some(lane) = &folder.0.lane {
        response = response.map(|body| lane.body(body));
    }
    let headers = response.headers_mut();
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    if !is_inline {
        headers.insert(header::CONTENT_SECURITY_POLICY, SANDBOX);
        headers.insert(header::CONTENT_DISPOSITION, HeaderValue::from_static("attachment"));
    }
    response
}

async fn serve(
    State(storage): State<Storage>,
    axum::extract::Path(path): axum::extract::Path<String>,
    request: Request,
) -> Response {
    let (method, headers) = (request.method(), request.headers());
    match respond(&storage, &path, method, headers).await {
        Ok(response) => response,
        Err(error) if error.is_missing() => StatusCode::NOT_FOUND.into_response(),
        Err(error) => {
            tracing::error!(%error, "cannot read an upload");
            StatusCode::INTERNAL_SERVER_ERROR.into_response()
        }
    }
}

async fn respond(
    storage: &Storage,
    path: &str,
    method: &Method,
    request: &HeaderMap,
) -> Result<Response, svc_media::StorageError> {
    let range = request.get(header::RANGE).and_then(|v| v.to_str().ok()).and_then(Range::parse);
    // The size is needed to resolve a range, so ranges take two requests to the storage.
    let part = if *method == Method::HEAD || range.is_some() { ReadPart::Nothing } else { ReadPart::Whole };
    let mut found = storage.get(path, part).await?;
    let mut headers = HeaderMap::new();
    add_file_headers(path, &found, &mut headers);
    if is_unchanged(request, &headers, found.modified) {
        return Ok((StatusCode::NOT_MODIFIED, headers).into_response());
    }
    let mut status = StatusCode::OK;
    let mut length = found.size;
    if let Some(range) = range.filter(|_| *method != Method::HEAD && allows_range(request, &headers, found.modified)) {
        let Some((first, last)) = range.within(found.size) else {
            headers.insert(header::CONTENT_RANGE, text(&format!("bytes */{}", found.size)));
            return Ok((StatusCode::RANGE_NOT_SATISFIABLE, headers).into_response());
        };
        headers.insert(header::CONTENT_RANGE, text(&format!("bytes {first}-{last}/{}", found.size)));
        (status, length) = (StatusCode::PARTIAL_CONTENT, last - first + 1);
        found = storage.get(path, ReadPart::Bytes(first..last + 1)).await?;
    } else if range.is_some() && *method != Method::HEAD {
        found = storage.get(path, ReadPart::Whole).await?;
    }
    headers.insert(header::CONTENT_LENGTH, length.into());
    let body =
        if *method == Method::HEAD { Body::empty() } else { Body::from_stream(found.bytes.map_err(axum::Error::new)) };
    Ok((status, headers, body).into_response())
}

/// Adds the headers that describe a file.
fn add_file_headers(path: &str, found: &StoredFile, headers: &mut HeaderMap) {
    headers.insert(header::CONTENT_TYPE, text(&svc_media::content_type(path)));
    headers.insert(header::ACCEPT_RANGES, HeaderValue::from_static("bytes"));
    headers.insert(header::LAST_MODIFIED, text(&http_date(found.modified)));
    if is_resized(path) {
        headers.insert(header::CACHE_CONTROL, RESIZED);
    }
    if let Some(tag) = &found.tag {
        headers.insert(header::ETAG, text(&format!("\"{}\"", tag.trim_matches('"'))));
    }
}

/// How long caches may use a resized image. Its name has its size, and an edited image gets another name. Only deleting an
/// image and uploading another one of the same name in the same month replaces it, so caches may not use it forever.
const RESIZED: HeaderValue = HeaderValue::from_static("public, max-age=2592000");

/// Whether the file is a resized image: `photo-300x200.jpg`.
fn is_resized(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or_default();
    let Some((stem, "jpg" | "jpeg" | "png" | "gif" | "webp" | "avif")) = name.rsplit_once('.') else { return false };
    let is_length = |text: &str| (1..=5).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit());
    let size = stem.rsplit_once('-').and_then(|(stem, size)| Some((stem, size.split_once('x')?)));
    size.is_some_and(|(stem, (width, height))| !stem.is_empty() && is_length(width) && is_length(height))
}

/// A header value; empty if the text is not a valid one.
fn text(value: &str) -> HeaderValue {
    HeaderValue::from_str(value).unwrap_or_else(|_| HeaderValue::from_static(""))
}

fn http_date(date: DateTime<Utc>) -> String {
    date.format("%a, %d %b %Y %H:%M:%S GMT").to_string()
}

fn date(header: Option<&HeaderValue>) -> Option<DateTime<Utc>> {
    let text = header?.to_str().ok()?;
    DateTime::parse_from_rfc2822(text).ok().map(|date| date.to_utc())
}

/// Whether the client has the current file, by `ETag` or else by date.
fn is_unchanged(request: &HeaderMap, file: &HeaderMap, modified: DateTime<Utc>) -> bool {
    if let Some(tags) = request.get(header::IF_NONE_MATCH) {
        let plain = |tag: &str| tag.trim().trim_start_matches("W/").to_owned();
        let own = file.get(header::ETAG).and_then(|tag| tag.to_str().ok()).map(plain);
        let tags = tags.to_str().unwrap_or_default();
        return tags.trim() == "*" || tags.split(',').any(|tag| Some(plain(tag)) == own);
    }
    date(request.get(header::IF_MODIFIED_SINCE)).is_some_and(|since| modified.timestamp() <= since.timestamp())
}

/// Whether a range is allowed: `If-Range` is absent, or matches the tag or the date.
fn allows_range(request: &HeaderMap, file: &HeaderMap, modified: DateTime<Utc>) -> bool {
    let Some(condition) = request.get(header::IF_RANGE) else { return true };
    file.get(header::ETAG) == Some(condition)
        || date(Some(condition)).is_some_and(|date| date.timestamp() == modified.timestamp())
}

/// A requested byte range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Range {
    /// From the first byte to the last one (inclusive) or to the end.
    From(u64, Option<u64>),
    /// The last so many bytes.
    Last(u64),
}

impl Range {
    /// Parses a `Range` header. Multiple ranges and invalid ones are ignored.
    fn parse(header: &str) -> Option<Self> {
        let (first, last) = header.strip_prefix("bytes=")?.split_once('-')?;
        let number = |text: &str| text.trim().parse::<u64>().ok();
        match (first.trim(), last.trim()) {
            ("", last) => Some(Range::Last(number(last)?)),
            (first, "") => Some(Range::From(number(first)?, None)),
            (first, last) => {
                let (first, last) = (number(first)?, number(last)?);
                (first <= last).then_some(Range::From(first, Some(last)))
            }
        }
    }

    /// The first and the last byte in a file of this size; `None` if the range is outside of the file.
    fn within(self, size: u64) -> Option<(u64, u64)> {
        let end = size.checked_sub(1)?;
        match self {
            Range::From(first, last) => (first <= end).then(|| (first, last.unwrap_or(end).min(end))),
            Range::Last(0) => None,
            Range::Last(n) => Some((size.saturating_sub(n), end)),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use http_body_util::BodyExt;
    use tower::ServiceExt;

    async fn send(dir: &Path, path: &str, headers: &[(&str, &str)]) -> (http::response::Parts, Vec<u8>) {
        let mut request = Request::builder().uri(path);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let router = router("", Storage::folder(&dir.join("uploads")), dir);
        let (parts, body) = router.oneshot(request.body(Body::empty()).unwrap()).await.unwrap().into_parts();
        (parts, body.collect().await.unwrap().to_bytes().to_vec())
    }

    fn content() -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        let uploads = dir.path().join("uploads/2024");
        std::fs::create_dir_all(&uploads).unwrap();
        for name in [
            "a.png",
            "a.svg",
            "a.html",
            "a.php",
            "a.php.png",
            ".hidden.png",
            "index.html",
            "a.PhP",
            "ü b.png",
            "a.php~",
            "a.x.Php5",
        ] {
            std::fs::write(uploads.join(name), "0123456789").unwrap();
        }
        std::fs::write(dir.path().join("secret.png"), "secret").unwrap();
        dir
    }

    #[tokio::test]
    async fn serves_uploads() {
        let dir = content();
        #[rustfmt::skip]
        let rows = [
            // path below the uploads, status, offered for download
            ("/2024/a.png", 200, false), ("/2024/a.svg", 200, true), ("/2024/a.html", 200, true), ("/2024/a.php", 404, false),
            ("/2024/a.PhP", 404, false), ("/2024/a.php~", 404, false), ("/2024/a.x.Php5", 404, false), ("/2024/a.%70hp", 404, false), ("/2024/a.php.png", 404, false),
            ("/2024/.hidden.png", 404, false), ("/2024/%2ehidden.png", 404, false), ("/2024/none.png", 404, false),
            ("/2024/", 404, false), ("/2024/a.php/", 404, false), ("/2024/a.php%2f", 404, false), ("/2024/a.png/", 404, false), ("/2024//a.png", 404, false),
            ("/2024/a.png/x", 404, false), ("/../secret.png", 404, false), ("/%2e%2e/secret.png", 404, false),
            ("/2024%2f..%2f..%2fsecret.png", 404, false), ("/2024/%C3%BC%20b.png", 200, false),
        ];
        for (path, status, download) in rows {
            let (parts, body) = send(dir.path(), &format!("{PATH}{path}"), &[]).await;
            assert_eq!(parts.status, status, "{path}");
            assert_eq!(parts.headers.contains_key(header::CONTENT_DISPOSITION), download, "{path}");
            if status == 200 {
                assert_eq!(body, b"0123456789");
                assert_eq!(parts.headers[header::X_CONTENT_TYPE_OPTIONS], "nosniff");
            }
        }
    }

    #[tokio::test]
    async fn serves_theme_files_by_extension() {
        let dir = content();
        let theme = dir.path().join("themes/paper");
        std::fs::create_dir_all(theme.join("assets")).unwrap();
        #[rustfmt::skip]
        let rows = [
            // name, status, offered for download
            ("style.css", 200, false), ("assets/a.WOFF2", 200, false), ("theme.json", 200, true), ("view.js", 200, true),
            ("view.js.map", 200, true), ("screenshot.png", 200, false), ("readme.txt", 200, false),
            ("functions.php", 404, false), ("functions.php~", 404, false), ("functions.PHP.txt", 404, false), ("x.php5", 404, false),
            ("x.php_old.css", 404, false), ("x.inc", 404, false), ("x.yml", 404, false), ("x.bak", 404, false), ("x.key", 404, false),
            ("x.pem", 404, false), ("x.env", 404, false), ("composer.lock", 404, false), ("error_log", 404, false), (".css", 404, false),
            ("x.css ", 404, false), ("x.zip", 404, false), ("x.html", 404, false), ("css", 404, false),
        ];
        for (name, status, download) in rows {
            std::fs::write(theme.join(name), "x").unwrap();
            let url = format!("/wp-content/themes/paper/{}", name.replace(' ', "%20"));
            let (parts, _) = send(dir.path(), &url, &[]).await;
            assert_eq!(parts.status, status, "{name}");
            assert_eq!(parts.headers.contains_key(header::CONTENT_DISPOSITION), download, "{name}");
        }
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn symbolic_links_do_not_lead_outside() {
        use std::os::unix::fs::symlink;
        let dir = content();
        std::fs::create_dir_all(dir.path().join("themes/paper")).unwrap();
        std::fs::write(dir.path().join("themes/paper/a.txt"), "inside").unwrap();
        for folder in ["uploads/2024", "themes/paper"] {
            let at = |name: &str| dir.path().join(folder).join(name);
            symlink(dir.path().join("secret.png"), at("file.png")).unwrap();
            symlink(dir.path(), at("outside")).unwrap();
            symlink(if folder == "themes/paper" { "a.txt" } else { "a.png" }, at("inside.png")).unwrap();
            symlink(at("none"), at("dangling.png")).unwrap();
            #[rustfmt::skip]
            let rows = [("file.png", 404), ("outside/secret.png", 404), ("inside.png", 200), ("dangling.png", 404)];
            for (name, status) in rows {
                for (end, status) in [("", status), ("/", 404), ("%2f", 404), ("/x", 404), ("//", 404)] {
                    let (parts, _) = send(dir.path(), &format!("/wp-content/{folder}/{name}{end}"), &[]).await;
                    assert_eq!(parts.status, status, "{folder}/{name}{end}");
                }
            }
        }
    }

    #[tokio::test]
    async fn ranges() {
        let dir = content();
        #[rustfmt::skip]
        let rows: [(&str, u16, &str, Option<&str>); 7] = [
            ("bytes=2-4", 206, "234", Some("bytes 2-4/10")), ("bytes=7-", 206, "789", Some("bytes 7-9/10")),
            ("bytes=-2", 206, "89", Some("bytes 8-9/10")), ("bytes=5-99", 206, "56789", Some("bytes 5-9/10")),
            ("bytes=10-", 416, "", Some("bytes */10")), ("bytes=1-2,4-5", 200, "0123456789", None),
            ("bytes=4-2", 200, "0123456789", None),
        ];
        for (range, status, expected, content_range) in rows {
            let (parts, body) = send(dir.path(), &format!("{PATH}/2024/a.png"), &[("range", range)]).await;
            assert_eq!((parts.status.as_u16(), body.as_slice()), (status, expected.as_bytes()), "{range}");
            let header = parts.headers.get(header::CONTENT_RANGE).map(|v| v.to_str().unwrap());
            assert_eq!(header, content_range, "{range}");
        }
    }

    #[tokio::test]
    async fn conditional_requests() {
        let dir = content();
        let path = format!("{PATH}/2024/a.png");
        let (first, _) = send(dir.path(), &path, &[]).await;
        let header = |name| first.headers[name].to_str().unwrap().to_owned();
        let (tag, date) = (header(header::ETAG), header(header::LAST_MODIFIED));
        assert_eq!((header(header::CONTENT_TYPE), header(header::CONTENT_LENGTH)), ("image/png".into(), "10".into()));
        let old = "Mon, 01 Jan 2001 00:00:00 GMT";
        #[rustfmt::skip]
        let rows: [(&[(&str, &str)], u16); 8] = [
            (&[("if-none-match", &tag)], 304), (&[("if-none-match", "\"x\"")], 200), (&[("if-none-match", "*")], 304),
            (&[("if-modified-since", &date)], 304), (&[("if-modified-since", old)], 200),
            (&[("if-none-match", "\"x\""), ("if-modified-since", &date)], 200),
            (&[("range", "bytes=0-1"), ("if-range", &tag)], 206), (&[("range", "bytes=0-1"), ("if-range", "\"x\"")], 200),
        ];
        for (headers, status) in rows {
            let (parts, _) = send(dir.path(), &path, headers).await;
            assert_eq!(parts.status, status, "{headers:?}");
        }
    }

    #[test]
    fn resized_images_have_a_size_in_their_name() {
        for (path, resized) in [
            ("2024/01/photo-300x200.jpg", true),
            ("a-1x1.webp", true),
            ("photo.jpg", false),
            ("photo-300x200.pdf", false),
            ("photo-300x.jpg", false),
            ("photo-300x200-1.jpg", false),
            ("-300x200.jpg", false),
            ("300x200.jpg", false),
            ("photo-300x200/other.jpg", false),
        ] {
            assert_eq!(is_resized(path), resized, "{path}");
        }
    }
}
