//! A mail server on loopback, which keeps what it accepts. It needs Debian's package `python3-aiosmtpd`.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result, bail};
use serde_json::Value;

/// The server's program.
const PROGRAM: &str = include_str!("smtp.py");

/// Programs that may have the package: that of Debian is not that of a `python3` elsewhere.
const PYTHONS: [&str; 2] = ["python3", "/usr/bin/python3"];

/// How long tests wait for a mail.
const PATIENCE: Duration = Duration::from_secs(60);

/// A mail server, which stops when this is dropped.
pub struct SmtpServer {
    python: &'static str,
    folder: tempfile::TempDir,
    port: u16,
    running: Option<Child>,
}

/// A mail that the server has accepted.
#[derive(Clone, Debug)]
pub struct ReceivedMail {
    /// The recipients of the envelope.
    pub recipients: Vec<String>,
    /// Names and values of the headers, decoded.
    pub headers: Vec<(String, String)>,
    /// The text.
    pub text: String,
    /// The HTML.
    pub html: String,
}

impl ReceivedMail {
    /// The value of a header; empty if it is missing.
    pub fn header(&self, name: &str) -> &str {
        self.headers.iter().find(|(found, _)| found.eq_ignore_ascii_case(name)).map_or("", |(_, value)| value)
    }

    /// The only line of the text that is a URL of the path.
    pub fn link(&self, path: &str) -> Option<&str> {
        self.text.lines().find(|line| line.starts_with("http") && line.contains(path))
    }
}

impl SmtpServer {
    /// Starts a server. `None` if aiosmtpd is not installed, which fails where `CI` is set.
    ///
    /// # Errors
    /// If it cannot be started.
    pub fn start() -> Result<Option<Self>> {
        let Some(python) = PYTHONS.into_iter().find(|python| has_aiosmtpd(python)) else {
            if std::env::var_os("CI").is_some() {
                bail!("tests of mail need the package python3-aiosmtpd");
            }
            // The test harness does not capture this, so it is visible without `--nocapture`.
            writeln!(std::io::stderr(), "skipped: python3-aiosmtpd is not installed")?;
            return Ok(None);
        };
        let mut server = SmtpServer { python, folder: tempfile::tempdir()?, port: 0, running: None };
        server.resume()?;
        Ok(Some(server))
    }

    /// Its URL.
    pub fn url(&self) -> String {
        format!("smtp://127.0.0.1:{}", self.port)
    }

    /// Starts it again at the same port.
    ///
    /// # Errors
    /// If it cannot be started.
    pub fn resume(&mut self) -> Result<()> {
        let mut command = Command::new(self.python);
        command.args(["-W", "ignore", "-c", PROGRAM]).arg(self.folder.path()).arg(self.port.to_string());
        let mut child = command.stdout(Stdio::piped()).spawn().context(self.python)?;
        let mut line = String::new();
        BufReader::new(child.stdout.take().context("no output")?).read_line(&mut line)?;
        self.running = Some(child);
        self.port = line.trim().parse().context("the mail server does not start")?;
        Ok(())
    }

    /// Kills it. What it has accepted stays.
    pub fn stop(&mut self) {
        if let Some(mut child) = self.running.take() {
            let _gone = child.kill();
            let _ended = child.wait();
        }
    }

    /// Turns a behaviour on or off: `busy` refuses mails for now, `slow` waits before it says that a mail is stored.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn set(&self, behaviour: &str, on: bool) -> Result<()> {
        let file = self.folder.path().join(behaviour);
        let changed = if on { std::fs::write(file, "") } else { std::fs::remove_file(file) };
        Ok(changed?)
    }

    /// The mails that it has accepted, in order.
    ///
    /// # Errors
    /// If a file cannot be read.
    pub fn mails(&self) -> Result<Vec<ReceivedMail>> {
        let mut files = Vec::new();
        for entry in std::fs::read_dir(self.folder.path())? {
            let entry = entry?;
            if entry.path().extension().is_some_and(|extension| extension == "json") {
                files.push((entry.metadata()?.modified()?, entry.path()));
            }
        }
        files.sort();
        files.into_iter().map(|(_, path)| parse(&serde_json::from_slice(&std::fs::read(path)?)?)).collect()
    }

    /// Waits until a recipient has this many mails, and returns them.
    ///
    /// # Panics
    /// If they do not arrive.
    #[track_caller]
    pub fn wait_for(&self, recipient: &str, n: usize) -> Vec<ReceivedMail> {
        let start = Instant::now();
        loop {
            let all = self.mails().expect("the mails are readable");
            let found: Vec<_> = all.into_iter().filter(|mail| mail.recipients == [recipient]).collect();
            if found.len() >= n {
                return found;
            }
            assert!(start.elapsed() < PATIENCE, "{recipient} has {} mails, not {n}", found.len());
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for SmtpServer {
    fn drop(&mut self) {
        self.stop();
    }
}

fn has_aiosmtpd(python: &str) -> bool {
    let found = Command::new(python).args(["-c", "import aiosmtpd"]).stderr(Stdio::null()).status();
    found.is_ok_and(|status| status.success())
}

fn parse(mail: &Value) -> Result<ReceivedMail> {
    let text = |value: &Value| value.as_str().map(str::to_owned).context("no text");
    let list = |value: &Value| value.as_array().cloned().context("no list");
    let header = |pair: Value| Ok((text(&pair[0])?, text(&pair[1])?));
    Ok(ReceivedMail {
        recipients: list(&mail["recipients"])?.iter().map(text).collect::<Result<_>>()?,
        headers: list(&mail["headers"])?.into_iter().map(header).collect::<Result<_>>()?,
        text: text(&mail["text"])?,
        html: text(&mail["html"])?,
    })
}
