//! The dependencies that the workspace's manifest lists: packages depend on each, and `docs/dependencies.md` has the external ones.
//!
//! Dependencies of a package that its code does not use are found by `cargo xtask machete`.

use std::{collections::BTreeSet, path::Path};

use anyhow::{Context, Result};

use crate::tidy;

/// The table of external dependencies.
const DOCUMENT: &str = "docs/dependencies.md";

/// Dependencies that no package declares, and differences from the table.
pub(crate) fn faults(root: &Path) -> Result<Vec<String>> {
    let workspace = manifest(root)?;
    let document = std::fs::read_to_string(root.join(DOCUMENT)).with_context(|| format!("cannot read {DOCUMENT}"))?;
    let mut found = undocumented(&workspace, &document);
    let mut packages = Vec::new();
    for folder in tidy::packages(root)?.into_iter().chain([root.join("tests")]) {
        packages.push(manifest(&folder)?);
    }
    found.extend(undeclared(&workspace, &packages));
    Ok(found)
}

/// External dependencies of the workspace that no package declares.
fn undeclared(workspace: &toml::Table, packages: &[toml::Table]) -> Vec<String> {
    let declared: BTreeSet<&String> = packages.iter().flat_map(declared).collect();
    let table = workspace["workspace"].get("dependencies").and_then(toml::Value::as_table);
    let names = table.into_iter().flat_map(|table| table.keys());
    let unused = names.filter(|name| !declared.contains(name) && !tidy::is_own(name));
    unused.map(|name| format!("Cargo.toml: no package of the workspace depends on {name}")).collect()
}

/// Dependencies of all kinds, including those of single platforms.
fn declared(manifest: &toml::Table) -> impl Iterator<Item = &String> {
    let platforms = manifest.get("target").and_then(toml::Value::as_table);
    let platforms = platforms.into_iter().flat_map(|table| table.values()).filter_map(toml::Value::as_table);
    let kinds = ["dependencies", "dev-dependencies", "build-dependencies"];
    let tables = std::iter::once(manifest).chain(platforms).flat_map(move |table| kinds.map(|kind| table.get(kind)));
    tables.flatten().filter_map(toml::Value::as_table).flat_map(|table| table.keys())
}

fn manifest(folder: &Path) -> Result<toml::Table> {
    let path = folder.join("Cargo.toml");
    let text = std::fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    text.parse().with_context(|| format!("cannot parse {}", path.display()))
}

/// Differences between the workspace's external dependencies and the table of `docs/dependencies.md`.
fn undocumented(workspace: &toml::Table, document: &str) -> Vec<String> {
    // The crates are in the second column, in backticks.
    let rows = document.lines().filter_map(|line| line.strip_prefix('|')?.split('|').nth(1));
    let listed: BTreeSet<&str> = rows.flat_map(|crates| crates.split('`').skip(1).step_by(2)).collect();
    let table = workspace["workspace"].get("dependencies").and_then(toml::Value::as_table);
    let external: BTreeSet<&str> = table
        .into_iter()
        .flatten()
        .filter(|(name, _)| !tidy::is_own(name))
        .map(|(name, value)| value.get("package").and_then(toml::Value::as_str).unwrap_or(name))
        .collect();
    let missing = external.difference(&listed).map(|name| format!("{DOCUMENT}: {name} is missing"));
    let unknown = listed.difference(&external).map(|name| format!("{DOCUMENT}: {name} is not a dependency"));
    missing.chain(unknown).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dependencies_are_documented() {
        let workspace: toml::Table = "[workspace.dependencies]\nsvc-x.path = \"x\"\nurl = \"2\"\nserde = \"1\"\n\
             exif = { package = \"kamadak-exif\", version = \"1\" }"
            .parse()
            .unwrap();
        let document =
            "| purpose | crates | reason |\n|---|---|---|\n| a | `url`, `kamadak-exif`, `old` | `not this` |\n";
        assert_eq!(
            undocumented(&workspace, document),
            ["docs/dependencies.md: serde is missing", "docs/dependencies.md: old is not a dependency"]
        );
    }
    #[test]
    fn dependencies_are_declared() {
        let table = |text: &str| text.parse::<toml::Table>().unwrap();
        let workspace =
            table("[workspace.dependencies]\nurl = \"2\"\nserde = \"1\"\nrustix = \"1\"\nsvc-x.path = \"x\"");
        let package = table("[dev-dependencies]\nurl = \"2\"\n[target.'cfg(unix)'.dependencies]\nrustix = \"1\"");
        assert_eq!(undeclared(&workspace, &[package]), ["Cargo.toml: no package of the workspace depends on serde"]);
    }
}
