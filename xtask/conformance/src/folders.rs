//! The folders of scenarios.

use std::path::PathBuf;

use anyhow::{Result, bail, ensure};
use xtask_support::{root, say};

use crate::{
    options::Options,
    scenario::{self, Scenario},
};

/// The folder with the project's own scenarios, recordings and assets, and the recorded site.
pub(crate) fn own_folder() -> Result<PathBuf> {
    Ok(root()?.join("tests/conformance"))
}

/// The folders with scenarios: the one of the options, if there is one, and the project's own.
pub(crate) fn folders(options: &Options) -> Result<Vec<PathBuf>> {
    let mut folders = Vec::new();
    match &options.shared {
        Some(shared) => {
            let scenarios = shared.join("conformance/http");
            ensure!(scenarios.join("scenarios").is_dir(), "{} has no scenarios", scenarios.display());
            folders.push(scenarios);
        }
        None => say("only the project's own scenarios: set SVC_SHARED to a folder with more")?,
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
