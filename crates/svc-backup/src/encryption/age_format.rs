//! Encryption with the crate age, and the key of the server.

use std::fs::{self, File};
use std::io::{BufReader, ErrorKind, Read as _, Write as _};
use std::path::{Path, PathBuf};

use age::{DecryptError, Decryptor, Encryptor, IdentityFile, x25519};
use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use ring::hmac;

use super::Undecrypted;
use crate::error::{BackupError, Result, at};
use crate::names::{FINGERPRINT, Sealed};
use crate::object::Position;

pub(super) type Recipient = x25519::Recipient;
pub(super) type Identity = Box<dyn age::Identity + Send + Sync>;

/// Bytes of the key of the server.
const KEY: usize = 32;

pub(super) fn recipient(text: &str) -> Result<Recipient, String> {
    text.parse().map_err(|why| format!("has an invalid public key ({text}): {why}"))
}

pub(super) fn identities(path: &Path) -> Result<Vec<Identity>, String> {
    let file = File::open(path).map_err(|why| why.to_string())?;
    let file = IdentityFile::from_buffer(BufReader::new(file)).map_err(|why| why.to_string())?;
    file.into_identities().map_err(|why| why.to_string())
}

pub(super) fn encrypt(recipients: &[Recipient], plain: &[u8]) -> Result<Vec<u8>, String> {
    let all = recipients.iter().map(|recipient| recipient as &dyn age::Recipient);
    let encryptor = Encryptor::with_recipients(all).map_err(|why| why.to_string())?;
    let mut bytes = Vec::with_capacity(plain.len() + plain.len() / 1_000 + 1_024);
    let written = encryptor.wrap_output(&mut bytes).and_then(|mut writer| {
        writer.write_all(plain)?;
        writer.finish()
    });
    written.map_err(|why| why.to_string())?;
    Ok(bytes)
}

pub(super) fn decrypt(identities: &[Identity], bytes: &[u8]) -> Result<Vec<u8>, Undecrypted> {
    let failed = |why: DecryptError| match why {
        DecryptError::NoMatchingKeys => Undecrypted::NoKey,
        why => Undecrypted::Damaged(format!("it cannot be decrypted: {why}")),
    };
    let decryptor = Decryptor::new(bytes).map_err(failed)?;
    let all = identities.iter().map(|identity| &**identity as &dyn age::Identity);
    let mut reader = decryptor.decrypt(all).map_err(failed)?;
    let mut plain = Vec::with_capacity(bytes.len());
    let read = reader.read_to_end(&mut plain);
    read.map_err(|why| Undecrypted::Damaged(format!("it cannot be decrypted: {why}")))?;
    Ok(plain)
}

/// A random key of the server, in a file beside its database. It seals positions of the log, and names the content of files, so that
/// neither tells anything about the content. It decrypts nothing of the site; without it, a new generation begins.
#[derive(Debug)]
pub(crate) struct LocalKey(hmac::Key);

impl LocalKey {
    /// Reads the key of the server with this database. `None` if there is none, and none is to be created.
    pub(crate) fn open(database: &Path, create: bool) -> Result<Option<Self>> {
        let mut path = database.as_os_str().to_owned();
        path.push(".backup-key");
        let path = PathBuf::from(path);
        let key = match fs::read(&path) {
            Ok(key) if key.len() == KEY => key,
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(at(&path)(error)),
            _ if !create => return Ok(None),
            _ => new_key(&path)?,
        };
        Ok(Some(LocalKey(hmac::Key::new(hmac::HMAC_SHA256, &key))))
    }

    /// A key that is derived for one purpose.
    fn derived(&self, purpose: &str, fingerprint: [u8; FINGERPRINT], of: &str) -> hmac::Tag {
        let mut context = hmac::Context::with_key(&self.0);
        context.update(purpose.as_bytes());
        context.update(&fingerprint);
        context.update(of.as_bytes());
        context.sign()
    }

    fn cipher(&self, fingerprint: [u8; FINGERPRINT], generation: &str) -> Option<LessSafeKey> {
        let key = self.derived("svc-backup position", fingerprint, generation);
        UnboundKey::new(&CHACHA20_POLY1305, key.as_ref()).ok().map(LessSafeKey::new)
    }

    /// Seals where the log of a generation was at this index, as an object of this kind. The nonce is derived from all of that, so that none is used
    /// for two positions, although a part that could not be sent is made again with another end.
    pub(crate) fn seal(
        &self,
        fingerprint: [u8; FINGERPRINT],
        generation: &str,
        kind: u8,
        index: u64,
        position: Position,
    ) -> Sealed {
        let mut content = position.to_bytes().to_vec();
        let place = place(kind, index);
        let nonce = self.nonce(&place, &content);
        let cipher = self.cipher(fingerprint, generation).expect("the tag has the length of a key");
        let sealed =
            cipher.seal_in_place_append_tag(Nonce::assume_unique_for_key(nonce), Aad::from(place), &mut content);
        sealed.expect("a few bytes can be sealed");
        Sealed::new(fingerprint, &[&nonce[..], &content].concat())
    }

    /// The position; `None` if it was sealed with another key.
    pub(crate) fn unseal(&self, sealed: &Sealed, generation: &str, kind: u8, index: u64) -> Option<Position> {
        let content = sealed.content();
        let (nonce, content) = content.split_first_chunk()?;
        let (nonce, mut content) = (Nonce::assume_unique_for_key(*nonce), content.to_vec());
        let cipher = self.cipher(sealed.fingerprint(), generation)?;
        let position = cipher.open_in_place(nonce, Aad::from(place(kind, index)), &mut content).ok()?;
        Some(Position::from_bytes(position.try_into().ok()?))
    }

    fn nonce(&self, place: &[u8], position: &[u8]) -> [u8; NONCE_LEN] {
        let mut context = hmac::Context::with_key(&self.0);
        [b"svc-backup nonce", place, position].iter().for_each(|part| context.update(part));
        let mut nonce = [0; NONCE_LEN];
        nonce.copy_from_slice(&context.sign().as_ref()[..NONCE_LEN]);
        nonce
    }

    /// Names content: the same for the same content and recipients.
    pub(crate) fn part_id(&self, fingerprint: [u8; FINGERPRINT], content: &[u8]) -> String {
        let key = hmac::Key::new(hmac::HMAC_SHA256, self.derived("svc-backup content", fingerprint, "").as_ref());
        hmac::sign(&key, content).as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

/// The object whose position is sealed.
fn place(kind: u8, index: u64) -> [u8; 9] {
    let mut bytes = [kind; 9];
    bytes[1..].copy_from_slice(&index.to_be_bytes());
    bytes
}

/// Stores a new key durably.
fn new_key(path: &Path) -> Result<Vec<u8>> {
    let mut key = vec![0; KEY];
    getrandom::fill(&mut key).map_err(|e| BackupError::Destination(e.to_string()))?;
    let mut unfinished = path.as_os_str().to_owned();
    unfinished.push(".new");
    let unfinished = PathBuf::from(unfinished);
    let written = svc_files::private().create(true).truncate(true).open(&unfinished).and_then(|mut file| {
        file.write_all(&key)?;
        file.sync_all()?;
        fs::rename(&unfinished, path)?;
        path.parent().map_or(Ok(()), svc_files::sync_folder)
    });
    written.map_err(at(path))?;
    Ok(key)
}
