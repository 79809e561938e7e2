//! `config` and `routes`: what is set and what is registered.

use clap::{Arg, ArgAction, ArgMatches, Command};
use serde_json::{Value, json};

use super::output::{columns, say};
use crate::{
    config::{Config, SiteUrl},
    error::{Error, Result},
    site::SiteBuilder,
};

pub(super) fn config_command() -> Command {
    Command::new("config").about("Show every setting in force and where it comes from")
}

pub(super) fn config(config: &Config) {
    let rows: Vec<Vec<String>> =
        config.shown().into_iter().map(|s| vec![s.key.to_owned(), s.value, s.origin.to_string()]).collect();
    say(columns(&rows).trim_end());
}

pub(super) fn routes_command() -> Command {
    let json = Arg::new("json").long("json").action(ArgAction::SetTrue).help("As a list of JSON objects");
    Command::new("routes").about("Show the routes that are registered").arg(json)
}

/// Shows routes without touching the site's own data: they are those of an empty site with the same registrations.
pub(super) fn routes(builder: &SiteBuilder, config: &Config, args: &ArgMatches) -> Result {
    let address: SiteUrl = "http://localhost".parse().map_err(Error::Refused)?;
    let folder = scratch()?;
    let mut config = config.clone();
    config.data.clone_from(&folder);
    config.content_dir = folder.join("content");
    config.database = svc_auth::Secret::new("sqlite::memory:");
    config.site_url = None;
    let server = builder.open(&config, &address).map(|site| site.server());
    drop(std::fs::remove_dir_all(&folder));
    let server = server?;
    let methods =
        |r: &svc_routing::endpoint::RouteEntry| r.methods().iter().map(ToString::to_string).collect::<Vec<_>>();
    if args.get_flag("json") {
        let all: Vec<Value> = server
            .routes()
            .map(|r| json!({"route": r.pattern(), "namespace": r.namespace(), "methods": methods(r)}))
            .collect();
        let text = serde_json::to_string_pretty(&all).map_err(|e| Error::Refused(e.to_string()))?;
        say(&text);
    } else {
        let rows: Vec<Vec<String>> =
            server.routes().map(|r| vec![r.pattern().to_owned(), methods(r).join(", ")]).collect();
        say(columns(&rows).trim_end());
    }
    Ok(())
}

/// A folder of its own for keys that nobody needs.
fn scratch() -> Result<std::path::PathBuf> {
    let name = svc_auth::random_text(16).map_err(|e| Error::Refused(e.to_string()))?;
    Ok(std::env::temp_dir().join(format!("svc-routes-{}", name.expose())))
}
