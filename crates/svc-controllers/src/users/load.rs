//! Loads the data of a page of users in a fixed number of queries.

use std::{collections::HashMap, sync::Arc};

use svc_auth::{Caller, roles::UserCaps};
use svc_model::User;
use svc_resource::{Plan, View};
use svc_routing::{Link, Links};
use svc_site::{
    Settings, Site, SiteResult,
    users::{draft::UserDraft, roles::caps},
};
use svc_store::{
    Db,
    meta::{self, MetaKind},
};

use super::{
    fields::UserItem,
    rights::{self, UserRights},
    route,
};

/// Loads users for a request.
pub(super) struct UserLoader<'a> {
    pub(super) site: &'a Site,
    pub(super) settings: &'a Arc<Settings>,
    pub(super) caller: &'a Caller,
    pub(super) view: &'a View,
    /// The list has authors without posts, too, whom the caller may not see one by one.
    pub(super) has_hidden_authors: bool,
}

/// A user ready to be rendered, with its links if they are requested.
pub(super) struct LoadedUser {
    pub(super) item: UserItem,
    pub(super) links: Option<Links>,
}

/// Fields that are stored in the user's meta.
const META_FIELDS: [&str; 9] = [
    "first_name",
    "last_name",
    "description",
    "locale",
    "nickname",
    "meta",
    "roles",
    "capabilities",
    "extra_capabilities",
];

impl UserLoader<'_> {
    /// Loads the data that the plan reads: one query, regardless of the number of users.
    pub(super) fn load(
        &self,
        db: &mut Db,
        rows: Vec<User>,
        plan: &Plan<'_, UserItem, UserDraft>,
    ) -> SiteResult<Vec<LoadedUser>> {
        let ids: Vec<i64> = rows.iter().map(|u| u.id.0).collect();
        let mut meta =
            if plan.wants_any(&META_FIELDS) { meta::load(db, MetaKind::User, &ids)? } else { HashMap::new() };
        let wants_caps = plan.wants_any(&["roles", "capabilities", "extra_capabilities"]);
        let roles = self.settings.roles(db.prefix());
        rows.into_iter()
            .map(|user| {
                let meta = meta.remove(&user.id.0).unwrap_or_default();
                let caps = if wants_caps { caps(&meta, roles, db.prefix()) } else { UserCaps::default() };
                let links = match self.view.wants_links() {
                    true => Some(self.links(db, &user)?),
                    false => None,
                };
                Ok(LoadedUser { item: UserItem { user, meta, caps, settings: Arc::clone(self.settings) }, links })
            })
            .collect()
    }

    /// The links of one user.
    fn links(&self, db: &mut Db, user: &User) -> SiteResult<Links> {
        let rights = UserRights::of(self.caller, self.site, self.settings, user.id);
        let sees = !self.has_hidden_authors || rights::sees_author(db, self.site, self.caller, user.id)?;
        let own = Link::new(self.settings.urls.rest(&format!("{}/{}", route(self.site), user.id)));
        let methods: Vec<&str> = rights.allowed_methods(sees).collect();
        let collection = self.settings.urls.rest(&route(self.site));
        let mut links = Links::new();
        links.add("self", if methods.is_empty() { own } else { own.allow(methods) });
        links.add("collection", Link::new(&collection));
        Ok(links)
    }
}
