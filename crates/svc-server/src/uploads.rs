//! Uploaded files and those of themes, straight from the content folder: with ranges and modification times, never as
//! something that a browser would run in the site's name.

use std::path::Path;

use axum::{
    Router,
    extract::Request,
    middleware::{Next, from_fn},
    response::{IntoResponse, Response},
};
use http::{HeaderValue, StatusCode, header};
use tower_http::services::ServeDir;

/// Address of the uploads under the site's. Stored content links to it, so it is the same under every brand.
pub const ADDRESS: &str = "/wp-content/uploads";

/// Folder of the uploads in the content folder.
pub const FOLDER: &str = "uploads";

/// Address of the themes' files, and their folder in the content folder.
const THEMES: (&str, &str) = ("/wp-content/themes", "themes");

/// Endings of programs and of server configuration. They are not served at all: their source may hold secrets.
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

/// What a browser may do with a file that it shows as a page: nothing.
const SANDBOX: HeaderValue = HeaderValue::from_static("sandbox; default-src 'none'");

/// Serves the uploads of this content folder at [`ADDRESS`] and the files of its themes beside, under the path of the
/// site (empty, or `/blog`).
pub fn router(site_path: &str, content_dir: &Path) -> Router {
    let mut router = Router::new();
    for (address, folder) in [(ADDRESS, FOLDER), THEMES] {
        let files = ServeDir::new(content_dir.join(folder)).append_index_html_on_directories(false);
        router = router.nest_service(&format!("{site_path}{address}"), files);
    }
    router.layer(from_fn(guard))
}

async fn guard(request: Request, next: Next) -> Response {
    let name = request.uri().path().rsplit('/').next().unwrap_or_default().to_ascii_lowercase();
    // Every ending counts: some servers run `a.php.jpg`, and a file made for those may lie here.
    let mut endings = name.split('.').skip(1);
    if hidden(request.uri().path()) || endings.any(|e| REFUSED.contains(&e) || e.contains('%')) {
        return StatusCode::NOT_FOUND.into_response();
    }
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

/// Whether a segment of the path begins with a dot, plainly or encoded.
fn hidden(path: &str) -> bool {
    path.split('/').any(|s| s.starts_with('.') || s.get(..3).is_some_and(|p| p.eq_ignore_ascii_case("%2e")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::body::Body;
    use tower::ServiceExt;

    async fn ask(dir: &Path, path: &str, range: Option<&str>) -> Response {
        let mut request = Request::builder().uri(path);
        if let Some(range) = range {
            request = request.header(header::RANGE, range);
        }
        router("", dir).oneshot(request.body(Body::empty()).unwrap()).await.unwrap()
    }

    fn content() -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        let uploads = dir.path().join(FOLDER).join("2024");
        std::fs::create_dir_all(&uploads).unwrap();
        for name in ["a.png", "a.svg", "a.html", "a.php", "a.php.png", ".hidden.png", "index.html", "a.PhP"] {
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
            ("/2024/a.PhP", 404, false), ("/2024/a.%70hp", 404, false), ("/2024/a.php.png", 404, false),
            ("/2024/.hidden.png", 404, false), ("/2024/%2ehidden.png", 404, false), ("/2024/none.png", 404, false),
            ("/2024/", 404, true), ("/../secret.png", 404, false), ("/%2e%2e/secret.png", 404, false),
        ];
        for (path, status, download) in rows {
            let response = ask(dir.path(), &format!("{ADDRESS}{path}"), None).await;
            assert_eq!(response.status(), status, "{path}");
            assert_eq!(response.headers().contains_key(header::CONTENT_DISPOSITION), download, "{path}");
            if status == 200 {
                assert_eq!(response.headers()[header::X_CONTENT_TYPE_OPTIONS], "nosniff");
            }
        }
    }

    #[tokio::test]
    async fn files_of_themes_are_served_in_the_same_way() {
        let dir = content();
        let theme = dir.path().join("themes/paper");
        std::fs::create_dir_all(&theme).unwrap();
        for name in ["style.css", "functions.php", "theme.json"] {
            std::fs::write(theme.join(name), "x").unwrap();
        }
        for (name, status, download) in
            [("style.css", 200, false), ("functions.php", 404, false), ("theme.json", 200, true)]
        {
            let response = ask(dir.path(), &format!("/wp-content/themes/paper/{name}"), None).await;
            assert_eq!(response.status(), status, "{name}");
            assert_eq!(response.headers().contains_key(header::CONTENT_DISPOSITION), download, "{name}");
        }
    }

    #[tokio::test]
    async fn ranges_are_answered() {
        let dir = content();
        let response = ask(dir.path(), &format!("{ADDRESS}/2024/a.png"), Some("bytes=2-4")).await;
        assert_eq!(response.status(), 206);
        assert_eq!(response.headers()[header::CONTENT_RANGE], "bytes 2-4/10");
    }
}
