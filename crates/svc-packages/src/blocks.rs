//! Block types of a plugin or theme, from the `block.json` files in its folder.

use std::{
    fs,
    io::Read,
    path::{Path, PathBuf},
};

use svc_content::blocks::BlockType;

/// Maximum depth of nested folders to search.
const MAX_DEPTH: usize = 6;
/// Maximum number of folder entries to examine in total.
const MAX_ENTRIES: usize = 20_000;
/// Maximum number of block types per folder.
const MAX_TYPES: usize = 500;
/// Maximum file size, in bytes.
const MAX_BYTES: u64 = 1 << 20;
/// Folders with the sources of other packages, which are skipped.
const SKIPPED_FOLDERS: [&str; 2] = ["node_modules", "vendor"];

/// Finds the block types in a folder, sorted by path. Links are not followed and unreadable files are skipped. If a
/// type occurs twice, as source and as build output, the first path takes precedence.
pub fn find(folder: &Path) -> Vec<BlockType> {
    let mut found = Vec::new();
    let mut remaining = MAX_ENTRIES;
    walk(folder, MAX_DEPTH, &mut remaining, &mut found);
    found.sort();
    let mut types: Vec<BlockType> = Vec::new();
    for block_type in found.iter().take(MAX_TYPES).filter_map(|path| read(path)) {
        if types.iter().all(|other| other.name != block_type.name) {
            types.push(block_type);
        }
    }
    types
}

fn walk(folder: &Path, depth: usize, remaining: &mut usize, found: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let Some(rest) = remaining.checked_sub(1) else { return };
        *remaining = rest;
        let Ok(kind) = entry.file_type() else { continue };
        let name = entry.file_name();
        let is_foreign =
            SKIPPED_FOLDERS.iter().any(|foreign| name == *foreign) || name.to_string_lossy().starts_with('.');
        if kind.is_dir() && depth > 0 && !is_foreign {
            walk(&entry.path(), depth - 1, remaining, found);
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
    fn finds_each_block_type_once() {
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
