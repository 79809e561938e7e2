//! The facts that decide what WordPress registers: active plugins, theme, roles, and the files that contain its code.

use std::{
    collections::HashMap,
    hash::{DefaultHasher, Hash as _, Hasher as _},
    io::Read as _,
    path::{Path, PathBuf},
    sync::Arc,
    time::SystemTime,
};

use svc_controllers::RestSite;

/// Options that decide registrations or the form of responses.
const OPTIONS: [&str; 12] = [
    "active_plugins",
    "stylesheet",
    "template",
    "permalink_structure",
    "category_base",
    "tag_base",
    "home",
    "siteurl",
    "WPLANG",
    "timezone_string",
    "gmt_offset",
    "db_version",
];

/// Maximum number of files that are watched.
const MAX_FILES: usize = 500;

/// Maximum number of bytes of a file that are compared.
const MAX_FILE: u64 = 4 << 20;

/// A snapshot of the facts. Two equal snapshots mean equal registrations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Facts {
    options: Vec<(String, Option<String>)>,
    /// Files with hashes of their contents.
    files: Vec<(PathBuf, u64)>,
}

/// Hashes of files, with the time and size at which they were computed.
#[derive(Debug, Default)]
pub(super) struct Files(HashMap<PathBuf, (SystemTime, u64, u64)>);

impl Files {
    /// The hash of a file's content; `None` if it cannot be read.
    fn hash(&mut self, path: &Path) -> Option<u64> {
        let metadata = std::fs::metadata(path).ok()?;
        let (modified, size) = (metadata.modified().ok()?, metadata.len());
        if let Some((_, _, hash)) = self.0.get(path).filter(|(at, length, _)| (*at, *length) == (modified, size)) {
            return Some(*hash);
        }
        let mut content = Vec::new();
        std::fs::File::open(path).ok()?.take(MAX_FILE).read_to_end(&mut content).ok()?;
        let mut hasher = DefaultHasher::new();
        hasher.write(&content);
        let hash = hasher.finish();
        self.0.insert(path.to_owned(), (modified, size, hash));
        Some(hash)
    }
}

impl Facts {
    /// Reads the facts. Blocks.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub(super) fn read(site: &Arc<RestSite>, known: &mut Files) -> Result<Self, svc_store::StoreError> {
        let roles = site.store.read(|db| Ok(format!("{}user_roles", db.prefix())))?;
        let names: Vec<&str> = OPTIONS.iter().copied().chain([roles.as_str()]).collect();
        let stored = site.store.read(|db| svc_store::options::get_many(db, &names))?;
        let options: Vec<(String, Option<String>)> = names
            .iter()
            .map(|name| ((*name).to_owned(), stored.get(*name).map(|value| value.text().to_owned())))
            .collect();
        let option = |name: &str| options.iter().find(|(n, _)| n == name).and_then(|(_, value)| value.clone());
        let content = &site.content_dir;
        let mut paths: Vec<PathBuf> =
            ["object-cache.php", "advanced-cache.php", "db.php"].iter().map(|name| content.join(name)).collect();
        paths.extend(php_files(&content.join("mu-plugins")));
        for theme in ["stylesheet", "template"].into_iter().filter_map(option) {
            let folder = content.join("themes").join(plain(&theme));
            paths.extend(["functions.php", "style.css", "theme.json"].iter().map(|name| folder.join(name)));
        }
        let plugins = stored.get("active_plugins").map(svc_store::StoredText::json).unwrap_or_default();
        paths.extend(plugin_files(&plugins).into_iter().map(|file| content.join("plugins").join(plain(&file))));
        paths.truncate(MAX_FILES);
        let files = paths.into_iter().filter_map(|path| {
            let hash = known.hash(&path)?;
            Some((path, hash))
        });
        Ok(Facts { files: files.collect(), options })
    }
}

/// Options that change often and decide no registrations.
const TRANSIENT: [&str; 2] = ["_transient_", "_site_transient_"];

/// Hash of options, without transients and the schedule of cron.
pub(super) fn hash_options(options: &svc_store::options::Options) -> u64 {
    let mut hasher = DefaultHasher::new();
    for (name, value) in options {
        if name != "cron" && !TRANSIENT.iter().any(|prefix| name.starts_with(prefix)) {
            (name, value.as_stored()).hash(&mut hasher);
        }
    }
    hasher.finish()
}

/// The main files of active plugins, such as `akismet/akismet.php`.
pub(crate) fn plugin_files(active: &serde_json::Value) -> Vec<String> {
    let values: Vec<&serde_json::Value> = match active {
        serde_json::Value::Array(list) => list.iter().collect(),
        serde_json::Value::Object(map) => map.values().collect(),
        _ => Vec::new(),
    };
    values.into_iter().filter_map(|value| Some(value.as_str()?.to_owned())).collect()
}

/// A stored path without parts that leave its folder.
fn plain(stored: &str) -> PathBuf {
    Path::new(stored).components().filter(|part| matches!(part, std::path::Component::Normal(_))).collect()
}

fn php_files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut files: Vec<PathBuf> =
        entries.filter(|path| path.extension().is_some_and(|e| e == "php")).take(MAX_FILES).collect();
    files.sort();
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stored_paths_stay_in_their_folder() {
        assert_eq!(plain("../../etc/a.php"), Path::new("etc/a.php"));
        assert_eq!(plain("/etc/./a.php"), Path::new("etc/a.php"));
        assert_eq!(plugin_files(&serde_json::json!({"0": "a/a.php", "2": "b.php", "3": 1})), ["a/a.php", "b.php"]);
    }

    #[test]
    fn transients_do_not_change_the_hash_of_options() {
        let hash = |pairs: &[(&str, &str)]| {
            hash_options(&pairs.iter().map(|(n, v)| ((*n).to_owned(), svc_store::StoredText::of(*v))).collect())
        };
        let one = hash(&[("types", "a"), ("cron", "1")]);
        assert_eq!(one, hash(&[("types", "a"), ("cron", "2"), ("_transient_x", "1"), ("_site_transient_y", "1")]));
        assert_ne!(one, hash(&[("types", "b"), ("cron", "1")]));
        assert_ne!(one, hash(&[("types", "a"), ("cron", "1"), ("other", "")]));
    }

    #[test]
    fn files_are_equal_by_content() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.php");
        let mut files = Files::default();
        assert_eq!(files.hash(&path), None);
        let mut write = |text: &str, seconds: u64| {
            std::fs::write(&path, text).unwrap();
            let at = SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(seconds);
            std::fs::File::options().write(true).open(&path).unwrap().set_modified(at).unwrap();
            files.hash(&path)
        };
        let first = write("one", 1);
        assert_eq!(write("one", 2), first, "only the time differs");
        assert_ne!(write("two", 3), first);
    }
}
