//! The demo server on a copy of the recorded site.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result, bail};
use svc_test_databases::mariadb::MariaDb;
use xtask_support::{root, server::Server};

use crate::folders::own_folder;

/// Names of the databases on a database server: the imported site, and the copy that is served.
const IMPORTED: &str = "imported";
const SERVED: &str = "served";

/// The database of the recorded site, which the tests of the crates import as well.
const DUMP: &str = "crates/svc-store/testdata/site.sql.gz";

/// The configuration that the recorded site is served with; it has the keys of the site's cookies.
pub(crate) fn config() -> Result<PathBuf> {
    Ok(own_folder()?.join("site/svc.toml"))
}

/// The demo server on a copy of the recorded site. The site is imported once and copied at each reset.
pub(crate) struct Site {
    program: PathBuf,
    work: PathBuf,
    brand: String,
    /// The private database server, and the imported site as its own tool dumps it; without it the site is on SQLite.
    mysql: Option<(MariaDb, String)>,
    server: Option<Server>,
    /// Whether the server is one in production that a proxy with TLS is in front of.
    pub(crate) is_behind_tls: bool,
}

impl Site {
    /// Imports the recorded site in the folder `work`. It is served from the first reset on.
    pub(crate) fn import(program: PathBuf, work: &Path, brand: &str, mysql: Option<MariaDb>) -> Result<Self> {
        let mysql = mysql.map(|mysql| (mysql, String::new()));
        let mut site =
            Site { program, work: work.to_owned(), brand: brand.to_owned(), mysql, server: None, is_behind_tls: false };
        if let Some((mysql, _)) = &site.mysql {
            mysql.create(IMPORTED)?;
        }
        let mut command = site.command(&site.imported(), IMPORTED)?;
        command.arg("import").arg(root()?.join(DUMP)).arg("--content").arg(own_folder()?.join("site/content"));
        let output = command.output().with_context(|| format!("cannot run {}", site.program.display()))?;
        if !output.status.success() {
            bail!("the recorded site cannot be imported: {}", String::from_utf8_lossy(&output.stderr));
        }
        if let Some((mysql, dump)) = &mut site.mysql {
            *dump = mysql.dump(IMPORTED)?;
        }
        Ok(site)
    }

    fn imported(&self) -> PathBuf {
        self.work.join("imported")
    }

    fn command(&self, data: &Path, database: &str) -> Result<Command> {
        let mut command = Command::new(&self.program);
        // Neither a configuration in the working folder nor one in the environment is read.
        command.current_dir(&self.work).env_clear().args(["--brand", &self.brand]);
        command.arg("--data").arg(data).arg("--config").arg(config()?);
        if let Some((mysql, _)) = &self.mysql {
            command.env("SVC_DATABASE", mysql.url(database));
        }
        Ok(command)
    }

    /// Restores the imported site and restarts the server on it.
    pub(crate) fn reset(&mut self) -> Result<()> {
        self.stop();
        let data = self.work.join("data");
        if data.exists() {
            std::fs::remove_dir_all(&data).context("cannot remove the used site")?;
        }
        copy(&self.imported(), &data)?;
        if let Some((mysql, dump)) = &self.mysql {
            mysql.create(SERVED)?;
            mysql.client(&format!("USE {SERVED};\n{dump}"))?;
        }
        let mut command = self.command(&data, SERVED)?;
        if self.is_behind_tls {
            command.env("SVC_ENVIRONMENT", "production").env("SVC_TRUSTED_PROXIES", "127.0.0.1");
        }
        command.args(["--listen", "127.0.0.1:0", "--log", "warn", "serve"]);
        self.server = Some(Server::start(command, &self.work.join("server.log"))?);
        Ok(())
    }

    /// The URL of the running server.
    pub(crate) fn url(&self) -> Result<&str> {
        Ok(self.server.as_ref().context("the server runs after a reset")?.address())
    }

    /// The URL of the served database; `None` on SQLite.
    pub(crate) fn database_url(&self) -> Option<String> {
        self.mysql.as_ref().map(|(mysql, _)| mysql.url(SERVED))
    }

    /// The file of the served database on SQLite.
    pub(crate) fn database_file(&self) -> PathBuf {
        self.work.join("data").join("site.db")
    }

    /// Kills the server: what it wrote is not needed any more.
    pub(crate) fn stop(&mut self) {
        self.server = None;
    }
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    std::fs::create_dir_all(to).with_context(|| format!("cannot create {}", to.display()))?;
    for entry in std::fs::read_dir(from).with_context(|| format!("cannot list {}", from.display()))? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy(&entry.path(), &target)?;
        } else {
            std::fs::copy(entry.path(), &target).with_context(|| format!("cannot copy to {}", target.display()))?;
        }
    }
    Ok(())
}
