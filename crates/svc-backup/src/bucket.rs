//! An S3-compatible bucket as the destination.

use std::time::Duration;

use futures_util::{StreamExt as _, TryStreamExt as _};
use object_store::aws::{AmazonS3, AmazonS3Builder};
use object_store::path::Path;
use object_store::{ClientOptions, ObjectStore as _, ObjectStoreExt as _, PutMode, PutOptions, RetryConfig};
use tokio::runtime::Runtime;

use crate::destination::Destination;
use crate::error::{BackupError, Result};

/// How long a request may take, and a connection.
const TIMEOUT: Duration = Duration::from_secs(120);
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// A bucket and the keys to it.
#[derive(Clone, Default)]
pub struct BucketConfig {
    /// Name of the bucket.
    pub name: String,
    /// Prefix of all keys; may be empty.
    pub prefix: String,
    /// URL of the service. The default is AWS.
    pub endpoint: Option<String>,
    /// Region.
    pub region: String,
    /// Access key id.
    pub access_key: String,
    /// Secret access key.
    pub secret_key: String,
}

/// An S3-compatible bucket.
#[derive(Debug)]
pub struct Bucket {
    store: AmazonS3,
    prefix: String,
    runtime: Runtime,
}

impl Bucket {
    /// The bucket. Nothing is requested.
    ///
    /// # Errors
    /// If the configuration is invalid, or no thread can be started.
    pub fn new(config: &BucketConfig) -> Result<Self> {
        // The client uses the process-wide crypto provider. One that is already installed stays.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let mut builder = AmazonS3Builder::new()
            .with_bucket_name(&config.name)
            .with_region(&config.region)
            .with_access_key_id(&config.access_key)
            .with_secret_access_key(&config.secret_key)
            // The backup tries again by itself, and looks after the log in between.
            .with_retry(RetryConfig { max_retries: 1, ..RetryConfig::default() })
            .with_client_options(ClientOptions::new().with_timeout(TIMEOUT).with_connect_timeout(CONNECT_TIMEOUT));
        if let Some(endpoint) = &config.endpoint {
            builder = builder.with_endpoint(endpoint).with_allow_http(endpoint.starts_with("http://"));
        }
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
        let runtime = runtime.map_err(|e| BackupError::Destination(format!("no thread can be started: {e}")))?;
        Ok(Bucket { store: builder.build().map_err(destination)?, prefix: config.prefix.clone(), runtime })
    }

    fn path(&self, key: &str) -> Path {
        if self.prefix.is_empty() { Path::from(key) } else { Path::from(format!("{}/{key}", self.prefix)) }
    }

    /// The key of a path.
    fn key(&self, path: &Path) -> String {
        let path = path.as_ref();
        let prefix = self.prefix.trim_matches('/');
        path.strip_prefix(prefix).map_or(path, |rest| rest.trim_start_matches('/')).to_owned()
    }
}

impl Destination for Bucket {
    fn put(&self, key: &str, bytes: Vec<u8>) -> Result<()> {
        let options = PutOptions { mode: PutMode::Create, ..PutOptions::default() };
        let path = self.path(key);
        match self.runtime.block_on(self.store.put_opts(&path, bytes.into(), options)) {
            Err(object_store::Error::AlreadyExists { .. }) => Err(BackupError::Exists(key.to_owned())),
            put => put.map(drop).map_err(destination),
        }
    }

    fn get(&self, key: &str) -> Result<Vec<u8>> {
        let path = self.path(key);
        let read = async { self.store.get(&path).await?.bytes().await };
        match self.runtime.block_on(read) {
            Err(object_store::Error::NotFound { .. }) => Err(BackupError::Missing(key.to_owned())),
            read => read.map(Into::into).map_err(destination),
        }
    }

    fn list(&self, folder: &str) -> Result<Vec<String>> {
        let path = self.path(folder);
        let listed = self.store.list(Some(&path)).map_ok(|object| self.key(&object.location));
        let mut keys: Vec<String> =
            self.runtime.block_on(listed.boxed().try_collect::<Vec<_>>()).map_err(destination)?;
        keys.sort_unstable();
        Ok(keys)
    }

    fn folders(&self, folder: &str) -> Result<Vec<String>> {
        let path = self.path(folder);
        let listed = self.runtime.block_on(self.store.list_with_delimiter(Some(&path))).map_err(destination)?;
        let mut names: Vec<String> =
            listed.common_prefixes.iter().filter_map(|path| path.filename()).map(str::to_owned).collect();
        names.sort_unstable();
        Ok(names)
    }

    fn delete(&self, key: &str) -> Result<()> {
        match self.runtime.block_on(self.store.delete(&self.path(key))) {
            Err(object_store::Error::NotFound { .. }) => Ok(()),
            deleted => deleted.map_err(destination),
        }
    }

    fn delete_all(&self, keys: &[String]) -> Result<()> {
        let paths: Vec<_> = keys.iter().map(|key| Ok(self.path(key))).collect();
        let deleted = self.store.delete_stream(futures_util::stream::iter(paths).boxed());
        self.runtime.block_on(deleted.try_for_each(|_| std::future::ready(Ok(())))).map_err(destination)
    }
}

fn destination(error: object_store::Error) -> BackupError {
    BackupError::Destination(error.to_string())
}
