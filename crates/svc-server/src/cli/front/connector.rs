//! `connector`: the plugin that tells what responses read and what WordPress writes.

use anyhow::{Context as _, Result, ensure};
use clap::{ArgMatches, Command};
use svc_bridge::connector::install::{Files, read_secret};

use crate::{
    cli::{
        block_on,
        output::{columns, say},
    },
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
    let status = block_on(connector.status())??;
    let rows = [
        ["WordPress", &*format!("{}, PHP {}", status.wordpress, status.php)],
        ["object cache", &status.object_cache],
        ["reports of writes", &status.reports],
    ];
    say(columns(&rows.map(|row| row.map(str::to_owned).to_vec())).trim_end());
    ensure!(status.can_report(), "the connector cannot report writes");
    Ok(())
}
