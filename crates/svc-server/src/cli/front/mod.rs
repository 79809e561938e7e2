//! Commands of a server in front of a running WordPress. They need the feature `wordpress`.

#[cfg(not(feature = "wordpress"))]
mod absent;
#[cfg(feature = "wordpress")]
mod connector;
#[cfg(feature = "wordpress")]
mod estimate;
#[cfg(feature = "wordpress")]
mod examine;
#[cfg(feature = "wordpress")]
mod run;

#[cfg(not(feature = "wordpress"))]
pub(super) use absent::{commands, dispatch, examine, run};
#[cfg(feature = "wordpress")]
pub(super) use {examine::examine, run::run};

#[cfg(feature = "wordpress")]
use crate::config::Config;

/// The subcommands.
#[cfg(feature = "wordpress")]
pub(super) fn commands() -> Vec<clap::Command> {
    vec![estimate::estimate_command(), connector::connector_command()]
}

/// Runs a subcommand; `None` if it is none of these.
#[cfg(feature = "wordpress")]
pub(super) fn dispatch(name: &str, config: &Config, args: &clap::ArgMatches) -> Option<anyhow::Result<()>> {
    match name {
        "estimate" => Some(estimate::estimate(config, args)),
        "connector" => Some(connector::connector(config, args)),
        _ => None,
    }
}
