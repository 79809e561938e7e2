//! Images on demand: the variants of uploaded images, made when they are first requested and cached on disk.
//!
//! A variant is named by what it is made of: path, size and time of the file, and the [`Variant`]. A file that has changed thus has other
//! variants, and nobody invalidates the former ones: they are the first to be deleted when the cache is full.
//!
//! Each variant is made once for all that wait for it, by a task of its own, which ends even if they leave. Few are made at a time, and a
//! bounded number waits.

use std::{
    io,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use bytes::Bytes;
use futures_util::stream::{self, StreamExt as _};
use sha2::{Digest as _, Sha256};
use svc_media::{FileCache, Format, ImageError, ReadPart, Storage, StorageError, Variant};
use svc_routing::MadeBody;
use svc_schema::Error;
use svc_versions::{Flight, Flights, Usage};
use tokio::{sync::Semaphore, time::timeout};

use crate::{blocking::run_blocking, errors::images as errors};

#[cfg(test)]
mod tests;

/// Images with larger files are not resized, in bytes.
const MAX_FILE: u64 = 128 << 20;

/// Maximum number of variants that are being made or wait.
const MAX_WAITING: usize = 128;

/// Maximum time that a variant waits until it is made, and that a request waits for it.
const MAX_WAIT: Duration = Duration::from_secs(20);

/// How often a request has a variant made that is gone before it is read.
const MAX_TRIES: usize = 3;

/// Reads of cached images at once per processor core. Others wait: downloads must not take all threads for blocking work.
const READS_PER_CORE: usize = 2;

/// Changes if the same values give another image.
const VERSION: u32 = 1;

/// The images on demand of a site. Cheap to clone.
#[derive(Clone, Debug)]
pub struct ImageVariants(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    listed: Vec<(u32, u32)>,
    cache: FileCache,
    making: Flights<String, Result<Option<Bytes>, Error>>,
    places: Arc<Semaphore>,
    turns: Arc<Semaphore>,
    reads: Arc<Semaphore>,
    n_cached: AtomicU64,
    n_made: AtomicU64,
}

/// A stored image.
#[derive(Clone, Debug)]
pub struct Source {
    uploads: Storage,
    path: String,
    format: Format,
    /// Changes with the file.
    state: String,
}

impl ImageVariants {
    /// Variants in this folder of this server, up to a size in bytes. Anybody may request the `listed` ones: a width with a height of 0,
    /// or a width and a height to crop to.
    pub fn new(folder: &Path, max_bytes: u64, listed: Vec<(u32, u32)>) -> Self {
        // Half of the processors are left to other requests, and half of the permits for image work to uploads.
        let n_cores = std::thread::available_parallelism().map_or(1, usize::from);
        ImageVariants(Arc::new(Inner {
            listed,
            cache: FileCache::new(folder, max_bytes),
            making: Flights::default(),
            places: Arc::new(Semaphore::new(MAX_WAITING)),
            turns: Arc::new(Semaphore::new((n_cores / 2).clamp(1, 2))),
            reads: Arc::new(Semaphore::new(READS_PER_CORE * n_cores)),
            n_cached: AtomicU64::new(0),
            n_made: AtomicU64::new(0),
        }))
    }

    /// The size of the cache on the disk, how many images were read from it, and how many had to be made.
    pub fn usage(&self) -> Usage {
        let content = self.0.cache.content();
        let count = |n: &AtomicU64| n.load(Ordering::Relaxed);
        Usage {
            entries: content.files,
            bytes: content.bytes,
            hits: count(&self.0.n_cached),
            misses: count(&self.0.n_made),
        }
    }

    /// Whether anybody may request images of this width and height. A height of 0 is unlimited.
    pub fn is_listed(&self, width: u32, height: u32) -> bool {
        self.0.listed.contains(&(width, height))
    }

    /// The image in the file at a path of the uploads.
    ///
    /// # Errors
    /// 404 if there is no such file, or it is not one that is served; 400 if images of the type cannot be decoded.
    pub async fn source(uploads: &Storage, path: &str, mime: &str) -> Result<Source, Error> {
        let format = Format::of_mime(mime).ok_or_else(errors::unsupported)?;
        if path.split('/').any(|name| name.starts_with('.')) || uploads.leads_outside(path).await {
            return Err(errors::not_found());
        }
        let file = uploads.get(path, ReadPart::Nothing).await.map_err(|error| unreadable(&error))?;
        if file.size > MAX_FILE {
            return Err(errors::unusable());
        }
        let nanoseconds = file.modified.timestamp_nanos_opt().unwrap_or_default();
        let state = format!("{} {nanoseconds} {}", file.size, file.tag.unwrap_or_default());
        Ok(Source { uploads: uploads.clone(), path: path.to_owned(), format, state })
    }

    /// The image. Making it takes one of the `permits` for image work.
    ///
    /// # Errors
    /// 404 if the file was deleted; 422 if it cannot be made of the file; 503 if too many others are being made.
    pub async fn image(&self, permits: &Arc<Semaphore>, source: &Source, variant: Variant) -> Result<MadeBody, Error> {
        let key = source.key(&variant);
        if let Some(cached) = self.cached(&key).await? {
            self.0.n_cached.fetch_add(1, Ordering::Relaxed);
            return Ok(cached);
        }
        for _ in 0..MAX_TRIES {
            if let Some(bytes) = self.made(permits, source, variant, &key).await? {
                return Ok(bytes.into());
            }
            if let Some(cached) = self.cached(&key).await? {
                return Ok(cached);
            }
        }
        Err(errors::busy())
    }

    /// The cached image, in parts: slow clients hold a file, and no memory. `None` if it is not cached.
    async fn cached(&self, key: &str) -> Result<Option<MadeBody>, Error> {
        let (inner, name) = (Arc::clone(&self.0), key.to_owned());
        let opened = run_blocking(move || inner.cache.open(&name)).await?;
        let file = match opened {
            Ok(Some(file)) => file,
            Ok(None) => return Ok(None),
            Err(error) => {
                tracing::warn!(%error, "cannot read a cached image");
                return Ok(None);
            }
        };
        let size = file.size();
        if size == 0 {
            return Err(errors::unusable());
        }
        let parts = stream::try_unfold((file, Arc::clone(&self.0.reads)), async |(mut file, reads)| {
            let turn = Arc::clone(&reads).acquire_owned().await.map_err(io::Error::other)?;
            // Reading continues if the client leaves, so it keeps its turn.
            let read = move || (file.next_part(), file, turn);
            let (part, file, turn) = run_blocking(read).await.map_err(io::Error::other)?;
            drop(turn);
            let part = part?;
            Ok((!part.is_empty()).then(|| (part.into(), (file, reads))))
        });
        Ok(Some(MadeBody { size, parts: parts.boxed() }))
    }

    /// Waits until the image is made, by this call or another one. The result is cached, unless it is returned.
    async fn made(
        &self,
        permits: &Arc<Semaphore>,
        source: &Source,
        variant: Variant,
        key: &str,
    ) -> Result<Option<Bytes>, Error> {
        let making = &self.0.making;
        let follower = match making.join(key.to_owned()) {
            Flight::Follow(follower) => follower,
            Flight::Lead(leader) => {
                let place = Arc::clone(&self.0.places).try_acquire_owned().map_err(|_| errors::busy())?;
                let Flight::Follow(follower) = making.join(key.to_owned()) else { return Ok(None) };
                let (variants, permits, source, key) =
                    (self.clone(), Arc::clone(permits), source.clone(), key.to_owned());
                tokio::spawn(async move {
                    let made = variants.make(permits, &source, variant, key).await;
                    leader.finish(made);
                    drop(place);
                });
                follower
            }
        };
        match timeout(MAX_WAIT, follower.outcome()).await {
            Ok(Some(made)) => made,
            // Its maker was stopped.
            Ok(None) => Ok(None),
            Err(_) => Err(errors::busy()),
        }
    }

    /// Makes the image and caches it; returns it if it cannot be cached. That it cannot be made is an empty file in the cache.
    async fn make(
        &self,
        permits: Arc<Semaphore>,
        source: &Source,
        variant: Variant,
        key: String,
    ) -> Result<Option<Bytes>, Error> {
        let turn = timeout(MAX_WAIT, Arc::clone(&self.0.turns).acquire_owned()).await;
        let turn = turn.ok().and_then(Result::ok).ok_or_else(errors::busy)?;
        // It may have been made since the request looked.
        if self.cached(&key).await?.is_some() {
            return Ok(None);
        }
        let file = source.uploads.fetch(&source.path).await.map_err(|error| unreadable(&error))?;
        let permit = permits.acquire_owned().await.map_err(|error| errors::unreadable(&error))?;
        self.0.n_made.fetch_add(1, Ordering::Relaxed);
        let (inner, format, path) = (Arc::clone(&self.0), source.format, source.path.clone());
        run_blocking(move || {
            let made = variant.make(&file, format);
            drop((permit, turn));
            let bytes = match made {
                Ok(bytes) => bytes,
                Err(ImageError::Io(error)) => return Err(errors::unreadable(&error)),
                Err(error) => {
                    tracing::info!(%error, path, "an image cannot be resized");
                    Vec::new()
                }
            };
            let is_cached = inner.cache.write(&key, &bytes).unwrap_or_else(|error| {
                tracing::warn!(%error, "cannot cache an image");
                false
            });
            match (is_cached, bytes.is_empty()) {
                (true, _) => Ok(None),
                (false, true) => Err(errors::unusable()),
                (false, false) => Ok(Some(bytes.into())),
            }
        })
        .await?
    }
}

impl Source {
    /// The format of the file.
    pub fn format(&self) -> Format {
        self.format
    }

    /// A name for the state of the file, which changes with it.
    pub fn version(&self) -> String {
        hex(self.state.as_bytes(), 8)
    }

    /// A name for the variant of the file in this state.
    pub fn key(&self, variant: &Variant) -> String {
        let Variant { width, height, crop, format, quality } = variant;
        let crop = crop.map(svc_media::Focus::percent);
        let values = format!("{VERSION} {width} {height} {crop:?} {format:?} {quality}\0{}\0{}", self.state, self.path);
        hex(values.as_bytes(), 32)
    }
}

/// The beginning of the hash of a text, as this number of hexadecimal digits.
fn hex(text: &[u8], digits: usize) -> String {
    let hash = Sha256::digest(text);
    hash.iter().map(|byte| format!("{byte:02x}")).take(digits / 2).collect()
}

fn unreadable(error: &StorageError) -> Error {
    if error.is_missing() { errors::not_found() } else { errors::unreadable(error) }
}
