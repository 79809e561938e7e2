//! `theme`: lists and activates the themes of the content folder.

use std::collections::BTreeMap;

use anyhow::{Context as _, Result};
use clap::{Arg, ArgMatches, Command};
use serde_json::json;
use svc_new_site::active_theme;
use svc_packages::theme;
use svc_store::{Store, options};

use super::output::{columns, json_flag, say};
use crate::{config::Config, site::open_existing};

/// Names of the columns of the list, for JSON.
const HEADINGS: [&str; 5] = ["folder", "name", "version", "kind", "state"];

pub(super) fn command() -> Command {
    let name = Arg::new("name").value_name("NAME").required(true).help("The theme's folder");
    Command::new("theme")
        .about("List and activate themes")
        .subcommand_required(true)
        .subcommand(Command::new("list").about("List the themes of the content folder").arg(json_flag()))
        .subcommand(Command::new("activate").about("Activate a theme; a running server switches at once").arg(name))
}

pub(super) fn run(config: &Config, args: &ArgMatches) -> Result<()> {
    let store = open_existing(config)?;
    match args.subcommand() {
        Some(("activate", args)) => {
            let name = args.get_one::<String>("name").map_or("", String::as_str);
            let theme = active_theme::activate(&config.content_dir, &store, name)?;
            say(&format!("Activated {}.", theme.about.name));
            Ok(())
        }
        Some((_, args)) => list(config, &store, args.get_flag("json")),
        None => Ok(()),
    }
}

fn list(config: &Config, store: &Store, as_json: bool) -> Result<()> {
    let active = store
        .read_blocking(|db| options::get(db, "stylesheet"))
        .context("cannot read the database")?
        .unwrap_or_default();
    let rows: Vec<Vec<String>> = theme::folders(&config.content_dir.join(active_theme::FOLDER))
        .into_iter()
        .filter_map(|name| {
            let theme = active_theme::read(&config.content_dir, &name)?;
            let state = if name == active.text() { "active" } else { "inactive" };
            let kind = if theme.is_block_theme { "blocks" } else { "classic" };
            Some(vec![name, theme.about.name, theme.about.version, kind.to_owned(), state.to_owned()])
        })
        .collect();
    if as_json {
        let row = |row: &Vec<String>| json!(HEADINGS.into_iter().zip(row).collect::<BTreeMap<_, _>>());
        say(&serde_json::to_string_pretty(&rows.iter().map(row).collect::<Vec<_>>())?);
        return Ok(());
    }
    say(columns(&rows).trim_end());
    Ok(())
}
