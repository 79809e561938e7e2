//! The settings of uploads: a folder or a bucket.

use svc_auth::Secret;

use super::{ConfigError, Reader, bucket_name};

/// A bucket of an S3-compatible store, for uploads.
#[derive(Clone, Debug)]
pub struct Bucket {
    /// Name of the bucket.
    pub name: String,
    /// URL of the store; default: AWS.
    pub endpoint: Option<String>,
    /// Region.
    pub region: String,
    /// Prefix of object keys.
    pub prefix: String,
    /// Access key ID.
    pub access_key: Secret,
    /// Secret access key.
    pub secret_key: Secret,
}

/// Where uploads are.
#[derive(Clone, Debug)]
pub struct Uploads {
    /// The bucket, also if it is not in use.
    pub bucket: Option<Bucket>,
    /// What is in use.
    pub places: UploadsUse,
}

/// The stores of uploads that are in use. New files are stored in the first one, and found in both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UploadsUse {
    /// The folder `uploads` of the content folder.
    Folder,
    /// The bucket.
    Bucket,
    /// The folder, while files are moved to it from the bucket.
    FolderThenBucket,
    /// The bucket, while files are moved to it from the folder.
    BucketThenFolder,
}

impl UploadsUse {
    /// Whether files are stored in the bucket, or found there.
    pub fn has_bucket(self) -> bool {
        self != UploadsUse::Folder
    }

    /// Whether files are stored in the folder, or found there.
    pub fn has_folder(self) -> bool {
        self != UploadsUse::Bucket
    }

    /// Whether new files are stored in the bucket.
    pub fn begins_with_bucket(self) -> bool {
        matches!(self, UploadsUse::Bucket | UploadsUse::BucketThenFolder)
    }

    fn parse(text: &str) -> Result<Self, String> {
        let names: Vec<&str> = text.split(',').map(str::trim).collect();
        match names[..] {
            ["folder"] => Ok(UploadsUse::Folder),
            ["bucket"] => Ok(UploadsUse::Bucket),
            ["folder", "bucket"] => Ok(UploadsUse::FolderThenBucket),
            ["bucket", "folder"] => Ok(UploadsUse::BucketThenFolder),
            _ => Err("must be folder, bucket, bucket,folder or folder,bucket".to_owned()),
        }
    }
}

/// Reads the settings.
pub(super) fn read(read: &mut Reader<'_>) -> Result<Uploads, ConfigError> {
    let text = |text: &str| Ok(text.to_owned());
    let secret = |text: &str| Ok(Secret::new(text));
    let name = read.optional("uploads.bucket", |name| bucket_name(name, cfg!(feature = "s3")))?;
    let (endpoint, region) = (read.optional("uploads.endpoint", text)?, read.required("uploads.region", text)?);
    let prefix = read.required("uploads.prefix", text)?;
    let keys = (read.optional("uploads.access_key", secret)?, read.optional("uploads.secret_key", secret)?);
    let (access_key, secret_key) =
        (keys.0.unwrap_or_else(|| Secret::new("")), keys.1.unwrap_or_else(|| Secret::new("")));
    let bucket = name.map(|name| Bucket { name, endpoint, region, prefix, access_key, secret_key });
    let given = read.optional("uploads.use", |text| match UploadsUse::parse(text)? {
        places if places.has_bucket() && bucket.is_none() => Err("requires `uploads.bucket`".to_owned()),
        places => Ok(places),
    })?;
    let default = if bucket.is_some() { UploadsUse::Bucket } else { UploadsUse::Folder };
    Ok(Uploads { bucket, places: given.unwrap_or(default) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Config, Sources};

    fn places(variables: &[(&str, &str)]) -> Result<UploadsUse, String> {
        let variables = variables.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
        let loaded = Config::load(&Sources { variables, ..Sources::default() });
        loaded.map(|config| config.uploads.places).map_err(|error| error.to_string())
    }

    #[test]
    fn a_store_in_use_must_be_known() {
        assert_eq!(places(&[]), Ok(UploadsUse::Folder));
        assert_eq!(places(&[("SVC_UPLOADS_USE", "folder")]), Ok(UploadsUse::Folder));
        for value in ["bucket", "bucket,folder", "folder, bucket"] {
            let error = places(&[("SVC_UPLOADS_USE", value)]).unwrap_err();
            assert!(error.contains("`uploads.use` requires `uploads.bucket`"), "{error}");
        }
        for value in ["s3", "folder,folder", "bucket,folder,bucket"] {
            assert!(places(&[("SVC_UPLOADS_USE", value)]).is_err(), "{value}");
        }
    }

    #[cfg(feature = "s3")]
    #[test]
    fn a_bucket_is_used_unless_another_order_is_set() {
        for (value, expected) in [
            (None, UploadsUse::Bucket),
            (Some("folder"), UploadsUse::Folder),
            (Some("bucket"), UploadsUse::Bucket),
            (Some("folder, bucket"), UploadsUse::FolderThenBucket),
            (Some("bucket,folder"), UploadsUse::BucketThenFolder),
        ] {
            let mut variables = vec![("SVC_UPLOADS_BUCKET", "b")];
            variables.extend(value.map(|value| ("SVC_UPLOADS_USE", value)));
            assert_eq!(places(&variables), Ok(expected), "{value:?}");
        }
    }
}
