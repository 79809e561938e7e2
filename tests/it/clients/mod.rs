//! Unmodified clients by other authors, against a server with their brand.
//!
//! The clients are installed from the npm registry and are not part of the project. If Node.js or a client is not
//! available, the test reports that and passes, unless `SVC_NEED_CLIENTS` is set.

mod editor;

use std::{path::PathBuf, process::Command};

use crate::site::Site;

/// The pinned version of the client, and its directory.
const WPAPI: (&str, &str) = ("wpapi@1.2.2", "node_modules/wpapi");

/// Installs a client from the registry, once; returns its directory.
fn install((package, folder): (&str, &str)) -> Result<PathBuf, String> {
    let work = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("clients");
    let folder = work.join(folder);
    if folder.join("package.json").is_file() {
        return Ok(folder);
    }
    std::fs::create_dir_all(&work).map_err(|e| e.to_string())?;
    let mut npm = Command::new("npm");
    npm.args(["install", "--no-save", "--ignore-scripts", "--no-audit", "--no-fund", "--prefix"]);
    let done = npm.arg(&work).arg(package).output().map_err(|e| format!("npm: {e}"))?;
    if done.status.success() { Ok(folder) } else { Err(String::from_utf8_lossy(&done.stderr).into_owned()) }
}

/// The directory of a client; `None` if the test must be skipped.
fn client(which: (&str, &str)) -> Option<PathBuf> {
    let node = Command::new("node").arg("--version").output().map_err(|e| format!("node: {e}"));
    match node.and_then(|_| install(which)) {
        Ok(folder) => Some(folder),
        Err(why) => {
            skip(which.0, &why);
            None
        }
    }
}

/// Reports why something is not tested, or fails if skipping is not allowed.
fn skip(what: &str, why: &str) {
    assert!(std::env::var_os("SVC_NEED_CLIENTS").is_none(), "{what} is not tested: {why}");
    use std::io::Write;
    // The test harness does not capture this, so it is visible without `--nocapture`.
    let _seen = writeln!(std::io::stderr(), "skipped: {what} is not tested: {why}");
}

/// An image of a single pixel.
pub(crate) const DOT: &[u8] =
    b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x02\0\0\0\x90\x77\x53\xde\0\0\0\x0cIDAT\
    \x78\xda\x63\xf8\xcf\xc0\0\0\x03\x01\x01\0\xf7\x03\x41\x43\0\0\0\0IEND\xae\x42\x60\x82";

#[tokio::test(flavor = "multi_thread")]
async fn node_wpapi_works_unmodified() {
    let Some(library) = client(WPAPI) else { return };
    let folder = tempfile::tempdir().unwrap();
    let site = Site::start_in(folder, &svc_server::SiteBuilder::new(), &[("brand", "wp")]).await;
    let image = site.folder.path().join("dot.png");
    std::fs::write(&image, DOT).unwrap();
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/it/clients/wpapi.cjs");
    let mut node = Command::new("node");
    node.arg(script).arg(library).arg(format!("http://{}", site.address));
    node.arg(site.app_password()).arg(image);
    let done = tokio::task::spawn_blocking(move || node.output()).await.unwrap().unwrap();
    let output = format!("{}{}", String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr));
    assert!(done.status.success(), "{output}");
}
