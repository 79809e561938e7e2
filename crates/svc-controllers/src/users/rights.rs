//! Who may see and change which users: one rule for lists, single users and embeds.

use svc_auth::{Caller, caps::Object};
use svc_model::{PostType, UserId};
use svc_site::{Access, Settings, SiteResult};
use svc_store::{Db, authors};

use crate::RestSite;

/// Types whose posts make their author known: those that the interface serves.
pub(super) fn types_shown(site: &RestSite) -> impl Iterator<Item = &str> {
    site.types.iter().filter(|t| t.show_in_rest).map(|t| t.name.as_str())
}

/// Whether the caller may see every user.
pub(super) fn lists_users(caller: &Caller) -> bool {
    caller.has("list_users")
}

/// Whether the caller may see everybody who can write: those who may write themselves.
pub(super) fn lists_authors(site: &RestSite, caller: &Caller) -> bool {
    let writes = |t: &PostType| t.show_in_rest && t.supports("author") && caller.has(&t.caps.edit_posts);
    lists_users(caller) || site.types.iter().any(writes)
}

/// Whether the caller may see a user of whom nothing else is known: one whose posts he may read.
///
/// # Errors
/// Those of the store.
pub(super) fn sees_author(db: &mut Db, site: &RestSite, caller: &Caller, user: UserId) -> SiteResult<bool> {
    let published: Vec<&str> = types_shown(site).collect();
    let private: Vec<&str> = site
        .types
        .iter()
        .filter(|t| t.show_in_rest && caller.has(&t.caps.read_private_posts))
        .map(|t| t.name.as_str())
        .collect();
    Ok(authors::with_posts(db, &[user], &published, &private)?.contains(&user))
}

/// What a caller may do with one user.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct UserRights {
    /// It is the caller himself.
    pub(super) own: bool,
    /// Change it, and see it in context `edit`.
    pub(super) edit: bool,
    /// Give it roles.
    pub(super) promote: bool,
    /// Delete it.
    pub(super) delete: bool,
}

impl UserRights {
    /// Asks the rules.
    pub(super) fn of(caller: &Caller, site: &RestSite, settings: &Settings, user: UserId) -> Self {
        let access = Access::new(site, settings).with_users([user]);
        let can = |cap: &str| caller.is_logged_in() && caller.can(cap, Object::User(user), &access);
        UserRights {
            own: caller.is_logged_in() && caller.id == user,
            edit: can("edit_user"),
            promote: can("promote_user"),
            delete: can("delete_user"),
        }
    }

    /// Methods of the user's own route that the caller may use. Users that are shown at all may be read.
    pub(super) fn allowed_methods(self) -> impl Iterator<Item = &'static str> {
        let rows = [(true, &["GET"][..]), (self.edit, &["POST", "PUT", "PATCH"][..]), (self.delete, &["DELETE"][..])];
        rows.into_iter().filter(|(may, _)| *may).flat_map(|(_, methods)| methods.iter().copied())
    }
}
