//! `restore --at`: restores a point in time of a continuous backup to an empty folder.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context as _, Result, bail, ensure};
use chrono::{DateTime, NaiveDateTime};
use clap::{Arg, ArgMatches};
use svc_backup::{Moment, check_readable, restore_database, restore_files};

use super::continuous::{from_flag, identity_flag, source, text};
use crate::{
    cli::{data::path, output::say},
    config::Config,
};

pub(super) fn restore_arguments() -> [Arg; 4] {
    [
        Arg::new("at")
            .long("at")
            .value_name("TIME")
            .requires("folder")
            .conflicts_with_all(["from", "overwrite"])
            .value_parser(moment)
            .help("Restore a continuous backup: latest, or a time such as 2026-01-31T12:00:00Z"),
        from_flag().requires("at"),
        identity_flag().requires("at"),
        path("folder", "Empty folder for the site that --at restores").long("to").value_name("FOLDER").requires("at"),
    ]
}

/// A point in time. Without a zone it is in UTC.
fn moment(given: &str) -> Result<Moment, String> {
    if given == "latest" {
        return Ok(Moment::Latest);
    }
    let with_zone = DateTime::parse_from_rfc3339(given).map(|time| time.timestamp_millis());
    let plain = || {
        let formats = ["%Y-%m-%dT%H:%M:%S%.f", "%Y-%m-%d %H:%M:%S%.f", "%Y-%m-%dT%H:%M", "%Y-%m-%d %H:%M"];
        let time = formats.iter().find_map(|format| NaiveDateTime::parse_from_str(given, format).ok());
        time.map(|time| time.and_utc().timestamp_millis())
    };
    let time = with_zone.ok().or_else(plain).and_then(|time| u64::try_from(time).ok());
    time.map(Moment::At).ok_or_else(|| "must be latest, or a time such as 2026-01-31T12:00:00Z".to_owned())
}

pub(super) fn restore(config: &Config, args: &ArgMatches) -> Result<()> {
    let moment: Moment = *args.get_one("at").expect("the caller has checked it");
    let to: &PathBuf = args.get_one("folder").expect("clap requires it");
    let (target, from) = source(config, args)?;
    ensure!(is_empty(to)?, "{} is not empty: name a new folder with --to", to.display());
    check_readable(&*from, moment)?;
    // The folder is complete or empty, even if this is interrupted.
    let work = beside(to)?;
    drop(fs::remove_dir_all(&work));
    super::private_folder(&work).with_context(|| format!("cannot create {}", work.display()))?;
    let restored = restore_database(&*from, moment, &work.join(super::DATABASE))
        .and_then(|database| restore_files(&*from, moment, &work).map(|files| (database, files)));
    let (database, files) = restored.inspect_err(|_| drop(fs::remove_dir_all(&work)))?;
    if to.exists() {
        fs::remove_dir(to).with_context(|| format!("cannot replace {}", to.display()))?;
    }
    fs::rename(&work, to).with_context(|| format!("cannot create {}", to.display()))?;
    say(&format!("Restored {target} to {}.", to.display()));
    say(&format!("Reached: {} (the last change until the given time)", text(database.reached)));
    say(&format!(
        "Database: {} bytes, from the snapshot of {} and {} transactions after it; it was checked",
        database.bytes,
        text(database.snapshot),
        database.transactions
    ));
    match files.time {
        Some(time) => say(&format!("Files: {}, {} bytes, as of {}", files.files, files.bytes, text(time))),
        None => say("Files: none, the backup has no list of files"),
    }
    say(&format!("Serve it with: svc-server --data {}", to.display()));
    Ok(())
}

/// Whether a folder does not exist or is empty.
fn is_empty(folder: &Path) -> Result<bool> {
    match fs::read_dir(folder) {
        Ok(mut entries) => Ok(entries.next().is_none()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(true),
        Err(error) => Err(error).with_context(|| format!("cannot read {}", folder.display())),
    }
}

/// The folder in which the site is restored first.
fn beside(folder: &Path) -> Result<PathBuf> {
    let Some(name) = folder.file_name() else { bail!("{} cannot be created", folder.display()) };
    let mut name = name.to_owned();
    name.push(".unfinished");
    Ok(folder.with_file_name(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments() {
        assert_eq!(moment("latest"), Ok(Moment::Latest));
        for text in ["2024-02-29T12:00:00Z", "2024-02-29T13:00:00+01:00", "2024-02-29 12:00:00", "2024-02-29 12:00"] {
            assert_eq!(moment(text), Ok(Moment::At(1_709_208_000_000)), "{text}");
        }
        assert_eq!(moment("2024-02-29T12:00:00.250Z"), Ok(Moment::At(1_709_208_000_250)));
        for text in ["", "now", "2024-02-30 12:00", "1709208000", "1960-01-01 00:00"] {
            assert!(moment(text).is_err(), "{text}");
        }
    }
}
