//! Copies all files from one storage to another, and optionally deletes them in the first: from a folder to a bucket, or back.
//!
//! Files may be added and deleted meanwhile, and the copy may be killed and started again at any time. Deletions must be made in the
//! source first ([`Storage::with_other`] does so): then a file that is deleted while it is copied does not stay in the destination.

use std::{
    collections::HashSet,
    fs::{File, Metadata},
    io::{Read, Write as _},
    path::{Path as FilePath, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use futures_util::{
    StreamExt as _, TryStreamExt as _,
    stream::{self, BoxStream},
};
use md5::{Digest as _, Md5};
use object_store::{Attribute, GetOptions, ObjectMeta, ObjectStoreExt as _, PutMode, path::Path};
use tokio::sync::mpsc;

use crate::{
    Blob, Storage, StorageError, content_type, permissions,
    storage::{PART_BYTES, key, staged_for},
};

/// Files that are copied at the same time. Each has at most a part of a file in memory, or two.
const AT_ONCE: usize = 8;

/// Files that failed one after the other, from which the rest is not tried.
const MAX_FAILURES: usize = 20;

/// Files that are found before others are copied.
const FOUND_AHEAD: usize = 1_000;

/// Maximum depth of folders.
const DEPTH_LIMIT: usize = 64;

/// Bytes that are hashed at once.
const CHUNK_BYTES: usize = 256 << 10;

/// Suffix of a file that is being written, as of files that a storage has staged: no storage lists or serves it. A later run replaces or removes it.
const STAGED: &str = "#0";

/// A copy of all files of a storage.
#[derive(Debug)]
pub struct Moving {
    /// Where the files are.
    pub from: Storage,
    /// Where they are copied to.
    pub to: Storage,
    /// Paths of uploads in progress, which are left out: see [`unfinished_uploads`](crate::unfinished_uploads).
    pub unfinished: HashSet<String>,
    /// Only compare.
    pub dry_run: bool,
    /// Replace files of the destination that differ.
    pub overwrite: bool,
    /// Delete each file in the source as soon as the destination is known to have it.
    pub delete_source: bool,
}

/// Why a file was not copied.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MoveError {
    /// A storage does not work.
    #[error(transparent)]
    Storage(#[from] StorageError),
    /// The destination has a file of this name with other content.
    #[error("the destination has another file of this name")]
    Differs,
    /// The copy is not what was read.
    #[error("the copy differs from the file")]
    Damaged,
    /// The object store did not keep the media type.
    #[error("the copy has the content type {0}")]
    WrongType(String),
    /// The file was written to meanwhile.
    #[error("it was changed while it was copied")]
    Changed,
    /// Not UTF-8, or with control characters, so that no URL leads to it.
    #[error("its name cannot be that of an upload")]
    Name,
    /// The path leads out of the folder, to a folder, or through a broken link.
    #[error("the path is no file")]
    NoFile,
    /// The folder is too deep.
    #[error("there are more than {DEPTH_LIMIT} folders in each other")]
    TooDeep,
}

impl From<object_store::Error> for MoveError {
    fn from(error: object_store::Error) -> Self {
        MoveError::Storage(error.into())
    }
}

impl From<std::io::Error> for MoveError {
    fn from(error: std::io::Error) -> Self {
        MoveError::Storage(error.into())
    }
}

/// A file that was dealt with.
#[derive(Debug)]
pub struct MovedFile<'a> {
    /// Its path.
    pub path: &'a str,
    /// Why it was not copied, or not deleted.
    pub failure: Option<&'a MoveError>,
    /// Number of files that were dealt with.
    pub done: usize,
    /// Number of files that were found until now.
    pub found: usize,
}

/// Totals of a copy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Moved {
    /// Files that were copied, or would be.
    pub copied: usize,
    /// Their bytes.
    pub bytes: u64,
    /// Files that the destination had already.
    pub present: usize,
    /// Files that were deleted in the source.
    pub deleted: usize,
    /// Files of uploads in progress.
    pub unfinished: usize,
    /// Links that lead out of the folder, special files and staged files.
    pub left_out: usize,
    /// Files that were deleted while they were copied.
    pub gone: usize,
    /// Files that failed.
    pub failed: usize,
    /// Whether it ended early, because many files failed one after the other.
    pub gave_up: bool,
}

/// What the source has.
enum Found {
    Local(LocalFile),
    Object(ObjectMeta),
    LeftOut,
    Failed(String, MoveError),
}

/// A file of a folder.
struct LocalFile {
    path: String,
    file: PathBuf,
    /// Found through a link, so that it may have another path as well.
    is_linked: bool,
}

/// What happened with a file.
enum Outcome {
    Copied { bytes: u64, is_deleted: bool },
    Present { is_deleted: bool },
    Unfinished,
    LeftOut,
    Gone,
}

impl Moving {
    /// Copies the files. `each` is called for each of them, with what went wrong.
    ///
    /// # Errors
    /// If the files of the source cannot be listed. Files that could not be copied are in the result.
    pub async fn run(&self, each: &mut (dyn FnMut(&MovedFile<'_>) + Send)) -> Result<Moved, StorageError> {
        let n_found = Arc::new(AtomicUsize::new(0));
        let mut outcomes = self.find(&n_found).map_ok(|found| self.handle(found)).try_buffer_unordered(AT_ONCE).boxed();
        let (mut moved, mut done, mut failed_in_a_row) = (Moved::default(), 0, 0);
        while let Some((path, outcome)) = outcomes.try_next().await? {
            done += 1;
            failed_in_a_row = if outcome.is_err() { failed_in_a_row + 1 } else { 0 };
            match &outcome {
                Ok(Outcome::Copied { bytes, is_deleted }) => {
                    moved.copied += 1;
                    moved.bytes += bytes;
                    moved.deleted += usize::from(*is_deleted);
                }
                Ok(Outcome::Present { is_deleted }) => {
                    moved.present += 1;
                    moved.deleted += usize::from(*is_deleted);
                }
                Ok(Outcome::Unfinished) => moved.unfinished += 1,
                Ok(Outcome::LeftOut) => moved.left_out += 1,
                Ok(Outcome::Gone) => moved.gone += 1,
                Err(_) => moved.failed += 1,
            }
            let found = n_found.load(Ordering::Relaxed);
            each(&MovedFile { path: &path, failure: outcome.as_ref().err(), done, found });
            if failed_in_a_row >= MAX_FAILURES {
                moved.gave_up = true;
                break;
            }
        }
        Ok(moved)
    }

    /// The files of the source.
    fn find(&self, n_found: &Arc<AtomicUsize>) -> BoxStream<'_, Result<Found, StorageError>> {
        let n_found = Arc::clone(n_found);
        let count = move || {
            n_found.fetch_add(1, Ordering::Relaxed);
        };
        match self.from.folder.clone() {
            Some(folder) => {
                let (sender, receiver) = mpsc::channel(FOUND_AHEAD);
                let mut send = move |found: Result<Found, StorageError>| {
                    count();
                    sender.blocking_send(found).is_ok()
                };
                tokio::task::spawn_blocking(move || walk(&folder, &mut send));
                stream::unfold(receiver, async |mut receiver| Some((receiver.recv().await?, receiver))).boxed()
            }
            None => {
                let listed = self.from.store.list(None).inspect(move |_| count());
                listed.map_ok(Found::Object).map_err(StorageError::from).boxed()
            }
        }
    }

    /// Copies a file.
    async fn handle(&self, found: Found) -> Result<(String, Result<Outcome, MoveError>), StorageError> {
        Ok(match found {
            Found::Local(file) => {
                let outcome = self.send(&file).await;
                (file.path, outcome)
            }
            Found::Object(object) => {
                let outcome = self.receive(&object).await;
                (object.location.into(), outcome)
            }
            Found::LeftOut => (String::new(), Ok(Outcome::LeftOut)),
            Found::Failed(path, why) => (path, Err(why)),
        })
    }

    /// Copies a file of a folder to an object store.
    async fn send(&self, LocalFile { path, file, is_linked }: &LocalFile) -> Result<Outcome, MoveError> {
        if self.unfinished.contains(path) {
            return Ok(Outcome::Unfinished);
        }
        let key = key(path).map_err(|_| MoveError::Name)?;
        let Some((about, digest)) = digest_of_file(file).await? else { return Ok(Outcome::Gone) };
        let existing = self.state_of_copy(&key, &digest).await?;
        let is_wrong = match &existing {
            Copy::Missing => true,
            Copy::Equal(type_) => is_other_type(path, type_.as_deref()),
            Copy::Differs if self.overwrite => true,
            Copy::Differs => return Err(MoveError::Differs),
        };
        if self.dry_run {
            let present = Outcome::Present { is_deleted: false };
            return Ok(if is_wrong { Outcome::Copied { bytes: digest.size, is_deleted: false } } else { present });
        }
        if is_wrong {
            let is_new = matches!(existing, Copy::Missing);
            let mode = if is_new { PutMode::Create } else { PutMode::Overwrite };
            let has_written = match self.to.upload(&key, &Blob::Disk(Arc::new(file.clone())), mode).await {
                Ok(()) => true,
                // It was created meanwhile, or by a request whose response was lost.
                Err(StorageError::Store(object_store::Error::AlreadyExists { .. })) => false,
                Err(error) if is_missing_file(&error) => return Ok(Outcome::Gone),
                Err(error) => return Err(error.into()),
            };
            let checked = match self.state_of_copy(&key, &digest).await? {
                Copy::Equal(type_) if is_other_type(path, type_.as_deref()) => {
                    return Err(MoveError::WrongType(type_.unwrap_or_default()));
                }
                Copy::Equal(_) => Ok(()),
                Copy::Missing | Copy::Differs if has_written => Err(MoveError::Damaged),
                Copy::Missing | Copy::Differs => return Err(MoveError::Differs),
            };
            let now = file_state(file, &about)?;
            // What was deleted or changed meanwhile must not stay, unless it is there under another path.
            if checked.is_err() || now == FileState::Changed || now == FileState::Gone && !is_linked {
                self.to.store.delete(&key).await?;
            }
            match now {
                FileState::Gone => return Ok(Outcome::Gone),
                FileState::Changed => return Err(MoveError::Changed),
                FileState::Same => checked?,
            }
        }
        let is_deleted = self.delete_source && !is_linked && self.delete_file(file, &about)?;
        Ok(if is_wrong { Outcome::Copied { bytes: digest.size, is_deleted } } else { Outcome::Present { is_deleted } })
    }

    /// Deletes a file of the source, unless it was changed, and the folders that are empty then.
    fn delete_file(&self, file: &FilePath, about: &Metadata) -> Result<bool, MoveError> {
        match file_state(file, about)? {
            FileState::Gone => return Ok(false),
            FileState::Changed => return Err(MoveError::Changed),
            FileState::Same => std::fs::remove_file(file)?,
        }
        let inside = |folder: &&FilePath| self.from.folder.as_deref() != Some(*folder);
        for folder in file.ancestors().skip(1).take_while(inside) {
            if std::fs::remove_dir(folder).is_err() {
                break;
            }
        }
        Ok(true)
    }

    /// What the destination has, compared with a file.
    async fn state_of_copy(&self, key: &Path, digest: &ContentDigest) -> Result<Copy, MoveError> {
        let options = GetOptions { head: true, ..GetOptions::default() };
        let about = match self.to.store.get_opts(key, options).await {
            Err(object_store::Error::NotFound { .. }) => return Ok(Copy::Missing),
            about => about?,
        };
        let type_ = about.attributes.get(&Attribute::ContentType).map(|type_| type_.to_string());
        let is_equal = is_equal(&self.to, &about.meta, digest).await?;
        Ok(if is_equal { Copy::Equal(type_) } else { Copy::Differs })
    }

    /// Copies an object to a folder.
    async fn receive(&self, object: &ObjectMeta) -> Result<Outcome, MoveError> {
        let path = object.location.as_ref();
        if self.unfinished.contains(path) {
            return Ok(Outcome::Unfinished);
        }
        let name = object.location.filename().unwrap_or_default();
        if staged_for(name).is_some() {
            return Ok(Outcome::LeftOut);
        }
        // Some programs create objects that stand for folders. Their names end with a slash, which a listing does not show.
        if object.size == 0 && self.from.size(path).await?.is_none() {
            return Ok(Outcome::LeftOut);
        }
        let folder = self.to.folder.as_ref().ok_or(MoveError::NoFile)?;
        let file = folder.join(path);
        if leads_out(folder, &file) || self.to.leads_outside(path).await {
            return Err(MoveError::NoFile);
        }
        let is_new = match digest_of_file(&file).await? {
            Some((_, digest)) if is_equal(&self.from, object, &digest).await? => {
                if !self.dry_run {
                    remove_if_exists(&staged_beside(&file)).await?;
                }
                let is_deleted = self.delete_source && !self.dry_run && self.delete_object(object).await?;
                return Ok(Outcome::Present { is_deleted });
            }
            Some(_) if !self.overwrite => return Err(MoveError::Differs),
            existing => existing.is_none(),
        };
        if self.dry_run {
            return Ok(Outcome::Copied { bytes: object.size, is_deleted: false });
        }
        let (staged, about) = match self.download(&object.location, &file).await {
            Err(error) if is_missing(&error) => return Ok(Outcome::Gone),
            downloaded => downloaded?,
        };
        place(&staged, &file, is_new).await?;
        let outcome = match self.from.store.head(&object.location).await {
            Err(object_store::Error::NotFound { .. }) => Some(Ok(Outcome::Gone)),
            now => (!is_same_object(&now?, &about)).then_some(Err(MoveError::Changed)),
        };
        if let Some(outcome) = outcome {
            // What was deleted or changed meanwhile must not stay.
            remove_if_exists(&file).await?;
            return outcome;
        }
        let is_deleted = self.delete_source && self.delete_object(&about).await?;
        Ok(Outcome::Copied { bytes: about.size, is_deleted })
    }

    /// Deletes an object of the source, unless it was changed.
    async fn delete_object(&self, object: &ObjectMeta) -> Result<bool, MoveError> {
        let now = match self.from.store.head(&object.location).await {
            Err(object_store::Error::NotFound { .. }) => return Ok(false),
            now => now?,
        };
        if !is_same_object(&now, object) {
            return Err(MoveError::Changed);
        }
        self.from.store.delete(&object.location).await?;
        Ok(true)
    }

    /// Writes an object to a staged file beside `file`, and checks it.
    async fn download(&self, key: &Path, file: &FilePath) -> Result<(PathBuf, ObjectMeta), MoveError> {
        let object = self.from.store.get(key).await?;
        let about = object.meta.clone();
        let staged = staged_beside(file);
        let (target, path) = (file.to_owned(), staged.clone());
        let mut output = blocking(move || {
            permissions::create_folders(&target)?;
            File::create(path)
        })
        .await?;
        let mut hasher = Hasher::default();
        let mut bytes = object.into_stream();
        while let Some(chunk) = bytes.try_next().await? {
            (output, hasher) = blocking(move || {
                hasher.update(&chunk);
                output.write_all(&chunk)?;
                Ok((output, hasher))
            })
            .await?;
        }
        let (digest, modified) = (hasher.finish(), about.last_modified);
        blocking(move || {
            // Caches compare the time, so it stays.
            output.set_modified(modified.into())?;
            output.sync_all()
        })
        .await?;
        let written = digest_of_file(&staged).await?.map(|(_, digest)| digest);
        if written.as_ref() != Some(&digest) || !is_equal(&self.from, &about, &digest).await? {
            return Err(MoveError::Damaged);
        }
        Ok((staged, about))
    }
}

/// The copy of a file.
enum Copy {
    Missing,
    /// With its media type, if the store has one.
    Equal(Option<String>),
    Differs,
}

/// Whether an object store has another media type than the one with which the file is served.
fn is_other_type(path: &str, stored: Option<&str>) -> bool {
    let normal = |text: &str| text.to_ascii_lowercase().replace(' ', "");
    stored.is_some_and(|stored| normal(stored) != normal(&content_type(path)))
}

/// A file, compared with its metadata before.
#[derive(Clone, Copy, PartialEq, Eq)]
enum FileState {
    Same,
    Changed,
    Gone,
}

fn file_state(file: &FilePath, before: &Metadata) -> std::io::Result<FileState> {
    let now = match std::fs::metadata(file) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(FileState::Gone),
        now => now?,
    };
    let is_same = now.len() == before.len() && now.modified().ok() == before.modified().ok();
    Ok(if is_same { FileState::Same } else { FileState::Changed })
}

fn is_same_object(now: &ObjectMeta, before: &ObjectMeta) -> bool {
    (now.size, &now.e_tag, now.last_modified.timestamp())
        == (before.size, &before.e_tag, before.last_modified.timestamp())
}

/// Whether a folder above a file is a link that leads out of the root.
fn leads_out(root: &FilePath, file: &FilePath) -> bool {
    let existing = file.ancestors().skip(1).find_map(|folder| std::fs::canonicalize(folder).ok());
    match (std::fs::canonicalize(root), existing) {
        (Ok(root), Some(existing)) => !existing.starts_with(root),
        // The root is still to be created.
        (Err(_), _) => false,
        (Ok(_), None) => true,
    }
}

fn is_missing_file(error: &StorageError) -> bool {
    matches!(error, StorageError::Io(error) if error.kind() == std::io::ErrorKind::NotFound)
}

fn is_missing(error: &MoveError) -> bool {
    matches!(error, MoveError::Storage(StorageError::Store(object_store::Error::NotFound { .. })))
}

/// Where a file is staged. A copy that is killed leaves it behind, in rare cases beside the complete file.
fn staged_beside(file: &FilePath) -> PathBuf {
    let mut staged = file.as_os_str().to_owned();
    staged.push(STAGED);
    staged.into()
}

async fn remove_if_exists(file: &FilePath) -> std::io::Result<()> {
    match tokio::fs::remove_file(file).await {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

/// Gives a staged file its name.
async fn place(staged: &FilePath, file: &FilePath, is_new: bool) -> Result<(), MoveError> {
    let (staged, file) = (staged.to_owned(), file.to_owned());
    let placed = blocking(move || {
        permissions::share(&staged);
        match std::fs::hard_link(&staged, &file) {
            Ok(()) => std::fs::remove_file(&staged)?,
            Err(error) if is_new && error.kind() == std::io::ErrorKind::AlreadyExists => {
                std::fs::remove_file(&staged)?;
                return Ok(false);
            }
            // To replace it; or a file system without links.
            Err(_) => std::fs::rename(&staged, &file)?,
        }
        file.parent().map_or(Ok(()), svc_files::sync_folder)?;
        Ok(true)
    });
    if placed.await? { Ok(()) } else { Err(MoveError::Differs) }
}

/// Runs blocking work.
async fn blocking<T: Send + 'static>(work: impl FnOnce() -> std::io::Result<T> + Send + 'static) -> std::io::Result<T> {
    tokio::task::spawn_blocking(work).await.map_err(std::io::Error::other)?
}

/// Finds the files of a folder, until `send` returns false. Links are followed if they lead to something in the folder, which is
/// served as well.
fn walk(root: &FilePath, send: &mut dyn FnMut(Result<Found, StorageError>) -> bool) {
    let real_root = match std::fs::canonicalize(root) {
        // The first upload creates it.
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return,
        Err(error) => {
            send(Err(error.into()));
            return;
        }
        Ok(real_root) => real_root,
    };
    let mut waiting = vec![(String::new(), root.to_owned(), 0, false)];
    while let Some((prefix, folder, depth, is_linked)) = waiting.pop() {
        let entries = match std::fs::read_dir(&folder) {
            Err(error) if depth == 0 => {
                send(Err(error.into()));
                return;
            }
            Err(error) => match send(Ok(Found::Failed(prefix, error.into()))) {
                true => continue,
                false => return,
            },
            Ok(entries) => entries,
        };
        for entry in entries {
            let found = entry.map_err(MoveError::from).map(|entry| {
                let (file, name) = (entry.path(), entry.file_name());
                let path = |name: &str| if prefix.is_empty() { name.to_owned() } else { format!("{prefix}/{name}") };
                let failed = |why| Some(Found::Failed(path(&name.to_string_lossy()), why));
                let Ok(mut about) = entry.file_type() else { return failed(MoveError::NoFile) };
                let mut is_linked = is_linked;
                if about.is_symlink() {
                    let target = std::fs::canonicalize(&file);
                    let Some(real) = target.ok().filter(|target| target.starts_with(&real_root)) else {
                        return Some(Found::LeftOut);
                    };
                    // No link within a link: so none leads to itself again and again.
                    let leads_up = is_linked || std::fs::canonicalize(&folder).is_ok_and(|of| of.starts_with(&real));
                    let Ok(metadata) = std::fs::metadata(&real) else { return failed(MoveError::NoFile) };
                    if leads_up && metadata.is_dir() {
                        return Some(Found::LeftOut);
                    }
                    (about, is_linked) = (metadata.file_type(), true);
                }
                match name.to_str() {
                    None => failed(MoveError::Name),
                    Some(_) if about.is_dir() && depth >= DEPTH_LIMIT => failed(MoveError::TooDeep),
                    Some(name) if about.is_dir() => {
                        waiting.push((path(name), file, depth + 1, is_linked));
                        None
                    }
                    Some(name) if !about.is_file() || staged_for(name).is_some() => Some(Found::LeftOut),
                    Some(name) => Some(Found::Local(LocalFile { path: path(name), file, is_linked })),
                }
            });
            let found = found.unwrap_or_else(|why| Some(Found::Failed(prefix.clone(), why)));
            if found.is_some_and(|found| !send(Ok(found))) {
                return;
            }
        }
    }
}

/// What identifies content: its size, and the MD5 hashes that object stores have as entity tags.
#[derive(Clone, Debug, PartialEq, Eq)]
struct ContentDigest {
    size: u64,
    /// As hexadecimal digits.
    whole: String,
    /// Of an upload in parts of the size that this crate uses: the hash of the parts' hashes, and their number.
    in_parts: String,
}

impl ContentDigest {
    fn is_entity_tag(&self, tag: &str) -> bool {
        let tag = tag.trim_matches('"').to_ascii_lowercase();
        tag == self.whole || tag == self.in_parts
    }
}

/// Hashes content.
struct Hasher {
    size: u64,
    whole: Md5,
    part: Md5,
    part_bytes: usize,
    parts: Md5,
    n_parts: usize,
}

impl Default for Hasher {
    fn default() -> Self {
        Hasher { size: 0, whole: Md5::new(), part: Md5::new(), part_bytes: 0, parts: Md5::new(), n_parts: 0 }
    }
}

impl Hasher {
    fn update(&mut self, mut bytes: &[u8]) {
        self.size += bytes.len() as u64;
        self.whole.update(bytes);
        while !bytes.is_empty() {
            let (now, later) = bytes.split_at(bytes.len().min(PART_BYTES - self.part_bytes));
            self.part.update(now);
            self.part_bytes += now.len();
            if self.part_bytes == PART_BYTES {
                self.end_part();
            }
            bytes = later;
        }
    }

    fn end_part(&mut self) {
        self.parts.update(self.part.finalize_reset());
        self.n_parts += 1;
        self.part_bytes = 0;
    }

    fn finish(mut self) -> ContentDigest {
        if self.part_bytes > 0 {
            self.end_part();
        }
        let hex = |hash: &[u8]| hash.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        let in_parts = format!("{}-{}", hex(&self.parts.finalize()), self.n_parts);
        ContentDigest { size: self.size, whole: hex(&self.whole.finalize()), in_parts }
    }
}

/// The metadata and the digest of a local file; `None` if there is none.
async fn digest_of_file(file: &FilePath) -> Result<Option<(Metadata, ContentDigest)>, MoveError> {
    let file = file.to_owned();
    let read = move || {
        let mut opened = match File::open(&file) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            opened => opened?,
        };
        // Before it is read, so that a later change is noticed.
        let about = opened.metadata()?;
        let (mut hasher, mut chunk) = (Hasher::default(), vec![0; CHUNK_BYTES]);
        loop {
            match opened.read(&mut chunk)? {
                0 => return Ok(Some((about, hasher.finish()))),
                n => hasher.update(&chunk[..n]),
            }
        }
    };
    Ok(blocking(read).await?)
}

/// Whether an object has this content. It is read if its entity tag is of another kind, as that of an encrypted object.
async fn is_equal(storage: &Storage, object: &ObjectMeta, digest: &ContentDigest) -> Result<bool, MoveError> {
    if object.size != digest.size {
        return Ok(false);
    }
    if object.e_tag.as_ref().is_some_and(|tag| digest.is_entity_tag(tag)) {
        return Ok(true);
    }
    let mut bytes = storage.store.get(&object.location).await?.into_stream();
    let mut hasher = Hasher::default();
    while let Some(chunk) = bytes.try_next().await? {
        hasher.update(&chunk);
    }
    Ok(hasher.finish() == *digest)
}

#[cfg(test)]
mod tests;
