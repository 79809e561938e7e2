//! `upgrade-copy`: what a running server lets the program do that is about to replace it.

use anyhow::{Result, anyhow};
use clap::{Arg, ArgMatches, Command};

use crate::{
    config::Config,
    upgrade_copy::{Build, before_restart},
};

/// Name of the command.
pub(super) const NAME: &str = "upgrade-copy";

/// The argument with the build that is running.
pub(super) const RUNNING: &str = "running";

/// It is not listed, since it belongs to a restart in place: afterwards the new program makes no copy when it starts.
pub(super) fn command() -> Command {
    Command::new(NAME)
        .about("Copy the database before a running server restarts with this program")
        .hide(true)
        .arg(Arg::new(RUNNING).long(RUNNING).value_name("BUILD").required(true).help("The build that is running"))
}

pub(super) fn run(config: &Config, args: &ArgMatches) -> Result<()> {
    let running: &String = args.get_one(RUNNING).expect("clap requires it");
    let running = Build::parse(running).ok_or_else(|| anyhow!("--{RUNNING} {running}: is no build"))?;
    Ok(before_restart(config, &running)?)
}
