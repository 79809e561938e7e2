//! SIGHUP: reads the certificate and the configuration again, and decides whether the server restarts in place.
//!
//! A restart replaces the program of the process and keeps its listening sockets, so that connections wait instead of being refused.

use std::{
    ffi::OsString,
    fs,
    io::{BufRead as _, BufReader, Read as _},
    path::{Path, PathBuf},
    pin::Pin,
    process::{Command, ExitStatus, Stdio},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
        mpsc,
    },
    thread,
    time::{Duration, Instant, SystemTime},
};

use anyhow::{Context as _, Result, bail};
use svc_certificates::Certificates;
use svc_listen::{Handover, Hangups};
use tokio::runtime::Runtime;

use super::upgrade_copy;
use crate::{
    config::{Config, Setting, Sources},
    upgrade_copy::Build,
};

/// Maximum time in which the new program checks the configuration.
const CHECK_TIME: Duration = Duration::from_secs(30);

/// Interval at which a command of the new program is looked at.
const CHECK_INTERVAL: Duration = Duration::from_millis(10);

/// Maximum number of bytes of the output of such a command that are logged.
const OUTPUT: u64 = 4 << 10;

/// Exit status for arguments that a program does not know.
const UNKNOWN_ARGUMENTS: i32 = 2;

/// Maximum time for a signal that has arrived to be reported.
const SIGNAL_TIME: Duration = Duration::from_millis(1);

/// Maximum time for the output of a command that has ended.
const OUTPUT_TIME: Duration = Duration::from_secs(1);

/// The flags of the command line.
pub(super) type Flags = Vec<(&'static Setting, String)>;

/// Ready when SIGINT or SIGTERM stops the process.
pub(super) type StopSignal = Pin<Box<dyn Future<Output = ()> + Send>>;

/// The program of the process, as it was at the start.
#[derive(Clone, Debug)]
pub(super) struct Program {
    path: PathBuf,
    /// The arguments of the process; the first one is its name for the program.
    arguments: Vec<OsString>,
    /// `None` if the file could not be read.
    file: Option<FileState>,
    /// Whether the file that is there now may write to the database, since it was copied where necessary.
    has_copied: bool,
}

/// What differs if a file was replaced or changed.
#[derive(Clone, Debug, PartialEq, Eq)]
struct FileState {
    /// Device and inode.
    #[cfg(unix)]
    id: (u64, u64),
    length: u64,
    modified: Option<SystemTime>,
}

impl FileState {
    fn read(path: &Path) -> Option<FileState> {
        let file = fs::metadata(path).ok()?;
        Some(FileState {
            #[cfg(unix)]
            id: {
                use std::os::unix::fs::MetadataExt as _;
                (file.dev(), file.ino())
            },
            length: file.len(),
            modified: file.modified().ok(),
        })
    }
}

impl Program {
    /// The program that runs. Call this at the start, since its file may be replaced later.
    ///
    /// # Errors
    /// If the system does not tell the path of the program.
    pub(super) fn of_process() -> Result<Program> {
        let arguments: Vec<OsString> = std::env::args_os().collect();
        let named = arguments.first().map(PathBuf::from).filter(|name| name.components().count() > 1);
        // A link remains the link, which an upgrade may point to another file.
        let named = named.and_then(|name| std::path::absolute(name).ok()).filter(|path| path.is_file());
        let path = named.map_or_else(|| std::env::current_exe().context("cannot find the program's file"), Ok)?;
        Ok(Program { file: FileState::read(&path), path, arguments, has_copied: false })
    }

    /// Whether the file was replaced or changed since the start.
    fn is_changed(&self) -> bool {
        FileState::read(&self.path) != self.file
    }

    /// Lets the file that is there now check the configuration.
    ///
    /// # Errors
    /// If it cannot be run, takes longer than `time`, or reports a failure, with its output.
    fn check(&self, flags: &Flags, time: Duration) -> Result<()> {
        let arguments = ["config", "check"];
        let (status, output) = self.run(flags, &arguments, |taken| taken >= time, |_| ())?;
        let Some(status) = status else { bail!("the check of the configuration took longer than {time:?}") };
        self.require(status, &arguments, &output)
    }

    /// Lets the file that is there now copy the database, unless it writes to it as this program does. `ends` stops it. A program that is too old
    /// to know the command copies nothing.
    ///
    /// # Errors
    /// If it cannot be run, is stopped, or reports a failure, with its output.
    fn copy_database(&self, flags: &Flags, ends: &AtomicBool) -> Result<()> {
        let running = format!("--{}={}", upgrade_copy::RUNNING, Build::this());
        let arguments = [upgrade_copy::NAME, &running];
        let log = |line: &str| tracing::info!("SIGHUP: {line}");
        let (status, output) = self.run(flags, &arguments, |_| ends.load(Relaxed), log)?;
        let Some(status) = status else { bail!("the server stops") };
        if status.code() == Some(UNKNOWN_ARGUMENTS) {
            return Ok(());
        }
        self.require(status, &arguments, &output)
    }

    fn require(&self, status: ExitStatus, arguments: &[&str], output: &str) -> Result<()> {
        if status.success() {
            return Ok(());
        }
        bail!("`{} {}` ended with {status}: {output}", self.path.display(), arguments.join(" "))
    }

    /// Runs a command of the file that is there now. Returns its status and what it has written to standard error, of which `each` gets the lines; or
    /// no status if it did not end before `stops` was true of the time that it has taken.
    ///
    /// # Errors
    /// If it cannot be run.
    fn run(
        &self,
        flags: &Flags,
        arguments: &[&str],
        stops: impl Fn(Duration) -> bool,
        each: impl Fn(&str) + Send + 'static,
    ) -> Result<(Option<ExitStatus>, String)> {
        let mut command = Command::new(&self.path);
        command.args(flags.iter().map(|(setting, value)| format!("--{}={value}", setting.flag())));
        command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().with_context(|| format!("cannot run {}", self.path.display()))?;
        let (errors, (sender, output)) = (child.stderr.take(), mpsc::channel());
        thread::spawn(move || {
            let (mut text, Some(mut errors)) = (String::new(), errors) else { return };
            for line in BufReader::new(errors.by_ref().take(OUTPUT)).split(b'\n').map_while(Result::ok) {
                let line = String::from_utf8_lossy(&line);
                each(&line);
                text.push_str(&line);
                text.push('\n');
            }
            let _sent = sender.send(text.trim().to_owned());
            // The program can end only if its output is read.
            let _rest = std::io::copy(&mut errors, &mut std::io::sink());
        });
        let start = Instant::now();
        let status = loop {
            match child.try_wait().with_context(|| format!("cannot wait for {}", self.path.display()))? {
                Some(status) => break Some(status),
                None if stops(start.elapsed()) => {
                    let _killed = child.kill();
                    let _ended = child.wait();
                    break None;
                }
                None => thread::sleep(CHECK_INTERVAL),
            }
        };
        Ok((status, output.recv_timeout(OUTPUT_TIME).unwrap_or_default()))
    }
}

/// A server that stopped in order to run its program again.
pub(super) struct Restart {
    pub(super) program: Program,
    pub(super) handover: Handover,
}

impl Restart {
    /// Replaces the program of the process. Returns only if that fails.
    pub(super) fn exec(self) -> anyhow::Error {
        let Program { path, arguments, .. } = self.program;
        let mut arguments = arguments.into_iter();
        let mut command = Command::new(&path);
        #[cfg(unix)]
        if let Some(name) = arguments.next() {
            use std::os::unix::process::CommandExt as _;
            command.arg0(name);
        }
        #[cfg(not(unix))]
        drop(arguments.next());
        let error = self.handover.exec({
            command.args(arguments);
            command
        });
        anyhow::Error::new(error).context(format!("cannot restart with {}", path.display()))
    }
}

/// The signals of the process, also after the runtime that serves requests has ended.
pub(super) struct Signals {
    runtime: Runtime,
    stop: StopSignal,
}

impl Signals {
    /// From now on, SIGINT, SIGTERM and SIGHUP do not end the process by themselves. Call this before other threads are started. The first two make
    /// the result ready. There are no hangups in a terminal, whose closing should end the process.
    ///
    /// # Errors
    /// If the system refuses it.
    pub(super) fn listen() -> Result<(Signals, StopSignal, Option<Hangups>)> {
        use std::io::IsTerminal as _;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.context("cannot start a runtime for signals")?;
        let entered = runtime.enter();
        let hangups = if std::io::stderr().is_terminal() { None } else { Some(svc_listen::hangups()?) };
        let [stop, late] = [0, 1].map(|_| Box::pin(svc_listen::shutdown_signal()) as StopSignal);
        drop(entered);
        Ok((Signals { runtime, stop: late }, stop, hangups))
    }

    /// Whether SIGINT or SIGTERM has arrived since the start.
    pub(super) fn has_stopped(mut self) -> bool {
        self.runtime.block_on(async { tokio::time::timeout(SIGNAL_TIME, &mut self.stop).await.is_ok() })
    }
}

impl Restart {
    /// Whether the program that is started next may write to the database, since it was copied where necessary.
    pub(super) fn has_copied(&self) -> bool {
        self.program.has_copied
    }
}

/// Stops what the new program does when it is dropped.
struct Ends(Arc<AtomicBool>);

impl Drop for Ends {
    fn drop(&mut self) {
        self.0.store(true, Relaxed);
    }
}

/// What a SIGHUP reads again.
pub(super) struct Reload {
    pub(super) running: Config,
    pub(super) flags: Flags,
    pub(super) certificates: Option<Arc<Certificates>>,
    pub(super) program: Program,
}

impl Reload {
    /// Reads certificate and configuration on each SIGHUP, and returns the program when the server has to restart: if settings or the program have
    /// changed, and the program that is installed now accepts the configuration and has copied the database where necessary. Never returns if there
    /// are no signals.
    pub(super) async fn until_restart(self, hangups: Option<Hangups>) -> Program {
        let Some(mut hangups) = hangups else { return std::future::pending().await };
        let (reload, ends) = (Arc::new(self), Ends(Arc::default()));
        loop {
            hangups.next().await;
            let (read, ends) = (Arc::clone(&reload), Arc::clone(&ends.0));
            let program = tokio::task::spawn_blocking(move || read.read(&ends));
            if let Ok(Some(program)) = program.await {
                return program;
            }
        }
    }

    /// Reads everything again. Returns the program if the server has to restart.
    fn read(&self, ends: &AtomicBool) -> Option<Program> {
        self.certificates.iter().for_each(|certificates| certificates.reload());
        let read = match Config::load(&Sources::of_process(self.flags.clone())) {
            Ok(read) => read,
            Err(error) => {
                tracing::error!("SIGHUP: the configuration is invalid, so the server keeps the present one: {error}");
                return None;
            }
        };
        let (changed, has_new_program) = (changed(&self.running, &read), self.program.is_changed());
        if changed.is_empty() && !has_new_program {
            tracing::info!("SIGHUP: settings and program are unchanged");
            return None;
        }
        let copied = |()| if has_new_program { self.program.copy_database(&self.flags, ends) } else { Ok(()) };
        if let Err(error) = self.program.check(&self.flags, CHECK_TIME).and_then(copied) {
            tracing::error!("SIGHUP: the server does not restart: {error:#}");
            return None;
        }
        tracing::info!(changed = changed.join(", "), has_new_program, "SIGHUP: restarting");
        Some(Program { has_copied: has_new_program, ..self.program.clone() })
    }
}

/// Keys of settings whose values differ.
fn changed(running: &Config, read: &Config) -> Vec<&'static str> {
    let pairs = running.shown().into_iter().zip(read.shown());
    let settings = pairs.filter(|(a, b)| a.value != b.value || a.hash != b.hash).map(|(a, _)| a.key);
    let registrations = (running.registered != read.registered).then_some("registrations");
    settings.chain(registrations).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_changed_settings() {
        let folder = tempfile::tempdir().unwrap();
        let load = |text: &str| {
            std::fs::write(folder.path().join("svc.toml"), text).unwrap();
            Config::load(&Sources { folder: folder.path().to_owned(), ..Sources::default() }).unwrap()
        };
        let running = load("log = 'info'\nbrand = 'wp'");
        assert_eq!(changed(&running, &load("\nbrand = 'wp'\nlog = 'debug'\nlisten = 81")), ["listen", "log"]);
        assert!(changed(&running, &load("brand = 'wp'")).is_empty());
        let running = load("[keys]\nauth_key = 'one'\nnonce_key = 'two'");
        let moved = "listen = 'h:1'\n\n[keys]\nnonce_key = 'two'\nauth_key = 'one'";
        assert_eq!(changed(&running, &load(moved)), ["listen"], "secrets on other lines");
        assert_eq!(changed(&running, &load("[keys]\nauth_key = 'other'\nnonce_key = 'two'")), ["keys.auth_key"]);
        let running = load("[[types]]\nname = 'book'\nlabel = 'Books'");
        assert!(changed(&running, &load("\n[[types]]\nname = 'book'\nlabel = 'Books'")).is_empty());
        assert_eq!(changed(&running, &load("[[types]]\nname = 'book'\nlabel = 'Novels'")), ["registrations"]);
    }

    #[cfg(unix)]
    #[test]
    fn a_check_has_a_time_limit_and_its_output_a_length() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("program");
        let check = |script: &str, time: u64| {
            // Another process writes the file: it cannot be run as long as it is open for writing, or was when a test started a process.
            let write = ["-c", "printf '#!/bin/sh\\n%s\\n' \"$1\" > \"$0\" && chmod 755 \"$0\""];
            assert!(Command::new("sh").args(write).arg(&path).arg(script).status().unwrap().success());
            let program = Program { path: path.clone(), arguments: Vec::new(), file: None, has_copied: false };
            program.check(&Vec::new(), Duration::from_millis(time)).map_err(|error| error.to_string())
        };
        assert_eq!(check("test \"$*\" = 'config check'", 30_000), Ok(()));
        assert_eq!(check("yes | head -c 1000000 >&2", 30_000), Ok(()));
        let refused = check("yes | head -c 1000000 >&2; exit 3", 30_000).unwrap_err();
        assert!(refused.contains("ended with exit status: 3: y\ny\n") && refused.len() < 5_000, "{refused}");
        let late = check("exec sleep 60", 100).unwrap_err();
        assert!(late.contains("took longer than 100ms"), "{late}");
    }
}
