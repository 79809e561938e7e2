//! Font files: validation, storage and removal.

use std::{
    fs,
    io::{ErrorKind, Read, Write},
    path::{Path, PathBuf},
};

use svc_media::permissions;
use svc_routing::{File, FileData};
use svc_schema::Error;
use svc_text::MimeTypes;

/// Font formats: extension, MIME type and accepted signatures.
const FORMATS: [(&str, &str, &[&[u8]]); 4] = [
    ("woff2", "font/woff2", &[b"wOF2"]),
    ("woff", "font/woff", &[b"wOFF"]),
    ("ttf", "font/sfnt", &[b"\0\x01\0\0", b"true"]),
    ("otf", "application/vnd.ms-opentype", &[b"OTTO", b"\0\x01\0\0"]),
];

/// Maximum number of file names that are tried when a name is taken.
const MAX_TRIES: u32 = 1_000;

/// The name and the signature are not those of a font.
fn invalid_type() -> Error {
    Error::new("rest_font_upload_invalid_file_type", "This file type cannot be uploaded as a font.").with_status(400)
}

/// The file could not be stored.
fn failed(why: &std::io::Error) -> Error {
    tracing::error!(%why, "failed to store a font file");
    Error::new("rest_font_upload_unknown_error", "The font could not be stored.").with_status(500)
}

/// The folder of font files in a content folder.
pub(super) fn folder(content: &Path) -> PathBuf {
    content.join("uploads").join("fonts")
}

/// Stores an uploaded file and returns its file name. Blocks.
///
/// # Errors
/// `rest_font_upload_invalid_file_type` (400), or `rest_font_upload_unknown_error` (500) for I/O errors.
pub(super) fn store(file: &File, folder: &Path) -> Result<String, Error> {
    let bytes = match &file.data {
        FileData::Memory(bytes) => bytes.to_vec(),
        FileData::Disk(path) => {
            let mut bytes = Vec::new();
            let opened = fs::File::open((**path).as_ref()).map_err(|e| failed(&e))?;
            opened.take(file.size).read_to_end(&mut bytes).map_err(|e| failed(&e))?;
            bytes
        }
    };
    let allowed = FORMATS.iter().fold(MimeTypes::known(), |types, (extension, mime, _)| types.with(*extension, *mime));
    let name = svc_text::sanitize_file_name(svc_text::basename(&file.name, ""), &allowed);
    let (stem, extension) = name.rsplit_once('.').ok_or_else(invalid_type)?;
    let signatures = FORMATS
        .iter()
        .find(|(candidate, ..)| candidate.eq_ignore_ascii_case(extension))
        .map(|(_, _, signatures)| *signatures)
        .ok_or_else(invalid_type)?;
    if stem.is_empty() || !signatures.iter().any(|signature| bytes.starts_with(signature)) {
        return Err(invalid_type());
    }
    permissions::create_folders(&folder.join(&name)).map_err(|e| failed(&e))?;
    for n in 0..MAX_TRIES {
        let name = if n == 0 { name.clone() } else { format!("{stem}-{n}.{extension}") };
        let path = folder.join(&name);
        match fs::File::create_new(&path) {
            Ok(mut file) => {
                let written = file.write_all(&bytes).and_then(|()| file.sync_all());
                written.and_then(|()| svc_files::sync_folder(folder)).map_err(|e| failed(&e))?;
                permissions::share(&path);
                return Ok(name);
            }
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(failed(&error)),
        }
    }
    Err(failed(&std::io::Error::from(ErrorKind::AlreadyExists)))
}

/// Removes font files by name. Skips names with path separators or a leading dot. Blocks.
pub(super) fn remove(folder: &Path, names: &[String]) {
    for name in names {
        let is_name = !name.is_empty() && !name.starts_with('.') && !name.contains(['/', '\\', '\0']);
        if is_name
            && let Err(why) = fs::remove_file(folder.join(name))
            && why.kind() != ErrorKind::NotFound
        {
            tracing::warn!(%why, name, "failed to remove a font file");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stores_only_fonts_with_a_matching_signature_and_safe_names() {
        let folder = tempfile::tempdir().unwrap();
        let store = |name: &str, bytes: &'static [u8]| {
            let data = FileData::Memory(bytes.into());
            let (field, content_type) = ("file".to_owned(), "font/woff2".to_owned());
            super::store(
                &File { field, name: name.to_owned(), content_type, size: bytes.len() as u64, data },
                folder.path(),
            )
            .map_err(|e| e.code().to_owned())
        };
        let rejected = || Err("rest_font_upload_invalid_file_type".to_owned());
        assert_eq!(store("a b.woff2", b"wOF2..."), Ok("a-b.woff2".to_owned()));
        assert_eq!(store("a b.woff2", b"wOF2..."), Ok("a-b-1.woff2".to_owned()));
        assert_eq!(store("../../up.TTF", b"\0\x01\0\0"), Ok("up.TTF".to_owned()));
        for (name, bytes) in [("a.ttf", &b"wOF2"[..]), ("a.php", b"wOF2"), ("woff2", b"wOF2"), ("a.woff2", b"")] {
            assert_eq!(store(name, bytes), rejected(), "{name}");
        }
        remove(folder.path(), &["a-b.woff2".to_owned(), "../x".to_owned(), "gone.woff2".to_owned()]);
        let left: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
        assert_eq!(left.len(), 2, "{left:?}");
    }
}
