//! Reads a whole backup and checks that every time in it can be restored.

use std::collections::HashSet;

use crate::catalog::{self, Generation};
use crate::destination::Destination;
use crate::error::{BackupError, Result};
use crate::files;
use crate::names::{FILE_LISTS, SnapshotName};
use crate::object::{LogHeader, PagesHeader, SnapshotHeader, decode};
use crate::restore::{LogFrames, check_order, check_pages};

/// What was found.
#[derive(Debug, Default)]
pub struct Verified {
    /// Number of objects that were read.
    pub objects: usize,
    /// Number of complete snapshots.
    pub snapshots: usize,
    /// Number of transactions in the log.
    pub transactions: usize,
    /// Number of lists of files.
    pub file_lists: usize,
    /// Number of objects that are encrypted and were not decrypted: they are there, and have the form that they should have, but their
    /// content was not checked.
    pub encrypted: usize,
    /// What is wrong.
    pub faults: Vec<BackupError>,
}

/// Reads every object and checks it. Without [`Decrypting`](crate::Decrypting), only the form of encrypted objects is checked.
///
/// # Errors
/// If the destination does not work. What is missing or damaged is in the result.
pub fn verify(from: &dyn Destination) -> Result<Verified> {
    let mut found = Verified::default();
    for generation in catalog::generations(from)? {
        found.check_generation(from, &generation)?;
    }
    let mut checked = HashSet::new();
    for key in from.list(FILE_LISTS)? {
        found.file_lists += 1;
        let Some(list) = found.take(files::read_list(from, &key))? else { continue };
        for part in list.into_iter().flat_map(|file| file.parts) {
            if !checked.contains(&part) {
                found.take(files::content(from, &part))?;
                checked.insert(part);
            }
        }
    }
    Ok(found)
}

impl Verified {
    /// Counts an object, and records what is wrong with it.
    fn take<T>(&mut self, read: Result<T>) -> Result<Option<T>> {
        self.objects += 1;
        match read {
            Ok(value) => Ok(Some(value)),
            Err(BackupError::Encrypted(_)) => {
                self.encrypted += 1;
                Ok(None)
            }
            Err(fault @ (BackupError::Damaged { .. } | BackupError::Missing(_) | BackupError::WrongIdentity(_))) => {
                self.faults.push(fault);
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    fn check_generation(&mut self, from: &dyn Destination, generation: &Generation) -> Result<()> {
        let name = &generation.name;
        let mut ends = Vec::new();
        for snapshot in &generation.snapshots {
            self.snapshots += 1;
            let key = snapshot.complete(name);
            let read = from.get(&key).and_then(|bytes| decode::<SnapshotHeader>(&key, &bytes));
            let n_encrypted = self.encrypted;
            let Some((header, _)) = self.take(read)? else {
                if self.encrypted > n_encrypted {
                    self.check_parts(from, generation, snapshot)?;
                    ends.push((snapshot.index, None));
                }
                continue;
            };
            let mut next = 1;
            for n in 0..header.n_parts {
                let key = snapshot.part(name, n);
                let part = from.get(&key).and_then(|bytes| decode::<PagesHeader>(&key, &bytes));
                let part = part.and_then(|(part, body)| check_pages(&key, &part, &body, &header, next));
                next = self.take(part)?.unwrap_or(next);
            }
            if next != header.n_pages + 1 {
                self.faults.push(BackupError::Damaged { key, why: "pages are missing".to_owned() });
            }
            ends.push((snapshot.index, Some(header.at)));
        }
        // What comes before the first snapshot is not needed.
        let Some((first, end)) = ends.first().copied() else { return Ok(()) };
        // Unknown after a part that is missing, damaged or encrypted.
        let mut end = end;
        let mut index = first;
        for part in generation.log.iter().filter(|part| part.index > first) {
            let key = part.key(name);
            if part.index != index + 1 {
                self.faults.push(BackupError::Missing(format!("a part of the log before {key}")));
                end = None;
            }
            let read = from.get(&key).and_then(|bytes| decode::<LogHeader>(&key, &bytes)).and_then(|(header, body)| {
                let n_transactions = LogFrames::of(&key, &header, &body)?.transactions(usize::MAX).count();
                check_order(&key, &header, generation, end.unwrap_or(header.after)).map(|()| (header, n_transactions))
            });
            index = part.index;
            let header = self.take(read)?;
            end = header.as_ref().map(|(header, _)| header.end);
            self.transactions += header.map_or(0, |(_, n_transactions)| n_transactions);
            if let (Some(end), Some((_, Some(at)))) = (end, ends.iter().find(|(of, _)| *of == index))
                && *at != end
            {
                let why = "a snapshot was taken elsewhere".to_owned();
                self.faults.push(BackupError::Damaged { key, why });
            }
        }
        Ok(())
    }

    /// Reads the parts of a snapshot whose header is encrypted, so that their number is unknown.
    fn check_parts(&mut self, from: &dyn Destination, generation: &Generation, snapshot: &SnapshotName) -> Result<()> {
        let is_part = |key: &&String| {
            SnapshotName::parse(key)
                .is_some_and(|(of, is_complete)| !is_complete && (of.index, of.time) == (snapshot.index, snapshot.time))
        };
        let n_parts = generation.keys.iter().filter(is_part).count();
        for n in 0..u32::try_from(n_parts.max(1)).unwrap_or(u32::MAX) {
            let key = snapshot.part(&generation.name, n);
            self.take(from.get(&key).and_then(|bytes| decode::<PagesHeader>(&key, &bytes)))?;
        }
        Ok(())
    }
}
