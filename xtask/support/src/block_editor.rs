//! WordPress's block editor, which users build themselves because it is under the GPL: no part of it may be in a release.
//!
//! Files are searched for texts of the editor, as they are and in what they contain compressed with gzip, as the server contains its
//! own scripts. `live-editor --installed` requires that an installed editor is found in this way.

use std::{
    fs,
    io::Read as _,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, ensure};
use flate2::read::GzDecoder;

/// Texts of three of its packages.
pub const TEXTS: [&str; 3] =
    ["core/editor/post-locked-modal-", "editor-post-publish-panel__toggle", "block-editor-rich-text__editable"];

/// How data begins that gzip has compressed.
const GZIP: [u8; 3] = [0x1f, 0x8b, 8];

/// Maximum length of what is searched of compressed data, in bytes.
const MAX_LENGTH: u64 = 64 << 20;

/// The [`TEXTS`] in a file.
pub fn texts_in(bytes: &[u8]) -> Vec<&'static str> {
    let starts = bytes.windows(GZIP.len()).enumerate().filter(|(_, part)| *part == GZIP).map(|(start, _)| start);
    let unpacked = starts.filter_map(|start| bytes.get(start..)).map(|packed| {
        let mut content = Vec::new();
        // What follows the compressed data, or is none by chance, ends with an error.
        let _length = GzDecoder::new(packed).take(MAX_LENGTH).read_to_end(&mut content);
        found(&content)
    });
    let mut texts: Vec<&str> = unpacked.chain([found(bytes)]).flatten().collect();
    texts.sort_unstable();
    texts.dedup();
    texts
}

fn found(bytes: &[u8]) -> Vec<&'static str> {
    let text = String::from_utf8_lossy(bytes);
    TEXTS.into_iter().filter(|known| text.contains(*known)).collect()
}

/// Requires that a file, or any file in a folder, has no part of the editor.
///
/// # Errors
/// A file has one, or cannot be read.
pub fn require_none(path: &Path) -> Result<()> {
    let cannot_read = || format!("cannot read {}", path.display());
    let kind = fs::symlink_metadata(path).with_context(cannot_read)?.file_type();
    if kind.is_dir() {
        let entries = fs::read_dir(path).with_context(cannot_read)?;
        let paths: Vec<PathBuf> = entries.map(|entry| Ok(entry?.path())).collect::<Result<_>>()?;
        return paths.iter().try_for_each(|path| require_none(path));
    }
    if kind.is_file() {
        let texts = texts_in(&fs::read(path).with_context(cannot_read)?);
        ensure!(texts.is_empty(), "{} has a part of WordPress's block editor: {}", path.display(), texts.join(", "));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use flate2::{Compression, write::GzEncoder};

    use super::*;

    #[test]
    fn a_part_is_found_as_it_is_and_compressed() {
        let folder = tempfile::tempdir().unwrap();
        let inner = folder.path().join("usr/bin");
        fs::create_dir_all(&inner).unwrap();
        let file = inner.join("program");
        let other = b"\0wp-block-editor/v1\0@wordpress/edit-post\0\x1f\x8b\x08 is no gzip\0";
        fs::write(&file, other).unwrap();
        require_none(folder.path()).unwrap();
        for text in TEXTS {
            let plain = [other.as_slice(), b"before", text.as_bytes(), b"after\xff"].concat();
            let mut packed = GzEncoder::new(other.to_vec(), Compression::best());
            packed.write_all(&plain).unwrap();
            let mut packed = packed.finish().unwrap();
            packed.extend_from_slice(other);
            for content in [plain, packed] {
                assert_eq!(texts_in(&content), [text]);
                fs::write(&file, content).unwrap();
                let error = require_none(folder.path()).unwrap_err().to_string();
                assert!(error.contains("program") && error.contains(text), "{error}");
            }
        }
        assert!(require_none(&inner.join("missing")).is_err());
    }
}
