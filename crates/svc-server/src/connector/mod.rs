//! The connector: a small plugin for WordPress that reports what PHP registers, and its client.
//!
//! `install.rs` writes the plugin and its secret, `client.rs` sends signed requests, `report.rs` is the content of a report, and
//! `adoption.rs` converts a report to entries of `svc.toml` (`entries.rs`). `changes.rs` waits for other registrations,
//! `texts.rs` requests texts that PHP renders. `rest.rs` makes a report from the REST API of a WordPress without the
//! connector.

pub(crate) mod adoption;
pub(crate) mod changes;
pub(crate) mod client;
mod entries;
pub(crate) mod install;
pub(crate) mod report;
pub(crate) mod rest;
mod texts;

use svc_render::external_texts::Markup;

use crate::config::Config;

/// A configuration with what PHP registers.
pub(crate) struct WithRegistrations {
    pub(crate) config: Config,
    /// The registrations of PHP, in the form of `svc.toml`.
    pub(crate) registered: String,
}

/// The configuration with what PHP registers, as far as the connector reports it. Entries of `svc.toml` take precedence.
///
/// Returns `None` if the connector is not installed or not used.
///
/// # Errors
/// If WordPress does not respond, or its report cannot be used.
pub(crate) async fn with_registrations(config: &Config) -> Result<Option<WithRegistrations>, client::Error> {
    let own = config.clone();
    // Reads the secret, and the site's URL from the database.
    let connector = tokio::task::spawn_blocking(move || client::Connector::of(&own)).await;
    let connector = connector.map_err(|error| client::Error::Unusable(error.to_string()))??;
    let Some(connector) = connector else { return Ok(None) };
    let report = connector.registrations().await?;
    let adopted = adoption::Adoption::of(&report);
    let mut config = config.clone();
    let markup = Markup::new(report.shortcodes, report.dynamic);
    let known = format!("{markup:?}");
    config.php_markup = Some(markup);
    config.registered = adopted.registered()?.overridden_by(std::mem::take(&mut config.registered));
    tracing::info!(entries = adopted.len(), left_out = adopted.left_out.len(), "WordPress reported its registrations");
    let registered = format!("{}\n{known}", adopted.to_toml());
    Ok(Some(WithRegistrations { config, registered }))
}

#[cfg(test)]
mod tests {
    use std::{
        io::{Read as _, Write as _},
        net::TcpListener,
        thread::JoinHandle,
    };

    use super::*;
    use crate::config::{SETTINGS, Setting, Sources};

    /// A web server that responds once. Returns the request that it got.
    fn upstream(response: String) -> (String, JoinHandle<String>) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let served = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let (mut got, mut part) = (Vec::new(), [0; 4096]);
            while !got.ends_with(b"}") {
                let n = stream.read(&mut part).unwrap();
                got.extend_from_slice(&part[..n]);
            }
            let head = format!("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: {}\r\n\r\n", response.len());
            stream.write_all((head + &response).as_bytes()).unwrap();
            String::from_utf8(got).unwrap()
        });
        (url, served)
    }

    fn config(folder: &std::path::Path, upstream: &str, more: &[(&str, &str)]) -> Config {
        std::fs::write(
            folder.join("wp-config.php"),
            "<?php define('DB_NAME', 'a'); define('DB_USER', 'b'); define('DB_PASSWORD', ''); define('DB_HOST', 'h'); $table_prefix = 'wp_';",
        )
        .unwrap();
        let find = |key: &str| -> &'static Setting { SETTINGS.iter().find(|s| s.key == key).unwrap() };
        let flags = [
            ("wp_config", "wp-config.php"),
            ("brand", "wp"),
            ("site_url", "http://site.example/blog"),
            ("wordpress.upstream", upstream),
        ];
        let flags = flags.iter().chain(more).map(|(key, value)| (find(key), (*value).to_owned())).collect();
        Config::load(&Sources { folder: folder.to_owned(), flags, ..Sources::default() }).unwrap()
    }

    #[tokio::test]
    async fn uses_what_the_connector_reports() {
        let folder = tempfile::tempdir().unwrap();
        let report = serde_json::json!({
            "types": [{"name": "book", "label": "Reported", "public": true, "show_in_rest": true, "slug": "book",
                       "rest_base": "books"}],
            "meta": [{"object": "post", "of": "book", "key": "isbn", "type": "string", "single": true, "guarded": true}],
        });
        let (url, served) = upstream(report.to_string());
        std::fs::write(folder.path().join("svc.toml"), "[[types]]\nname = 'note'\n").unwrap();
        let config = config(folder.path(), &url, &[]);
        assert!(with_registrations(&config).await.unwrap().is_none(), "no secret is installed");
        let secret = "0123456789abcdef0123456789abcdef";
        let path = install::secret_path(config.wp_config.as_ref().unwrap());
        std::fs::write(path, format!("<?php\nreturn '{secret}';\n")).unwrap();

        let found = with_registrations(&config).await.unwrap().unwrap();
        let request = served.join().unwrap().to_ascii_lowercase();
        assert!(request.starts_with("post /blog/?svc-connector=1 http/1.1\r\n"), "{request}");
        assert!(request.contains("\r\nhost: site.example\r\n") && request.contains("\r\nx-svc-connector: "));
        assert!(!request.contains(secret));
        let registered = format!("{:?}", found.config.registered);
        assert!(registered.contains("\"book\"") && registered.contains("\"isbn\""), "{registered}");
        assert!(registered.contains("\"note\""), "entries of the file remain");
    }

    #[tokio::test]
    async fn errors_of_the_connector_are_reported() {
        let folder = tempfile::tempdir().unwrap();
        for (response, message) in [
            (r#"{"error":"not signed"}"#, "the connector responded with 200: not signed"),
            ("<html>", "the response is not one of the connector (status 200)"),
            (r#"{"types":[{"name":1}]}"#, "the report of the connector cannot be used"),
        ] {
            let (url, served) = upstream(response.to_owned());
            let config = config(folder.path(), &url, &[]);
            let path = install::secret_path(config.wp_config.as_ref().unwrap());
            std::fs::write(path, "<?php\nreturn '0123456789abcdef0123456789abcdef';\n").unwrap();
            let error = with_registrations(&config).await.err().unwrap().to_string();
            assert!(error.starts_with(message), "{error}");
            served.join().unwrap();
        }
        let unused = config(folder.path(), "http://127.0.0.1:1", &[("wordpress.connector", "false")]);
        assert!(with_registrations(&unused).await.unwrap().is_none());
    }
}
