//! File storage in a folder or in an object store.

use std::{
    fmt,
    fs::File,
    io::{Read, Seek, SeekFrom, Write},
    ops::Range,
    path::{Path as FilePath, PathBuf},
    sync::Arc,
};

use bytes::Bytes;
use chrono::{DateTime, Utc};
use futures_util::{
    Stream, StreamExt, TryStreamExt,
    stream::{self, BoxStream},
};
use object_store::{
    Attribute, Attributes, GetOptions, GetResultPayload, ObjectStore, ObjectStoreExt, PutMode, PutMultipartOptions,
    PutOptions, PutPayload, local::LocalFileSystem, path::Path, prefix::PrefixStore,
};

use crate::{Blob, Naming, PendingUpload, content_type, journal::Journal, names::Candidates, permissions};

/// Larger files are uploaded in parts of this size, in bytes.
pub(crate) const PART_BYTES: usize = 8 * 1024 * 1024;

/// Bytes of a local file that are read at once. Each read occupies a thread, so small chunks cost more than the disk.
const CHUNK_BYTES: usize = 64 << 10;

/// An error of the storage.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StorageError {
    /// An error of the object store.
    #[error(transparent)]
    Store(#[from] object_store::Error),
    /// A local file could not be read or written.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// The path is not a valid file path.
    #[error("invalid file path")]
    InvalidPath,
}

impl StorageError {
    /// Returns whether the error means that the file does not exist.
    pub fn is_missing(&self) -> bool {
        matches!(self, StorageError::Store(object_store::Error::NotFound { .. }) | StorageError::InvalidPath)
    }
}

/// Which part of a file to read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReadPart {
    /// Metadata only.
    Nothing,
    /// This byte range, which must be within the file.
    Bytes(Range<u64>),
    /// The whole file.
    Whole,
}

/// A file in the storage.
pub struct StoredFile {
    /// Size of the whole file in bytes.
    pub size: u64,
    /// Time of the last modification.
    pub modified: DateTime<Utc>,
    /// Entity tag, which changes with the content.
    pub tag: Option<String>,
    /// The requested bytes.
    pub bytes: BoxStream<'static, Result<Bytes, StorageError>>,
    /// The local path, if the file is in a folder.
    file: Option<PathBuf>,
}

/// Configuration of an S3-compatible bucket.
#[cfg(feature = "s3")]
pub struct Bucket {
    /// Name of the bucket.
    pub name: String,
    /// URL of the service. The default is AWS.
    pub endpoint: Option<String>,
    /// Region.
    pub region: String,
    /// Prefix of all paths; may be empty.
    pub prefix: String,
    /// Access key id.
    pub access_key: String,
    /// Secret access key.
    pub secret_key: String,
}

/// Uploaded files by path (`2024/03/a.jpg`). Cheap to clone.
#[derive(Clone)]
pub struct Storage {
    pub(crate) store: Arc<dyn ObjectStore>,
    /// The folder, if the storage is local.
    pub(crate) folder: Option<PathBuf>,
    journal: Option<Journal>,
    /// Has files that are not here.
    other: Option<Arc<Storage>>,
}

impl fmt::Debug for Storage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Storage({})", self.store)
    }
}

/// Converts a path to a storage key. Rejects paths that leave the storage.
pub(crate) fn key(path: &str) -> Result<Path, StorageError> {
    Path::parse(path).ok().filter(|path| !path.as_ref().is_empty()).ok_or(StorageError::InvalidPath)
}

impl Storage {
    /// Stores files in `folder`, which is created with the first file. What was written is on the disk.
    pub fn folder(folder: &FilePath) -> Self {
        // If the path cannot be made absolute, no file will be found there.
        let absolute = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
        let root = Path::from_absolute_path(&absolute).unwrap_or_else(|_| Path::from(&*absolute.to_string_lossy()));
        Storage { folder: Some(absolute), ..Self::new(PrefixStore::new(LocalFileSystem::new().with_fsync(true), root)) }
    }

    /// Finds files that are not in this storage in `other`, where no new files are stored. A name is free if it is free in both, and
    /// a file is deleted from both. This serves all files while they are moved from `other` to this storage.
    #[must_use]
    pub fn with_other(mut self, other: Storage) -> Self {
        self.other = Some(Arc::new(other));
        self
    }

    /// Records uploads in progress in `folder`, for [`Self::remove_interrupted`]. Each server needs a folder of its
    /// own. Without a journal nothing is recorded.
    #[must_use]
    pub fn with_journal(mut self, folder: &FilePath) -> Self {
        self.journal = Some(Journal::new(folder));
        self
    }

    /// Begins an upload whose files do not belong to a row yet.
    ///
    /// # Errors
    /// If the journal entry cannot be written.
    pub fn begin(&self) -> Result<PendingUpload, StorageError> {
        Ok(self.journal.as_ref().map_or_else(|| Ok(PendingUpload::default()), Journal::begin)?)
    }

    /// Removes the files of interrupted uploads and returns the number of these uploads. `is_used` receives the paths
    /// of one upload and returns whether a row refers to any of them. If so, the upload was completed and its files are
    /// kept. If it fails, everything is left for the next call.
    ///
    /// # Errors
    /// The errors of `is_used`.
    pub async fn remove_interrupted<E>(
        &self,
        mut is_used: impl FnMut(&[String]) -> Result<bool, E>,
    ) -> Result<usize, E> {
        let mut n_removed = 0;
        for upload in self.journal.iter().flat_map(Journal::interrupted) {
            let mut paths = upload.own.clone();
            for path in upload.reserved.iter().filter(|path| !upload.own.contains(path)) {
                match self.size(path).await {
                    // A reserved name belongs to the upload only if its file is still empty.
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
            upload.remove_entry();
        }
        Ok(n_removed)
    }

    /// Removes staging files that an interrupted write left next to a file, or only the empty ones.
    fn remove_staged(&self, path: &str, only_empty: bool) {
        if let Some(other) = &self.other {
            other.remove_staged(path, only_empty);
        }
        let Some(file) = self.folder.as_ref().map(|folder| folder.join(path)).filter(|_| key(path).is_ok()) else {
            return;
        };
        let (Some(folder), Some(name)) = (file.parent(), file.file_name().and_then(|name| name.to_str())) else {
            return;
        };
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let is_staged = entry.file_name().to_str().is_some_and(|staged| staged_for(staged) == Some(name));
            let is_removable = is_staged && (!only_empty || entry.metadata().is_ok_and(|metadata| metadata.len() == 0));
            if is_removable && let Err(error) = std::fs::remove_file(entry.path()) {
                tracing::warn!(%error, file = %entry.path().display(), "failed to remove a partially written file");
            }
        }
    }

    /// Stores files in an S3-compatible bucket.
    ///
    /// # Errors
    /// If the configuration is invalid.
    #[cfg(feature = "s3")]
    pub fn bucket(bucket: &Bucket) -> Result<Self, StorageError> {
        // The client uses the process-wide crypto provider. One that is already installed stays.
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

    /// Stores files in any object store.
    pub(crate) fn new(store: impl ObjectStore) -> Self {
        Storage { store: Arc::new(store), folder: None, journal: None, other: None }
    }

    /// The names of the files in a folder, in both stores.
    async fn names(&self, folder: &str) -> Result<Vec<String>, StorageError> {
        let prefix = if folder.is_empty() { None } else { Some(key(folder)?) };
        let mut names = Vec::new();
        for store in [Some(self), self.other.as_deref()].into_iter().flatten() {
            let listed = store.store.list_with_delimiter(prefix.as_ref()).await?;
            names.extend(listed.objects.iter().filter_map(|o| o.location.filename()).map(str::to_owned));
        }
        Ok(names)
    }

    /// Reserves the first free name close to `name_hint` in the folder with an empty file, so that no other upload uses it.
    /// Returns the path of the file.
    ///
    /// # Errors
    /// If the storage fails.
    pub async fn reserve(
        &self,
        folder: &str,
        name_hint: &str,
        naming: Naming<'_>,
        pending: &mut PendingUpload,
    ) -> Result<String, StorageError> {
        for name in Candidates::new(name_hint, self.names(folder).await?, naming) {
            let path = if folder.is_empty() { name } else { format!("{folder}/{name}") };
            pending.reserve(&path)?;
            self.in_folder(&path, permissions::create_folders).await?;
            let options =
                PutOptions { mode: PutMode::Create, attributes: self.attributes(&path), ..PutOptions::default() };
            match self.store.put_opts(&key(&path)?, PutPayload::new(), options).await {
                Ok(_) => {
                    pending.own(&path)?;
                    return Ok(path);
                }
                Err(object_store::Error::AlreadyExists { .. }) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Err(StorageError::InvalidPath)
    }

    /// Writes a file, replacing an existing one.
    ///
    /// # Errors
    /// If the storage fails.
    pub async fn write(&self, path: &str, file: &Blob) -> Result<(), StorageError> {
        let key = key(path)?;
        self.in_folder(path, permissions::create_folders).await?;
        self.upload(&key, file, PutMode::Overwrite).await?;
        let share = |file: &FilePath| {
            permissions::share(file);
            Ok(())
        };
        self.in_folder(path, share).await
    }

    /// Runs blocking work on the path of a file, if the storage is a folder.
    async fn in_folder(
        &self,
        path: &str,
        work: impl FnOnce(&FilePath) -> std::io::Result<()> + Send + 'static,
    ) -> Result<(), StorageError> {
        let Some(file) = self.folder.as_ref().map(|folder| folder.join(path)) else { return Ok(()) };
        Ok(tokio::task::spawn_blocking(move || work(&file)).await.map_err(std::io::Error::other)??)
    }

    /// What an object store returns with a file: its media type. A folder has no place for it.
    fn attributes(&self, path: &str) -> Attributes {
        let mut attributes = Attributes::new();
        if self.folder.is_none() {
            attributes.insert(Attribute::ContentType, content_type(path).into());
        }
        attributes
    }

    /// Sends a file to the store, a large one in parts, which replace an existing file in every mode.
    pub(crate) async fn upload(&self, key: &Path, file: &Blob, mode: PutMode) -> Result<(), StorageError> {
        let attributes = self.attributes(key.as_ref());
        if file.size()? <= PART_BYTES as u64 {
            let bytes = file.head(PART_BYTES)?;
            let options = PutOptions { mode, attributes, ..PutOptions::default() };
            self.store.put_opts(key, bytes.into(), options).await?;
            return Ok(());
        }
        let options = PutMultipartOptions { attributes, ..PutMultipartOptions::default() };
        let mut upload = self.store.put_multipart_opts(key, options).await?;
        let mut source = PartReader::new(file.clone());
        let uploaded = async {
            while let Some((part, rest)) = source.next().await? {
                upload.put_part(part.into()).await?;
                source = rest;
            }
            upload.complete().await?;
            Ok(())
        };
        let uploaded: Result<(), StorageError> = uploaded.await;
        if uploaded.is_err() {
            // The incomplete upload is useless. A failure to abort it does not change the first error.
            let _ = upload.abort().await;
        }
        uploaded
    }

    /// Reads a file or a part of it as a stream.
    ///
    /// # Errors
    /// If the storage fails. [`StorageError::is_missing`] is true if the file does not exist.
    pub async fn get(&self, path: &str, part: ReadPart) -> Result<StoredFile, StorageError> {
        match (self.get_own(path, part.clone()).await, &self.other) {
            (Err(error), Some(other)) if error.is_missing() => other.get_own(path, part).await,
            (found, _) => found,
        }
    }

    async fn get_own(&self, path: &str, part: ReadPart) -> Result<StoredFile, StorageError> {
        let mut options = GetOptions::default();
        match part {
            ReadPart::Nothing => options.head = true,
            ReadPart::Bytes(range) => options.range = Some(range.into()),
            ReadPart::Whole => {}
        }
        let object = self.store.get_opts(&key(path)?, options).await?;
        let file = match &object.payload {
            GetResultPayload::File(_, path) => Some(path.clone()),
            GetResultPayload::Stream(_) => None,
        };
        let (size, modified, tag) = (object.meta.size, object.meta.last_modified, object.meta.e_tag.clone());
        let range = object.range.clone();
        let bytes = match object.payload {
            GetResultPayload::File(file, _) => read_in_chunks(file, range).boxed(),
            GetResultPayload::Stream(stream) => stream.map_err(StorageError::from).boxed(),
        };
        Ok(StoredFile { size, modified, tag, bytes, file })
    }

    /// Fails if the files of an object store cannot be listed, for example because the credentials are wrong.
    ///
    /// # Errors
    /// If the storage fails.
    pub async fn check(&self) -> Result<(), StorageError> {
        match self.folder {
            Some(_) => Ok(()),
            None => Ok(self.store.list(None).try_next().await.map(drop)?),
        }
    }

    /// Returns whether new files are in a local folder.
    pub fn is_folder(&self) -> bool {
        self.folder.is_some()
    }

    /// Whether the path leads to anything but a file inside of the folder: see [`leads_outside`]. False if the storage is no folder.
    pub async fn leads_outside(&self, path: &str) -> bool {
        for store in [Some(self), self.other.as_deref()].into_iter().flatten() {
            if let Some(folder) = &store.folder
                && leads_outside(folder, path).await
            {
                return true;
            }
        }
        false
    }

    /// The size of a file in bytes; `None` if it does not exist.
    ///
    /// # Errors
    /// If the storage fails.
    pub async fn size(&self, path: &str) -> Result<Option<u64>, StorageError> {
        let Ok(key) = key(path) else { return Ok(None) };
        for store in [Some(self), self.other.as_deref()].into_iter().flatten() {
            match store.store.head(&key).await {
                Ok(object) => return Ok(Some(object.size)),
                Err(object_store::Error::NotFound { .. }) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(None)
    }

    /// Returns a local copy of a file to work on: the file itself in a folder, otherwise a temporary copy.
    ///
    /// # Errors
    /// If the storage fails. [`StorageError::is_missing`] is true if the file does not exist.
    pub async fn fetch(&self, path: &str) -> Result<Blob, StorageError> {
        let mut object = self.get(path, ReadPart::Whole).await?;
        if let Some(path) = object.file {
            return Ok(Blob::Disk(Arc::new(path)));
        }
        let (mut file, path) = tempfile::NamedTempFile::new()?.into_parts();
        while let Some(chunk) = object.bytes.try_next().await? {
            file.write_all(&chunk)?;
        }
        file.flush()?;
        Ok(Blob::Disk(Arc::new(path)))
    }

    /// Deletes files. Missing files are ignored. Failures are logged.
    pub async fn delete(&self, paths: impl IntoIterator<Item = String>) {
        let keys: Vec<Path> = paths.into_iter().filter_map(|p| key(&p).ok()).collect();
        // First where files are moved from: see `Moving`.
        for store in [self.other.as_deref(), Some(self)].into_iter().flatten() {
            let keys: Vec<object_store::Result<Path>> = keys.iter().cloned().map(Ok).collect();
            let mut done = store.store.delete_stream(futures_util::stream::iter(keys).boxed());
            while let Some(result) = done.next().await {
                match result {
                    Ok(_) | Err(object_store::Error::NotFound { .. }) => {}
                    Err(error) => tracing::warn!(%error, "failed to delete a file"),
                }
            }
        }
    }
}

/// The name of the file that is staged under this name: the storage writes `a.png#1` and renames it.
pub(crate) fn staged_for(name: &str) -> Option<&str> {
    let (name, number) = name.rsplit_once('#')?;
    (!name.is_empty() && !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit())).then_some(name)
}

/// Whether the path below a folder leads to anything but a file inside of the folder: through a symbolic link, or to a pipe. False if
/// there is no such file.
pub async fn leads_outside(folder: &FilePath, below: &str) -> bool {
    let file = match tokio::fs::canonicalize(folder.join(below.trim_start_matches('/'))).await {
        Ok(file) => file,
        Err(error) => return error.kind() != std::io::ErrorKind::NotFound,
    };
    let folder = tokio::fs::canonicalize(folder).await;
    let is_inside = folder.is_ok_and(|folder| file.starts_with(folder));
    !is_inside || !tokio::fs::metadata(&file).await.is_ok_and(|about| about.is_file())
}

/// Reads the parts of a large file one after the other on a blocking thread.
struct PartReader {
    file: Blob,
    source: Option<Box<dyn Read + Send>>,
}

impl PartReader {
    fn new(file: Blob) -> Self {
        PartReader { file, source: None }
    }

    /// The next part and the reader of the remaining ones; `None` at the end.
    async fn next(mut self) -> Result<Option<(Bytes, Self)>, StorageError> {
        let read = tokio::task::spawn_blocking(move || -> std::io::Result<_> {
            let source = match &mut self.source {
                Some(source) => source,
                None => self.source.insert(self.file.reader()?),
            };
            let mut part = Vec::with_capacity(PART_BYTES);
            source.take(PART_BYTES as u64).read_to_end(&mut part)?;
            Ok((part, self))
        });
        let (part, rest) = read.await.map_err(std::io::Error::other)??;
        Ok((!part.is_empty()).then(|| (part.into(), rest)))
    }
}

/// Reads this part of a local file. A file that has become shorter is an error.
fn read_in_chunks(file: File, range: Range<u64>) -> impl Stream<Item = Result<Bytes, StorageError>> {
    stream::try_unfold((file, range), async |(mut file, mut range)| {
        if range.is_empty() {
            return Ok(None);
        }
        let read = move || {
            let length = (range.end - range.start).min(CHUNK_BYTES as u64);
            let mut chunk = Vec::with_capacity(CHUNK_BYTES);
            file.seek(SeekFrom::Start(range.start))?;
            if (&mut file).take(length).read_to_end(&mut chunk)? as u64 != length {
                return Err(std::io::Error::from(std::io::ErrorKind::UnexpectedEof));
            }
            range.start += length;
            Ok((Bytes::from(chunk), (file, range)))
        };
        // The task ends early only if the runtime stops.
        Ok(Some(tokio::task::spawn_blocking(read).await.map_err(std::io::Error::other)??))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn names_are_reserved_once() {
        let dir = tempfile::tempdir().unwrap();
        let storage = Storage::folder(&dir.path().join("uploads"));
        let mut pending = storage.begin().unwrap();
        for (folder, name_hint, path) in
            [("2024/03", "a.PNG", "2024/03/a.png"), ("2024/03", "a.png", "2024/03/a-1.png"), ("", "a.png", "a.png")]
        {
            assert_eq!(storage.reserve(folder, name_hint, Naming::default(), &mut pending).await.unwrap(), path);
        }
        assert!(dir.path().join("uploads/2024/03/a-1.png").exists());
    }

    #[tokio::test]
    async fn files_can_be_read_back_and_deleted() {
        let dir = tempfile::tempdir().unwrap();
        let storage = Storage::folder(dir.path());
        for size in [0, 5, PART_BYTES, 2 * PART_BYTES + 1] {
            let bytes: Vec<u8> = (0..size).map(|n| n as u8).collect();
            storage.write("x/a.bin", &Blob::Memory(bytes.clone().into())).await.unwrap();
            assert_eq!(storage.size("x/a.bin").await.unwrap(), Some(size as u64));
            let fetched = storage.fetch("x/a.bin").await.unwrap();
            assert!(fetched.head(usize::MAX).unwrap() == bytes, "{size}");
        }
        storage.delete(["x/a.bin".to_owned(), "none".to_owned()]).await;
        assert_eq!(storage.size("x/a.bin").await.unwrap(), None);
    }

    /// A folder of uploads that a group shares, as on a server where PHP runs as another user.
    #[cfg(unix)]
    #[tokio::test]
    async fn files_have_the_permissions_of_the_folder_above() {
        use std::os::unix::fs::PermissionsExt;

        let dir = tempfile::tempdir().unwrap();
        let mode = |path: &str| std::fs::metadata(dir.path().join(path)).unwrap().permissions().mode() & 0o7777;
        for (of_folder, of_file, size) in [(0o2770, 0o660, 5), (0o777, 0o666, 5), (0o750, 0o640, 2 * PART_BYTES)] {
            let uploads = dir.path().join(format!("{of_folder:o}"));
            std::fs::create_dir(&uploads).unwrap();
            std::fs::set_permissions(&uploads, std::fs::Permissions::from_mode(of_folder)).unwrap();
            let storage = Storage::folder(&uploads);
            let mut pending = storage.begin().unwrap();
            let path = storage.reserve("2024/03", "a.bin", Naming::default(), &mut pending).await.unwrap();
            storage.write(&path, &Blob::Memory(vec![1; size].into())).await.unwrap();
            for (path, expected) in [("2024", of_folder), ("2024/03", of_folder), ("2024/03/a.bin", of_file)] {
                let found = mode(&format!("{of_folder:o}/{path}"));
                assert_eq!(found, expected, "{path} in {of_folder:o}: {found:o}");
            }
        }
    }

    #[tokio::test]
    async fn only_files_of_interrupted_uploads_are_removed() {
        let dir = tempfile::tempdir().unwrap();
        let uploads = dir.path().join("uploads");
        let storage = Storage::folder(&uploads).with_journal(&dir.path().join("journal"));
        let bytes = Blob::Memory(Bytes::from_static(b"bytes"));
        std::fs::create_dir_all(&uploads).unwrap();
        for name in ["theirs.png", "a.png#x", "b.png#1"] {
            std::fs::write(uploads.join(name), "theirs").unwrap();
        }
        let mut pending_uploads = Vec::new();
        for (name_hint, ends) in [("a.png", false), ("used.png", false), ("done.png", true)] {
            let mut pending = storage.begin().unwrap();
            let path = storage.reserve("", name_hint, Naming::default(), &mut pending).await.unwrap();
            // A name that another upload took in the meantime.
            pending.reserve("theirs.png").unwrap();
            storage.write(&path, &bytes).await.unwrap();
            std::fs::write(uploads.join(format!("{path}#1")), "half").unwrap();
            if ends {
                pending.done();
            } else {
                pending_uploads.push(pending);
            }
        }
        let is_used = |paths: &[String]| Ok::<_, StorageError>(paths.iter().any(|path| path == "used.png"));
        assert_eq!(storage.remove_interrupted(is_used).await.unwrap(), 0, "uploads are in progress");
        drop(pending_uploads);
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
    async fn paths_cannot_leave_the_storage() {
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
