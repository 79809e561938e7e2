//! `compare` and the reports about the WordPress behind this server: which server handles a route, and the reason.

use std::path::Path;

use anyhow::{Context as _, Result, anyhow, bail};
use chrono::NaiveDateTime;
use clap::{Arg, ArgMatches, Command};
use serde_json::{Value, json};

use super::{
    output::{columns, print_warning, say},
    progress::Progress,
    users::TemporaryPassword,
};
use crate::{
    config::{Config, SiteUrl},
    connector::{self, WithRegistrations, install::Files},
    site::{
        OpenSite, SiteBuilder,
        gateway::{
            Gateway,
            facts::plugin_files,
            ownership::{Ownership, Row},
            proof::{Proven, Viewer},
        },
    },
};

/// The progress line of a comparison of both servers.
const COMPARING: &str = "comparing responses with WordPress";

/// Maximum number of differences that are printed per route.
const PRINTED: usize = 3;

pub(super) fn compare_command() -> Command {
    let sample =
        Arg::new("sample").long("sample").value_name("N").value_parser(clap::value_parser!(u16).range(1..=1_000));
    let user = Arg::new("as").long("as").value_name("USER");
    Command::new("compare")
        .about("Compare responses with those of the WordPress behind this server; exits with 1 if any differs")
        .arg(sample.help("Number of URLs per route [default: the setting wordpress.samples]"))
        .arg(user.help("Compare what this user sees; they get an application password until the end of the command"))
        .after_help("Only reads are sent. Requires the setting wordpress.upstream.")
}

/// The configuration with what the connector reports. Without the connector, or if it fails, the configuration itself.
pub(super) async fn with_registrations(config: &Config) -> WithRegistrations {
    let own = || WithRegistrations { config: config.clone(), registered: String::new() };
    match connector::with_registrations(config).await {
        Ok(registered) => registered.unwrap_or_else(own),
        Err(error) => {
            tracing::warn!("what WordPress registers is unknown: {error}");
            own()
        }
    }
}

/// Opens the site and its gateway.
fn open(builder: &SiteBuilder, config: &Config) -> Result<OpenSite> {
    if config.wordpress.is_none() {
        bail!("`wordpress.upstream` is not set");
    }
    let unused: SiteUrl = "http://localhost".parse().map_err(anyhow::Error::msg)?;
    Ok(builder.open(&block_on(with_registrations(config))?.config, &unused)?)
}

fn gateway(site: &OpenSite) -> Result<&Gateway> {
    site.gateway().context("`wordpress.upstream` is not set")
}

pub(super) fn block_on<T>(work: impl Future<Output = T>) -> Result<T> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    Ok(runtime.context("cannot start the runtime")?.block_on(work))
}

/// Compares both servers with the configured number of URLs.
fn prove(site: &OpenSite) -> Result<Proven> {
    let gateway = gateway(site)?;
    let progress = Progress::start(COMPARING);
    let proven = block_on(gateway.prove(gateway.config().samples, None, &|done, all| progress.set(done, all)))?;
    proven.map_err(|reason| anyhow!("cannot compare routes with WordPress: {reason}"))
}

/// Runs `compare`. `now` is the current time in UTC.
///
/// # Errors
/// If WordPress cannot be reached, or a response differs.
pub(super) fn compare(builder: &SiteBuilder, config: &Config, args: &ArgMatches, now: NaiveDateTime) -> Result<()> {
    let site = open(builder, config)?;
    let gateway = gateway(&site)?;
    let samples = args.get_one::<u16>("sample").map_or(gateway.config().samples, |n| usize::from(*n));
    let progress = Progress::start(COMPARING);
    let show = |done, all| progress.set(done, all);
    let user = args.get_one::<String>("as");
    let proven = match user {
        Some(login) => {
            let password = TemporaryPassword::create(config, login, "svc-server compare", now)?;
            let key = (login.as_str(), password.plain());
            let proven = block_on(gateway.prove(samples, Some(key), &show));
            password.revoke()?;
            proven?
        }
        None => block_on(gateway.prove(samples, None, &show))?,
    };
    let proven = proven.map_err(|reason| anyhow!("cannot compare with WordPress: {reason}"))?;
    drop(progress);
    let n_different = print_samples(&proven);
    let described: Vec<Vec<String>> = proven
        .ownership
        .rows()
        .into_iter()
        .filter(|row| {
            !row.is_owned && row.method == "GET" && !proven.samples.iter().any(|sample| sample.pattern == row.route)
        })
        .map(|row| vec![row.method, row.route, row.reason])
        .collect();
    if !described.is_empty() {
        say("\nNot compared; WordPress handles these:\n");
        say(columns(&described).trim_end());
    }
    if user.is_none() {
        let (handled, reads) = proven.ownership.share();
        say(&format!(
            "\nReads of visitors: this server handles {handled} routes, WordPress keeps {}. It also keeps all requests with \
             credentials and all writes.",
            reads - handled
        ));
    }
    if n_different > 0 { bail!("{n_different} of {} responses differ", proven.samples.len()) } else { Ok(()) }
}

/// Prints equal and different responses per route. Returns the number of different ones.
fn print_samples(proven: &Proven) -> usize {
    let mut rows = Vec::new();
    let mut differences = Vec::new();
    let mut routes: Vec<&str> = proven.samples.iter().map(|sample| sample.pattern.as_str()).collect();
    routes.sort_unstable();
    routes.dedup();
    for route in routes {
        for viewer in Viewer::ALL {
            let samples = || proven.samples.iter().filter(|s| s.pattern == route && s.viewer == viewer);
            let different: Vec<_> = samples().filter_map(|s| Some((s, s.difference.as_ref()?))).collect();
            let n = samples().count();
            if n > 0 {
                let cells = [route, viewer.name(), &(n - different.len()).to_string(), &different.len().to_string()];
                rows.push(cells.map(str::to_owned).to_vec());
            }
            differences
                .extend(different.iter().take(PRINTED).map(|(sample, text)| format!("  {}: {text}", sample.target)));
        }
    }
    let head = ["route", "for", "equal", "different"].map(str::to_owned).to_vec();
    rows.insert(0, head);
    say(columns(&rows).trim_end());
    if !differences.is_empty() {
        say("\nDifferences:\n");
        say(&differences.join("\n"));
    }
    proven.samples.iter().filter(|sample| sample.difference.is_some()).count()
}

/// Prints which server handles each route, and why.
pub(super) fn print_ownership(builder: &SiteBuilder, config: &Config, as_json: bool) -> Result<()> {
    let site = open(builder, config)?;
    let rows = prove(&site)?.ownership.rows();
    let side = |row: &Row| if row.is_owned { "svc" } else { "php" };
    if as_json {
        let row =
            |row: Row| json!({"route": row.route, "method": row.method, "server": side(&row), "reason": row.reason});
        let all: Vec<Value> = rows.into_iter().map(row).collect();
        say(&serde_json::to_string_pretty(&all)?);
        return Ok(());
    }
    let mut cells = vec![["method", "route", "server", "reason"].map(str::to_owned).to_vec()];
    let row = |row: Row| {
        let side = side(&row).to_owned();
        vec![row.method, row.route, side, row.reason]
    };
    cells.extend(rows.into_iter().map(row));
    say(columns(&cells).trim_end());
    Ok(())
}

/// Facts about a WordPress whose database this server uses: what its plugins may register that this server does not know.
pub(super) fn facts(site: &OpenSite) -> Result<Vec<[String; 2]>> {
    let rest = site.site();
    let read = rest.store.read(|db| {
        Ok((svc_store::posts::counts_by_type(db)?, svc_store::options::get(db, "active_plugins")?.unwrap_or_default()))
    });
    let (types, plugins) = read.context("cannot read the site")?;
    let mut facts = Vec::new();
    let plugins = plugin_files(&plugins.json());
    let names: Vec<&str> = plugins.iter().map(|file| file.split('/').next().unwrap_or_default()).collect();
    let list = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
    facts.push(["active PHP plugins".to_owned(), list]);
    let unknown: Vec<String> = types
        .iter()
        .filter(|(name, _)| rest.types.get(name).is_none())
        .map(|(name, count)| format!("{name} ({count})"))
        .collect();
    if !unknown.is_empty() {
        facts.push(["post types that only PHP registers".to_owned(), unknown.join(", ")]);
    }
    for (file, what) in
        [("object-cache.php", "object cache"), ("advanced-cache.php", "page cache"), ("db.php", "database")]
    {
        if rest.content_dir.join(file).is_file() {
            facts.push(["drop-in".to_owned(), format!("{file} ({what})")]);
        }
    }
    Ok(facts)
}

/// Prints the facts, and how many reads each server handles.
pub(super) fn report(site: &OpenSite, wp_config: &Path) -> Result<()> {
    let mut rows: Vec<Vec<String>> = facts(site)?.into_iter().map(|row| row.to_vec()).collect();
    if let Some(gateway) = site.gateway() {
        let installed = Files::new(wp_config, &site.site().content_dir).installed()?;
        rows.push(vec!["connector".to_owned(), installed.describe().to_owned()]);
        rows.push(vec!["upstream".to_owned(), format!("http://{}", gateway.config().upstream.authority())]);
        match prove(site) {
            Ok(proven) => rows.push(share(&proven.ownership)),
            Err(error) => rows.push(vec!["routes".to_owned(), error.to_string()]),
        }
        let exposed = block_on(gateway.exposed_pages())?;
        if !exposed.is_empty() {
            print_warning(&format!(
                "everybody can see {}: the web server of WordPress takes this server for the client. Let it take the address from \
                 X-Forwarded-For (set_real_ip_from, or RemoteIPInternalProxy; docs/beside-wordpress.md, step 1)",
                exposed.join(" and ")
            ));
        }
    } else {
        let hint = "WordPress's plugins do not run here; set wordpress.upstream, or their data may be lost";
        rows.push(vec!["upstream".to_owned(), hint.to_owned()]);
    }
    say("\nWordPress\n");
    say(columns(&rows).trim_end());
    Ok(())
}

fn share(ownership: &Ownership) -> Vec<String> {
    let (handled, reads) = ownership.share();
    vec!["reads of visitors handled here".to_owned(), format!("{handled} of {reads} routes")]
}
