//! The WordPress site behind a gateway, and a plugin that a task installs there.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use xtask_support::{gateway::Gateway, say, server};

/// Arguments of all tasks with a gateway in front of a WordPress site.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The server's program (default: build it).
    #[arg(long, value_name = "FILE")]
    program: Option<PathBuf>,
    /// Folder of the WordPress site.
    #[arg(long, value_name = "DIR", default_value_os_t = server::wordpress_site())]
    pub(crate) site: PathBuf,
    /// A line of the section `wordpress` of the settings, KEY=VALUE; may be repeated.
    #[arg(long = "set", value_name = "LINE")]
    settings: Vec<String>,
}

impl Arguments {
    /// Starts the gateway, with a further line of its settings. `None` if no WordPress runs there, which is printed.
    pub(crate) fn start(&self, setting: &str) -> Result<Option<Gateway>> {
        let program = self.program.clone().map_or_else(|| server::build(None, false), Ok)?;
        let gateway = Gateway::start(&program, &self.site, &format!("{setting}\n{}", self.settings.join("\n")))?;
        if gateway.is_none() {
            say(&format!("skipped: there is no running WordPress site in {}", self.site.display()))?;
        }
        Ok(gateway)
    }
}

/// A must-use plugin. It is removed on drop.
pub(crate) struct Plugin {
    file: PathBuf,
    /// What requests contain that change something: the plugin's code has `TOKEN` in its place.
    pub(crate) token: String,
}

impl Plugin {
    pub(crate) fn install(wordpress: &Path, name: &str, code: &str) -> Result<Self> {
        let since = std::time::UNIX_EPOCH.elapsed().context("the clock is set before 1970")?.as_nanos();
        let file = wordpress.join("wp-content/mu-plugins").join(name);
        let plugin = Plugin { file, token: format!("{since:x}") };
        std::fs::write(&plugin.file, code.replace("TOKEN", &plugin.token)).context("cannot write the plugin")?;
        Ok(plugin)
    }
}

impl Drop for Plugin {
    fn drop(&mut self) {
        let _gone = std::fs::remove_file(&self.file);
    }
}
