//! `permalinks`: shows and changes the URLs of posts, categories and tags.

use anyhow::{Context as _, Result};
use clap::{Arg, ArgMatches, Command};
use serde_json::json;
use svc_site::settings::permalink_settings::{self, PermalinkDraft, PermalinkSettings};

use super::output::{columns, json_flag, say};
use crate::{config::Config, site::open_existing};

pub(super) fn command() -> Command {
    let structure = Arg::new("structure")
        .value_name("STRUCTURE")
        .help("Path of posts with tags, such as /%year%/%postname%/; '' for plain URLs");
    let base = |name: &'static str, help: &'static str| Arg::new(name).long(name).value_name("BASE").help(help);
    Command::new("permalinks")
        .about("Show or change the URLs of posts, categories and tags")
        .subcommand_required(true)
        .subcommand(Command::new("show").about("Show the settings").arg(json_flag()))
        .subcommand(
            Command::new("set")
                .about("Change settings; a running server uses them at once")
                .arg_required_else_help(true)
                .arg(structure)
                .arg(base("category-base", "Beginning of the paths of categories; '' for category"))
                .arg(base("tag-base", "Beginning of the paths of tags; '' for tag")),
        )
}

pub(super) fn run(config: &Config, args: &ArgMatches) -> Result<()> {
    let store = open_existing(config)?;
    match args.subcommand() {
        Some(("set", args)) => {
            let value = |name: &str| args.get_one::<String>(name).cloned();
            let draft = PermalinkDraft {
                structure: value("structure"),
                category_base: value("category-base"),
                tag_base: value("tag-base"),
            };
            let prefix = config.brand.prefix();
            let changed = store.write_blocking(move |tx| permalink_settings::change(tx, &draft, &prefix));
            show(&changed.context("cannot store the permalinks")??, false)
        }
        Some((_, args)) => {
            let current = store.read_blocking(permalink_settings::load).context("cannot read the database")?;
            show(&current, args.get_flag("json"))
        }
        None => Ok(()),
    }
}

fn show(settings: &PermalinkSettings, as_json: bool) -> Result<()> {
    let PermalinkSettings { structure, category_base, tag_base } = settings;
    if as_json {
        let all = json!({"structure": structure, "category_base": category_base, "tag_base": tag_base});
        say(&serde_json::to_string_pretty(&all)?);
        return Ok(());
    }
    let or = |value: &str, default: &str| if value.is_empty() { default.to_owned() } else { value.to_owned() };
    let rows = [
        ["structure".to_owned(), or(structure, "plain")],
        ["category-base".to_owned(), or(category_base, "category")],
        ["tag-base".to_owned(), or(tag_base, "tag")],
    ];
    say(columns(&rows.map(Vec::from)).trim_end());
    Ok(())
}
