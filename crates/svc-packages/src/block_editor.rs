//! WordPress's block editor in a content folder, which the owner of the site builds from npm packages.
//!
//! The folder `block-editor` has a manifest and the files that it names. A file's name contains its hash, and the manifest is
//! replaced in one step, so that an interrupted installation leaves the former one as it was.

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    fs::{self, File},
    io::{self, Read as _, Write as _},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::SystemTime,
};

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

/// The folder in the content folder.
pub const FOLDER: &str = "block-editor";

/// Names of the files: the script, the styles of the page and of the content, all compressed with gzip, and the licences of the
/// packages in them.
pub const FILES: [&str; 4] = ["editor.js.gz", "editor.css.gz", "content.css.gz", "LICENSES.txt"];

const MANIFEST: &str = "manifest.json";
/// Maximum size of the manifest, in bytes.
const MAX_MANIFEST: u64 = 64 << 10;
/// Maximum size of a file, in bytes.
const MAX_FILE: u64 = 32 << 20;

/// What is installed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// Identifies the packages and the script that the editor was built from.
    pub recipe: String,
    /// Version of the package `@wordpress/edit-post`.
    pub version: String,
    /// SHA-256 of each of [`FILES`], in hexadecimal digits.
    pub files: BTreeMap<String, String>,
}

/// A file of an installed editor.
#[derive(Debug)]
pub struct EditorFile {
    /// SHA-256, in hexadecimal digits.
    pub hash: String,
    /// The content, as it is stored.
    pub content: Vec<u8>,
}

/// An installed editor whose files are those of its manifest.
#[derive(Debug)]
pub struct InstalledEditor {
    /// What is installed.
    pub manifest: Manifest,
    files: BTreeMap<String, EditorFile>,
}

impl InstalledEditor {
    /// Reads the editor of a content folder; `None` if none is installed.
    ///
    /// # Errors
    /// If the manifest or a file cannot be read, is too large, or is not what was installed.
    pub fn read(content: &Path) -> io::Result<Option<Self>> {
        let folder = content.join(FOLDER);
        let manifest = match read_bounded(&folder.join(MANIFEST), MAX_MANIFEST) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            read => read?,
        };
        let manifest: Manifest = serde_json::from_slice(&manifest)?;
        let mut files = BTreeMap::new();
        for name in FILES {
            let hash = manifest.files.get(name).filter(|hash| is_hash(hash)).ok_or_else(|| damaged(name))?;
            let content = read_bounded(&folder.join(stored_name(name, hash)), MAX_FILE)?;
            if hash_of(&content) != *hash {
                return Err(damaged(name));
            }
            files.insert(name.to_owned(), EditorFile { hash: hash.clone(), content });
        }
        Ok(Some(InstalledEditor { manifest, files }))
    }

    /// One of [`FILES`].
    pub fn file(&self, name: &str) -> Option<&EditorFile> {
        self.files.get(name)
    }
}

/// Installs the [`FILES`] of a folder. A former editor is used until all of them are stored.
///
/// # Errors
/// If a file is missing, empty or too large, or the content folder cannot be written.
pub fn install(content: &Path, built: &Path, recipe: &str, version: &str) -> io::Result<Manifest> {
    let folder = content.join(FOLDER);
    fs::create_dir_all(&folder)?;
    let mut files = BTreeMap::new();
    for name in FILES {
        let bytes = read_bounded(&built.join(name), MAX_FILE)?;
        if bytes.is_empty() {
            return Err(io::Error::other(format!("{name} is empty")));
        }
        let hash = hash_of(&bytes);
        write_durably(&folder.join(stored_name(name, &hash)), &bytes)?;
        files.insert(name.to_owned(), hash);
    }
    let manifest = Manifest { recipe: recipe.to_owned(), version: version.to_owned(), files };
    let next = folder.join(format!("{MANIFEST}.new"));
    write_durably(&next, &serde_json::to_vec_pretty(&manifest)?)?;
    fs::rename(next, folder.join(MANIFEST))?;
    remove_others(&folder, &manifest)?;
    Ok(manifest)
}

/// Removes the editor. Returns whether there was one.
///
/// # Errors
/// If it cannot be removed.
pub fn remove(content: &Path) -> io::Result<bool> {
    match fs::remove_dir_all(content.join(FOLDER)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        removed => removed.map(|()| true),
    }
}

/// The name of a file in the folder.
fn stored_name(name: &str, hash: &str) -> String {
    format!("{hash}.{name}")
}

/// Removes the files of former editors.
fn remove_others(folder: &Path, manifest: &Manifest) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let is_current = manifest.files.iter().any(|(file, hash)| name == stored_name(file, hash));
        if !is_current && FILES.iter().any(|file| name.strip_suffix(file).is_some_and(|hash| hash.ends_with('.'))) {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

fn write_durably(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = File::create(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

fn read_bounded(path: &Path, max: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(max.saturating_add(1)).read_to_end(&mut bytes)?;
    let size = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
    if size > max {
        return Err(io::Error::other(format!("{} is larger than {max} bytes", path.display())));
    }
    Ok(bytes)
}

fn damaged(name: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("{name} is not the file that was installed"))
}

fn is_hash(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// SHA-256 in hexadecimal digits.
pub fn hash_of(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().fold(String::new(), |mut text, byte| {
        // Writing to a string does not fail.
        let _written = write!(text, "{byte:02x}");
        text
    })
}

/// The editor of a content folder as a server sees it: read once, and again when its manifest was replaced.
#[derive(Debug)]
pub struct BlockEditor {
    content: PathBuf,
    read: Mutex<Option<LastRead>>,
}

/// The editor that was read, and the state of its manifest at that time.
#[derive(Clone, Debug)]
struct LastRead {
    state: (SystemTime, u64),
    /// `None` if it could not be read.
    editor: Option<Arc<InstalledEditor>>,
}

impl BlockEditor {
    /// The editor of this content folder.
    pub fn new(content: &Path) -> Self {
        BlockEditor { content: content.to_owned(), read: Mutex::new(None) }
    }

    /// The editor, if one is installed. Reads its files if they were replaced since the last call.
    ///
    /// # Errors
    /// The first call after a change fails if it cannot be read, and later ones find none.
    pub fn current(&self) -> io::Result<Option<Arc<InstalledEditor>>> {
        let mut last = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        let Ok(manifest) = fs::metadata(self.content.join(FOLDER).join(MANIFEST)) else {
            *last = None;
            return Ok(None);
        };
        let state = (manifest.modified().unwrap_or(SystemTime::UNIX_EPOCH), manifest.len());
        if let Some(known) = last.as_ref().filter(|known| known.state == state) {
            return Ok(known.editor.clone());
        }
        let read = InstalledEditor::read(&self.content).map(|editor| editor.map(Arc::new));
        *last = Some(LastRead { state, editor: read.as_ref().ok().cloned().flatten() });
        read
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder with files as a build leaves them.
    fn built(text: &str) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for name in FILES {
            fs::write(folder.path().join(name), format!("{name} {text}")).unwrap();
        }
        folder
    }

    #[test]
    fn a_new_editor_replaces_the_former_one_and_its_files() {
        let content = tempfile::tempdir().unwrap();
        let editor = BlockEditor::new(content.path());
        assert!(editor.current().unwrap().is_none());
        for text in ["one", "two", "two"] {
            let manifest = install(content.path(), built(text).path(), "recipe", text).unwrap();
            let installed = editor.current().unwrap().unwrap();
            assert_eq!((&installed.manifest, manifest.version.as_str()), (&manifest, text));
            let script = installed.file("editor.js.gz").unwrap();
            assert_eq!((script.content.as_slice(), script.hash.len()), (format!("editor.js.gz {text}").as_bytes(), 64));
            assert_eq!(fs::read_dir(content.path().join(FOLDER)).unwrap().count(), FILES.len() + 1);
        }
        assert!(editor.current().unwrap().unwrap().file("../manifest.json").is_none());
        assert!(remove(content.path()).unwrap() && !remove(content.path()).unwrap());
        assert!(editor.current().unwrap().is_none());
    }

    #[test]
    fn a_build_that_is_not_whole_leaves_the_former_editor() {
        let content = tempfile::tempdir().unwrap();
        install(content.path(), built("one").path(), "recipe", "1").unwrap();
        for name in FILES {
            let broken = built("two");
            fs::write(broken.path().join(name), "").unwrap();
            assert!(install(content.path(), broken.path(), "recipe", "2").is_err(), "{name} is empty");
            fs::remove_file(broken.path().join(name)).unwrap();
            assert!(install(content.path(), broken.path(), "recipe", "2").is_err(), "{name} is missing");
        }
        let installed = InstalledEditor::read(content.path()).unwrap().unwrap();
        assert_eq!(installed.manifest.version, "1");
        // The next installation removes what the interrupted ones have stored.
        install(content.path(), built("three").path(), "recipe", "3").unwrap();
        assert_eq!(fs::read_dir(content.path().join(FOLDER)).unwrap().count(), FILES.len() + 1);
    }

    #[test]
    fn files_that_were_not_installed_are_not_read() {
        let content = tempfile::tempdir().unwrap();
        let folder = content.path().join(FOLDER);
        let manifest = install(content.path(), built("one").path(), "recipe", "1").unwrap();
        let secret = content.path().join("secret");
        fs::write(&secret, "secret").unwrap();
        let of_secret = hash_of(b"secret");
        for hash in ["", "../secret", "/etc/passwd", &of_secret, &"é".repeat(32), &"z".repeat(64)] {
            let mut changed = manifest.clone();
            changed.files.insert("editor.js.gz".to_owned(), hash.to_owned());
            fs::write(folder.join(MANIFEST), serde_json::to_vec(&changed).unwrap()).unwrap();
            assert!(InstalledEditor::read(content.path()).is_err(), "{hash}");
        }
        for broken in ["", "{}", "[]", "\0"] {
            fs::write(folder.join(MANIFEST), broken).unwrap();
            assert!(InstalledEditor::read(content.path()).is_err(), "{broken}");
        }
        fs::write(folder.join(MANIFEST), serde_json::to_vec(&manifest).unwrap()).unwrap();
        let script = folder.join(stored_name("editor.js.gz", &manifest.files["editor.js.gz"]));
        fs::write(&script, "alert(1)").unwrap();
        let editor = BlockEditor::new(content.path());
        assert_eq!(editor.current().unwrap_err().to_string(), "editor.js.gz is not the file that was installed");
        assert!(editor.current().unwrap().is_none());
    }
}
