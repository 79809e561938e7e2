//! Block types that the files of a plugin or theme describe: every `block.json` below its folder.

use std::{
    fs,
    io::Read,
    path::{Path, PathBuf},
};

use svc_content::blocks::BlockType;

/// Folders below the plugin's that are looked into.
const MAX_DEPTH: usize = 6;
/// Entries of folders looked at, in all.
const MAX_ENTRIES: usize = 20_000;
/// Types that one folder may bring.
const MAX_TYPES: usize = 500;
/// Largest file read, in bytes.
const MAX_BYTES: u64 = 1 << 20;
/// Folders that hold the sources of other packages.
const FOREIGN: [&str; 2] = ["node_modules", "vendor"];

/// The block types described below a folder, by path. Links are not followed; what cannot be read is passed over. A type
/// that is described twice (its source, and what is built from it) is taken from the path that comes first.
pub fn find(folder: &Path) -> Vec<BlockType> {
    let mut found = Vec::new();
    let mut left = MAX_ENTRIES;
    walk(folder, MAX_DEPTH, &mut left, &mut found);
    found.sort();
    let mut types: Vec<BlockType> = Vec::new();
    for block_type in found.iter().take(MAX_TYPES).filter_map(|path| read(path)) {
        if types.iter().all(|known| known.name != block_type.name) {
            types.push(block_type);
        }
    }
    types
}

fn walk(folder: &Path, depth: usize, left: &mut usize, found: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let Some(rest) = left.checked_sub(1) else { return };
        *left = rest;
        let Ok(kind) = entry.file_type() else { continue };
        let name = entry.file_name();
        let is_foreign = FOREIGN.iter().any(|foreign| name == *foreign) || name.to_string_lossy().starts_with('.');
        if kind.is_dir() && depth > 0 && !is_foreign {
            walk(&entry.path(), depth - 1, left, found);
        } else if kind.is_file() && name == "block.json" {
            found.push(entry.path());
        }
    }
}

fn read(path: &Path) -> Option<BlockType> {
    let mut text = Vec::new();
    fs::File::open(path).ok()?.take(MAX_BYTES).read_to_end(&mut text).ok()?;
    BlockType::from_json(&serde_json::from_slice(&text).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_below_a_folder_are_found_once() {
        let folder = tempfile::tempdir().unwrap();
        let put = |path: &str, text: &str| {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        put("build/box/block.json", r#"{"name": "my/box", "title": "Built"}"#);
        put("src/box/block.json", r#"{"name": "my/box", "title": "Source"}"#);
        put("block.json", r#"{"name": "my/top"}"#);
        put("other/block.json", "no JSON");
        put("node_modules/x/block.json", r#"{"name": "other/x"}"#);
        let types = find(folder.path());
        let found: Vec<_> = types.iter().map(|t| (t.name.as_str(), t.title.as_str())).collect();
        assert_eq!(found, [("my/top", ""), ("my/box", "Built")]);
        assert!(find(&folder.path().join("none")).is_empty());
    }
}
