//! WXR files: `export --wxr`, and `import` of a file that is not a dump of a database, or of another site.

use std::{
    collections::HashMap,
    fs::File,
    io::{BufRead as _, BufReader, BufWriter, Write as _},
    path::Path,
    sync::Arc,
};

use crate::config::SiteUrl;
use anyhow::{Context as _, Result, anyhow, bail};
use chrono::{NaiveDate, Utc};
use clap::{Arg, ArgAction, ArgMatches};
use indicatif::ProgressBar;
use svc_auth::Caller;
use svc_model::UserId;
use svc_site::{
    Site, SiteError,
    transfer::{
        export::{ExportFilter, export, types},
        import::{ImportOptions, ImportReport, Survey, create_authors, import, survey},
        remote::{RemoteSite, download},
    },
};
use svc_store::{Db, terms, users};
use svc_versions::Context;

use super::{block_on, data::progress_bar, output::say};
use crate::{config::Config, site::SiteBuilder};

/// The flags of exports of WXR files.
pub(super) fn export_args() -> [Arg; 7] {
    let filter = |name: &'static str, value: &'static str, help: &'static str| {
        Arg::new(name).long(name).value_name(value).help(help).requires("wxr")
    };
    [
        Arg::new("wxr")
            .long("wxr")
            .action(ArgAction::SetTrue)
            .help("Export content as a WXR file, for the importers of WordPress and of this server"),
        filter("type", "TYPE", "WXR: only posts of this type, such as page"),
        filter("author", "LOGIN", "WXR: only posts of this user"),
        filter("category", "SLUG", "WXR: only posts of this category"),
        filter("status", "STATUS", "WXR: only posts of this status, such as publish"),
        filter("from", "DATE", "WXR: only posts of this day or later"),
        filter("to", "DATE", "WXR: only posts of this day or earlier"),
    ]
}

/// The flags of imports of WXR files.
pub(super) fn import_args() -> [Arg; 6] {
    [
        Arg::new("user")
            .long("user")
            .value_name("LOGIN")
            .requires("password-file")
            .help("Site: read it as this user, an administrator; without it, what visitors see is imported"),
        Arg::new("password-file")
            .long("password-file")
            .value_name("FILE")
            .requires("user")
            .help("Site: file with an application password of that user; `-` for standard input"),
        Arg::new("attachments")
            .long("attachments")
            .action(ArgAction::SetTrue)
            .help("WXR: fetch the files of attachments from their site; without it, attachments are left out"),
        Arg::new("author-map")
            .long("author-map")
            .value_name("AUTHOR=LOGIN")
            .action(ArgAction::Append)
            .help("WXR: the user who gets the posts of an author [default: the user of the same name]"),
        Arg::new("author")
            .long("author")
            .value_name("LOGIN")
            .help("WXR: the user who gets the posts of all other authors [default: the first administrator]"),
        Arg::new("create-authors")
            .long("create-authors")
            .action(ArgAction::SetTrue)
            .help("WXR: create users for authors that the site does not have"),
    ]
}

/// Whether a file is XML, by its beginning.
pub(super) fn is_xml(path: &Path) -> Result<bool> {
    let mut file = BufReader::new(File::open(path).with_context(|| format!("cannot read {}", path.display()))?);
    let start = file.fill_buf().with_context(|| format!("cannot read {}", path.display()))?;
    let start = start.strip_prefix(b"\xef\xbb\xbf").unwrap_or(start).trim_ascii_start();
    Ok(start.starts_with(b"<?xml") || start.starts_with(b"<rss"))
}

/// Opens the site, which may be running.
fn open(builder: &SiteBuilder, config: &Config) -> Result<Arc<Site>> {
    crate::site::open_existing(config)?;
    let unused: SiteUrl = "http://localhost".parse().map_err(anyhow::Error::msg)?;
    Ok(Arc::clone(builder.open(config, &unused)?.site()))
}

/// A read of the whole database, with the errors of the site.
fn read<T>(site: &Site, f: impl FnOnce(&mut Db) -> Result<T, SiteError>) -> Result<T> {
    let read = site.store.read_unlimited(|db| match f(db) {
        Ok(value) => Ok(Ok(value)),
        Err(SiteError::Wire(error)) => Ok(Err(anyhow!("{}", error.message()))),
        Err(SiteError::Store(error)) => Err(error),
    });
    read?
}

pub(super) fn run_export(builder: &SiteBuilder, config: &Config, args: &ArgMatches, file: &File) -> Result<()> {
    let site = open(builder, config)?;
    let filter = filter(&site, args)?;
    let now = Utc::now().naive_utc();
    let report = read(&site, |db| export(db, &site, &filter, now, BufWriter::new(file), &mut |_| ()))?;
    (&mut &*file).flush().context("cannot write the export")?;
    say(&format!("Exported {} posts of all types and {} terms.", report.items, report.terms));
    if report.left_out > 0 {
        say(&format!("Left out {} meta values with characters that XML cannot represent.", report.left_out));
    }
    Ok(())
}

fn filter(site: &Site, args: &ArgMatches) -> Result<ExportFilter> {
    let text = |name: &str| args.get_one::<String>(name).cloned();
    let day = |name: &str| -> Result<Option<NaiveDate>> {
        let Some(text) = text(name) else { return Ok(None) };
        let date = text.parse().map_err(|_| anyhow!("--{name} {text}: this is not a date such as 2026-01-31"))?;
        Ok(Some(date))
    };
    let post_type = text("type");
    if let Some(name) = &post_type
        && !types(site).any(|known| known.name == *name)
    {
        let known: Vec<&str> = types(site).map(|t| t.name.as_str()).collect();
        bail!("there is no type `{name}`; the types are {}", known.join(", "));
    }
    let author = text("author").map(|login| find_user(site, &login)).transpose()?;
    let category = match text("category") {
        None => None,
        Some(slug) => {
            let found = read(site, |db| Ok(terms::by_slug(db, &slug, "category")?))?;
            Some(found.with_context(|| format!("there is no category `{slug}`"))?.id)
        }
    };
    Ok(ExportFilter { post_type, author, category, status: text("status"), from: day("from")?, to: day("to")? })
}

fn find_user(site: &Site, login: &str) -> Result<UserId> {
    let user = read(site, |db| Ok(users::by_login(db, login)?))?;
    Ok(user.with_context(|| format!("there is no user `{login}`"))?.id)
}

pub(super) fn run_import_of_site(
    builder: &SiteBuilder,
    config: &Config,
    args: &ArgMatches,
    address: &str,
) -> Result<()> {
    let user = args.get_one::<String>("user").map_or("", String::as_str);
    let password = match args.get_one::<String>("password-file").map(String::as_str) {
        None => String::new(),
        Some("-") => std::io::read_to_string(std::io::stdin()).context("cannot read the password")?,
        Some(file) => std::fs::read_to_string(file).with_context(|| format!("cannot read {file}"))?,
    };
    let remote = RemoteSite::new(address, user, &password).map_err(|error| anyhow!("{}", error.message()))?;
    let site = open(builder, config)?;
    let bar = ProgressBar::new_spinner();
    let progress = |n: u64| {
        bar.set_message(format!("{n} posts read"));
        bar.tick();
        true
    };
    let read = block_on(download(&site, &remote, &progress))?.map_err(|error| anyhow!("{}", error.message()))?;
    bar.finish_and_clear();
    read.left_out.iter().for_each(|reason| say(reason));
    import_file(&site, args, &read.file)
}

pub(super) fn run_import(builder: &SiteBuilder, config: &Config, args: &ArgMatches, path: &Path) -> Result<()> {
    import_file(&open(builder, config)?, args, path)
}

fn import_file(site: &Arc<Site>, args: &ArgMatches, path: &Path) -> Result<()> {
    let reading = || format!("cannot read {}", path.display());
    let open_file = || -> Result<BufReader<File>> { Ok(BufReader::new(File::open(path).with_context(reading)?)) };
    let length = std::fs::metadata(path).with_context(reading)?.len();
    let found = survey(open_file()?).with_context(|| path.display().to_string())?;
    let file = open_file()?;
    let bar = progress_bar(length);
    let report = block_on(async {
        let options = options(site, args, &found).await?;
        let progress = bar.clone();
        let show = move |report: &ImportReport| progress.set_position(report.bytes);
        import(site, &Context::background(), file, options, &show).await.map_err(anyhow::Error::new)
    })??;
    bar.finish_and_clear();
    say(&format!(
        "Imported {} posts of all types, {} terms and {} comments; {} posts were here already.",
        report.created, report.terms, report.comments, report.existing
    ));
    if report.without_file > 0 {
        let hint = if args.get_flag("attachments") { "" } else { " (--attachments fetches files)" };
        say(&format!("Left out {} attachments without a file{hint}.", report.without_file));
    }
    report.problems.iter().for_each(|problem| say(problem));
    let more = report.n_problems.saturating_sub(report.problems.len() as u64);
    if more > 0 {
        say(&format!("And {more} other problems."));
    }
    Ok(())
}

async fn options(site: &Arc<Site>, args: &ArgMatches, found: &Survey) -> Result<ImportOptions> {
    let mut authors: HashMap<String, UserId> = HashMap::new();
    for pair in args.get_many::<String>("author-map").unwrap_or_default() {
        let (author, login) =
            pair.split_once('=').with_context(|| format!("--author-map {pair}: must have the form AUTHOR=LOGIN"))?;
        if !found.authors.iter().any(|known| known.login == author) {
            bail!("the file has no author `{author}`");
        }
        authors.insert(author.to_owned(), find_user(site, login)?);
    }
    let mut missing = Vec::new();
    for author in
        found.authors.iter().filter(|author| !authors.contains_key(&author.login)).cloned().collect::<Vec<_>>()
    {
        match read(site, |db| Ok(users::by_login(db, &author.login)?))? {
            Some(user) => drop(authors.insert(author.login, user.id)),
            None => missing.push(author),
        }
    }
    if args.get_flag("create-authors") {
        let created = create_authors(site, &Context::background(), &Caller::anonymous(), &missing).await;
        authors.extend(created.map_err(|error| anyhow!("cannot create users: {}", error.message()))?);
    }
    let fallback = match args.get_one::<String>("author") {
        Some(login) => find_user(site, login)?,
        None => first_administrator(site)?,
    };
    Ok(ImportOptions { authors, fallback, files: args.get_flag("attachments"), any_html: true })
}

fn first_administrator(site: &Site) -> Result<UserId> {
    let query = users::UserQuery::default()
        .rights(vec!["administrator".to_owned()])
        .order_by(users::UserOrderBy::Id)
        .order(svc_store::Order::Asc)
        .limit(Some(1));
    let found = read(site, |db| Ok(users::query(db, &query)?.ids))?;
    found.first().copied().context("the site has no administrator; name a user with --author")
}
