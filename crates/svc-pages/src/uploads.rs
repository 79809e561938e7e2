//! Uploaded files, wherever they are stored, and the files of themes: with ranges, conditions and modification times, never
//! as something that a browser would run in the site's name.

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
use svc_media::{Part, Storage, Stored};
use tower_http::services::ServeDir;

/// Address of the uploads under the site's. Stored content links to it, so it is the same under every brand.
pub const ADDRESS: &str = "/wp-content/uploads";

/// Address of the themes' files, and their folder in the content folder.
const THEMES: (&str, &str) = ("/wp-content/themes", "themes");

/// Folder of the uploads in the content folder.
const UPLOADS: &str = "uploads";

/// Endings of the files of themes that browsers load. Nothing else in a theme is served: sources, archives, editors'
/// copies and configuration may hold secrets.
#[rustfmt::skip]
const OF_THEMES: &[&str] = &[
    "3gp", "aac", "avif", "bmp", "css", "cur", "eot", "flac", "gif", "heic", "ico", "jpe", "jpeg", "jpg", "js", "json", "m4a", "m4v", "map",
    "mjs", "mov", "mp3", "mp4", "oga", "ogg", "ogv", "otf", "pdf", "png", "svg", "tif", "tiff", "ttf", "txt", "vtt", "wav", "webm",
    "webmanifest", "webp", "woff", "woff2",
];

/// Endings of programs and of server configuration. They are not served from uploads: their source may hold secrets.
#[rustfmt::skip]
const REFUSED: &[&str] = &[
    "asp", "aspx", "bash", "bat", "cfg", "cgi", "cmd", "com", "conf", "db", "dll", "exe", "ini", "jsp", "log", "msi", "phar", "php",
    "phps", "pht", "phtml", "pl", "ps1", "py", "pyc", "rb", "sh", "so", "sql", "sqlite", "toml",
];

/// Endings that a browser shows without running anything. All others are offered for download.
#[rustfmt::skip]
const SHOWN: &[&str] = &[
    "3gp", "aac", "avif", "bmp", "css", "flac", "gif", "heic", "ico", "jpe", "jpeg", "jpg", "m4a", "m4v", "mov", "mp3", "mp4", "ogg", "ogv",
    "pdf", "png", "tif", "tiff", "txt", "vtt", "wav", "webm", "webp", "woff", "woff2",
];

/// Media types of files that are not uploaded as media, but by other ways.
const FURTHER: &[(&str, &str)] = &[
    ("otf", "font/otf"),
    ("svg", "image/svg+xml"),
    ("ttf", "font/ttf"),
    ("woff", "font/woff"),
    ("woff2", "font/woff2"),
];

/// Longest name of a file or folder, in bytes, as file systems have it.
const LONGEST_NAME: usize = 255;

/// What a browser may do with a file that it shows as a page: nothing.
const SANDBOX: HeaderValue = HeaderValue::from_static("sandbox; default-src 'none'");

/// Serves the files of this storage at [`ADDRESS`], and the files of this content folder's themes beside, under the path
/// of the site (empty, or `/blog`).
pub fn router(site_path: &str, storage: Storage, content_dir: &Path) -> Router {
    let (address, folder) = THEMES;
    let themes = ServeDir::new(content_dir.join(folder)).append_index_html_on_directories(false);
    let of_uploads = Folder::new(content_dir.join(UPLOADS), format!("{site_path}{ADDRESS}"), |name| {
        // Every ending counts: some servers run `a.php.jpg`, and a file made for those may be here.
        !name.split('.').skip(1).any(|ending| REFUSED.contains(&ending))
    });
    let of_themes = Folder::new(content_dir.join(folder), format!("{site_path}{address}"), |name| {
        name.rsplit_once('.').is_some_and(|(_, ending)| OF_THEMES.contains(&ending))
    });
    let uploads = Router::new()
        .route(&format!("{site_path}{ADDRESS}/{{*path}}"), get(serve).with_state(storage))
        .layer(from_fn_with_state(of_uploads, guard));
    let themes = Router::new()
        .nest_service(&format!("{site_path}{address}"), themes)
        .layer(from_fn_with_state(of_themes, guard));
    uploads.merge(themes)
}

/// A folder whose files are served.
#[derive(Clone)]
struct Folder(Arc<FolderParts>);

struct FolderParts {
    path: PathBuf,
    /// Path of its URL.
    url: String,
    /// Whether a file of this name, in lower case, is served.
    is_served: fn(&str) -> bool,
}

impl Folder {
    fn new(path: PathBuf, url: String, is_served: fn(&str) -> bool) -> Self {
        Folder(Arc::new(FolderParts { path, url, is_served }))
    }

    /// Whether the file of this URL is served, by its name. What is below depends on every segment being a name: the
    /// storage leaves out empty ones, so that `a.php/` would be `a.php` to it.
    fn serves(&self, path: &str) -> bool {
        let Some(below) = path.strip_prefix(&self.0.url).and_then(|below| below.strip_prefix('/')) else {
            return false;
        };
        let is_name = |segment: &str| !segment.is_empty() && !segment.starts_with('.') && segment.len() <= LONGEST_NAME;
        let name = below.rsplit('/').next().unwrap_or_default().to_ascii_lowercase();
        below.split('/').all(is_name) && !name.contains(".php") && (self.0.is_served)(&name)
    }

    /// Whether the URL leads to something else than a file inside the folder: through symbolic links, or to a pipe. Where
    /// nothing exists there is nothing to refuse: the storage may be elsewhere.
    async fn leaves(&self, path: &str) -> bool {
        let Some(below) = path.strip_prefix(&self.0.url) else { return true };
        let file = match tokio::fs::canonicalize(self.0.path.join(below.trim_start_matches('/'))).await {
            Ok(file) => file,
            Err(error) => return error.kind() != std::io::ErrorKind::NotFound,
        };
        let folder = tokio::fs::canonicalize(&self.0.path).await;
        let is_inside = folder.is_ok_and(|folder| file.starts_with(folder));
        !is_inside || !tokio::fs::metadata(&file).await.is_ok_and(|about| about.is_file())
    }
}

async fn guard(State(folder): State<Folder>, request: Request, next: Next) -> Response {
    let path = percent_decode_str(request.uri().path()).decode_utf8_lossy().into_owned();
    if !folder.serves(&path) || folder.leaves(&path).await {
        return StatusCode::NOT_FOUND.into_response();
    }
    let name = path.rsplit('/').next().unwrap_or_default().to_ascii_lowercase();
    let shown = name.rsplit_once('.').is_some_and(|(_, ending)| SHOWN.contains(&ending));
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    if !shown {
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
    match answer(&storage, &path, method, headers).await {
        Ok(response) => response,
        Err(error) if error.is_missing() => StatusCode::NOT_FOUND.into_response(),
        Err(error) => {
            tracing::error!(%error, "an upload could not be read");
            StatusCode::INTERNAL_SERVER_ERROR.into_response()
        }
    }
}

async fn answer(
    storage: &Storage,
    path: &str,
    method: &Method,
    request: &HeaderMap,
) -> Result<Response, svc_media::StorageError> {
    let asked = request.get(header::RANGE).and_then(|v| v.to_str().ok()).and_then(Range::parse);
    // A part can only be asked for when the size is known; everything else is one question.
    let part = if *method == Method::HEAD || asked.is_some() { Part::Nothing } else { Part::Whole };
    let mut found = storage.get(path, part).await?;
    let mut headers = HeaderMap::new();
    describe(path, &found, &mut headers);
    if is_unchanged(request, &headers, found.modified) {
        return Ok((StatusCode::NOT_MODIFIED, headers).into_response());
    }
    let mut status = StatusCode::OK;
    let mut length = found.size;
    if let Some(asked) = asked.filter(|_| *method != Method::HEAD && may_be_part(request, &headers, found.modified)) {
        let Some((first, last)) = asked.within(found.size) else {
            headers.insert(header::CONTENT_RANGE, text(&format!("bytes */{}", found.size)));
            return Ok((StatusCode::RANGE_NOT_SATISFIABLE, headers).into_response());
        };
        headers.insert(header::CONTENT_RANGE, text(&format!("bytes {first}-{last}/{}", found.size)));
        (status, length) = (StatusCode::PARTIAL_CONTENT, last - first + 1);
        found = storage.get(path, Part::Bytes(first..last + 1)).await?;
    } else if asked.is_some() && *method != Method::HEAD {
        found = storage.get(path, Part::Whole).await?;
    }
    headers.insert(header::CONTENT_LENGTH, length.into());
    let body =
        if *method == Method::HEAD { Body::empty() } else { Body::from_stream(found.bytes.map_err(axum::Error::new)) };
    Ok((status, headers, body).into_response())
}

/// The headers that tell what a file is.
fn describe(path: &str, found: &Stored, headers: &mut HeaderMap) {
    let ending = path.rsplit('.').next().unwrap_or_default().to_ascii_lowercase();
    let known = svc_text::MimeTypes::known();
    let further = || FURTHER.iter().find(|(e, _)| *e == ending).map(|(_, mime)| *mime);
    let mime = known.of_extension(&ending).or_else(further).unwrap_or("application/octet-stream");
    let charset = if mime.starts_with("text/") { "; charset=utf-8" } else { "" };
    headers.insert(header::CONTENT_TYPE, text(&format!("{mime}{charset}")));
    headers.insert(header::ACCEPT_RANGES, HeaderValue::from_static("bytes"));
    headers.insert(header::LAST_MODIFIED, text(&http_date(found.modified)));
    if let Some(tag) = &found.tag {
        headers.insert(header::ETAG, text(&format!("\"{}\"", tag.trim_matches('"'))));
    }
}

/// A header's value; what cannot stand in one is left out.
fn text(value: &str) -> HeaderValue {
    HeaderValue::from_str(value).unwrap_or_else(|_| HeaderValue::from_static(""))
}

fn http_date(moment: DateTime<Utc>) -> String {
    moment.format("%a, %d %b %Y %H:%M:%S GMT").to_string()
}

fn moment(header: Option<&HeaderValue>) -> Option<DateTime<Utc>> {
    let text = header?.to_str().ok()?;
    DateTime::parse_from_rfc2822(text).ok().map(|moment| moment.to_utc())
}

/// Whether the client has the file as it is: by its tag, else by its date.
fn is_unchanged(request: &HeaderMap, file: &HeaderMap, modified: DateTime<Utc>) -> bool {
    if let Some(tags) = request.get(header::IF_NONE_MATCH) {
        let plain = |tag: &str| tag.trim().trim_start_matches("W/").to_owned();
        let own = file.get(header::ETAG).and_then(|tag| tag.to_str().ok()).map(plain);
        let tags = tags.to_str().unwrap_or_default();
        return tags.trim() == "*" || tags.split(',').any(|tag| Some(plain(tag)) == own);
    }
    moment(request.get(header::IF_MODIFIED_SINCE)).is_some_and(|since| modified.timestamp() <= since.timestamp())
}

/// Whether a part of the file fits what the client has: `If-Range` names its tag or its very date.
fn may_be_part(request: &HeaderMap, file: &HeaderMap, modified: DateTime<Utc>) -> bool {
    let Some(condition) = request.get(header::IF_RANGE) else { return true };
    file.get(header::ETAG) == Some(condition)
        || moment(Some(condition)).is_some_and(|date| date.timestamp() == modified.timestamp())
}

/// One part of a file as a client asks for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Range {
    /// From here, to there or to the end; both count.
    From(u64, Option<u64>),
    /// The last bytes.
    Last(u64),
}

impl Range {
    /// Several parts at once, and what is not understood, count as not asked for.
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

    /// The first and the last byte in a file of this size; `None` when nothing of it is asked for.
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

    async fn ask(dir: &Path, path: &str, headers: &[(&str, &str)]) -> (http::response::Parts, Vec<u8>) {
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
    async fn what_is_served_and_how() {
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
            let (parts, body) = ask(dir.path(), &format!("{ADDRESS}{path}"), &[]).await;
            assert_eq!(parts.status, status, "{path}");
            assert_eq!(parts.headers.contains_key(header::CONTENT_DISPOSITION), download, "{path}");
            if status == 200 {
                assert_eq!(body, b"0123456789");
                assert_eq!(parts.headers[header::X_CONTENT_TYPE_OPTIONS], "nosniff");
            }
        }
    }

    #[tokio::test]
    async fn files_of_themes_are_served_by_a_list() {
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
            let (parts, _) = ask(dir.path(), &url, &[]).await;
            assert_eq!(parts.status, status, "{name}");
            assert_eq!(parts.headers.contains_key(header::CONTENT_DISPOSITION), download, "{name}");
        }
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn symbolic_links_do_not_lead_out_of_the_folders() {
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
                    let (parts, _) = ask(dir.path(), &format!("/wp-content/{folder}/{name}{end}"), &[]).await;
                    assert_eq!(parts.status, status, "{folder}/{name}{end}");
                }
            }
        }
    }

    #[tokio::test]
    async fn parts() {
        let dir = content();
        #[rustfmt::skip]
        let rows: [(&str, u16, &str, Option<&str>); 7] = [
            ("bytes=2-4", 206, "234", Some("bytes 2-4/10")), ("bytes=7-", 206, "789", Some("bytes 7-9/10")),
            ("bytes=-2", 206, "89", Some("bytes 8-9/10")), ("bytes=5-99", 206, "56789", Some("bytes 5-9/10")),
            ("bytes=10-", 416, "", Some("bytes */10")), ("bytes=1-2,4-5", 200, "0123456789", None),
            ("bytes=4-2", 200, "0123456789", None),
        ];
        for (range, status, expected, content_range) in rows {
            let (parts, body) = ask(dir.path(), &format!("{ADDRESS}/2024/a.png"), &[("range", range)]).await;
            assert_eq!((parts.status.as_u16(), body.as_slice()), (status, expected.as_bytes()), "{range}");
            let told = parts.headers.get(header::CONTENT_RANGE).map(|v| v.to_str().unwrap());
            assert_eq!(told, content_range, "{range}");
        }
    }

    #[tokio::test]
    async fn conditions() {
        let dir = content();
        let path = format!("{ADDRESS}/2024/a.png");
        let (first, _) = ask(dir.path(), &path, &[]).await;
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
            let (parts, _) = ask(dir.path(), &path, headers).await;
            assert_eq!(parts.status, status, "{headers:?}");
        }
    }
}
