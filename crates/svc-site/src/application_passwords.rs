//! A user's application passwords, stored as one list in the user's meta.

use svc_auth::application_password::{ApplicationPassword, IN_USE_OPTION, META_KEY, list_from_value, list_to_value};
use svc_model::UserId;
use svc_store::{
    Db, StoredText, Tx,
    meta::{self, MetaKind},
    options,
};

use crate::{SiteResult, errors::application_passwords as errors};

/// Maximum per user: every authentication tries them in turn.
const MAX_PER_USER: usize = 1_000;

/// The user's application passwords, oldest first.
pub fn list(db: &mut Db, user: UserId) -> SiteResult<Vec<ApplicationPassword>> {
    let stored = meta::get(db, MetaKind::User, user.0, META_KEY)?;
    Ok(stored.map(|stored| list_from_value(&stored.json())).unwrap_or_default())
}

/// The record with this UUID.
pub fn find(list: Vec<ApplicationPassword>, uuid: &str) -> Option<ApplicationPassword> {
    list.into_iter().find(|record| !record.uuid.is_empty() && record.uuid == uuid)
}

fn store_list(tx: &mut Tx, user: UserId, list: &[ApplicationPassword]) -> SiteResult<()> {
    meta::update(tx, MetaKind::User, user.0, META_KEY, &StoredText::of(list_to_value(list)))?;
    Ok(())
}

/// Adds a record. Names need not be unique, as in WordPress.
pub fn add(tx: &mut Tx, user: UserId, record: ApplicationPassword) -> SiteResult<()> {
    let mut list = list(tx, user)?;
    if list.len() >= MAX_PER_USER {
        return Err(errors::too_many().into());
    }
    list.push(record);
    store_list(tx, user, &list)?;
    let in_use = StoredText::of(1);
    if options::get(tx, IN_USE_OPTION)?.as_ref() != Some(&in_use) {
        options::set(tx, IN_USE_OPTION, &in_use, false)?;
    }
    Ok(())
}

/// Renames a record if `name` is given and neither empty nor `0`, and returns it.
pub fn rename(tx: &mut Tx, user: UserId, uuid: &str, name: Option<&str>) -> SiteResult<ApplicationPassword> {
    let mut list = list(tx, user)?;
    let record = list.iter_mut().find(|record| record.uuid == uuid).ok_or_else(errors::not_found)?;
    // PHP takes `0` for empty.
    let name = name.filter(|name| !matches!(*name, "" | "0"));
    let changes = name.is_some_and(|name| name != record.name);
    if let Some(name) = name {
        name.clone_into(&mut record.name);
    }
    let record = record.clone();
    if changes {
        store_list(tx, user, &list)?;
    }
    Ok(record)
}

/// Deletes a record.
pub fn remove(tx: &mut Tx, user: UserId, uuid: &str) -> SiteResult<()> {
    let mut list = list(tx, user)?;
    let before = list.len();
    list.retain(|record| record.uuid != uuid);
    if list.len() == before {
        return Err(errors::not_found().into());
    }
    store_list(tx, user, &list)
}

/// Deletes all records and returns their number.
pub fn clear(tx: &mut Tx, user: UserId) -> SiteResult<usize> {
    let n_records = list(tx, user)?.len();
    if n_records > 0 {
        store_list(tx, user, &[])?;
    }
    Ok(n_records)
}
