//! User meta for roles and new users, as the first start and the command line write it.

use svc_model::UserId;
use svc_store::{MetaKind, StoreError, StoredText, Tx, meta};

/// User levels of the default roles, which old plugins read.
const LEVELS: &[(&str, &str)] =
    &[("administrator", "10"), ("editor", "7"), ("author", "2"), ("contributor", "1"), ("subscriber", "0")];

/// The meta of a role: capabilities and level.
fn role_meta(prefix: &str, role: &str) -> [(String, StoredText); 2] {
    let level = LEVELS.iter().find(|(name, _)| *name == role).map_or("0", |(_, level)| level);
    [
        (format!("{prefix}capabilities"), StoredText::of(serde_json::json!({role: true}))),
        (format!("{prefix}user_level"), StoredText::of(level)),
    ]
}

/// Replaces the roles of a user by one role.
///
/// # Errors
/// If the database cannot be written.
pub fn set_role(tx: &mut Tx, user: UserId, role: &str) -> Result<(), StoreError> {
    for (key, value) in role_meta(tx.prefix(), role) {
        meta::update(tx, MetaKind::User, user.0, &key, &value)?;
    }
    Ok(())
}

/// Adds the default meta of a new user.
///
/// # Errors
/// If the database cannot be written.
pub fn default_meta(tx: &mut Tx, user: UserId, nickname: &str, role: &str) -> Result<(), StoreError> {
    let [(capabilities_key, capabilities), (level_key, level)] = role_meta(tx.prefix(), role);
    let rows = [
        ("nickname", nickname),
        ("first_name", ""),
        ("last_name", ""),
        ("description", ""),
        ("rich_editing", "true"),
        ("syntax_highlighting", "true"),
        ("comment_shortcuts", "false"),
        ("admin_color", "modern"),
        ("use_ssl", "0"),
        ("show_admin_bar_front", "true"),
        ("locale", ""),
    ]
    .map(|(key, value)| (key, StoredText::of(value)));
    let role_rows = [(capabilities_key.as_str(), &capabilities), (level_key.as_str(), &level)];
    let rows: Vec<(&str, &StoredText)> = rows.iter().map(|(key, value)| (*key, value)).chain(role_rows).collect();
    meta::add_many(tx, MetaKind::User, user.0, &rows)
}
