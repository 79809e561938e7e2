//! The tests themselves. Each finds something out about this server as it is reached from outside, and says what is true.

use std::time::{Duration, Instant};

use base64::Engine as _;
use http::HeaderMap;
use svc_fetch::{Allowed, FetchError, Get, Response};
use svc_schema::Error;
use svc_site::{Settings, blocking::blocking, http_client::own};

use super::{Finding, Test, Verdict};
use crate::RestSite;

/// Time for one request of a test.
const TIME: Duration = Duration::from_secs(10);

/// Bytes of an answer that a test looks at.
const BYTES: u64 = 64 << 10;

/// The user and password that callers send to see whether the header arrives.
const CREDENTIALS: &[u8] = b"user:pwd";

/// An answer is quick within this time.
const QUICK: Duration = Duration::from_millis(600);

/// Headers that tell of a cache between the page and its readers.
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

/// Carries out a test. `authorization` is the header that the caller sent.
///
/// # Errors
/// Those of the store.
pub(super) async fn find(site: &RestSite, test: Test, authorization: Option<&str>) -> Result<Finding, Error> {
    let settings = site.settings()?;
    let finding = match test {
        Test::BackgroundUpdates => background_updates(site).await?,
        Test::Loopback => loopback(site, &settings).await,
        Test::Https => https(site, &settings).await,
        Test::Directory => directory(site).await,
        Test::AuthorizationHeader => authorization_header(authorization),
        Test::PageCache => page_cache(site, &settings).await,
    };
    Ok(finding.advise(match test {
        Test::BackgroundUpdates => "Follow the releases of the server, and let it write to the folder of plugins.",
        Test::Loopback => "See that the machine can reach the site under its public address.",
        Test::Https => "Put a server in front that speaks HTTPS, and let the addresses of the site begin with https.",
        Test::Directory => "Set the address of a directory in the configuration, or see why it does not answer.",
        Test::AuthorizationHeader => "See that the servers in front of this one pass the header Authorization on.",
        Test::PageCache => "A server in front can keep pages for those who are not signed in.",
    }))
}

/// Asks the site itself, from outside.
async fn ask_own(site: &RestSite, settings: &Settings, url: &str) -> Result<Response, FetchError> {
    site.http_client.send(Get::new(url).allow(own(settings)).within(TIME).first(BYTES)).await
}

/// The server is a program that its owner replaces; what it can install by itself are packages of the directory.
async fn background_updates(site: &RestSite) -> Result<Finding, Error> {
    let folder = site.content_dir.join("plugins");
    let writable = blocking(move || {
        std::fs::create_dir_all(&folder).is_ok()
            && tempfile::Builder::new().prefix(".test-").tempfile_in(folder).is_ok()
    })
    .await?;
    let about =
        "This server does not update itself: its owner replaces the program. It can install packages of a directory.";
    Ok(if writable {
        Finding::new(Verdict::Recommended, "Updates are the owner's task", about)
    } else {
        Finding::new(Verdict::Critical, "The folder of plugins cannot be written", about)
    })
}

async fn loopback(site: &RestSite, settings: &Settings) -> Finding {
    let url = settings.urls.rest("/");
    let about = "The site asks itself under its public address, as previews and checks do.";
    match ask_own(site, settings, &url).await {
        Ok(answer) if answer.status == 200 => Finding::new(Verdict::Good, "The site can reach itself", about),
        Ok(answer) => {
            let more = format!("{about} The answer had the status {}.", answer.status);
            Finding::new(Verdict::Recommended, "The site reaches itself, and gets no proper answer", more)
        }
        Err(error) => Finding::new(Verdict::Critical, "The site cannot reach itself", format!("{about} Here {error}.")),
    }
}

async fn https(site: &RestSite, settings: &Settings) -> Finding {
    let urls = [settings.option("home"), settings.option("siteurl")];
    if !urls.iter().all(|address| address.starts_with("https://")) {
        let about = "The addresses of the site begin with http: what is sent can be read and changed on its way.";
        return Finding::new(Verdict::Recommended, "The site does not use HTTPS", about);
    }
    match ask_own(site, settings, urls[0]).await {
        Ok(_) => Finding::new(Verdict::Good, "The site uses HTTPS", "The site's certificate is valid."),
        Err(FetchError::Tls(why)) => {
            let about = format!("A visitor's browser will refuse the connection: {why}.");
            Finding::new(Verdict::Critical, "The site's certificate is not valid", about)
        }
        Err(error) => {
            let about = format!("Whether the certificate is valid could not be found out: {error}.");
            Finding::new(Verdict::Recommended, "HTTPS could not be checked", about)
        }
    }
}

async fn directory(site: &RestSite) -> Finding {
    let Some(address) = site.directory.as_deref() else {
        let about =
            "Without the address of a directory in its settings, this server installs no plugins and no blocks.";
        return Finding::new(Verdict::Recommended, "No directory of plugins is configured", about);
    };
    let url = format!("{address}/plugins/info/1.2/?action=query_plugins&request%5Bper_page%5D=1");
    let get = Get::new(url).allow(Allowed::origin_of(address)).within(TIME).first(BYTES);
    match site.http_client.send(get).await {
        Ok(answer) if answer.status == 200 => {
            Finding::new(Verdict::Good, "The directory can be reached", "Plugins and blocks can be installed from it.")
        }
        Ok(answer) => {
            let about = format!("It answered with the status {}.", answer.status);
            Finding::new(Verdict::Critical, "The directory of plugins does not work", about)
        }
        Err(error) => {
            let about = format!("Nothing can be installed: {error}.");
            Finding::new(Verdict::Critical, "The directory of plugins cannot be reached", about)
        }
    }
}

fn authorization_header(sent: Option<&str>) -> Finding {
    let expected = format!("Basic {}", base64::engine::general_purpose::STANDARD.encode(CREDENTIALS));
    let about = "Programs that people connect to the site sign in with this header.";
    match sent {
        Some(header) if header == expected => Finding::new(Verdict::Good, "The header arrives as it was sent", about),
        Some(_) => Finding::new(Verdict::Recommended, "The header does not arrive as it was sent", about),
        None => Finding::new(Verdict::Recommended, "The header does not arrive", about),
    }
}

async fn page_cache(site: &RestSite, settings: &Settings) -> Finding {
    let url = format!("{}/", settings.option("home").trim_end_matches('/'));
    let (mut times, mut found) = (Vec::new(), HeaderMap::new());
    for _ in 0..3 {
        let started = Instant::now();
        let answer = match ask_own(site, settings, &url).await {
            Ok(answer) => answer,
            Err(error) => {
                let about = format!("The front page could not be read: {error}.");
                return Finding::new(Verdict::Recommended, "A page cache could not be looked for", about);
            }
        };
        times.push(started.elapsed());
        found.extend(answer.headers);
    }
    times.sort_unstable();
    let is_quick = times[1] < QUICK;
    let headers: Vec<&str> = CACHE_HEADERS.into_iter().filter(|name| found.contains_key(*name)).collect();
    let about = format!(
        "The front page took {} milliseconds, the median of three. Headers that let it be kept: {}.",
        times[1].as_millis(),
        if headers.is_empty() { "none".to_owned() } else { headers.join(", ") },
    );
    match (is_quick, headers.is_empty()) {
        (true, false) => Finding::new(Verdict::Good, "Pages can be kept, and come quickly", about),
        (true, true) => {
            Finding::new(Verdict::Recommended, "Pages come quickly, though nothing lets them be kept", about)
        }
        (false, false) => Finding::new(Verdict::Recommended, "Pages can be kept, and come slowly", about),
        (false, true) => Finding::new(Verdict::Critical, "Pages come slowly, and nothing lets them be kept", about),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_header_is_compared_as_it_arrives() {
        for (sent, verdict) in [
            (Some("Basic dXNlcjpwd2Q="), Verdict::Good),
            (Some("Basic eDp5"), Verdict::Recommended),
            (None, Verdict::Recommended),
        ] {
            assert_eq!(authorization_header(sent).verdict, verdict, "{sent:?}");
        }
    }
}
