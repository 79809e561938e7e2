//! Installs plugin packages from the directory. Their code is never run.

use std::{fs, io, path::Path};

use base64::Engine as _;
use md5::{Digest, Md5};
use serde_json::Value;
use svc_packages::{
    archive::{self, ArchiveError, ArchiveLimits, UnpackedFile},
    plugins::{self, Plugin},
};
use svc_schema::Error;

use crate::{errors::plugins as errors, plugin_directory_client::DirectoryPackage};

/// Prefix of the temporary folder for unpacking: hidden, so that it is never listed.
const STAGING_PREFIX: &str = ".install-";

/// Verifies and unpacks a package, and moves its folder to the plugins. Nothing is visible in the list of plugins
/// before everything is verified.
///
/// # Errors
/// If the package does not match its checksums, is not a safe archive, contains no plugin, or the plugin is already
/// installed.
pub fn install(package: &DirectoryPackage, folder: &Path) -> Result<Plugin, Error> {
    check_whole(package)?;
    let stage = stage(folder).map_err(|error| not_writable(&error))?;
    let files = archive::unpack(&package.bytes, stage.path(), ArchiveLimits::default()).map_err(refused)?;
    let own = only_folder(&files).ok_or_else(errors::no_plugin_inside)?;
    if let Some(listed) = &package.files {
        check_files(&files, &own, listed)?;
    }
    let plugin = plugins::list(stage.path()).into_iter().next().ok_or_else(errors::no_plugin_inside)?;
    let target = folder.join(&own);
    if target.symlink_metadata().is_ok() {
        return Err(errors::folder_exists());
    }
    // If another request was faster, the rename fails: the target folder is not empty.
    fs::rename(stage.path().join(&own), target).map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists | io::ErrorKind::DirectoryNotEmpty => errors::folder_exists(),
        _ => not_writable(&error),
    })?;
    Ok(plugin)
}

fn stage(folder: &Path) -> io::Result<tempfile::TempDir> {
    fs::create_dir_all(folder)?;
    tempfile::Builder::new().prefix(STAGING_PREFIX).tempdir_in(folder)
}

fn not_writable(error: &io::Error) -> Error {
    tracing::warn!(%error, "failed to install a package");
    errors::bad_package("mkdir_failed_destination", "The plugins folder is not writable.")
}

fn refused(error: ArchiveError) -> Error {
    match error {
        ArchiveError::Folder(error) => not_writable(&error),
        other => errors::bad_package("incompatible_archive", format!("Not installed: {other}.")),
    }
}

/// The single top-level folder of all files.
fn only_folder(files: &[UnpackedFile]) -> Option<String> {
    let own = files.first()?.name.split_once('/')?.0;
    let is_inside = |file: &UnpackedFile| file.name.split_once('/').is_some_and(|(folder, _)| folder == own);
    (!own.starts_with('.') && files.iter().all(is_inside)).then(|| own.to_owned())
}

/// Compares the package with its checksum. A package without this checksum and without file checksums is rejected.
fn check_whole(package: &DirectoryPackage) -> Result<(), Error> {
    let expected = package.md5.trim();
    if expected.is_empty() {
        let why = "The plugin directory has no checksums for this package.";
        return package.files.as_ref().map(drop).ok_or_else(|| errors::bad_package("package_unverified", why));
    }
    let digest = Md5::digest(&package.bytes);
    let hex: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    let base64 = base64::engine::general_purpose::STANDARD.encode(digest);
    if expected == base64 || expected.eq_ignore_ascii_case(&hex) {
        Ok(())
    } else {
        Err(errors::bad_package("md5_mismatch", "The package does not match its checksum."))
    }
}

/// Compares every file with its checksum: no file may be changed, added or missing.
fn check_files(files: &[UnpackedFile], own: &str, listed: &serde_json::Map<String, Value>) -> Result<(), Error> {
    let is_same = |file: &UnpackedFile| {
        let name = file.name.strip_prefix(own).map(|rest| rest.trim_start_matches('/')).unwrap_or_default();
        let is_it = |digest: &Value| digest.as_str().is_some_and(|d| d.eq_ignore_ascii_case(&file.sha256));
        match listed.get(name).and_then(|entry| entry.get("sha256")) {
            Some(Value::Array(several)) => several.iter().any(is_it),
            Some(one) => is_it(one),
            None => false,
        }
    };
    if files.len() == listed.len() && files.iter().all(is_same) {
        Ok(())
    } else {
        Err(errors::bad_package("package_checksum_mismatch", "The files of the package do not match their checksums."))
    }
}
