//! `mail`: tests the settings of mail, and shows and retries what waits or was given up.

use std::time::Duration;

use anyhow::{Context as _, Result, anyhow, bail, ensure};
use chrono::DateTime;
use clap::{Arg, ArgMatches, Command};
use serde_json::json;
use svc_auth::random_text;
use svc_mail::{MailSettings, Mailer};
use svc_outbox::{Counts, Message, Page, State, Time, counts, list, retry};
use svc_site::mail::{QUEUE, StoredMail, letters};
use svc_store::{Store, options};
use svc_versions::Context;

use super::{
    block_on,
    output::{columns, json_flag, say},
};
use crate::{
    config::{Config, SiteUrl},
    site::{SiteBuilder, open_existing},
};

/// Maximum number of mails in the list.
const MAX_LISTED: u64 = 1_000;

/// Length of the id of a test mail.
const ID_LENGTH: usize = 24;

/// How long a test may take.
const TIMEOUT: Duration = Duration::from_mins(2);

pub(super) fn mail_command() -> Command {
    let test = Command::new("test")
        .about("Send a test mail at once, and print the reply of the mail server")
        .arg(Arg::new("address").value_name("ADDRESS").required(true).help("Email address of the recipient"));
    let states = State::ALL.map(State::name);
    let list = Command::new("list")
        .about("List mails that wait, were sent in the last week, or were given up; the newest first")
        .arg(Arg::new("state").long("state").value_name("STATE").value_parser(states).help("Only those in this state"))
        .arg(json_flag());
    let number = Arg::new("number").value_name("NUMBER").value_parser(clap::value_parser!(i64));
    let retry = Command::new("retry")
        .about("Send mails again that were given up")
        .arg(number.help("Number of a mail, as printed by `list` [default: all]"));
    Command::new("mail")
        .about("Test the settings of mail; list and retry mails")
        .subcommand_required(true)
        .subcommand(test)
        .subcommand(list)
        .subcommand(retry)
}

/// Runs a `mail` command.
pub(super) fn mail(builder: &SiteBuilder, config: &Config, args: &ArgMatches) -> Result<()> {
    let settings = config.mail.as_ref().ok_or_else(|| {
        anyhow!("mail is not configured: set `from` and `smtp` or `sendmail` in the table [mail] of svc.toml")
    })?;
    let store = open_existing(config)?;
    match args.subcommand() {
        Some(("test", args)) => {
            drop(store);
            test(builder, config, settings, args.get_one::<String>("address").map_or("", String::as_str))
        }
        Some(("retry", args)) => {
            create_table(&store)?;
            let number = args.get_one("number").copied();
            let n = store.write_blocking(move |tx| retry(tx, QUEUE, number, Time::now()));
            let n = n.context("cannot retry the mails")?;
            ensure!(n > 0 || number.is_none(), "there is no such mail that was given up");
            say(&format!("{n} mails wait to be sent again."));
            Ok(())
        }
        Some((_, args)) => {
            create_table(&store)?;
            let state = args.get_one::<String>("state").and_then(|name| State::named(name));
            let page = Page { state, limit: MAX_LISTED, ..Page::default() };
            let mails = store.read_blocking(|db| list(db, QUEUE, &page)).context("cannot read the mails")?;
            show(&mails, args.get_flag("json"))
        }
        None => Ok(()),
    }
}

fn create_table(store: &Store) -> Result<()> {
    store.create_own_table(&svc_outbox::TABLE).context("cannot create the table of mails")
}

fn test(builder: &SiteBuilder, config: &Config, settings: &MailSettings, address: &str) -> Result<()> {
    ensure!(svc_text::is_email(address), "`{address}` is not a valid email address");
    let unused: SiteUrl = "http://localhost".parse().map_err(anyhow::Error::msg)?;
    let open = builder.open(config, &unused)?;
    let site_settings = open.site().settings(&Context::background()).map_err(|error| anyhow!("{}", error.message()))?;
    let letter = letters(open.site(), &site_settings).test(address);
    let mailer = Mailer::new(settings)?;
    let id = random_text(ID_LENGTH)?;
    let sent = block_on(async { tokio::time::timeout(TIMEOUT, mailer.send(id.expose(), &letter)).await })?;
    match sent {
        Ok(Ok(reply)) => say(&format!("{} has accepted the mail to {address}: {reply}", settings.transport)),
        Ok(Err(error)) => bail!("{} has not accepted the mail: {error}", settings.transport),
        Err(_) => bail!("{} does not answer", settings.transport),
    }
    Ok(())
}

fn show(mails: &[Message], as_json: bool) -> Result<()> {
    let time = |time: Time| DateTime::from_timestamp_millis(time.0).unwrap_or_default();
    let facts = |mail: &Message| {
        let stored: Option<StoredMail> = serde_json::from_str(&mail.payload).ok();
        stored.map(|mail| (mail.letter.to, mail.letter.subject)).unwrap_or_default()
    };
    if as_json {
        let row = |mail: &Message| {
            let (to, subject) = facts(mail);
            let iso = |at: Time| time(at).format("%Y-%m-%dT%H:%M:%SZ").to_string();
            let next = (mail.state == State::Waiting).then(|| iso(mail.due));
            json!({
                "number": mail.number, "state": mail.state.name(), "to": to, "subject": subject, "created": iso(mail.created),
                "next_attempt": next, "finished": mail.finished.map(iso), "attempts": mail.attempts, "result": mail.result,
            })
        };
        say(&serde_json::to_string_pretty(&mails.iter().map(row).collect::<Vec<_>>())?);
        return Ok(());
    }
    let row = |mail: &Message| {
        let (to, subject) = facts(mail);
        let created = time(mail.created).format("%Y-%m-%d %H:%M").to_string();
        let attempts = format!("{} attempts", mail.attempts);
        vec![mail.number.to_string(), created, mail.state.name().to_owned(), to, subject, attempts, mail.result.clone()]
    };
    say(columns(&mails.iter().map(row).collect::<Vec<_>>()).trim_end());
    Ok(())
}

/// What `doctor` says of mail.
pub(super) fn summary(config: &Config, store: &Store) -> Result<String> {
    let Some(settings) = &config.mail else {
        return Ok(
            "mail: not configured; without it there are no links for lost passwords (settings mail.from, mail.smtp)"
                .to_owned(),
        );
    };
    create_table(store)?;
    let read = store.read_blocking(|db| Ok((counts(db, QUEUE)?, options::get(db, "admin_email")?.unwrap_or_default())));
    let (Counts { waiting, dead, .. }, admin) = read.context("cannot read the mails")?;
    let given_up = if dead > 0 { "; see `svc-server mail list --state dead`" } else { "" };
    // The address of a new site, which nobody has.
    let nobody = if admin.text().ends_with("@example.com") { "; the administrator's address is not set" } else { "" };
    let (from, through) = (&settings.from, &settings.transport);
    Ok(format!("mail: from {from} through {through}; {waiting} waiting, {dead} given up{given_up}{nobody}"))
}
