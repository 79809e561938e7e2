//! Arguments of `cargo xtask conformance`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::brand;

/// Forms of the command.
const FORMS: &str = "\
Forms:
  cargo xtask conformance [SCENARIO…]
          Run the scenarios of tests/conformance, and of --shared, against the demo server
  cargo xtask conformance --url URL [--reset COMMAND] [SCENARIO…]
          Run them against a running server with the recorded site, such as a gateway in front of a WordPress
  cargo xtask conformance --record URL SCENARIO…
          Record scenarios of tests/conformance from a running WordPress with the recorded site
  cargo xtask conformance --tls [--record URL --reset COMMAND] --recordings DIR [SCENARIO…]
          The same with all scenarios over TLS, as a proxy forwards them; DIR holds the recordings
  cargo xtask conformance --record-order URL --reset COMMAND
          Record the order of fields in all scenarios from a running WordPress with the recorded site";

/// Arguments of the task.
#[derive(Args)]
#[command(after_help = FORMS)]
pub(crate) struct Options {
    /// The server's brand: the word in the names of routes, headers and cookies.
    #[arg(long, value_name = "WORD", default_value = brand::RECORDED)]
    pub(crate) brand: String,
    /// The kind of database; mysql is a private MariaDB.
    #[arg(long, value_name = "KIND", value_enum, default_value_t = Engine::Sqlite)]
    pub(crate) database: Engine,
    /// A folder with more scenarios, in its `conformance/http`. Without it, only the project's own run.
    #[arg(long, value_name = "DIR", env = "SVC_SHARED")]
    pub(crate) shared: Option<PathBuf>,
    /// Print all failed steps, not a few of each scenario.
    #[arg(long)]
    pub(crate) all: bool,
    /// Build the server with optimization.
    #[arg(long)]
    pub(crate) release: bool,
    /// Send all scenarios over TLS, as a proxy forwards them.
    #[arg(long)]
    pub(crate) tls: bool,
    /// A folder of recordings to use instead of those next to the scenarios.
    #[arg(long, value_name = "DIR")]
    pub(crate) recordings: Option<PathBuf>,
    /// Record scenarios from the WordPress of this URL.
    #[arg(long, value_name = "URL")]
    pub(crate) record: Option<String>,
    /// Record the order of fields from the WordPress of this URL.
    #[arg(long, value_name = "URL")]
    pub(crate) record_order: Option<String>,
    /// Check the server of this URL.
    #[arg(long, value_name = "URL")]
    pub(crate) url: Option<String>,
    /// A shell command that restores the recorded site. Without it, `--url` leaves out scenarios that write.
    #[arg(long, value_name = "COMMAND")]
    pub(crate) reset: Option<String>,
    /// The scenarios to run (default: all).
    #[arg(value_name = "SCENARIO")]
    pub(crate) scenarios: Vec<String>,
}

/// A kind of database.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Engine {
    Sqlite,
    Mysql,
}
