//! The continuous backup of a served site, and looking at it.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use anyhow::{Context as _, Result, bail};
use chrono::{DateTime, SecondsFormat, Utc};
use clap::{Arg, ArgMatches, Command};
use svc_backup::{Backup, Decrypting, Destination, FileSource, Identities, Moment, Summary};
use svc_certificates::FOLDER as CERTIFICATES;

use crate::{
    cli::{content, data::path, output::say},
    config::{BackupTarget, Config, FILE, KEY_FILE, backup_target},
    data_folder::DataLock,
    site::OpenSite,
};

/// How old the last snapshot may be, in intervals.
const MAX_INTERVALS: u32 = 3;

/// Starts the backup of a site, if one is set up, the database is SQLite, and no other server uses the data folder.
///
/// # Errors
/// If the database cannot be followed.
pub(in crate::cli) fn start(config: &Config, site: &OpenSite, lock: &DataLock) -> Result<Option<Backup>> {
    let Some(to) = &config.backup.to else { return Ok(None) };
    if let Some(conflict) = lock.conflict(&config.data) {
        tracing::error!("this server does not back up the site: {conflict}");
        return Ok(None);
    }
    let reader = site.site().store.log_reader().context("the database cannot be backed up continuously")?;
    let Some(reader) = reader else { return Ok(None) };
    let destination = to.open(&config.backup.access)?;
    tracing::info!(%to, "backing up continuously");
    let backup = Backup::start(reader, Some(files(config)), destination, config.backup.settings.clone());
    backup.context("the continuous backup cannot start").map(Some)
}

/// What a site consists of beside its database, as `backup --all` copies it.
fn files(config: &Config) -> FileSource {
    let in_bucket = |folder: &str| folder == "uploads" && !config.uploads.places.has_folder();
    let folders = content::FOLDERS.into_iter().filter(|folder| !in_bucket(folder));
    let folders = folders.map(|name| (format!("{}/{name}", super::CONTENT), config.content_dir.join(name)));
    let single = [KEY_FILE, FILE, CERTIFICATES].map(|name| (name.to_owned(), config.data.join(name)));
    FileSource { paths: folders.chain(single).collect() }
}

pub(super) fn from_flag() -> Arg {
    Arg::new("backup")
        .long("from")
        .value_name("WHERE")
        .help("Folder or s3://BUCKET/PREFIX of a continuous backup [default: backup.to]")
}

pub(super) fn identity_flag() -> Arg {
    path("identity", "File with the secret key of an encrypted backup, as age-keygen writes it")
        .long("identity")
        .value_name("FILE")
}

/// The backup of `--from`, or that of the settings, decrypted with the keys of `--identity`.
pub(super) fn source(config: &Config, args: &ArgMatches) -> Result<(BackupTarget, Arc<dyn Destination>)> {
    let given: Option<&String> = args.get_one("backup");
    let target = match given {
        Some(text) => backup_target(text, Path::new("")).map_err(|why| anyhow::anyhow!("--from {why}"))?,
        None => config.backup.to.clone().context("name a continuous backup with --from, or set backup.to")?,
    };
    let mut destination = target.open(&config.backup.access)?;
    if let Some(file) = args.get_one::<PathBuf>("identity") {
        destination = Arc::new(Decrypting::new(destination, Identities::read(file)?));
    }
    Ok((target, destination))
}

pub(super) fn verify_command() -> Command {
    Command::new("verify")
        .about("Read a whole continuous backup and check that every point in time can be restored")
        .arg(from_flag())
        .arg(identity_flag())
}

pub(super) fn verify(config: &Config, args: &ArgMatches) -> Result<()> {
    let (target, from) = source(config, args)?;
    let summary = svc_backup::summary(&*from)?;
    if args.contains_id("identity") && summary.snapshots > 0 {
        // A wrong key is one error, and not one for each object.
        svc_backup::check_readable(&*from, Moment::Latest)?;
    }
    let found = svc_backup::verify(&*from)?;
    say(&describe(&target, &summary));
    say(&format!(
        "{} objects were read: {} snapshots, {} transactions, {} lists of files.",
        found.objects, found.snapshots, found.transactions, found.file_lists
    ));
    if found.encrypted > 0 {
        say(&format!(
            "{} of them are encrypted: they are there and have a possible size, but their content was not checked; --identity does it.",
            found.encrypted
        ));
    }
    found.faults.iter().for_each(|fault| say(&format!("fault: {fault}")));
    if found.snapshots == 0 {
        bail!("{target} has no complete snapshot, so nothing can be restored");
    }
    if found.faults.is_empty() { Ok(()) } else { bail!("{} faults", found.faults.len()) }
}

/// For `doctor`: what the backup of a site on SQLite has, and what is wrong with it.
pub(in crate::cli) fn examine(config: &Config) -> Option<(String, Option<String>)> {
    let is_sqlite = config.database.expose().starts_with("sqlite:");
    let target = config.backup.to.as_ref().filter(|_| is_sqlite)?;
    let summary = target.open(&config.backup.access).and_then(|from| svc_backup::summary(&*from));
    let summary = match summary {
        Ok(summary) => summary,
        Err(error) => {
            return Some((format!("continuous backup: {target}"), Some(format!("it cannot be read: {error}"))));
        }
    };
    let longest = config.backup.settings.snapshot_interval.saturating_mul(MAX_INTERVALS);
    let age = summary.last_snapshot.and_then(|time| Utc::now().signed_duration_since(utc(time)).to_std().ok());
    let wrong = match (summary.last_snapshot, age) {
        (None, _) => Some("it has no complete snapshot: is the server running with this setting?".to_owned()),
        (Some(_), Some(age)) if age > longest => {
            let days = age.as_secs_f64() / Duration::from_secs(86_400).as_secs_f64();
            Some(format!("the last snapshot is {days:.1} days old: see the errors in the server's log"))
        }
        _ => None,
    };
    let encryption = match (&config.backup.settings.recipients, summary.encrypted_snapshots) {
        (Some(keys), _) if summary.is_for(keys) => match summary.snapshots - summary.encrypted_snapshots {
            0 => format!("encrypted for the {} keys of backup.recipients", keys.count()),
            n => format!(
                "encrypted for the {} keys of backup.recipients; {n} earlier snapshots, which are not, stay until backup.retention is over",
                keys.count()
            ),
        },
        (Some(_), _) => {
            "not yet encrypted for the keys of backup.recipients: the server encrypts when it is started with them"
                .to_owned()
        }
        (None, 0) => "not encrypted".to_owned(),
        (None, n) => format!("not encrypted, but {n} earlier snapshots are"),
    };
    Some((format!("{}; {encryption}", describe(target, &summary)), wrong))
}

fn describe(target: &BackupTarget, summary: &Summary) -> String {
    let time = |time: Option<u64>| time.map_or("none".to_owned(), text);
    format!(
        "continuous backup: {target}: {} snapshots (last {}), restorable from {} to {}, {} parts of the log in {} generations",
        summary.snapshots,
        time(summary.last_snapshot),
        time(summary.first),
        time(summary.last),
        summary.log_parts,
        summary.generations
    )
}

/// A time for people and for `--at`.
pub(super) fn text(milliseconds: u64) -> String {
    utc(milliseconds).to_rfc3339_opts(SecondsFormat::Millis, true)
}

fn utc(milliseconds: u64) -> DateTime<Utc> {
    i64::try_from(milliseconds).ok().and_then(DateTime::from_timestamp_millis).unwrap_or_default()
}
