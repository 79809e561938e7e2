//! `cargo xtask dist`: builds the server for one target and packs it as a release archive with a checksum.

use std::{
    fs::File,
    io::Write as _,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result};
use sha2::{Digest as _, Sha256};
use xtask_support::{block_editor, cargo, root, run as run_command, say, target as target_folder};

const PROGRAM: &str = "svc-server";

/// Optional features that release binaries include.
const FEATURES: &str = "s3,otlp,age";

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
    let name = format!("{PROGRAM}-{}-{target}", env!("CARGO_PKG_VERSION"));
    let archive = pack(&root, &binary, &root.join("target/dist"), &name)?;
    let sum = checksum(&archive)?;
    say(&format!("{}\n{}", archive.display(), sum.display()))
}

/// Packs the binary and the files of the repository `root` into an archive of this name in `folder`. Fails if a part of WordPress's
/// block editor would be in it.
fn pack(root: &Path, binary: &Path, folder: &Path, name: &str) -> Result<PathBuf> {
    let staged = folder.join(name);
    if staged.exists() {
        std::fs::remove_dir_all(&staged).with_context(|| format!("cannot remove {}", staged.display()))?;
    }
    std::fs::create_dir_all(&staged).with_context(|| format!("cannot create {}", staged.display()))?;
    let files = FILES.map(|file| root.join(file));
    for file in files.iter().map(PathBuf::as_path).chain([binary]) {
        let to = staged.join(file.file_name().unwrap_or_default());
        std::fs::copy(file, &to).with_context(|| format!("cannot copy {}", file.display()))?;
    }
    block_editor::require_none(&staged)?;
    if name.contains("windows") { zip(folder, name) } else { tar(folder, name) }
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
    let binary = output.join(profile).join(format!("{PROGRAM}{suffix}"));
    Ok(binary)
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
    fn archives_have_the_program_and_texts_about_it_only() {
        let folder = tempfile::tempdir().unwrap();
        let (root, out) = (root().unwrap(), folder.path().join("out"));
        for (name, program) in [("x-linux", "svc-server"), ("x-windows", "svc-server.exe")] {
            let binary = folder.path().join(program);
            std::fs::write(&binary, "program").unwrap();
            let archive = pack(&root, &binary, &out, name).unwrap();
            let mut found: Vec<String> = if name == "x-windows" {
                let archive = zip::ZipArchive::new(File::open(archive).unwrap()).unwrap();
                archive.file_names().map(|name| name.unwrap().into_owned()).collect()
            } else {
                let listed = Command::new("tar").arg("-tzf").arg(archive).output().unwrap();
                let names = String::from_utf8(listed.stdout).unwrap();
                names.lines().filter(|line| !line.ends_with('/')).map(str::to_owned).collect()
            };
            found.sort_unstable();
            let mut expected: Vec<String> =
                FILES.iter().chain([&program]).map(|file| format!("{name}/{file}")).collect();
            expected.sort_unstable();
            assert_eq!(found, expected);
        }
    }

    #[test]
    fn a_program_with_a_part_of_the_block_editor_is_not_packed() {
        let folder = tempfile::tempdir().unwrap();
        let binary = folder.path().join("svc-server");
        std::fs::write(&binary, format!("\0before{}after\0", block_editor::TEXTS[0])).unwrap();
        let error = pack(&root().unwrap(), &binary, &folder.path().join("out"), "x").unwrap_err().to_string();
        assert!(error.contains("svc-server has a part of"), "{error}");
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
