//! Objects that only the holders of keys can read: files of age (<https://age-encryption.org/v1>), whose content is an object as it is
//! without encryption.
//!
//! The server has the public keys only. What it must read again itself has no content of the site and stays readable: the objects of
//! `owner`, and the lists of files. Positions of the log are in the names of objects, sealed with a key of the server ([`LocalKey`]).

#[cfg_attr(not(feature = "age"), path = "encryption/no_age_format.rs")]
mod age_format;

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use sha2::{Digest as _, Sha256};

use crate::destination::Destination;
use crate::error::{BackupError, Result};
use crate::names::{FILE_LISTS, FINGERPRINT, OWNERS, Sealed};
use crate::object::Position;

pub(crate) use age_format::LocalKey;

/// How each file of age begins.
const MAGIC: &[u8] = b"age-encryption.org/v1\n";

/// Begins the last line of the header.
const HEADER_END: &[u8] = b"\n---";

/// Bytes of the nonce before the content, of a chunk of the content, and of its tag.
const NONCE: usize = 16;
const CHUNK: usize = 64 << 10;
const TAG: usize = 16;

/// The most keys that can decrypt a backup.
const MAX_RECIPIENTS: usize = 20;

/// Public keys, whose holders can decrypt a backup: each of them alone.
#[derive(Clone)]
pub struct Recipients {
    keys: Arc<Vec<age_format::Recipient>>,
    fingerprint: [u8; FINGERPRINT],
}

impl fmt::Debug for Recipients {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} recipients", self.keys.len())
    }
}

impl Recipients {
    /// Parses public keys (`age1…`).
    ///
    /// # Errors
    /// If one is invalid, there are none or more than twenty, or this build cannot encrypt.
    pub fn parse(keys: &[String]) -> Result<Self, String> {
        let mut texts: Vec<&str> = keys.iter().map(String::as_str).collect();
        texts.sort_unstable();
        texts.dedup();
        if texts.is_empty() || texts.len() > MAX_RECIPIENTS {
            return Err(format!("must be 1 to {MAX_RECIPIENTS} public keys of age (age1…)"));
        }
        let keys = texts.iter().map(|text| age_format::recipient(text)).collect::<Result<Vec<_>, _>>()?;
        let mut fingerprint = [0; FINGERPRINT];
        fingerprint.copy_from_slice(&Sha256::digest(texts.join("\n"))[..FINGERPRINT]);
        Ok(Recipients { keys: Arc::new(keys), fingerprint })
    }

    /// Number of keys.
    pub fn count(&self) -> usize {
        self.keys.len()
    }

    /// Tells these keys from others.
    pub(crate) fn fingerprint(&self) -> [u8; FINGERPRINT] {
        self.fingerprint
    }
}

/// Secret keys that decrypt a backup.
pub struct Identities(Vec<age_format::Identity>);

impl fmt::Debug for Identities {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} identities", self.0.len())
    }
}

impl Identities {
    /// Reads a file that `age-keygen` has written. Lines with `#` are comments.
    ///
    /// # Errors
    /// If it cannot be read, has no secret key, or this build cannot decrypt.
    pub fn read(path: &Path) -> Result<Self> {
        let invalid = |why: String| BackupError::Identity(format!("{}: {why}", path.display()));
        let identities = age_format::identities(path).map_err(invalid)?;
        if identities.is_empty() { Err(invalid("it has no secret key".to_owned())) } else { Ok(Identities(identities)) }
    }
}

/// The key of the server and the recipients of what it writes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sealing<'a> {
    pub(crate) key: &'a LocalKey,
    pub(crate) fingerprint: [u8; FINGERPRINT],
}

/// Kinds of sealed positions.
const OF_LOG: u8 = 1;
const OF_SNAPSHOT: u8 = 2;

impl Sealing<'_> {
    /// Where a part of the log ends.
    pub(crate) fn log_end(&self, generation: &str, index: u64, end: Position) -> Sealed {
        self.key.seal(self.fingerprint, generation, OF_LOG, index, end)
    }

    /// Where the log was when a snapshot was taken.
    pub(crate) fn snapshot(&self, generation: &str, index: u64, at: Position) -> Sealed {
        self.key.seal(self.fingerprint, generation, OF_SNAPSHOT, index, at)
    }

    /// The name of a part of a file.
    pub(crate) fn part_id(&self, content: &[u8]) -> String {
        self.key.part_id(self.fingerprint, content)
    }

    /// The recipients, for the header of a list of files.
    pub(crate) fn recipients(&self) -> String {
        self.fingerprint.iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

impl LocalKey {
    /// Where a part of the log ends; `None` if its name was sealed with another key.
    pub(crate) fn log_end(&self, sealed: &Sealed, generation: &str, index: u64) -> Option<Position> {
        self.unseal(sealed, generation, OF_LOG, index)
    }

    /// Where the log was when a snapshot was taken.
    pub(crate) fn snapshot(&self, sealed: &Sealed, generation: &str, index: u64) -> Option<Position> {
        self.unseal(sealed, generation, OF_SNAPSHOT, index)
    }
}

/// Whether the bytes are a file of age.
pub(crate) fn is_encrypted(bytes: &[u8]) -> bool {
    bytes.starts_with(MAGIC)
}

/// Checks what can be checked of an encrypted object without a key: that it has a header, and chunks of the right sizes.
pub(crate) fn check_form(key: &str, bytes: &[u8]) -> Result<()> {
    let damaged = |why: &str| BackupError::Damaged { key: key.to_owned(), why: why.to_owned() };
    let end = bytes.windows(HEADER_END.len()).position(|four| four == HEADER_END);
    let end = end.ok_or_else(|| damaged("the header has no end"))? + HEADER_END.len();
    let line = bytes[end..].iter().position(|byte| *byte == b'\n').ok_or_else(|| damaged("the header has no end"))?;
    let content = bytes.len() - end - line - 1;
    let last = content.checked_sub(NONCE).map(|length| length % (CHUNK + TAG));
    // Objects are not empty, so that the last chunk has more than a tag.
    match last {
        Some(0) if content > NONCE => Ok(()),
        Some(last) if last > TAG => Ok(()),
        _ => Err(damaged("it is too short")),
    }
}

/// A destination to which the content of a site is written encrypted.
#[derive(Debug)]
pub(crate) struct Encrypting {
    pub(crate) to: Arc<dyn Destination>,
    pub(crate) recipients: Recipients,
}

impl Destination for Encrypting {
    fn put(&self, key: &str, bytes: Vec<u8>) -> Result<()> {
        let is_plain = [OWNERS, FILE_LISTS]
            .iter()
            .any(|folder| key.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/')));
        if is_plain {
            return self.to.put(key, bytes);
        }
        let encrypted = age_format::encrypt(&self.recipients.keys, &bytes);
        self.to
            .put(key, encrypted.map_err(|why| BackupError::Destination(format!("{key} cannot be encrypted: {why}")))?)
    }
    fn get(&self, key: &str) -> Result<Vec<u8>> {
        self.to.get(key)
    }
    fn list(&self, folder: &str) -> Result<Vec<String>> {
        self.to.list(folder)
    }
    fn folders(&self, folder: &str) -> Result<Vec<String>> {
        self.to.folders(folder)
    }
    fn delete(&self, key: &str) -> Result<()> {
        self.to.delete(key)
    }
    fn delete_all(&self, keys: &[String]) -> Result<()> {
        self.to.delete_all(keys)
    }
    fn delete_incomplete(&self) -> Result<()> {
        self.to.delete_incomplete()
    }
}

/// A destination from which objects are read as if they were not encrypted. Those that are not are read as they are.
#[derive(Debug)]
pub struct Decrypting {
    from: Arc<dyn Destination>,
    identities: Identities,
}

impl Decrypting {
    /// Reads from a destination with these keys.
    pub fn new(from: Arc<dyn Destination>, identities: Identities) -> Self {
        Decrypting { from, identities }
    }
}

/// Why an object could not be decrypted.
pub(crate) enum Undecrypted {
    /// It is not for these keys.
    NoKey,
    #[cfg_attr(not(feature = "age"), expect(dead_code, reason = "nothing is decrypted"))]
    Damaged(String),
}

impl Destination for Decrypting {
    fn put(&self, key: &str, bytes: Vec<u8>) -> Result<()> {
        self.from.put(key, bytes)
    }
    fn get(&self, key: &str) -> Result<Vec<u8>> {
        let bytes = self.from.get(key)?;
        if !is_encrypted(&bytes) {
            return Ok(bytes);
        }
        age_format::decrypt(&self.identities.0, &bytes).map_err(|why| match why {
            Undecrypted::NoKey => BackupError::WrongIdentity(key.to_owned()),
            Undecrypted::Damaged(why) => BackupError::Damaged { key: key.to_owned(), why },
        })
    }
    fn list(&self, folder: &str) -> Result<Vec<String>> {
        self.from.list(folder)
    }
    fn folders(&self, folder: &str) -> Result<Vec<String>> {
        self.from.folders(folder)
    }
    fn delete(&self, key: &str) -> Result<()> {
        self.from.delete(key)
    }
}

#[cfg(test)]
#[cfg(feature = "age")]
mod tests;
