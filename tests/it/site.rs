//! A running site on a temporary folder.

use std::net::SocketAddr;

use svc_auth::application_password::{ApplicationPassword, list_to_value};
use svc_php::{Php, serialize};
use svc_server::{
    SiteBuilder,
    config::{Config, SETTINGS, Sources},
    first_run::Created,
    serving::{Running, bind},
};
use svc_store::{DatabaseUrl, MetaKind, Store, StoreConfig, meta, options, users};
use tempfile::TempDir;

use crate::client::{Answer, send};

/// A server with its folder; both go when it is dropped.
pub(crate) struct Site {
    pub(crate) folder: TempDir,
    pub(crate) address: SocketAddr,
    pub(crate) created: Option<Created>,
    running: Option<Running>,
}

/// Settings for a site in this folder.
pub(crate) fn config(folder: &TempDir, settings: &[(&str, &str)]) -> Config {
    let flag = |(key, value): &(&str, &str)| {
        (SETTINGS.iter().find(|s| s.key == *key).expect("a setting"), (*value).to_owned())
    };
    let sources =
        Sources { folder: folder.path().to_owned(), variables: Vec::new(), flags: settings.iter().map(flag).collect() };
    Config::load(&sources).unwrap()
}

/// The database of a site that does not run, or runs beside.
pub(crate) fn store(folder: &TempDir) -> Store {
    let url = DatabaseUrl::Sqlite(folder.path().join("svc-data/site.db"));
    Store::open(&StoreConfig::new(url)).unwrap()
}

impl Site {
    /// A new site.
    pub(crate) async fn start() -> Self {
        Self::start_in(tempfile::tempdir().unwrap(), &SiteBuilder::new(), &[]).await
    }

    /// A site on what the folder holds.
    pub(crate) async fn start_in(folder: TempDir, builder: &SiteBuilder, settings: &[(&str, &str)]) -> Self {
        let config = config(&folder, settings);
        let listener = bind("127.0.0.1:0").await.unwrap();
        let here = format!("http://{}", listener.local_addr().unwrap()).parse().unwrap();
        let mut site = builder.open(&config, &here).unwrap();
        let running = Running::start(listener, site.router(), config.limits.clone()).unwrap();
        Site { folder, address: running.address(), created: site.take_created(), running: Some(running) }
    }

    /// Stops the server and gives its folder back.
    pub(crate) async fn stop(mut self) -> TempDir {
        if let Some(running) = self.running.take() {
            running.stop().await;
        }
        self.folder
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        send(self.address, "GET", path, &[], "").await
    }

    /// Posts JSON as this user: name and application password.
    pub(crate) async fn post(&self, path: &str, as_user: &str, body: &serde_json::Value) -> Answer {
        let basic = basic(as_user);
        let headers = [("Authorization", basic.as_str()), ("Content-Type", "application/json")];
        send(self.address, "POST", path, &headers, &body.to_string()).await
    }

    /// Gives the administrator an application password; the two as Basic authentication takes them.
    pub(crate) fn app_password(&self) -> String {
        let (item, plain) = ApplicationPassword::generate("tests", "", 1_700_000_000).unwrap();
        let stored = serialize::to_stored(Php::from(list_to_value(&[item])));
        let stored = String::from_utf8(stored).unwrap();
        store(&self.folder)
            .write_blocking(move |tx| {
                let admin = users::by_login(tx, "admin")?.expect("the first user");
                meta::update(tx, MetaKind::User, admin.id.0, "_application_passwords", &stored)?;
                options::set(tx, "using_application_passwords", "1", false)
            })
            .unwrap();
        format!("admin:{}", plain.expose())
    }
}

/// The header of Basic authentication for a name and a password, with a colon between.
pub(crate) fn basic(user: &str) -> String {
    format!("Basic {}", base64(user.as_bytes()))
}

/// RFC 4648, for the one header that needs it.
fn base64(bytes: &[u8]) -> String {
    const SIGNS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let n = chunk.iter().fold(0_u32, |n, b| n << 8 | u32::from(*b)) << (8 * (3 - chunk.len()));
        for i in 0..4 {
            let sign = if i <= chunk.len() { SIGNS[(n >> (18 - 6 * i) & 63) as usize] } else { b'=' };
            text.push(char::from(sign));
        }
    }
    text
}
