//! Where files are kept: a folder, or a store of objects.

use std::{
    fmt,
    io::{Read, Write},
    ops::Range,
    path::{Path as FilePath, PathBuf},
    sync::Arc,
};

use bytes::Bytes;
use chrono::{DateTime, Utc};
use futures_util::{StreamExt, TryStreamExt, stream::BoxStream};
use object_store::{
    GetOptions, GetResultPayload, ObjectStore, ObjectStoreExt, PutMode, PutOptions, PutPayload, local::LocalFileSystem,
    path::Path, prefix::PrefixStore,
};

use crate::{Blob, Candidates, Pending, journal::Journal};

/// Larger files are sent in parts of this size, in bytes.
const PART: usize = 8 * 1024 * 1024;

/// The storage refused or could not be reached.
#[derive(Debug, thiserror::Error)]
pub enum StorageError {
    /// As the storage said it.
    #[error(transparent)]
    Store(#[from] object_store::Error),
    /// A local file could not be read or written.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// A path that no file can have.
    #[error("no file can be called so")]
    Name,
}

impl StorageError {
    /// Whether the file is simply not there.
    pub fn is_missing(&self) -> bool {
        matches!(self, StorageError::Store(object_store::Error::NotFound { .. }) | StorageError::Name)
    }
}

/// How much of a file is wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// What is known of it, and no bytes.
    Nothing,
    /// These bytes, which it has.
    Bytes(Range<u64>),
    /// All.
    Whole,
}

/// A file that was found.
pub struct Stored {
    /// Its size in bytes, whatever part was wanted.
    pub size: u64,
    /// When it was last changed.
    pub modified: DateTime<Utc>,
    /// What changes whenever it does.
    pub tag: Option<String>,
    /// The bytes wanted.
    pub bytes: BoxStream<'static, Result<Bytes, StorageError>>,
    /// Where it is, when it is a file of this machine.
    file: Option<PathBuf>,
}

/// A bucket of an S3-compatible store.
#[cfg(feature = "s3")]
pub struct Bucket {
    /// Its name.
    pub name: String,
    /// Address of the store; that of AWS when not given.
    pub endpoint: Option<String>,
    /// Its region.
    pub region: String,
    /// Beginning of the paths in it; may be empty.
    pub prefix: String,
    /// Name of the key.
    pub access_key: String,
    /// The key itself.
    pub secret_key: String,
}

/// Uploaded files by their path (`2024/03/a.jpg`). Cheap to clone.
#[derive(Clone)]
pub struct Storage {
    store: Arc<dyn ObjectStore>,
    /// Where the files are, when they are in a folder of this machine.
    folder: Option<PathBuf>,
    journal: Option<Journal>,
}

impl fmt::Debug for Storage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Storage({})", self.store)
    }
}

/// A path as the storage takes it: no part of it may lead elsewhere.
fn key(path: &str) -> Result<Path, StorageError> {
    Path::parse(path).ok().filter(|path| !path.as_ref().is_empty()).ok_or(StorageError::Name)
}

impl Storage {
    /// Files in this folder, which is made with the first of them.
    pub fn folder(folder: &FilePath) -> Self {
        // A path that cannot be made absolute names nothing: no file will be found there.
        let absolute = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
        let root = Path::from_absolute_path(&absolute).unwrap_or_else(|_| Path::from(&*absolute.to_string_lossy()));
        Storage { folder: Some(absolute), ..Self::new(PrefixStore::new(LocalFileSystem::new(), root)) }
    }

    /// Notes uploads in progress in this folder, so that [`Self::remove_interrupted`] finds those that do not end. The folder
    /// belongs to one server; without it nothing is noted.
    #[must_use]
    pub fn with_journal(mut self, folder: &FilePath) -> Self {
        self.journal = Some(Journal::new(folder));
        self
    }

    /// Begins an upload, whose files belong to no row yet.
    ///
    /// # Errors
    /// When it cannot be noted.
    pub fn begin(&self) -> Result<Pending, StorageError> {
        Ok(self.journal.as_ref().map_or_else(|| Ok(Pending::default()), Journal::begin)?)
    }

    /// Removes the files of uploads that were interrupted; how many uploads there were. `is_used` tells of the paths of one
    /// upload whether a row names one of them: then the upload was finished, and its files stay. An error of it leaves
    /// everything for the next time.
    ///
    /// # Errors
    /// Those of `is_used`.
    pub async fn remove_interrupted<E>(
        &self,
        mut is_used: impl FnMut(&[String]) -> Result<bool, E>,
    ) -> Result<usize, E> {
        let mut n_removed = 0;
        for upload in self.journal.iter().flat_map(Journal::interrupted) {
            let mut paths = upload.own.clone();
            for path in upload.reserved.iter().filter(|path| !upload.own.contains(path)) {
                match self.size(path).await {
                    // Only what nobody has written to was made by reserving it.
                    Ok(Some(0)) => paths.push(path.clone()),
                    Ok(None) => self.remove_staged(path, true),
                    _ => {}
                }
            }
            if !is_used(&paths)? {
                n_removed += 1;
                paths.iter().for_each(|path| self.remove_staged(path, false));
                self.delete(paths).await;
            }
            upload.forget();
        }
        Ok(n_removed)
    }

    /// Removes what an interrupted write left next to a file, or only what is empty: the storage writes `a.png#1` and renames
    /// it.
    fn remove_staged(&self, path: &str, only_empty: bool) {
        let Some(file) = self.folder.as_ref().map(|folder| folder.join(path)).filter(|_| key(path).is_ok()) else {
            return;
        };
        let (Some(folder), Some(name)) = (file.parent(), file.file_name().and_then(|name| name.to_str())) else {
            return;
        };
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let is_staged = entry
                .file_name()
                .to_str()
                .and_then(|n| n.strip_prefix(name)?.strip_prefix('#'))
                .is_some_and(|number| !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()));
            let is_wanted = is_staged && (!only_empty || entry.metadata().is_ok_and(|about| about.len() == 0));
            if is_wanted && let Err(error) = std::fs::remove_file(entry.path()) {
                tracing::warn!(%error, file = %entry.path().display(), "a half-written file cannot be removed");
            }
        }
    }

    /// Files in a bucket of an S3-compatible store.
    ///
    /// # Errors
    /// When what is said of the bucket makes no sense.
    #[cfg(feature = "s3")]
    pub fn bucket(bucket: &Bucket) -> Result<Self, StorageError> {
        // The client takes the cryptography of the process; one that was chosen before stays.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let mut builder = object_store::aws::AmazonS3Builder::new()
            .with_bucket_name(&bucket.name)
            .with_region(&bucket.region)
            .with_access_key_id(&bucket.access_key)
            .with_secret_access_key(&bucket.secret_key);
        if let Some(endpoint) = &bucket.endpoint {
            builder = builder.with_endpoint(endpoint).with_allow_http(endpoint.starts_with("http://"));
        }
        let store = builder.build()?;
        Ok(match bucket.prefix.trim_matches('/') {
            "" => Self::new(store),
            prefix => Self::new(PrefixStore::new(store, key(prefix)?)),
        })
    }

    /// Files in any store of objects.
    fn new(store: impl ObjectStore) -> Self {
        Storage { store: Arc::new(store), folder: None, journal: None }
    }

    /// Takes the first name, from the one wished for on, that no file of the folder has, and puts an empty file there so
    /// that nobody else takes it. The path of the file.
    ///
    /// # Errors
    /// Those of the storage.
    pub async fn reserve(&self, folder: &str, wish: &str, pending: &mut Pending) -> Result<String, StorageError> {
        let prefix = if folder.is_empty() { None } else { Some(key(folder)?) };
        let listed = self.store.list_with_delimiter(prefix.as_ref()).await?;
        let names = listed.objects.iter().filter_map(|o| o.location.filename()).map(str::to_owned);
        for name in Candidates::new(wish, names) {
            let path = if folder.is_empty() { name } else { format!("{folder}/{name}") };
            pending.reserve(&path)?;
            let options = PutOptions { mode: PutMode::Create, ..PutOptions::default() };
            match self.store.put_opts(&key(&path)?, PutPayload::new(), options).await {
                Ok(_) => {
                    pending.own(&path)?;
                    return Ok(path);
                }
                Err(object_store::Error::AlreadyExists { .. }) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Err(StorageError::Name)
    }

    /// Writes a file, in place of one that is there.
    ///
    /// # Errors
    /// Those of the storage.
    pub async fn write(&self, path: &str, file: &Blob) -> Result<(), StorageError> {
        let key = key(path)?;
        if file.size()? <= PART as u64 {
            let bytes = file.head(PART)?;
            self.store.put(&key, bytes.into()).await?;
            return Ok(());
        }
        let mut upload = self.store.put_multipart(&key).await?;
        let mut source = Parts::new(file.clone());
        let sent = async {
            while let Some((part, rest)) = source.next().await? {
                upload.put_part(part.into()).await?;
                source = rest;
            }
            upload.complete().await?;
            Ok(())
        };
        let sent: Result<(), StorageError> = sent.await;
        if sent.is_err() {
            // What was begun is of no use; that it cannot be undone either changes nothing about the first error.
            let _ = upload.abort().await;
        }
        sent
    }

    /// A file, or a part of it, as a stream.
    ///
    /// # Errors
    /// Those of the storage; [`StorageError::is_missing`] says whether the file is there.
    pub async fn get(&self, path: &str, part: Part) -> Result<Stored, StorageError> {
        let mut options = GetOptions::default();
        match part {
            Part::Nothing => options.head = true,
            Part::Bytes(range) => options.range = Some(range.into()),
            Part::Whole => {}
        }
        let found = self.store.get_opts(&key(path)?, options).await?;
        let file = match &found.payload {
            GetResultPayload::File(_, path) => Some(path.clone()),
            GetResultPayload::Stream(_) => None,
        };
        let (size, modified, tag) = (found.meta.size, found.meta.last_modified, found.meta.e_tag.clone());
        let bytes = found.into_stream().map_err(StorageError::from).boxed();
        Ok(Stored { size, modified, tag, bytes, file })
    }

    /// The size of a file in bytes; `None` when it is not there.
    ///
    /// # Errors
    /// Those of the storage.
    pub async fn size(&self, path: &str) -> Result<Option<u64>, StorageError> {
        let Ok(key) = key(path) else { return Ok(None) };
        match self.store.head(&key).await {
            Ok(found) => Ok(Some(found.size)),
            Err(object_store::Error::NotFound { .. }) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// A file to work on here: itself in a folder, else a temporary copy.
    ///
    /// # Errors
    /// Those of the storage; [`StorageError::is_missing`] says whether the file is there.
    pub async fn fetch(&self, path: &str) -> Result<Blob, StorageError> {
        let mut found = self.get(path, Part::Whole).await?;
        if let Some(path) = found.file {
            return Ok(Blob::Disk(Arc::new(path)));
        }
        let (mut file, path) = tempfile::NamedTempFile::new()?.into_parts();
        while let Some(chunk) = found.bytes.try_next().await? {
            file.write_all(&chunk)?;
        }
        file.flush()?;
        Ok(Blob::Disk(Arc::new(path)))
    }

    /// Deletes files; those that are not there already are none the worse. What cannot be deleted is logged and left.
    pub async fn delete(&self, paths: impl IntoIterator<Item = String>) {
        let keys: Vec<object_store::Result<Path>> = paths.into_iter().filter_map(|p| key(&p).ok()).map(Ok).collect();
        let mut done = self.store.delete_stream(futures_util::stream::iter(keys).boxed());
        while let Some(result) = done.next().await {
            match result {
                Ok(_) | Err(object_store::Error::NotFound { .. }) => {}
                Err(error) => tracing::warn!(%error, "a file could not be deleted"),
            }
        }
    }
}

/// The parts of a large file, read aside one after the other.
struct Parts {
    file: Blob,
    source: Option<Box<dyn Read + Send>>,
}

impl Parts {
    fn new(file: Blob) -> Self {
        Parts { file, source: None }
    }

    /// The next part and what reads those after it; `None` at the end.
    async fn next(mut self) -> Result<Option<(Bytes, Self)>, StorageError> {
        let read = tokio::task::spawn_blocking(move || -> std::io::Result<_> {
            let source = match &mut self.source {
                Some(source) => source,
                None => self.source.insert(self.file.reader()?),
            };
            let mut part = Vec::with_capacity(PART);
            source.take(PART as u64).read_to_end(&mut part)?;
            Ok((part, self))
        });
        let (part, rest) = read.await.map_err(std::io::Error::other)??;
        Ok((!part.is_empty()).then(|| (part.into(), rest)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn names_are_taken_once() {
        let dir = tempfile::tempdir().unwrap();
        let storage = Storage::folder(&dir.path().join("uploads"));
        let mut pending = storage.begin().unwrap();
        for (folder, wish, path) in
            [("2024/03", "a.PNG", "2024/03/a.png"), ("2024/03", "a.png", "2024/03/a-1.png"), ("", "a.png", "a.png")]
        {
            assert_eq!(storage.reserve(folder, wish, &mut pending).await.unwrap(), path);
        }
        assert!(dir.path().join("uploads/2024/03/a-1.png").exists());
    }

    #[tokio::test]
    async fn files_come_back_and_go() {
        let dir = tempfile::tempdir().unwrap();
        let storage = Storage::folder(dir.path());
        for size in [0, 5, PART, 2 * PART + 1] {
            let bytes: Vec<u8> = (0..size).map(|n| n as u8).collect();
            storage.write("x/a.bin", &Blob::Memory(bytes.clone().into())).await.unwrap();
            assert_eq!(storage.size("x/a.bin").await.unwrap(), Some(size as u64));
            let back = storage.fetch("x/a.bin").await.unwrap();
            assert!(back.head(usize::MAX).unwrap() == bytes, "{size}");
        }
        storage.delete(["x/a.bin".to_owned(), "none".to_owned()]).await;
        assert_eq!(storage.size("x/a.bin").await.unwrap(), None);
    }

    #[tokio::test]
    async fn files_of_an_interrupted_upload_are_removed_and_those_of_others_stay() {
        let dir = tempfile::tempdir().unwrap();
        let uploads = dir.path().join("uploads");
        let storage = Storage::folder(&uploads).with_journal(&dir.path().join("journal"));
        let bytes = Blob::Memory(Bytes::from_static(b"bytes"));
        std::fs::create_dir_all(&uploads).unwrap();
        for name in ["theirs.png", "a.png#x", "b.png#1"] {
            std::fs::write(uploads.join(name), "theirs").unwrap();
        }
        let mut kept = Vec::new();
        for (wish, ends) in [("a.png", false), ("used.png", false), ("done.png", true)] {
            let mut pending = storage.begin().unwrap();
            let path = storage.reserve("", wish, &mut pending).await.unwrap();
            // A name that somebody else has taken in the meantime.
            pending.reserve("theirs.png").unwrap();
            storage.write(&path, &bytes).await.unwrap();
            std::fs::write(uploads.join(format!("{path}#1")), "half").unwrap();
            if ends {
                pending.done();
            } else {
                kept.push(pending);
            }
        }
        let is_used = |paths: &[String]| Ok::<_, StorageError>(paths.iter().any(|path| path == "used.png"));
        assert_eq!(storage.remove_interrupted(is_used).await.unwrap(), 0, "they are in progress");
        drop(kept);
        assert_eq!(storage.remove_interrupted(is_used).await.unwrap(), 1);
        assert_eq!(storage.remove_interrupted(is_used).await.unwrap(), 0);
        let mut names: Vec<String> = std::fs::read_dir(&uploads)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        let expected = ["a.png#x", "b.png#1", "done.png", "done.png#1", "theirs.png", "used.png", "used.png#1"];
        assert_eq!(names, expected);
    }

    #[tokio::test]
    async fn no_path_leads_out() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("secret"), "s").unwrap();
        let storage = Storage::folder(&dir.path().join("uploads"));
        for path in ["../secret", "a/../../secret", "", "/", "..", "./secret"] {
            assert_eq!(storage.size(path).await.unwrap(), None, "{path}");
            assert!(storage.fetch(path).await.is_err_and(|e| e.is_missing()), "{path}");
            assert!(storage.write(path, &Blob::Memory(Bytes::new())).await.is_err(), "{path}");
        }
    }
}
