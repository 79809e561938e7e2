//! The first password, stored in a file from before the site is created until it is shown.
//!
//! If the first start is interrupted, the next one can still show it. The file is readable by its owner only, and is removed
//! when the password has been shown or changed.

use std::{
    io::Write,
    path::{Path, PathBuf},
};

use svc_auth::{Secret, password};
use svc_store::{Store, users};

use super::{Created, LOGIN};
use crate::error::{Error, Result};

/// Name of the file in the data folder.
const FILE: &str = "first-password";

/// Path of the file in this data folder.
pub(super) fn file(data: &Path) -> PathBuf {
    data.join(FILE)
}

/// Stores the password of a site before it is created.
pub(super) fn store(file: &Path, password: &Secret) -> Result {
    let writing = || Error::io(format!("cannot write {}", file.display()));
    let mut opened = svc_files::private().create(true).truncate(true).open(file).map_err(writing())?;
    opened.write_all(format!("{}\n", password.expose()).as_bytes()).map_err(writing())?;
    opened.sync_all().map_err(writing())
}

/// The password that has not been shown yet, if it is still valid.
///
/// # Errors
/// If the database cannot be read.
pub fn not_shown(data: &Path, store: &Store) -> Result<Option<Created>> {
    let file = file(data);
    let Ok(text) = std::fs::read_to_string(&file) else { return Ok(None) };
    let password = Secret::new(text.trim());
    let user =
        store.read_blocking(|db| users::by_login(db, LOGIN)).map_err(Error::store("cannot read the database"))?;
    if user.is_some_and(|user| password::verify(&user.pass, password.expose().as_bytes())) {
        return Ok(Some(Created { login: LOGIN, password, file }));
    }
    forget(&file);
    Ok(None)
}

/// Removes the file. If that fails, the file contains an outdated password at worst.
pub(super) fn forget(file: &Path) {
    if let Err(error) = std::fs::remove_file(file)
        && error.kind() != std::io::ErrorKind::NotFound
    {
        tracing::warn!(%error, file = %file.display(), "cannot remove the file of the first password");
    }
}
