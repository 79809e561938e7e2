//! `config`: prints the settings in effect or a template, and validates the configuration.

use anyhow::Result;
use clap::{Arg, ArgAction, ArgMatches, Command};
use serde_json::{Map, Value, json};

use super::output::{columns, say};
use svc_new_site::active_theme;

use crate::{
    config::{self, Config},
    tls,
};

pub(super) fn command() -> Command {
    let template = Arg::new("template")
        .long("template")
        .action(ArgAction::SetTrue)
        .conflicts_with("json")
        .help("Print a commented svc.toml with every setting instead");
    Command::new("config")
        .about("Show every setting with its value and origin")
        .arg(super::output::json_flag())
        .arg(template)
        .subcommand(
            Command::new("check")
                .about("Validate the configuration without starting a server; exits with 1 if it is invalid")
                .after_help("Reads files, variables and flags as a start does. Does not connect to the database."),
        )
}

/// Whether the command prints the template, which needs no valid configuration.
pub(super) fn is_template(args: &ArgMatches) -> bool {
    args.subcommand().is_none() && args.get_flag("template")
}

/// Runs a `config` command on a configuration that could be loaded.
///
/// # Errors
/// If `check` finds a theme or a certificate that the server cannot be started with.
pub(super) fn run(config: &Config, args: &ArgMatches) -> Result<()> {
    if args.subcommand_matches("check").is_some() {
        return check(config);
    }
    if args.get_flag("json") {
        let all: Map<String, Value> = config
            .shown()
            .into_iter()
            .map(|s| (s.key.to_owned(), json!({"value": s.value, "origin": s.origin.to_string()})))
            .collect();
        say(&serde_json::to_string_pretty(&all)?);
        return Ok(());
    }
    let rows: Vec<Vec<String>> =
        config.shown().into_iter().map(|s| vec![s.key.to_owned(), s.value, s.origin.to_string()]).collect();
    say(columns(&rows).trim_end());
    Ok(())
}

/// Prints the commented settings file.
pub(super) fn print_template() {
    say(config::template().trim_end());
}

fn check(config: &Config) -> Result<()> {
    // Before the first start there is no folder of themes yet.
    if let Some(name) = config.theme.as_ref().filter(|_| config.content_dir.join(active_theme::FOLDER).is_dir()) {
        active_theme::require(&config.content_dir, name)?;
    }
    tls::check(config)?;
    say("The configuration is valid. `svc-server doctor` also checks the database and the site.");
    Ok(())
}
