//! The command line: its commands, with a flag for each setting.

mod adopt;
mod backup;
mod changes;
mod config;
mod content;
mod data;
mod doctor;
mod editor;
mod front;
mod hints;
mod mail;
mod media;
mod next_steps;
mod output;
mod permalinks;
mod progress;
mod purge;
mod reload;
mod serve;
mod serving;
mod show;
mod themes;
mod upgrade_copy;
mod users;
mod webhooks;
mod wordpress;
mod wxr;

use std::process::ExitCode;

use anyhow::{Context as _, Result};
use chrono::{NaiveDateTime, Utc};
use clap::{
    Arg, ArgAction, ArgMatches, Command,
    error::{ContextKind, ContextValue},
};

use crate::{
    config::{Config, SETTINGS, Setting, Sources},
    site::SiteBuilder,
    version::version,
};

/// Prints the settings in the help of every command.
const HELP_ALL: &str = "help-all";

/// The commands with their flags. The help of the program lists the settings; that of a command does only if `shows_settings`.
fn command(shows_settings: bool) -> Command {
    with_settings(commands(), true, shows_settings)
}

/// A command and its subcommands with a flag for each setting.
fn with_settings(command: Command, shown: bool, in_subcommands: bool) -> Command {
    // A command's own flag has precedence over a setting of the same name.
    let is_own = |s: &Setting| command.get_arguments().any(|arg| arg.get_long() == Some(s.flag().as_str()));
    let settings: Vec<Arg> = SETTINGS.iter().filter(|s| !is_key(s) && !is_own(s)).map(flag).collect();
    let help_all = Arg::new(HELP_ALL).long(HELP_ALL).action(ArgAction::Help).help(if shown {
        "Print help; after a command, with the settings"
    } else {
        "Print help with the settings, which are flags of every command"
    });
    let command = command.arg(help_all).args(settings.into_iter().map(|a| a.hide(!shown).help_heading("Settings")));
    let names: Vec<String> = command.get_subcommands().map(|c| c.get_name().to_owned()).collect();
    names.into_iter().fold(command, |command, name| {
        command.mut_subcommand(name, |sub| with_settings(sub, in_subcommands, in_subcommands))
    })
}

fn commands() -> Command {
    Command::new("svc-server")
        .about("Serves a content site: REST API, pages and uploads.")
        .after_help(
            "Settings are also read from ./svc.toml, svc.toml in the data folder, the file of --config, and environment \
             variables (SVC_LISTEN for --listen).",
        )
        .version(format!("{} (REST API {})", version(), svc_routing::API_VERSION))
        .subcommand(Command::new("serve").about("Serve the site (default)"))
        .subcommand(config::command())
        .subcommand(show::routes_command())
        .subcommand(show::openapi_command())
        .subcommand(show::types_command())
        .subcommand(doctor::doctor_command())
        .subcommands(front::commands())
        .subcommand(adopt::adopt_command())
        .subcommand(data::import_command())
        .subcommand(data::export_command())
        .subcommand(backup::backup_command())
        .subcommand(backup::restore_command())
        .subcommand(changes::changes_command())
        .subcommand(users::user_command())
        .subcommand(users::app_password_command())
        .subcommand(mail::mail_command())
        .subcommand(media::command())
        .subcommand(webhooks::command())
        .subcommand(purge::command())
        .subcommand(themes::command())
        .subcommand(permalinks::command())
        .subcommand(editor::command())
        .subcommand(upgrade_copy::command())
}

/// The eight keys have no flags, since other users of the machine can read the command line.
fn is_key(setting: &Setting) -> bool {
    setting.key.starts_with("keys.")
}

fn flag(setting: &Setting) -> Arg {
    let default = setting.default.filter(|d| !d.is_empty()).map(|d| format!(" [default: {d}]")).unwrap_or_default();
    let flag = Arg::new(setting.key).long(setting.flag());
    // `--port 8081` is what many other servers accept.
    let flag = if setting.key == "listen" { flag.visible_alias("port") } else { flag };
    flag.value_name(setting.metavar).action(ArgAction::Set).help(format!("{}{default}", setting.help))
}

/// The flags on the command line, before and after the command. The last one counts.
fn flags(matches: &ArgMatches) -> Vec<(&'static Setting, String)> {
    let parts: Vec<&ArgMatches> =
        std::iter::successors(Some(matches), |part| part.subcommand().map(|(_, inner)| inner)).collect();
    let value = |s: &'static Setting| {
        parts.iter().rev().find_map(|part| Some((s, part.try_get_one::<String>(s.key).ok().flatten()?.clone())))
    };
    SETTINGS.iter().filter(|s| !is_key(s)).filter_map(value).collect()
}

/// The arguments of the process. Ends the process after help, and on mistakes.
fn arguments() -> ArgMatches {
    let wants_all = std::env::args_os().any(|word| word == format!("--{HELP_ALL}").as_str());
    command(wants_all).try_get_matches().unwrap_or_else(|mut error| {
        // The closest command comes last.
        if let Some(ContextValue::Strings(mut names)) = error.remove(ContextKind::SuggestedSubcommand) {
            names.reverse();
            error.insert(ContextKind::SuggestedSubcommand, ContextValue::Strings(names));
        }
        error.exit()
    })
}

impl SiteBuilder {
    /// Runs the command of the process's arguments: serve, import, and so on.
    pub fn command_line(self) -> ExitCode {
        let matches = arguments();
        // A server continues without its output; for other commands the output is the result.
        let is_serve = matches!(matches.subcommand_name(), None | Some("serve"));
        let check_output = || match output::failure() {
            Some(error) if !is_serve => anyhow::bail!("standard output cannot be written: {error}"),
            _ => Ok(()),
        };
        match run(&self, &matches, Utc::now().naive_utc()).and_then(|()| check_output()) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                output::print_error(&format!("{error:#}"));
                if let Some(hint) = hints::of(&error) {
                    output::print_hint(&hint);
                }
                ExitCode::FAILURE
            }
        }
    }
}

/// Waits for work in a runtime of its own.
fn block_on<T>(work: impl Future<Output = T>) -> Result<T> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    Ok(runtime.context("cannot start the runtime")?.block_on(work))
}

/// Runs a command. `now` is the current time in UTC.
fn run(builder: &SiteBuilder, matches: &ArgMatches, now: NaiveDateTime) -> Result<()> {
    if matches.subcommand_matches("config").is_some_and(config::is_template) {
        config::print_template();
        return Ok(());
    }
    let config = Config::load(&Sources::of_process(flags(matches)))?;
    if !matches!(matches.subcommand_name(), None | Some("serve")) {
        // `serve` logs them.
        config.warnings().iter().for_each(|warning| output::print_warning(warning));
    }
    match matches.subcommand() {
        None | Some(("serve", _)) => serve::serve(builder, &config, flags(matches)),
        Some(("config", args)) => config::run(&config, args),
        Some(("routes", args)) => show::routes(builder, &config, args),
        Some(("openapi", args)) => show::openapi(builder, &config, args),
        Some(("types", _)) => show::types(builder, &config),
        Some(("doctor", _)) => doctor::doctor(builder, &config),
        Some(("adopt", args)) => adopt::adopt(args),
        Some(("import", args)) => data::import(builder, &config, args),
        Some(("export", args)) => data::export(builder, &config, args),
        Some(("backup", args)) => backup::backup(&config, args),
        Some(("restore", args)) => backup::restore(&config, args),
        Some(("changes", args)) => changes::changes(&config, args),
        Some(("user", args)) => users::user(builder, &config, args, now),
        Some(("app-password", args)) => users::app_password(&config, args, now),
        Some(("media", args)) => media::run(&config, args),
        Some(("mail", args)) => mail::mail(builder, &config, args),
        Some(("webhooks", args)) => webhooks::run(&config, args, now),
        Some(("purge", args)) => purge::run(&config, args),
        Some(("theme", args)) => themes::run(&config, args),
        Some(("permalinks", args)) => permalinks::run(&config, args),
        Some(("editor", args)) => editor::run(&config, args),
        Some((upgrade_copy::NAME, args)) => upgrade_copy::run(&config, args),
        Some((name, args)) => {
            front::dispatch(name, &config, args).unwrap_or_else(|| unreachable!("clap accepts no command {name}"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_tree_is_valid() {
        command(false).debug_assert();
        command(true).debug_assert();
    }

    #[test]
    fn accepts_flags_before_and_after_a_command() {
        for line in
            [["x", "--listen", "h:1", "serve", "--brand", "wp"], ["x", "serve", "--brand", "wp", "--listen", "h:1"]]
        {
            let matches = command(false).try_get_matches_from(line).unwrap();
            let mut flags: Vec<(&str, String)> = flags(&matches).into_iter().map(|(s, v)| (s.key, v)).collect();
            flags.sort_unstable();
            assert_eq!(flags, [("brand", "wp".to_owned()), ("listen", "h:1".to_owned())]);
        }
    }

    #[test]
    fn the_help_of_a_command_is_about_the_command() {
        let help = |shows_settings: bool, line: &[&str]| {
            command(shows_settings).try_get_matches_from(line).unwrap_err().to_string()
        };
        assert!(help(false, &["x", "--help"]).contains("--listen"), "the program's help has the settings");
        for line in [&["x", "backup", "--help"][..], &["x", "user", "create", "--help"]] {
            let text = help(false, line);
            assert!(!text.contains("--listen") && text.contains("--help-all") && text.lines().count() < 20, "{text}");
        }
        assert!(help(false, &["x", "backup", "--help"]).contains("--all "));
        assert!(help(true, &["x", "user", "create", "--help-all"]).contains("--listen"));
        assert!(help(true, &["x", "backup", "--help-all"]).contains("--listen"), "required arguments may be missing");
    }

    #[test]
    fn keys_have_no_flags() {
        let line = ["x", "--keys-auth-key", "secret"];
        assert!(command(false).try_get_matches_from(line).is_err());
    }

    #[test]
    fn manages_users_and_application_passwords() {
        use chrono::DateTime;
        use svc_store::{MetaKind, meta, users};

        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("data").display().to_string();
        let now = DateTime::from_timestamp(1_700_000_000, 0).unwrap().naive_utc();
        let run = |words: &[&str]| {
            let line = ["svc-server", "--data", &data].into_iter().chain(words.iter().copied());
            super::run(&SiteBuilder::new(), &command(false).try_get_matches_from(line).unwrap(), now)
        };
        assert!(run(&["user", "list"]).is_err(), "there is no site yet");
        let config = Config::load(&Sources {
            folder: folder.path().to_owned(),
            flags: vec![(&SETTINGS[0], "data".to_owned())],
            ..Sources::default()
        })
        .unwrap();
        SiteBuilder::new().open(&config, &"http://127.0.0.1:1".parse().unwrap()).unwrap();
        let store = crate::site::open_store(&config).unwrap();
        let look = || {
            let (pass, stored) = store
                .read_blocking(|db| {
                    let user = users::by_login(db, "jo")?.unwrap_or_default();
                    Ok((user.pass, meta::load_one(db, MetaKind::User, user.id.0)?))
                })
                .unwrap();
            let get = |name: &str| stored.first(name).cloned().unwrap_or_default();
            (pass, get("wp_capabilities"), get("wp_user_level"), get("_application_passwords"))
        };

        run(&["user", "create", "jo", "jo@example.org", "--role", "author"]).unwrap();
        let first = look();
        assert_eq!((first.1.as_stored(), first.2.as_stored()), (r#"a:1:{s:6:"author";b:1;}"#, "2"));
        run(&["user", "set-role", "jo", "editor"]).unwrap();
        assert_eq!((look().1.as_stored(), look().2.as_stored()), (r#"a:1:{s:6:"editor";b:1;}"#, "7"));
        run(&["user", "set-password", "jo"]).unwrap();
        assert_ne!(look().0, first.0);
        run(&["app-password", "create", "jo", "Phone"]).unwrap();
        let list = svc_auth::application_password::list_from_value(&look().3.json());
        assert_eq!((list[0].name.as_str(), list[0].created), ("Phone", 1_700_000_000));
        let registered = store.read_blocking(|db| users::by_login(db, "jo")).unwrap().unwrap().registered;
        assert_eq!(registered, Some(now));
        run(&["app-password", "revoke", "jo", &list[0].uuid]).unwrap();
        assert_eq!(look().3.as_stored(), "a:0:{}");
        for refused in [
            &["user", "set-role", "jo", "king"][..],
            &["user", "set-role", "nobody", "editor"],
            &["user", "create", "jo", "other@example.org"],
            &["app-password", "revoke", "jo", &list[0].uuid],
        ] {
            assert!(run(refused).is_err(), "{refused:?}");
        }
    }
}
