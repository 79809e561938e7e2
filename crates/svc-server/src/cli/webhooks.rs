//! `webhooks`: requests that tell other servers of events.

use anyhow::{Context as _, Result, bail};
use chrono::{DateTime, NaiveDateTime, SecondsFormat, Utc};
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use serde_json::{Value, json};
use svc_events::webhooks::{self, Draft, Webhook};
use svc_site::{SiteError, SiteResult};
use svc_store::{Store, StoreError, Tx};

use super::output::{columns, json_flag, say};
use crate::{config::Config, site::open_existing};

pub(super) fn command() -> Command {
    let id = || Arg::new("id").value_name("ID").required(true).help("ID, as printed by `list`");
    let list = |name: &'static str, help: &'static str| {
        Arg::new(name).long(name).value_name("LIST").value_delimiter(',').action(ArgAction::Append).help(help)
    };
    let create = Command::new("create")
        .about("Create a webhook; its secret is shown once")
        .arg(Arg::new("url").value_name("URL").required(true).help("Where deliveries are sent"))
        .arg(Arg::new("name").long("name").value_name("NAME").help("What administrators call it"))
        .arg(list("events", "Events that are sent, such as post.published,media.* [default: *]"))
        .arg(list("types", "Only objects of these post types, taxonomies or types of comments"))
        .arg(list("statuses", "Only objects with one of these statuses, before or after"));
    let limit = Arg::new("limit").long("limit").value_name("N").value_parser(value_parser!(u64).range(1..=1_000));
    let rotate = Command::new("rotate")
        .about("Create a new secret, which is shown once; deliveries are signed with the earlier ones as well")
        .arg(id())
        .arg(Arg::new("only-new").long("only-new").action(ArgAction::SetTrue).help("Remove the earlier secrets"));
    let number = Arg::new("number").value_name("NUMBER").required(true).value_parser(value_parser!(i64).range(1..));
    Command::new("webhooks")
        .about("Manage webhooks, which tell other servers of events")
        .subcommand_required(true)
        .subcommand(create)
        .subcommand(Command::new("list").about("List webhooks").arg(json_flag()))
        .subcommand(Command::new("delete").about("Delete a webhook").arg(id()))
        .subcommand(Command::new("enable").about("Send deliveries again").arg(id()))
        .subcommand(Command::new("disable").about("Send no deliveries").arg(id()))
        .subcommand(rotate)
        .subcommand(
            Command::new("deliveries")
                .about("List the deliveries of a webhook, the newest first")
                .arg(id())
                .arg(limit.default_value("20").help("Number of deliveries"))
                .arg(json_flag()),
        )
        .subcommand(
            Command::new("replay")
                .about("Queue a delivery once more")
                .arg(id())
                .arg(number.help("Number, as printed by `deliveries`")),
        )
        .subcommand(Command::new("test").about("Queue a delivery of no event").arg(id()))
}

fn text<'a>(args: &'a ArgMatches, name: &str) -> &'a str {
    args.get_one::<String>(name).map_or("", String::as_str)
}

/// Runs a transaction.
fn write<T: Send + 'static>(store: &Store, change: impl Fn(&mut Tx) -> SiteResult<T> + Send + 'static) -> Result<T> {
    let own = move |tx: &mut Tx| change(tx).map_err(store_error);
    store.write_blocking(own).context("cannot change the webhooks")
}

fn store_error(error: SiteError) -> StoreError {
    StoreError::Other(svc_schema::Error::from(error).message().to_owned())
}

/// Runs a command. `now` is the current time in UTC.
pub(super) fn run(config: &Config, args: &ArgMatches, now: NaiveDateTime) -> Result<()> {
    let store = open_existing(config)?;
    // Without a log of changes there can be no webhooks, and nothing is added to the database.
    if store.read_blocking(|db| db.log_bounds()).context("cannot read the log of changes")?.is_some() {
        store.create_own_table(&svc_outbox::TABLE).context("cannot create the table of the outbox")?;
    }
    let now = now.and_utc();
    let Some((command, args)) = args.subcommand() else { return Ok(()) };
    let id = if command == "list" || command == "create" { String::new() } else { text(args, "id").to_owned() };
    match command {
        "list" => list(&store, args.get_flag("json")),
        "create" => {
            let draft = draft(args);
            let hook = write(&store, move |tx| webhooks::create(tx, &draft, now.timestamp()))?;
            say(&format!("Created {}. Its secret is not shown again:", hook.id));
            say(hook.secrets.first().map_or("", String::as_str));
            Ok(())
        }
        "delete" => {
            existing(write(&store, move |tx| webhooks::delete(tx, &id))?)?;
            Ok(())
        }
        "enable" | "disable" => {
            let draft = Draft { active: Some(command == "enable"), ..Draft::default() };
            existing(write(&store, move |tx| webhooks::update(tx, &id, &draft))?)?;
            Ok(())
        }
        "rotate" => {
            let only_new = args.get_flag("only-new");
            let hook = existing(write(&store, move |tx| webhooks::rotate_secret(tx, &id, only_new))?)?;
            say(hook.secrets.first().map_or("", String::as_str));
            Ok(())
        }
        "deliveries" => deliveries(&store, &id, args),
        "replay" => {
            let (hook, number) = (find(&store, &id)?, args.get_one::<i64>("number").copied().unwrap_or_default());
            match write(&store, move |tx| webhooks::replay(tx, &hook, number))? {
                Some(number) => say(&format!("Queued delivery {number}")),
                None => bail!("the webhook has no delivery {number}"),
            }
            Ok(())
        }
        _ => {
            let (hook, now) = (find(&store, &id)?, now.to_rfc3339_opts(SecondsFormat::Secs, true));
            let number = write(&store, move |tx| webhooks::test(tx, &hook, &now))?;
            say(&format!("Queued delivery {}", number.unwrap_or_default()));
            Ok(())
        }
    }
}

fn draft(args: &ArgMatches) -> Draft {
    let list = |name: &str| args.get_many::<String>(name).map(|values| values.cloned().collect());
    Draft {
        name: args.get_one::<String>("name").cloned(),
        url: args.get_one::<String>("url").cloned(),
        events: list("events"),
        types: list("types"),
        statuses: list("statuses"),
        active: None,
    }
}

fn existing(hook: Option<Webhook>) -> Result<Webhook> {
    hook.context("there is no such webhook: see `webhooks list`")
}

fn all(store: &Store) -> Result<Vec<Webhook>> {
    store.read_blocking(|db| webhooks::list(db).map_err(store_error)).context("cannot read the webhooks")
}

fn find(store: &Store, id: &str) -> Result<Webhook> {
    existing(all(store)?.into_iter().find(|hook| hook.id == id))
}

fn list(store: &Store, as_json: bool) -> Result<()> {
    let hooks = all(store)?;
    if as_json {
        hooks.iter().for_each(|hook| say(&shown(hook).to_string()));
        return Ok(());
    }
    let header = ["ID", "STATE", "EVENTS", "TYPES", "STATUSES", "URL"].map(str::to_owned).to_vec();
    let rows = hooks.iter().map(|hook| {
        let state = match (hook.active, hook.failing_since) {
            (false, _) if hook.switched_off.is_empty() => "off".to_owned(),
            (false, _) => format!("off: {}", hook.switched_off),
            (true, Some(since)) => {
                let since = DateTime::<Utc>::from_timestamp(since, 0).unwrap_or_default();
                format!("failing since {}", since.to_rfc3339_opts(SecondsFormat::Secs, true))
            }
            (true, None) => "on".to_owned(),
        };
        let join = |list: &[String]| list.join(",");
        vec![hook.id.clone(), state, join(&hook.events), join(&hook.types), join(&hook.statuses), hook.url.clone()]
    });
    let lines: Vec<Vec<String>> = std::iter::once(header).chain(rows).collect();
    say(columns(&lines).trim_end());
    Ok(())
}

/// A webhook without its secrets.
fn shown(hook: &Webhook) -> Value {
    json!({
        "id": hook.id,
        "name": hook.name,
        "url": hook.url,
        "events": hook.events,
        "types": hook.types,
        "statuses": hook.statuses,
        "active": hook.active,
        "switched_off": hook.switched_off,
        "failing_since": hook.failing_since,
        "n_secrets": hook.secrets.len(),
    })
}

fn deliveries(store: &Store, id: &str, args: &ArgMatches) -> Result<()> {
    let (id, limit) = (id.to_owned(), args.get_one::<u64>("limit").copied().unwrap_or(20));
    let found = store
        .read_blocking(|db| webhooks::list_deliveries(db, &id, None, None, limit).map_err(store_error))
        .context("cannot read the deliveries")?;
    if args.get_flag("json") {
        for delivery in &found {
            let message = &delivery.message;
            let line = json!({
                "number": message.number,
                "message": message.id,
                "event": delivery.event,
                "state": message.state.name(),
                "attempts": message.attempts,
                "request": delivery.body,
                "response": message.result,
            });
            say(&line.to_string());
        }
        return Ok(());
    }
    let header = ["NUMBER", "STATE", "ATTEMPTS", "EVENT", "RESPONSE"].map(str::to_owned).to_vec();
    let rows = found.iter().map(|delivery| {
        let message = &delivery.message;
        let response = message.result.lines().next().unwrap_or_default().chars().take(60).collect();
        let state = message.state.name().to_owned();
        vec![message.number.to_string(), state, message.attempts.to_string(), delivery.event.clone(), response]
    });
    let lines: Vec<Vec<String>> = std::iter::once(header).chain(rows).collect();
    say(columns(&lines).trim_end());
    Ok(())
}
