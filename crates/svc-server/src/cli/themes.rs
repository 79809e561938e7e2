//! `theme`: the themes of the content folder, and which of them is active.

use clap::{Arg, ArgMatches, Command};
use svc_packages::theme;
use svc_store::{Store, options};

use super::output::{columns, say};
use crate::{
    active_theme,
    config::Config,
    error::{Error, Result},
    first_run,
    site::open_store,
};

pub(super) fn command() -> Command {
    let name = Arg::new("name").value_name("NAME").required(true).help("The theme's folder");
    Command::new("theme")
        .about("List themes and choose the one that draws the site")
        .subcommand_required(true)
        .subcommand(Command::new("list").about("List the themes of the content folder"))
        .subcommand(Command::new("activate").about("Choose a theme; a server that runs follows at once").arg(name))
}

pub(super) fn run(config: &Config, args: &ArgMatches) -> Result {
    let store = open_store(config)?;
    if !first_run::has_site(&store)? {
        return Err(Error::Refused("the database holds no site yet".to_owned()));
    }
    match args.subcommand() {
        Some(("activate", args)) => {
            let name = args.get_one::<String>("name").map_or("", String::as_str);
            let theme = active_theme::activate(&config.content_dir, &store, name)?;
            say(&format!("The site's theme is now {}.", theme.about.name));
            Ok(())
        }
        _ => list(config, &store),
    }
}

fn list(config: &Config, store: &Store) -> Result {
    let reading = Error::store("cannot read the database");
    let active = store.read(|db| options::get(db, "stylesheet")).map_err(reading)?.unwrap_or_default();
    let rows: Vec<Vec<String>> = theme::folders(&config.content_dir.join(active_theme::FOLDER))
        .into_iter()
        .filter_map(|name| {
            let theme = active_theme::read(&config.content_dir, &name)?;
            let state = if name == active.text() { "active" } else { "inactive" };
            let kind = if theme.is_block_theme { "blocks" } else { "classic" };
            Some(vec![name, theme.about.name, theme.about.version, kind.to_owned(), state.to_owned()])
        })
        .collect();
    say(columns(&rows).trim_end());
    Ok(())
}
