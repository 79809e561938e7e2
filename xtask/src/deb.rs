//! `cargo xtask deb`: writes a Debian package with `dpkg-deb`.

use std::{
    fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result, ensure};
use xtask_support::{block_editor, root, run as run_command, say};

use crate::dist;

/// Name of the package and of its program.
const NAME: &str = "svc-server";

/// Files of the repository, and where they are installed.
#[rustfmt::skip]
const FILES: &[(&str, &str)] = &[
    ("crates/svc-server/deploy/debian/svc.toml", "etc/svc/svc.toml"),
    ("crates/svc-server/deploy/debian/svc.sysusers", "usr/lib/sysusers.d/svc.conf"),
    ("crates/svc-server/deploy/systemd/svc.service", "usr/lib/systemd/system/svc.service"),
    ("crates/svc-server/deploy/systemd/svc.socket", "usr/lib/systemd/system/svc.socket"),
    ("crates/svc-server/deploy/fail2ban/filter.d/svc.conf", "usr/share/doc/svc-server/examples/fail2ban/filter.d/svc.conf"),
    ("crates/svc-server/deploy/fail2ban/jail.d/svc.conf", "usr/share/doc/svc-server/examples/fail2ban/jail.d/svc.conf"),
    ("crates/svc-server/deploy/prometheus/svc-alerts.yml", "usr/share/doc/svc-server/examples/prometheus/svc-alerts.yml"),
    ("crates/svc-server/deploy/grafana/svc.json", "usr/share/doc/svc-server/examples/grafana/svc.json"),
    ("crates/svc-server/deploy/debian/copyright", "usr/share/doc/svc-server/copyright"),
    ("CHANGELOG.md", "usr/share/doc/svc-server/changelog"),
];

/// Scripts of the package.
const SCRIPTS: [&str; 3] = ["postinst", "prerm", "postrm"];

/// Arguments of the task.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Build without optimization.
    #[arg(long)]
    debug: bool,
    /// Pack this program instead of building one.
    #[arg(long, value_name = "FILE")]
    program: Option<PathBuf>,
    /// Install the package into a folder, and remove it there.
    #[arg(long)]
    check: bool,
}

/// Writes `target/dist/svc-server_VERSION_ARCHITECTURE.deb`.
pub(crate) fn run(options: &Options) -> Result<()> {
    let program = match &options.program {
        Some(program) => program.clone(),
        None => dist::build_host(options.debug)?,
    };
    let root = root()?;
    let folder = root.join("target/dist");
    let tree = folder.join("deb");
    drop(fs::remove_dir_all(&tree));
    for (from, to) in FILES {
        install(&root.join(from), &tree.join(to), 0o644)?;
    }
    let service = tree.join("usr/lib/systemd/system/svc.service");
    let unit = fs::read_to_string(&service).context("cannot read the unit")?;
    fs::write(&service, unit.replace("/usr/local/bin/", "/usr/bin/")).context("cannot write the unit")?;
    run_command(Command::new("gzip").args(["-9nf"]).arg(tree.join("usr/share/doc/svc-server/changelog")))?;
    let binary = tree.join("usr/bin").join(NAME);
    install(&program, &binary, 0o755)?;
    run_command(Command::new("strip").arg(&binary))?;
    for script in SCRIPTS {
        let from = root.join("crates/svc-server/deploy/debian").join(script);
        install(&from, &tree.join("DEBIAN").join(script), 0o755)?;
    }
    block_editor::require_none(&tree)?;
    let architecture = output(Command::new("dpkg").arg("--print-architecture"))?;
    let architecture = architecture.trim();
    let control = control(architecture, installed_size(&tree)?, &libc(&program)?);
    for (name, text) in [("control", control), ("conffiles", "/etc/svc/svc.toml\n".to_owned())] {
        fs::write(tree.join("DEBIAN").join(name), text).with_context(|| format!("cannot write {name}"))?;
    }
    let package = folder.join(format!("{NAME}_{}_{architecture}.deb", env!("CARGO_PKG_VERSION")));
    run_command(Command::new("dpkg-deb").args(["--root-owner-group", "-Zxz", "--build"]).arg(&tree).arg(&package))?;
    fs::remove_dir_all(&tree).with_context(|| format!("cannot remove {}", tree.display()))?;
    if options.check {
        check(&package, &folder.join("deb-check"))?;
    }
    say(&package.display().to_string())
}

fn install(from: &Path, to: &Path, mode: u32) -> Result<()> {
    fs::create_dir_all(to.parent().unwrap_or(to)).with_context(|| format!("cannot create {}", to.display()))?;
    fs::copy(from, to).with_context(|| format!("cannot copy {}", from.display()))?;
    fs::set_permissions(to, fs::Permissions::from_mode(mode)).with_context(|| format!("cannot change {}", to.display()))
}

fn control(architecture: &str, kib: u64, libc: &str) -> String {
    let version = env!("CARGO_PKG_VERSION");
    format!(
        "Package: {NAME}\nVersion: {version}\nArchitecture: {architecture}\nMaintainer: The svc project <svc@localhost>\n\
         Installed-Size: {kib}\nDepends: libc6 (>= {libc})\nRecommends: systemd, ca-certificates\nSection: httpd\nPriority: optional\n\
         Description: content server with a WordPress-compatible REST API\n \
         Serves a site from an embedded SQLite database or from MySQL and MariaDB: REST API,\n \
         pages, uploads and an administration area, in one program.\n"
    )
}

/// The newest version of glibc whose symbols the program uses.
fn libc(program: &Path) -> Result<String> {
    let symbols = output(Command::new("objdump").arg("-T").arg(program))?;
    let version = |word: &str| -> Option<(u32, u32)> {
        let (major, minor) = word.split_once("GLIBC_")?.1.trim_end_matches(')').split_once('.')?;
        Some((major.parse().ok()?, minor.split('.').next()?.parse().ok()?))
    };
    let (major, minor) = symbols.split_whitespace().filter_map(version).max().unwrap_or((2, 31));
    Ok(format!("{major}.{minor}"))
}

/// Size of the files in KiB.
fn installed_size(tree: &Path) -> Result<u64> {
    let text = output(Command::new("du").args(["-sk", "--apparent-size"]).arg(tree))?;
    text.split_whitespace().next().and_then(|n| n.parse().ok()).context("du printed no size")
}

fn output(command: &mut Command) -> Result<String> {
    let output = command.output().with_context(|| format!("cannot run {command:?}"))?;
    ensure!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Installs the package into a folder that has no other package, runs the program, and removes the package.
fn check(package: &Path, folder: &Path) -> Result<()> {
    drop(fs::remove_dir_all(folder));
    for name in ["var/lib/dpkg/updates", "var/lib/dpkg/info", "var/lib/dpkg/triggers"] {
        fs::create_dir_all(folder.join(name)).context("cannot create the folder of dpkg")?;
    }
    for name in ["status", "available"] {
        fs::write(folder.join("var/lib/dpkg").join(name), "").context("cannot write the list of packages")?;
    }
    let dpkg = |args: &[&str]| {
        let mut dpkg = Command::new("dpkg");
        // The scripts run here: there is no shell in the folder. They know that from `DPKG_ROOT`.
        dpkg.arg(format!("--root={}", folder.display())).args([
            "--force-not-root",
            "--force-script-chrootless",
            "--force-depends",
        ]);
        dpkg.arg(format!("--log={}", folder.join("log").display())).args(args);
        output(&mut dpkg)
    };
    dpkg(&["--install", &package.display().to_string()])?;
    for (_, to) in FILES.iter().filter(|(_, to)| !to.ends_with("changelog")) {
        ensure!(folder.join(to).is_file(), "{to} was not installed");
    }
    let version = output(Command::new(folder.join("usr/bin").join(NAME)).arg("--version"))?;
    ensure!(version.contains(env!("CARGO_PKG_VERSION")), "{version}");
    let config = folder.join("etc/svc/svc.toml");
    output(Command::new(folder.join("usr/bin").join(NAME)).args(["config", "check", "--config"]).arg(&config))?;
    let unit = folder.join("usr/lib/systemd/system/svc.service");
    let text = fs::read_to_string(&unit).context("cannot read the unit")?;
    ensure!(text.contains("ExecStart=/usr/bin/svc-server "), "{text}");
    dpkg(&["--remove", NAME])?;
    ensure!(config.is_file() && !unit.exists(), "the configuration stays, and the unit is removed");
    dpkg(&["--purge", NAME])?;
    ensure!(!config.exists(), "the configuration is purged");
    fs::remove_dir_all(folder).with_context(|| format!("cannot remove {}", folder.display()))?;
    say("installed, removed and purged in a folder")
}
