//! Client of the plugin directory that is set in the configuration. It uses the API of the public WordPress directory.

use std::time::Duration;

use serde_json::{Map, Value, json};
use svc_fetch::{Allowed, Get};
use svc_schema::Error;

use crate::Site;

/// Maximum size of a response, in bytes.
const RESPONSE_BYTES: u64 = 8 << 20;

/// Maximum size of a package, in bytes.
const PACKAGE_BYTES: u64 = 64 << 20;

/// Timeouts for responses and for packages.
const RESPONSE_TIMEOUT: Duration = Duration::from_secs(15);
const PACKAGE_TIMEOUT: Duration = Duration::from_secs(50);

/// The directory's error message for an unknown plugin.
const NOT_FOUND: &str = "Plugin not found.";

/// A downloaded package with the directory's checksums.
pub struct DirectoryPackage {
    /// The ZIP archive.
    pub bytes: Vec<u8>,
    /// The `Content-MD5` header; empty if missing.
    pub md5: String,
    /// Checksums by file name.
    pub files: Option<Map<String, Value>>,
}

/// The directory is unreachable, or its response is invalid.
fn unreachable(why: impl Into<Value>) -> Error {
    let mut error = Error::new("plugins_api_failed", "The plugin directory could not be reached.");
    error.add_data(why.into(), None);
    error.add_data(json!({"status": 500}), None);
    error
}

/// No directory is configured.
fn not_configured() -> Error {
    Error::new(
        "plugins_api_failed",
        "This site has no plugin directory. Its administrator can configure one with the setting `directory`.",
    )
    .with_status(501)
}

/// The directory returned an error.
fn refused(why: &str) -> Error {
    Error::new("plugins_api_failed", "The plugin directory rejected the request.").with_status(if why == NOT_FOUND {
        404
    } else {
        500
    })
}

/// A request to the directory, whose configured URL may be on a private network.
fn to_directory(site: &Site, url: &str) -> Get {
    Get::new(url).allow(site.services.plugin_directory.as_deref().and_then(Allowed::origin_of))
}

/// Sends a request to the directory.
///
/// # Errors
/// `plugins_api_failed`: status 404 if the directory does not know the plugin, 501 if no directory is configured, 500 if
/// it is unreachable or its response is invalid.
pub async fn request(site: &Site, action: &str, request: Map<String, Value>) -> Result<Value, Error> {
    let Some(base) = site.services.plugin_directory.as_deref() else {
        return Err(not_configured());
    };
    let mut query = Map::from_iter([("action".to_owned(), Value::from(action))]);
    query.insert("request".to_owned(), Value::Object(request));
    let url = format!("{base}/plugins/info/1.2/?{}", svc_php::query::build(&query));
    let get = to_directory(site, &url).within(RESPONSE_TIMEOUT).max_bytes(RESPONSE_BYTES);
    let response = site.services.http_client.send(get).await.map_err(|e| unreachable(e.to_string()))?;
    let body = serde_json::from_slice::<Value>(&response.body);
    let body = body.ok().filter(Value::is_object).ok_or_else(|| unreachable("The response is invalid."))?;
    match body.get("error") {
        Some(why) => Err(refused(why.as_str().unwrap_or_default())),
        None if response.status != 200 => Err(unreachable(format!("The response has status {}.", response.status))),
        None => Ok(body),
    }
}

/// Downloads a plugin's package and its checksums.
///
/// # Errors
/// `download_failed` if either cannot be downloaded.
pub async fn download(site: &Site, about: &Value) -> Result<DirectoryPackage, Error> {
    let failed = |why: String| {
        tracing::warn!(why, "failed to download a package");
        Error::new("download_failed", format!("The package could not be downloaded: {why}.")).with_status(500)
    };
    let text = |name: &str| about.get(name).and_then(Value::as_str).unwrap_or_default();
    let link = text("download_link");
    let get = to_directory(site, link).within(PACKAGE_TIMEOUT).max_bytes(PACKAGE_BYTES);
    let response = site.services.http_client.send(get).await.map_err(|e| failed(e.to_string()))?;
    if response.status != 200 {
        return Err(failed(format!("the response has status {}", response.status)));
    }
    let md5 = response.header("content-md5").to_owned();
    let (slug, version) = (svc_text::sanitize_key(text("slug")), text("version"));
    let is_version = !version.is_empty() && version.bytes().all(|b| b.is_ascii_alphanumeric() || b".-_+".contains(&b));
    let files = match origin(link).filter(|_| is_version) {
        Some(origin) => {
            let url = format!("{origin}/plugin-checksums/{slug}/{version}.json");
            let get = to_directory(site, &url).within(RESPONSE_TIMEOUT).max_bytes(RESPONSE_BYTES);
            let sums = site.services.http_client.send(get).await.map_err(|e| failed(e.to_string()))?;
            let body = if sums.status == 200 { serde_json::from_slice::<Value>(&sums.body).ok() } else { None };
            body.and_then(|body| body.get("files")?.as_object().cloned())
        }
        None => None,
    };
    Ok(DirectoryPackage { bytes: response.body, md5, files })
}

/// Scheme, host and port of a URL.
fn origin(url: &str) -> Option<&str> {
    let after = url.find("://")? + 3;
    let end = url[after..].find(['/', '?', '#']).map_or(url.len(), |i| after + i);
    Some(&url[..end])
}
