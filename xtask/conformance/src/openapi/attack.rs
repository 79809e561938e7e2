//! `cargo xtask openapi --attack SECONDS [ROLE…]`: schemathesis sends generated requests to a server, as a caller of each role.
//!
//! All checks are on. A failure must be one that `explained.rs` has a reason for. The server must still work afterwards, must not have
//! panicked, and must still accept the caller's credentials: otherwise the rest of the run would have tested nothing.

use std::{
    path::Path,
    process::{Command, Stdio},
};

use anyhow::{Context, Result, bail, ensure};
use xtask_support::{
    say,
    server::{Server, send},
};

use super::explained::{Failure, parse, report};

/// Callers, from none to all rights. The first sends no credentials.
pub(super) const ROLES: [&str; 5] = ["anonymous", "subscriber", "author", "editor", "administrator"];

/// Operations that can end the credentials of the caller. They are attacked in a run of their own.
const ENDS_CREDENTIALS: &str = r"/users/(me|\{id\})$|/application-passwords";

/// Share of the time for the operations that can end the credentials.
const SHARE: u64 = 10;

/// A server, the attacking tool and the time of a run.
pub(super) struct Attack<'a> {
    /// The server.
    pub(super) program: &'a Path,
    /// The folder of schemathesis.
    pub(super) python: &'a Path,
    /// The time for each role.
    pub(super) seconds: u64,
}

impl Attack<'_> {
    /// Attacks a new site as a caller of this role.
    pub(super) fn run(&self, role: &str) -> Result<()> {
        let work = tempfile::tempdir().context("cannot create a temporary folder")?;
        let data = work.path().join("data");
        let log = work.path().join("log");
        let mut command = Command::new(self.program);
        // The server sends requests to nobody else.
        command.current_dir(work.path()).env("SVC_OUTGOING_PUBLIC", "false").arg("--data").arg(&data);
        command.args(["--listen", "127.0.0.1:0", "--log", "warn"]);
        let server = Server::start(command, &log)?;
        let credentials = match role {
            "anonymous" => String::new(),
            role => self.credentials(&data, role)?,
        };
        let others = self.seconds / SHARE;
        let mut failures = self.attack(&server, &credentials, false, self.seconds - others)?;
        if !credentials.is_empty() {
            let me = send(server.address(), "GET", "/svc-json/svc/v2/users/me", &credentials, None)?;
            ensure!(me.status == 200, "{role}: the credentials were lost during the attack: {} {}", me.status, me.body);
        }
        failures.extend(self.attack(&server, &credentials, true, others.max(1))?);
        let index = send(server.address(), "GET", "/svc-json/", "", None)?;
        ensure!(index.status == 200, "{role}: the server no longer works: {} {}", index.status, index.body);
        let log = std::fs::read_to_string(&log).context("cannot read the log")?;
        ensure!(!log.contains("panicked"), "{role}: the server has panicked: {log}");
        report(role, &failures)
    }

    /// Creates a user of this role with an application password. Returns `LOGIN:PASSWORD`.
    fn credentials(&self, data: &Path, role: &str) -> Result<String> {
        let login = format!("attacking-{role}");
        self.command(data, &["user", "create", &login, &format!("{role}@example.org"), "--role", role])?;
        let password = self.command(data, &["app-password", "create", &login, "schemathesis", "--porcelain"])?;
        Ok(format!("{login}:{}", password.split_whitespace().collect::<String>()))
    }

    fn command(&self, data: &Path, args: &[&str]) -> Result<String> {
        let output = Command::new(self.program).arg("--data").arg(data).args(args).output()?;
        ensure!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).context("the output is not UTF-8")
    }

    /// One run. `ending` selects the operations that can end the credentials, otherwise all others.
    fn attack(&self, server: &Server, credentials: &str, ending: bool, seconds: u64) -> Result<Vec<Failure>> {
        let url = format!("{}/svc-json/openapi.json", server.address());
        let mut command = Command::new(self.python.join("schemathesis"));
        command.args(["run", &url, "--checks", "all", "--suppress-health-check", "all", "--no-color"]);
        command.args(["--continue-on-failure", "--output-truncate", "false", "--max-time", &seconds.to_string()]);
        // Wrong passwords are limited per address: with random credentials, most responses would be 429.
        command.args(["--generation-with-security-parameters", "false"]);
        command.args([if ending { "--include-path-regex" } else { "--exclude-path-regex" }, ENDS_CREDENTIALS]);
        if !credentials.is_empty() {
            command.args(["--auth", credentials]);
        }
        let output = command.stderr(Stdio::inherit()).output().context("cannot run schemathesis")?;
        let text = String::from_utf8_lossy(&output.stdout);
        // It ends with 1 after failures.
        if !matches!(output.status.code(), Some(0 | 1)) || !text.contains("= SUMMARY =") {
            bail!("schemathesis: {} {text}", output.status);
        }
        let cases = text.lines().find(|line| line.contains(" generated, ")).unwrap_or_default();
        say(&format!("    {} s: {}", seconds, cases.trim()))?;
        Ok(parse(&text))
    }
}
