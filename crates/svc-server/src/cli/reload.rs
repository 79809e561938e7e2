//! SIGHUP: reads the certificate and the configuration again, and decides whether the server restarts in place.
//!
//! A restart replaces the program of the process and keeps its listening sockets, so that connections wait instead of being refused.

use std::{
    ffi::OsString,
    fs,
    io::Read as _,
    path::{Path, PathBuf},
    pin::Pin,
    process::{Command, Stdio},
    sync::{Arc, mpsc},
    time::{Duration, Instant, SystemTime},
};

use anyhow::{Context as _, Result, bail};
use svc_certificates::Certificates;
use svc_listen::{Handover, Hangups};
use tokio::runtime::Runtime;

use crate::config::{Config, Setting, Sources};

/// Maximum time in which the new program checks the configuration.
const CHECK_TIME: Duration = Duration::from_secs(30);

/// Interval at which the check is looked at.
const CHECK_INTERVAL: Duration = Duration::from_millis(10);

/// Maximum number of bytes of the check's output that are logged.
const CHECK_OUTPUT: u64 = 4 << 10;

/// Maximum time for a signal that has arrived to be reported.
const SIGNAL_TIME: Duration = Duration::from_millis(1);

/// Maximum time for the output of a check that has ended.
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
        Ok(Program { file: FileState::read(&path), path, arguments })
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
        let mut command = Command::new(&self.path);
        command.args(flags.iter().map(|(setting, value)| format!("--{}={value}", setting.flag())));
        command.args(["config", "check"]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().with_context(|| format!("cannot run {}", self.path.display()))?;
        let (errors, (sender, output)) = (child.stderr.take(), mpsc::channel());
        std::thread::spawn(move || {
            let (mut text, Some(mut errors)) = (Vec::new(), errors) else { return };
            let _read = errors.by_ref().take(CHECK_OUTPUT).read_to_end(&mut text);
            let _sent = sender.send(String::from_utf8_lossy(&text).trim().to_owned());
            // The program can end only if its output is read.
            let _rest = std::io::copy(&mut errors, &mut std::io::sink());
        });
        let start = Instant::now();
        let status = loop {
            match child.try_wait().context("cannot wait for the check")? {
                Some(status) => break status,
                None if start.elapsed() >= time => {
                    let _killed = child.kill();
                    let _ended = child.wait();
                    bail!("the check of the configuration took longer than {time:?}");
                }
                None => std::thread::sleep(CHECK_INTERVAL),
            }
        };
        if status.success() {
            return Ok(());
        }
        let output = output.recv_timeout(OUTPUT_TIME).unwrap_or_default();
        bail!("`{} config check` ended with {status}: {output}", self.path.display())
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

/// What a SIGHUP reads again.
pub(super) struct Reload {
    pub(super) running: Config,
    pub(super) flags: Flags,
    pub(super) certificates: Option<Arc<Certificates>>,
    pub(super) program: Program,
}

impl Reload {
    /// Reads certificate and configuration on each SIGHUP, and returns the program when the server has to restart: if settings or the program have
    /// changed, and the program that is installed now accepts the configuration. Never returns if there are no signals.
    pub(super) async fn until_restart(self, hangups: Option<Hangups>) -> Program {
        let Some(mut hangups) = hangups else { return std::future::pending().await };
        let reload = Arc::new(self);
        loop {
            hangups.next().await;
            let read = Arc::clone(&reload);
            let needed = tokio::task::spawn_blocking(move || read.read());
            if needed.await.unwrap_or(false) {
                return reload.program.clone();
            }
        }
    }

    /// Reads everything again. Returns whether the server has to restart.
    fn read(&self) -> bool {
        self.certificates.iter().for_each(|certificates| certificates.reload());
        let read = match Config::load(&Sources::of_process(self.flags.clone())) {
            Ok(read) => read,
            Err(error) => {
                tracing::error!("SIGHUP: the configuration is invalid, so the server keeps the present one: {error}");
                return false;
            }
        };
        let (changed, has_new_program) = (changed(&self.running, &read), self.program.is_changed());
        if changed.is_empty() && !has_new_program {
            tracing::info!("SIGHUP: settings and program are unchanged");
            return false;
        }
        if let Err(error) = self.program.check(&self.flags, CHECK_TIME) {
            tracing::error!("SIGHUP: the server does not restart: {error:#}");
            return false;
        }
        tracing::info!(changed = changed.join(", "), has_new_program, "SIGHUP: restarting");
        true
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
            let program = Program { path: path.clone(), arguments: Vec::new(), file: None };
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
