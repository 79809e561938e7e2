//! The site health tests. Most of them send requests to the site's own public URL.

use std::time::{Duration, Instant};

use base64::Engine as _;
use http::HeaderMap;
use svc_fetch::{Allowed, FetchError, FetchedResponse, Get};
use svc_schema::Error;
use svc_site::{Settings, Site, blocking::run_blocking, http_client::own_origins};
use svc_versions::Context;

use super::{Finding, Test, Verdict};

/// Timeout of one request.
const TIME: Duration = Duration::from_secs(10);

/// Maximum number of bytes that are read of a response.
const BYTES: u64 = 64 << 10;

/// The user name and password that clients send to check that the `Authorization` header arrives.
const CREDENTIALS: &[u8] = b"user:pwd";

/// Response times below this count as fast.
const FAST: Duration = Duration::from_millis(600);

/// Response headers that indicate a page cache.
const CACHE_HEADERS: [&str; 16] = [
    "cache-control",
    "expires",
    "age",
    "last-modified",
    "etag",
    "via",
    "x-cache-enabled",
    "x-cache-disabled",
    "cf-cache-status",
    "x-cache",
    "x-litespeed-cache",
    "x-srcache-store-status",
    "x-srcache-fetch-status",
    "x-cache-status",
    "x-proxy-cache",
    "x-varnish",
];

/// Runs a test. `authorization` is the caller's `Authorization` header.
///
/// # Errors
/// Database errors.
pub(super) async fn run(cx: &Context, site: &Site, test: Test, authorization: Option<&str>) -> Result<Finding, Error> {
    let settings = site.settings(cx)?;
    let finding = match test {
        Test::BackgroundUpdates => background_updates(site).await?,
        Test::Loopback => loopback(site, &settings).await,
        Test::Https => https(site, &settings).await,
        Test::Directory => directory(site).await,
        Test::AuthorizationHeader => authorization_header(authorization),
        Test::PageCache => page_cache(site, &settings).await,
    };
    Ok(finding.advise(match test {
        Test::BackgroundUpdates => {
            "Install new releases of the server, and give it write access to the plugins folder."
        }
        Test::Loopback => "Make sure that the server can reach the site at its public URL.",
        Test::Https => "Serve the site through a proxy with HTTPS, and change the site's URLs to https.",
        Test::Directory => {
            "Set the URL of a plugin directory in the configuration, or find out why it does not respond."
        }
        Test::AuthorizationHeader => "Make sure that proxies in front of this server forward the Authorization header.",
        Test::PageCache => "Consider a caching proxy for visitors who are not logged in.",
    }))
}

/// Sends a request to the site's own public URL.
async fn request_own(site: &Site, settings: &Settings, url: &str) -> Result<FetchedResponse, FetchError> {
    site.services.http_client.send(Get::new(url).allow(own_origins(settings)).within(TIME).first(BYTES)).await
}

/// The server does not update its own binary. It can only install packages of the plugin directory.
async fn background_updates(site: &Site) -> Result<Finding, Error> {
    let folder = site.content_dir.join("plugins");
    let writable = run_blocking(move || {
        std::fs::create_dir_all(&folder).is_ok()
            && tempfile::Builder::new().prefix(".test-").tempfile_in(folder).is_ok()
    })
    .await?;
    let about = "This server does not update itself; install new releases manually. It can install packages of a plugin directory.";
    Ok(if writable {
        Finding::new(Verdict::Recommended, "Updates must be installed manually", about)
    } else {
        Finding::new(Verdict::Critical, "The plugins folder is not writable", about)
    })
}

async fn loopback(site: &Site, settings: &Settings) -> Finding {
    let url = settings.urls.rest("/");
    let about = "The site sends a request to its own public URL, as previews and checks do.";
    match request_own(site, settings, &url).await {
        Ok(response) if response.status == 200 => Finding::new(Verdict::Good, "The site can reach itself", about),
        Ok(response) => {
            let more = format!("{about} The response had the status {}.", response.status);
            Finding::new(Verdict::Recommended, "The site can reach itself, but the response is unexpected", more)
        }
        Err(error) => {
            Finding::new(Verdict::Critical, "The site cannot reach itself", format!("{about} It failed: {error}."))
        }
    }
}

async fn https(site: &Site, settings: &Settings) -> Finding {
    let site_urls = [settings.option("home"), settings.option("siteurl")];
    if !site_urls.iter().all(|url| url.starts_with("https://")) {
        let about = "The site's URLs use http, so data can be read and modified in transit.";
        return Finding::new(Verdict::Recommended, "The site does not use HTTPS", about);
    }
    match request_own(site, settings, site_urls[0]).await {
        Ok(_) => Finding::new(Verdict::Good, "The site uses HTTPS", "The site's certificate is valid."),
        Err(FetchError::Tls(why)) => {
            let about = format!("Browsers will reject the connection: {why}.");
            Finding::new(Verdict::Critical, "The site's certificate is invalid", about)
        }
        Err(error) => {
            let about = format!("The certificate could not be checked: {error}.");
            Finding::new(Verdict::Recommended, "HTTPS could not be checked", about)
        }
    }
}

async fn directory(site: &Site) -> Finding {
    let Some(directory_url) = site.services.plugin_directory.as_deref() else {
        let about = "Without a plugin directory in its configuration, this server cannot install plugins or blocks.";
        return Finding::new(Verdict::Recommended, "No plugin directory is configured", about);
    };
    let url = format!("{directory_url}/plugins/info/1.2/?action=query_plugins&request%5Bper_page%5D=1");
    let get = Get::new(url).allow(Allowed::origin_of(directory_url)).within(TIME).first(BYTES);
    match site.services.http_client.send(get).await {
        Ok(response) if response.status == 200 => Finding::new(
            Verdict::Good,
            "The plugin directory is reachable",
            "Plugins and blocks can be installed from it.",
        ),
        Ok(response) => {
            let about = format!("The response had the status {}.", response.status);
            Finding::new(Verdict::Critical, "The plugin directory returned an error", about)
        }
        Err(error) => {
            let about = format!("Plugins and blocks cannot be installed: {error}.");
            Finding::new(Verdict::Critical, "The plugin directory is unreachable", about)
        }
    }
}

fn authorization_header(sent: Option<&str>) -> Finding {
    let expected = format!("Basic {}", base64::engine::general_purpose::STANDARD.encode(CREDENTIALS));
    let about = "Applications that connect to the site authenticate with this header.";
    match sent {
        Some(header) if header == expected => {
            Finding::new(Verdict::Good, "The Authorization header arrives unchanged", about)
        }
        Some(_) => Finding::new(Verdict::Recommended, "The Authorization header does not arrive as sent", about),
        None => Finding::new(Verdict::Recommended, "The Authorization header does not arrive", about),
    }
}

async fn page_cache(site: &Site, settings: &Settings) -> Finding {
    let url = format!("{}/", settings.option("home").trim_end_matches('/'));
    let (mut times, mut headers_found) = (Vec::new(), HeaderMap::new());
    for _ in 0..3 {
        let started = Instant::now();
        let response = match request_own(site, settings, &url).await {
            Ok(response) => response,
            Err(error) => {
                let about = format!("The front page could not be read: {error}.");
                return Finding::new(Verdict::Recommended, "The page cache could not be checked", about);
            }
        };
        times.push(started.elapsed());
        headers_found.extend(response.headers);
    }
    times.sort_unstable();
    let is_fast = times[1] < FAST;
    let headers: Vec<&str> = CACHE_HEADERS.into_iter().filter(|name| headers_found.contains_key(*name)).collect();
    let about = format!(
        "Median response time of three requests for the front page: {} milliseconds. Cache headers: {}.",
        times[1].as_millis(),
        if headers.is_empty() { "none".to_owned() } else { headers.join(", ") },
    );
    match (is_fast, headers.is_empty()) {
        (true, false) => Finding::new(Verdict::Good, "Pages are cacheable and fast", about),
        (true, true) => Finding::new(Verdict::Recommended, "Pages are fast but not cacheable", about),
        (false, false) => Finding::new(Verdict::Recommended, "Pages are cacheable but slow", about),
        (false, true) => Finding::new(Verdict::Critical, "Pages are slow and not cacheable", about),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn authorization_header_must_arrive_unchanged() {
        for (sent, verdict) in [
            (Some("Basic dXNlcjpwd2Q="), Verdict::Good),
            (Some("Basic eDp5"), Verdict::Recommended),
            (None, Verdict::Recommended),
        ] {
            assert_eq!(authorization_header(sent).verdict, verdict, "{sent:?}");
        }
    }
}
