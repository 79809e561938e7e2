//! A MariaDB of a test's own: in a temporary folder, reached through a socket, gone when the process is.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

/// Where packages put the server's program.
const PROGRAMS: [&str; 3] = ["/usr/sbin/mariadbd", "/usr/bin/mariadbd", "/usr/local/sbin/mariadbd"];

/// How long a server may take to start.
const START: Duration = Duration::from_secs(60);

/// A server that may be lost, since its databases are made anew each time; it does not wait for the disk.
pub const QUICK: &[&str] =
    &["--skip-networking", "--innodb-flush-log-at-trx-commit=0", "--innodb-buffer-pool-size=64M"];

/// A private server.
pub struct MariaDb {
    program: &'static str,
    folder: PathBuf,
    options: Vec<String>,
    /// The system's user that the server runs as; `None` is the user of this process.
    user: Option<&'static str>,
    /// A shell that ends the server when its own input ends, which is when this process does, however that comes.
    guard: Mutex<Option<Child>>,
}

impl MariaDb {
    /// Starts a server with these further options; `None` when none is installed.
    ///
    /// # Errors
    /// When it does not start.
    pub fn start(options: &[&str]) -> Result<Option<Self>> {
        let options: Vec<String> = options.iter().map(|o| (*o).to_owned()).collect();
        Self::start_as(None, options)
    }

    /// [`Self::start`] as another user of the system, to whom the server's files then belong.
    pub(crate) fn start_as(user: Option<&'static str>, options: Vec<String>) -> Result<Option<Self>> {
        let Some(program) = PROGRAMS.into_iter().find(|p| Path::new(p).exists()) else { return Ok(None) };
        let folder = tempfile::tempdir().context("cannot make a temporary folder")?.keep();
        if let Some(user) = user {
            let given = Command::new("chown").arg(user).arg(&folder).status().context("cannot run chown")?;
            if !given.success() {
                bail!("chown {user} {}: {given}", folder.display());
            }
        }
        let install = Command::new("mariadb-install-db")
            .args(["--no-defaults", "--auth-root-authentication-method=normal", "--skip-test-db"])
            .args(user.map(|user| format!("--user={user}")))
            .arg(format!("--datadir={}", folder.join("data").display()))
            .output()
            .context("cannot run mariadb-install-db")?;
        if !install.status.success() {
            bail!("mariadb-install-db: {}", String::from_utf8_lossy(&install.stderr));
        }
        let server = MariaDb { program, folder, options, user, guard: Mutex::new(None) };
        server.run()?;
        Ok(Some(server))
    }

    /// The folder of the server, where a test may put what belongs to it.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Starts the server again after [`Self::kill`].
    ///
    /// # Errors
    /// When it does not start.
    pub fn run(&self) -> Result<()> {
        let folder = self.folder.display();
        let user = self.user.unwrap_or("$(id -un)");
        // A word on its input lets the guard leave the folder in place.
        let script = format!(
            "exec 2>>'{folder}/err'; '{}' --no-defaults --user=\"{user}\" --datadir='{folder}/data' --socket='{folder}/s' --pid-file='{folder}/pid' \
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
            if start.elapsed() > START {
                bail!(
                    "mariadbd does not start: {}",
                    std::fs::read_to_string(self.folder.join("log.err")).unwrap_or_default()
                );
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        Ok(())
    }

    /// Kills the server without a warning; its files stay.
    ///
    /// # Errors
    /// When it does not run.
    pub fn kill(&self) -> Result<()> {
        let pid = std::fs::read_to_string(self.folder.join("pid")).context("the server does not run")?;
        let killed = Command::new("kill").args(["-9", pid.trim()]).status().context("cannot run kill")?;
        if !killed.success() {
            bail!("kill -9 {}: {killed}", pid.trim());
        }
        if let Some(mut guard) = self.guard().take() {
            if let Some(mut input) = guard.stdin.take() {
                input.write_all(b"stay\n").context("cannot speak to the guard")?;
            }
            guard.wait().context("cannot wait for the guard")?;
        }
        // A file of a dead server would be taken for that of the next.
        drop(std::fs::remove_file(self.folder.join("pid")));
        Ok(())
    }

    fn guard(&self) -> std::sync::MutexGuard<'_, Option<Child>> {
        self.guard.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// Runs statements by the engine's own client, as its root, and gives what it prints.
    ///
    /// # Errors
    /// What the client says.
    pub fn client(&self, sql: &str) -> Result<String> {
        let mut client = Command::new("mariadb");
        let mut client = self
            .connected(client.args(["--no-defaults", "-N", "-B"]))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .context("cannot run mariadb")?;
        // What the client refuses to read it says itself.
        drop(client.stdin.take().context("the client has an input")?.write_all(sql.as_bytes()));
        let out = client.wait_with_output()?;
        if !out.status.success() {
            bail!("{}", String::from_utf8_lossy(&out.stderr));
        }
        Ok(String::from_utf8_lossy(&out.stdout).into_owned())
    }

    fn connected<'c>(&self, command: &'c mut Command) -> &'c mut Command {
        command.args(["-u", "root", "--socket"]).arg(self.folder.join("s"))
    }

    /// What the engine's own tool dumps of a database.
    ///
    /// # Errors
    /// What the tool says.
    pub fn dump(&self, database: &str) -> Result<String> {
        let mut dump = Command::new("mariadb-dump");
        let out = self.connected(dump.args(["--no-defaults", "--skip-comments", "--extended-insert"])).arg(database);
        let out = out.output().context("cannot run mariadb-dump")?;
        if !out.status.success() {
            bail!("{}", String::from_utf8_lossy(&out.stderr));
        }
        String::from_utf8(out.stdout).context("the dump is no text")
    }

    /// Makes a database, empty even if there was one of this name, and gives its address.
    ///
    /// # Errors
    /// What the client says.
    pub fn create(&self, name: &str) -> Result<String> {
        self.client(&format!(
            "DROP DATABASE IF EXISTS `{name}`; CREATE DATABASE `{name}` CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_520_ci"
        ))?;
        Ok(self.url(name))
    }

    /// The address of a database.
    pub fn url(&self, name: &str) -> String {
        let socket = self.folder.join("s").display().to_string().replace('/', "%2F");
        format!("mysql://root@localhost/{name}?socket={socket}")
    }
}
