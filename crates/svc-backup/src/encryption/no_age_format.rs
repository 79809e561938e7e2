//! The same without the feature `age`: nothing is encrypted, and encrypted objects cannot be read.

use std::convert::Infallible;
use std::path::Path;

use super::Undecrypted;
use crate::error::Result;
use crate::names::{FINGERPRINT, Sealed};
use crate::object::Position;

pub(super) type Recipient = Infallible;
pub(super) type Identity = Infallible;

fn unsupported() -> String {
    "requires a build with the feature age: `cargo build --release -p svc-server --features age`".to_owned()
}

pub(super) fn recipient(_: &str) -> Result<Recipient, String> {
    Err(unsupported())
}

pub(super) fn identities(_: &Path) -> Result<Vec<Identity>, String> {
    Err(unsupported())
}

pub(super) fn encrypt(_: &[Recipient], _: &[u8]) -> Result<Vec<u8>, String> {
    Err(unsupported())
}

pub(super) fn decrypt(_: &[Identity], _: &[u8]) -> Result<Vec<u8>, Undecrypted> {
    Err(Undecrypted::NoKey)
}

/// There is no such key.
#[derive(Debug)]
pub(crate) struct LocalKey(Infallible);

impl LocalKey {
    pub(crate) fn open(_: &Path, _: bool) -> Result<Option<Self>> {
        Ok(None)
    }

    pub(crate) fn seal(&self, _: [u8; FINGERPRINT], _: &str, _: u8, _: u64, _: Position) -> Sealed {
        match self.0 {}
    }

    pub(crate) fn unseal(&self, _: &Sealed, _: &str, _: u8, _: u64) -> Option<Position> {
        match self.0 {}
    }

    pub(crate) fn part_id(&self, _: [u8; FINGERPRINT], _: &[u8]) -> String {
        match self.0 {}
    }
}
