//! `adopt`: registrations of a WordPress as entries of `svc.toml`.

use std::{fs, io::Write as _, path::PathBuf};

use anyhow::{Context as _, Result, anyhow, ensure};
use clap::{Arg, ArgMatches, Command, value_parser};
use svc_auth::Secret;
use svc_registrations::adopt::{ASSUMPTIONS, Adoption, RestSource};

use super::{
    output::{columns, note, say},
    progress::Progress,
};

pub(super) fn adopt_command() -> Command {
    let from =
        Arg::new("from").long("from").value_name("URL").required(true).requires("user").requires("password-file");
    let user = Arg::new("user").long("user").value_name("NAME").requires("from");
    let password = Arg::new("password-file").long("password-file").value_name("FILE").requires("from");
    let output = Arg::new("output").long("output").short('o').value_name("FILE");
    Command::new("adopt")
        .about("Print the types, taxonomies, meta, settings and theme features that a WordPress registers as entries of svc.toml")
        .arg(from.help("Read them from the REST API of this site"))
        .arg(user.help("A user who may edit posts; an administrator sees all"))
        .arg(password.value_parser(value_parser!(PathBuf)).help("File with an application password of that user"))
        .arg(output.value_parser(value_parser!(PathBuf)).help("Write the entries to this new file"))
        .after_help("Registrations that cannot be taken over are listed on standard error.")
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
    let source = RestSource::new(url, user, &Secret::new(password.trim())).map_err(|why| anyhow!(why))?;
    let adopted = Adoption::of(&source.report().map_err(|why| anyhow!(why))?);
    drop(progress);
    let mut text = String::from("# Registrations of a WordPress. Created by `svc-server adopt`.\n");
    for assumption in ASSUMPTIONS {
        text.push_str(&format!("# Assumed: {assumption}.\n"));
    }
    text.push('\n');
    text.push_str(&adopted.to_toml());
    match args.get_one::<PathBuf>("output") {
        Some(path) => {
            let file = fs::OpenOptions::new().write(true).create_new(true).open(path);
            let written = file.and_then(|mut file| file.write_all(text.as_bytes()));
            written.with_context(|| format!("cannot write {}", path.display()))?;
            say(&format!("{}: {} entries", path.display(), adopted.count()));
        }
        None => say(text.trim_end()),
    }
    if !adopted.left_out.is_empty() {
        let rows: Vec<Vec<String>> = adopted.left_out.iter().map(|row| row.to_vec()).collect();
        note("\nNot taken over; only PHP has these:\n");
        note(columns(&rows).trim_end());
    }
    ensure!(adopted.registered().is_ok(), "the entries contradict each other");
    Ok(())
}
