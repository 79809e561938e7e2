//! `theme`: the themes of the content folder, and which of them is active.

use clap::{Arg, ArgMatches, Command};
use svc_packages::theme::{self, Theme};
use svc_store::{Store, Tx, options};

use super::output::{columns, say};
use crate::{
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
            let theme = activate(config, &store, name)?;
            say(&format!("The site's theme is now {}.", theme.about.name));
            Ok(())
        }
        _ => list(config, &store),
    }
}

fn read(config: &Config, name: &str) -> Option<Theme> {
    Theme::read(&config.content_dir.join("themes"), name, "")
}

fn list(config: &Config, store: &Store) -> Result {
    let reading = Error::store("cannot read the database");
    let active = store.read(|db| options::get(db, "stylesheet")).map_err(reading)?.unwrap_or_default();
    let rows: Vec<Vec<String>> = theme::folders(&config.content_dir.join("themes"))
        .into_iter()
        .filter_map(|name| {
            let theme = read(config, &name)?;
            let state = if name == active { "active" } else { "inactive" };
            let kind = if theme.is_block_theme { "blocks" } else { "classic" };
            Some(vec![name, theme.about.name, theme.about.version, kind.to_owned(), state.to_owned()])
        })
        .collect();
    say(columns(&rows).trim_end());
    Ok(())
}

fn activate(config: &Config, store: &Store, name: &str) -> Result<Theme> {
    let Some(theme) = read(config, name) else {
        return Err(Error::Refused(format!(
            "there is no theme `{name}` that could be used; `theme list` shows those there are"
        )));
    };
    let rows = [
        ("template", theme.template.clone()),
        ("stylesheet", theme.stylesheet.clone()),
        ("current_theme", theme.about.name.clone()),
    ];
    let write = move |tx: &mut Tx| rows.iter().try_for_each(|(name, value)| options::set(tx, name, value, true));
    store.write_blocking(write).map_err(Error::store("cannot write the database"))?;
    Ok(theme)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{config::Sources, shipped_theme};

    #[test]
    fn a_theme_is_chosen_and_one_that_is_not_there_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let sources = Sources { folder: folder.path().to_owned(), variables: Vec::new(), flags: Vec::new() };
        let mut config = Config::load(&sources).unwrap();
        config.content_dir = folder.path().join("content");
        let themes = config.content_dir.join("themes");
        shipped_theme::write(&themes).unwrap();
        std::fs::create_dir_all(themes.join("kid")).unwrap();
        std::fs::write(themes.join("kid/style.css"), "/*\nTheme Name: Kid\nTemplate: paper\n*/").unwrap();
        let store = Store::open(&svc_store::StoreConfig::new(svc_store::DatabaseUrl::Temporary)).unwrap();
        first_run::create(&store, &"http://localhost".parse().unwrap(), chrono::Utc::now()).unwrap();
        assert!(activate(&config, &store, "nosuch").is_err() && activate(&config, &store, "../paper").is_err());
        activate(&config, &store, "kid").unwrap();
        let stored = |name: &str| store.read(|db| options::get(db, name)).unwrap().unwrap();
        assert_eq!((stored("stylesheet").as_str(), stored("template").as_str()), ("kid", "paper"));
    }
}
