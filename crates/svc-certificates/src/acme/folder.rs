//! Stored files: the account, the certificate and the last attempts. The owner only can read them.

use std::{
    fs,
    io::{self, Write as _},
    path::{Path, PathBuf},
};

use instant_acme::AccountCredentials;
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use super::schedule::Attempts;
use crate::{
    certificate::{Certificate, CertificateFiles},
    error::{Error, Result},
};

/// Name of the folder in the data folder.
pub const FOLDER: &str = "acme";

const ACCOUNT: &str = "account.json";
const ATTEMPTS: &str = "attempts.json";
/// The certificate, those of intermediate authorities, and the key.
const CERTIFICATE: &str = "certificate.pem";

/// The files of the certificate in a data folder. Both are one.
pub fn stored_files(data: &Path) -> CertificateFiles {
    let path = data.join(FOLDER).join(CERTIFICATE);
    CertificateFiles { certificate: path.clone(), key: path }
}

/// An account of an authority.
#[derive(Serialize, Deserialize)]
pub(super) struct Account {
    pub(super) directory: String,
    pub(super) credentials: AccountCredentials,
}

/// The folder of the files.
pub(super) struct Folder(PathBuf);

impl Folder {
    pub(super) fn create(data: &Path) -> Result<Self> {
        let path = data.join(FOLDER);
        let created = fs::create_dir_all(&path).and_then(|()| restrict(&path, 0o700));
        created.map_err(|cause| Error::Store { path: path.clone(), cause })?;
        Ok(Folder(path))
    }

    pub(super) fn existing(data: &Path) -> Self {
        Folder(data.join(FOLDER))
    }

    /// The account, if there is one with this authority.
    pub(super) fn account(&self, directory: &str) -> Option<AccountCredentials> {
        let account: Account = self.read(ACCOUNT)?;
        (account.directory == directory).then_some(account.credentials)
    }

    pub(super) fn set_account(&self, account: &Account) -> Result<()> {
        self.write(ACCOUNT, &serde_json::to_vec(account).expect("the account is valid JSON"))
    }

    pub(super) fn attempts(&self) -> Option<Attempts> {
        self.read(ATTEMPTS)
    }

    pub(super) fn set_attempts(&self, attempts: &Attempts) -> Result<()> {
        self.write(ATTEMPTS, &serde_json::to_vec(attempts).expect("the attempts are valid JSON"))
    }

    /// The certificate, if there is one.
    pub(super) fn certificate(&self) -> Result<Option<Certificate>> {
        let path = self.0.join(CERTIFICATE);
        if !path.exists() {
            return Ok(None);
        }
        Certificate::read(&CertificateFiles { certificate: path.clone(), key: path }).map(Some)
    }

    /// Replaces the certificate. Certificate and key are one file, so that they are replaced together.
    pub(super) fn set_certificate(&self, chain: &str, key: &str) -> Result<()> {
        self.write(CERTIFICATE, format!("{}\n{key}", chain.trim_end()).as_bytes())
    }

    fn read<T: DeserializeOwned>(&self, name: &str) -> Option<T> {
        let text = fs::read(self.0.join(name)).ok()?;
        serde_json::from_slice(&text).inspect_err(|error| tracing::warn!("{name} is not used: {error}")).ok()
    }

    /// Replaces a file as a whole.
    fn write(&self, name: &str, content: &[u8]) -> Result<()> {
        let (path, new) = (self.0.join(name), self.0.join(format!("{name}.new")));
        let write = || {
            // What a process left that died here may have other rights.
            drop(fs::remove_file(&new));
            let mut file = create(&new)?;
            file.write_all(content)?;
            file.sync_all()?;
            fs::rename(&new, &path)
        };
        write().map_err(|cause| Error::Store { path: path.clone(), cause })
    }
}

fn create(path: &Path) -> io::Result<fs::File> {
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

#[cfg(unix)]
fn restrict(path: &Path, mode: u32) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(path, fs::Permissions::from_mode(mode))
}

#[cfg(not(unix))]
fn restrict(_: &Path, _: u32) -> io::Result<()> {
    Ok(())
}
