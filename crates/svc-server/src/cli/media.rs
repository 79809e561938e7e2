//! `media move`: copies uploads from the folder to the bucket, or back.

use std::{
    fs::{self, OpenOptions},
    time::Duration,
};

use anyhow::{Context as _, Result, anyhow, bail, ensure};
use clap::{Arg, ArgAction, ArgGroup, ArgMatches, Command};
use svc_controllers::site_health::format_bytes;
use svc_media::{Moved, Moving, unfinished_uploads};

use super::{block_on, output::say, progress::Progress};
use crate::{
    config::{Config, SettingOrigin},
    data_folder::running_since,
    site::{UPLOADS_JOURNAL, uploads_bucket, uploads_folder},
};

/// File in the data folder that is locked by a running copy.
const LOCK: &str = "media-move.lock";

/// How long the bucket may take to answer at the beginning.
const CHECK_TIME: Duration = Duration::from_secs(30);

pub(super) fn command() -> Command {
    let flag = |name: &'static str, help: &'static str| Arg::new(name).long(name).action(ArgAction::SetTrue).help(help);
    let moving = Command::new("move")
        .about("Copy all uploads to the bucket or to the folder, and verify each copy; what is there is not copied again")
        .arg(flag("to-bucket", "Copy from the folder to the bucket of the settings"))
        .arg(flag("to-folder", "Copy from the bucket of the settings to the folder"))
        .group(ArgGroup::new("target").args(["to-bucket", "to-folder"]).required(true))
        .arg(flag("dry-run", "Only count what would be copied"))
        .arg(flag("overwrite", "Replace files of the target that differ"))
        .arg(
            flag("delete-source", "Delete each file where it is copied from once the copy is verified")
                .conflicts_with("dry-run"),
        )
        .after_help(
            "The server may run meanwhile, and the command may be interrupted and started again. Before, set uploads.use to \
             \"bucket,folder\" (or \"folder,bucket\" with --to-folder) and reload the server.",
        );
    Command::new("media")
        .about("Move uploads between the folder and the bucket")
        .subcommand_required(true)
        .subcommand(moving)
}

pub(super) fn run(config: &Config, args: &ArgMatches) -> Result<()> {
    match args.subcommand() {
        Some(("move", args)) => move_files(config, args),
        _ => Ok(()),
    }
}

/// The words for a direction.
struct Direction {
    to_bucket: bool,
    /// The value of `uploads.use` with which both stores are used, and only the target.
    both: &'static str,
    only: &'static str,
    flag: &'static str,
    source: &'static str,
    target: &'static str,
}

impl Direction {
    fn of(args: &ArgMatches) -> Self {
        if args.get_flag("to-bucket") {
            let (both, only, flag) = ("bucket,folder", "bucket", "--to-bucket");
            Direction { to_bucket: true, both, only, flag, source: "folder", target: "bucket" }
        } else {
            let (both, only, flag) = ("folder,bucket", "folder", "--to-folder");
            Direction { to_bucket: false, both, only, flag, source: "bucket", target: "folder" }
        }
    }

    /// Whether the server of the settings stores new files in the target.
    fn is_first(&self, config: &Config) -> bool {
        config.uploads.places.begins_with_bucket() == self.to_bucket
    }

    /// Whether the server of the settings needs the source.
    fn needs_source(&self, config: &Config) -> bool {
        let places = config.uploads.places;
        if self.to_bucket { places.has_folder() } else { places.has_bucket() }
    }
}

fn move_files(config: &Config, args: &ArgMatches) -> Result<()> {
    ensure!(
        cfg!(feature = "s3"),
        "`media move` requires a build with the feature s3: `cargo build --release -p svc-server --features s3`"
    );
    let direction = Direction::of(args);
    let (dry_run, delete_source) = (args.get_flag("dry-run"), args.get_flag("delete-source"));
    let (folder, bucket) = (uploads_folder(config), uploads_bucket(config)?);
    if delete_source {
        ensure!(
            direction.is_first(config),
            "--delete-source would delete files that the server uses: set `uploads.use = \"{}\"` and reload the server first",
            direction.both
        );
        check_reloaded(config)?;
    }
    ensure!(config.data.is_dir(), "the data folder {} does not exist", config.data.display());
    let lock = config.data.join(LOCK);
    let lock = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(false)
        .open(&lock)
        .with_context(|| format!("cannot create {}", lock.display()))?;
    ensure!(lock.try_lock().is_ok(), "another `media move` is running");
    let unfinished = unfinished_uploads(&config.data.join(UPLOADS_JOURNAL));
    let unfinished = unfinished.context("cannot read the list of uploads in progress")?;
    let checked = bucket.clone();
    let (from, to) = if direction.to_bucket { (folder, bucket) } else { (bucket, folder) };
    let moving = Moving { from, to, unfinished, dry_run, overwrite: args.get_flag("overwrite"), delete_source };
    let progress = Progress::start(if dry_run { "comparing uploads" } else { "copying uploads" });
    let moved = block_on(async {
        let accessible = tokio::time::timeout(CHECK_TIME, checked.check()).await;
        accessible.map_err(|_| anyhow!("no answer"))?.context("the bucket cannot be used")?;
        let mut each = |file: &svc_media::MovedFile<'_>| {
            if let Some(failure) = file.failure {
                progress.note(&format!("{}: {failure}", file.path.replace(char::is_control, "\u{fffd}")));
            }
            progress.set(file.done, file.found);
        };
        moving.run(&mut each).await.with_context(|| format!("the {} cannot be listed", direction.source))
    })??;
    drop(progress);
    report(config, &direction, &moved, dry_run);
    if moved.gave_up {
        bail!("it was ended after many failures, one after the other");
    }
    if moved.failed > 0 {
        bail!("{} of the files failed; they are listed above", moved.failed);
    }
    if !dry_run {
        next_step(config, &direction, &moved, delete_source);
    }
    Ok(())
}

/// Fails if the settings of uploads have been changed since the running server read them.
fn check_reloaded(config: &Config) -> Result<()> {
    let Some(since) = running_since(&config.data) else { return Ok(()) };
    for setting in config.shown().iter().filter(|setting| setting.key.starts_with("uploads.")) {
        let SettingOrigin::File(file, _) = &setting.origin else { continue };
        let changed = fs::metadata(file).and_then(|file| file.modified());
        let changed = changed.with_context(|| format!("cannot read {}", file.display()))?;
        ensure!(
            changed <= since,
            "{} has been changed since the running server has read it: reload the server before --delete-source",
            file.display()
        );
    }
    Ok(())
}

fn report(config: &Config, direction: &Direction, moved: &Moved, dry_run: bool) {
    let bucket = config.uploads.bucket.as_ref().map_or("", |bucket| &bucket.name);
    let target = if direction.to_bucket {
        format!("the bucket {bucket}")
    } else {
        config.content_dir.join("uploads").display().to_string()
    };
    let verb = if dry_run { "Would copy" } else { "Copied" };
    say(&format!(
        "{verb} {} files ({}) to {target}; it had {} others.",
        moved.copied,
        format_bytes(moved.bytes),
        moved.present
    ));
    for (n, what) in [
        (moved.deleted, format!("deleted in the {}", direction.source)),
        (moved.gone, "deleted by others while they were copied".to_owned()),
        (moved.left_out, "left out: temporary files, and links that lead elsewhere".to_owned()),
        (moved.unfinished, "left out: files of uploads in progress or that were interrupted".to_owned()),
        (moved.failed, "failed".to_owned()),
    ] {
        if n > 0 {
            say(&format!("{n} {what}."));
        }
    }
}

/// What is to be done next, by the settings.
fn next_step(config: &Config, direction: &Direction, moved: &Moved, was_deleted: bool) {
    let Direction { both, only, flag, source, target, .. } = direction;
    if moved.unfinished > 0 {
        say(&format!("Next: run `media move {flag}` again when these uploads are complete."));
    } else if !direction.is_first(config) {
        say(&format!(
            "Next: set `uploads.use = \"{both}\"` and reload the server, so that it stores new uploads in the {target}. Then run \
             `media move {flag}` again for those that came meanwhile."
        ));
    } else if direction.needs_source(config) {
        say(&format!(
            "Next: set `uploads.use = \"{only}\"` and reload the server. Then the {source} is not used any more."
        ));
    } else if !was_deleted {
        say(&format!(
            "The server of these settings uses the {target} only. `--delete-source` deletes the files in the {source}."
        ));
    }
}
