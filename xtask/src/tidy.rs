//! `cargo xtask tidy`: rules that the compiler does not check, for layers, imports, manifests and files.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use xtask_support::root;

use crate::{cycles, deps, families};

/// The longest source file, in lines.
const FILE_LIMIT: usize = 800;

/// The crates of the workspace, lowest first, each with those that it may depend on. Those for tests and tasks are last; `xtask`
/// depends on no crate of the site, so that a check such as `fmt` does not compile it.
#[rustfmt::skip]
const LAYERS: &[(&str, &[&str])] = &[
    ("svc-traces", &[]),
    ("svc-metrics", &[]),
    ("svc-files", &[]),
    ("svc-versions", &[]),
    ("svc-brand", &[]),
    ("svc-php", &[]),
    ("svc-text", &[]),
    ("svc-schema", &["svc-php", "svc-text"]),
    ("svc-routing", &["svc-traces", "svc-metrics", "svc-versions", "svc-brand", "svc-php", "svc-schema"]),
    ("svc-openapi", &["svc-schema", "svc-routing"]),
    ("svc-resource", &["svc-php", "svc-schema", "svc-routing"]),
    ("svc-model", &[]),
    ("svc-permalinks", &["svc-text"]),
    ("svc-discovery", &["svc-brand", "svc-text", "svc-permalinks"]),
    ("svc-auth", &["svc-brand", "svc-model"]),
    ("svc-content", &["svc-php", "svc-text"]),
    ("svc-blocks", &["svc-php", "svc-text", "svc-schema", "svc-model", "svc-content"]),
    ("svc-search", &["svc-files"]),
    ("svc-db", &["svc-traces", "svc-metrics", "svc-files", "svc-versions"]),
    ("svc-wxr", &[]),
    ("svc-outbox", &["svc-db"]),
    ("svc-backup", &["svc-metrics", "svc-files", "svc-db"]),
    ("svc-store", &["svc-metrics", "svc-versions", "svc-db", "svc-search", "svc-php", "svc-text", "svc-model"]),
    ("svc-fetch", &["svc-traces"]),
    ("svc-packages", &["svc-php", "svc-text", "svc-content"]),
    ("svc-new-site", &["svc-files", "svc-model", "svc-auth", "svc-store", "svc-packages"]),
    ("svc-media", &["svc-files", "svc-text"]),
    ("svc-mail", &["svc-text", "svc-auth"]),
    ("svc-site", &["svc-traces", "svc-metrics", "svc-files", "svc-versions", "svc-brand", "svc-php", "svc-text", "svc-schema", "svc-routing", "svc-model",
                   "svc-permalinks", "svc-auth", "svc-content", "svc-outbox", "svc-store", "svc-fetch", "svc-packages", "svc-media", "svc-wxr", "svc-mail"]),
    ("svc-events", &["svc-versions", "svc-schema", "svc-model", "svc-auth", "svc-fetch", "svc-store", "svc-outbox", "svc-site"]),
    ("svc-render", &["svc-traces", "svc-versions", "svc-php", "svc-text", "svc-schema", "svc-model", "svc-permalinks", "svc-auth",
                     "svc-content", "svc-blocks", "svc-store", "svc-fetch", "svc-packages", "svc-media", "svc-site"]),
    ("svc-controllers", &["svc-files", "svc-versions", "svc-brand", "svc-php", "svc-text", "svc-schema", "svc-routing", "svc-model",
                   "svc-permalinks", "svc-auth", "svc-content", "svc-blocks", "svc-store", "svc-fetch", "svc-packages", "svc-media",
                          "svc-resource", "svc-outbox", "svc-site", "svc-events", "svc-render"]),
    ("svc-registrations", &["svc-schema", "svc-model", "svc-auth", "svc-fetch", "svc-site", "svc-controllers"]),
    ("svc-http", &["svc-traces", "svc-metrics", "svc-versions", "svc-php", "svc-text", "svc-schema", "svc-routing"]),
    ("svc-listen", &["svc-traces"]),
    ("svc-certificates", &[]),
    ("svc-gateway", &["svc-traces"]),
    ("svc-bridge", &["svc-versions", "svc-routing", "svc-gateway"]),
    ("svc-login", &["svc-metrics", "svc-versions", "svc-site", "svc-php", "svc-text", "svc-schema", "svc-routing", "svc-model", "svc-auth",
                    "svc-store", "svc-new-site", "svc-http", "svc-listen"]),
    ("svc-pages", &["svc-traces", "svc-versions", "svc-brand", "svc-site", "svc-render", "svc-php", "svc-text", "svc-schema", "svc-routing", "svc-model", "svc-permalinks", "svc-discovery", "svc-auth", "svc-blocks", "svc-store",
                    "svc-packages", "svc-media", "svc-http", "svc-login"]),
    ("svc-admin", &["svc-metrics", "svc-brand", "svc-model", "svc-auth", "svc-content", "svc-text", "svc-schema", "svc-routing", "svc-site", "svc-packages", "svc-http", "svc-login"]),
    ("svc-monitoring", &["svc-traces", "svc-metrics", "svc-versions", "svc-backup", "svc-store", "svc-site", "svc-http", "svc-listen", "svc-bridge", "svc-login"]),
    ("svc-otlp", &["svc-traces", "svc-fetch"]),
    ("svc-wp-config", &[]),
    ("svc-config", &["svc-files", "svc-auth", "svc-backup", "svc-brand", "svc-bridge", "svc-certificates", "svc-events", "svc-fetch", "svc-gateway", "svc-listen", "svc-login", "svc-mail",
                     "svc-monitoring", "svc-packages", "svc-registrations", "svc-wp-config"]),
    ("svc-server", &["svc-traces", "svc-brand", "svc-config", "svc-certificates", "svc-metrics", "svc-files", "svc-versions", "svc-site", "svc-render", "svc-php", "svc-text", "svc-schema", "svc-routing",
                     "svc-openapi", "svc-model", "svc-auth", "svc-backup", "svc-store", "svc-packages", "svc-media",
                     "svc-controllers", "svc-registrations", "svc-new-site", "svc-http", "svc-listen", "svc-gateway", "svc-bridge", "svc-login", "svc-admin", "svc-pages",
                     "svc-mail", "svc-outbox", "svc-monitoring", "svc-otlp", "svc-events"]),
    ("svc-test-databases", &[]),
    ("svc-testkit", &["svc-test-databases", "svc-text", "svc-php", "svc-schema", "svc-content", "svc-auth", "svc-routing",
                      "svc-discovery", "svc-permalinks", "svc-model", "svc-blocks", "svc-controllers", "svc-brand", "svc-store"]),
    ("xtask-support", &[]),
    ("xtask", &["xtask-support"]),
    ("xtask-bench", &["xtask-support", "svc-brand", "svc-bridge", "svc-test-databases"]),
    ("xtask-conformance", &["xtask-support", "svc-test-databases"]),
    ("xtask-crash", &["xtask-support", "svc-brand", "svc-backup", "svc-db", "svc-model", "svc-store", "svc-test-databases"]),
    ("xtask-live", &["xtask-support", "svc-brand", "svc-test-databases"]),
    ("xtask-stress", &["xtask-support", "xtask-bench", "svc-brand", "svc-test-databases"]),
    ("xtask-vectors", &["xtask-support", "svc-testkit"]),
];

/// External crates that only some crates of the site may depend on, with the reason.
#[rustfmt::skip]
const RESERVED: &[(&[&str], &[&str], &str)] = &[
    (&["rusqlite"], &["svc-db"], "databases belong to svc-db"),
    (&["sea-query"], &["svc-db", "svc-store", "svc-outbox"], "SQL belongs to the store"),
    (&["mysql"], &["svc-db", "svc-bridge"], "databases belong to svc-db, and the bridge reads the news of writes of a WordPress"),
    (&["axum", "hyper", "hyper-util", "tower", "tower-http"], &["svc-http", "svc-listen", "svc-gateway", "svc-bridge", "svc-login", "svc-admin", "svc-pages", "svc-monitoring", "svc-server"], "HTTP servers belong to these crates"),
    (&["tokio"], &["svc-routing", "svc-db", "svc-events", "svc-backup", "svc-media", "svc-mail", "svc-controllers", "svc-site", "svc-render", "svc-http", "svc-listen", "svc-certificates", "svc-gateway", "svc-bridge", "svc-login", "svc-pages", "svc-monitoring", "svc-server", "svc-testkit"], "the other crates do no I/O"),
    (&["image"], &["svc-media"], "images are handled in one crate"),
    (&["object_store"], &["svc-media", "svc-backup"], "uploads and backups are stored as objects"),
    (&["anyhow"], &["svc-server", "svc-testkit", "svc-test-databases"], "libraries have typed errors"),
];

/// The files and folders at the top of the repository.
const TOP_LEVEL: [&str; 20] = [
    ".cargo",
    ".ci",
    ".github",
    ".gitignore",
    "CHANGELOG.md",
    "Cargo.lock",
    "Cargo.toml",
    "LICENSE-APACHE",
    "LICENSE-MIT",
    "README.md",
    "_typos.toml",
    "book.toml",
    "clippy.toml",
    "crates",
    "deny.toml",
    "docs",
    "rust-toolchain.toml",
    "rustfmt.toml",
    "tests",
    "xtask",
];

/// All rules.
pub(crate) fn check() -> Result<()> {
    let root = root()?;
    let mut faults = Vec::new();
    for folder in packages(&root)? {
        let manifest = folder.join("Cargo.toml");
        let text = std::fs::read_to_string(&manifest).with_context(|| format!("cannot read {}", manifest.display()))?;
        let table: toml::Table = text.parse().with_context(|| format!("cannot read {}", manifest.display()))?;
        faults.extend(manifest_faults(&table));
        faults.extend(undescribed(&table));
        let name = package_name(folder.strip_prefix(&root).unwrap_or(&folder));
        if table["package"]["name"].as_str() != Some(&name) {
            faults.push(format!("{}: this is not named {name}, after its folder", manifest.display()));
        }
    }
    for file in rust_files(&root)? {
        let text = std::fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))?;
        let shown = file.strip_prefix(&root).unwrap_or(&file).display().to_string();
        faults.extend(file_faults(&shown, &text));
    }
    let tracked =
        std::process::Command::new("git").args(["ls-tree", "--name-only", "HEAD"]).current_dir(&root).output();
    // An unpacked archive has no repository.
    if let Ok(tracked) = tracked {
        faults.extend(top_level_faults(&String::from_utf8_lossy(&tracked.stdout)));
    }
    faults.extend(deps::faults(&root)?);
    faults.extend(cycles::faults(&root)?);
    faults.extend(families::faults(&root)?);
    if faults.is_empty() { Ok(()) } else { bail!("{}", faults.join("\n")) }
}

/// The folders of the packages that have a layer: all but the integration tests.
pub(crate) fn packages(root: &Path) -> Result<Vec<PathBuf>> {
    let mut found = vec![root.join("xtask")];
    for parent in ["crates", "xtask"] {
        for entry in std::fs::read_dir(root.join(parent)).with_context(|| format!("cannot list {parent}/"))? {
            let folder = entry?.path();
            if parent == "crates" || folder.join("Cargo.toml").exists() {
                found.push(folder);
            }
        }
    }
    found.sort();
    Ok(found)
}

/// The name that the package of a folder must have.
fn package_name(folder: &Path) -> String {
    let name = folder.strip_prefix("crates").unwrap_or(folder).to_string_lossy();
    name.replace(std::path::MAIN_SEPARATOR, "-")
}

/// Names at the top of the repository that do not belong there.
fn top_level_faults(names: &str) -> Vec<String> {
    let other = names.lines().filter(|name| !TOP_LEVEL.contains(name));
    other.map(|name| format!("{name}: does not belong to the top of the repository")).collect()
}

/// Dependencies that the layer of a crate does not allow, and those that it allows without need.
fn manifest_faults(manifest: &toml::Table) -> Vec<String> {
    let name = manifest["package"]["name"].as_str().unwrap_or_default();
    let Some((_, allowed)) = LAYERS.iter().find(|(n, _)| *n == name) else {
        return vec![format!(
            "{name}: has no layer; add it to the table in xtask/src/tidy.rs and to the picture in docs/architecture.md"
        )];
    };
    let names = |section: &str| -> Vec<String> {
        manifest.get(section).and_then(|s| s.as_table()).map(|t| t.keys().cloned().collect()).unwrap_or_default()
    };
    let mut faults = Vec::new();
    let all_used = [names("dependencies"), names("build-dependencies")].concat();
    for layer in *allowed {
        if !all_used.iter().any(|used| used == layer) {
            faults.push(format!("{name}: does not depend on {layer}; remove that from its layer in xtask/src/tidy.rs"));
        }
    }
    for used in &all_used {
        if is_own(used) && !allowed.contains(&used.as_str()) {
            faults.push(format!("{name}: may not depend on {used}, which is not below it"));
        }
        if !name.starts_with("svc-") {
            continue;
        }
        for (reserved, users, why) in RESERVED {
            if reserved.contains(&used.as_str()) && !users.contains(&name) {
                faults.push(format!("{name}: may not depend on {used}: {why}"));
            }
        }
    }
    faults
}

/// What a published crate does not tell a reader of crates.io.
fn undescribed(manifest: &toml::Table) -> Vec<String> {
    let package = &manifest["package"];
    let name = package["name"].as_str().unwrap_or_default();
    if package.get("publish") == Some(&toml::Value::Boolean(false)) {
        return Vec::new();
    }
    let fields = ["description", "license", "repository", "readme", "keywords", "categories", "rust-version"];
    let missing = fields.iter().filter(|field| package.get(field).is_none());
    missing.map(|field| format!("{name}: is published and has no `{field}`")).collect()
}

/// Whether this is the name of a package of the workspace.
pub(crate) fn is_own(name: &str) -> bool {
    name.starts_with("svc-") || name.starts_with("xtask")
}

fn file_faults(name: &str, text: &str) -> Vec<String> {
    let mut faults = Vec::new();
    let lines = text.lines().count();
    if lines > FILE_LIMIT {
        faults.push(format!("{name}: {lines} lines, more than {FILE_LIMIT}; split the file"));
    }
    // Integration tests, examples and build scripts have a module comment as well. A crate may include its README instead.
    if !text.starts_with("//!") && !text.starts_with("#![doc = include_str!") {
        faults.push(format!("{name}: has no module comment (`//!`)"));
    }
    let production = text.split("#[cfg(test)]").next().unwrap_or_default();
    let is_library = name.starts_with("crates/") && name.contains("/src/") && !TEST_FILES.contains(&name);
    if is_library && ["thread_local!", "task_local!"].iter().any(|state| production.contains(state)) {
        faults.push(format!(
            "{name}: has state of a thread or task; pass it as an argument, or in the context of the request"
        ));
    }
    faults
}

/// Files of libraries that are compiled for their tests only.
const TEST_FILES: &[&str] = &["crates/svc-store/src/fixture.rs"];

/// The Rust files of the workspace.
pub(crate) fn rust_files(root: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut waiting: Vec<PathBuf> = ["crates", "tests", "xtask"].iter().map(|d| root.join(d)).collect();
    while let Some(folder) = waiting.pop() {
        for entry in std::fs::read_dir(&folder).with_context(|| format!("cannot list {}", folder.display()))? {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                if entry.file_name() != "target" {
                    waiting.push(entry.path());
                }
            } else if entry.path().extension().is_some_and(|e| e == "rs") {
                found.push(entry.path());
            }
        }
    }
    found.sort();
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(name: &str, uses: &str, faults: &[&str]) {
        let manifest = format!("[package]\nname = \"{name}\"\n[dependencies]\n{uses}");
        assert_eq!(manifest_faults(&manifest.parse().unwrap()), faults);
    }

    #[test]
    fn dependencies_must_be_in_a_lower_layer() {
        let (php, text) = ("svc-php.workspace = true\n", "svc-text.workspace = true\n");
        check("svc-schema", &format!("{php}{text}"), &[]);
        check(
            "svc-schema",
            &format!("{php}{text}svc-store = \"1\""),
            &["svc-schema: may not depend on svc-store, which is not below it"],
        );
        check("svc-model", "sea-query = \"1\"", &["svc-model: may not depend on sea-query: SQL belongs to the store"]);
        check("svc-model", "svc-testkit = \"1\"", &["svc-model: may not depend on svc-testkit, which is not below it"]);
        check("xtask-support", "mysql = \"1\"", &[]);
        let support = "xtask-support.workspace = true\n";
        check(
            "xtask",
            &format!("{support}svc-brand = \"1\""),
            &["xtask: may not depend on svc-brand, which is not below it"],
        );
        check(
            "svc-new",
            "",
            &[
                "svc-new: has no layer; add it to the table in xtask/src/tidy.rs and to the picture in docs/architecture.md",
            ],
        );
    }

    #[test]
    fn published_crates_are_described() {
        let manifest = |publish: &str| -> toml::Table {
            let fields =
                "description = \"\"\nlicense = \"\"\nrepository.workspace = true\nreadme = \"\"\ncategories = []";
            format!("[package]\nname = \"svc-x\"\nrust-version.workspace = true\n{fields}\n{publish}").parse().unwrap()
        };
        assert_eq!(undescribed(&manifest("publish.workspace = true")), ["svc-x: is published and has no `keywords`"]);
        assert_eq!(undescribed(&manifest("publish = false")), [] as [&str; 0]);
    }

    #[test]
    fn packages_are_named_after_their_folders() {
        for (folder, name) in [("crates/svc-x", "svc-x"), ("xtask", "xtask"), ("xtask/bench", "xtask-bench")] {
            assert_eq!(package_name(&folder.split('/').collect::<PathBuf>()), name);
        }
    }

    #[test]
    fn layers_allow_only_what_is_used() {
        check(
            "svc-schema",
            "svc-php.workspace = true",
            &["svc-schema: does not depend on svc-text; remove that from its layer in xtask/src/tidy.rs"],
        );
    }

    #[test]
    fn the_top_of_the_repository_is_fixed() {
        assert!(top_level_faults("Cargo.toml\ncrates\n").is_empty());
        assert_eq!(top_level_faults("crates\nout.log\n"), ["out.log: does not belong to the top of the repository"]);
    }

    #[test]
    fn files_are_short_and_have_a_module_comment() {
        assert!(file_faults("a.rs", "//! Text.\n").is_empty());
        assert_eq!(file_faults("a.rs", "fn f() {}\n").len(), 1);
        let hidden = "//! A.\nthread_local! { static A: () = (); }\n#[cfg(test)]\nmod tests {}\n";
        assert_eq!(file_faults("crates/svc-a/src/a.rs", hidden).len(), 1);
        assert_eq!(file_faults("crates/svc-a/tests/a.rs", hidden), [] as [&str; 0]);
        let in_tests = "//! A.\n#[cfg(test)]\nmod tests { thread_local! { static A: () = (); } }\n";
        assert_eq!(file_faults("crates/svc-a/src/a.rs", in_tests), [] as [&str; 0]);
        assert_eq!(file_faults("a.rs", &format!("//! Text.\n{}", "\n".repeat(FILE_LIMIT))).len(), 1);
    }

    #[test]
    fn the_picture_has_each_crate_of_the_site_above_those_that_it_uses() {
        let page = std::fs::read_to_string(root().unwrap().join("docs/architecture.md")).unwrap();
        let picture = page.split("```").find(|part| part.starts_with("text\n")).unwrap();
        let is_in_name = |c: char| c.is_ascii_alphanumeric() || c == '-';
        let line = |name: &str| {
            let line = picture.lines().position(|line| line.split(|c| !is_in_name(c)).any(|word| word == name));
            line.unwrap_or_else(|| panic!("{name} is missing"))
        };
        let tests = ["svc-testkit", "svc-test-databases"];
        for (name, uses) in LAYERS.iter().filter(|(name, _)| name.starts_with("svc-") && !tests.contains(name)) {
            for used in *uses {
                assert!(line(name) < line(used), "{name} is not above {used}");
            }
        }
    }

    #[test]
    fn layers_name_only_lower_layers() {
        for (i, (name, allowed)) in LAYERS.iter().enumerate() {
            for used in *allowed {
                assert!(LAYERS[..i].iter().any(|(n, _)| n == used), "{name} uses {used}");
            }
        }
    }
}
