//! Starts the server as a gateway in front of a running WordPress, for other tasks.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    process::Command,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, ensure};

use crate::server::{self, Response, Server, exchange, send};

/// The longest time until the news of writes can be read.
const START: Duration = Duration::from_secs(120);

/// A read that is replayed when it is asked for again.
const REPLAYED: &str = "/wp-json/wp/v2/types";

/// A gateway in front of a WordPress.
pub struct Gateway {
    server: Option<Server>,
    program: PathBuf,
    wp_config: PathBuf,
    folder: tempfile::TempDir,
    listen: String,
    /// URL of WordPress.
    pub site: String,
    /// An administrator with an application password.
    pub credentials: String,
}

impl Gateway {
    /// Starts a gateway in front of the WordPress in a folder. `settings` are lines of the section `wordpress`. `None` if there is no
    /// WordPress, or its server does not respond.
    pub fn start(program: &Path, wordpress: &Path, settings: &str) -> Result<Option<Self>> {
        let wp_config = wordpress.join("wp-config.php");
        if !wp_config.is_file() {
            return Ok(None);
        }
        let folder = tempfile::tempdir().context("cannot create a temporary folder")?;
        let mut gateway = Gateway {
            server: None,
            program: program.to_owned(),
            wp_config,
            folder,
            listen: "127.0.0.1:0".to_owned(),
            site: String::new(),
            credentials: String::new(),
        };
        // The site's URL is in its database.
        let alone = server::serve(gateway.command(), gateway.folder.path())?;
        let index = send(alone.address(), "GET", "/?rest_route=/&_fields=url", "", None)?.json()?;
        gateway.site = index["url"].as_str().context("the index has no URL")?.trim_end_matches('/').to_owned();
        drop(alone);
        if send(&gateway.site, "GET", "/?rest_route=/&_fields=url", "", None).is_err() {
            return Ok(None);
        }
        gateway.credentials = server::credentials(gateway.command())?;
        let text =
            format!("trusted_proxies = \"127.0.0.1\"\n[wordpress]\nupstream = \"{}\"\n{settings}\n", gateway.site);
        std::fs::write(gateway.folder.path().join("svc.toml"), text)?;
        let installed = gateway.command().args(["connector", "install"]).output().context("cannot run the server")?;
        ensure!(installed.status.success(), "{}", String::from_utf8_lossy(&installed.stderr));
        reload_php(wordpress);
        gateway.restart()?;
        // It returns to the same address after it was killed.
        gateway.listen = gateway.address().trim_start_matches("http://").to_owned();
        Ok(Some(gateway))
    }

    /// The server's program with this site's settings.
    pub fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.current_dir(self.folder.path()).env_clear().arg("--wp-config").arg(&self.wp_config);
        // All clients have the same address.
        command.args(["--environment", "local"]).env("SVC_LIMITS_CONNECTIONS_PER_NETWORK", "1024");
        command
    }

    /// Starts the gateway, or kills it first.
    pub fn restart(&mut self) -> Result<()> {
        self.kill();
        let log = self.log_file();
        drop(std::fs::remove_file(&log));
        let mut command = self.command();
        command.args(["--listen", &self.listen, "--log", "warn", "serve"]);
        self.server = Some(Server::start(command, &log)?);
        self.wait_until_replays()
    }

    /// Waits until a response is replayed.
    pub fn wait_until_replays(&self) -> Result<()> {
        let start = Instant::now();
        while is_forwarded(&get(self.address(), REPLAYED, "")?) {
            ensure!(start.elapsed() < START, "nothing is replayed: {}", self.log());
            std::thread::sleep(Duration::from_millis(200));
        }
        Ok(())
    }

    /// Kills the gateway without a signal to shut down.
    pub fn kill(&mut self) {
        self.server = None;
    }

    /// Scheme, host and port.
    pub fn address(&self) -> &str {
        self.server.as_ref().map_or("", Server::address)
    }

    /// The server; `None` after [`Gateway::kill`].
    pub fn server(&self) -> Option<&Server> {
        self.server.as_ref()
    }

    fn log_file(&self) -> PathBuf {
        self.folder.path().join("gateway.log")
    }

    /// Numbers of requests that WordPress has answered, by reason, as of the last ten seconds.
    pub fn reasons(&self) -> BTreeMap<String, u64> {
        let text = std::fs::read_to_string(self.folder.path().join("svc-data/replay.json")).unwrap_or_default();
        let report: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
        let reasons = report["reasons"].as_object().into_iter().flatten();
        reasons.filter_map(|(why, n)| Some((why.clone(), n.as_u64()?))).collect()
    }

    /// The log since the start.
    pub fn log(&self) -> String {
        std::fs::read_to_string(self.log_file()).unwrap_or_default()
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        self.kill();
        drop(self.command().args(["connector", "remove"]).output());
    }
}

/// Lets php-fpm read the connector's files again, if its cache does not look for changes.
fn reload_php(wordpress: &Path) {
    let pid = wordpress.parent().and_then(|folder| std::fs::read_to_string(folder.join("run/php-fpm.pid")).ok());
    if let Some(pid) = pid {
        drop(Command::new("kill").args(["-USR2", pid.trim()]).status());
        std::thread::sleep(Duration::from_secs(1));
    }
}

/// Whether WordPress has responded, and not the gateway with a stored response or one that was rendered for another request.
pub fn is_forwarded(response: &Response) -> bool {
    !response.headers("cache-status").any(|status| status.contains("; hit") || status.contains("; collapsed"))
}

/// Sends a `GET` request with credentials (`USER:PASSWORD`, or empty).
pub fn get(address: &str, path: &str, credentials: &str) -> Result<Response> {
    let headers: Vec<(&str, String)> =
        if credentials.is_empty() { Vec::new() } else { vec![("Authorization", server::basic(credentials))] };
    exchange(address, "GET", path, &headers, "")
}
