//! `cargo xtask dist`: builds the server for one target and packs it as a release archive with a checksum.

use std::{
    fs::File,
    io::Write as _,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result};
use sha2::{Digest as _, Sha256};
use xtask_support::{cargo, root, run as run_command, say, target as target_folder};

const PROGRAM: &str = "svc-server";

/// Optional features that release binaries include.
const FEATURES: &str = "s3,otlp";

/// Files of the repository that are packed next to the binary.
const FILES: [&str; 4] = ["README.md", "CHANGELOG.md", "LICENSE-APACHE", "LICENSE-MIT"];

/// Arguments of the task.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Target triple to build for (default: the host).
    #[arg(long, value_name = "TRIPLE")]
    target: Option<String>,
    /// Build without optimization.
    #[arg(long)]
    debug: bool,
}

/// Packs `target/dist/svc-server-VERSION-TARGET.tar.gz` (`.zip` for Windows) and writes its SHA-256 next to it.
pub(crate) fn run(options: &Options) -> Result<()> {
    let root = root()?;
    let target = match &options.target {
        Some(target) => target.clone(),
        None => host()?,
    };
    let binary = build(options, &target)?;
    let folder = root.join("target/dist");
    let name = format!("{PROGRAM}-{}-{target}", env!("CARGO_PKG_VERSION"));
    let staged = folder.join(&name);
    if staged.exists() {
        std::fs::remove_dir_all(&staged).with_context(|| format!("cannot remove {}", staged.display()))?;
    }
    std::fs::create_dir_all(&staged).with_context(|| format!("cannot create {}", staged.display()))?;
    let files = FILES.map(|file| root.join(file));
    for file in files.iter().chain([&binary]) {
        let to = staged.join(file.file_name().unwrap_or_default());
        std::fs::copy(file, &to).with_context(|| format!("cannot copy {}", file.display()))?;
    }
    let archive = if target.contains("windows") { zip(&folder, &name)? } else { tar(&folder, &name)? };
    let sum = checksum(&archive)?;
    say(&format!("{}\n{}", archive.display(), sum.display()))
}

/// The target triple that rustc builds for by default.
fn host() -> Result<String> {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(rustc).arg("-vV").output().context("cannot run rustc")?;
    let text = String::from_utf8_lossy(&output.stdout);
    let host = text.lines().find_map(|line| line.strip_prefix("host: "));
    Ok(host.context("rustc does not report its host")?.to_owned())
}

/// Builds the server of a release for this machine; returns the path of the binary.
pub(crate) fn build_host(debug: bool) -> Result<PathBuf> {
    build(&Options { target: None, debug }, &host()?)
}

/// Builds the server; returns the path of the binary.
fn build(options: &Options, target: &str) -> Result<PathBuf> {
    let mut command = cargo()?;
    command.args(["build", "--locked", "--package", PROGRAM, "--bin", PROGRAM, "--features", FEATURES]);
    // Without `--target` cargo uses another folder, which other builds share.
    if let Some(target) = &options.target {
        command.args(["--target", target]);
    }
    if !options.debug {
        command.arg("--release");
    }
    run_command(&mut command)?;
    let output = options.target.iter().fold(target_folder()?, |folder, target| folder.join(target));
    let profile = if options.debug { "debug" } else { "release" };
    let suffix = if target.contains("windows") { ".exe" } else { "" };
    Ok(output.join(profile).join(format!("{PROGRAM}{suffix}")))
}

/// Packs the folder `name` with the `tar` program.
fn tar(folder: &Path, name: &str) -> Result<PathBuf> {
    let archive = folder.join(format!("{name}.tar.gz"));
    run_command(Command::new("tar").arg("-czf").arg(&archive).arg("-C").arg(folder).arg(name))?;
    Ok(archive)
}

/// Packs the files of the folder `name`.
fn zip(folder: &Path, name: &str) -> Result<PathBuf> {
    let path = folder.join(format!("{name}.zip"));
    let file = File::create(&path).with_context(|| format!("cannot create {}", path.display()))?;
    let mut archive = zip::ZipWriter::new(file);
    let staged = folder.join(name);
    for entry in std::fs::read_dir(&staged).with_context(|| format!("cannot list {}", staged.display()))? {
        let entry = entry?;
        let inside = format!("{name}/{}", entry.file_name().to_string_lossy());
        archive.start_file(inside, zip::write::SimpleFileOptions::default())?;
        archive.write_all(&std::fs::read(entry.path())?)?;
    }
    archive.finish().context("cannot finish the archive")?;
    Ok(path)
}

/// Writes `FILE.sha256` in the format of `sha256sum`.
fn checksum(archive: &Path) -> Result<PathBuf> {
    let bytes = std::fs::read(archive).with_context(|| format!("cannot read {}", archive.display()))?;
    let name = archive.file_name().unwrap_or_default().to_string_lossy();
    let path = archive.with_file_name(format!("{name}.sha256"));
    let digest: String = Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
    std::fs::write(&path, format!("{digest}  {name}\n")).with_context(|| format!("cannot write {}", path.display()))?;
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checksum_file_has_the_format_of_sha256sum() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.tar.gz");
        std::fs::write(&file, "abc").unwrap();
        let path = checksum(&file).unwrap();
        assert_eq!(path, folder.path().join("a.tar.gz.sha256"));
        let expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad  a.tar.gz\n";
        assert_eq!(std::fs::read_to_string(path).unwrap(), expected);
    }

    #[test]
    fn archives_hold_one_folder() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("x-1")).unwrap();
        std::fs::write(folder.path().join("x-1/a"), "text").unwrap();
        let path = zip(folder.path(), "x-1").unwrap();
        let mut archive = zip::ZipArchive::new(File::open(path).unwrap()).unwrap();
        assert_eq!(archive.by_index(0).unwrap().name().unwrap(), "x-1/a");
        assert!(tar(folder.path(), "x-1").unwrap().exists());
    }
}
