//! `connector` and `adopt`: the plugin that tells what responses read and what WordPress writes, and registrations taken over into
//! `svc.toml`.

use std::{fs, io::Write as _, path::PathBuf};

use anyhow::{Context as _, Result, anyhow, ensure};
use clap::{Arg, ArgMatches, Command, value_parser};
use svc_auth::Secret;
use svc_bridge::connector::install::{Files, read_secret};

use super::{
    output::{columns, say},
    progress::Progress,
};
use crate::{
    adopt::{adoption::Adoption, rest},
    config::Config,
    front::Front,
};

pub(super) fn connector_command() -> Command {
    Command::new("connector")
        .about("Install the plugin that tells what responses read and what WordPress writes, in the WordPress of --wp-config")
        .subcommand_required(true)
        .subcommand(Command::new("install").about("Write the plugin and its secret, or update the plugin"))
        .subcommand(Command::new("remove").about("Delete the plugin and its secret"))
        .subcommand(
            Command::new("status").about("Check the files, and send a request to the plugin; exits with 1 if it fails"),
        )
}

pub(super) fn adopt_command() -> Command {
    let from =
        Arg::new("from").long("from").value_name("URL").required(true).requires("user").requires("password-file");
    let user = Arg::new("user").long("user").value_name("NAME").requires("from");
    let password = Arg::new("password-file").long("password-file").value_name("FILE").requires("from");
    let output = Arg::new("output").long("output").short('o').value_name("FILE");
    Command::new("adopt")
        .about("Print the types, taxonomies, meta and settings that a WordPress registers as entries of svc.toml")
        .arg(from.help("Read them from the REST API of this site"))
        .arg(user.help("A user who may edit posts; an administrator sees all"))
        .arg(password.value_parser(value_parser!(PathBuf)).help("File with an application password of that user"))
        .arg(output.value_parser(value_parser!(PathBuf)).help("Write the entries to this new file"))
        .after_help("Registrations that cannot be taken over are listed on standard error.")
}

/// Runs a subcommand of `connector`.
///
/// # Errors
/// If there is no `--wp-config`, a file cannot be written, or the plugin does not respond.
pub(super) fn connector(config: &Config, args: &ArgMatches) -> Result<()> {
    let wp_config = config.wp_config.as_ref().context("`wp_config` is not set: use --wp-config FILE")?;
    let files = Files::new(wp_config, &config.content_dir);
    match args.subcommand() {
        Some(("install", _)) => install(config, &files),
        Some(("remove", _)) => {
            let removed = files.remove()?;
            for path in &removed {
                say(&format!("deleted {}", path.display()));
            }
            if removed.is_empty() {
                say("The connector is not installed.");
            }
            Ok(())
        }
        _ => status(config, &files),
    }
}

fn install(config: &Config, files: &Files) -> Result<()> {
    let is_new = files.install()?;
    say(&format!("plugin  {}", files.plugin.display()));
    say(&format!("secret  {}{}", files.secret.display(), if is_new { "" } else { " (unchanged)" }));
    say("");
    match &config.wordpress {
        Some(_) => say("Restart svc-server, and run `svc-server connector status`."),
        None => say("Set `wordpress.upstream`, restart svc-server, and run `svc-server connector status`."),
    }
    say("The web server must execute PHP files next to wp-config.php, as it must for wp-config.php itself.");
    say("If PHP caches code without checking for changes, restart PHP.");
    Ok(())
}

fn status(config: &Config, files: &Files) -> Result<()> {
    let plugin = files.installed()?.describe();
    let secret = match read_secret(&files.secret) {
        Ok(Some(_)) => "installed".to_owned(),
        Ok(None) => "missing".to_owned(),
        Err(error) => format!("cannot be used: {error}"),
    };
    say(columns(&[vec!["plugin".to_owned(), plugin.to_owned()], vec!["secret".to_owned(), secret]]).trim_end());
    let wordpress = config
        .wordpress
        .as_ref()
        .context("`wordpress.upstream` is not set, so that the connector cannot be reached")?;
    ensure!(wordpress.connector, "`wordpress.connector` is false");
    let front = Front::open(config, wordpress)?;
    let connector = front.connector().context("the connector is not installed: run `svc-server connector install`")?;
    let status = super::wordpress::block_on(connector.status())??;
    let rows = [
        ["WordPress", &*format!("{}, PHP {}", status.wordpress, status.php)],
        ["object cache", &status.object_cache],
        ["reports of writes", &status.reports],
    ];
    say(columns(&rows.map(|row| row.map(str::to_owned).to_vec())).trim_end());
    ensure!(status.can_report(), "the connector cannot report writes");
    Ok(())
}

/// Runs `adopt`.
///
/// # Errors
/// If WordPress does not respond, or the file exists.
pub(super) fn adopt(args: &ArgMatches) -> Result<()> {
    let get = |name: &str| args.get_one::<String>(name);
    let progress = Progress::start("reading the registrations of WordPress");
    let url = get("from").context("--from is missing")?;
    let user = get("user").context("--user is missing")?;
    let file = args.get_one::<PathBuf>("password-file").context("--password-file is missing")?;
    let password = fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
    let source = rest::Source::new(url, user, &Secret::new(password.trim())).map_err(|why| anyhow!(why))?;
    let adopted = Adoption::of(&source.report().map_err(|why| anyhow!(why))?);
    drop(progress);
    let mut text = String::from("# Registrations of a WordPress. Created by `svc-server adopt`.\n");
    for assumption in rest::ASSUMPTIONS {
        text.push_str(&format!("# Assumed: {assumption}.\n"));
    }
    text.push('\n');
    text.push_str(&adopted.to_toml());
    match args.get_one::<PathBuf>("output") {
        Some(path) => {
            let file = fs::OpenOptions::new().write(true).create_new(true).open(path);
            let written = file.and_then(|mut file| file.write_all(text.as_bytes()));
            written.with_context(|| format!("cannot write {}", path.display()))?;
            say(&format!("{}: {} entries", path.display(), adopted.len()));
        }
        None => say(text.trim_end()),
    }
    if !adopted.left_out.is_empty() {
        let rows: Vec<Vec<String>> = adopted.left_out.iter().map(|row| row.to_vec()).collect();
        super::output::note("\nNot taken over; only PHP has these:\n");
        super::output::note(columns(&rows).trim_end());
    }
    ensure!(adopted.registered().is_ok(), "the entries contradict each other");
    Ok(())
}
