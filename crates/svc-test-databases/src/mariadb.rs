//! A private MariaDB server for tests: in a temporary directory, listening on a Unix socket, and stopped with this
//! process.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

/// Where packages install the server.
const PROGRAMS: [&str; 3] = ["/usr/sbin/mariadbd", "/usr/bin/mariadbd", "/usr/local/sbin/mariadbd"];

/// Time limit for the server to start, on a machine that does much else.
const START_TIMEOUT: Duration = Duration::from_mins(5);

/// Server options for disposable databases: no network, and no waiting for the disk.
pub const DISPOSABLE_OPTIONS: &[&str] =
    &["--skip-networking", "--innodb-flush-log-at-trx-commit=0", "--innodb-buffer-pool-size=64M"];

/// A private MariaDB server.
pub struct MariaDb {
    program: &'static str,
    folder: PathBuf,
    options: Vec<String>,
    /// The system user that runs the server; `None` for the user of this process.
    user: Option<&'static str>,
    /// A shell that stops the server when its standard input is closed, which happens however this process ends.
    guard: Mutex<Option<Child>>,
}

impl MariaDb {
    /// Starts a server with additional options. `None` if MariaDB is not installed.
    ///
    /// # Errors
    /// If the server does not start.
    pub fn start(options: &[&str]) -> Result<Option<Self>> {
        let options: Vec<String> = options.iter().map(|o| (*o).to_owned()).collect();
        Self::start_as(None, options)
    }

    /// [`Self::start`] as another system user, who will own the server's files.
    pub(crate) fn start_as(user: Option<&'static str>, options: Vec<String>) -> Result<Option<Self>> {
        let Some(program) = PROGRAMS.into_iter().find(|p| Path::new(p).exists()) else { return Ok(None) };
        let folder = tempfile::tempdir().context("cannot create a temporary directory")?.keep();
        if let Some(user) = user {
            let status = Command::new("chown").arg(user).arg(&folder).status().context("cannot run chown")?;
            if !status.success() {
                bail!("chown {user} {}: {status}", folder.display());
            }
        }
        let install = Command::new("mariadb-install-db")
            .args(["--no-defaults", "--auth-root-authentication-method=normal", "--skip-test-db"])
            .args(user.map(|user| format!("--user={user}")))
            .arg(format!("--datadir={}", folder.join("data").display()))
            .arg(format!("--tmpdir={}", folder.display()))
            .output()
            .context("cannot run mariadb-install-db")?;
        if !install.status.success() {
            bail!("mariadb-install-db: {}", String::from_utf8_lossy(&install.stderr));
        }
        let server = MariaDb { program, folder, options, user, guard: Mutex::new(None) };
        server.run()?;
        Ok(Some(server))
    }

    /// The server's directory, in which tests may put their own files.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Starts the server again after [`Self::kill`].
    ///
    /// # Errors
    /// If the server does not start.
    pub fn run(&self) -> Result<()> {
        let folder = self.folder.display();
        let user = self.user.unwrap_or("$(id -un)");
        // The guard deletes the directory unless it reads a word from its input. A server deletes the temporary tables of
        // others in its `tmpdir` when it starts, so each has its own.
        let script = format!(
            "exec 2>>'{folder}/err'; '{}' --no-defaults --user=\"{user}\" --datadir='{folder}/data' --tmpdir='{folder}' --socket='{folder}/s' --pid-file='{folder}/pid' \
             --log-error='{folder}/log.err' \"$@\" & server=$!; read word; kill $server 2>/dev/null; wait $server; \
             [ -n \"$word\" ] || rm -rf '{folder}'",
            self.program
        );
        let mut command = Command::new("sh");
        command.args(["-c", &script, "sh"]).args(&self.options).stdin(Stdio::piped());
        let guard = command.spawn().context("cannot run sh")?;
        *self.guard() = Some(guard);
        let start = Instant::now();
        while self.client("SELECT 1").is_err() {
            if start.elapsed() > START_TIMEOUT {
                bail!(
                    "mariadbd did not start: {}",
                    std::fs::read_to_string(self.folder.join("log.err")).unwrap_or_default()
                );
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        Ok(())
    }

    /// Kills the server with SIGKILL. Its files are not deleted.
    ///
    /// # Errors
    /// If the server is not running.
    pub fn kill(&self) -> Result<()> {
        self.signal("-9")?;
        if let Some(mut guard) = self.guard().take() {
            if let Some(mut input) = guard.stdin.take() {
                input.write_all(b"stay\n").context("cannot write to the guard")?;
            }
            guard.wait().context("cannot wait for the guard")?;
        }
        // Otherwise the next server's PID file could be confused with this one.
        drop(std::fs::remove_file(self.folder.join("pid")));
        Ok(())
    }

    /// Stops the server with SIGSTOP: it accepts connections and does not respond. [`Self::resume`] lets it continue.
    /// On Linux it returns when all threads have stopped.
    ///
    /// # Errors
    /// If the server is not running, or does not stop within ten seconds.
    pub fn pause(&self) -> Result<()> {
        self.signal("-STOP")?;
        let threads = Path::new("/proc").join(self.pid()?.to_string()).join("task");
        let end = Instant::now() + Duration::from_secs(10);
        while is_any_running(&threads) {
            if Instant::now() > end {
                bail!("the server does not stop");
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        Ok(())
    }

    /// Lets a server continue after [`Self::pause`].
    ///
    /// # Errors
    /// If the server is not running.
    pub fn resume(&self) -> Result<()> {
        self.signal("-CONT")
    }

    /// Adds an option for the next [`Self::run`], which replaces an earlier one of the same name.
    pub(crate) fn set_option(&mut self, option: String) {
        self.options.push(option);
    }

    fn signal(&self, signal: &str) -> Result<()> {
        let pid = self.pid()?.to_string();
        let status = Command::new("kill").args([signal, &pid]).status().context("cannot run kill")?;
        if status.success() { Ok(()) } else { bail!("kill {signal} {pid}: {status}") }
    }

    /// The id of the server's process.
    ///
    /// # Errors
    /// If the server is not running.
    pub fn pid(&self) -> Result<u32> {
        let pid = std::fs::read_to_string(self.folder.join("pid")).context("the server is not running")?;
        pid.trim().parse().context("the server's PID file has no number")
    }

    fn guard(&self) -> std::sync::MutexGuard<'_, Option<Child>> {
        self.guard.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// Runs SQL statements as root with MariaDB's command-line client and returns its output.
    ///
    /// # Errors
    /// The client's error message.
    pub fn client(&self, sql: &str) -> Result<String> {
        let mut client = Command::new("mariadb");
        let mut client = self
            .with_connection_args(client.args(["--no-defaults", "-N", "-B"]))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .context("cannot run mariadb")?;
        // If the client does not read its input, it reports an error itself.
        drop(client.stdin.take().context("the client has no standard input")?.write_all(sql.as_bytes()));
        let out = client.wait_with_output()?;
        if !out.status.success() {
            bail!("{}", String::from_utf8_lossy(&out.stderr));
        }
        Ok(String::from_utf8_lossy(&out.stdout).into_owned())
    }

    fn with_connection_args<'c>(&self, command: &'c mut Command) -> &'c mut Command {
        command.args(["-u", "root", "--socket"]).arg(self.folder.join("s"))
    }

    /// Dumps a database with `mariadb-dump`.
    ///
    /// # Errors
    /// The tool's error message.
    pub fn dump(&self, database: &str) -> Result<String> {
        let mut dump = Command::new("mariadb-dump");
        let out = self
            .with_connection_args(dump.args(["--no-defaults", "--skip-comments", "--extended-insert"]))
            .arg(database);
        let out = out.output().context("cannot run mariadb-dump")?;
        if !out.status.success() {
            bail!("{}", String::from_utf8_lossy(&out.stderr));
        }
        String::from_utf8(out.stdout).context("the dump is not UTF-8")
    }

    /// Creates an empty database, replacing any existing one of this name, and returns its URL.
    ///
    /// # Errors
    /// The client's error message.
    pub fn create(&self, name: &str) -> Result<String> {
        self.client(&format!(
            "DROP DATABASE IF EXISTS `{name}`; CREATE DATABASE `{name}` CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_520_ci"
        ))?;
        Ok(self.url(name))
    }

    /// The URL of a database.
    pub fn url(&self, name: &str) -> String {
        let socket = self.folder.join("s").display().to_string().replace('/', "%2F");
        format!("mysql://root@localhost/{name}?socket={socket}")
    }
}

/// Whether a thread of this folder of `/proc` is not stopped. The state follows the name, which is in parentheses.
fn is_any_running(threads: &Path) -> bool {
    let Ok(entries) = std::fs::read_dir(threads) else { return false };
    let is_stopped = |stat: &str| stat.rsplit_once(')').is_none_or(|(_, rest)| rest.trim_start().starts_with('T'));
    entries
        .flatten()
        .any(|entry| std::fs::read_to_string(entry.path().join("stat")).is_ok_and(|stat| !is_stopped(&stat)))
}
