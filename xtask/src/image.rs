//! `cargo xtask image`: writes an image for containers as an OCI archive, without a registry, a daemon or a base image.
//!
//! The only layer has the program, the libraries that it is linked with, certificates of authorities, a user, and the data folder.
//! There is no shell.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use xtask_support::{
    block_editor, root, run as run_command, say,
    server::{Server, send},
};

use crate::dist;

/// The largest image, in bytes.
const MAX_SIZE: u64 = 60 << 20;

/// User and group of the server.
const USER: &str = "10001";

/// The data folder.
const DATA: &str = "var/lib/svc";

/// Where the program is.
const PROGRAM: &str = "usr/bin/svc-server";

/// Certificates of authorities on the machine that builds the image.
const CERTIFICATES: &str = "etc/ssl/certs/ca-certificates.crt";

/// Writes `target/dist/svc-server-VERSION-ARCHITECTURE.oci.tar`, and runs it with `--check`.
pub(crate) fn run(options: &Options) -> Result<()> {
    let program = match &options.program {
        Some(program) => program.clone(),
        None => dist::build_host(options.debug)?,
    };
    let folder = root()?.join("target/dist");
    let work = folder.join("image");
    drop(fs::remove_dir_all(&work));
    let files = work.join("root");
    fill(&files, &program)?;
    block_editor::require_none(&files)?;
    let layer = work.join("layer.tar");
    pack(&files, &layer)?;
    let name = format!("svc-server-{}-{}.oci.tar", env!("CARGO_PKG_VERSION"), architecture());
    let image = folder.join(name);
    write(&work.join("oci"), &layer, &image)?;
    let size = fs::metadata(&image).with_context(|| format!("cannot read {}", image.display()))?.len();
    ensure!(options.debug || size <= MAX_SIZE, "{} has {size} bytes, more than {MAX_SIZE}", image.display());
    if options.check {
        check(&image, &work)?;
    }
    fs::remove_dir_all(&work).with_context(|| format!("cannot remove {}", work.display()))?;
    say(&format!("{} ({size} bytes)", image.display()))
}

/// Arguments of the task.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Build without optimization.
    #[arg(long)]
    debug: bool,
    /// Pack this program instead of building one.
    #[arg(long, value_name = "FILE")]
    program: Option<PathBuf>,
    /// Unpack the image and run it with bubblewrap, on a root that cannot be written.
    #[arg(long)]
    check: bool,
}

/// The name of this machine's architecture in images.
fn architecture() -> &'static str {
    match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    }
}

/// Writes the files of the image.
fn fill(files: &Path, program: &Path) -> Result<()> {
    let copy = |from: &Path, inside: &str| {
        let to = files.join(inside);
        fs::create_dir_all(to.parent().unwrap_or(files))?;
        fs::copy(from, &to).map(drop).with_context(|| format!("cannot copy {}", from.display()))
    };
    copy(program, PROGRAM)?;
    // Sections for debuggers are a third of the file.
    run_command(Command::new("strip").arg(files.join(PROGRAM)))?;
    for library in libraries(program)? {
        copy(&library, library.to_string_lossy().trim_start_matches('/'))?;
    }
    let certificates = Path::new("/").join(CERTIFICATES);
    if certificates.is_file() {
        copy(&certificates, CERTIFICATES)?;
    }
    for (name, text) in [
        ("etc/passwd", format!("svc:x:{USER}:{USER}:svc:/{DATA}:/sbin/nologin\n")),
        ("etc/group", format!("svc:x:{USER}:\n")),
    ] {
        let path = files.join(name);
        fs::create_dir_all(path.parent().unwrap_or(files))?;
        fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
    }
    // A runtime mounts some of them, and cannot create them on a root that cannot be written.
    for name in ["tmp", "proc", "dev", "sys", DATA] {
        fs::create_dir_all(files.join(name)).with_context(|| format!("cannot create {name}"))?;
    }
    Ok(())
}

/// The shared libraries of a program and its loader, which the loader itself lists.
fn libraries(program: &Path) -> Result<Vec<PathBuf>> {
    let output = Command::new("ldd").arg(program).output().context("cannot run ldd")?;
    let text = String::from_utf8_lossy(&output.stdout);
    // `libc.so.6 => /lib/…/libc.so.6 (0x…)`, `/lib64/ld-linux-x86-64.so.2 (0x…)`; the kernel's own has no file.
    let path = |line: &str| {
        let path = line.split_whitespace().find(|word| word.starts_with('/'))?;
        Some(PathBuf::from(path))
    };
    Ok(text.lines().filter_map(path).collect())
}

/// Packs the files, the same way each time.
fn pack(files: &Path, layer: &Path) -> Result<()> {
    let tar = |what: &str, owner: &str, mode: &str, names: &[&str]| {
        let mut tar = Command::new("tar");
        tar.arg(what).arg(layer).arg("-C").arg(files).args(["--format=ustar", "--sort=name", "--mtime=@0"]);
        tar.args([
            "--numeric-owner",
            &format!("--owner={owner}"),
            &format!("--group={owner}"),
            &format!("--mode={mode}"),
        ]);
        run_command(tar.args(names))
    };
    let mut names: Vec<String> = Vec::new();
    for entry in fs::read_dir(files).context("cannot list the files")? {
        names.push(entry?.file_name().to_string_lossy().into_owned());
    }
    names.retain(|name| !["tmp", "var"].contains(&&**name));
    names.sort_unstable();
    tar("-cf", "0", "u=rwX,go=rX", &names.iter().map(String::as_str).collect::<Vec<_>>())?;
    tar("-rf", "0", "1777", &["tmp"])?;
    tar("-rf", "0", "0755", &["--no-recursion", "var", "var/lib"])?;
    tar("-rf", USER, "0750", &[DATA])
}

/// Writes the archive of an image with one layer.
fn write(folder: &Path, layer: &Path, image: &Path) -> Result<()> {
    let blobs = folder.join("blobs/sha256");
    fs::create_dir_all(&blobs).with_context(|| format!("cannot create {}", blobs.display()))?;
    let unpacked = fs::read(layer).context("cannot read the layer")?;
    run_command(Command::new("gzip").args(["-9nk"]).arg(layer))?;
    let packed = fs::read(layer.with_extension("tar.gz")).context("cannot read the compressed layer")?;
    let put = |bytes: &[u8]| {
        let digest = digest(bytes);
        fs::write(blobs.join(&digest), bytes).context("cannot write a blob").map(|()| (digest, bytes.len()))
    };
    let (layer, layer_size) = put(&packed)?;
    let (config, config_size) = put(config(&digest(&unpacked)).to_string().as_bytes())?;
    let manifest = json!({
        "schemaVersion": 2,
        "mediaType": "application/vnd.oci.image.manifest.v1+json",
        "config": {
            "mediaType": "application/vnd.oci.image.config.v1+json",
            "digest": format!("sha256:{config}"),
            "size": config_size,
        },
        "layers": [{
            "mediaType": "application/vnd.oci.image.layer.v1.tar+gzip",
            "digest": format!("sha256:{layer}"),
            "size": layer_size,
        }],
    });
    let (manifest, manifest_size) = put(manifest.to_string().as_bytes())?;
    let version = env!("CARGO_PKG_VERSION");
    let index = json!({
        "schemaVersion": 2,
        "mediaType": "application/vnd.oci.image.index.v1+json",
        "manifests": [{
            "mediaType": "application/vnd.oci.image.manifest.v1+json",
            "digest": format!("sha256:{manifest}"),
            "size": manifest_size,
            "platform": {"architecture": architecture(), "os": "linux"},
            "annotations": {
                "org.opencontainers.image.ref.name": version,
                // The name under which `docker load` and containerd import it.
                "io.containerd.image.name": format!("docker.io/library/svc-server:{version}"),
            },
        }],
    });
    // Docker before version 25 reads this file instead.
    let docker = json!([{
        "Config": format!("blobs/sha256/{config}"),
        "RepoTags": [format!("svc-server:{version}")],
        "Layers": [format!("blobs/sha256/{layer}")],
    }]);
    for (name, value) in
        [("oci-layout", json!({"imageLayoutVersion": "1.0.0"})), ("index.json", index), ("manifest.json", docker)]
    {
        fs::write(folder.join(name), value.to_string()).with_context(|| format!("cannot write {name}"))?;
    }
    let mut tar = Command::new("tar");
    tar.arg("-cf").arg(image).arg("-C").arg(folder);
    tar.args(["--format=ustar", "--sort=name", "--mtime=@0", "--numeric-owner", "--owner=0", "--group=0"]);
    run_command(tar.args(["oci-layout", "index.json", "manifest.json", "blobs"]))
}

/// How the image is run, and what describes it.
fn config(layer: &str) -> Value {
    json!({
        "architecture": architecture(),
        "os": "linux",
        "config": {
            "User": format!("{USER}:{USER}"),
            "Entrypoint": [format!("/{PROGRAM}")],
            "Cmd": ["serve"],
            "Env": [
                "PATH=/usr/bin",
                format!("SVC_DATA=/{DATA}"),
                "SVC_LISTEN=0.0.0.0:8080",
                format!("SSL_CERT_FILE=/{CERTIFICATES}"),
            ],
            "WorkingDir": format!("/{DATA}"),
            "Volumes": {format!("/{DATA}"): {}},
            "ExposedPorts": {"8080/tcp": {}},
            "StopSignal": "SIGTERM",
            "Labels": {
                "org.opencontainers.image.title": "svc-server",
                "org.opencontainers.image.description": "A content server with a WordPress-compatible REST API",
                "org.opencontainers.image.version": env!("CARGO_PKG_VERSION"),
                "org.opencontainers.image.licenses": env!("CARGO_PKG_LICENSE"),
            },
        },
        "rootfs": {"type": "layers", "diff_ids": [format!("sha256:{layer}")]},
    })
}

fn digest(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Reads the archive as a runtime does, and runs the image as its user, with a root that cannot be written.
fn check(image: &Path, work: &Path) -> Result<()> {
    let (oci, files, data) = (work.join("read"), work.join("run"), work.join("data"));
    for folder in [&oci, &files, &data] {
        fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
    }
    run_command(Command::new("tar").arg("-xf").arg(image).arg("-C").arg(&oci))?;
    let blob = |descriptor: &Value| -> Result<Vec<u8>> {
        let name = descriptor["digest"].as_str().and_then(|d| d.strip_prefix("sha256:")).context("no digest")?;
        let bytes = fs::read(oci.join("blobs/sha256").join(name)).context("a blob is missing")?;
        ensure!(digest(&bytes) == name, "the blob {name} has another digest");
        ensure!(descriptor["size"].as_u64() == Some(bytes.len() as u64), "the blob {name} has another size");
        Ok(bytes)
    };
    let index: Value = serde_json::from_slice(&fs::read(oci.join("index.json")).context("no index")?)?;
    let manifest: Value = serde_json::from_slice(&blob(&index["manifests"][0])?)?;
    let config: Value = serde_json::from_slice(&blob(&manifest["config"])?)?;
    let layer = work.join("read.tar.gz");
    fs::write(&layer, blob(&manifest["layers"][0])?).context("cannot write the layer")?;
    run_command(Command::new("tar").arg("-xzf").arg(&layer).arg("-C").arg(&files))?;
    ensure!(!files.join("bin/sh").exists() && !files.join("usr/bin/sh").exists(), "the image has a shell");
    let texts = |value: &Value| -> Vec<String> {
        value.as_array().into_iter().flatten().filter_map(|v| v.as_str().map(str::to_owned)).collect()
    };
    let run = |args: &[&str]| {
        let mut bwrap = Command::new("bwrap");
        bwrap.args(["--unshare-all", "--share-net", "--die-with-parent", "--clearenv", "--uid", USER, "--gid", USER]);
        bwrap.arg("--ro-bind").arg(&files).args(["/", "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp", "--bind"]);
        bwrap.arg(&data).arg(format!("/{DATA}")).args(["--chdir", &format!("/{DATA}")]);
        for variable in texts(&config["config"]["Env"]) {
            let (name, value) = variable.split_once('=').unwrap_or_default();
            bwrap.args(["--setenv", name, value]);
        }
        bwrap.args(texts(&config["config"]["Entrypoint"])).args(args);
        bwrap
    };
    let output = run(&["--version"]).output().context("cannot run bwrap (bubblewrap)")?;
    let version = String::from_utf8_lossy(&output.stdout).into_owned();
    ensure!(version.contains(env!("CARGO_PKG_VERSION")), "{version}{}", String::from_utf8_lossy(&output.stderr));
    let server = Server::start(run(&["serve", "--listen", "127.0.0.1:0"]), &work.join("log"))?;
    for path in ["/readyz", "/svc-json/svc/v2/posts"] {
        let response = send(server.address(), "GET", path, "", None)?;
        ensure!(response.status == 200, "{path}: {}", response.status);
    }
    drop(server);
    ensure!(data.join("site.db").is_file(), "the site is not in the data folder");
    say(&format!("runs as user {USER} on a root that cannot be written: {}", version.trim()))
}
