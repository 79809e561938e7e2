//! `editor`: builds WordPress's block editor from npm packages for the admin, and removes it.
//!
//! The packages are under the GPL. No part of them is in this program or its archives: the user's own npm downloads them, and the
//! result is in the content folder.

use std::{
    ffi::OsStr,
    fs::{self, File, TryLockError},
    io::{ErrorKind, Read as _, Seek as _, SeekFrom},
    path::{Path, PathBuf},
    process::Command as Process,
};

use anyhow::{Context as _, Result, bail};
use clap::{Arg, ArgMatches, Command};
use serde_json::{Value, json};
use svc_packages::block_editor::{self, FOLDER, InstalledEditor};

use super::output::{json_flag, note, say};
use crate::config::Config;

/// What the editor is built from, beside the packages.
const SOURCES: [(&str, &str); 7] = [
    (PACKAGES, include_str!("../../block-editor/package.json")),
    ("package-lock.json", include_str!("../../block-editor/package-lock.json")),
    ("build.js", include_str!("../../block-editor/build.js")),
    ("editor.js", include_str!("../../block-editor/editor.js")),
    ("brand.js", include_str!("../../block-editor/brand.js")),
    ("editor.css", include_str!("../../block-editor/editor.css")),
    ("content.css", include_str!("../../block-editor/content.css")),
];
const PACKAGES: &str = "package.json";

/// The package whose version is that of the editor.
const MAIN_PACKAGE: &str = "@wordpress/edit-post";

const NPM: &str = if cfg!(windows) { "npm.cmd" } else { "npm" };

/// The folder in which the editor is built, in that of the editor.
const BUILD: &str = "build";
/// The folder of the results, in that of the build.
const BUILT: &str = "built";

/// Maximum length of npm's output in an error message, in bytes and in lines.
const SHOWN: (u64, usize) = (8 << 10, 20);

/// Errors of npm that mean that it cannot reach its registry.
const NETWORK_ERRORS: [&str; 6] = ["ENOTFOUND", "EAI_AGAIN", "ECONNREFUSED", "ECONNRESET", "ETIMEDOUT", "ENETUNREACH"];

pub(super) fn command() -> Command {
    let npm = Arg::new("npm").long("npm").value_name("PATH").default_value(NPM).help("The program npm");
    let install = Command::new("install").about("Build it with npm, in the content folder").arg(npm);
    Command::new("editor")
        .about("Install WordPress's block editor for the admin")
        .long_about(
            "Install WordPress's block editor for the admin.\n\nnpm downloads the packages, whose versions are fixed, and runs none \
             of their scripts. They are under the GPL (version 2 or later) and other licences, which the file LICENSES.txt lists, and \
             are no part of this program. The build takes about a minute and 600 MB, the result 2 MB.",
        )
        .subcommand_required(true)
        .subcommand(install)
        .subcommand(Command::new("status").about("Show what is installed").arg(json_flag()))
        .subcommand(Command::new("remove").about("Remove it"))
}

pub(super) fn run(config: &Config, args: &ArgMatches) -> Result<()> {
    let content = &config.content_dir;
    match args.subcommand() {
        Some(("install", args)) => install(content, args.get_one::<String>("npm").map_or(NPM, String::as_str)),
        Some(("status", args)) => status(content, args.get_flag("json")),
        Some(("remove", _)) => remove(content),
        _ => Ok(()),
    }
}

/// Identifies the sources and, by their lock file, the packages.
fn recipe() -> String {
    let parts: Vec<String> = SOURCES.iter().map(|(name, text)| format!("{name}\0{text}\0")).collect();
    block_editor::hash_of(parts.concat().as_bytes())
}

fn version() -> Result<String> {
    let (_, packages) = SOURCES.iter().find(|(name, _)| *name == PACKAGES).context("there is no list of packages")?;
    let packages: Value = serde_json::from_str(packages).context("the list of packages is not JSON")?;
    Ok(packages["dependencies"][MAIN_PACKAGE].as_str().unwrap_or_default().to_owned())
}

/// The folder of a build; it is removed when this is dropped.
struct BuildFolder {
    path: PathBuf,
    /// Keeps other installations from using it.
    lock: File,
}

impl BuildFolder {
    /// Creates the folder, without what an interrupted installation has left.
    fn create(content: &Path) -> Result<Self> {
        if !content.is_dir() {
            bail!("there is no content folder {}: start the server once, or set `content_dir`", content.display());
        }
        let folder = content.join(FOLDER);
        let cannot_write = || format!("cannot write the content folder {}", content.display());
        fs::create_dir_all(&folder).with_context(cannot_write)?;
        let lock = File::create(folder.join("install.lock")).with_context(cannot_write)?;
        match lock.try_lock() {
            Err(TryLockError::WouldBlock) => bail!("another installation of the editor is in progress"),
            // Some file systems have no locks.
            Ok(()) | Err(TryLockError::Error(_)) => {}
        }
        let path = folder.join(BUILD);
        if path.exists() {
            fs::remove_dir_all(&path).with_context(cannot_write)?;
        }
        fs::create_dir(&path).with_context(cannot_write)?;
        for (name, text) in SOURCES {
            fs::write(path.join(name), text).with_context(cannot_write)?;
        }
        Ok(BuildFolder { path, lock })
    }

    /// Runs npm in the folder.
    fn npm(&self, npm: &str, args: &[&str]) -> Result<()> {
        let log = self.path.join("npm.log");
        let output = File::create(&log).context("cannot write the content folder")?;
        let errors = output.try_clone().context("cannot write the content folder")?;
        let mut process = Process::new(program(npm));
        process.current_dir(&self.path).args(args).stdin(std::process::Stdio::null()).stdout(output).stderr(errors);
        let status = match process.status() {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                bail!("there is no program {npm}: install Node.js 20 or later with npm, or name npm's path with --npm")
            }
            status => status.with_context(|| format!("cannot run {npm}"))?,
        };
        if status.success() {
            return Ok(());
        }
        let output = end_of(&log).unwrap_or_default();
        let reason = if NETWORK_ERRORS.iter().any(|code| output.contains(code)) {
            "npm cannot reach its registry"
        } else {
            "npm failed"
        };
        bail!("{reason} ({status}); the editor is as it was. The end of its output:\n{output}")
    }
}

impl Drop for BuildFolder {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_dir_all(&self.path) {
            super::output::print_warning(&format!("cannot remove {}: {error}", self.path.display()));
        }
        // A process that is being started may have a copy of the file.
        let _unlocked = self.lock.unlock();
    }
}

/// The program to run: a path is relative to the working folder, although npm runs in another.
fn program(npm: &str) -> PathBuf {
    let path = Path::new(npm);
    let has_folder = path.parent().is_some_and(|folder| folder != OsStr::new(""));
    if has_folder { std::path::absolute(path).unwrap_or_else(|_| path.to_owned()) } else { path.to_owned() }
}

/// The last lines of a file.
fn end_of(path: &Path) -> std::io::Result<String> {
    let (bytes, n_lines) = SHOWN;
    let mut file = File::open(path)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(bytes)))?;
    let mut text = Vec::new();
    file.take(bytes).read_to_end(&mut text)?;
    let text = String::from_utf8_lossy(&text);
    let lines: Vec<&str> = text.lines().collect();
    Ok(lines[lines.len().saturating_sub(n_lines)..].join("\n"))
}

fn install(content: &Path, npm: &str) -> Result<()> {
    let version = version()?;
    let folder = BuildFolder::create(content)?;
    note(&format!("Installing the packages of the block editor {version} with npm …"));
    folder.npm(npm, &["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--legacy-peer-deps"])?;
    note("Building the editor …");
    folder.npm(npm, &["run", "build"])?;
    block_editor::install(content, &folder.path.join(BUILT), &recipe(), &version).context("cannot store the editor")?;
    say(&format!(
        "Installed the block editor {version}. Lists of posts link to it; a running server needs no restart."
    ));
    note("Removing the folder of the build …");
    drop(folder);
    Ok(())
}

fn status(content: &Path, as_json: bool) -> Result<()> {
    let installed =
        InstalledEditor::read(content).context("the editor cannot be read; run `svc-server editor install`")?;
    let (available, folder) = (version()?, content.join(FOLDER));
    let is_current = installed.as_ref().is_some_and(|editor| editor.manifest.recipe == recipe());
    if as_json {
        let installed = installed.map(|editor| editor.manifest);
        let status = json!({ "installed": installed, "current": is_current, "available": available, "folder": folder });
        say(&serde_json::to_string_pretty(&status)?);
        return Ok(());
    }
    say(&match installed {
        None => format!("The block editor is not installed. `svc-server editor install` installs {available}."),
        Some(editor) if is_current => {
            format!("The block editor {} is installed in {}.", editor.manifest.version, folder.display())
        }
        Some(editor) => format!(
            "The block editor {} is installed in {}. This version of svc-server has another: `svc-server editor install` installs \
             {available}.",
            editor.manifest.version,
            folder.display()
        ),
    });
    Ok(())
}

fn remove(content: &Path) -> Result<()> {
    let was_installed = block_editor::remove(content).context("cannot remove the editor")?;
    say(if was_installed { "Removed the block editor." } else { "The block editor is not installed." });
    Ok(())
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    /// A program in place of npm, which leaves files as the build does.
    fn fake_npm(folder: &Path, script: &str) -> String {
        let path = folder.join("npm");
        fs::write(&path, format!("#!/bin/sh\nset -e\n{script}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path.display().to_string()
    }

    const BUILD_ALL: &str = "test -f package-lock.json\nif [ $1 = run ]; then mkdir built; for f in editor.js.gz editor.css.gz \
                             content.css.gz LICENSES.txt; do echo $f > built/$f; done; fi";

    fn installed(content: &Path) -> Option<String> {
        InstalledEditor::read(content).unwrap().map(|editor| editor.manifest.recipe)
    }

    #[test]
    fn only_sources_are_in_the_repository() {
        let folder = fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/block-editor")).unwrap();
        let mut found: Vec<String> = folder.map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
        found.retain(|name| name != "README.md");
        found.sort_unstable();
        let mut expected = SOURCES.map(|(name, _)| name);
        expected.sort_unstable();
        assert_eq!(found, expected);
    }

    #[test]
    fn the_packages_are_pinned() {
        let packages: Value = serde_json::from_str(SOURCES[0].1).unwrap();
        let lock: Value = serde_json::from_str(SOURCES[1].1).unwrap();
        assert!(!version().unwrap().is_empty());
        for kind in ["dependencies", "devDependencies"] {
            for (name, version) in packages[kind].as_object().unwrap() {
                assert_eq!(lock["packages"][format!("node_modules/{name}")]["version"], *version, "{name}");
            }
        }
        for (path, package) in lock["packages"].as_object().unwrap().iter().filter(|(path, _)| !path.is_empty()) {
            assert!(package["integrity"].as_str().is_some_and(|hash| hash.starts_with("sha512-")), "{path}");
            // Without a URL, npm takes the package from the registry of its configuration.
            assert!(package.get("resolved").is_none(), "{path}");
        }
    }

    #[test]
    fn an_editor_is_built_and_removed() {
        let folder = tempfile::tempdir().unwrap();
        let content = folder.path().join("content");
        let npm = fake_npm(folder.path(), BUILD_ALL);
        let error = install(&content, &npm).unwrap_err().to_string();
        assert!(error.starts_with("there is no content folder"), "{error}");
        fs::create_dir(&content).unwrap();
        // What an interrupted installation leaves.
        fs::create_dir_all(content.join(FOLDER).join(BUILD).join(BUILT)).unwrap();
        for _ in 0..2 {
            install(&content, &npm).unwrap();
            assert_eq!(installed(&content), Some(recipe()));
            assert!(!content.join(FOLDER).join(BUILD).exists());
        }
        remove(&content).unwrap();
        assert_eq!(installed(&content), None);
    }

    #[test]
    fn a_failed_build_leaves_the_former_editor() {
        let folder = tempfile::tempdir().unwrap();
        let content = folder.path();
        install(content, &fake_npm(content, BUILD_ALL)).unwrap();
        for (script, message) in [
            ("echo first; seq 1 50; echo 'npm error code E404' >&2; exit 3", "npm failed (exit status: 3)"),
            ("echo 'npm error code ENOTFOUND' >&2; exit 1", "npm cannot reach its registry"),
            ("if [ $1 = run ]; then echo 'No loader' >&2; exit 1; fi", "No loader"),
            ("kill -9 $$", "npm failed (signal: 9"),
            ("exit 0", "cannot store the editor"),
            ("if [ $1 = run ]; then mkdir built; : > built/editor.js.gz; fi", "cannot store the editor"),
        ] {
            let error = format!("{:#}", install(content, &fake_npm(content, script)).unwrap_err());
            assert!(error.contains(message) && !error.contains("first") && error.lines().count() < 30, "{error}");
            assert_eq!(installed(content), Some(recipe()), "{script}");
            assert!(!content.join(FOLDER).join(BUILD).exists(), "{script}");
        }
        let error = install(content, "no-such-npm").unwrap_err().to_string();
        assert!(error.starts_with("there is no program no-such-npm: install Node.js"), "{error}");
    }

    #[test]
    fn two_installations_do_not_share_a_folder() {
        let folder = tempfile::tempdir().unwrap();
        let first = BuildFolder::create(folder.path()).unwrap();
        let second = BuildFolder::create(folder.path());
        assert!(second.is_err_and(|error| error.to_string().contains("in progress")));
        assert!(first.path.join(PACKAGES).is_file());
    }
}
