//! Where a server backs up to: a folder beside it, or a bucket.

use std::{
    net::TcpListener,
    process::{Child, Command, Stdio},
    time::Instant,
};

use anyhow::{Context, Result, ensure};
use xtask_support::server::exchange;

use super::RECOVERY;

/// The name of the bucket.
const BUCKET: &str = "svc-backup";

/// A destination of backups.
pub(crate) struct Target {
    /// Settings of the server and of its commands, by the names of their environment variables.
    pub(crate) settings: Vec<(&'static str, String)>,
    /// How `--from` names it.
    pub(crate) from: String,
    /// Ends with the target, and what is stored with it.
    _service: Option<Service>,
}

/// A process that is killed on drop.
struct Service(Child);

impl Drop for Service {
    fn drop(&mut self) {
        let _gone = self.0.kill();
        let _ended = self.0.wait();
    }
}

impl Target {
    /// A folder in that of the site.
    pub(crate) fn folder() -> Self {
        Target { settings: vec![("SVC_BACKUP_TO", "backup".to_owned())], from: "backup".to_owned(), _service: None }
    }

    /// A bucket of moto, an S3-compatible store for tests; `None` if it is not installed.
    pub(crate) fn bucket() -> Result<Option<Self>> {
        let port = TcpListener::bind("127.0.0.1:0").context("no free port")?.local_addr()?.port();
        let mut moto = Command::new("moto_server");
        moto.args(["-H", "127.0.0.1", "-p", &port.to_string()]).stdout(Stdio::null()).stderr(Stdio::null());
        let Ok(child) = moto.spawn() else { return Ok(None) };
        let service = Some(Service(child));
        let endpoint = format!("http://127.0.0.1:{port}");
        let (begun, path) = (Instant::now(), format!("/{BUCKET}"));
        while exchange(&endpoint, "PUT", &path, &[], "").map_or(0, |response| response.status) != 200 {
            ensure!(begun.elapsed() < RECOVERY, "moto_server does not create a bucket");
            std::thread::sleep(std::time::Duration::from_millis(100));
        }
        let from = format!("s3://{BUCKET}/site");
        let settings = vec![
            ("SVC_BACKUP_TO", from.clone()),
            ("SVC_BACKUP_ENDPOINT", endpoint),
            ("SVC_BACKUP_ACCESS_KEY", "key".to_owned()),
            ("SVC_BACKUP_SECRET_KEY", "secret".to_owned()),
        ];
        Ok(Some(Target { settings, from, _service: service }))
    }
}
