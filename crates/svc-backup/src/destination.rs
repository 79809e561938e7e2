//! Where a backup is stored.

use std::fmt;

use crate::error::Result;

/// A store of objects by key (`a/b/c`). All calls block.
pub trait Destination: fmt::Debug + Send + Sync {
    /// Stores a new object durably, as a whole or not at all.
    ///
    /// # Errors
    /// [`BackupError::Exists`](crate::BackupError::Exists) if there is one with this key, or if the destination does not work.
    fn put(&self, key: &str, bytes: Vec<u8>) -> Result<()>;

    /// Reads an object.
    ///
    /// # Errors
    /// [`BackupError::Missing`](crate::BackupError::Missing) if there is none, or if the destination does not work.
    fn get(&self, key: &str) -> Result<Vec<u8>>;

    /// The keys of all objects in a folder and its folders, in order.
    ///
    /// # Errors
    /// If the destination does not work.
    fn list(&self, folder: &str) -> Result<Vec<String>>;

    /// The names of the folders in a folder, in order.
    ///
    /// # Errors
    /// If the destination does not work.
    fn folders(&self, folder: &str) -> Result<Vec<String>>;

    /// Deletes an object, if it exists.
    ///
    /// # Errors
    /// If the destination does not work.
    fn delete(&self, key: &str) -> Result<()>;

    /// Deletes objects, if they exist, in any order.
    ///
    /// # Errors
    /// If the destination does not work.
    fn delete_all(&self, keys: &[String]) -> Result<()> {
        keys.iter().try_for_each(|key| self.delete(key))
    }

    /// Deletes what killed processes have left of objects that they did not complete.
    ///
    /// # Errors
    /// If the destination does not work.
    fn delete_incomplete(&self) -> Result<()> {
        Ok(())
    }
}
