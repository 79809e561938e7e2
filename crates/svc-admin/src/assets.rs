//! The styles and scripts of the pages. Their URLs have a hash of their content, so that they are cached without limit.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use axum::response::{IntoResponse as _, Response};
use http::{HeaderMap, HeaderValue, StatusCode, header};

const CSS: &str = "text/css; charset=UTF-8";
const JAVASCRIPT: &str = "text/javascript; charset=UTF-8";

/// A file of the admin.
struct Asset {
    name: &'static str,
    content_type: &'static str,
    content: &'static [u8],
    /// Whether the content is compressed with gzip, which all browsers accept that can run the editor.
    gzip: bool,
}

const ASSETS: &[Asset] = &[
    Asset { name: "admin.css", content_type: CSS, content: include_bytes!("../assets/admin.css"), gzip: false },
    Asset { name: "admin.js", content_type: JAVASCRIPT, content: include_bytes!("../assets/admin.js"), gzip: false },
    Asset { name: "beside.js", content_type: JAVASCRIPT, content: include_bytes!("../assets/beside.js"), gzip: false },
    Asset { name: "editor.css", content_type: CSS, content: include_bytes!("../assets/editor.css"), gzip: false },
    Asset {
        name: "editor.js",
        content_type: JAVASCRIPT,
        content: include_bytes!("../assets/editor.min.js.gz"),
        gzip: true,
    },
];

/// The URLs of the files, with the hash of each.
#[derive(Clone)]
pub(crate) struct Urls(Vec<(&'static str, String)>);

impl Urls {
    /// The URLs below this path of the admin.
    pub(crate) fn new(admin: &str) -> Self {
        let url = |asset: &Asset| {
            let mut hasher = DefaultHasher::new();
            asset.content.hash(&mut hasher);
            (asset.name, format!("{admin}/assets/{}?v={:016x}", asset.name, hasher.finish()))
        };
        Urls(ASSETS.iter().map(url).collect())
    }

    /// The URL of a file; empty if there is no such file.
    pub(crate) fn of(&self, name: &str) -> &str {
        self.0.iter().find(|(known, _)| *known == name).map_or("", |(_, url)| url)
    }
}

/// The response for a file; `None` if there is no such file.
pub(crate) fn respond(name: &str) -> Option<Response> {
    let asset = ASSETS.iter().find(|asset| asset.name == name)?;
    let mut headers = HeaderMap::new();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(asset.content_type));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("public, max-age=31536000, immutable"));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    if asset.gzip {
        headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    }
    Some((StatusCode::OK, headers, asset.content).into_response())
}
