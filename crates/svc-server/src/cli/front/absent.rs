//! The same without the feature `wordpress`: there is no WordPress, since its settings are refused.

use anyhow::Result;
use clap::{ArgMatches, Command};

use crate::config::{Config, Setting, WordPress};

pub(in crate::cli) fn commands() -> Vec<Command> {
    Vec::new()
}

pub(in crate::cli) fn dispatch(_: &str, _: &Config, _: &ArgMatches) -> Option<Result<()>> {
    None
}

pub(in crate::cli) fn examine(_: &Config, wordpress: &WordPress) -> Result<()> {
    match *wordpress {}
}

pub(in crate::cli) async fn run(
    _: &Config,
    wordpress: &WordPress,
    _: Vec<(&'static Setting, String)>,
    _: Option<&crate::logs::Logs>,
) -> Result<()> {
    match *wordpress {}
}
