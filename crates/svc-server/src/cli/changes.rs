//! `changes`: who changed what, from the log of changes.

use anyhow::{Context as _, Result, bail};
use chrono::{DateTime, SecondsFormat, Utc};
use clap::{Arg, ArgMatches, Command, value_parser};
use serde_json::{Value, json};
use svc_store::{LoggedChange, Object, post_changes::PostClass};

use super::output::{columns, json_flag, say};
use crate::{config::Config, site::open_existing};

pub(super) fn changes_command() -> Command {
    Command::new("changes")
        .about("Show what was changed, when and by whom")
        .arg(
            Arg::new("since")
                .long("since")
                .value_name("SEQ")
                .value_parser(value_parser!(i64).range(0..))
                .help("Only the changes after this one [default: the last ones]"),
        )
        .arg(
            Arg::new("limit")
                .long("limit")
                .value_name("N")
                .value_parser(value_parser!(u32).range(1..=100_000))
                .default_value("50")
                .help("Number of changes"),
        )
        .arg(json_flag())
}

/// Prints changes in the order in which they were made: as a table, or one JSON object per line.
pub(super) fn changes(config: &Config, args: &ArgMatches) -> Result<()> {
    let store = open_existing(config)?;
    let since = args.get_one::<i64>("since").copied();
    let limit = args.get_one::<u32>("limit").copied().unwrap_or(50);
    let logged = store.logged_changes(&svc_routing::Context::background(), since, limit);
    let Some(changes) = logged.context("cannot read the log of changes")? else {
        bail!("this database has no log of changes; the setting `change_log` adds one");
    };
    if args.get_flag("json") {
        changes.iter().for_each(|change| say(&as_json(change).to_string()));
        return Ok(());
    }
    let header = ["SEQ", "TIME", "OPERATION", "ROWS", "OBJECT", "CHANGE", "USER"].map(str::to_owned).to_vec();
    let rows = changes.iter().map(|change| {
        vec![
            change.seq.to_string(),
            time(change),
            change.operation.name().to_owned(),
            change.kind.clone(),
            object(change),
            summary(change),
            change.caller.map_or_else(String::new, |id| id.to_string()),
        ]
    });
    let lines: Vec<Vec<String>> = std::iter::once(header).chain(rows).collect();
    say(columns(&lines).trim_end());
    Ok(())
}

fn time(change: &LoggedChange) -> String {
    DateTime::<Utc>::from(change.time).to_rfc3339_opts(SecondsFormat::Millis, true)
}

/// The id or name of the object; `*` if any may have changed.
fn object(change: &LoggedChange) -> String {
    match &change.object {
        Some(Object::Id(id)) => id.to_string(),
        Some(Object::Name(name)) => name.clone(),
        None => "*".to_owned(),
    }
}

/// The type of a post, and its status before and after.
fn summary(change: &LoggedChange) -> String {
    let class = |text: &Option<String>| text.as_deref().and_then(PostClass::from_text);
    match (class(&change.before), class(&change.after)) {
        (Some(before), Some(after)) if before.status == after.status => format!("{} {}", after.post_type, after.status),
        (Some(before), Some(after)) => format!("{} {} -> {}", after.post_type, before.status, after.status),
        (None, Some(only)) | (Some(only), None) => format!("{} {}", only.post_type, only.status),
        (None, None) => String::new(),
    }
}

fn as_json(change: &LoggedChange) -> Value {
    let class = |text: &Option<String>| {
        let class = text.as_deref().and_then(PostClass::from_text)?;
        Some(json!({ "type": class.post_type, "status": class.status, "author": class.author.map(|author| author.0) }))
    };
    let object = match &change.object {
        Some(Object::Id(id)) => json!(id),
        Some(Object::Name(name)) => json!(name),
        None => Value::Null,
    };
    json!({
        "seq": change.seq,
        "time": time(change),
        "operation": change.operation.name(),
        "rows": change.kind,
        "object": object,
        "before": class(&change.before),
        "after": class(&change.after),
        "user": change.caller,
    })
}
