//! The folders of scenarios.

use std::path::PathBuf;

use anyhow::{Result, bail};
use xtask_support::{root, say};

use crate::{
    options::Options,
    scenario::{self, Scenario},
};

/// The folder with the project's own scenarios, recordings and assets, and the recorded site.
pub(crate) fn own_folder() -> Result<PathBuf> {
    Ok(root()?.join("tests/conformance"))
}

/// The folders with scenarios: the one next to the project, where it is present, and the project's own.
pub(crate) fn folders(options: &Options) -> Result<Vec<PathBuf>> {
    let shared = options.shared.clone().map_or_else(|| Ok(root()?.join("../shared")), anyhow::Ok)?;
    let shared_scenarios = shared.join("conformance/http");
    let mut folders = Vec::new();
    if shared_scenarios.join("scenarios").is_dir() {
        folders.push(shared_scenarios);
    } else {
        say(&format!("only the project's own scenarios: {} has none", shared.display()))?;
    }
    folders.push(own_folder()?);
    Ok(folders)
}

/// The folders with the files that steps send.
pub(crate) fn asset_folders(folders: &[PathBuf]) -> Vec<PathBuf> {
    folders.iter().map(|folder| folder.join("assets")).collect()
}

/// The scenarios of the wanted names, all without names.
pub(crate) fn scenarios(folders: &[PathBuf], options: &Options) -> Result<Vec<Scenario>> {
    let wanted = &options.scenarios;
    let mut all: Vec<Scenario> = Vec::new();
    for folder in folders {
        all.extend(scenario::in_folder(folder)?);
    }
    if let Some(unknown) = wanted.iter().find(|w| !all.iter().any(|s| s.name == **w)) {
        bail!("there is no scenario `{unknown}`");
    }
    all.retain(|s| wanted.is_empty() || wanted.contains(&s.name));
    if let Some(recordings) = &options.recordings {
        all.iter_mut().for_each(|scenario| scenario.recordings.clone_from(recordings));
    }
    Ok(all)
}
