//! `cargo xtask bench micro`: runs the benchmarks of the workspace. Each prints its baseline.

use anyhow::{Context, Result, bail};
use xtask_support::{cargo, root, run as run_command, say};

pub(super) fn run(wanted: &[String]) -> Result<()> {
    let mut benches = Vec::new();
    for entry in std::fs::read_dir(root()?.join("crates")).context("cannot list crates/")? {
        let folder = entry?.path();
        let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let Ok(files) = std::fs::read_dir(folder.join("benches")) else { continue };
        for file in files {
            let path = file?.path();
            if let (Some(stem), true) = (path.file_stem(), path.extension().is_some_and(|e| e == "rs")) {
                benches.push((name.clone(), stem.to_string_lossy().into_owned()));
            }
        }
    }
    benches.sort();
    benches.retain(|(name, bench)| wanted.is_empty() || wanted.iter().any(|w| w == name || w == bench));
    if benches.is_empty() {
        bail!("no benchmark has this name");
    }
    for (name, bench) in &benches {
        say(&format!("== {name}: {bench}"))?;
        run_command(cargo()?.args(["bench", "--package", name, "--bench", bench]))?;
    }
    Ok(())
}
