//! A private MariaDB server with a binary log, stopped with its value.

use std::{
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use mysql::{Conn, OptsBuilder, prelude::Queryable as _};
use svc_bridge::{
    changes::Changes,
    feed::{
        ResumePoint,
        binlog::{Binlog, Source},
    },
};

const PROGRAM: &str = "/usr/sbin/mariadbd";

/// The tables of a site, with some of the columns of WordPress's.
const TABLES: &str = include_str!("tables.sql");

pub(crate) struct Server {
    folder: tempfile::TempDir,
    options: Vec<String>,
    process: Child,
    /// Kills the server when its input ends, however this process ends.
    guard: Child,
}

impl Server {
    /// Starts a server with the site's tables in the schema `wp`. `None` without MariaDB, unless the tests are to be run with it.
    pub(crate) fn start(options: &[&str]) -> Option<Self> {
        if !Path::new(PROGRAM).exists() {
            assert!(std::env::var("SVC_TEST_DATABASE").is_err(), "{PROGRAM} is not installed");
            eprintln!("skipped: {PROGRAM} is not installed");
            return None;
        }
        let folder = tempfile::tempdir().unwrap();
        let user = String::from_utf8(Command::new("id").arg("-un").output().unwrap().stdout).unwrap();
        let installed = Command::new("mariadb-install-db")
            .args(["--no-defaults", "--auth-root-authentication-method=normal", "--skip-test-db"])
            .arg(format!("--user={}", user.trim()))
            .arg(format!("--datadir={}", folder.path().join("data").display()))
            .arg(format!("--tmpdir={}", folder.path().display()))
            .output()
            .unwrap();
        assert!(installed.status.success(), "{}", String::from_utf8_lossy(&installed.stderr));
        let options: Vec<String> = [format!("--user={}", user.trim())]
            .into_iter()
            .chain(
                [
                    "--skip-networking",
                    "--server-id=7",
                    "--log-bin=bin",
                    "--binlog-format=ROW",
                    "--innodb-buffer-pool-size=64M",
                ]
                .iter()
                .chain(options)
                .map(|option| (*option).to_owned()),
            )
            .collect();
        let (process, guard) = run(folder.path(), &options);
        let server = Server { folder, options, process, guard };
        server.wait();
        let mut connection = server.connect_to(None);
        connection.query_drop("CREATE DATABASE wp CHARACTER SET utf8mb4; CREATE DATABASE other").unwrap();
        connection.query_drop("USE wp").unwrap();
        connection.query_drop(TABLES).unwrap();
        Some(server)
    }

    fn wait(&self) {
        let start = Instant::now();
        while let Err(error) = Conn::new(self.options(None, "root")) {
            assert!(start.elapsed() < Duration::from_secs(60), "{error}\n{}", self.log());
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    fn log(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("log.err")).unwrap_or_default()
    }

    pub(crate) fn options(&self, schema: Option<&str>, user: &str) -> OptsBuilder {
        OptsBuilder::new().socket(Some(self.socket().display().to_string())).user(Some(user)).db_name(schema)
    }

    pub(crate) fn socket(&self) -> PathBuf {
        self.folder.path().join("s")
    }

    fn connect_to(&self, schema: Option<&str>) -> Conn {
        Conn::new(self.options(schema, "root")).unwrap()
    }

    /// A connection to the site's schema.
    pub(crate) fn connect(&self) -> Conn {
        self.connect_to(Some("wp"))
    }

    pub(crate) fn run(&self, sql: &str) {
        if let Err(error) = self.connect().query_drop(sql) {
            panic!("{sql}: {error}");
        }
    }

    pub(crate) fn source(&self, user: &str) -> Source {
        Source { server: self.options(Some("wp"), user).into(), prefix: "wp_".to_owned() }
    }

    /// A feed of the server that a path leads to.
    pub(crate) fn feed_at(&self, path: &Path) -> (Binlog, Changes) {
        let changes = Changes::with_images();
        let server = self.options(Some("wp"), "root").socket(Some(path.display().to_string())).into();
        (Binlog::start(Source { server, ..self.source("root") }, changes.clone(), None).unwrap(), changes)
    }

    pub(crate) fn feed(&self) -> (Binlog, Changes) {
        self.start_feed(None)
    }

    /// A feed that continues where another one has stopped.
    pub(crate) fn feed_from(&self, from: &ResumePoint) -> (Binlog, Changes) {
        self.start_feed(Some(from))
    }

    fn start_feed(&self, from: Option<&ResumePoint>) -> (Binlog, Changes) {
        let changes = Changes::with_images();
        (Binlog::start(self.source("root"), changes.clone(), from).unwrap(), changes)
    }

    /// Lets a path lead to this server, whose address others may have been at.
    pub(crate) fn take_over(&self, path: &Path) {
        let new = path.with_extension("new");
        std::os::unix::fs::symlink(self.socket(), &new).unwrap();
        std::fs::rename(new, path).unwrap();
    }

    /// Kills the server with SIGKILL.
    pub(crate) fn kill(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }

    /// Shuts the server down.
    pub(crate) fn shut_down(&mut self) {
        self.run("SHUTDOWN");
        self.process.wait().unwrap();
    }

    /// Starts the server again, with its first log files removed.
    pub(crate) fn restart_without_first_files(&mut self) {
        let data = self.folder.path().join("data");
        let index = data.join("bin.index");
        let files = std::fs::read_to_string(&index).unwrap();
        let (last, first) =
            files.lines().collect::<Vec<_>>().split_last().map(|(last, first)| (*last, first.to_vec())).unwrap();
        assert!(first.is_empty(), "the test has one file");
        // The server continues the numbers of the files that it finds.
        std::fs::rename(data.join(last.trim_start_matches("./")), data.join("bin.000005")).unwrap();
        std::fs::write(index, "./bin.000005\n").unwrap();
        self.restart();
    }

    /// Starts the server again.
    pub(crate) fn restart(&mut self) {
        self.end_guard();
        (self.process, self.guard) = run(self.folder.path(), &self.options);
        self.wait();
    }
}

impl Server {
    fn end_guard(&mut self) {
        drop(self.guard.kill());
        drop(self.guard.wait());
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.end_guard();
        drop(self.process.kill());
        drop(self.process.wait());
    }
}

fn run(folder: &Path, options: &[String]) -> (Child, Child) {
    let server = Command::new(PROGRAM)
        .arg("--no-defaults")
        .args(options)
        .arg(format!("--datadir={}", folder.join("data").display()))
        .arg(format!("--tmpdir={}", folder.display()))
        .arg(format!("--socket={}", folder.join("s").display()))
        .arg(format!("--pid-file={}", folder.join("pid").display()))
        .arg(format!("--log-error={}", folder.join("log.err").display()))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let kill = format!("read word; kill -9 {}", server.id());
    let guard = Command::new("sh").args(["-c", &kill]).stdin(Stdio::piped()).spawn().unwrap();
    (server, guard)
}
