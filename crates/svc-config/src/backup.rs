//! The settings of the continuous backup.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use svc_auth::Secret;
use svc_backup::{BackupError, BackupSettings, Destination, Folder, Recipients};

use super::{ConfigError, Reader, bucket_name, values};

/// Where a backup is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BackupTarget {
    /// A folder.
    Folder(PathBuf),
    /// A bucket and the prefix of its keys.
    Bucket(String, String),
}

/// The continuous backup.
#[derive(Clone, Debug)]
pub struct BackupConfig {
    /// Where it is; `None` if there is none.
    pub to: Option<BackupTarget>,
    /// How it is made.
    pub settings: BackupSettings,
    /// Access to buckets.
    pub access: BucketAccess,
}

/// Access to the buckets of backups.
#[derive(Clone, Debug)]
pub struct BucketAccess {
    /// URL of the store; default: AWS.
    pub endpoint: Option<String>,
    /// Region.
    pub region: String,
    /// Access key ID.
    pub access_key: Secret,
    /// Secret access key.
    pub secret_key: Secret,
}

/// Parses a target. Folders are relative to `folder`.
///
/// # Errors
/// If the name of a bucket is missing, or this build has none.
pub fn target(text: &str, folder: &Path) -> Result<BackupTarget, String> {
    let Some(bucket) = text.strip_prefix("s3://") else {
        return if text.is_empty() || text.contains("://") {
            Err("must be a folder, or s3://BUCKET/PREFIX".to_owned())
        } else {
            Ok(BackupTarget::Folder(folder.join(text)))
        };
    };
    let (name, prefix) = bucket.split_once('/').unwrap_or((bucket, ""));
    if name.is_empty() {
        return Err("must have the name of a bucket, as in s3://BUCKET/PREFIX".to_owned());
    }
    let name = bucket_name(name, cfg!(feature = "s3"))?;
    Ok(BackupTarget::Bucket(name, prefix.trim_matches('/').to_owned()))
}

impl BackupTarget {
    /// Opens the target.
    ///
    /// # Errors
    /// If the settings of a bucket are invalid.
    pub fn open(&self, access: &BucketAccess) -> Result<Arc<dyn Destination>, BackupError> {
        match self {
            BackupTarget::Folder(path) => Ok(Arc::new(Folder::new(path))),
            BackupTarget::Bucket(name, prefix) => open_bucket(name, prefix, access),
        }
    }
}

impl std::fmt::Display for BackupTarget {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            BackupTarget::Folder(path) => write!(f, "{}", path.display()),
            BackupTarget::Bucket(name, prefix) => write!(f, "s3://{name}/{prefix}"),
        }
    }
}

#[cfg(feature = "s3")]
fn open_bucket(name: &str, prefix: &str, access: &BucketAccess) -> Result<Arc<dyn Destination>, BackupError> {
    let bucket = svc_backup::Bucket::new(&svc_backup::BucketConfig {
        name: name.to_owned(),
        prefix: prefix.to_owned(),
        endpoint: access.endpoint.clone(),
        region: access.region.clone(),
        access_key: access.access_key.expose().to_owned(),
        secret_key: access.secret_key.expose().to_owned(),
    })?;
    Ok(Arc::new(bucket))
}

#[cfg(not(feature = "s3"))]
fn open_bucket(name: &str, _: &str, _: &BucketAccess) -> Result<Arc<dyn Destination>, BackupError> {
    Err(BackupError::Destination(format!("this build cannot use the bucket {name}")))
}

/// Reads the settings. `folder` is the working folder.
pub(super) fn read(read: &mut Reader<'_>, folder: &Path) -> Result<BackupConfig, ConfigError> {
    let to = read.optional("backup.to", |text| target(text, folder))?;
    let settings = BackupSettings {
        interval: read.required("backup.interval", interval)?,
        snapshot_interval: read.required("backup.snapshot_interval", values::duration)?,
        retention: read.required("backup.retention", values::duration)?,
        max_log: read.required("backup.max_log", values::size)?.max(MIN_LOG),
        recipients: read
            .optional("backup.recipients", |text| match values::texts(text)? {
                keys if keys.is_empty() => Ok(None),
                keys => Recipients::parse(&keys).map(Some),
            })?
            .flatten(),
        ..BackupSettings::default()
    };
    let text = |text: &str| Ok(text.to_owned());
    let secret = |text: &str| Ok(Secret::new(text));
    let access = BucketAccess {
        endpoint: read.optional("backup.endpoint", text)?,
        region: read.required("backup.region", text)?,
        access_key: read.optional("backup.access_key", secret)?.unwrap_or_else(|| Secret::new("")),
        secret_key: read.optional("backup.secret_key", secret)?.unwrap_or_else(|| Secret::new("")),
    };
    Ok(BackupConfig { to, settings, access })
}

/// The log is started over at half of this size, so that a smaller limit would end every generation.
const MIN_LOG: u64 = 64 << 20;

/// A time of up to an hour.
fn interval(text: &str) -> Result<Duration, String> {
    let time = values::duration(text)?;
    if time <= Duration::from_secs(3_600) { Ok(time) } else { Err("must be at most 1h".to_owned()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recipients_are_public_keys() {
        let read = |keys: &str| {
            let variables = vec![("SVC_BACKUP_RECIPIENTS".to_owned(), keys.to_owned())];
            let config = crate::Config::load(&crate::Sources { variables, ..crate::Sources::default() });
            config
                .map(|config| config.backup.settings.recipients.map_or(0, |keys| keys.count()))
                .map_err(|e| e.to_string())
        };
        let key = "age1zvkyg2lqzraa2lnjvqej32nkuu0ues2s82hzrye869xeexvn73equnujwj";
        assert_eq!(read(""), Ok(0));
        if cfg!(feature = "age") {
            assert_eq!(read(key), Ok(1));
            assert_eq!(read(&format!("{key}, {key}")), Ok(1));
            assert!(read("age1").unwrap_err().contains("`backup.recipients` has an invalid public key (age1)"));
        } else {
            assert!(read(key).unwrap_err().contains("--features age"));
        }
    }

    #[test]
    fn targets() {
        let parse = |text| target(text, Path::new("/srv"));
        assert_eq!(parse("backup"), Ok(BackupTarget::Folder("/srv/backup".into())));
        assert_eq!(parse("/mnt/b"), Ok(BackupTarget::Folder("/mnt/b".into())));
        assert!(parse("").is_err() && parse("s3:///a").is_err() && parse("https://example.org/").is_err());
        if cfg!(feature = "s3") {
            assert_eq!(parse("s3://b/a/c/"), Ok(BackupTarget::Bucket("b".to_owned(), "a/c".to_owned())));
            assert_eq!(parse("s3://b").map(|to| to.to_string()), Ok("s3://b/".to_owned()));
        } else {
            assert!(parse("s3://b").unwrap_err().contains("--features s3"));
        }
    }
}
