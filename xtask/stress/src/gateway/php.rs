//! PHP of a WordPress site, which is stopped and started.

use std::{
    path::{Path, PathBuf},
    process::{Command, Stdio},
    thread::sleep,
    time::{Duration, Instant},
};

use anyhow::{Context, Result};

/// Names of the program of PHP's process manager.
const FPM: [&str; 5] = ["php-fpm8.4", "php-fpm8.3", "php-fpm8.2", "php-fpm8.1", "php-fpm"];

/// PHP's process manager of a site.
pub(super) struct Php {
    program: &'static str,
    config: PathBuf,
    pid: PathBuf,
}

impl Php {
    pub(super) fn find(site: &Path) -> Option<Self> {
        let folder = site.parent()?;
        let (config, pid) = (folder.join("php-fpm.conf"), folder.join("run/php-fpm.pid"));
        let is_installed =
            |name: &&str| Command::new(name).arg("-v").stdout(Stdio::null()).status().is_ok_and(|s| s.success());
        (config.is_file() && pid.is_file()).then_some(())?;
        Some(Php { program: FPM.into_iter().find(|name| is_installed(name))?, config, pid })
    }

    /// Ends all processes without waiting for requests.
    pub(super) fn stop(&self) -> Result<()> {
        let pid = std::fs::read_to_string(&self.pid).context("PHP has no pid file")?;
        xtask_support::run(Command::new("kill").args(["-TERM", pid.trim()]))?;
        let begun = Instant::now();
        while self.pid.exists() && begun.elapsed() < Duration::from_secs(5) {
            sleep(Duration::from_millis(10));
        }
        Ok(())
    }

    pub(super) fn start(&self) -> Result<()> {
        xtask_support::run(Command::new(self.program).args(["--allow-to-run-as-root", "-y"]).arg(&self.config))
    }
}
