//! `import` and `export`.

use std::{
    fs::File,
    io::{BufReader, BufWriter, IsTerminal, Write},
    path::PathBuf,
};

use anyhow::{Context as _, Result, anyhow};
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use indicatif::{ProgressBar, ProgressStyle};
use svc_store::import::{ImportOptions, Progress};

use super::{content, output::say, wxr};
use crate::{
    config::Config,
    data_folder,
    site::{SiteBuilder, open_existing, open_store},
};

pub(super) fn path(name: &'static str, help: &'static str) -> Arg {
    Arg::new(name).value_parser(value_parser!(PathBuf)).help(help)
}

pub(super) fn import_command() -> Command {
    Command::new("import")
        .about("Import a dump of a WordPress database into an empty database, or content from a WXR file or a WordPress site")
        .arg(
            path("dump", "Output of mysqldump or mariadb-dump, optionally gzipped; a WXR file; or the address of a WordPress site")
                .value_name("DUMP.sql[.gz]|FILE.xml|https://SITE")
                .required(true),
        )
        .arg(
            path("content", "Copy uploads, themes and plugins from this wp-content folder")
                .long("content")
                .value_name("DIR"),
        )
        .arg(
            Arg::new("search-replace")
                .long("search-replace")
                .value_name("OLD=NEW")
                .action(ArgAction::Append)
                .help("Replace a text everywhere in the data, such as the site's old URL by its new one"),
        )
        .arg(
            Arg::new("dump-prefix")
                .long("dump-prefix")
                .value_name("PREFIX")
                .help("Table prefix of the dump, if it cannot be detected"),
        )
        .arg(Arg::new("overwrite").long("overwrite").action(ArgAction::SetTrue).help("Replace the existing site"))
        .args(wxr::import_args())
}

pub(super) fn import(builder: &SiteBuilder, config: &Config, args: &ArgMatches) -> Result<()> {
    let dump: &PathBuf = args.get_one("dump").expect("clap requires it");
    if let Some(address) = dump.to_str().filter(|text| text.starts_with("https://") || text.starts_with("http://")) {
        return wxr::run_import_of_site(builder, config, args, address);
    }
    if wxr::is_xml(dump)? {
        return wxr::run_import(builder, config, args, dump);
    }
    let reading = || format!("cannot read {}", dump.display());
    let file = File::open(dump).with_context(reading)?;
    let length = file.metadata().with_context(reading)?.len();
    let content: Option<&PathBuf> = args.get_one("content");
    if let Some(folder) = content.filter(|f| !f.is_dir()) {
        anyhow::bail!("{} is not a folder", folder.display());
    }
    let search_replace =
        args.get_many::<String>("search-replace").unwrap_or_default().map(|p| pair(p)).collect::<Result<_>>()?;
    data_folder::create(&config.data)?;
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
    let report = store.import(BufReader::new(file), options).with_context(|| dump.display().to_string())?;
    bar.finish_and_clear();
    say(&format!("Imported {} rows of {} tables.", report.rows(), report.tables.len()));
    for (table, rows) in &report.skipped {
        say(&format!("Skipped {table} ({rows} rows): not a table of WordPress."));
    }
    if let Some(from) = content {
        let copied = content::copy(from, &config.content_dir)?;
        say(&format!("Copied {} files ({} bytes).", copied.files, copied.bytes));
        if copied.skipped > 0 {
            say(&format!("Skipped {} links and special files.", copied.skipped));
        }
    }
    Ok(())
}

fn pair(text: &str) -> Result<(String, String)> {
    let (old, new) = text
        .split_once('=')
        .filter(|(old, _)| !old.is_empty())
        .ok_or_else(|| anyhow!("--search-replace {text}: must have the form OLD=NEW"))?;
    Ok((old.to_owned(), new.to_owned()))
}

/// A progress bar; hidden unless standard error is a terminal.
pub(super) fn progress_bar(length: u64) -> ProgressBar {
    if !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{bar:40} {bytes}/{total_bytes} {eta}");
    ProgressBar::new(length).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}

pub(super) fn export_command() -> Command {
    Command::new("export")
        .about("Export the database as SQL, for mysql, mariadb and `import`, or content as a WXR file")
        .arg(path("file", "Output file; must not exist").value_name("FILE").required(true))
        .args(wxr::export_args())
}

pub(super) fn export(builder: &SiteBuilder, config: &Config, args: &ArgMatches) -> Result<()> {
    if args.get_flag("wxr") {
        return write_new(args, |file| wxr::run_export(builder, config, args, file));
    }
    let store = open_existing(config)?;
    write_new(args, |file| {
        let mut out = BufWriter::new(file);
        store.export(&mut out, &mut |_| ())?;
        out.flush().context("cannot write the export")
    })
}

/// Writes a new file, readable by its owner only. Removes it if writing fails.
fn write_new(args: &ArgMatches, write: impl FnOnce(&File) -> Result<()>) -> Result<()> {
    let path: &PathBuf = args.get_one("file").expect("clap requires it");
    let writing = || format!("cannot write {}", path.display());
    let file = svc_files::private().create_new(true).open(path).with_context(writing)?;
    let written = write(&file).and_then(|()| file.sync_all().with_context(writing));
    match written {
        Ok(()) => say(&format!("Wrote {}.", path.display())),
        Err(_) => drop(std::fs::remove_file(path)),
    }
    written
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_search_replace_pairs() {
        assert_eq!(pair("http://a=http://b").unwrap(), ("http://a".to_owned(), "http://b".to_owned()));
        assert!(pair("x").is_err() && pair("=x").is_err());
    }
}
