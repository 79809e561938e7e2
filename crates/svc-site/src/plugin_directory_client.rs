//! The directory of plugins that the configuration names: the questions that the public one answers, in its form.

use std::time::Duration;

use serde_json::{Map, Value, json};
use svc_fetch::{Allowed, Get};
use svc_schema::Error;

use crate::Site;

/// Largest answer to a question, in bytes.
const ANSWER_BYTES: u64 = 8 << 20;

/// Largest package, in bytes.
const PACKAGE_BYTES: u64 = 64 << 20;

/// Time for an answer, and for a package.
const ANSWER_TIME: Duration = Duration::from_secs(15);
const PACKAGE_TIME: Duration = Duration::from_secs(50);

/// What the directory says when it does not know a plugin.
const NOT_FOUND: &str = "Plugin not found.";

/// A package as it came, and what the directory says of its contents.
pub struct DirectoryPackage {
    pub bytes: Vec<u8>,
    /// The header `Content-MD5`; empty when there was none.
    pub md5: String,
    /// Digests by name of file.
    pub files: Option<Map<String, Value>>,
}

/// The directory cannot be asked, or makes no sense.
fn unreachable(why: impl Into<Value>) -> Error {
    let mut error = Error::new("plugins_api_failed", "The directory of plugins could not be reached.");
    error.add_data(why.into(), None);
    error.add_data(json!({"status": 500}), None);
    error
}

/// The directory answered that it cannot help.
fn refused(why: &str) -> Error {
    Error::new("plugins_api_failed", "The directory of plugins refused the request.").with_status(if why == NOT_FOUND {
        404
    } else {
        500
    })
}

/// The directory's address may be private: it was configured.
fn to_directory(site: &Site, url: &str) -> Get {
    Get::new(url).allow(site.directory.as_deref().and_then(Allowed::origin_of))
}

/// Asks the directory.
///
/// # Errors
/// `plugins_api_failed` with status 500 when there is no directory or no answer that makes sense; with status 404 when the
/// directory does not know the plugin.
pub async fn ask(site: &Site, action: &str, request: Map<String, Value>) -> Result<Value, Error> {
    let Some(address) = site.directory.as_deref() else {
        return Err(unreachable("No directory of plugins is configured."));
    };
    let mut query = Map::from_iter([("action".to_owned(), Value::from(action))]);
    query.insert("request".to_owned(), Value::Object(request));
    let url = format!("{address}/plugins/info/1.2/?{}", svc_php::query::build(&query));
    let get = to_directory(site, &url).within(ANSWER_TIME).max_bytes(ANSWER_BYTES);
    let answer = site.http_client.send(get).await.map_err(|e| unreachable(e.to_string()))?;
    let body = serde_json::from_slice::<Value>(&answer.body);
    let body = body.ok().filter(Value::is_object).ok_or_else(|| unreachable("The answer is not understood."))?;
    match body.get("error") {
        Some(why) => Err(refused(why.as_str().unwrap_or_default())),
        None if answer.status != 200 => Err(unreachable(format!("The answer has the status {}.", answer.status))),
        None => Ok(body),
    }
}

/// Gets the package that the directory's description of a plugin names, with the digests that lie beside it.
///
/// # Errors
/// `download_failed` when either cannot be got.
pub async fn package(site: &Site, about: &Value) -> Result<DirectoryPackage, Error> {
    let failed = |why: String| {
        tracing::warn!(why, "a package was not downloaded");
        Error::new("download_failed", format!("The package could not be downloaded: {why}.")).with_status(500)
    };
    let text = |name: &str| about.get(name).and_then(Value::as_str).unwrap_or_default();
    let link = text("download_link");
    let get = to_directory(site, link).within(PACKAGE_TIME).max_bytes(PACKAGE_BYTES);
    let answer = site.http_client.send(get).await.map_err(|e| failed(e.to_string()))?;
    if answer.status != 200 {
        return Err(failed(format!("the answer has the status {}", answer.status)));
    }
    let md5 = answer.header("content-md5").to_owned();
    let (slug, version) = (svc_text::sanitize_key(text("slug")), text("version"));
    let is_version = !version.is_empty() && version.bytes().all(|b| b.is_ascii_alphanumeric() || b".-_+".contains(&b));
    let files = match origin(link).filter(|_| is_version) {
        Some(origin) => {
            let url = format!("{origin}/plugin-checksums/{slug}/{version}.json");
            let get = to_directory(site, &url).within(ANSWER_TIME).max_bytes(ANSWER_BYTES);
            let sums = site.http_client.send(get).await.map_err(|e| failed(e.to_string()))?;
            let body = if sums.status == 200 { serde_json::from_slice::<Value>(&sums.body).ok() } else { None };
            body.and_then(|body| body.get("files")?.as_object().cloned())
        }
        None => None,
    };
    Ok(DirectoryPackage { bytes: answer.body, md5, files })
}

/// Scheme, host and port of an address.
fn origin(url: &str) -> Option<&str> {
    let after = url.find("://")? + 3;
    let end = url[after..].find(['/', '?', '#']).map_or(url.len(), |i| after + i);
    Some(&url[..end])
}
