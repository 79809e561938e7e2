//! Access rules of users, for lists, single users and embeds.

use svc_auth::{Caller, UserVisibility, caps::Object};
use svc_model::{PostType, UserId};
use svc_site::{Access, Settings, Site, SiteResult};
use svc_store::{Db, authors};

/// Post types whose authors are public: the types in the REST API.
pub(super) fn rest_types(site: &Site) -> impl Iterator<Item = &str> {
    site.registries.types.iter().filter(|t| t.show_in_rest).map(|t| t.name.as_str())
}

/// Whether the caller may list all users.
pub(super) fn lists_users(caller: &Caller) -> bool {
    caller.has("list_users")
}

/// Whether the caller may list everyone who can write posts. Requires permission to write posts.
pub(super) fn lists_authors(site: &Site, caller: &Caller) -> bool {
    let writes = |t: &PostType| t.show_in_rest && t.supports("author") && caller.has(&t.caps.edit_posts);
    lists_users(caller) || site.registries.types.iter().any(writes)
}

/// Whether the caller may see a user as an author: a user with posts that the caller may read.
///
/// # Errors
/// Errors of the store.
pub(super) fn sees_author(db: &mut Db, site: &Site, caller: &Caller, user: UserId) -> SiteResult<bool> {
    if site.policies.users == UserVisibility::Public {
        return Ok(true);
    }
    let published: Vec<&str> = rest_types(site).collect();
    let private: Vec<&str> = site
        .registries
        .types
        .iter()
        .filter(|t| t.show_in_rest && caller.has(&t.caps.read_private_posts))
        .map(|t| t.name.as_str())
        .collect();
    Ok(authors::post_of(db, user, &published, &private)?.is_some())
}

/// Permissions of a caller on one user.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct UserRights {
    /// The user is the caller.
    pub(super) own: bool,
    /// The caller may edit the user and read context `edit`.
    pub(super) edit: bool,
    /// The caller may change the user's roles.
    pub(super) promote: bool,
    /// The caller may delete the user.
    pub(super) delete: bool,
}

impl UserRights {
    /// Computes the permissions.
    pub(super) fn of(caller: &Caller, site: &Site, settings: &Settings, user: UserId) -> Self {
        let access = Access::new(site, settings).with_users([user]);
        let can = |cap: &str| caller.is_logged_in() && caller.can(cap, Object::User(user), &access);
        UserRights {
            own: caller.is_logged_in() && caller.id == user,
            edit: can("edit_user"),
            promote: can("promote_user"),
            delete: can("delete_user"),
        }
    }

    /// Methods that the caller may use on the route of a user, whom they may see or not.
    pub(super) fn allowed_methods(self, sees: bool) -> impl Iterator<Item = &'static str> {
        let rows = [
            (sees || self.own || self.edit, &["GET"][..]),
            (self.edit, &["POST", "PUT", "PATCH"][..]),
            (self.delete, &["DELETE"][..]),
        ];
        rows.into_iter().filter(|(may, _)| *may).flat_map(|(_, methods)| methods.iter().copied())
    }
}
