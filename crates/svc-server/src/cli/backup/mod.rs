//! `backup` and `restore`: copies of a site on SQLite.
//!
//! A backup is the database file alone, or a folder with the parts of the data folder that a site consists of: the database, the
//! secret keys, the settings, the certificates of ACME, and the content folder. A continuous backup has all of it, at every point in time.

mod continuous;
mod point_in_time;

use std::{
    fs,
    io::Read as _,
    path::{Path, PathBuf},
};

use anyhow::{Context as _, Result, bail, ensure};
use clap::{Arg, ArgAction, ArgMatches, Command};
use svc_certificates::FOLDER as CERTIFICATES;
use svc_store::{DatabaseUrl, Store, StoreConfig};

pub(super) use continuous::{examine, start};

use super::{content, data::path, output::say};
use crate::{
    config::{Config, FILE, KEY_FILE},
    data_folder::{self, DataLock},
    site::open_existing,
    upgrade_copy,
};

/// Name of the database in a data folder and in a folder of a backup.
const DATABASE: &str = "site.db";

/// Name of the content folder in a folder of a backup.
const CONTENT: &str = "content";

pub(super) fn backup_command() -> Command {
    Command::new("backup")
        .about("Copy a consistent snapshot of an SQLite database, or of the whole site, while it is in use")
        .subcommand(continuous::verify_command())
        .subcommand_negates_reqs(true)
        .arg(path("to", "Output file, or folder with --all; must not exist").value_name("TO").required(true))
        .arg(
            Arg::new("all")
                .long("all")
                .action(ArgAction::SetTrue)
                .help("Write a folder with the database, uploads, themes, plugins, settings, secret keys and certificates of ACME"),
        )
}

pub(super) fn restore_command() -> Command {
    Command::new("restore")
        .about("Restore a site on SQLite from a backup; the server must be stopped")
        .arg(path("from", "A file or folder that `backup` wrote").value_name("FROM").required_unless_present("at"))
        .arg(Arg::new("overwrite").long("overwrite").action(ArgAction::SetTrue).help("Replace the existing site"))
        .args(point_in_time::restore_arguments())
}

pub(super) fn backup(config: &Config, args: &ArgMatches) -> Result<()> {
    if let Some(args) = args.subcommand_matches("verify") {
        return continuous::verify(config, args);
    }
    let to: &PathBuf = args.get_one("to").expect("clap requires it");
    let store = open_existing(config)?;
    let copy = |to: &Path| store.backup(to).with_context(|| format!("cannot back up to {}", to.display()));
    if !args.get_flag("all") {
        copy(to)?;
        say(&format!("Wrote {}.", to.display()));
        say(&format!(
            "It contains the database only, not {} and {}; `backup --all` includes them.",
            config.content_dir.display(),
            config.data.join(KEY_FILE).display()
        ));
        return Ok(());
    }
    private_folder(to).with_context(|| format!("cannot create {}", to.display()))?;
    copy(&to.join(DATABASE))?;
    upgrade_copy::record(&to.join(DATABASE))?;
    // After the database, so that the files of all media items in it are there.
    let copied = match content::has_folders(&config.content_dir) {
        true => content::copy(&config.content_dir, &to.join(CONTENT))?,
        false => content::Copied::default(),
    };
    for name in [KEY_FILE, FILE] {
        copy_if_present(&config.data.join(name), &to.join(name))?;
    }
    copy_private_files(&config.data.join(CERTIFICATES), &to.join(CERTIFICATES))?;
    say(&format!("Wrote {}: the database and {} files.", to.display(), copied.files));
    if config.uploads.places.has_bucket() {
        say("It does not contain the uploads, which are in a bucket.");
    }
    Ok(())
}

pub(super) fn restore(config: &Config, args: &ArgMatches) -> Result<()> {
    if args.contains_id("at") {
        return point_in_time::restore(config, args);
    }
    let from: &PathBuf = args.get_one("from").expect("clap requires it");
    let database = config.data.join(DATABASE);
    let is_own = config.database.expose() == format!("sqlite:{}", database.display());
    ensure!(
        is_own,
        "only the database in the data folder can be restored; use `import` or the tools of the database server"
    );
    let source = if from.is_dir() { from.join(DATABASE) } else { from.clone() };
    ensure!(source.is_file(), "{} does not exist", source.display());
    let begins = begins_as_database(&source).with_context(|| format!("cannot read {}", source.display()))?;
    ensure!(begins, "{} is not a usable backup: it is no SQLite database", source.display());
    data_folder::create(&config.data)?;
    let lock = DataLock::acquire(&config.data);
    if let Some(conflict) = lock.conflict(&config.data) {
        bail!("{conflict}: stop it first");
    }
    if database.exists() && !args.get_flag("overwrite") {
        bail!("{} exists: use --overwrite to replace it", database.display());
    }
    // A copy is checked, because opening a database may write to its folder.
    let work = config.data.join("restoring");
    drop(fs::remove_dir_all(&work));
    let checked = private_folder(&work).with_context(|| format!("cannot create {}", work.display())).and_then(|()| {
        let copy = work.join(DATABASE);
        fs::copy(&source, &copy).with_context(|| format!("cannot copy {}", source.display()))?;
        check(&copy, &config.table_prefix).with_context(|| format!("{} is not a usable backup", source.display()))?;
        replace(&copy, &database).with_context(|| format!("cannot replace {}", database.display()))?;
        // The check has brought it up to date.
        Ok(upgrade_copy::record(&database)?)
    });
    drop(fs::remove_dir_all(&work));
    checked?;
    say(&format!("Restored {}.", database.display()));
    if from.is_dir() {
        for name in [KEY_FILE, FILE] {
            copy_if_present(&from.join(name), &config.data.join(name))?;
        }
        copy_private_files(&from.join(CERTIFICATES), &config.data.join(CERTIFICATES))?;
        if content::has_folders(&from.join(CONTENT)) {
            let copied = content::copy(&from.join(CONTENT), &config.content_dir)?;
            say(&format!("Restored {} files to {}.", copied.files, config.content_dir.display()));
        }
    }
    Ok(())
}

/// Whether a file begins as SQLite databases do.
fn begins_as_database(file: &Path) -> std::io::Result<bool> {
    let mut start = Vec::new();
    fs::File::open(file)?.take(16).read_to_end(&mut start)?;
    Ok(start == *b"SQLite format 3\0")
}

/// Fails unless the file is an intact SQLite database with a site.
fn check(file: &Path, prefix: &str) -> Result<()> {
    let mut settings = StoreConfig::new(DatabaseUrl::Sqlite(file.to_owned()));
    prefix.clone_into(&mut settings.table_prefix);
    let store = Store::open(&settings)?;
    store.check()?;
    ensure!(svc_new_site::has_site(&store)?, "it contains no site with the table prefix `{prefix}`");
    Ok(())
}

/// Moves a database to another path.
fn replace(new: &Path, database: &Path) -> std::io::Result<()> {
    fs::File::open(new)?.sync_all()?;
    // The log of the old database must not be applied to the new one.
    for suffix in ["-wal", "-shm"] {
        let mut log = database.as_os_str().to_owned();
        log.push(suffix);
        match fs::remove_file(&log) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    fs::rename(new, database)
}

/// Creates a folder that only its owner can read.
fn private_folder(path: &Path) -> std::io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

/// Copies a file with its permissions, if it exists.
fn copy_if_present(from: &Path, to: &Path) -> Result<()> {
    if from.is_file() {
        fs::copy(from, to).with_context(|| format!("cannot copy {} to {}", from.display(), to.display()))?;
    }
    Ok(())
}

/// Copies the files of a folder with their permissions, if it exists. Only the owner can read the new folder.
fn copy_private_files(from: &Path, to: &Path) -> Result<()> {
    if !from.is_dir() {
        return Ok(());
    }
    if !to.is_dir() {
        private_folder(to).with_context(|| format!("cannot create {}", to.display()))?;
    }
    let reading = || format!("cannot read {}", from.display());
    for entry in fs::read_dir(from).with_context(reading)? {
        let entry = entry.with_context(reading)?;
        copy_if_present(&entry.path(), &to.join(entry.file_name()))?;
    }
    Ok(())
}
