//! `routes`, `openapi` and `types`: the registered routes.

use anyhow::{Result, bail};
use clap::{Arg, ArgAction, ArgMatches, Command};
use serde_json::{Value, json};
use svc_routing::{Context, Server};

use super::output::{columns, say};
use crate::{
    config::{Config, SiteUrl},
    site::{SiteBuilder, about},
};

pub(super) fn routes_command() -> Command {
    let json = Arg::new("json").long("json").action(ArgAction::SetTrue).help("Print a JSON array of objects");
    Command::new("routes").about("Show the registered routes").arg(json)
}

/// A server of an empty temporary site with the same registrations, so the site's data is not used.
fn registered(builder: &SiteBuilder, config: &Config) -> Result<Server> {
    let unused: SiteUrl = "http://localhost".parse().map_err(anyhow::Error::msg)?;
    let folder = scratch()?;
    let mut config = config.clone();
    config.data.clone_from(&folder);
    config.content_dir = folder.join("content");
    config.database = svc_auth::Secret::new("sqlite::memory:");
    config.wordpress = None;
    let server = builder.open(&config, &unused).map(|site| site.server());
    drop(std::fs::remove_dir_all(&folder));
    Ok(server?)
}

pub(super) fn openapi_command() -> Command {
    let namespace =
        Arg::new("namespace").long("namespace").value_name("NAME").help("Only the routes of this namespace");
    Command::new("openapi").about("Print the OpenAPI document of the REST API").arg(namespace)
}

/// Prints the OpenAPI document. Its server is the configured URL, otherwise the path of the REST API.
pub(super) fn openapi(builder: &SiteBuilder, config: &Config, args: &ArgMatches) -> Result<()> {
    let server = registered(builder, config)?;
    let namespace = args.get_one::<String>("namespace").map(|name| name.trim_matches('/'));
    let namespaces = svc_openapi::namespaces(&server);
    if let Some(name) = namespace
        && !namespaces.iter().any(|known| known == name)
    {
        bail!("there is no namespace `{name}`; the namespaces are {}", namespaces.join(", "));
    }
    let mut document = svc_openapi::document(&Context::background(), &server, &about(None), namespace);
    if config.site_url.is_none() {
        document["servers"] = json!([{ "url": format!("/{}", server.url_prefix()) }]);
    }
    say(&serde_json::to_string_pretty(&document)?);
    Ok(())
}

pub(super) fn types_command() -> Command {
    Command::new("types").about("Print TypeScript types of the REST API")
}

/// Prints TypeScript declarations.
pub(super) fn types(builder: &SiteBuilder, config: &Config) -> Result<()> {
    let server = registered(builder, config)?;
    say(svc_openapi::typescript(&svc_openapi::document(&Context::background(), &server, &about(None), None)).trim_end());
    Ok(())
}

/// Prints the routes of an empty temporary site with the same registrations.
pub(super) fn routes(builder: &SiteBuilder, config: &Config, args: &ArgMatches) -> Result<()> {
    let server = registered(builder, config)?;
    let methods = |r: &svc_routing::RouteEntry| r.methods().iter().map(ToString::to_string).collect::<Vec<_>>();
    if args.get_flag("json") {
        let all: Vec<Value> = server
            .routes()
            .map(|r| json!({"route": r.pattern(), "namespace": r.namespace(), "methods": methods(r)}))
            .collect();
        let text = serde_json::to_string_pretty(&all)?;
        say(&text);
    } else {
        let rows: Vec<Vec<String>> =
            server.routes().map(|r| vec![r.pattern().to_owned(), methods(r).join(", ")]).collect();
        say(columns(&rows).trim_end());
    }
    Ok(())
}

/// A path for a temporary data folder.
fn scratch() -> Result<std::path::PathBuf> {
    let name = svc_auth::random_text(16)?;
    Ok(std::env::temp_dir().join(format!("svc-routes-{}", name.expose())))
}
