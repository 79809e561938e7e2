//! Dependencies that are declared and not used, found by a search of the source text.
//!
//! A dependency is used where its name begins a path (`serde_json::Value`) or is imported. Dependencies of the library and
//! the binary must occur in code below `src`; development dependencies anywhere in the package, including documentation.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result};

use crate::{
    rust_source::{Kind, pieces},
    tidy,
};

/// Dependencies that no code names: package, dependency, reason.
#[rustfmt::skip]
const UNNAMED: &[(&str, &str, &str)] = &[
    ("svc-http", "svc-brand", "the demo of svc-routing, which a test includes, uses it"),
    ("svc-tests", "svc-text", "the example extension, which a test includes, uses it"),
    ("svc-packages", "flate2", "selects the decoder of zip"),
    ("xtask", "flate2", "selects the encoder of zip"),
    ("svc-media", "reqwest", "selects the TLS features of object_store's client"),
];

/// Dependencies whose library has another name than the package.
const LIBRARY_NAMES: &[(&str, &str)] = &[("md-5", "md5")];

/// The table of external dependencies.
const DOCUMENT: &str = "docs/dependencies.md";

/// Faults of all packages of the workspace.
pub(crate) fn faults(root: &Path) -> Result<Vec<String>> {
    let mut folders = tidy::packages(root)?;
    folders.push(root.join("tests"));
    let mut found = Vec::new();
    let mut declared = BTreeSet::new();
    for folder in &folders {
        let manifest = manifest(folder)?;
        let (library, whole) = (sources(folder, &folders, Part::Library)?, sources(folder, &folders, Part::Whole)?);
        found.extend(unused(&manifest, &library, &whole));
        declared.extend(names(&manifest, "dependencies"));
        declared.extend(names(&manifest, "dev-dependencies"));
        declared.extend(names(&manifest, "build-dependencies"));
    }
    let workspace = manifest(root)?;
    let documented = std::fs::read_to_string(root.join(DOCUMENT)).with_context(|| format!("cannot read {DOCUMENT}"))?;
    found.extend(undocumented(&workspace, &documented));
    for name in
        workspace["workspace"].get("dependencies").and_then(toml::Value::as_table).into_iter().flat_map(|t| t.keys())
    {
        if !declared.contains(name) && !tidy::is_own(name) {
            found.push(format!("Cargo.toml: no package of the workspace depends on {name}"));
        }
    }
    Ok(found)
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

fn manifest(folder: &Path) -> Result<toml::Table> {
    let path = folder.join("Cargo.toml");
    let text = std::fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    text.parse().with_context(|| format!("cannot parse {}", path.display()))
}

/// Dependencies of a kind, including those of single platforms.
fn names(manifest: &toml::Table, section: &str) -> Vec<String> {
    let targets = manifest.get("target").and_then(toml::Value::as_table);
    let targets = targets.into_iter().flat_map(|t| t.values()).filter_map(|t| t.get(section));
    let tables = manifest.get(section).into_iter().chain(targets);
    tables.filter_map(toml::Value::as_table).flat_map(|t| t.keys().cloned()).collect()
}

/// Which text of a package is searched.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    /// Code of the library and the binaries, without comments and string literals.
    Library,
    /// Everything, with documentation and README, whose examples are tests.
    Whole,
}

/// The text of a package, without that of the packages below it, which are searched on their own.
fn sources(folder: &Path, packages: &[PathBuf], part: Part) -> Result<String> {
    const APART: [&str; 3] = ["tests", "benches", "examples"];
    let mut text = String::new();
    let mut waiting = vec![folder.to_owned()];
    while let Some(inner) = waiting.pop() {
        for path in entries(&inner)? {
            let name = path.file_name().and_then(|n| n.to_str()).unwrap_or_default();
            if path.is_dir() {
                let skipped = part == Part::Library && inner == folder && APART.contains(&name);
                if !skipped && name != "target" && !packages.contains(&path) {
                    waiting.push(path);
                }
            } else if name.ends_with(".rs") || part == Part::Whole && name == "README.md" {
                let file = std::fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
                match part {
                    Part::Whole => text.push_str(&file),
                    Part::Library => {
                        text.extend(pieces(&file).into_iter().filter(|p| p.kind == Kind::Code).map(|p| p.text + " "));
                    }
                }
            }
        }
    }
    Ok(text)
}

fn entries(folder: &Path) -> Result<Vec<PathBuf>> {
    let list = std::fs::read_dir(folder).with_context(|| format!("cannot list {}", folder.display()))?;
    list.map(|entry| Ok(entry?.path())).collect()
}

fn unused(manifest: &toml::Table, library: &str, whole: &str) -> Vec<String> {
    let package = manifest["package"]["name"].as_str().unwrap_or_default();
    let mut found = Vec::new();
    for (section, text) in [("dependencies", library), ("build-dependencies", whole), ("dev-dependencies", whole)] {
        for name in names(manifest, section) {
            let listed = UNNAMED.iter().any(|(p, n, _)| *p == package && *n == name);
            let library = LIBRARY_NAMES.iter().find(|(n, _)| *n == name).map_or(name.as_str(), |(_, library)| library);
            match (listed, is_named(text, &library.replace('-', "_"))) {
                (false, false) => found.push(format!("{package}: the code does not use {name}, of its {section}")),
                (true, true) => found.push(format!("{package}: uses {name}; remove it from xtask/src/deps.rs")),
                _ => {}
            }
        }
    }
    found
}

/// Whether the code has a path that begins with this crate, or imports it.
fn is_named(text: &str, name: &str) -> bool {
    let is_part = |c: char| c == '_' || c.is_alphanumeric();
    text.match_indices(name).any(|(at, _)| {
        let (before, after) = (&text[..at], &text[at + name.len()..]);
        if before.ends_with(is_part) || after.starts_with(is_part) {
            return false;
        }
        let (before, after) = (before.trim_end(), after.trim_start());
        // `crate::url::Url` and `self.http` name something else; `::serde` names the crate.
        let inside =
            before.ends_with('.') || before.strip_suffix("::").is_some_and(|b| b.ends_with(|c| is_part(c) || c == '>'));
        let imported = before.ends_with("use") && (after.starts_with(';') || after.starts_with("as "));
        imported || !inside && after.starts_with("::")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_paths_and_imports() {
        for (code, named) in [
            ("use url::Url;", true),
            ("use url;", true),
            ("use url as u;", true),
            ("let u = url::Url::parse(x);", true),
            ("::url::Url", true),
            ("use crate::url::Url;", false),
            ("let url = 1;", false),
            ("site.url", false),
            ("my_url::Url", false),
            ("url_of::x", false),
            ("#[derive(url::X)]", true),
        ] {
            assert_eq!(is_named(code, "url"), named, "{code}");
        }
    }

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
    fn unused_dependency_is_a_fault() {
        let manifest: toml::Table = "[package]\nname = \"svc-x\"\n[dependencies]\nserde-json = \"1\"\nurl = \"2\"\n\
             [dev-dependencies]\nproptest = \"1\"\n[target.'cfg(unix)'.dependencies]\nrustix = \"1\""
            .parse()
            .unwrap();
        let library = "use serde_json::Value; ";
        assert_eq!(
            unused(&manifest, library, "proptest::x rustix::y"),
            [
                "svc-x: the code does not use url, of its dependencies",
                "svc-x: the code does not use rustix, of its dependencies",
            ]
        );
    }
}
