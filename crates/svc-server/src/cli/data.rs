//! `import`, `export` and `backup`: sites in and out.

use std::{
    fs::File,
    io::{BufReader, BufWriter, IsTerminal, Write},
    path::{Path, PathBuf},
};

use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use indicatif::{ProgressBar, ProgressStyle};
use svc_store::import::{ImportOptions, Progress};

use super::{content, output::say};
use crate::{
    config::Config,
    error::{Error, Result},
    first_run,
    site::open_store,
};

fn path(name: &'static str, help: &'static str) -> Arg {
    Arg::new(name).value_parser(value_parser!(PathBuf)).help(help)
}

pub(super) fn import_command() -> Command {
    Command::new("import")
        .about("Load the dump of a WordPress site's database into an empty database")
        .arg(
            path("dump", "What mysqldump or mariadb-dump wrote; may be gzipped")
                .value_name("DUMP.sql[.gz]")
                .required(true),
        )
        .arg(
            path("content", "A wp-content folder whose uploads, themes and plugins are copied")
                .long("content")
                .value_name("DIR"),
        )
        .arg(
            Arg::new("search-replace")
                .long("search-replace")
                .value_name("OLD=NEW")
                .action(ArgAction::Append)
                .help("Replace a text everywhere in the data, such as the site's old address by its new one"),
        )
        .arg(
            Arg::new("dump-prefix")
                .long("dump-prefix")
                .value_name("PREFIX")
                .help("Beginning of the dump's table names, where it cannot be found out"),
        )
        .arg(Arg::new("overwrite").long("overwrite").action(ArgAction::SetTrue).help("Replace the site that is there"))
}

pub(super) fn import(config: &Config, args: &ArgMatches) -> Result {
    let dump: &PathBuf = args.get_one("dump").expect("clap requires it");
    let reading = || Error::io(format!("cannot read {}", dump.display()));
    let file = File::open(dump).map_err(reading())?;
    let length = file.metadata().map_err(reading())?.len();
    let content: Option<&PathBuf> = args.get_one("content");
    if let Some(folder) = content.filter(|f| !f.is_dir()) {
        return Err(Error::Refused(format!("{} is not a folder", folder.display())));
    }
    let search_replace =
        args.get_many::<String>("search-replace").unwrap_or_default().map(|p| pair(p)).collect::<Result<_>>()?;
    first_run::folder(&config.data)?;
    let store = open_store(config)?;
    let bar = progress_bar(length);
    let mut show = |p: &Progress| bar.set_position(p.bytes);
    let options = ImportOptions {
        prefix: args.get_one::<String>("dump-prefix").cloned(),
        search_replace,
        source: Some(std::path::absolute(dump).unwrap_or_else(|_| dump.clone()).display().to_string()),
        overwrite: args.get_flag("overwrite"),
        progress: Some(&mut show),
    };
    let report =
        store.import(BufReader::new(file), options).map_err(|e| Error::Refused(format!("{}: {e}", dump.display())))?;
    bar.finish_and_clear();
    say(&format!("Loaded {} rows of {} tables.", report.rows(), report.tables.len()));
    for (table, rows) in &report.skipped {
        say(&format!("Left out: {table} ({rows} rows), which is no table of a site."));
    }
    if let Some(from) = content {
        let copied = content::copy(from, &config.content_dir)?;
        say(&format!("Copied {} files ({} bytes).", copied.files, copied.bytes));
        if copied.skipped > 0 {
            say(&format!("Left out: {} links and special files.", copied.skipped));
        }
    }
    Ok(())
}

fn pair(text: &str) -> Result<(String, String)> {
    let (old, new) = text
        .split_once('=')
        .filter(|(old, _)| !old.is_empty())
        .ok_or_else(|| Error::Refused(format!("--search-replace {text}: must be like OLD=NEW")))?;
    Ok((old.to_owned(), new.to_owned()))
}

/// A bar for people; nothing where nobody watches.
fn progress_bar(length: u64) -> ProgressBar {
    if !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{bar:40} {bytes}/{total_bytes} {eta}");
    ProgressBar::new(length).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}

pub(super) fn export_command() -> Command {
    Command::new("export")
        .about("Write the site's database as SQL that mysql, mariadb and `import` can load")
        .arg(path("file", "Where to write it; must not exist").value_name("FILE.sql").required(true))
}

pub(super) fn export(config: &Config, args: &ArgMatches) -> Result {
    let store = existing(config)?;
    write_new(args, |file| {
        let mut out = BufWriter::new(file);
        store.export(&mut out, &mut |_| ()).map_err(|e| Error::Refused(e.to_string()))?;
        out.flush().map_err(Error::io("cannot write the export"))
    })
}

pub(super) fn backup_command() -> Command {
    Command::new("backup")
        .about("Copy an SQLite database, as of one moment, while it is in use")
        .arg(path("file", "Where to write it; must not exist").value_name("FILE.db").required(true))
}

pub(super) fn backup(config: &Config, args: &ArgMatches) -> Result {
    let to: &PathBuf = args.get_one("file").expect("clap requires it");
    existing(config)?.backup(to).map_err(Error::store(format!("cannot back up to {}", to.display())))?;
    say(&format!("Wrote {}.", to.display()));
    Ok(())
}

/// The store, which must hold a site.
fn existing(config: &Config) -> Result<svc_store::Store> {
    let store = open_store(config)?;
    if first_run::has_site(&store)? { Ok(store) } else { Err(Error::Refused("the database holds no site".to_owned())) }
}

/// Writes a file that is not there yet, readable by its owner only; what was begun and failed is removed.
fn write_new(args: &ArgMatches, write: impl FnOnce(&File) -> Result) -> Result {
    let path: &PathBuf = args.get_one("file").expect("clap requires it");
    let file = create_private(path).map_err(Error::io(format!("cannot write {}", path.display())))?;
    let written =
        write(&file).and_then(|()| file.sync_all().map_err(Error::io(format!("cannot write {}", path.display()))));
    match written {
        Ok(()) => say(&format!("Wrote {}.", path.display())),
        Err(_) => drop(std::fs::remove_file(path)),
    }
    written
}

fn create_private(path: &Path) -> std::io::Result<File> {
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_to_replace() {
        assert_eq!(pair("http://a=http://b").unwrap(), ("http://a".to_owned(), "http://b".to_owned()));
        assert!(pair("x").is_err() && pair("=x").is_err());
    }
}
